"""Fields in closed form: quadrature, Monte Carlo, the Gaussian limit, and the theorem on the best gate."""

import numpy as np
import pytest
from scipy.integrate import dblquad
from superposition import receptive

GAINS = (0.01, 0.5, 3.0, 10.0)


def covariances(gain, n=40):
    return receptive.nlgp_covariance(n, 1.0, gain), receptive.nlgp_covariance(n, 2.0, gain)


def gaussian_signed_mean(a, C):
    """T(a) for Gaussian inputs, twice eq. 12."""
    return 2 * np.stack([receptive.half_space_mean(row, C) for row in np.atleast_2d(a)])


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("r", [-0.6, 0.3, 0.9])
def test_half_line_mean_against_quadrature_in_two_dimensions(gain, r):
    from scipy.special import erf

    def integrand(u, z):
        return erf(gain * (r * z + np.sqrt(1 - r**2) * u)) * np.exp(-(z**2 + u**2) / 2) / (2 * np.pi)

    expected, _ = dblquad(integrand, 0, 9, -9, 9, epsabs=1e-9)
    assert receptive.half_line_mean(gain, r) == pytest.approx(expected, abs=1e-7)


def test_half_line_mean_is_bounded_and_odd():
    r = np.linspace(-1, 1, 21)
    for gain in (1e-6, 1.0, 1e6):
        values = receptive.half_line_mean(gain, r)
        assert np.all(np.abs(values) <= 0.5 + 1e-15)
        np.testing.assert_allclose(values, -values[::-1], atol=1e-15)


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("seed", [0, 1])
def test_small_bump_covariance_against_monte_carlo(gain, seed):
    x = receptive.nlgp_sample(20, 1.5, gain, 40_000, seed=seed)
    part = (x[:, 3] > 0)[:, None] * x / 2
    se = part.std(axis=0) / len(x) ** 0.5
    assert np.all(np.abs(part.mean(axis=0) - receptive.small_bump_covariance(20, 1.5, gain, 3)) < 4.5 * se)


@pytest.mark.parametrize("gain", GAINS)
def test_small_bump_field_solves_the_normal_equations(gain):
    field = receptive.small_bump_field(40, 2.0, 1.0, gain, 7)
    C0, C1 = covariances(gain)
    np.testing.assert_allclose((C0 + C1) / 4 @ field, receptive.small_bump_covariance(40, 2.0, gain, 7), atol=1e-14)
    assert np.argmax(np.abs(field)) == 7
    np.testing.assert_allclose(np.roll(field, 5), receptive.small_bump_field(40, 2.0, 1.0, gain, 12), atol=1e-14)


def test_small_bump_field_has_the_gaussian_limit():
    C1, C0 = (receptive.gaussian_covariance(40, xi) for xi in (2.0, 1.0))
    limit = receptive.ols_field(gaussian_signed_mean(np.eye(1, 40), C1), C0, C1)[0]
    np.testing.assert_allclose(receptive.small_bump_field(40, 2.0, 1.0, 1e-5, 0), limit, atol=1e-9)


@pytest.mark.parametrize("n", [3, 4, 11, 12])
def test_small_and_odd_rings(n):
    xi = 0.25 * n / 3
    field = receptive.small_bump_field(n, xi, xi / 2, 2.0, n - 1)
    assert field.shape == (n,) and np.argmax(field) == n - 1


@pytest.mark.parametrize("gain", [0.01, 3.0])
def test_field_and_loss_are_those_of_the_gated_network(gain):
    C0, C1 = covariances(gain)
    A, b = (C0 + C1) / 4, receptive.small_bump_covariance(40, 2.0, gain, 0)[None]
    field = receptive.small_bump_field(40, 2.0, 1.0, gain, 0)
    np.testing.assert_allclose(receptive.limiting_weights(A, b)[0], field, atol=1e-12)
    assert receptive.ols_loss(4 * b[0], C0, C1) == pytest.approx(receptive.limiting_loss(A, b), abs=1e-13)


def test_relu_loss_by_brute_force():
    rng = np.random.default_rng(0)
    half1, half0, w = rng.standard_normal((30, 6)), rng.standard_normal((30, 6)) * 2, rng.standard_normal((3, 6))
    one, zero = np.concatenate([half1, -half1]), np.concatenate([half0, -half0])
    T, _ = receptive.signed_mean(w, one)
    expected = (np.mean((np.maximum(one @ w.T, 0) - 1) ** 2, 0) + np.mean(np.maximum(zero @ w.T, 0) ** 2, 0)) / 2
    np.testing.assert_allclose(
        receptive.relu_neuron_loss(w, T, zero.T @ zero / 60, one.T @ one / 60), expected, atol=1e-13
    )


def test_relu_loss_is_twice_the_gaussian_loss_of_the_flow():
    C1, C0 = (receptive.gaussian_covariance(12, xi) for xi in (1.0, 0.5))
    w = np.random.default_rng(1).standard_normal((1, 12))
    T = gaussian_signed_mean(w, C1)
    assert receptive.relu_neuron_loss(w, T, C0, C1)[0] == pytest.approx(
        2 * receptive.gaussian_loss(w, C0, C1), rel=1e-12
    )


def test_signed_mean_has_the_right_standard_error():
    C = receptive.gaussian_covariance(10, 0.8)
    a = np.random.default_rng(0).standard_normal((1, 10))
    exact = gaussian_signed_mean(a, C)
    scores = []
    for seed in range(40):
        mean, se = receptive.signed_mean(a, receptive.gaussian_sample(C, 500, seed=seed))
        scores.append((mean - exact) / se)
    # 400 correlated scores; a standard deviation of 40 independent ones is known to 11 %
    assert np.std(scores) == pytest.approx(1, abs=0.25) and abs(np.mean(scores)) < 4 / 40**0.5


def test_turned_signed_mean_averages_over_all_turns():
    rng = np.random.default_rng(0)
    x, a = rng.standard_normal((7, 5)), rng.standard_normal((2, 5))
    turned = np.concatenate([np.roll(x, s, axis=1) for s in range(5)])
    np.testing.assert_allclose(receptive.turned_signed_mean(a, x), receptive.signed_mean(a, turned)[0], atol=1e-14)


def test_race_never_gets_worse_and_ends_at_a_stationary_point_of_the_relu():
    C0, C1 = covariances(3.0)
    one = receptive.nlgp_sample(40, 2.0, 3.0, 4000, seed=0)
    starts = np.concatenate([np.eye(1, 40), receptive.gate_directions("random", 40, 3)])
    seen = []
    ends, losses = receptive.gate_race(starts, one, C0, C1, rounds=400, progress=lambda *step: seen.append(step))
    assert np.all(np.diff(losses, axis=0) < 1e-13) and seen[0] == (1, 400) and len(seen) == len(losses) < 400
    T, _ = receptive.signed_mean(ends, one)
    np.testing.assert_allclose(ends, receptive.ols_field(T, C0, C1), atol=1e-9)
    np.testing.assert_allclose(receptive.relu_neuron_loss(ends, T, C0, C1), losses[-1], atol=1e-11)
    assert np.all(40 * receptive.ipr(ends) > 15)


@pytest.mark.parametrize("seed", range(4))
def test_no_gate_beats_its_own_field_as_a_relu(seed):
    C0, C1 = covariances(1.0, n=12) if seed % 2 else covariances(1.0, n=40)
    n = len(C0)
    one = np.random.default_rng(seed).standard_t(4, (200, n))  # any sample, any covariance
    a = receptive.gate_directions("random", n, 10, seed=seed)
    T, _ = receptive.signed_mean(a, one)
    w = receptive.ols_field(T, C0, C1)
    relu = receptive.relu_neuron_loss(w, receptive.signed_mean(w, one)[0], C0, C1)
    assert np.all(relu <= receptive.ols_loss(T, C0, C1) + 1e-13)


def test_best_shift_cosine():
    w = np.random.default_rng(0).standard_normal(9)
    np.testing.assert_allclose(receptive.best_shift_cosine(np.stack([-3 * np.roll(w, 4), np.ones(9)]), w)[0], 1)
    brute = max(abs(np.roll(w, s) @ np.arange(9)) for s in range(9)) / np.linalg.norm(w) / np.linalg.norm(np.arange(9))
    assert receptive.best_shift_cosine(w, np.arange(9)) == pytest.approx(brute)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: receptive.small_bump_field(2, 1.0, 0.5, 1.0, 0), "n = 2 is out of range"),
        (lambda: receptive.small_bump_field(40, 0.0, 1.0, 1.0, 0), "xi1 = 0 is out of range"),
        (lambda: receptive.small_bump_field(40, 2.0, -1.0, 1.0, 0), "xi2 = -1 is out of range"),
        (lambda: receptive.small_bump_field(40, 2.0, 1.0, 0.0, 0), "gain = 0 is out of range"),
        (lambda: receptive.small_bump_field(40, 2.0, 1.0, -3.0, 0), "gain = -3 is out of range"),
        (lambda: receptive.small_bump_field(40, 2.0, 1.0, 1.0, 40), "i = 40 is out of range; allowed: whole numbers"),
        (lambda: receptive.small_bump_field(40, 9.0, 1.0, 1.0, 0), "xi = 9 is too large for n = 40"),
        (lambda: receptive.ols_field(np.ones(4), np.eye(4), -np.eye(4)), "C0 \\+ C1 has the eigenvalue"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
