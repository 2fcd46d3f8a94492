"""Data on a ring: closed forms against quadrature, enumeration and Monte Carlo; kernels that are no covariance."""

import itertools
import subprocess
import sys

import mpmath
import numpy as np
import pytest
from superposition import receptive
from superposition.receptive import measures, nlgp, ring, single_pulses


@pytest.mark.parametrize("gain", [1e-6, 0.01, 0.3, 3.0, 100.0, 1e6])
def test_normalization_against_quadrature(gain):
    with mpmath.workdps(25):
        scale = mpmath.mpf(1) / gain
        points = sorted({0, min(scale, 8), min(4 * scale, 9), 10})
        exact = mpmath.quad(lambda z: 2 * mpmath.erf(gain * z) ** 2 * mpmath.npdf(z), points)
        assert float(nlgp.normalization(gain) ** 2) == pytest.approx(float(exact), rel=1e-9, abs=0)


@pytest.mark.parametrize(("gain", "r"), [(0.3, 0.7), (3.0, 0.3), (3.0, 0.95), (30.0, 0.5)])
def test_covariance_against_quadrature(gain, r):
    from scipy.integrate import quad
    from scipy.special import erf

    # E erf(g z_j) given z_i is erf of a multiple of z_i (eq. 62 and 63 of the notes)
    slope = gain * r / np.sqrt(1 + 2 * gain**2 * (1 - r**2))
    found = quad(lambda z: erf(gain * z) * erf(slope * z) * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), 0, 12, limit=200)
    xi = 1 / np.sqrt(-np.log(r))  # correlation r at distance 1
    covariance = nlgp.nlgp_covariance(64, xi, gain)[0, 1]
    assert covariance == pytest.approx(2 * found[0] / nlgp.normalization(gain) ** 2, rel=1e-7, abs=0)


@pytest.mark.parametrize(("gain", "seed"), [(0.05, 0), (1.0, 1), (10.0, 2)])
def test_sample_has_the_covariance(gain, seed):
    x = nlgp.nlgp_sample(16, 1.2, gain, 40_000, seed=seed)
    products = np.stack([np.mean(x * np.roll(x, d, axis=1), axis=1) for d in range(5)])
    error = products.std(axis=1) / 200
    assert np.all(np.abs(products.mean(axis=1) - nlgp.nlgp_covariance(16, 1.2, gain)[0, :5]) < 4 * error + 1e-12)
    assert np.abs(x).max() <= 1 / nlgp.normalization(gain) + 1e-12


def test_small_gain_is_the_gaussian_process_and_large_gain_a_sign():
    np.testing.assert_allclose(nlgp.nlgp_covariance(20, 1.5, 1e-6), ring.gaussian_covariance(20, 1.5), atol=1e-10)
    small = nlgp.nlgp_sample(20, 1.5, 1e-5, 50, seed=3)
    np.testing.assert_allclose(small, ring.gaussian_sample(ring.gaussian_covariance(20, 1.5), 50, seed=3), rtol=1e-8)
    assert np.allclose(np.abs(nlgp.nlgp_sample(20, 1.5, 1e6, 50, seed=3)), 1, atol=1e-3)


@pytest.mark.parametrize(("n", "xi"), [(40, 2.0), (40, 3.5), (7, 0.5)])
def test_narrow_periodic_kernels_are_covariances_and_equal_the_wrapped_ones(n, xi):
    C = ring.gaussian_covariance(n, xi)
    assert np.linalg.eigvalsh(C).min() > -1e-12
    np.testing.assert_allclose(C, ring.gaussian_covariance(n, xi, "wrapped"), atol=1e-10)


@pytest.mark.parametrize(("n", "xi"), [(40, 5), (40, 8), (20, 4)])
def test_wide_periodic_kernels_are_refused(n, xi):
    assert np.linalg.eigvalsh(ring.circulant(ring.kernel_row(n, xi))).min() < -1e-12
    for call in (
        lambda: ring.gaussian_covariance(n, xi),
        lambda: nlgp.nlgp_covariance(n, xi, 1.0),
        lambda: nlgp.nlgp_sample(n, xi, 1.0, 2, seed=0),
        lambda: ring.gaussian_sample(ring.circulant(ring.kernel_row(n, xi)), 2, seed=0),
    ):
        with pytest.raises(ring.NotACovariance, match="has the eigenvalue -"):
            call()
    wrapped = ring.gaussian_covariance(n, xi, "wrapped")
    assert np.linalg.eigvalsh(wrapped).min() > -1e-12 and np.allclose(np.diag(wrapped), 1)


def test_wrapped_kernel_by_poisson_summation():
    n, xi = 12, 9.0
    k = np.arange(-200, 201)
    spectrum = np.array([np.exp(-((np.pi * xi * (j + n * k) / n) ** 2)).sum() for j in range(n)])
    exact = np.fft.ifft(spectrum).real
    np.testing.assert_allclose(ring.kernel_row(n, xi, "wrapped"), exact / exact[0], atol=1e-13)


def test_fourier_basis_diagonalizes():
    F, C = ring.fourier_basis(12), nlgp.nlgp_covariance(12, 1, 2)
    np.testing.assert_allclose(F.T @ F, np.eye(12), atol=1e-14)
    D = F.T @ C @ F
    np.testing.assert_allclose(D, np.diag(np.diag(D)), atol=1e-13)
    order = [0, *np.repeat(np.arange(1, 6), 2), 6]
    np.testing.assert_allclose(np.diag(D), ring.eigenvalues(C)[order], atol=1e-13)


@pytest.mark.parametrize("lengths", [[3], [1, 12], [5, 9, 11]])
@pytest.mark.parametrize("version", single_pulses.VERSIONS)
def test_pulse_moments_by_enumeration(lengths, version):
    x = single_pulses.pulse_support(12, lengths, version)
    np.testing.assert_allclose(single_pulses.pulse_second_moment(12, lengths, version), x.T @ x / len(x), atol=1e-14)
    raw = single_pulses.pulse_support(12, lengths)
    for pixels in itertools.product(range(0, 12, 2), range(0, 12, 3), (0, 5)):
        assert single_pulses.pulse_moment(12, lengths, pixels) == pytest.approx(
            raw[:, list(pixels)].prod(axis=1).mean()
        )


def test_measures_of_known_fields():
    n = 40
    flat, wave, pixel = np.ones(n), np.cos(2 * np.pi * 3 * np.arange(n) / n), np.eye(n)[7]
    np.testing.assert_allclose(n * measures.ipr([flat, wave, pixel]), [1, 1.5, n])
    np.testing.assert_array_equal(measures.half_energy_width([flat, pixel]), [20, 1])
    np.testing.assert_allclose(measures.mean_frequency([flat, wave, (-1.0) ** np.arange(n)]), [0, 3, 20], atol=1e-12)
    assert measures.power(np.random.default_rng(0).standard_normal(n)).sum() == pytest.approx(1)
    assert measures.power(np.random.default_rng(0).standard_normal(7)).sum() == pytest.approx(1)
    split = np.eye(n)[0] + np.eye(n)[39]  # an arc across the seam
    assert measures.half_energy_width(split) == 1 and measures.half_energy_width(split + 1e-9 + np.eye(n)[1]) == 2
    assert measures.peak([-pixel]) == 7 and measures.ring_distance(1, 39, n) == 2
    np.testing.assert_allclose(measures.ipr(1e-200 * wave), 1.5 / n)


def test_the_door_has_the_names_of_the_issue():
    names = ("nlgp_sample", "nlgp_covariance", "normalization", "gaussian_flow", "critical_gain")
    assert all(callable(getattr(receptive, name)) for name in names)
    program = "import sys, superposition.receptive; print([m for m in ('torch', 'scipy.optimize') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ring.gaussian_covariance(40, 0), r"xi = 0 is out of range; allowed: \(0, 4000\]"),
        (lambda: ring.gaussian_covariance(40, -2), "xi = -2 is out of range"),
        (lambda: ring.gaussian_covariance(1, 1), "n = 1 is out of range; allowed: whole numbers from 2"),
        (lambda: ring.gaussian_covariance(40, 1, "flat"), "kernel = 'flat' is unknown; allowed: periodic, wrapped"),
        (lambda: nlgp.normalization(0), "gain = 0 is out of range; .* the limit of small gain has gaussian_covariance"),
        (lambda: nlgp.nlgp_covariance(40, 2, -1), "gain = -1 is out of range"),
        (lambda: nlgp.nlgp_sample(40, 2, np.nan, 3, seed=0), "gain = nan is out of range"),
        (lambda: nlgp.nlgp_sample(40, 2, 1, 0, seed=0), "samples = 0 is out of range"),
        (lambda: ring.fourier_basis(7), "n = 7 is odd; allowed: even numbers from 4"),
        (lambda: ring.fourier_basis(2), "n = 2 is out of range"),
        (lambda: ring.eigenvalues(np.ones((2, 3))), r"covariance has shape \(2, 3\)"),
        (lambda: ring.eigenvalues([[1.0, 0.5], [0.5, 2.0]]), "covariance is not a symmetric circulant matrix"),
        (
            lambda: single_pulses.pulse_support(10, [11]),
            "lengths = 11 is out of range; allowed: whole numbers from 1 to 10",
        ),
        (lambda: single_pulses.pulse_support(10, []), r"lengths = \(\) is empty"),
        (lambda: single_pulses.pulse_support(10, [3], "white"), "version = 'white' is unknown"),
        (lambda: single_pulses.pulse_moment(10, [3], []), r"pixels = \(\) is empty"),
        (lambda: measures.ipr(np.zeros(5)), "w = 0 is no receptive field"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
