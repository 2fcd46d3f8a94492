"""Layered tiles: small rugs that can be laid side by side.

Take 2^t features and keep the Hadamard rows whose number has at least w ones. The rug of this
index set has rank C(t, w) + ... + C(t, t), and features that differ in one bit inhibit each
other most. Tiles of this kind, laid side by side, serve any number of features. One bit is the
digon; four bits with w = 3 are 16 vectors in 5 dimensions, the corners of a half cube.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superposition import features
from superposition.rug import rugs


@dataclass(frozen=True)
class Tile:
    """A tile of 2^bits features in nd dimensions: its ratio r, best gain a and effective bias b, and loss."""

    bits: int
    least: int
    nd: int
    r: float
    a: float
    b: float
    loss: float


def rug(bits: int, least: int) -> rugs.Rug:
    """The rug of a layered tile: 2^bits features, and the Hadamard rows with at least so many ones."""
    kept = np.flatnonzero(np.bitwise_count(np.arange(2**bits)) >= least)
    return rugs.Rug(2**bits, len(kept), indices=kept)


def optimum(bits: int, least: int, p: float) -> Tile:
    """Best gain and bias of a layered tile, with the exact law of its interference."""
    # The loss of a row is good to 1e-3 of itself where the ReLU closes at an atom; for every ratio of bias and gain the
    # best gain is known (The Persian Rug, eq. 9).
    from scipy.optimize import minimize_scalar

    tile = rug(bits, least)
    weights = tile.row()[1:]
    noise = float(np.sqrt(features.variance(p) * np.sum(weights**2)))

    def best_gain(shift):  # at b = a shift the loss is a parabola in a, known from a = 1 and 2
        one, two = (rugs.row_loss(weights, a, a * shift, p) for a in (1.0, 2.0))
        top = float(features.second_moment(p))
        square = (two - 2 * one + top) / 2
        overlap = (top + square - one) / 2
        return overlap / square, top - overlap**2 / square

    grid = np.linspace(-2.5, 0.5, 13) * noise
    at = int(np.clip(np.argmin([best_gain(shift)[1] for shift in grid]), 1, len(grid) - 2))
    bounds = (grid[at - 1], grid[at + 1])
    found = minimize_scalar(lambda shift: best_gain(shift)[1], bounds=bounds, method="bounded", options={"xatol": 1e-4})
    a, loss = best_gain(found.x)
    return Tile(bits, least, tile.nd, tile.nd / tile.ns, a, a * float(found.x), loss)
