"""Plain sparse autoencoders, trained on activations whose truth is known. Needs torch.

Source: the architecture of Bricken and others (2023), Towards Monosemanticity, without resampling: f(h) =
ReLU(W_enc (h - b_dec) + b_enc), reconstruction W_dec f + b_dec, squared error plus lambda times the sum of f, decoder
columns of length one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import optimise
from superposition.decoders.dictionaries import Dictionary
from superposition.devices import torch


@dataclass(frozen=True, eq=False)
class SparseAutoencoder:
    """Weights: ``W_enc`` (k, nd), ``b_enc`` (k,), ``W_dec`` (nd, k) with unit columns, ``b_dec`` (nd,)."""

    W_enc: NDArray[np.float64]
    b_enc: NDArray[np.float64]
    W_dec: NDArray[np.float64]
    b_dec: NDArray[np.float64]

    def encode(self, hidden: ArrayLike) -> NDArray[np.float64]:
        """Latents of activations, shape (batch, k)."""
        return np.maximum((np.asarray(hidden) - self.b_dec) @ self.W_enc.T + self.b_enc, 0)


def train_saes(
    truth: Dictionary,
    lambdas: ArrayLike,
    *,
    latents: int | None = None,
    steps: int = 1500,
    batch: int = 256,
    lr: float = 0.01,
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> list[SparseAutoencoder]:
    """Train sparse autoencoders side by side, one for each price (n,), each on activations of its own, always fresh."""
    nd, ns = truth.directions.shape
    prices, rng = np.asarray(lambdas, float), np.random.default_rng(seed)
    n = len(prices)
    parts = _first_weights(truth, n, ns if latents is None else latents, rng)
    price = torch.from_numpy(prices).float()[:, None]

    def loss():
        h = torch.from_numpy(truth.activations(n * batch, seed=rng)[1]).float().view(n, batch, nd)
        f, rebuilt = _forward(parts, h)
        return (((h - rebuilt) ** 2).sum(2) / 2 + price * f.sum(2)).mean(1).sum()

    for done, _ in optimise.adam(parts, optimise.by_autograd(parts, loss), steps=steps, lr=lr):
        with torch.no_grad():
            parts[2] /= parts[2].norm(dim=1, keepdim=True)
        if progress is not None and (done == steps or done % max(1, steps // 100) == 0):
            progress(done, steps)
    W_enc, b_enc, W_dec, b_dec = (part.detach().double().numpy() for part in parts)
    return [SparseAutoencoder(*one) for one in zip(W_enc, b_enc[:, 0], W_dec, b_dec[:, 0], strict=True)]


def _first_weights(truth, n, k, rng):
    """Tied random directions, no bias, and the mean activation: tensors with the autoencoders along the first axis."""
    first = rng.standard_normal((n, len(truth.directions), k))
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    mean = np.broadcast_to(truth.directions @ truth.p / 2, (n, 1, len(truth.directions)))
    start = (first.transpose(0, 2, 1).copy(), np.zeros((n, 1, k)), first, mean.copy())
    return [torch.tensor(part, dtype=torch.float32, requires_grad=True) for part in start]


def _forward(parts, h):
    """Latents and reconstructions."""
    W_enc, b_enc, W_dec, b_dec = parts
    f = torch.relu((h - b_dec) @ W_enc.transpose(1, 2) + b_enc)
    return f, f @ W_dec.transpose(1, 2) + b_dec
