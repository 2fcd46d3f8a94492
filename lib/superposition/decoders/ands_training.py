"""Descents of networks that compute the AND of all pairs of bits, on their exact loss. Needs torch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from superposition import optimise
from superposition.decoders import ands
from superposition.devices import torch


class Ended(NamedTuple):
    """Losses over p^2 (starts,), hidden units of all inputs (starts, inputs, N), and weights: W_in, b, W_out, c."""

    loss: np.ndarray
    hidden: np.ndarray
    weights: tuple[np.ndarray, ...]


def descend(
    m: int, N: int, p: float, *, starts: int, steps: int, seed: int, layer: str, reader: str, weights: tuple = ()
) -> Ended:
    """Train from random weights, or from given ones; layer and reader are "relu" or "linear"."""
    # A linear reader sees the bits too: what is linear is free. A bias is a weight of an input that is always 1, and
    # all of an input is scaled by the root of its share in the loss, for which ReLUs do not care.
    x, chance = ands.inputs(m, p)
    seen = N + m if reader == "linear" else N
    W_in, b, W_out, c = weights or _random(m, N, seen, starts, np.random.default_rng(seed))
    root = np.sqrt(chance / (m * (m - 1) / 2))[:, None] / p
    bits, target = (torch.tensor(root * one, dtype=torch.float32) for one in (np.c_[x, 1 + 0 * chance], ands.ands(x)))
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

    for _ in optimise.adam(learned, gradient, steps=steps, lr=0.01):
        pass
    hidden, _, _, error = (one.double().numpy() for one in forward())
    (W_in, b), (W_out, c) = (np.split(one.double().numpy(), [-1], axis=1) for one in learned)
    return Ended((error**2).sum(axis=(1, 2)), hidden / root, (W_in, b, W_out, c))


def as_relus(weights: tuple, m: int) -> tuple[np.ndarray, ...]:
    """Weights of a layer of ReLUs, none of which is ever off, with the outputs of a linear layer."""
    W_in, b, W_out, c = weights
    lowest = (ands.inputs(m, 0.5)[0] @ W_in + b).min(axis=1, keepdims=True)
    return W_in, b - lowest, W_out, c + lowest @ W_out


def _random(m, N, seen, starts, rng):
    pairs = m * (m - 1) // 2
    W_in, W_out = (rng.standard_normal((starts, a, b)) / np.sqrt(fan) for a, b, fan in ((m, N, N), (seen, pairs, seen)))
    return W_in, np.zeros((starts, 1, N)), W_out, np.zeros((starts, 1, pairs))
