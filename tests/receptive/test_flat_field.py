"""The flat field: its growth rate against limits and simulation, and the gain at which it gives way."""

import numpy as np
import pytest
from superposition import receptive


def test_flat_growth_at_small_gain_is_the_gaussian_rate_with_the_right_slope():
    rates = receptive.transverse_rates(receptive.gaussian_covariance(20, 0.7), receptive.gaussian_covariance(20, 1.5))
    rate, _ = receptive.flat_growth(20, 1.5, 0.7, 1e-4, 2, samples=2000)
    assert rate == pytest.approx(rates[0, 2], rel=1e-6)
    # first order in q: the next order is q times that
    gain, lam = 0.1, receptive.eigenvalues(receptive.gaussian_covariance(20, 1.5))
    q = receptive.saturation(gain)
    ratio = receptive.eigenvalues(receptive.gaussian_covariance(20, 0.7)) / lam
    slope = lam[2] * q * (1 + ratio[0]) * (lam[0] / 3 + lam[2]) / 20 / 4
    rate, se = receptive.flat_growth(20, 1.5, 0.7, gain, 2, samples=100_000)
    assert abs(rate - rates[0, 2] - slope) < 4 * se + 3 * q * slope
    assert 4 * se < 0.2 * slope  # sharp enough: twice the slope would be seen


def test_flat_growth_against_a_simulation_without_conditioning():
    n, xi1, xi2, gain, width = 12, 1.0, 0.6, 1.0, 0.15
    x = receptive.nlgp_sample(n, xi1, gain, 400_000, seed=1)
    S = receptive.eigenvalues(receptive.nlgp_covariance(n, xi1, gain) + receptive.nlgp_covariance(n, xi2, gain))
    modes = np.fft.rfft(x, axis=1, norm="ortho")
    s = modes[:, 0].real
    delta = (np.abs(s) < width) / (2 * width) * np.abs(modes[:, 1]) ** 2
    crude = (2 * S[0] * delta.mean() / np.abs(s).mean() - S[1]) / 4
    crude_se = S[0] * delta.std() / np.abs(s).mean() / 2 / len(x) ** 0.5
    rate, se = receptive.flat_growth(n, xi1, xi2, gain, samples=100_000)
    # the window costs width^2 / 6 of the curvature of a density of unit scale: 0.4 % of the first term
    assert abs(rate - crude) < 4 * np.hypot(se, crude_se) + 0.004 * S[0] / 2
    assert se < crude_se


@pytest.mark.thorough
def test_critical_gain():
    predicted = receptive.critical_gain(40, 2, 1)
    assert predicted == pytest.approx(0.168464, rel=1e-5)  # the formula by hand: q = 0.0537
    measured, se = receptive.measured_critical_gain(40, 2, 1, samples=20_000)
    assert abs(measured - predicted) < 4 * se + receptive.saturation(predicted) * predicted and se < 0.05 * predicted
    assert receptive.critical_gain(160, 2, 1) == pytest.approx(receptive.critical_gain(40, 2, 1) / 2, rel=0.05)
    assert receptive.critical_gain(40, 5, 1, "wrapped") == pytest.approx(0.2368, rel=1e-3)


def test_no_critical_gain_is_infinity():
    assert receptive.critical_gain(40, 1, 2) == receptive.critical_gain(40, 2, 2) == np.inf
    assert receptive.measured_critical_gain(4, 3, 0.1, samples=2000, kernel="wrapped")[0] == np.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: receptive.critical_gain(40, 5, 1), "xi = 5 is too large for n = 40"),
        (lambda: receptive.critical_gain(40, 0, 1), "xi1 = 0 is out of range"),
        (lambda: receptive.flat_growth(40, 2, 1, 0), "gain = 0 is out of range"),
        (lambda: receptive.flat_growth(40, 2, 1, 1, 21), "frequency = 21 is out of range; allowed: .* from 1 to 20"),
        (lambda: receptive.measured_critical_gain(12, 0.6, 1, samples=200), "xi1 = 0.6 is too small"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
