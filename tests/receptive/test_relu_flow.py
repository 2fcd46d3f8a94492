"""The flow of ReLU networks: against automatic differentiation, quadrature, finite differences and Monte Carlo."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from superposition import receptive

C1, C0 = receptive.gaussian_covariance(10, 0.9), receptive.gaussian_covariance(10, 0.5)


def weights(K, seed):
    return np.random.default_rng(seed).standard_normal((K, 10)) / 2


@pytest.mark.parametrize("gamma", [-0.999, -0.4, 0.0, 0.3, 0.9999])
def test_two_neuron_coefficients_by_quadrature(gamma):
    # E[1(u>0) ReLU(v) u] and E[1(u>0) ReLU(v) v] in polar coordinates fix both coefficients
    rho_11, rho_kk = 1.7, 0.6
    s1, sk, angle = np.sqrt(rho_11), np.sqrt(rho_kk), np.arccos(gamma)
    phi = (np.arange(400_000) + 0.5) / 400_000 * 2 * np.pi
    u, v = s1 * np.cos(phi), sk * np.cos(phi - angle)
    inside = (u > 0) & (v > 0)
    along_u, along_v = 2 * np.mean(inside * v * u), 2 * np.mean(inside * v * v)  # E radius^2 = 2
    alpha, beta = receptive.two_neuron_coefficients(rho_11, rho_kk, gamma)
    cross = gamma * s1 * sk
    assert alpha * rho_11 + beta * cross == pytest.approx(along_u, abs=1e-5)
    assert alpha * cross + beta * rho_kk == pytest.approx(along_v, abs=1e-5)
    if gamma not in (0.0,):
        printed = receptive.printed_coefficients(rho_11, rho_kk, gamma)
        assert abs(printed[0] * rho_11 + printed[1] * cross - along_u) > 0.01


def test_identical_and_opposite_neurons():
    assert receptive.two_neuron_coefficients(2.0, 2.0, 1.0) == (0, pytest.approx(0.5))
    assert receptive.two_neuron_coefficients(2.0, 2.0, -1.0) == (0, 0)


@pytest.mark.parametrize(("K", "seed"), [(1, 0), (2, 1), (7, 2)])
def test_flow_descends_the_loss(K, seed):
    W = weights(K, seed)
    flow = receptive.gaussian_flow(W, C0, C1)
    for i, j in [(0, 0), (K - 1, 4)]:
        step = np.zeros_like(W)
        step[i, j] = 1e-5
        slope = (receptive.gaussian_loss(W + step, C0, C1) - receptive.gaussian_loss(W - step, C0, C1)) / 2e-5
        assert flow[i, j] == pytest.approx(-slope, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_flow_and_loss_against_automatic_differentiation_on_a_sample(seed):
    W = torch.tensor(weights(3, seed), requires_grad=True)
    losses, gradients = [], []
    rng = np.random.default_rng(seed + 10)
    for _ in range(40):  # forty independent estimates give the standard error
        x = [torch.tensor(receptive.gaussian_sample(C, 2500, seed=rng)) for C in (C1, C0)]
        parts = [((torch.relu(part @ W.T).mean(dim=1) - y) ** 2).mean() / 4 for part, y in zip(x, (1, 0), strict=True)]
        losses.append(sum(parts).item())
        gradients.append(torch.autograd.grad(sum(parts), W)[0].numpy().ravel())
    flow = receptive.gaussian_flow(W.detach().numpy(), C0, C1)
    error = np.std(gradients, axis=0, ddof=1) / np.sqrt(40)
    assert np.all(np.abs(-np.mean(gradients, axis=0) - flow.ravel()) < 4.5 * error)
    assert abs(np.mean(losses) - receptive.gaussian_loss(W.detach().numpy(), C0, C1)) < 4.5 * np.std(losses) / 39**0.5
    assert error.max() < 0.05 * np.abs(flow).max()  # sharp enough to mean something


def test_one_neuron_is_equation_20_and_the_loss_is_known():
    w = weights(1, 3)[0]
    norm = np.sqrt(w @ C1 @ w)
    expected = -0.25 * (C0 + (1 - np.sqrt(2 / np.pi) / norm) * C1) @ w
    np.testing.assert_allclose(receptive.gaussian_flow(w, C0, C1)[0], expected, rtol=1e-12)
    loss = w @ (C0 + C1) @ w / 8 - np.sqrt(2 / np.pi) * norm / 4 + 0.25
    assert receptive.gaussian_loss(w, C0, C1) == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize("n", [9, 10])
def test_the_scalar_equation_solves_all_modes(n):
    one, zero = receptive.gaussian_covariance(n, 0.8), receptive.gaussian_covariance(n, 0.4)
    w0 = np.random.default_rng(n).standard_normal(n)
    times = [0.0, 0.5, 7, 60]
    path = receptive.single_neuron_flow(w0, zero, one, times)
    full = solve_ivp(
        lambda t, w: receptive.gaussian_flow(w, zero, one)[0], (0, 60), w0, t_eval=times, rtol=1e-11, atol=1e-13
    )
    np.testing.assert_allclose(path, full.y.T, atol=1e-8)
    np.testing.assert_allclose(path[0], w0, atol=1e-13)


def test_steady_states_and_their_rates():
    F = receptive.fourier_basis(10)
    energy, rates = receptive.steady_energy(C0, C1), receptive.transverse_rates(C0, C1)
    for m, column in [(0, 0), (2, 3), (5, 9)]:
        state = F[:, column] * np.sqrt(energy[m])
        np.testing.assert_allclose(receptive.gaussian_flow(state, C0, C1), 0, atol=1e-13)
        for k, other in [(1, 1), (3, 6), (4, 8)]:
            bump = 1e-6 * F[:, other]
            change = receptive.gaussian_flow(state + bump, C0, C1) - receptive.gaussian_flow(state - bump, C0, C1)
            assert change[0] @ F[:, other] / 2e-6 == pytest.approx(rates[m, k], abs=1e-8)
    assert np.all(rates[0, 1:] < 0) and np.all(rates[1:].max(axis=1) > 0)


def test_flip_rate_against_counting():
    W, later = weights(3, 4), weights(3, 5)
    x = [receptive.gaussian_sample(C, 50_000, seed=6) for C in (C0, C1)]
    counted = np.mean([((part @ W.T >= 0) != (part @ later.T >= 0)).mean(axis=0) for part in x], axis=0)
    assert np.abs(counted - receptive.flip_rate(W, later, C0, C1)).max() < 4 * np.sqrt(0.25 / 100_000)
    np.testing.assert_allclose(receptive.flip_rate(W, 3 * W, C0, C1), 0, atol=1e-7)
    np.testing.assert_allclose(receptive.flip_rate(W, -W, C0, C1), 1, atol=1e-7)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: receptive.gaussian_flow(np.zeros((2, 10)), C0, C1), "neuron 0 has no variance: its gate never opens"),
        (lambda: receptive.gaussian_flow(np.ones((2, 9)), C0, C1), r"shape \(10, 10\); allowed: 9 pixels"),
        (lambda: receptive.gaussian_loss([[np.nan] * 10], C0, C1), "W = nan is out of range"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_printed_coefficients_by_hand():
    """Eq. 17 at gamma = 1/2, worked out on paper from the source: arccos(-1/2) = 2 pi / 3, arcsin(1/2) = pi / 6."""
    alpha, beta = receptive.printed_coefficients(1.0, 4.0, 0.5)
    assert alpha == pytest.approx(7 / 4 + np.sqrt(3) / (2 * np.pi), rel=1e-14)
    assert beta == pytest.approx(-7 / 36, rel=1e-14)  # the second fraction is 0 here
    alpha, beta = receptive.printed_coefficients(1.0, 1.0, 0.5)
    assert alpha == pytest.approx(5 / 12 + 1 / (np.sqrt(3) * np.pi), rel=1e-14)
    assert beta == pytest.approx(-1 / 18 + 1 / (np.sqrt(3) * np.pi), rel=1e-14)


@pytest.mark.parametrize("gamma", [-0.9, -0.3, 0.0, 0.5, 1.0])
def test_coefficients_are_homogeneous_and_flip_as_probabilities_do(gamma):
    alpha, beta = receptive.two_neuron_coefficients(2.0, 3.0, gamma)
    scaled = receptive.two_neuron_coefficients(2.0 * 5**2, 3.0, gamma)  # w_1 five times as long: alpha w_1 stays
    np.testing.assert_allclose(scaled, (alpha / 5, beta), rtol=1e-14)
    other = receptive.two_neuron_coefficients(2.0, 3.0, -gamma)  # P(u > 0, v > 0) + P(u > 0, v < 0) = 1 / 2
    np.testing.assert_allclose((other[0], other[1] + beta), (alpha, 0.5), rtol=1e-14)


def test_loss_does_not_depend_on_the_order_of_neurons_and_flow_is_equivariant():
    W = np.random.default_rng(8).standard_normal((4, 10))
    order, shift = [2, 0, 3, 1], 3
    turned = np.roll(W[order], shift, axis=1)
    assert receptive.gaussian_loss(turned, C0, C1) == pytest.approx(receptive.gaussian_loss(W, C0, C1), rel=1e-13)
    expected = np.roll(receptive.gaussian_flow(W, C0, C1)[order], shift, axis=1)
    np.testing.assert_allclose(receptive.gaussian_flow(turned, C0, C1), expected, atol=1e-14)
