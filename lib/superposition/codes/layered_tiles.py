"""Layered tiles: small rugs that can be laid side by side.

Take 2^t features and keep the Hadamard rows whose number has at least w ones. The rug of this
index set has rank C(t, w) + ... + C(t, t), and features that differ in one bit inhibit each
other most. Tiles of this kind, laid side by side, serve any number of features. One bit is the
digon; four bits with w = 3 are 16 vectors in 5 dimensions, the corners of a half cube.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.codes.exact_losses import best_shift_by_law
from superposition.rug import rugs


@dataclass(frozen=True)
class LayeredTile:
    """A layered tile of 2^bits features in nd dimensions: its ratio r, best gain a and effective bias b, and loss."""

    bits: int
    least: int
    nd: int
    r: float
    a: float
    b: float
    loss: float


def _fits(bits: int, least: int) -> None:
    """Refuse a layer above the number of bits."""
    checks.whole("least", least, 1, bits)


@checked(_fits, bits=ranges.whole(1, 12), least=ranges.whole(1, 12))
def layered_rug(bits: int, least: int) -> rugs.Rug:
    """The rug of a layered tile: 2^bits features, and the Hadamard rows with at least ``least`` ones.

    Returns
    -------
    superposition.rug.Rug
        Source: ours.

    Examples
    --------
    >>> layered_rug(4, 3).nd  # the half cube: 16 features
    5
    """
    kept = np.flatnonzero(np.bitwise_count(np.arange(2**bits)) >= least)
    return rugs.Rug(2**bits, len(kept), indices=kept)


@checked(_fits, bits=ranges.whole(1, 12), least=ranges.whole(1, 12), p=ranges.one_probability)
def layered_tile(bits: int, least: int, p: float) -> LayeredTile:
    """Best gain and bias of a layered tile, by the law of its interference.

    Returns
    -------
    LayeredTile
        Its loss has a relative error of 1e-3 where the ReLU closes at an atom of the distribution. Source: ours.

    Examples
    --------
    >>> round(layered_tile(4, 3, 0.05).loss, 5)
    0.00266
    """
    tile = layered_rug(bits, least)
    a, shift, loss = best_shift_by_law(tile.row()[1:], p)
    return LayeredTile(bits, least, tile.nd, tile.nd / tile.ns, a, a * shift, loss)
