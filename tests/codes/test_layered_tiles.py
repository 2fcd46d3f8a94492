"""Layered tiles: the digon, and the half cube against simulation."""

import numpy as np
import pytest
from superposition.codes import layered_tiles, partners
from superposition.rug import rugs


def test_the_smallest_tile_is_the_tied_digon():
    tile = layered_tiles.optimum(1, 1, 0.1)
    assert (tile.nd, tile.r) == (1, 0.5)
    # the best bias closes the ReLU where the partner is off, an atom of the law: what is left of the smoothing there
    assert tile.loss == pytest.approx(float(partners.digon(0.1)), rel=1e-3)


def test_the_half_cube_tile_against_enumeration_by_monte_carlo():
    rug = layered_tiles.rug(4, 3)
    assert rug.nd == 5 and np.linalg.matrix_rank(rug.dense()) == 5
    tile = layered_tiles.optimum(4, 3, 0.05)
    assert tile.loss < partners.antipodal_optimum(0.05, 5 / 16).loss
    found = rugs.simulated_loss(rug, tile.a, tile.b, 0.05, samples=400_000, seed=1)
    assert abs(found.mean - tile.loss) < 4 * found.se + 2e-4 * tile.loss
