"""Search for small tiles by gradient descent, many copies at once.

Feature vectors are drawn by the number of active features, k, more often than they occur where k is large, and
weighted back: at small p, most vectors of an unweighted batch are zero. The loudness of every feature is a separate
parameter, since otherwise the optimiser's steps would not reach the levels of a fan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.codes import fans
from superposition.codes import ranges as within
from superposition.placing import placed

if TYPE_CHECKING:
    from superposition.devices import torch

CHUNK = 20_000  # feature vectors of the final measurement at a time


def _few_kept(starts: int, kept: int) -> None:
    """Refuse to keep more starts than there are."""
    ranges.whole(1, starts)("kept", kept)


@placed
@checked(
    within.tile_fits, _few_kept, m=ranges.whole(2, 1024), B=ranges.whole(4, 4096), p=within.rare, starts=within.copies,
    kept=within.copies, screening=ranges.steps, steps=ranges.steps, batch=within.batch, fresh=within.draws,
    seed=within.torch_seed,
)  # fmt: skip
def search_tile(
    m: int, B: int, p: float, *, starts: int = 64, kept: int = 8, screening: int = 800, steps: int = 3000,
    batch: int = 256, fresh: int = 2_000_000, seed: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """Search for the best code of B features in m dimensions by descent on many copies at once. Needs torch.

    A quarter of the copies start from fans and cones of small ratio, a quarter from random weights of unequal
    loudness, the others from random weights. The best after a short descent are refined by a long one.

    Parameters
    ----------
    m, B : int
        Dimensions from 2 to 1024; features from 2 m to 10 m.
    p : float
        Probability that a feature is on, from 1e-12 to 1.
    starts, kept : int
        Copies of the short descent, and of the long one.
    screening, steps, batch : int
        Steps of the short and the long descent, and feature vectors of a step.
    fresh : int
        Feature vectors that measure the loss and choose nothing.

    Returns
    -------
    dict
        "loss" with "loss_se", "start", losses "screened" and "refined" of all copies, lists "W_in", "W_out", "b".

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> search_tile(2, 4, 0.1, starts=8, kept=1, screening=2, steps=2, fresh=100)["start"]
    'cone or fan'
    """
    from superposition.devices import torch

    generator = torch.Generator().manual_seed(seed)
    weights = _screen(first_weights(m, B, starts, generator), p, screening, batch, generator)
    screened = _losses(weights, p, 20_000, generator)
    best = screened.argsort()[:kept]
    refined = descend_on_tiles(
        [value[best] for value in weights], p, steps=steps, batch=batch, lr=5e-3, generator=generator
    )
    chosen = int(_losses(refined, p, 100_000, generator).argmin())
    W_in, W_out, b = (value[chosen].double() for value in _product(refined))
    loss, loss_se = measured_code_loss(W_in.numpy(), W_out.numpy(), b.numpy(), p, samples=fresh, seed=seed + 1)
    origin = int(best[chosen])
    start = "cone or fan" if origin < starts // 4 else "unequal" if origin < starts // 2 else "random"
    return {
        "loss": loss,
        "loss_se": loss_se,
        "start": start,
        "screened": screened.tolist(),
        "refined": _losses(refined, p, 100_000, generator).tolist(),
        "W_in": W_in.tolist(),
        "W_out": W_out.tolist(),
        "b": b.tolist(),
    }


def first_weights(m: int, B: int, copies: int, generator: torch.Generator) -> list[torch.Tensor]:
    """Where a search starts: encoder, decoder, bias and log loudness of each copy."""
    from superposition.devices import torch

    W_in = torch.randn(copies, m, B, generator=generator) / m**0.5
    W_out, b, loud = W_in.transpose(1, 2).clone(), torch.zeros(copies, B), torch.zeros(copies, B)
    loud[: copies // 2] = torch.randn(copies // 2, B, generator=generator)
    for i, ratio in enumerate(np.linspace(1.5, 8, copies // 4)):
        w, v, level = _fans(m, B, float(ratio))
        W_in[i], W_out[i] = torch.tensor(w), torch.tensor(v)
        loud[i] = torch.tensor(level)
    W_in *= 1 + 1e-3 * torch.randn(W_in.shape, generator=generator)
    return [W_in, W_out, b, loud]


def descend_on_tiles(
    weights: list[torch.Tensor], p: float, *, steps: int, batch: int, lr: float, generator: torch.Generator
) -> list[torch.Tensor]:
    """Run Adam with a cosine on all copies at once, each step on fresh feature vectors that the copies share."""
    from superposition.devices import torch

    weights = [value.detach().clone().requires_grad_() for value in weights]
    optimiser = torch.optim.Adam(weights, lr=lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        x, share = draw(weights[0].shape[-1], p, batch, generator)
        loss = _weighted_losses(weights, x, share, p).sum() / p**2
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return [value.detach() for value in weights]


def draw(B: int, p: float, batch: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Feature vectors with k > 0 features on, drawn with chances proportional to the root of the true ones."""
    from scipy.stats import binom

    from superposition.devices import torch

    # with the share of each: the sum of share times f(x) estimates E[f(x)] over feature vectors that are not zero
    k = np.arange(1, B + 1)
    chance = binom.pmf(k, B, p)
    k, chance = k[chance > 1e-9 * p**2], chance[chance > 1e-9 * p**2]
    offered = np.sqrt(chance) / np.sqrt(chance).sum()
    index = torch.multinomial(torch.tensor(offered), batch, True, generator=generator)
    order = torch.rand(batch, B, generator=generator).argsort(dim=1)
    rank = torch.empty_like(order).scatter_(1, order, torch.arange(B).expand(batch, B))
    x = torch.rand(batch, B, generator=generator) * (rank < torch.tensor(k)[index, None])
    return x, torch.tensor(chance / offered, dtype=torch.float32)[index] / batch


@checked(
    within.factors_fit, W_in=within.factor, W_out=within.factor, b=within.bias_row, p=within.rare, samples=within.draws,
    seed=within.torch_seed,
)  # fmt: skip
def measured_code_loss(
    W_in: np.ndarray, W_out: np.ndarray, b: np.ndarray, p: float, *, samples: int, seed: int
) -> tuple[float, float]:
    """Loss per feature of a code by importance sampling: few vectors are drawn without an active feature. Needs torch.

    Parameters
    ----------
    W_in, W_out, b : array_like
        Weights of shapes (m, B), (B, m) and (B,), as a `Code` has them.
    p : float
        Probability that a feature is on, from 1e-12 to 1.

    Returns
    -------
    loss, se : float
        Mean over feature vectors and its standard error, in float64. Source: ours. Use `code_loss` instead where few
        features meet, as it is exact.

    Examples
    --------
    >>> from superposition.codes import priority_fan
    >>> loss, se = measured_code_loss(*priority_fan(5, 1), 0.1, samples=10_000, seed=0)
    >>> round(loss, 3)
    0.018
    """
    from superposition.devices import torch

    generator = torch.Generator().manual_seed(seed)
    W, b, values = torch.tensor(W_out @ W_in), torch.tensor(b), []  # pyrefly: ignore[bad-assignment]: a tensor from here on
    for start in range(0, samples, CHUNK):
        size = min(CHUNK, samples - start)
        x, share = draw(len(b), p, size, generator)
        error = (x - torch.relu(x.double() @ W.T + b)).square().mean(dim=1)  # pyrefly: ignore[bad-argument-type]: a tensor by now
        values.append(error * share * size)
    values = torch.cat(values)
    silent = (1 - p) ** len(b) * float(torch.relu(b).square().mean())  # pyrefly: ignore[bad-argument-type]: a tensor by now
    return float(values.mean()) + silent, float(values.std()) / samples**0.5


def _screen(weights, p, steps, batch, generator):
    """A short descent; fans and cones at a smaller rate, since their zeros are multiplied by the ratio of loudness."""
    from superposition.devices import torch

    built, groups = len(weights[0]) // 4, []
    for chosen, lr in ((slice(None, built), 3e-3), (slice(built, None), 2e-2)):
        start = [value[chosen] for value in weights]
        groups.append(descend_on_tiles(start, p, steps=steps, batch=batch, lr=lr, generator=generator))
    return [torch.cat(pair) for pair in zip(*groups, strict=True)]


def _product(weights):
    W_in, W_out, b, loud = weights
    return W_in * loud.exp()[:, None, :], W_out * (-loud).exp()[:, :, None], b


def _weighted_losses(weights, x, share, p):
    from superposition.devices import torch

    W_in, W_out, b = _product(weights)
    out = torch.relu(x @ W_in.transpose(1, 2) @ W_out.transpose(1, 2) + b[:, None, :])
    silent = (1 - p) ** b.shape[1] * torch.relu(b).square().mean(dim=1)
    return (x - out).square().mean(dim=2) @ share + silent


def _losses(weights, p, samples, generator):
    from superposition.devices import torch

    with torch.no_grad():
        parts = [
            _weighted_losses(weights, *draw(weights[2].shape[1], p, 2000, generator), p) for _ in range(samples // 2000)
        ]
    return torch.stack(parts).mean(dim=0)


def _fans(m, B, ratio):
    """Fans side by side, and a cone where the dimensions are odd: encoder, decoder, log loudness, each of its own."""
    dimensions = [2] * (m // 2) if m % 2 == 0 else [3] + [2] * (m // 2 - 1)
    ends = np.round(np.cumsum([0, *dimensions]) * B / m).astype(int)
    w, v, level, row = np.zeros((m, B)), np.zeros((B, m)), np.zeros(B), 0
    for d, start, end in zip(dimensions, ends[:-1], ends[1:], strict=True):
        code = fans.priority_fan(end - start, ratio) if d == 2 else fans.cone.unchecked(end - start, min(ratio, 2.5))
        size = np.linalg.norm(code.W_in, axis=0)
        w[row : row + d, start:end], v[start:end, row : row + d] = code.W_in / size, code.W_out * size[:, None]
        level[start:end], row = np.log(size), row + d
    return w, v, level
