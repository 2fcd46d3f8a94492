"""Many encodings: the flow against a naive one and an ODE solver, the gradient against autograd."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from superposition import incidental
from superposition.incidental import many_features


def naive(w0, lambda_, until, step):
    """The same proximal step with nothing set aside, one row at a time."""
    W, t = np.array(w0), 0.0
    while t < until - 1e-12:
        overlaps = np.maximum(W @ W.T, 0) * (1 - np.eye(len(W)))
        h = min(step / max(1, overlaps.sum(axis=1).max()), until - t)
        moved = W + h * ((1 - (W**2).sum(axis=1))[:, None] * W - overlaps @ W)
        W, t = np.sign(moved) * np.maximum(np.abs(moved) - h * lambda_, 0), t + h
    return W


@pytest.mark.parametrize(("n", "m"), [(6, 6), (12, 30)])
def test_nothing_is_lost_by_setting_aside(n, m):
    """The same weights as the naive flow, from dense to one weight a row; 2e-4: settled rows stop at that speed."""
    for seed in range(3):
        w0 = incidental.random_encodings(n, m, seed=seed)
        times = np.array([5.0, 40.0, 100.0, 300.0])
        found = incidental.gradient_flow(w0, 0.01, times, step=0.2)
        for k, t in enumerate(times):
            np.testing.assert_allclose(found[k], naive(w0, 0.01, t, 0.2), atol=2e-4)
        assert (np.count_nonzero(found[0], axis=1) > 2).any()  # compared while it mattered


def test_two_features_at_one_place_are_not_at_rest():
    """Each alone would be: one weight, no force but the other's."""
    rest = float(incidental.resting_weight(0.01))
    w0 = np.array([[rest, 0.0], [rest, 0.0], [0.0, rest]])
    found = incidental.gradient_flow(w0, 0.01, [40.0], step=0.2)[0]
    np.testing.assert_allclose(found, naive(w0, 0.01, 40.0, 0.2), atol=2e-4)
    assert found[0, 0] < 0.8 and found[2, 1] == pytest.approx(rest, abs=1e-4)


@pytest.mark.thorough
def test_single_precision_and_the_step_do_not_change_the_winners():
    same = []
    for seed in range(4):
        w0 = incidental.random_encodings(32, 64, seed=seed)
        runs = [
            incidental.gradient_flow(w0.astype(kind), 0.005, [800.0], step=step)[0]
            for kind, step in [(np.float64, 0.05), (np.float32, 0.2), (np.float32, 0.4)]
        ]
        same += [np.abs(runs[0]).argmax(1) == np.abs(run).argmax(1) for run in runs[1:]]
    # races that are nearly ties go either way; they are few
    assert np.mean(same) > 0.97


def test_flow_follows_the_ode():
    """Until the first weight reaches zero the flow is smooth; first order in the step."""
    w0 = np.array([[0.5, -0.4, 0.3], [0.3, 0.5, 0.2]])
    lambda_ = 0.01

    def force(t, flat):
        W = flat.reshape(2, 3)
        overlaps = np.maximum(W @ W.T, 0) * (1 - np.eye(2))
        return ((1 - (W**2).sum(1))[:, None] * W - overlaps @ W - lambda_ * np.sign(W)).ravel()

    exact = solve_ivp(force, (0, 2), w0.ravel(), rtol=1e-11, atol=1e-12).y[:, -1].reshape(2, 3)
    errors = [
        np.abs(incidental.gradient_flow(w0, lambda_, [2.0], step=h)[0] - exact).max() for h in (0.02, 0.01, 0.005)
    ]
    assert errors[0] < 3e-3
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.1)


def test_gradient_against_autograd():
    W = torch.randn(5, 7, dtype=torch.float64, requires_grad=True)
    out = torch.relu(W @ W.T)
    (((out - torch.eye(5)) ** 2).sum() + 0.3 * W.abs().sum()).backward()
    assert torch.allclose(many_features._gradient(W.detach(), 0.3), W.grad, atol=1e-12)


def test_adamw_is_that_of_torch():
    w0 = incidental.random_encodings(4, 9, seed=0)
    W = torch.tensor(w0, dtype=torch.float32, requires_grad=True)
    optimiser = torch.optim.AdamW([W], lr=1e-2)
    for _ in range(30):
        optimiser.zero_grad()
        (((torch.relu(W @ W.T) - torch.eye(4)) ** 2).sum() + 0.05 * W.abs().sum()).backward()
        optimiser.step()
    found = incidental.descend_encodings(w0, 0.05, method="adamw", steps=30, lr=1e-2)
    np.testing.assert_allclose(found, W.detach().numpy(), atol=1e-4)  # float32, sums in another order


def test_descent_with_small_steps_is_the_flow():
    w0 = incidental.random_encodings(6, 8, seed=1)
    found = incidental.descend_encodings(w0, 4 * 0.01, method="sgd", steps=2000, lr=0.0005)  # 4 t = 4
    np.testing.assert_allclose(found, incidental.gradient_flow(w0, 0.01, [4.0], step=0.002)[0], atol=2e-3)


def test_divergence_raises():
    with pytest.raises(FloatingPointError, match="training diverged .method=sgd"):
        incidental.descend_encodings(3 * np.ones((2, 3)), 0.1, method="sgd", steps=50, lr=1.0)


def test_fewer_neurons_than_features_is_a_warning():
    with pytest.warns(UserWarning, match="m = 3 neurons for n = 4 features: the text assumes m >= n"):
        incidental.random_encodings(4, 3, seed=0)


@pytest.mark.parametrize("left", [1.0, 0.02, 0.0, -1.0])
def test_a_step_of_a_flow_that_keeps_its_clock_in_a_tensor_is_the_same(left):
    W = torch.tensor([[1.0, 2, 0], [1, 1, 0], [2, 1, 0.5]], dtype=torch.float64)  # a row of overlaps adds up to 7
    ends = []
    for clock in (left, torch.tensor(left, dtype=torch.float64)):
        state = SimpleNamespace(W=W.clone())
        ends.append((float(many_features._advance(state, 0.1, 0.875, clock)), state.W))
    assert ends[0][0] == min(0.125, left) and ends[1][0] == max(0, min(0.125, left))
    assert left < 0 or torch.equal(ends[0][1], ends[1][1])
