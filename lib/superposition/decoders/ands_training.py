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
    # A linear reader sees the bits too: what is linear is free.
    x, chance = ands.inputs(m, p)
    weights = weights or _random(m, N, N + m if reader == "linear" else N, starts, np.random.default_rng(seed))
    learned = [torch.tensor(one, dtype=torch.float32, requires_grad=True) for one in weights]
    bits, target, chance = (torch.tensor(one, dtype=torch.float32) for one in (x, ands.ands(x), chance))
    act = {"relu": torch.relu, "linear": lambda y: y}

    def hidden():
        return act[layer](bits @ learned[0] + learned[1])

    def losses():
        h = hidden() if reader == "relu" else torch.cat((hidden(), bits.expand(starts, *bits.shape)), dim=2)
        error = act[reader](h @ learned[2] + learned[3]) - target
        return error.square().mean(dim=2) @ chance / p**2

    for _ in optimise.adam(learned, optimise.by_autograd(learned, lambda: losses().sum()), steps=steps, lr=0.01):
        pass
    with torch.no_grad():
        ends = [one.double().numpy() for one in (losses(), hidden(), *learned)]
    return Ended(ends[0], ends[1], tuple(ends[2:]))


def as_relus(weights: tuple, m: int) -> tuple[np.ndarray, ...]:
    """Weights of a layer of ReLUs, none of which is ever off, with the outputs of a linear layer."""
    W_in, b, W_out, c = weights
    lowest = (ands.inputs(m, 0.5)[0] @ W_in + b).min(axis=1, keepdims=True)
    return W_in, b - lowest, W_out, c + lowest @ W_out


def _random(m, N, seen, starts, rng):
    pairs = m * (m - 1) // 2
    W_in, W_out = (rng.standard_normal((starts, a, b)) / np.sqrt(fan) for a, b, fan in ((m, N, N), (seen, pairs, seen)))
    return W_in, np.zeros((starts, 1, N)), W_out, np.zeros((starts, 1, pairs))
