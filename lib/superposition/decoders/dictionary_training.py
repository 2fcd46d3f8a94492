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

from superposition import checks, optimise
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
    """Train sparse autoencoders side by side, each on activations of its own, always fresh.

    Parameters
    ----------
    truth : superposition.decoders.dictionaries.Dictionary
        What makes the activations.
    lambdas : array_like, shape (n,)
        Price of a unit of a latent for each autoencoder, from 0 to 1e6; repeat a value for several starts.
    latents : int, optional
        How many each has, at least 1; as many as there are features if left out.
    steps, batch : int
        Steps, and activations a step, at least 1.
    lr : float
        First learning rate, above 0; it falls to zero along a cosine.
    seed : int
        Seed of weights and activations.
    progress : callable, optional
        Called as ``progress(done, total)`` about a hundred times.

    Returns
    -------
    list of SparseAutoencoder
        One for each price.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> from superposition.decoders import dictionary
    >>> one, two = train_saes(dictionary(8, 4, p=0.1), [0.1, 0.1], steps=20)
    >>> bool(np.allclose(np.linalg.norm(one.W_dec, axis=0), 1)), bool(np.array_equal(one.W_dec, two.W_dec))
    (True, False)
    """
    nd, ns = truth.directions.shape
    prices = checks.real("lambdas", checks.of_shape("lambdas", lambdas, ("n",)), 0, 1e6)
    k, n = checks.whole("latents", ns if latents is None else latents, 1), len(prices)
    steps, batch = checks.whole("steps", steps, 1), checks.whole("batch", batch, 1)
    rng = np.random.default_rng(checks.whole("seed", seed, 0))
    parts = _first_weights(truth, n, k, rng)
    price = torch.from_numpy(prices).float()[:, None]

    def loss():
        h = torch.from_numpy(truth.activations(n * batch, seed=rng)[1]).float().view(n, batch, nd)
        f, rebuilt = _forward(parts, h)
        return (((h - rebuilt) ** 2).sum(2) / 2 + price * f.sum(2)).mean(1).sum()

    rate = checks.number("lr", lr, 0, 1e6, open_low=True)
    for done, _ in optimise.adam(parts, optimise.by_autograd(parts, loss), steps=steps, lr=rate):
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
