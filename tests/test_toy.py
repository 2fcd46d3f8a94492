"""The toy model: exact losses against brute force and Monte Carlo, the linear model against its algebra."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from superposition import features, parameters, toy, toy_linear, toy_optima

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
    p = float(toy.probability(sparsity))
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


def test_dimensionality_and_interference_of_known_figures():
    assert toy.feature_dimensionality(np.array([[1.0, -1.0]])) == pytest.approx([0.5, 0.5])
    pentagon = np.array([np.cos(np.arange(5) * 0.4 * np.pi), np.sin(np.arange(5) * 0.4 * np.pi)])
    np.testing.assert_allclose(toy.feature_dimensionality(1.3 * pentagon), 0.4)
    np.testing.assert_allclose(toy.feature_dimensionality(np.eye(2, 3)), [1, 1, 0])
    np.testing.assert_allclose(toy.interference(np.eye(2, 3)), [0, 0, 0])
    np.testing.assert_allclose(toy.interference(np.array([[2.0, -1.0]])), [1, 4])
    random = RNG.standard_normal((40, 3, 7))
    D = toy.feature_dimensionality(random)
    assert np.all((D >= 0) & (D <= 1)) and np.all(D.sum(axis=1) <= 3 + 1e-12)


def test_phases():
    assert toy.phase(np.array([[1.0, 0.1]]), 1) == "dropped"
    assert toy.phase(np.array([[0.1, 1.0]]), 1) == "own"
    assert toy.phase(np.array([[1.0, -1.0]]), 1) == "superposed"


def test_linear_loss_is_a_quadratic_form_of_the_moments():
    # E (x - G x - b)^2 from E x x^T = V + m_1^2, an independent route
    p, G = 0.3, W.T @ W
    V, m1 = features.variance(p), features.mean(p)
    A = np.eye(4) - G
    second = V * np.eye(4) + m1**2
    expected = sum(
        IMPORTANCE[j] * (A[j] @ second @ A[j] - 2 * B[j] * m1 * A[j].sum() + B[j] ** 2) for j in range(4)
    )
    assert toy_linear.linear_loss(W, B, IMPORTANCE, p) == pytest.approx(expected, rel=1e-12)
    best = toy_linear.best_bias(W, p)
    lowest = toy_linear.linear_loss(W, best, IMPORTANCE, p)
    assert lowest == pytest.approx(V * toy_linear.two_force_loss(W, IMPORTANCE), rel=1e-12)
    for shift in 0.01 * np.eye(4):
        assert toy_linear.linear_loss(W, best + shift, IMPORTANCE, p) > lowest


def test_two_forces_as_printed():
    G, total = W.T @ W, 0.0
    for i in range(4):
        total += IMPORTANCE[i] * (1 - G[i, i]) ** 2
        total += sum(IMPORTANCE[j] * G[j, i] ** 2 for j in range(4) if j != i)
    assert toy_linear.two_force_loss(W, IMPORTANCE) == pytest.approx(total, rel=1e-13)


def test_the_linear_optimum_is_reached_and_never_beaten():
    importance = np.array([0.2, 1.0, 0.6, 0.4, 0.8])
    assert toy_linear.optimum(importance, 2) == pytest.approx(1.2)
    kept = np.zeros((2, 5))
    kept[[0, 1], [1, 4]] = 1
    assert toy_linear.two_force_loss(kept, importance) == pytest.approx(1.2, rel=1e-14)
    for _ in range(200):
        basis = np.linalg.qr(RNG.standard_normal((5, 2)))[0].T
        assert toy_linear.two_force_loss(basis, importance) > 1.2
        assert toy_linear.two_force_loss(basis, 1.0) == pytest.approx(3.0, rel=1e-12)  # every projector ties
    assert toy_linear.optimum(np.ones(3), 3) == 0


def test_flow_goes_down_the_gradient():
    importance, p, h = IMPORTANCE, 0.4, 1e-6
    start = 0.3 * W
    step = (toy_linear.flow(start, importance, p, [0.0, h])[1] - start) / h

    def loss(W):
        return features.variance(p) * toy_linear.two_force_loss(W, importance)

    slope = np.zeros_like(start)
    for at in np.ndindex(start.shape):
        shift = np.zeros_like(start)
        shift[at] = 1e-6
        slope[at] = (loss(start + shift) - loss(start - shift)) / 2e-6
    np.testing.assert_allclose(step, -slope, atol=1e-5)


def test_an_undisturbed_feature_follows_the_sigmoid():
    times = np.linspace(0, 400, 30)
    importance = np.array([1.0, 0.5])
    path = toy_linear.flow(np.diag([0.1, 0.2]), importance, 0.1, times)
    expected = toy_linear.sigmoid(np.array([0.01, 0.04]), importance, 0.1, times[:, None])
    np.testing.assert_allclose((path**2).sum(axis=1), expected, atol=1e-6)
    assert expected[-1].min() > 0.99 and expected[0] == pytest.approx([0.01, 0.04])


def test_free_start_is_gram_and_schmidt_by_importance():
    W = np.array([[1.0, 3.0, 0.0], [1.0, 0.0, 2.0]])
    start = toy_linear.free_start(W, [0.5, 1.0, 0.1])  # first (3, 0), then the part (0, 1) of (1, 1)
    np.testing.assert_allclose(start, [1, 9, 0], atol=1e-14)


def test_exact_optimum_of_two_features():
    # equal importance and rare features: the digon p^2 / 3 at unit norm, a little less when relaxed
    found = toy_optima.minimise(2, 1, 1.0, 0.02, starts=3, first=[np.array([[1.0, -1.0]])])
    assert 0.98 * 0.02**2 / 3 < found.loss < 0.02**2 / 3
    assert toy.population_loss(found.W, found.b, 1.0, 0.02) == pytest.approx(found.loss, rel=1e-12)
    assert found.hits >= 1 and len(found.losses) == 4
    # stationary: no small step in any of 20 directions goes down by more than the tolerance
    for _ in range(20):
        nearby = toy.population_loss(
            found.W + 1e-4 * RNG.standard_normal((1, 2)), found.b + 1e-4 * RNG.standard_normal(2), 1.0, 0.02
        )
        assert nearby > found.loss * (1 - 1e-6)


def test_dense_features_drop_the_less_important():
    found = toy_optima.minimise(2, 1, [1.0, 0.2], 1.0, starts=4)
    assert toy.phase(found.W, 1) == "dropped" and toy.phase(found.W, 0) == "own"
    assert found.loss == pytest.approx(0.2 / 12, rel=1e-5)  # V of a feature that is always on


def test_best_scale_of_a_pentagon():
    angle = 0.4 * np.pi * np.arange(5)
    length, bias, loss = toy_optima.best_scale(np.array([np.cos(angle), np.sin(angle)]))
    scan = min(
        float(toy.k_sparse_loss(a * np.array([np.cos(angle), np.sin(angle)]), b, 1.0, 1))
        for a in np.linspace(length - 0.05, length + 0.05, 11)
        for b in np.linspace(bias - 0.05, bias + 0.05, 11)
    )
    assert loss <= scan + 1e-12
    assert loss == pytest.approx(scan, rel=1e-6)  # the middle of the scan is the minimum itself
    with_p = toy_optima.best_scale(np.eye(2, 3), 1.0, 0.1)
    assert with_p[2] == pytest.approx(features.variance(0.1), rel=1e-8)  # the dropped one predicts its mean


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: toy.population_loss(np.ones((3, 2)), 0, 1, 0.5), "m = 3 is out of range; allowed: whole numbers"),
        (lambda: toy.population_loss(np.ones(3), 0, 1, 0.5), r"W has shape \(3,\); allowed: \(..., m, n\)"),
        (lambda: toy.population_loss(np.ones((1, 2)), 0, 0, 0.5), r"importance = 0 is out of range; allowed: \(0"),
        (lambda: toy.population_loss(np.ones((1, 2)), 0, [1, -1], 0.5), "importance = -1 is out of range"),
        (lambda: toy.population_loss(np.ones((1, 2)), 0, [1, 1, 1], 0.5), r"importance has shape \(3,\)"),
        (lambda: toy.population_loss(np.ones((1, 2)), [0, 0, 0], 1, 0.5), r"b has shape \(3,\); allowed: a number, or"),
        (lambda: toy.population_loss(np.ones((1, 2)), 0, 1, 0), r"p = 0 is out of range; allowed: \(0, 1\]"),
        (lambda: toy.population_loss([[1, np.nan]], 0, 1, 0.5), "W = nan is out of range"),
        (lambda: toy.k_sparse_loss(np.ones((1, 2)), 0, 1, 3), "k = 3 is out of range; .* from 0 to 2"),
        (lambda: toy.probability(1), r"sparsity = 1 is out of range; allowed: \[0, 1\)"),
        (lambda: toy.probability(-0.1), "sparsity = -0.1 is out of range"),
        (lambda: toy.population_loss(np.ones((1, 13)), 0, 1, 0.5),
         r"n = 13 is too large for the exact expansion: it has 2.1e\+07 pieces; .* toy.simulated_loss"),
        (lambda: toy.k_sparse_loss(np.ones((1, 40)), 0, 1, 10), "n = 40 is too large for the exact expansion"),
        (lambda: toy.simulated_loss(np.ones((1, 2)), 0, 1, 0.5, samples=1, seed=0), "samples = 1 is out of range"),
        (lambda: toy_linear.optimum([1, 1], 3), "m = 3 is out of range; allowed: whole numbers from 1 to 2"),
        (lambda: toy_linear.sigmoid(0, 1, 0.5, 1), r"start = 0 is out of range; allowed: \(0, 1\]"),
        (lambda: toy_linear.flow(np.ones((1, 2)), 1, 0.5, [-1]), "times = -1 is out of range"),
        (lambda: toy_optima.minimise(2, 1, 1, 0.5, starts=0), "starts = 0 is out of range; .* from 1"),
    ],
)  # fmt: skip
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_sparsity_zero_is_allowed_and_many_features_in_low_order():
    assert toy.probability(0) == 1
    assert math.isfinite(toy.k_sparse_loss(RNG.standard_normal((2, 200)), 0, 1, 1))


def parameter_cell(**values):
    cell = {
        "n": 5, "m": 2, "sparsities": "0, 0.5, 0.7, 0.8, 0.9, 0.97", "decay": 0.9, "instances": 12, "steps": 1500,
        "seed": 0, "device": "auto",
    }  # fmt: skip
    return parameters.check(cell | values, parameters.ToyModels)


def test_parameters_of_the_chapter():
    assert parameter_cell() == parameters.ToyModels() and parameter_cell().at_defaults
    assert parameter_cell(n=2, m=2, sparsities=0).sparsities == (0.0,)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"m": 6}, "m = 6 is not allowed; allowed: whole numbers from 1 to n"),
        ({"n": 1}, "m = 2 is not allowed; allowed: whole numbers from 1 to n"),
        ({"n": 7}, "n = 7 is not allowed; allowed: whole numbers from 1 to 6"),
        ({"sparsities": "0.5, 1"}, "sparsities = '0.5, 1' is not allowed; allowed: at least one number from 0"),
        ({"decay": 0}, "decay = 0 is not allowed; allowed: numbers above 0"),
        ({"instances": 0}, "instances = 0 is not allowed"),
    ],
)
def test_parameters_that_the_chapter_refuses(values, sentence):
    with pytest.raises(parameters.ParameterError, match=sentence):
        parameter_cell(**values)


def test_stochastic_descent_follows_the_flow():
    start, importance = np.diag([0.2, 0.3]), np.array([1.0, 0.5])
    strengths = toy_linear.descend(start, importance, 0.3, rate=0.05, steps=100, batch=4000, seed=0)
    expected = toy_linear.sigmoid(np.array([0.04, 0.09]), importance, 0.3, 5.0)
    # half way up: gradient noise of 4000 vectors, averaged over 100 steps, is below 1 %; the step size costs 1 %
    np.testing.assert_allclose(strengths[-1], expected, rtol=0.03)
    assert 0.25 < expected.min() < expected.max() < 0.75


def test_dimensionality_and_interference_keep_their_values_for_tiny_weights():
    W = np.random.default_rng(0).standard_normal((2, 5))
    for scale in (1e-90, 1e-160, 1e100):
        np.testing.assert_allclose(toy.feature_dimensionality(scale * W), toy.feature_dimensionality(W), rtol=1e-12)
    np.testing.assert_allclose(toy.interference(1e-90 * W), 1e-180 * toy.interference(W), rtol=1e-12)
    assert toy.feature_dimensionality(np.diag([1.0, 1e-200])).tolist() == [1.0, 1.0]
    assert toy.feature_dimensionality([[1.0, 1e-200, 0.0]]).tolist() == [1.0, 0.0, 0.0]


def test_flow_at_its_start_and_with_times_it_refuses():
    W = np.random.default_rng(0).standard_normal((2, 3))
    np.testing.assert_array_equal(toy_linear.flow(W, 1.0, 0.3, [0])[0], W)
    for times in (3.0, [], [2.0, 1.0], [1.0, 1.0]):
        with pytest.raises(ValueError, match="is not allowed; allowed: a list of at least one time, rising"):
            toy_linear.flow(W, 1.0, 0.3, times)
