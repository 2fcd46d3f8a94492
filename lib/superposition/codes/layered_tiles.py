"""Layered tiles: small rugs that can be laid side by side.

Take 2^t features and keep the Hadamard rows whose number has at least w ones. The rug of this
index set has rank C(t, w) + ... + C(t, t), and features that differ in one bit inhibit each
other most. Tiles of this kind, laid side by side, serve any number of features. One bit is the
digon; four bits with w = 3 are 16 vectors in 5 dimensions, the corners of a half cube.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superposition.codes.exact_losses import best_shift_by_law
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
    """Best gain and bias of a layered tile, by the law of its interference."""
    # good to 1e-3 of itself where the ReLU closes at an atom of the law
    tile = rug(bits, least)
    a, shift, loss = best_shift_by_law(tile.row()[1:], p)
    return Tile(bits, least, tile.nd, tile.nd / tile.ns, a, a * shift, loss)
