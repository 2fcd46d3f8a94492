"""Matrices and processes on a ring: kernels that are covariances, and their eigenvectors."""

import numpy as np
import pytest
from superposition import receptive
from superposition.receptive import ring


@pytest.mark.parametrize(("n", "xi"), [(40, 2.0), (40, 3.5), (7, 0.5)])
def test_narrow_periodic_kernels_are_covariances_and_equal_the_wrapped_ones(n, xi):
    C = receptive.gaussian_covariance(n, xi)
    assert np.linalg.eigvalsh(C).min() > -1e-12
    np.testing.assert_allclose(C, receptive.gaussian_covariance(n, xi, "wrapped"), atol=1e-10)


@pytest.mark.parametrize(("n", "xi"), [(40, 5), (40, 8), (20, 4)])
def test_wide_periodic_kernels_are_refused(n, xi):
    assert np.linalg.eigvalsh(receptive.circulant(receptive.kernel_row(n, xi))).min() < -1e-12
    for call in (
        lambda: receptive.gaussian_covariance(n, xi),
        lambda: receptive.nlgp_covariance(n, xi, 1.0),
        lambda: receptive.nlgp_sample(n, xi, 1.0, 2, seed=0),
        lambda: receptive.gaussian_sample(receptive.circulant(receptive.kernel_row(n, xi)), 2, seed=0),
    ):
        with pytest.raises(receptive.NotACovariance, match="has the eigenvalue -"):
            call()
    wrapped = receptive.gaussian_covariance(n, xi, "wrapped")
    assert np.linalg.eigvalsh(wrapped).min() > -1e-12 and np.allclose(np.diag(wrapped), 1)


def test_wrapped_kernel_by_poisson_summation():
    n, xi = 12, 9.0
    k = np.arange(-200, 201)
    spectrum = np.array([np.exp(-((np.pi * xi * (j + n * k) / n) ** 2)).sum() for j in range(n)])
    exact = np.fft.ifft(spectrum).real
    np.testing.assert_allclose(receptive.kernel_row(n, xi, "wrapped"), exact / exact[0], atol=1e-13)


def test_fourier_basis_diagonalizes():
    F, C = receptive.fourier_basis(12), receptive.nlgp_covariance(12, 1, 2)
    np.testing.assert_allclose(F.T @ F, np.eye(12), atol=1e-14)
    D = F.T @ C @ F
    np.testing.assert_allclose(D, np.diag(np.diag(D)), atol=1e-13)
    order = [0, *np.repeat(np.arange(1, 6), 2), 6]
    np.testing.assert_allclose(np.diag(D), receptive.eigenvalues(C)[order], atol=1e-13)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: receptive.gaussian_covariance(40, 0), r"xi = 0 is out of range; allowed: \(0, inf\]"),
        (lambda: receptive.gaussian_covariance(40, 5000), r"xi = 5000 is out of range; allowed: \(0, 4000\]"),
        (lambda: receptive.gaussian_covariance(40, -2), "xi = -2 is out of range"),
        (lambda: receptive.gaussian_covariance(1, 1), "n = 1 is out of range; allowed: whole numbers from 2"),
        (
            lambda: receptive.gaussian_covariance(40, 1, "flat"),
            "kernel = 'flat' is unknown; allowed: periodic, wrapped",
        ),
        (lambda: receptive.fourier_basis(7), "n = 7 is odd; allowed: even numbers from 4"),
        (lambda: receptive.fourier_basis(2), "n = 2 is out of range"),
        (lambda: receptive.eigenvalues(np.ones((2, 3))), r"covariance has shape \(2, 3\)"),
        (lambda: receptive.eigenvalues([[1.0, 0.5], [0.5, 2.0]]), "covariance is not a symmetric circulant matrix"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("n", [2, 7, 40, 511, 512, 513])
def test_transforms_draw_what_the_matrix_draws(n):
    C = receptive.gaussian_covariance(n, min(2.0, n / 10))
    expected = np.random.default_rng(1).standard_normal((20, n)) @ receptive.square_root(C)
    found = receptive.gaussian_sample(C, 20, seed=1)
    if n < ring.BY_TRANSFORMS:
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(found, expected, atol=1e-13)
    np.testing.assert_array_equal(ring.stationary_sample(C[0], 20, seed=1), found)


def test_eigenvalues_and_products_commute():
    one, other = receptive.gaussian_covariance(9, 1.0), receptive.gaussian_covariance(9, 0.6)
    np.testing.assert_allclose(
        receptive.eigenvalues(one @ other), receptive.eigenvalues(one) * receptive.eigenvalues(other), atol=1e-14
    )
    values = receptive.eigenvalues(one)
    np.testing.assert_allclose(np.sort(np.linalg.eigvalsh(one)), np.sort([*values, *values[1:]]), atol=1e-14)
