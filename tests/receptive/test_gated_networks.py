"""Gated networks: flow against autograd and an ODE solver, limits against least squares, families by Monte Carlo."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from superposition import receptive


def sample(n=5, K=3, N=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((N, n))
    x[: N // 2] += 0.3
    return rng.random((N, K)) < 0.6, x, np.repeat([1.0, 0.0], N // 2), rng.standard_normal((K, n))


def test_moments_are_averages_of_kronecker_products():
    gates, x, y, _ = sample()
    wide = (gates[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    A, b = receptive.gated_moments(gates, x, y)
    np.testing.assert_allclose(A, wide.T @ wide / len(x), atol=1e-13)
    np.testing.assert_allclose(b.ravel(), y @ wide / len(x), atol=1e-13)


def test_flow_is_the_gradient_that_autograd_finds():
    gates, x, y, w = sample()
    A, b = receptive.gated_moments(gates, x, y)
    weights = torch.tensor(w, requires_grad=True)
    out = (torch.tensor(gates) * (torch.tensor(x) @ weights.T)).mean(dim=1)
    (((out - torch.tensor(y)) ** 2).mean() / 2).backward()
    step = 1e-6
    later = receptive.gdln_solution(A, b, w, step)
    np.testing.assert_allclose((later - w) / step, -weights.grad.numpy(), atol=1e-5)  # O(step) of a second derivative
    assert receptive.gated_loss(A, b, w) == pytest.approx(
        float(((out.detach() - torch.tensor(y)) ** 2).mean()), rel=1e-12
    )


@pytest.mark.parametrize("K", [1, 2, 4])
@pytest.mark.parametrize("twins", [False, True])
def test_solution_against_an_ode_solver(K, twins):
    gates, x, y, w0 = sample(K=K)
    if twins:  # every gate twice: A is singular
        gates, w0 = np.repeat(gates, 2, axis=1), np.concatenate([w0, -2 * w0])
    A, b = receptive.gated_moments(gates, x, y)
    count = len(w0)

    def flow(t, w):
        return (b.ravel() - A @ w / count) / count

    found = solve_ivp(flow, (0, 30), w0.ravel(), t_eval=[0, 1, 7, 30], rtol=1e-10, atol=1e-12)
    solution = receptive.gdln_solution(A, b, w0, found.t)
    np.testing.assert_allclose(solution.reshape(4, -1), found.y.T, atol=1e-7)
    np.testing.assert_allclose(
        receptive.gdln_solution(A, b, w0, 1e7), receptive.gdln_solution(A, b, w0, np.inf), atol=1e-6
    )


def test_formula_with_matrix_exponential():
    gates, x, y, w0 = sample()
    A, b = receptive.gated_moments(gates, x, y)
    decay = expm(-A * 11 / 9)
    expected = decay @ w0.ravel() + 3 * np.linalg.solve(A, (np.eye(15) - decay) @ b.ravel())
    np.testing.assert_allclose(receptive.gdln_solution(A, b.ravel(), w0, 11.0).ravel(), expected, atol=1e-11)


def test_shapes_of_times():
    gates, x, y, w0 = sample()
    A, b = receptive.gated_moments(gates, x, y)
    assert receptive.gdln_solution(A, b, w0, np.zeros((2, 3))).shape == (2, 3, 3, 5)
    mixed = receptive.gdln_solution(A, b, w0, [0.0, np.inf])
    np.testing.assert_allclose(mixed[0], w0, atol=1e-14)
    np.testing.assert_allclose(mixed[1], 3 * np.linalg.solve(A, b.ravel()).reshape(3, 5), rtol=1e-9)


def test_directions_that_a_does_not_see_keep_their_start():
    gates, x, y, _ = sample(K=1)
    A, b = receptive.gated_moments(np.repeat(gates, 2, axis=1), x, y)
    w0 = np.random.default_rng(3).standard_normal((2, 5))
    w = receptive.gdln_solution(A, b, w0, [3.0, np.inf])
    np.testing.assert_allclose(w[:, 0] - w[:, 1], np.stack([w0[0] - w0[1]] * 2), atol=1e-12)
    single = receptive.gdln_solution(*receptive.gated_moments(gates, x, y), w0[:1], np.inf)
    np.testing.assert_allclose(w[1].mean(axis=0), single[0], atol=1e-11)
    np.testing.assert_allclose(receptive.limiting_weights(A, b)[0], single[0], atol=1e-11)


def test_exclusive_gates_are_least_squares_on_their_own_data():
    _, x, y, w0 = sample(K=2)
    gates = np.stack([x[:, 0] > 0.2, x[:, 0] <= 0.2], axis=1)
    A, b = receptive.gated_moments(gates, x, y)
    assert np.all(A[:5, 5:] == 0)
    w = receptive.gdln_solution(A, b, w0, np.inf)
    for k in range(2):
        own = np.linalg.lstsq(x[gates[:, k]], y[gates[:, k]], rcond=None)[0]
        np.testing.assert_allclose(w[k], 2 * own, atol=1e-10)


def test_limiting_loss_is_the_residual_of_least_squares():
    gates, x, y, _ = sample()
    A, b = receptive.gated_moments(gates, x, y)
    wide = (gates[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    residual = y - wide @ np.linalg.lstsq(wide, y, rcond=None)[0]
    assert receptive.limiting_loss(A, b) == pytest.approx(np.mean(residual**2), rel=1e-11)


def test_loss_curve_from_eigenvalues_and_initial_speed():
    gates, x, y, w0 = sample()
    A, b = receptive.gated_moments(gates, x, y)
    t = np.array([0.0, 1.0, 10.0])
    curve = receptive.gated_loss(A, b, receptive.gdln_solution(A, b, 0 * w0, t))
    values, vectors = np.linalg.eigh(A)
    weight = (b.ravel() @ vectors) ** 2 / values
    np.testing.assert_allclose(curve, 0.5 - (1 - np.exp(-2 * np.outer(t, values) / 9)) @ weight, atol=1e-12)
    early = receptive.gated_loss(A, b, receptive.gdln_solution(A, b, 0 * w0, 1e-6))
    assert (0.5 - early) / 1e-6 == pytest.approx(receptive.initial_speed(b), rel=1e-5)


def test_a_gate_that_is_always_shut_has_the_smallest_eigenvalues_and_learns_nothing():
    A, b = np.zeros((4, 4)), np.zeros((1, 4))
    assert receptive.limiting_loss(A, b) == 0.5 and receptive.initial_speed(b) == 0
    np.testing.assert_array_equal(receptive.gdln_solution(A, b, np.ones((1, 4)), [5.0, np.inf]), np.ones((2, 1, 4)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: receptive.gdln_solution(np.eye(3), np.ones(3), np.ones((1, 3)), -1), r"t = -1 is out of range"),
        (lambda: receptive.gdln_solution(np.eye(3), np.ones(3), np.ones(3), 1), r"w0 has shape \(3,\)"),
        (lambda: receptive.gdln_solution(np.eye(3), np.ones(3), np.ones((0, 3)), 1), r"w0 has shape \(0, 3\)"),
        (lambda: receptive.gdln_solution(np.eye(4), np.ones(3), np.ones((1, 3)), 1), "A and b have shapes"),
        (
            lambda: receptive.gdln_solution(np.triu(np.ones((3, 3))), np.ones(3), np.ones((1, 3)), 1),
            "A is not symmetric",
        ),
        (lambda: receptive.gdln_solution(-np.eye(3), np.ones(3), np.ones((1, 3)), 1), "A has the eigenvalue -1"),
        (
            lambda: receptive.gdln_solution(np.zeros((3, 3)), np.ones(3), np.ones((1, 3)), np.inf),
            "outside the range of A",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_limit_does_not_depend_on_the_names_of_neurons_or_the_sign_of_pixels():
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((60, 4)), np.arange(60) % 2
    open_ = rng.random((60, 3)) > 0.4
    here = receptive.limiting_weights(*receptive.gated_moments(open_, x, y))
    np.testing.assert_allclose(receptive.limiting_weights(*receptive.gated_moments(open_[:, ::-1], x, y)), here[::-1])
    np.testing.assert_allclose(receptive.limiting_weights(*receptive.gated_moments(open_, -x, y)), -here)
