"""Descent on Hadamard eigenvalues, layered index sets and tiles."""

import numpy as np
import pytest
from rows import as_read
from superposition import features
from superposition.codes import layered_tiles, partners
from superposition.experiments import controls
from superposition.rug import meanfield, rugs, walsh_descent


def test_partner_share_is_the_brute_force_one():
    indices = np.array([1, 5, 6, 11, 12])
    brute = max(np.mean(np.bitwise_count(indices & e) % 2) for e in range(1, 16))
    assert walsh_descent.partner_share(indices, 16) == pytest.approx(brute)
    rug = rugs.Rug(64, 20, seed=2, antipodal=True)
    assert walsh_descent.partner_share(rug.indices, 64) == 1
    random = rugs.Rug(64, 20, seed=2)
    assert random.row().min() == pytest.approx(1 - 2 * walsh_descent.partner_share(random.indices, 64))


def test_one_layer_is_antipodal_and_layers_are_ordered():
    indices = walsh_descent.layered_indices(64, 20, 1, seed=3)
    assert len(set(indices)) == 20 and np.all(indices % 2 == 1)
    indices = walsh_descent.layered_indices(64, 20, 4, seed=3)
    weight = np.bitwise_count(np.arange(64) & 15)
    left_out = np.setdiff1d(np.arange(64), indices)
    assert weight[indices].min() >= weight[left_out].max()
    assert not np.array_equal(
        walsh_descent.layered_indices(64, 20, 3, seed=3), walsh_descent.layered_indices(64, 20, 3, seed=4)
    )


def test_decoded_loss_is_that_of_the_theory_for_a_large_rug():
    rug = rugs.Rug(4096, 819, seed=1)
    found = walsh_descent.decoded_loss(rug, 0.05, samples=128, seed=2)
    best = meanfield.optimum(0.05, 819 / 4096).loss
    assert abs(found.mean - best) < 4 * found.se + 0.02 * best  # what 4096 features leave: below 1 %


def test_decoded_loss_finds_the_bias():
    rug = rugs.Rug(2048, 1024, seed=1, antipodal=True)
    found = walsh_descent.decoded_loss(rug, 0.1, samples=400, seed=2)
    best = partners.antipodal_optimum(0.1, 0.5).loss
    assert abs(found.mean - best) < 4 * found.se + 0.005 * best  # the grid of biases


@pytest.mark.parametrize("seed", [1, 2])
def test_descent_leaves_the_random_rug(seed):
    """At 64 features and r = 0.3 the antipodal rug is what is left, or something below the theory."""
    found = walsh_descent.descend(64, 20, 0.05, steps=400, seed=seed, device="cpu")
    assert np.count_nonzero(found.eigenvalues) == 20 == found.ranks[-1]
    assert np.all(np.diff(found.ranks) <= 0)
    assert found.partners[-1] == walsh_descent.partner_share(np.flatnonzero(found.eigenvalues), 64)
    assert found.loss < 0.9 * meanfield.optimum(0.05, 20 / 64).loss
    again = walsh_descent.descend(64, 20, 0.05, steps=400, seed=seed, device="cpu")
    np.testing.assert_array_equal(found.eigenvalues, again.eigenvalues)


def test_reported_loss_is_that_of_the_matrix():
    found = walsh_descent.descend(32, 12, 0.1, steps=150, seed=0, device="cpu")
    H = rugs.walsh_hadamard(np.eye(32))
    W = H @ np.diag(found.eigenvalues) @ H / 32

    x = features.sample(32, 0.1, 60_000, seed=9)
    error = np.mean((np.maximum(x @ W.T + found.bias, 0) - x) ** 2, axis=1)
    se = np.hypot(found.loss_se, error.std() / len(error) ** 0.5)
    assert abs(found.loss - error.mean()) < 4 * se


def test_the_function_of_the_run():
    point = {"ns": 32, "p": 0.05, "r": 0.5, "steps": 200, "seed": 0}
    out = as_read("rug-descent", point, controls.descended_rug(**point, device="cpu"))
    assert out["theory"] == pytest.approx(float(meanfield.optimum(0.05, 0.5).loss))
    assert out["nd"] == 16 and out["ratio"] == pytest.approx(out["loss"] / out["theory"])
    assert out["antipodal"] == pytest.approx(float(partners.antipodal_optimum(0.05, 0.5).loss) / out["theory"])
    assert as_read("rug-descent", point, {"nd": 17, "loss": 1.0})["antipodal"] == 0  # there is none above r = 1/2


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


def test_all_tiles_lie_in_the_interval():
    found = layered_tiles.all_tiles(5, 0.1, 0.4)
    assert (4, 3) in found and (1, 1) not in found
    assert all(0.1 <= layered_tiles.rug(*pair).nd / 2 ** pair[0] <= 0.4 for pair in found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: walsh_descent.layered_indices(12, 3, 1), "ns = 12 is out of range; allowed: powers of two"),
        (lambda: walsh_descent.layered_indices(16, 17, 1), "nd = 17 is out of range"),
        (lambda: walsh_descent.layered_indices(16, 3, 5), "bits = 5 is out of range"),
        (
            lambda: walsh_descent.partner_share(np.array([], dtype=int), 16),
            r"indices has shape \(0,\); allowed: \(nd,\)",
        ),
        (lambda: walsh_descent.descend(16, 17, 0.05), "nd = 17 is out of range"),
        (lambda: walsh_descent.descend(16, 4, 0.05, lr=0), "lr = 0 is out of range"),
        (lambda: layered_tiles.rug(3, 4), "least = 4 is out of range"),
        (lambda: layered_tiles.rug(15, 4), "bits = 15 is out of range"),
        (lambda: layered_tiles.all_tiles(3, 0.2, 1.5), "high = 1.5 is out of range"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("at", "found"), [(-0.5, 0.0), (0.43, 0.43), (1.5, 1.0)])
def test_a_minimum_beyond_the_grid_is_looked_for_at_its_end(at, found):
    grid = np.linspace(0, 1, 11)
    assert walsh_descent._lowest(grid, (grid - at) ** 2) == pytest.approx(found, abs=1e-12)
