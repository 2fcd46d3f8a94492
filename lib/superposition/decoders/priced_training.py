"""Sparse autoencoders descended from given starts at given prices, all on the same activations; needs torch.

The architecture and the loss are those of `superposition.decoders.dictionary_training` with ReLU. Starts are compared
by their loss on the same fresh activations. Gradients are written out, without their part along a decoder column, with
which columns would not end at the least loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, ranges
from superposition.checked import checked
from superposition.decoders.dictionaries import Dictionary
from superposition.decoders.dictionary_training import SparseAutoencoder, across
from superposition.decoders.ranges import finite, price, shaped, truth
from superposition.placing import placed

if TYPE_CHECKING:
    from superposition.devices import torch


def _starts(name, value):
    """A list of autoencoders of one shape."""
    if (
        not isinstance(value, (list, tuple))
        or not value
        or not all(isinstance(one, SparseAutoencoder) for one in value)
    ):
        raise ValueError(f"{name} = {checks.shown(value)}; allowed: a list of SparseAutoencoder")
    if len({one.W_dec.shape for one in value}) > 1:
        raise ValueError(f"{name} have {len({one.W_dec.shape for one in value})} shapes; allowed: one shape for all")
    return value


def _descents(truth, starts, prices):
    """Refuse autoencoders whose dimensions do not fit, and a different number of prices."""
    shaped("starts", starts[0].W_dec, len(truth.directions), "k")
    shaped("prices", prices, len(starts))


def _in_dimensions(directions, center):
    """Refuse a center with a different number of dimensions."""
    shaped("center", center, len(directions))


def _of_the_sae(sae, hidden):
    """Refuse activations with a different number of dimensions."""
    shaped("hidden", hidden, "batch", len(sae.W_dec))


class Weights(NamedTuple):
    """Weights of several autoencoders along the first axis: (n, nd, k), (n, 1, k), (n, nd, k) and (n, 1, nd)."""

    W_enc: torch.Tensor
    b_enc: torch.Tensor
    W_dec: torch.Tensor
    b_dec: torch.Tensor


@checked(_in_dimensions, directions=finite("nd k"), gain=ranges.number(), bias=ranges.number(), center=finite("nd"))
def sae_along(directions: NDArray, gain: float, bias: float, center: NDArray) -> SparseAutoencoder:
    """An autoencoder that reads directions (nd, k) along themselves, around a center (nd,) of the activations.

    Examples
    --------
    >>> sae_along([[1.0, -1.0]], 1.0, -0.25, [0.5]).encode([[2.0]])
    array([[1.25, 0.  ]])
    """
    return SparseAutoencoder(gain * directions.T, np.full(directions.shape[1], bias), directions, center)


@placed
@checked(
    _descents, truth=truth, starts=_starts, prices=ranges.array("n", 0, 1e6), steps=ranges.steps, lr=ranges.rate,
    batch=ranges.whole(1, 10**6), seed=ranges.seed,
)  # fmt: skip
def descend_saes(
    truth: Dictionary, starts: Sequence[SparseAutoencoder], prices: ArrayLike, *, steps: int, lr: float,
    batch: int = 256, seed: int = 0,
) -> list[SparseAutoencoder]:  # fmt: skip
    """Train each start at its price by Adam with a cosine to zero; directions keep length one.

    Parameters
    ----------
    starts : list of SparseAutoencoder
        n autoencoders of one shape.
    prices : array_like, shape (n,)
        Their prices, from 0 to 1e6.

    Notes
    -----
    Source: ours; in single precision, needs torch. Use `train_saes` instead from random starts.

    Examples
    --------
    >>> from superposition.decoders import dictionary
    >>> truth = dictionary(8, 4, p=0.1)
    >>> start = sae_along(truth.directions, 1.0, 0.0, truth.directions @ truth.p / 2)
    >>> [sae] = descend_saes(truth, [start], [0.1], steps=10, lr=0.01)
    >>> sae.W_dec.shape
    (4, 8)
    """
    from superposition import optimise
    from superposition.devices import torch

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


@checked(_of_the_sae, sae=ranges.instance(SparseAutoencoder), price=price, hidden=finite("batch nd"))
def sae_losses(sae: SparseAutoencoder, price: float, hidden: NDArray) -> NDArray[np.float64]:
    """Half the squared error plus the price of activity, for each activation.

    Examples
    --------
    >>> sae_losses(sae_along([[1.0, -1.0]], 1.0, -0.25, [0.5]), 0.1, [[2.0]])
    array([0.15625])
    """
    f = sae.encode(hidden)
    return ((hidden - f @ sae.W_dec.T - sae.b_dec) ** 2).sum(axis=1) / 2 + price * f.sum(axis=1)


def _stacked(starts):
    """Weights of all starts along the first axis, in single precision."""
    from superposition.devices import torch

    rows = [(one.W_enc.T, one.b_enc[None], one.W_dec, one.b_dec[None]) for one in starts]
    return Weights(*(torch.tensor(np.array(part), dtype=torch.float32) for part in zip(*rows, strict=True)))


def _gradient(weights, h, price):
    """Leave the gradients of the mean loss in ``weight.grad``; return the sum of the losses of all autoencoders."""
    from superposition.devices import torch

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
