"""Sparse autoencoders of three kinds, trained on activations whose truth is known; training needs torch.

Source: the architecture of Bricken and others (2023), Towards Monosemanticity, without resampling: f(h) = ReLU(W_enc (h
- b_dec) + b_enc), reconstruction W_dec f + b_dec, squared error plus lambda times the sum of f, decoder columns of
length one. TopK after Gao and others (2024), without their auxiliary loss: the k largest latents pass, and nothing is
priced. JumpReLU after Rajamanoharan and others (2024): latents pass above thresholds of their own, and the price is
lambda times the number of latents that are on, by straight-through estimates. BatchTopK after Bussmann and others
(2024), also without an auxiliary loss: the largest latents of a whole batch pass. ``tangent`` removes the part along a
decoder column from its gradient, as Bricken and others do: a step of Adam's along a column's gradient is not along the
column, so columns that are only set to length one after each step do not end at the least loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, ranges
from superposition.checked import checked
from superposition.decoders.dictionaries import Dictionary
from superposition.decoders.ranges import finite, shaped, truth
from superposition.placing import placed

if TYPE_CHECKING:
    from superposition.devices import torch

KINDS = ("relu", "topk", "jumprelu")
FIRST = 0.05  # of the thresholds
CONSTANT, FALLING = (
    (1.0, 1.0),
    (3.0, 0.6),
)  # schedules: the first price over the last, reached at this share of the steps


def _schedule(name, value):
    """The first price divided by the last, from 0 to 1000, and the share of the steps until the last, in (0, 1]."""
    found = checks.real(name, value, 0, 1000)
    if found.shape != (2,) or not 0 < found[1] <= 1:
        raise ValueError(f"{name} = {checks.shown(value)}; allowed: a factor from 0 to 1000 and a share in (0, 1]")
    return tuple(found.tolist())


def _encoded(self, hidden):
    """Refuse activations with a different number of dimensions."""
    shaped("hidden", hidden, "batch", self.W_enc.shape[1])


@dataclass(frozen=True, eq=False)
class SparseAutoencoder:
    """Weights: ``W_enc`` (k, nd), ``b_enc`` (k,), ``W_dec`` (nd, k) with unit columns, ``b_dec`` (nd,).

    ``threshold`` (k,) is above 0 for JumpReLU; ``active``, the number of latents that pass for TopK, 0 if all may.
    """

    W_enc: NDArray[np.float64]
    b_enc: NDArray[np.float64]
    W_dec: NDArray[np.float64]
    b_dec: NDArray[np.float64]
    threshold: NDArray[np.float64] | float = 0.0
    active: int = 0

    @checked(_encoded, hidden=finite("batch nd"))
    def encode(self, hidden: ArrayLike) -> NDArray[np.float64]:
        """Latents of activations, shape (batch, k)."""
        drive = (np.asarray(hidden) - self.b_dec) @ self.W_enc.T + self.b_enc
        bar = np.asarray(self.threshold)
        if self.active:
            bar = np.maximum(np.partition(drive, -self.active - 1, axis=1)[:, [-self.active - 1]], bar)
        return np.where(drive > bar, drive, 0)


@placed
@checked(
    truth=truth, lambdas=ranges.array("n", 0, 1e6), kind=ranges.one_of(*KINDS),
    latents=ranges.whole(1, checks.MOST_FEATURES), steps=ranges.steps, batch=ranges.whole(1, 10**6), lr=ranges.rate,
    schedule=_schedule, tangent=ranges.flag, seed=ranges.seed, progress=ranges.function,
)  # fmt: skip
def train_saes(
    truth: Dictionary,
    lambdas: ArrayLike,
    *,
    kind: str = "relu",
    latents: int | None = None,
    steps: int = 1500,
    batch: int = 256,
    lr: float = 0.01,
    schedule: tuple[float, float] = CONSTANT,
    tangent: bool = False,
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> list[SparseAutoencoder]:
    """Train sparse autoencoders side by side, one for each price, each on its own fresh activations.

    Parameters
    ----------
    lambdas : array_like, shape (n,)
        Prices, from 0 to 1e6; for "topk" the number of latents that pass, the same for all n.
    latents : int, optional
        Width k of each autoencoder; the number of features if left out.
    schedule : tuple of float
        The first price divided by the last, and the share of the steps during which the price changes linearly from one
        to the other: with (3, 0.6) it falls to its last value during 60 % of the steps; (0, 0.05) is a warm-up. For
        "topk" the number of latents changes instead.
    tangent : bool
        Whether the part along a decoder column is removed from its gradient.
    progress : callable, optional
        Called with the steps done and all steps, a hundred times.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or TopK has more than one number of latents.

    Notes
    -----
    Source: Bricken and others (2023), Gao and others (2024) and Rajamanoharan and others (2024); the module has the
    differences. In single precision, needs torch. Use `descend_saes` instead from given starts.

    Examples
    --------
    >>> from superposition.decoders import dictionary
    >>> [sae] = train_saes(dictionary(8, 4, p=0.1), [0.1], steps=50)
    >>> sae.encode(np.ones((2, 4))).shape, sae.W_dec.shape
    ((2, 8), (4, 8))
    """
    from superposition import optimise
    from superposition.devices import torch

    checks.one_of("kind", kind, KINDS)
    nd, ns = truth.directions.shape
    prices, rng = np.asarray(lambdas, float), np.random.default_rng(seed)
    n = len(prices)
    k = ns if latents is None else latents
    parts = _first_weights(truth, n, k, rng)
    active = int(prices[0]) if kind == "topk" else 0
    if active and (np.ptp(prices) or active != prices[0] or not active < k):
        raise ValueError(f"lambdas = {checks.shown(lambdas)}; allowed for topk: one whole number below {k} latents")
    if kind == "jumprelu":
        parts.append(torch.full((n, 1, k), float(np.log(FIRST)), requires_grad=True))
    price, done = torch.from_numpy(prices).float()[:, None], 0

    def loss():
        first, share = schedule
        now = first + (1 - first) * min(1, done / (share * steps))
        h = torch.from_numpy(truth.activations(n * batch, seed=rng)[1]).float().view(n, batch, nd)
        f, rebuilt, cost = _forward(parts, h, min(k - 1, max(1, round(now * active))) if active else 0)
        return (((h - rebuilt) ** 2).sum(2) / 2 + (0 if active else now * price * cost.sum(2))).mean(1).sum()

    by_loss = optimise.by_autograd(parts, loss)
    for done, _ in optimise.adam(parts, across(parts[2], by_loss) if tangent else by_loss, steps=steps, lr=lr):
        with torch.no_grad():
            parts[2] /= parts[2].norm(dim=1, keepdim=True)
        if progress is not None and (done == steps or done % max(1, steps // 100) == 0):
            progress(done, steps)
    W_enc, b_enc, W_dec, b_dec, *logs = (part.detach().double().numpy() for part in parts)
    bars = np.exp(logs[0][:, 0]) if logs else np.zeros((n, k))
    rows = zip(W_enc, b_enc[:, 0], W_dec, b_dec[:, 0], bars, [active] * n, strict=True)
    return [SparseAutoencoder(*one) for one in rows]


def _first_weights(truth, n, k, rng):
    """Tied random directions, no bias, and the mean activation: tensors with the autoencoders along the first axis."""
    from superposition.devices import torch

    first = rng.standard_normal((n, len(truth.directions), k))
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    mean = np.broadcast_to(truth.directions @ truth.p / 2, (n, 1, len(truth.directions)))
    start = (first.transpose(0, 2, 1).copy(), np.zeros((n, 1, k)), first, mean.copy())
    return [torch.tensor(part, dtype=torch.float32, requires_grad=True) for part in start]


def across(W_dec: torch.Tensor, gradient: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor]:
    """The gradient without its part along the columns of the decoder (n, nd, k)."""
    from superposition.devices import torch

    def rest():
        value = gradient()
        with torch.no_grad():
            W_dec.grad -= W_dec * (W_dec.grad * W_dec).sum(1, keepdim=True)  # pyrefly: ignore[unsupported-operation]
        return value

    return rest


@placed
@checked(
    truth=truth, active=ranges.array("n", 0, 1e6), latents=ranges.whole(1, checks.MOST_FEATURES), steps=ranges.steps,
    batch=ranges.whole(1, 10**6), lr=ranges.rate, schedule=_schedule, seed=ranges.seed,
)  # fmt: skip
def train_batch_topk(
    truth: Dictionary,
    active: ArrayLike,
    *,
    latents: int | None = None,
    steps: int = 1500,
    batch: int = 256,
    lr: float = 0.01,
    schedule: tuple[float, float] = CONSTANT,
    seed: int = 0,
) -> list[SparseAutoencoder]:
    """Train sparse autoencoders side by side of which the largest latents of each batch pass.

    Parameters
    ----------
    active : array_like, shape (n,)
        Mean numbers of latents that pass for an activation, at least one in each batch.
    latents : int, optional
        Width k of each autoencoder; the number of features if left out.
    schedule : tuple of float
        As of `train_saes`, for the number of latents that pass.

    Returns
    -------
    list of SparseAutoencoder
        With one threshold for all latents: the mean, over the last tenth of the steps, of the least latent that passed.

    Notes
    -----
    Source: Bussmann and others (2024). The gradient along decoder columns is removed. In single precision, needs torch.
    Use `train_saes` instead for other kinds.

    Examples
    --------
    >>> from superposition.decoders import dictionary
    >>> [sae] = train_batch_topk(dictionary(8, 4, p=0.1), [1.5], steps=50)
    >>> sae.threshold.shape, sae.active
    ((8,), 0)
    """
    from superposition import optimise
    from superposition.devices import torch

    nd, ns = truth.directions.shape
    wanted, rng = np.asarray(active, float), np.random.default_rng(seed)
    n, k = len(wanted), ns if latents is None else latents
    parts, done, least = _first_weights(truth, n, k, rng), 0, []

    def loss():
        first, share = schedule
        now = first + (1 - first) * min(1, done / (share * steps))
        h = torch.from_numpy(truth.activations(n * batch, seed=rng)[1]).float().view(n, batch, nd)
        drive = torch.relu((h - parts[3]) @ parts[0].transpose(1, 2) + parts[1])
        stopped = batch * k - np.clip(np.round(now * wanted * batch), 1, batch * k).astype(int)
        each = zip(drive.detach().flatten(1), stopped.tolist(), strict=True)
        bar = torch.stack([one.kthvalue(at + 1).values for one, at in each])
        if done >= 0.9 * steps - 1:
            least.append(bar)
        f = drive * (drive >= bar[:, None, None])
        return (((h - f @ parts[2].transpose(1, 2) - parts[3]) ** 2).sum(2) / 2).mean(1).sum()

    by_loss = optimise.by_autograd(parts, loss)
    for done, _ in optimise.adam(parts, across(parts[2], by_loss), steps=steps, lr=lr):  # noqa: B007
        with torch.no_grad():
            parts[2] /= parts[2].norm(dim=1, keepdim=True)
    W_enc, b_enc, W_dec, b_dec = (part.detach().double().numpy() for part in parts)
    bars = np.repeat(np.mean(torch.stack(least).numpy(), axis=0)[:, None], k, axis=1).astype(float)
    return [SparseAutoencoder(*one) for one in zip(W_enc, b_enc[:, 0], W_dec, b_dec[:, 0], bars, strict=True)]


def _forward(parts, h, active):
    """Latents, reconstructions, and the priced quantity: latents, or whether they pass a threshold."""
    from superposition.decoders.threshold_step import Step
    from superposition.devices import torch

    W_enc, b_enc, W_dec, b_dec, *logs = parts
    drive = (h - b_dec) @ W_enc.transpose(1, 2) + b_enc
    f = cost = torch.relu(drive)
    if active:
        f = f * (f > f.topk(active + 1, dim=2).values[..., -1:])
    if logs:
        cost = Step.apply(drive, logs[0].exp())
        f = f * cost
    return f, f @ W_dec.transpose(1, 2) + b_dec, cost
