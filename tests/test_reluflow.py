"""The flow of ReLU networks: against automatic differentiation, quadrature, finite differences and Monte Carlo."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from superposition import critical, nlgp, reluflow, ring

C1, C0 = ring.gaussian_covariance(10, 0.9), ring.gaussian_covariance(10, 0.5)


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
    alpha, beta = reluflow.two_neuron_coefficients(rho_11, rho_kk, gamma)
    cross = gamma * s1 * sk
    assert alpha * rho_11 + beta * cross == pytest.approx(along_u, abs=1e-5)
    assert alpha * cross + beta * rho_kk == pytest.approx(along_v, abs=1e-5)
    if gamma not in (0.0,):
        printed = reluflow.printed_coefficients(rho_11, rho_kk, gamma)
        assert abs(printed[0] * rho_11 + printed[1] * cross - along_u) > 0.01


def test_identical_and_opposite_neurons():
    assert reluflow.two_neuron_coefficients(2.0, 2.0, 1.0) == (0, pytest.approx(0.5))
    assert reluflow.two_neuron_coefficients(2.0, 2.0, -1.0) == (0, 0)


@pytest.mark.parametrize(("K", "seed"), [(1, 0), (2, 1), (7, 2)])
def test_flow_descends_the_loss(K, seed):
    W = weights(K, seed)
    flow = reluflow.gaussian_flow(W, C0, C1)
    for i, j in [(0, 0), (K - 1, 4)]:
        step = np.zeros_like(W)
        step[i, j] = 1e-5
        slope = (reluflow.gaussian_loss(W + step, C0, C1) - reluflow.gaussian_loss(W - step, C0, C1)) / 2e-5
        assert flow[i, j] == pytest.approx(-slope, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_flow_and_loss_against_automatic_differentiation_on_a_sample(seed):
    W = torch.tensor(weights(3, seed), requires_grad=True)
    losses, gradients = [], []
    rng = np.random.default_rng(seed + 10)
    for _ in range(40):  # forty independent estimates give the standard error
        x = [torch.tensor(ring.gaussian_sample(C, 2500, seed=rng)) for C in (C1, C0)]
        parts = [((torch.relu(part @ W.T).mean(dim=1) - y) ** 2).mean() / 4 for part, y in zip(x, (1, 0), strict=True)]
        losses.append(sum(parts).item())
        gradients.append(torch.autograd.grad(sum(parts), W)[0].numpy().ravel())
    flow = reluflow.gaussian_flow(W.detach().numpy(), C0, C1)
    error = np.std(gradients, axis=0, ddof=1) / np.sqrt(40)
    assert np.all(np.abs(-np.mean(gradients, axis=0) - flow.ravel()) < 4.5 * error)
    assert abs(np.mean(losses) - reluflow.gaussian_loss(W.detach().numpy(), C0, C1)) < 4.5 * np.std(losses) / 39**0.5
    assert error.max() < 0.05 * np.abs(flow).max()  # sharp enough to mean something


def test_one_neuron_is_equation_20_and_the_loss_is_known():
    w = weights(1, 3)[0]
    norm = np.sqrt(w @ C1 @ w)
    expected = -0.25 * (C0 + (1 - np.sqrt(2 / np.pi) / norm) * C1) @ w
    np.testing.assert_allclose(reluflow.gaussian_flow(w, C0, C1)[0], expected, rtol=1e-12)
    loss = w @ (C0 + C1) @ w / 8 - np.sqrt(2 / np.pi) * norm / 4 + 0.25
    assert reluflow.gaussian_loss(w, C0, C1) == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize("n", [9, 10])
def test_the_scalar_equation_solves_all_modes(n):
    one, zero = ring.gaussian_covariance(n, 0.8), ring.gaussian_covariance(n, 0.4)
    w0 = np.random.default_rng(n).standard_normal(n)
    times = [0.0, 0.5, 7, 60]
    path = reluflow.single_neuron(w0, zero, one, times)
    full = solve_ivp(
        lambda t, w: reluflow.gaussian_flow(w, zero, one)[0], (0, 60), w0, t_eval=times, rtol=1e-11, atol=1e-13
    )
    np.testing.assert_allclose(path, full.y.T, atol=1e-8)
    np.testing.assert_allclose(path[0], w0, atol=1e-13)


def test_steady_states_and_their_rates():
    F = ring.fourier_basis(10)
    energy, rates = reluflow.steady_energy(C0, C1), reluflow.transverse_rates(C0, C1)
    for m, column in [(0, 0), (2, 3), (5, 9)]:
        state = F[:, column] * np.sqrt(energy[m])
        np.testing.assert_allclose(reluflow.gaussian_flow(state, C0, C1), 0, atol=1e-13)
        for k, other in [(1, 1), (3, 6), (4, 8)]:
            bump = 1e-6 * F[:, other]
            change = reluflow.gaussian_flow(state + bump, C0, C1) - reluflow.gaussian_flow(state - bump, C0, C1)
            assert change[0] @ F[:, other] / 2e-6 == pytest.approx(rates[m, k], abs=1e-8)
    assert np.all(rates[0, 1:] < 0) and np.all(rates[1:].max(axis=1) > 0)


def test_flip_rate_against_counting():
    W, later = weights(3, 4), weights(3, 5)
    x = [ring.gaussian_sample(C, 50_000, seed=6) for C in (C0, C1)]
    counted = np.mean([((part @ W.T >= 0) != (part @ later.T >= 0)).mean(axis=0) for part in x], axis=0)
    assert np.abs(counted - reluflow.flip_rate(W, later, C0, C1)).max() < 4 * np.sqrt(0.25 / 100_000)
    np.testing.assert_allclose(reluflow.flip_rate(W, 3 * W, C0, C1), 0, atol=1e-7)
    np.testing.assert_allclose(reluflow.flip_rate(W, -W, C0, C1), 1, atol=1e-7)


def test_flat_growth_at_small_gain_is_the_gaussian_rate_with_the_right_slope():
    rates = reluflow.transverse_rates(ring.gaussian_covariance(20, 0.7), ring.gaussian_covariance(20, 1.5))
    rate, _ = critical.flat_growth(20, 1.5, 0.7, 1e-4, 2, samples=2000)
    assert rate == pytest.approx(rates[0, 2], rel=1e-6)
    # first order in q: the next order is q times that
    gain, lam = 0.1, ring.eigenvalues(ring.gaussian_covariance(20, 1.5))
    q = nlgp.saturation(gain)
    ratio = ring.eigenvalues(ring.gaussian_covariance(20, 0.7)) / lam
    slope = lam[2] * q * (1 + ratio[0]) * (lam[0] / 3 + lam[2]) / 20 / 4
    rate, se = critical.flat_growth(20, 1.5, 0.7, gain, 2, samples=100_000)
    assert abs(rate - rates[0, 2] - slope) < 4 * se + 3 * q * slope
    assert 4 * se < 0.2 * slope  # sharp enough: twice the slope would be seen


def test_flat_growth_against_a_simulation_without_conditioning():
    n, xi1, xi2, gain, width = 12, 1.0, 0.6, 1.0, 0.15
    x = nlgp.nlgp_sample(n, xi1, gain, 400_000, seed=1)
    S = ring.eigenvalues(nlgp.nlgp_covariance(n, xi1, gain) + nlgp.nlgp_covariance(n, xi2, gain))
    modes = np.fft.rfft(x, axis=1, norm="ortho")
    s = modes[:, 0].real
    delta = (np.abs(s) < width) / (2 * width) * np.abs(modes[:, 1]) ** 2
    crude = (2 * S[0] * delta.mean() / np.abs(s).mean() - S[1]) / 4
    crude_se = S[0] * delta.std() / np.abs(s).mean() / 2 / len(x) ** 0.5
    rate, se = critical.flat_growth(n, xi1, xi2, gain, samples=100_000)
    # the window costs width^2 / 6 of the curvature of a density of unit scale: 0.4 % of the first term
    assert abs(rate - crude) < 4 * np.hypot(se, crude_se) + 0.004 * S[0] / 2
    assert se < crude_se


def test_critical_gain():
    predicted = critical.critical_gain(40, 2, 1)
    assert predicted == pytest.approx(0.168464, rel=1e-5)  # the formula by hand: q = 0.0537
    measured, se = critical.measured_critical_gain(40, 2, 1, samples=20_000)
    assert abs(measured - predicted) < 4 * se + nlgp.saturation(predicted) * predicted and se < 0.05 * predicted
    assert critical.critical_gain(160, 2, 1) == pytest.approx(critical.critical_gain(40, 2, 1) / 2, rel=0.05)
    assert critical.critical_gain(40, 5, 1, "wrapped") == pytest.approx(0.2368, rel=1e-3)


def test_no_critical_gain_is_infinity():
    assert critical.critical_gain(40, 1, 2) == critical.critical_gain(40, 2, 2) == np.inf
    assert critical.measured_critical_gain(4, 3, 0.1, samples=2000, kernel="wrapped")[0] == np.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reluflow.gaussian_flow(np.zeros((2, 10)), C0, C1), "neuron 0 has no variance: its gate never opens"),
        (lambda: reluflow.gaussian_flow(np.ones((2, 9)), C0, C1), r"shape \(10, 10\); allowed: \(9, 9\)"),
        (lambda: reluflow.gaussian_loss([[np.nan] * 10], C0, C1), "W = nan is out of range"),
        (lambda: reluflow.two_neuron_coefficients(0, 1, 0), "rho_11 = 0 is out of range"),
        (lambda: reluflow.two_neuron_coefficients(1, 1, 1.1), "gamma = 1.1 is out of range"),
        (lambda: reluflow.single_neuron(np.ones(10), C0, C1, [2, 1]), "times is not an increasing sequence"),
        (lambda: reluflow.single_neuron(np.ones(10), C0, C1, [-1]), "times = -1 is out of range"),
        (lambda: critical.critical_gain(40, 5, 1), "xi = 5 is too large for n = 40"),
        (lambda: critical.critical_gain(40, 0, 1), "xi = 0 is out of range"),
        (lambda: critical.flat_growth(40, 2, 1, 0), "gain = 0 is out of range"),
        (lambda: critical.flat_growth(40, 2, 1, 1, 21), "frequency = 21 is out of range; allowed: .* from 1 to 20"),
        (lambda: critical.measured_critical_gain(12, 0.6, 1, samples=200), "xi1 = 0.6 is too small"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
