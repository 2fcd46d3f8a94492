"""The linear toy model against its algebra, its flow against differences and closed forms."""

import numpy as np
import pytest
from superposition import features, toy

RNG = np.random.default_rng(0)
W = RNG.standard_normal((2, 4)) * 0.8
B = np.array([-0.2, 0.1, -0.4, 0.3])
IMPORTANCE = np.array([1.0, 0.7, 0.5, 0.3])


def test_linear_loss_is_a_quadratic_form_of_the_moments():
    # E (x - G x - b)^2 from E x x^T = V + m_1^2, an independent route
    p, G = 0.3, W.T @ W
    V, m1 = features.variance(p), features.mean(p)
    A = np.eye(4) - G
    second = V * np.eye(4) + m1**2
    expected = sum(IMPORTANCE[j] * (A[j] @ second @ A[j] - 2 * B[j] * m1 * A[j].sum() + B[j] ** 2) for j in range(4))
    assert toy.linear_loss(W, B, IMPORTANCE, p) == pytest.approx(expected, rel=1e-12)
    best = toy.best_linear_bias(W, p)
    lowest = toy.linear_loss(W, best, IMPORTANCE, p)
    assert lowest == pytest.approx(V * toy.two_force_loss(W, IMPORTANCE), rel=1e-12)
    for shift in 0.01 * np.eye(4):
        assert toy.linear_loss(W, best + shift, IMPORTANCE, p) > lowest


def test_two_forces_as_printed():
    G, total = W.T @ W, 0.0
    for i in range(4):
        total += IMPORTANCE[i] * (1 - G[i, i]) ** 2
        total += sum(IMPORTANCE[j] * G[j, i] ** 2 for j in range(4) if j != i)
    assert toy.two_force_loss(W, IMPORTANCE) == pytest.approx(total, rel=1e-13)


def test_the_linear_optimum_is_reached_and_never_beaten():
    importance = np.array([0.2, 1.0, 0.6, 0.4, 0.8])
    assert toy.two_force_optimum(importance, 2) == pytest.approx(1.2)
    kept = np.zeros((2, 5))
    kept[[0, 1], [1, 4]] = 1
    assert toy.two_force_loss(kept, importance) == pytest.approx(1.2, rel=1e-14)
    for _ in range(200):
        basis = np.linalg.qr(RNG.standard_normal((5, 2)))[0].T
        assert toy.two_force_loss(basis, importance) > 1.2
        assert toy.two_force_loss(basis, 1.0) == pytest.approx(3.0, rel=1e-12)  # every projector ties
    assert toy.two_force_optimum(np.ones(3), 3) == 0


def test_flow_goes_down_the_gradient():
    importance, p, h = IMPORTANCE, 0.4, 1e-6
    start = 0.3 * W
    step = (toy.linear_flow(start, importance, p, [0.0, h])[1] - start) / h

    def loss(W):
        return features.variance(p) * toy.two_force_loss(W, importance)

    slope = np.zeros_like(start)
    for at in np.ndindex(start.shape):
        shift = np.zeros_like(start)
        shift[at] = 1e-6
        slope[at] = (loss(start + shift) - loss(start - shift)) / 2e-6
    np.testing.assert_allclose(step, -slope, atol=1e-5)


def test_an_undisturbed_feature_follows_the_sigmoid():
    times = np.linspace(0, 400, 30)
    importance = np.array([1.0, 0.5])
    path = toy.linear_flow(np.diag([0.1, 0.2]), importance, 0.1, times)
    expected = toy.strength_curve(np.array([0.01, 0.04]), importance, 0.1, times[:, None])
    np.testing.assert_allclose((path**2).sum(axis=1), expected, atol=1e-6)
    assert expected[-1].min() > 0.99 and expected[0] == pytest.approx([0.01, 0.04])


def test_free_start_is_gram_and_schmidt_by_importance():
    W = np.array([[1.0, 3.0, 0.0], [1.0, 0.0, 2.0]])
    start = toy.free_start(W, [0.5, 1.0, 0.1])  # first (3, 0), then the part (0, 1) of (1, 1)
    np.testing.assert_allclose(start, [1, 9, 0], atol=1e-14)


def test_of_equal_features_the_first_ones_start():
    W = np.random.default_rng(0).standard_normal((3, 40))
    start = toy.free_start(W, np.tile([1.0, 2.0], 20))  # so many that only a stable sort keeps their order
    np.testing.assert_allclose(start[[1, 3, 5]], np.diag(np.linalg.qr(W[:, [1, 3, 5]])[1]) ** 2)
    assert np.count_nonzero(start) == 3


def test_stochastic_descent_follows_the_flow():
    start, importance = np.diag([0.2, 0.3]), np.array([1.0, 0.5])
    strengths = toy.descend_linear(start, importance, 0.3, rate=0.05, steps=100, batch=4000, seed=0)
    expected = toy.strength_curve(np.array([0.04, 0.09]), importance, 0.3, 5.0)
    # half way up: gradient noise of 4000 vectors, averaged over 100 steps, is below 1 %; the step size costs 1 %
    np.testing.assert_allclose(strengths[-1], expected, rtol=0.03)
    assert 0.25 < expected.min() < expected.max() < 0.75


def test_flow_at_its_start():
    W = np.random.default_rng(0).standard_normal((2, 3))
    np.testing.assert_array_equal(toy.linear_flow(W, 1.0, 0.3, [0])[0], W)


def test_loss_is_invariant_under_rotations_of_the_hidden_space_and_orders_of_features():
    rng = np.random.default_rng(0)
    W, importance, turn = (
        rng.standard_normal((2, 4)),
        rng.uniform(0.1, 1, 4),
        np.linalg.qr(rng.standard_normal((2, 2)))[0],
    )
    there = toy.two_force_loss(W, importance)
    assert toy.two_force_loss(turn @ W, importance) == pytest.approx(there, rel=1e-14)
    assert toy.two_force_loss(W[:, ::-1], importance[::-1]) == pytest.approx(there, rel=1e-14)
    assert toy.two_force_loss(W, 3 * importance) == pytest.approx(3 * there, rel=1e-14)
