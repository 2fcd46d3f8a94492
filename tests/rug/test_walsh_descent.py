"""Descent on Hadamard eigenvalues, and layered index sets."""

import numpy as np
import pytest
from rows import as_read
from sampled import sampled
from superposition import codes, features
from superposition.experiments import controls
from superposition.rug import meanfield, rugs, walsh_descent


def test_partner_share_is_the_brute_force_one():
    indices = np.array([1, 5, 6, 11, 12])
    brute = max(np.mean(np.bitwise_count(indices & e) % 2) for e in range(1, 16))
    assert walsh_descent._partner_share(indices, 16) == pytest.approx(brute)
    rug = rugs.Rug(64, 20, seed=2, antipodal=True)
    assert walsh_descent._partner_share(rug.indices, 64) == 1
    random = rugs.Rug(64, 20, seed=2)
    assert random.row().min() == pytest.approx(1 - 2 * walsh_descent._partner_share(random.indices, 64))


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
    found = walsh_descent.decoded_rug_loss(rug, 0.05, samples=128, seed=2)
    best = meanfield.optimum(0.05, 819 / 4096).loss
    assert abs(found.mean - best) < 4 * found.se + 0.02 * best  # what 4096 features leave: below 1 %


def test_decoded_loss_finds_the_bias():
    rug = rugs.Rug(2048, 1024, seed=1, antipodal=True)
    found = walsh_descent.decoded_rug_loss(rug, 0.1, samples=400, seed=2)
    best = codes.antipodal_optimum(0.1, 0.5).loss
    assert abs(found.mean - best) < 4 * found.se + 0.005 * best  # the grid of biases


@pytest.mark.parametrize("seed", sampled([1, 2]))
def test_descent_leaves_the_random_rug(seed):
    """At 64 features and r = 0.3 the antipodal rug is what is left, or something below the theory."""
    found = walsh_descent.descend_on_eigenvalues(64, 20, 0.05, steps=400, seed=seed, device="cpu")
    assert np.count_nonzero(found.eigenvalues) == 20 == found.ranks[-1]
    assert np.all(np.diff(found.ranks) <= 0)
    assert found.partners[-1] == walsh_descent._partner_share(np.flatnonzero(found.eigenvalues), 64)
    assert found.loss < 0.9 * meanfield.optimum(0.05, 20 / 64).loss
    again = walsh_descent.descend_on_eigenvalues(64, 20, 0.05, steps=400, seed=seed, device="cpu")
    np.testing.assert_array_equal(found.eigenvalues, again.eigenvalues)


def test_reported_loss_is_that_of_the_matrix():
    found = walsh_descent.descend_on_eigenvalues(32, 12, 0.1, steps=150, seed=0, device="cpu")
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
    assert out["antipodal"] == pytest.approx(float(codes.antipodal_optimum(0.05, 0.5).loss) / out["theory"])
    assert as_read("rug-descent", point, {"nd": 17, "loss": 1.0})["antipodal"] == 0  # there is none above r = 1/2


@pytest.mark.parametrize(("at", "found"), [(-0.5, 0.0), (0.43, 0.43), (1.5, 1.0)])
def test_a_minimum_beyond_the_grid_is_looked_for_at_its_end(at, found):
    grid = np.linspace(0, 1, 11)
    assert walsh_descent._lowest(grid, (grid - at) ** 2) == pytest.approx(found, abs=1e-12)


def test_the_first_cut_leaves_the_largest_eigenvalues_of_the_start():
    found = walsh_descent.descend_on_eigenvalues(32, 9, 0.1, steps=1, seed=4, device="cpu")
    start = 1 + 0.1 * np.random.default_rng(4).standard_normal(32)
    assert set(np.flatnonzero(found.eigenvalues)) == set(np.argsort(start)[-9:])
