"""Tied codes: the gradient, directions that change nothing, and curvatures that are known."""

import numpy as np
import pytest
from superposition.experiments import tied_codes


def loss(U, b, change, x):
    """Loss per feature after a change of all weights."""
    (m, B), (w, v, c) = U.shape, np.split(change, (U.size, 2 * U.size))
    y = x @ (U + w.reshape(m, B)).T @ (U.T + v.reshape(B, m)).T + b + c
    return float(np.square(np.maximum(y, 0) - x).sum() / x.size)


def test_the_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(0)
    U, b, x = rng.standard_normal((3, 7)) / 2, -0.1 * np.ones(7), rng.random((400, 7)) * (rng.random((400, 7)) < 0.3)
    way, here = rng.standard_normal((2, 49))
    here *= 0.1
    slope = (loss(U, b, here + 1e-6 * way, x) - loss(U, b, here - 1e-6 * way, x)) / 2e-6
    np.testing.assert_allclose(tied_codes._gradient(U, b, here, x) @ way, slope, rtol=1e-5)


def test_directions_that_are_left_out_do_not_change_the_product():
    U = np.random.default_rng(1).standard_normal((3, 7))
    change = 1e-6 * tied_codes._turn(U, 0, 2)
    W = (U.T + change[21:42].reshape(7, 3)) @ (U + change[:21].reshape(3, 7))
    assert np.abs(change).max() > 0
    np.testing.assert_allclose(W, U.T @ U, atol=1e-10)


def test_a_dimension_for_each_feature_is_a_minimum():
    rng = np.random.default_rng(2)
    assert tied_codes.least_curvature(np.eye(4), np.zeros(4), 0.3, 4000, rng)[0] > -1e-3


def test_the_least_curvature_is_below_that_of_another_direction():
    """Three equal directions without bias, and the direction that makes one louder and another quieter."""
    angles = 2 * np.pi / 3 * np.arange(3)
    U, rng, s, e = np.array([np.cos(angles), np.sin(angles)]), np.random.default_rng(3), np.array([1.0, 0, -1]), 0.02
    x = rng.random((200_000, 3)) * (rng.random((200_000, 3)) < 0.5)
    change = [np.concatenate([(U * sign * s).ravel(), -(U * sign * s).T.ravel(), np.zeros(3)]) for sign in (e, -e)]
    bend = (sum(loss(U, np.zeros(3), one, x) for one in change) - 2 * loss(U, np.zeros(3), np.zeros(15), x)) / e**2
    least, asymmetric, loud = tied_codes.least_curvature(U, np.zeros(3), 0.5, 100_000, rng)
    assert least < 3 * bend / 4 + 0.02  # 4 is the squared length of that direction; the margin is set by the draws
    assert 0 <= loud <= asymmetric + 1e-9 and asymmetric <= 1


def test_a_hundredth_of_the_steps_is_the_warmth_of_the_rate(monkeypatch):
    torch, rates = pytest.importorskip("torch"), []

    class Noted(torch.optim.Adam):
        def step(self):
            rates.append(self.param_groups[0]["lr"])

    monkeypatch.setattr(torch.optim, "Adam", Noted)
    first = np.ones((1, 3)), np.zeros(3)
    tied_codes._trained(first, 0.3, 200, 0.01, torch.Generator())
    assert rates[:2] == pytest.approx([0.005, 0.01], rel=1e-3) and rates[100] == pytest.approx(0.005)
    assert rates[-1] < 1e-6
