"""Layered tiles: the digon, and the half cube against simulation."""

import numpy as np
import pytest
from superposition import codes
from superposition.rug import rugs


def test_the_smallest_tile_is_the_tied_digon():
    tile = codes.layered_tile(1, 1, 0.1)
    assert (tile.nd, tile.r) == (1, 0.5)
    # the best bias closes the ReLU where the partner is off, an atom of the law: what is left of the smoothing there
    assert tile.loss == pytest.approx(float(codes.digon(0.1)), rel=1e-3)


def test_the_half_cube_tile_against_enumeration_by_monte_carlo():
    rug = codes.layered_rug(4, 3)
    assert rug.nd == 5 and np.linalg.matrix_rank(rug.dense()) == 5
    tile = codes.layered_tile(4, 3, 0.05)
    assert tile.loss < codes.antipodal_optimum(0.05, 5 / 16).loss
    found = rugs.simulated_loss(rug, tile.a, tile.b, 0.05, samples=400_000, seed=1)
    assert abs(found.mean - tile.loss) < 4 * found.se + 2e-4 * tile.loss
