"""The nonlinear Gaussian process: closed forms against quadrature and draws, and its two limits."""

import mpmath
import numpy as np
import pytest
from superposition import receptive


@pytest.mark.parametrize("gain", [1e-6, 0.01, 0.3, 3.0, 100.0, 1e6])
def test_normalization_against_quadrature(gain):
    with mpmath.workdps(25):
        scale = mpmath.mpf(1) / gain
        points = sorted({0, min(scale, 8), min(4 * scale, 9), 10})
        exact = mpmath.quad(lambda z: 2 * mpmath.erf(gain * z) ** 2 * mpmath.npdf(z), points)
        assert float(receptive.normalization(gain) ** 2) == pytest.approx(float(exact), rel=1e-9, abs=0)


@pytest.mark.parametrize(("gain", "r"), [(0.3, 0.7), (3.0, 0.3), (3.0, 0.95), (30.0, 0.5)])
def test_covariance_against_quadrature(gain, r):
    from scipy.integrate import quad
    from scipy.special import erf

    # E erf(g z_j) given z_i is erf of a multiple of z_i (eq. 62 and 63 of the notes)
    slope = gain * r / np.sqrt(1 + 2 * gain**2 * (1 - r**2))
    found = quad(lambda z: erf(gain * z) * erf(slope * z) * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), 0, 12, limit=200)
    xi = 1 / np.sqrt(-np.log(r))  # correlation r at distance 1
    covariance = receptive.nlgp_covariance(64, xi, gain)[0, 1]
    assert covariance == pytest.approx(2 * found[0] / receptive.normalization(gain) ** 2, rel=1e-7, abs=0)


@pytest.mark.parametrize(("gain", "seed"), [(0.05, 0), (1.0, 1), (10.0, 2)])
def test_sample_has_the_covariance(gain, seed):
    x = receptive.nlgp_sample(16, 1.2, gain, 40_000, seed=seed)
    products = np.stack([np.mean(x * np.roll(x, d, axis=1), axis=1) for d in range(5)])
    error = products.std(axis=1) / 200
    assert np.all(np.abs(products.mean(axis=1) - receptive.nlgp_covariance(16, 1.2, gain)[0, :5]) < 4 * error + 1e-12)
    assert np.abs(x).max() <= 1 / receptive.normalization(gain) + 1e-12


def test_small_gain_is_the_gaussian_process_and_large_gain_a_sign():
    np.testing.assert_allclose(
        receptive.nlgp_covariance(20, 1.5, 1e-6), receptive.gaussian_covariance(20, 1.5), atol=1e-10
    )
    small = receptive.nlgp_sample(20, 1.5, 1e-5, 50, seed=3)
    np.testing.assert_allclose(
        small, receptive.gaussian_sample(receptive.gaussian_covariance(20, 1.5), 50, seed=3), rtol=1e-8
    )
    assert np.allclose(np.abs(receptive.nlgp_sample(20, 1.5, 1e6, 50, seed=3)), 1, atol=1e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: receptive.normalization(0),
            "gain = 0 is out of range; .* the limit of small gain has gaussian_covariance",
        ),
        (lambda: receptive.nlgp_covariance(40, 2, -1), "gain = -1 is out of range"),
        (lambda: receptive.nlgp_sample(40, 2, np.nan, 3, seed=0), "gain = nan is out of range"),
        (lambda: receptive.nlgp_sample(40, 2, 1, 0, seed=0), "samples = 0 is out of range"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_limits_and_monotony():
    gains = np.geomspace(1e-6, 1e6, 40)
    q, Z = receptive.saturation(gains), receptive.normalization(gains)
    assert np.all(np.diff(q) > 0) and np.all((q > 0) & (q < 1)) and np.all(np.diff(Z) > 0) and Z[-1] < 1
    assert Z[0] / 1e-6 == pytest.approx(2 / np.sqrt(np.pi), rel=1e-9)  # erf(g z) = 2 g z / sqrt(pi)
    rows = np.array([receptive.nlgp_covariance(12, 1.5, gain)[0] for gain in gains])
    assert np.all(np.diff(rows, axis=0) < 1e-15) and np.all(rows[:, 0] == 1)  # gain lowers every correlation


def test_gains_out_of_range_are_shown():
    for gain, shown in ((1e-7, "1e-07"), (1e7, "1e\\+07"), ([1.0, -2.0], "-2")):
        with pytest.raises(ValueError, match=f"gain = {shown} is out of range; allowed: "):
            receptive.saturation(gain)
