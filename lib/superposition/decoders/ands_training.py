"""Descents of networks that compute the AND of all pairs of bits, on their exact loss. Needs torch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.decoders import ands
from superposition.decoders.ranges import bit_probability, finite, shaped
from superposition.placing import placed


class Ended(NamedTuple):
    """Losses / p^2 (starts,), hidden units of all inputs (starts, inputs, N), and weights: W_in, b, W_out, c."""

    loss: np.ndarray
    hidden: np.ndarray
    weights: tuple[np.ndarray, ...]


def _layers(name, value):
    """No weights, or the arrays W_in, b, W_out and c, the first axis of each over starts."""
    if not isinstance(value, (tuple, list)) or len(value) not in (0, 4):
        raise ValueError(f"{name} is of another kind; allowed: () or four arrays W_in, b, W_out, c")
    return tuple(finite("starts n k")(name, one) for one in value)


def _weights_fit(weights, m):
    """Refuse weights that do not belong to m bits or to each other."""
    if not weights:
        raise ValueError("weights = () are none; allowed: four arrays W_in, b, W_out, c")
    starts, _, N = weights[0].shape
    _shapes(weights, m, starts, N, N)


def _network_fits(m, N, starts, reader, weights):
    """Refuse weights that belong to a different network."""
    if weights:
        _shapes(weights, m, starts, N, N + m if reader == "linear" else N)


def _shapes(weights, m, starts, N, seen):
    """Refuse weights whose shapes do not fit."""
    pairs = m * (m - 1) // 2
    for one, shape in zip(weights, ((m, N), (1, N), (seen, pairs), (1, pairs)), strict=True):
        shaped("weights", one, starts, *shape)


@placed
@checked(
    _network_fits, m=ranges.whole(2, 12), N=ranges.whole(1, 1024), p=bit_probability, starts=ranges.whole(1, 1000),
    steps=ranges.whole(0, 10**6), seed=ranges.seed, layer=ranges.one_of("relu", "linear"),
    reader=ranges.one_of("relu", "linear"), weights=_layers,
)  # fmt: skip
def descend_on_ands(
    m: int, N: int, p: float, *, starts: int, steps: int, seed: int, layer: str, reader: str, weights: tuple = ()
) -> Ended:
    """Train layers of N units and readers of the ANDs of m bits on their exact loss, from random or given weights.

    Parameters
    ----------
    weights : tuple of array_like, optional
        W_in (starts, m, N), b (starts, 1, N), W_out (starts, N, M) and c (starts, 1, M) of the start; for a linear
        reader, which sees the bits too, W_out is (starts, N + m, M).

    Returns
    -------
    Ended
        ``loss`` / p^2 (starts,), ``hidden`` units of all inputs (starts, inputs, N), and ``weights``, as above.

    Notes
    -----
    Source: ours; Adam in single precision, needs torch. Use `missed_share` instead for the best linear reader of given
    units.

    Examples
    --------
    >>> ended = descend_on_ands(4, 3, 0.2, starts=2, steps=300, seed=0, layer="relu", reader="linear")
    >>> ended.hidden.shape, bool(ended.loss.max() < 1)
    ((2, 16, 3), True)
    """
    from superposition import optimise
    from superposition.devices import torch

    # A linear reader has the bits too, so that linear functions cost no unit. A bias is a weight of an input that is
    # always 1, and all of an input is scaled by the root of its share in the loss, for which ReLUs do not care.
    x, chance = ands.all_inputs(m, p)
    seen = N + m if reader == "linear" else N
    W_in, b, W_out, c = weights or _random(m, N, seen, starts, np.random.default_rng(seed))
    root = np.sqrt(chance / (m * (m - 1) / 2))[:, None] / p
    bits, target = (
        torch.tensor(root * one, dtype=torch.float32) for one in (np.c_[x, 1 + 0 * chance], ands.ands_of_pairs(x))
    )
    learned = [torch.tensor(np.concatenate(one, axis=1), dtype=torch.float32) for one in ((W_in, b), (W_out, c))]
    act = {"relu": torch.relu, "linear": lambda y: y}
    others = (bits if reader == "linear" else bits[:, m:]).expand(starts, -1, -1)

    def forward():
        hidden = act[layer](bits @ learned[0])
        h = torch.cat((hidden, others), dim=2)
        y = act[reader](h @ learned[1])
        return hidden, h, y, y - target

    def gradient():
        hidden, h, y, error = forward()
        if reader == "relu":
            error *= y.sign()
        inner = error @ learned[1][:, :N].mT
        if layer == "relu":
            inner *= hidden.sign()
        learned[0].grad, learned[1].grad = 2 * bits.T @ inner, 2 * h.mT @ error
        return error

    for _ in optimise.adam(learned, gradient, steps=steps, lr=0.01) if steps else ():
        pass
    hidden, _, _, error = (one.double().numpy() for one in forward())
    (W_in, b), (W_out, c) = (np.split(one.double().numpy(), [-1], axis=1) for one in learned)
    return Ended((error**2).sum(axis=(1, 2)), hidden / root, (W_in, b, W_out, c))


@checked(_weights_fit, weights=_layers, m=ranges.whole(2, 12))
def as_relus(weights: tuple, m: int) -> tuple[np.ndarray, ...]:
    """Weights of a layer of ReLUs that are never off and give the outputs of a linear layer.

    Parameters
    ----------
    weights : tuple of array_like
        W_in, b, W_out and c of `descend_on_ands` with a linear layer and a ReLU reader.

    Returns
    -------
    tuple of numpy.ndarray
        The same arrays with other biases b and c.

    Notes
    -----
    Source: ours; each bias is raised to the least that keeps its unit on, and c removes the difference.

    Examples
    --------
    >>> zeros = np.zeros((1, 1, 1))
    >>> as_relus((-np.ones((1, 2, 1)), zeros, 1 + zeros, zeros), 2)[1]
    array([[[2.]]])
    """
    W_in, b, W_out, c = weights
    lowest = (ands.all_inputs(m, 0.5)[0] @ W_in + b).min(axis=1, keepdims=True)
    return W_in, b - lowest, W_out, c + lowest @ W_out


def _random(m, N, seen, starts, rng):
    """Gaussian weights whose variance is one divided by the number of inputs of a unit, without biases."""
    pairs = m * (m - 1) // 2
    W_in, W_out = (rng.standard_normal((starts, a, b)) / np.sqrt(fan) for a, b, fan in ((m, N, N), (seen, pairs, seen)))
    return W_in, np.zeros((starts, 1, N)), W_out, np.zeros((starts, 1, pairs))
