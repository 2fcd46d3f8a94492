"""The loss with an l1 term: forces and gradient against autograd, thresholds against the trajectory."""

import numpy as np
import pytest
import torch
from superposition import incidental


def gaussian(m, seed, scale=0.9):
    return scale / np.sqrt(m) * np.random.default_rng(seed).standard_normal(m)


def test_resting_weight_solves_its_equation():
    lambda_ = np.array([1e-9, 0.01, 0.2, 0.3849, incidental.DEATH_LINE])
    w = incidental.resting_weight(lambda_)
    np.testing.assert_allclose((1 - w**2) * w, lambda_, rtol=1e-6)
    np.testing.assert_allclose(w[-1], 1 / np.sqrt(3), rtol=1e-7)
    assert np.all(w >= 1 / np.sqrt(3) - 1e-7) and incidental.resting_weight(0.385) == 0


def test_gradient_and_loss_against_autograd():
    W = torch.randn(5, 7, dtype=torch.float64, requires_grad=True)
    out = torch.relu(W @ W.T)
    value = ((out - torch.eye(5)) ** 2).sum() + 0.3 * W.abs().sum()
    value.backward()
    found = W.detach().numpy()
    assert incidental.loss(found, 0.3) == pytest.approx(value.item(), rel=1e-13)
    np.testing.assert_allclose(incidental.gradient(found, 0.3), W.grad.numpy(), atol=1e-12)


def test_forces_add_up_and_conventions_invert():
    W = np.random.default_rng(0).standard_normal((3, 4))
    np.testing.assert_allclose(-4 * sum(incidental.forces(W, 0.05)), incidental.gradient(W, 0.2), atol=1e-13)
    both = incidental.conventions(1e-3, 7.5, source="loss")
    assert both == incidental.conventions(*both["simplified"], source="simplified")
    assert both["simplified"] == (0.00025, 30.0)


def test_threshold():
    np.testing.assert_allclose(incidental.threshold([0.0, 0.5, 1.0, 1.2], 0.1), [0.1, 0.2, np.inf, np.inf])
    w0 = gaussian(200, 5)
    short = incidental.trajectory(w0, 0.02, [1e-6]).weights(1e-6)
    grows = np.abs(short) > np.abs(w0)
    assert np.array_equal(grows, np.abs(w0) > incidental.threshold(w0 @ w0, 0.02))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: incidental.loss([1.0], 0.1), "W has shape .1,."),
        (lambda: incidental.gradient([[np.nan]], 0.1), "W = nan is out of range"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_negative_or_endless_l1_term_is_refused_and_forces_are_the_slope_of_the_loss():
    with pytest.raises(ValueError, match="^lambda_ = -0.1 "):
        incidental.threshold(0.5, -0.1)
    with pytest.raises(ValueError, match="^lambda_ = inf "):
        incidental.forces([[0.5]], np.inf)
    W, step = np.array([[0.9, 0.1, -0.2], [-0.3, 0.8, 0.1]]), 1e-6
    for at in np.ndindex(W.shape):
        shift = np.zeros_like(W)
        shift[at] = step
        slope = (incidental.loss(W + shift, 0.1) - incidental.loss(W - shift, 0.1)) / (2 * step)
        assert incidental.gradient(W, 0.1)[at] == pytest.approx(slope, abs=1e-8)


def test_without_an_l1_term_orthonormal_rows_cost_nothing():
    assert incidental.loss(np.eye(3, 4), 0) == 0
    assert not incidental.forces(np.eye(3, 4), 0)[2].any() and incidental.threshold(0.5, 0) == 0
