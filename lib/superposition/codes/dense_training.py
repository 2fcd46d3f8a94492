"""Can training be led to loud and quiet codes? Descent on a whole network, dense at the start. Needs torch.

Each method changes one thing about the start or the training; the loss that counts is always the plain one.
Source: ours, against The Persian Rug, section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.codes import ranges as within
from superposition.codes.best_map import dropped, side_by_side
from superposition.codes.fans import Code, cone, priority_fan
from superposition.codes.tile_search import descend_on_tiles, draw, first_weights, measured_code_loss
from superposition.placing import placed

if TYPE_CHECKING:
    from superposition.devices import torch

METHODS = ("plain", "loudness", "unequal", "softplus", "sparse encoder", "pruned", "growing", "shared blocks", "fans",
           "cones", "tiles")  # fmt: skip
FAN, CONE, TILE = 10, 15, (4, 20)  # features of a fan or cone that a network starts from; dimensions and features
GROUPS, KEPT, LOOK = 5, 4, 25  # groups that join when growing; dimensions kept when pruned; steps between two prunings


def _fits(ns: int, nd: int, method: str, ratio: float) -> None:
    """Refuse more dimensions than features, groups without a feature, and cones whose loudness spans too much."""
    checks.whole("nd", nd, 1, ns)
    if method == "growing":
        checks.whole("ns", ns, GROUPS)
    if method == "cones":
        within.cone_spans(CONE, ratio)


@placed
@checked(
    _fits, ns=ranges.whole(4, checks.MOST_FEATURES), nd=ranges.whole(1, checks.MOST_FEATURES), p=within.rare,
    method=ranges.one_of(*METHODS), steps=ranges.steps, batch=within.batch, lr=ranges.rate, ratio=ranges.number(1, 1e4),
    fresh=within.draws, seed=within.torch_seed, progress=ranges.function,
)  # fmt: skip
def train_dense(
    ns: int, nd: int, p: float, method: str, *, steps: int = 2000, batch: int = 256, lr: float = 3e-3,
    ratio: float = 4.0, fresh: int = 40_000, seed: int = 0, progress: Callable[[int, int], None] | None = None,
) -> dict[str, float]:  # fmt: skip
    """Train W_in, W_out and b from a dense start by one of several methods. Needs torch.

    Parameters
    ----------
    p : float
        Probability that a feature is on, from 1e-12 to 1.
    method : str
        All but "plain" and "loudness" change one thing; all but "plain" have a log loudness of every feature as a
        parameter. "unequal": it is log-normal of width 1 at the start; "softplus": sharpens to the ReLU over the first
        half; "sparse encoder": an l1 term fades over the first half; "pruned": each feature keeps ever fewer
        dimensions; "growing": features and dimensions join in groups, old features with no weight in new dimensions,
        and the learning rate starts again; "shared blocks": blocks of four dimensions imposed, a control; "fans",
        "cones", "tiles": the start is such codes side by side, the tiles the best of eight random ones, trained for
        twice the steps, and noise that makes interference of no more than a hundredth.
    ratio : float
        Loudness of a feature divided by the loudness of the next in "fans" and "cones", from 1 to 1e4.
    fresh : int
        Feature vectors that measure the loss.
    progress : callable, optional
        Takes the steps done and all steps, every 50 steps.

    Returns
    -------
    dict
        "loss" and "loss_se"; "asymmetry" |W - W^T| / |W|; "spread", the standard deviation of the log loudness;
        "strongest", the median most negative weight of a row divided by its diagonal.

    Notes
    -----
    Source: ours, against The Persian Rug, section 5. Use `train_plain` instead for balanced weights without loudness.

    Examples
    --------
    >>> sorted(train_dense(8, 2, 0.1, "plain", steps=2, fresh=100))
    ['asymmetry', 'loss', 'loss_se', 'spread', 'strongest']
    """
    from superposition.devices import torch

    checks.one_of("method", method, METHODS)  # a misspelt one would be trained as another
    generator = torch.Generator().manual_seed(seed)
    weights, mask = _first(ns, nd, p, method, ratio, steps, generator)
    optimiser = torch.optim.Adam(weights, lr=lr)
    schedule = _schedule(optimiser, method, steps)
    for step in range(steps):
        if method == "pruned" and step % LOOK == 0:
            mask = _strongest(weights, mask, step / steps)
        part, shown = _taking_part(weights, mask, method, step / steps)
        x, share = draw(len(part[2]), p, batch, generator)
        left = max(0.0, 1 - 2 * step / steps)
        loss = _loss(part, shown, x, share, 0.3 * left if method == "softplus" else 0.0) / p**2
        if method == "sparse encoder":
            loss = loss + 0.3 * left * weights[0].abs().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if progress is not None and step % 50 == 49:
            progress(step + 1, steps)
    return _report(_code(weights, mask), p, fresh, seed)


@checked(
    within.tile_fits, m=ranges.whole(2, 1024), B=ranges.whole(4, 4096), p=within.rare, copies=within.copies,
    steps=ranges.steps, generator=within.torch_generator, batch=within.batch,
)  # fmt: skip
def random_tiles(
    m: int, B: int, p: float, copies: int, *, steps: int, generator: torch.Generator, batch: int = 256
) -> list[Code]:
    """Train networks of B features in m dimensions from random weights, loudness a parameter. Needs torch.

    Parameters
    ----------
    m, B : int
        Dimensions from 2 to 1024; features from 2 m to 10 m.
    p : float
        Probability that a feature is on, from 1e-12 to 1.
    copies : int
        Networks, from 1 to 4096, trained side by side on the same feature vectors.

    Returns
    -------
    list of Code
        Source: ours. Use `search_tile` instead for the best of many starts.

    Examples
    --------
    >>> import torch
    >>> tiles = random_tiles(2, 4, 0.1, 3, steps=2, generator=torch.Generator().manual_seed(0))
    >>> [tile.W.shape for tile in tiles]
    [(4, 4), (4, 4), (4, 4)]
    """
    from superposition.devices import torch

    starts = [value[copies:] for value in first_weights(m, B, 2 * copies, generator)]
    trained = descend_on_tiles(starts, p, steps=steps, batch=batch, lr=5e-3, generator=generator)
    whole = torch.ones(m, B)
    return [_code(one, whole) for one in zip(*trained, strict=True)]


def _blocks_fit(ns: int, nd: int, blocks: int) -> None:
    """Refuse blocks of one dimension, and of fewer than two features to a dimension."""
    checks.whole("blocks", blocks, 1, max(1, nd // 2))
    checks.whole("nd", nd, 2)
    checks.whole("ns", ns, *(share * (nd // blocks) * blocks for share in (2, 10)))


@placed
@checked(
    _blocks_fit, ns=ranges.whole(4, 4096), nd=ranges.whole(2, 2048), p=within.rare, blocks=ranges.whole(1, 1024),
    copies=within.copies, steps=ranges.steps, fresh=within.draws, seed=within.torch_seed,
)  # fmt: skip
def train_blocks(
    ns: int, nd: int, p: float, *, blocks: int = 10, copies: int = 16, steps: int = 3000, fresh: int = 40_000,
    seed: int = 0,
) -> dict[str, float]:  # fmt: skip
    """Train a network with imposed blocks of features that have their own dimensions, from random weights. Needs torch.

    Parameters
    ----------
    p : float
        Probability that a feature is on, from 1e-12 to 1.
    blocks : int
        At least two dimensions each, and two to ten features to a dimension.
    copies : int
        Random starts of a block; the best is taken for all blocks of its size, chosen on vectors that do not measure.
    fresh : int
        Feature vectors that measure the loss.

    Returns
    -------
    dict
        As from `train_dense`, which imposes no blocks.

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> sorted(train_blocks(8, 4, 0.1, blocks=2, copies=2, steps=2, fresh=100))
    ['asymmetry', 'loss', 'loss_se', 'spread', 'strongest']
    """
    from superposition.devices import torch

    generator, found = torch.Generator().manual_seed(seed), []
    sizes, counts = np.unique(np.diff(np.linspace(0, ns, blocks + 1).round().astype(int)), return_counts=True)
    for B, count in zip(sizes, counts, strict=True):
        codes = random_tiles(nd // blocks, int(B), p, copies, steps=steps, generator=generator)
        losses = [measured_code_loss(*code, p, samples=20_000, seed=seed + 2)[0] for code in codes]
        found += [codes[int(np.argmin(losses))]] * int(count)
    return _report(side_by_side(found), p, fresh, seed)


def _first(ns, nd, p, method, ratio, steps, generator):
    """The weights that training starts from, and the mask of those that are trained."""
    if method == "fans":
        return _from_code(priority_fan(FAN, ratio), ns, nd, 0.01 / ratio ** (FAN - 1), generator)
    if method == "cones":
        return _from_code(cone(CONE, ratio), ns, nd, 0.01 / ratio ** (CONE - 1), generator)
    if method == "tiles":
        codes = random_tiles(*TILE, p, 8, steps=2 * steps, generator=generator)
        best = min(codes, key=lambda code: measured_code_loss(*code, p, samples=20_000, seed=0)[0])
        loud = np.linalg.norm(best.W_in, axis=0)
        return _from_code(best, ns, nd, 0.01 * loud.min() / loud.max(), generator)
    return _start(ns, nd, method, generator)


def _schedule(optimiser, method, steps):
    from superposition.devices import torch

    if method == "growing":
        return torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimiser, max(1, steps // GROUPS))
    return torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)


def _strongest(weights, mask, done):
    """The mask of the dimensions that each feature keeps; their number falls from all to KEPT, in equal ratios."""
    nd = len(mask)
    kept = nd * (min(KEPT, nd) / nd) ** np.clip(2 * done - 0.2, 0, 1)
    size = (weights[0] * weights[1].T).abs() * mask
    return (size.argsort(dim=0, descending=True).argsort(dim=0) < round(kept)).float()


def _taking_part(weights, mask, method, done):
    """The weights of the features and dimensions that have joined: all of them, except when growing."""
    if method != "growing":
        return weights, mask
    groups, (nd, ns) = min(GROUPS, int(GROUPS * done) + 1), mask.shape
    n, m = ns * groups // GROUPS, max(1, nd * groups // GROUPS)
    W_in, W_out, b, loud = weights
    return [W_in[:m, :n], W_out[:n, :m], b[:n], loud[:n]], mask[:m, :n]


def _start(ns, nd, method, generator):
    from superposition.devices import torch

    W_in = torch.randn(nd, ns, generator=generator) / nd**0.5
    mask = torch.ones(nd, ns)
    if method == "growing":
        for groups in range(1, GROUPS):
            W_in[nd * groups // GROUPS :, : ns * groups // GROUPS] = 0
    if method == "shared blocks":
        mask = (torch.arange(nd)[:, None] * (nd // 4) // nd == torch.arange(ns) * (nd // 4) // ns).float()
        W_in = W_in * mask * (nd / 4) ** 0.5
    width = 1.0 if method == "unequal" else 0.0
    loud = width * torch.randn(ns, generator=generator)
    weights = [W_in, W_in.T.clone(), torch.zeros(ns), loud]
    for value in weights:
        value.requires_grad_(method != "plain" or value is not loud)
    return weights[: 3 if method == "plain" else 4], mask


def _from_code(block, ns, nd, noise, generator):
    """Blocks side by side, other features dropped, every weight slightly perturbed; loudness is kept separately."""
    from superposition.devices import torch

    m, B = block.W_in.shape
    count = min(ns // B, nd // m)
    code = side_by_side([*[block] * count, *([dropped(ns - count * B, 0.5)] if ns > count * B else [])])
    loud = np.linalg.norm(code.W_in, axis=0)
    loud[loud == 0] = 1
    values = [np.zeros((nd, ns)), np.zeros((ns, nd)), np.zeros(ns), np.log(loud)]
    values[0][: m * count], values[1][:, : m * count] = code.W_in / loud, code.W_out * loud[:, None]
    values[2][: B * count] = code.b[: B * count]
    weights = [torch.tensor(value, dtype=torch.float32) for value in values]
    for value in weights[:2]:
        value += noise * torch.randn(value.shape, generator=generator)
    return [value.requires_grad_() for value in weights], torch.ones(nd, ns)


def _product(weights, mask):
    from superposition.devices import torch

    W_in, W_out, b = weights[:3]
    loud = weights[3].exp() if len(weights) > 3 else torch.ones(())
    return W_in * mask * loud, W_out * mask.T / loud.reshape(-1, 1), b


def _code(weights, mask):
    return Code(*(value.detach().double().numpy() for value in _product(weights, mask)))


def _loss(weights, mask, x, share, temperature):
    from superposition.devices import torch

    W_in, W_out, b = _product(weights, mask)
    out = x @ W_in.T @ W_out.T + b
    out = torch.nn.functional.softplus(out, beta=1 / temperature) if temperature > 0 else torch.relu(out)
    return (x - out).square().mean(dim=1) @ share


def _report(code: Code, p, fresh, seed):
    """The loss of a code, and how far it is from a rug."""
    loss, se = measured_code_loss(*code, p, samples=fresh, seed=seed + 1)
    W, norms = code.W, np.linalg.norm(code.W_in, axis=0)
    heard = np.diag(W) > 0.1
    return {
        "loss": loss,
        "loss_se": se,
        "asymmetry": float(np.linalg.norm(W - W.T) / np.linalg.norm(W)),
        "spread": float(np.log(norms[norms > 0]).std()),
        "strongest": float(np.median(W[heard].min(axis=1) / np.diag(W)[heard])) if heard.any() else 0.0,
    }
