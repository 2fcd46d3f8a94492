"""Sparse autoencoders descended from given starts at given prices, all on the same activations. Needs torch.

The architecture and the loss are those of `superposition.decoders.dictionary_training` with ReLU. Here the start is
the question, so it is an argument; and what starts are compared by is the loss on the same fresh activations. Gradients
are written out, and what lies along a decoder column is taken from them: with it columns end beside the least loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import optimise
from superposition.decoders.dictionaries import Dictionary
from superposition.decoders.dictionary_training import SparseAutoencoder, across
from superposition.devices import torch


class Weights(NamedTuple):
    """Of several autoencoders along the first axis: (n, nd, k), (n, 1, k), (n, nd, k) and (n, 1, nd)."""

    W_enc: torch.Tensor
    b_enc: torch.Tensor
    W_dec: torch.Tensor
    b_dec: torch.Tensor


def along(directions: NDArray, gain: float, bias: float, center: NDArray) -> SparseAutoencoder:
    """An autoencoder that reads directions (nd, k) along themselves, around a center (nd,) of the activations."""
    return SparseAutoencoder(gain * directions.T, np.full(directions.shape[1], bias), directions, center)


def descend(
    truth: Dictionary,
    starts: Sequence[SparseAutoencoder],
    prices: ArrayLike,
    *,
    steps: int,
    lr: float,
    batch: int = 256,
    seed: int = 0,
) -> list[SparseAutoencoder]:
    """Train each start at its price by Adam with a cosine to zero; directions keep length one."""
    weights, rng = _stacked(starts), np.random.default_rng(seed)
    price = torch.tensor(np.asarray(prices, float), dtype=torch.float32)[:, None, None]

    def gradient():
        h = torch.from_numpy(truth.activations(batch, seed=rng)[1]).float()
        return _gradient(weights, h, price)

    for _ in optimise.adam(weights, across(weights.W_dec, gradient), steps=steps, lr=lr):
        weights.W_dec.div_(weights.W_dec.norm(dim=1, keepdim=True))
    W_enc, b_enc, W_dec, b_dec = (part.double().numpy() for part in weights)
    rows = zip(W_enc.transpose(0, 2, 1), b_enc[:, 0], W_dec, b_dec[:, 0], strict=True)
    return [SparseAutoencoder(*one) for one in rows]


def losses(sae: SparseAutoencoder, price: float, hidden: NDArray) -> NDArray[np.float64]:
    """The loss of each activation, (batch,)."""
    f = sae.encode(hidden)
    return ((hidden - f @ sae.W_dec.T - sae.b_dec) ** 2).sum(axis=1) / 2 + price * f.sum(axis=1)


def _stacked(starts):
    rows = [(one.W_enc.T, one.b_enc[None], one.W_dec, one.b_dec[None]) for one in starts]
    return Weights(*(torch.tensor(np.array(part), dtype=torch.float32) for part in zip(*rows, strict=True)))


def _gradient(weights, h, price):
    """Leave the gradients of the mean loss in ``weight.grad``; the sum of the losses of all autoencoders."""
    W_enc, b_enc, W_dec, b_dec = weights
    centered = h - b_dec
    f = torch.baddbmm(b_enc, centered, W_enc).relu_()
    rest = torch.baddbmm(b_dec, f, W_dec.transpose(1, 2)).sub_(h)
    on_f = torch.baddbmm(price, rest, W_dec).mul_(f > 0)
    grads = Weights(
        centered.transpose(1, 2) @ on_f,
        on_f.sum(1, keepdim=True),
        rest.transpose(1, 2) @ f,
        rest.sum(1, keepdim=True) - on_f.sum(1, keepdim=True) @ W_enc.transpose(1, 2),
    )
    for weight, grad in zip(weights, grads, strict=True):
        weight.grad = grad.div_(len(h))
    return (rest.square().sum() / 2 + (price * f).sum()) / len(h)
