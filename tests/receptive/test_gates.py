"""Families of gates, and second moments against Monte Carlo and limits."""

import numpy as np
import pytest
from scipy.special import ndtri
from superposition import receptive


def monte_carlo(gates, x):
    """E[g_k g_l x x'] and its standard error, entry by entry."""
    wide = (gates[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    mean = wide.T @ wide / len(x)
    return mean, np.sqrt(((wide**2).T @ wide**2 / len(x) - mean**2) / len(x))


@pytest.mark.parametrize("family", receptive.GATE_FAMILIES)
@pytest.mark.parametrize(("n", "K"), [(3, 2), (40, 12), (41, 12)])
def test_families_have_k_different_gates_and_the_same_mean_eigenvalue(family, n, K):
    directions = receptive.gate_directions(family, n, K, seed=1)
    assert directions.shape == (K, n) and len(np.unique(directions.round(9), axis=0)) == K
    rng = np.random.default_rng(0)
    half = rng.standard_normal((50, n))
    x = np.concatenate([half, -half])
    A, _ = receptive.gated_moments(receptive.opened_gates(directions, x), x, np.ones(100))
    assert np.linalg.eigvalsh(A).mean() == pytest.approx(np.mean(x**2) / 2, rel=1e-12)


def test_every_half_space_gate_of_a_symmetric_sample_has_the_same_second_moment():
    half = np.random.default_rng(0).standard_normal((60, 6))
    x = np.concatenate([half, -half])
    for direction in receptive.gate_directions("random", 6, 4, seed=2):
        A, _ = receptive.gated_moments(receptive.opened_gates(direction, x), x, np.ones(120))
        np.testing.assert_allclose(A, x.T @ x / 240, atol=1e-14)


def test_waves_are_the_low_frequencies():
    waves = receptive.gate_directions("waves", 40, 5)
    np.testing.assert_allclose(waves[0], 1)
    spectrum = np.abs(np.fft.rfft(waves, axis=1)).argmax(axis=1)
    np.testing.assert_array_equal(spectrum, [0, 1, 1, 2, 2])
    assert np.linalg.matrix_rank(waves) == 5


@pytest.mark.parametrize("seed", [0, 1])
def test_gaussian_second_moment_against_monte_carlo(seed):
    C = receptive.gaussian_covariance(12, 1)
    directions = np.random.default_rng(seed).standard_normal((3, 12))
    directions[2] = -directions[1]  # the correlation -1
    x = receptive.gaussian_sample(C, 100_000, seed=seed + 10)
    mean, se = monte_carlo(receptive.opened_gates(directions, x), x)
    exact = receptive.gaussian_second_moment(directions, C)
    assert np.abs(exact - mean).max() < 5 * se.max()  # 1296 entries: 5 standard errors
    np.testing.assert_allclose(exact[12:24, 24:], 0, atol=2e-8)  # an arcsine at -1 + 1e-16
    np.testing.assert_allclose(exact[:12, :12], C / 2, atol=1e-14)


@pytest.mark.parametrize("angle", [0.1, 0.9, 1.5, 2.2, 3.0])
def test_gaussian_second_moment_in_two_dimensions_is_an_integral_over_a_wedge(angle):
    """With x = L z, both gates are open where the direction of z is between two angles, and z^2 has the mean 2."""
    L = np.array([[1.4, 0.0], [-0.6, 0.9]])
    open_from, open_to = 0.3 + angle - np.pi / 2, 0.3 + np.pi / 2
    normals = np.array([[np.cos(turn), np.sin(turn)] for turn in (0.3, 0.3 + angle)])
    sine, cosine = (part(2 * open_to) - part(2 * open_from) for part in (np.sin, np.cos))
    wide = open_to - open_from
    z = np.array([[wide + sine / 2, -cosine / 2], [-cosine / 2, wide - sine / 2]]) / (2 * np.pi)
    exact = receptive.gaussian_second_moment(normals @ np.linalg.inv(L), L @ L.T)[:2, 2:]
    np.testing.assert_allclose(exact, L @ z @ L.T, atol=1e-14)


def test_gaussian_second_moment_of_nearly_equal_gates():
    C = receptive.gaussian_covariance(12, 1)
    a = np.random.default_rng(0).standard_normal(12)
    for step in (1e-3, 1e-6, 1e-9):
        block = receptive.gaussian_second_moment([a, a + step], C)[:12, 12:]
        assert np.abs(block - C / 2).max() < 3 * step  # the gates differ on a wedge of that angle


@pytest.mark.parametrize("gain", [0.5, 3.0, 10.0])
def test_small_bump_second_moment_against_monte_carlo(gain):
    latent = receptive.gaussian_covariance(12, 1)
    x = receptive.nlgp_sample(12, 1, gain, 100_000, seed=4)
    pixels = [0, 1, 5]
    mean, se = monte_carlo(x[:, pixels] > 0, x)
    exact = receptive.small_bump_second_moment(pixels, latent, gain)
    assert np.abs(exact - mean).max() < 5 * se.max()
    assert np.linalg.eigvalsh(exact)[0] > 0


def test_small_bump_second_moment_has_the_gaussian_limit():
    latent = receptive.gaussian_covariance(12, 1)
    gaussian = receptive.gaussian_second_moment(np.eye(12)[[0, 3]], latent)
    # the difference is of order gain^2
    np.testing.assert_allclose(receptive.small_bump_second_moment([0, 3], latent, 1e-4), gaussian, atol=1e-7)


def test_four_signs_against_an_orthant_probability():
    from scipy.stats import multivariate_normal

    latent, gain, i, k, j, m = receptive.gaussian_covariance(10, 1), 2.0, 0, 2, 1, 4
    q = 8 / 9
    R = np.array(
        [
            [1, latent[i, k], q**0.5 * latent[i, j], q**0.5 * latent[i, m]],
            [0, 1, q**0.5 * latent[k, j], q**0.5 * latent[k, m]],
            [0, 0, 1, q * latent[j, m]],
            [0, 0, 0, 1],
        ]
    )
    R = R + np.triu(R, 1).T
    normal = type(multivariate_normal)(seed=0)  # how every scipy from 1.15 on takes a seed
    orthant = normal.cdf(np.zeros(4), np.zeros(4), R, abseps=1e-9, releps=1e-9, maxpts=10**6)
    signs = 16 * orthant - 1 - 2 / np.pi * np.arcsin(R[np.triu_indices(4, 1)]).sum()
    expected = (2 / np.pi * np.arcsin(q * latent[j, m]) + signs) / (2 / np.pi * np.arcsin(q)) / 4
    found = receptive.small_bump_second_moment([i, k], latent, gain)[j, 10 + m]
    assert found == pytest.approx(expected, abs=1e-6)  # the cdf is good to about 1e-7


def test_profiles_by_hand():
    """The second derivative of a Gaussian of width 1.5, negated; the bump of width 2; one pixel."""
    hat, bump, pixel = (
        receptive.gate_directions(family, 15, 1)[0] for family in ("Mexican hats", "wide bumps", "small bumps")
    )
    d = np.minimum(np.arange(15), 15 - np.arange(15))
    np.testing.assert_allclose(hat, (1 - d**2 / 2.25) * np.exp(-(d**2) / 4.5), atol=1e-15)
    np.testing.assert_allclose(bump, np.exp(-(d**2) / 8), atol=1e-15)
    assert hat[0] == 1 and hat[1] > 0 > hat[2] and np.abs(hat[7]) < 1e-3
    np.testing.assert_array_equal(pixel, np.eye(15)[0])


def test_a_threshold_changes_the_mean_eigenvalue():
    x = ndtri((np.arange(100_000) + 0.5) / 100_000)  # a pixel of variance 1
    through_the_origin, shifted = (np.mean(x**2 * (x > threshold)) for threshold in (0.0, 1.0))
    assert receptive.gaussian_second_moment([[1.0]], [[1.0]])[0, 0] == pytest.approx(through_the_origin, abs=1e-3)
    assert through_the_origin == pytest.approx(0.5, abs=1e-3) and shifted == pytest.approx(0.40, abs=2e-3)
