"""The toy model: exact losses against brute force, Monte Carlo and the formulas of the text."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from superposition import toy

RNG = np.random.default_rng(0)
W = RNG.standard_normal((2, 4)) * 0.8
B = np.array([-0.2, 0.1, -0.4, 0.3])
IMPORTANCE = np.array([1.0, 0.7, 0.5, 0.3])


def brute_force_term(W, b, importance, k, points):
    """L_k by the midpoint rule on a grid, support by support; error of order 1 / points^2."""
    n, u = W.shape[1], (np.arange(points) + 0.5) / points
    total = 0.0
    for support in itertools.combinations(range(n), k):
        x = np.zeros((points**k, n))
        for place, grid in zip(support, np.meshgrid(*[u] * k, indexing="ij"), strict=True):
            x[:, place] = grid.ravel()
        total += np.mean((x - np.maximum(x @ W.T @ W + b, 0)) ** 2 @ importance)
    return total


@pytest.mark.parametrize(("k", "points"), [(0, 1), (1, 4000), (2, 400), (3, 60), (4, 30)])
def test_terms_against_brute_force(k, points):
    found = toy.k_sparse_loss(W, B, IMPORTANCE, k)
    expected = brute_force_term(W, B, IMPORTANCE, k, points)
    coarse = brute_force_term(W, B, IMPORTANCE, k, max(1, points // 2))
    # halving the points shows the error of the rule: a third of the difference, twice that for safety
    assert found == pytest.approx(expected, abs=abs(expected - coarse) * 2 / 3 + 1e-12)


def test_the_one_sparse_term_as_the_text_prints_it():
    G = W.T @ W
    total = 0.0
    for i, j in np.ndindex(4, 4):
        target = 1.0 if i == j else 0.0
        kink = [-B[j] / G[j, i]] if 0 < -B[j] / G[j, i] < 1 else None
        total += quad(
            lambda x, i=i, j=j, target=target: IMPORTANCE[j] * (target * x - max(G[j, i] * x + B[j], 0)) ** 2,
            0, 1, points=kink,
        )[0]  # fmt: skip
    assert toy.k_sparse_loss(W, B, IMPORTANCE, 1) == pytest.approx(total, rel=1e-12)


def test_no_feature_on_costs_positive_biases_times_importance():
    assert toy.k_sparse_loss(W, B, IMPORTANCE, 0) == pytest.approx(0.7 * 0.01 + 0.3 * 0.09, rel=1e-14)


@pytest.mark.parametrize("sparsity", [0.0, 0.3, 0.9, 0.99])
@pytest.mark.parametrize("seed", [1, 2])
def test_population_loss_against_monte_carlo(sparsity, seed):
    p = 1 - sparsity
    found = toy.simulated_loss(W, B, IMPORTANCE, p, samples=100_000, seed=seed)
    exact = toy.population_loss(W, B, IMPORTANCE, p)
    assert abs(found.mean - exact) < 4 * found.se
    assert found.se < 0.05 * exact  # sharp enough to mean something


def test_standard_error_is_the_spread_over_seeds():
    runs = [toy.simulated_loss(W, B, IMPORTANCE, 0.2, samples=400, seed=s) for s in range(60)]
    # a standard deviation of 60 values is known to 1 / sqrt(118) = 9 %; three times that
    assert np.mean([r.se for r in runs]) == pytest.approx(np.std([r.mean for r in runs], ddof=1), rel=0.28)


def test_orthogonal_features_are_a_limit():
    W = np.eye(2, 4)
    exact = [toy.population_loss(W + shift, B, IMPORTANCE, 0.2) for shift in (0.0, 1e-9, 1e-13, 1e-200)]
    np.testing.assert_allclose(exact, exact[0], rtol=1e-8)
    # by hand: two features are kept exactly, two are dropped at zero bias
    kept = toy.population_loss(W, 0.0, IMPORTANCE, 0.2)
    assert kept == pytest.approx((0.5 + 0.3) * 0.2 / 3, rel=1e-14)


def test_a_digon_costs_a_sixth_of_p_squared_for_each_feature():
    digon = np.array([[1.0, -1.0]])
    assert toy.k_sparse_loss(digon, 0.0, 1.0, 0) == toy.k_sparse_loss(digon, 0.0, 1.0, 1) == 0
    for p in (1e-3, 0.1, 1.0):
        assert toy.population_loss(digon, 0.0, 1.0, p) == pytest.approx(2 * p**2 / 6, rel=1e-12)


def test_many_models_at_once_are_one_by_one():
    stack = RNG.standard_normal((3, 2, 2, 4))
    biases = RNG.standard_normal((3, 2, 4))
    together = toy.population_loss(stack, biases, IMPORTANCE, np.array([[0.1], [0.5], [1.0]]))
    for (g, i), p in zip(np.ndindex(3, 2), (0.1, 0.1, 0.5, 0.5, 1.0, 1.0), strict=True):
        alone = toy.population_loss(stack[g, i], biases[g, i], IMPORTANCE, p)
        assert together[g, i] == pytest.approx(alone, rel=1e-12)
    assert toy.population_loss(W, np.zeros((5, 4)), 1.0, 0.5).shape == (5,)


def test_a_large_model_by_symmetry():
    # 12 features, the limit: six digons; everything factorises
    pairs = np.kron(np.eye(6), np.array([[1.0, -1.0]]))
    assert toy.population_loss(pairs, 0.0, 1.0, 0.3) == pytest.approx(12 * 0.09 / 6, rel=1e-10)


def test_shortcut_is_the_loss_at_unit_vectors_and_no_bound():
    outputs = np.maximum(np.eye(4) @ W.T @ W + B, 0)
    expected = ((np.eye(4) - outputs) ** 2 @ IMPORTANCE).sum()
    assert toy.shortcut_loss(W, B, IMPORTANCE) == pytest.approx(expected, rel=1e-14)
    directions = np.array([np.cos(np.arange(20) * np.pi / 10), np.sin(np.arange(20) * np.pi / 10)])
    length = 200.0  # cos(pi / 10) < 1 - 1 / 200
    assert toy.shortcut_loss(directions * length**0.5, 1 - length, 1.0) < 1e-20
    assert toy.k_sparse_loss(directions * length**0.5, 1 - length, 1.0, 1) > 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: toy.population_loss(np.ones((3, 2)), 0, 1, 0.5), "m = 3 is out of range; allowed: whole numbers"),
        (lambda: toy.population_loss(np.ones((3, 1, 2)), 0, 1, [0.5, 0.1]), r"have shapes \(2,\), \(3,\); allowed"),
        (lambda: toy.population_loss(np.ones((3, 1, 2)), np.zeros((2, 2)), 1, 0.5), r"W, b, importance have shapes"),
        (lambda: toy.population_loss(np.ones(3), 0, 1, 0.5), r"W has shape \(3,\); allowed: \(..., m, n\)"),
        (lambda: toy.population_loss(np.ones((1, 2)), 0, 0, 0.5), r"importance = 0 is out of range; allowed: \(0"),
        (lambda: toy.population_loss(np.ones((1, 2)), 0, [1, -1], 0.5), "importance = -1 is out of range"),
        (lambda: toy.population_loss(np.ones((1, 2)), 0, [1, 1, 1], 0.5), r"importance has shape \(3,\)"),
        (lambda: toy.population_loss(np.ones((1, 2)), [0, 0, 0], 1, 0.5), r"b has shape \(3,\); allowed: a number"),
        (lambda: toy.population_loss(np.ones((1, 2)), 0, 1, 0), r"p = 0 is out of range; allowed: \(0, 1\]"),
        (lambda: toy.population_loss([[1, np.nan]], 0, 1, 0.5), "W = nan is out of range"),
        (lambda: toy.k_sparse_loss(np.ones((1, 2)), 0, 1, 3), "k = 3 is out of range; .* from 0 to 2"),
        (
            lambda: toy.population_loss(np.ones((1, 13)), 0, 1, 0.5),
            r"n = 13 is too large for the exact expansion: it has 2.1e\+07 pieces; .* toy.simulated_loss",
        ),
        (lambda: toy.k_sparse_loss(np.ones((1, 40)), 0, 1, 10), "n = 40 is too large for the exact expansion"),
        (lambda: toy.simulated_loss(np.ones((1, 2)), 0, 1, 0.5, samples=1, seed=0), "samples = 1 is out of range"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_many_features_in_low_order():
    assert math.isfinite(toy.k_sparse_loss(RNG.standard_normal((2, 200)), 0, 1, 1))
