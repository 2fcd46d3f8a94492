"""Sparse autoencoders of three kinds, trained on activations whose truth is known. Needs torch.

Source: the architecture of Bricken and others (2023), Towards Monosemanticity, without resampling: f(h) =
ReLU(W_enc (h - b_dec) + b_enc), reconstruction W_dec f + b_dec, squared error plus lambda times the sum of f, decoder
columns of length one. TopK after Gao and others (2024), without their auxiliary loss: the k largest latents pass, and
nothing is priced. JumpReLU after Rajamanoharan and others (2024): latents pass above thresholds of their own, and
lambda times the number of them is priced, by straight-through estimates. ``tangent`` takes from the gradient what lies
along a decoder column, as Bricken and others do: a step of Adam's along a column's gradient is not along the column, so
that columns that are only set to length one after each step end at other directions than the loss is least at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, optimise
from superposition.decoders.dictionaries import Dictionary
from superposition.devices import torch

KINDS = ("relu", "topk", "jumprelu")
BAND = 0.05  # around a threshold within which it is moved; features go up to 1
FIRST = 0.05  # of the thresholds


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

    def encode(self, hidden: ArrayLike) -> NDArray[np.float64]:
        """Latents of activations, shape (batch, k)."""
        drive = (np.asarray(hidden) - self.b_dec) @ self.W_enc.T + self.b_enc
        bar = np.asarray(self.threshold)
        if self.active:
            bar = np.maximum(np.partition(drive, -self.active - 1, axis=1)[:, [-self.active - 1]], bar)
        return np.where(drive > bar, drive, 0)


def train_saes(
    truth: Dictionary,
    lambdas: ArrayLike,
    *,
    kind: str = "relu",
    latents: int | None = None,
    steps: int = 1500,
    batch: int = 256,
    lr: float = 0.01,
    tangent: bool = False,
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> list[SparseAutoencoder]:
    """Train sparse autoencoders side by side, one for each price (n,), each on activations of its own, always fresh."""
    # the price of TopK is the number of latents that pass, the same for all of them
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
    price = torch.from_numpy(prices).float()[:, None]

    def loss():
        h = torch.from_numpy(truth.activations(n * batch, seed=rng)[1]).float().view(n, batch, nd)
        f, rebuilt, cost = _forward(parts, h, active)
        return (((h - rebuilt) ** 2).sum(2) / 2 + (0 if active else price * cost.sum(2))).mean(1).sum()

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
    first = rng.standard_normal((n, len(truth.directions), k))
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    mean = np.broadcast_to(truth.directions @ truth.p / 2, (n, 1, len(truth.directions)))
    start = (first.transpose(0, 2, 1).copy(), np.zeros((n, 1, k)), first, mean.copy())
    return [torch.tensor(part, dtype=torch.float32, requires_grad=True) for part in start]


def across(W_dec: torch.Tensor, gradient: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor]:
    """The gradient, without what lies along the columns of the decoder (n, nd, k)."""

    def rest():
        value = gradient()
        with torch.no_grad():
            W_dec.grad -= W_dec * (W_dec.grad * W_dec).sum(1, keepdim=True)  # pyrefly: ignore[unsupported-operation]
        return value

    return rest


def _forward(parts, h, active):
    """Latents, reconstructions, and what is priced: their sum, or the number of them that pass a threshold."""
    W_enc, b_enc, W_dec, b_dec, *logs = parts
    drive = (h - b_dec) @ W_enc.transpose(1, 2) + b_enc
    f = cost = torch.relu(drive)
    if active:
        f = f * (f > f.topk(active + 1, dim=2).values[..., -1:])
    if logs:
        cost = _Step.apply(drive, logs[0].exp())
        f = f * cost
    return f, f @ W_dec.transpose(1, 2) + b_dec, cost


class _Step(torch.autograd.Function):
    """Whether a drive is above its threshold; the threshold feels the drives within a band around it."""

    @staticmethod
    def forward(ctx, drive, bar):
        ctx.save_for_backward(drive, bar)
        return (drive > bar).to(drive)

    @staticmethod
    def backward(ctx, *gradients):
        [gradient] = gradients
        drive, bar = ctx.saved_tensors
        near = ((drive - bar).abs() < BAND / 2).to(drive) / BAND
        return None, -(gradient * near).sum(1, keepdim=True)
