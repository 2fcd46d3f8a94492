"""The push of the noise on a row against differences of the expected loss, and its expansion."""

import numpy as np
import pytest
from scipy.stats import norm
from superposition import incidental
from superposition.incidental import tail_moments

LAWS = [
    incidental.bipolar(0.2),
    incidental.four_point(-1, 28, 0.2),
    incidental.discrete(0.2, 3),
    incidental.uniform(0.2),
]


def directions(count, m, seed=0):
    u = np.random.default_rng(seed).standard_normal((count, m))
    return u / np.linalg.norm(u, axis=1, keepdims=True)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_the_push_is_the_slope_of_the_expected_square(law):
    b, h = np.array([0.3, 1.4, 2.2]), 1e-4
    for u in directions(3, 6):
        f = np.sum(u**4)
        way = u**3 - f * u  # up the fourth norm, along the sphere; df along it is 4 |way|^2

        def loss(t, u=u, way=way):
            turned = u + t * way
            return tail_moments.tails(-0.2 * b, turned / np.linalg.norm(turned), law).T[2]

        slope = (loss(h) - loss(-h)) / (2 * h)
        np.testing.assert_allclose(incidental.row_push(3 * u, b, law), -4 * slope, atol=2e-8)


def test_the_push_by_enumeration():
    law, u, b = incidental.four_point(-0.3, 36, 0.1), directions(1, 5)[0], 1.7
    values, chance = incidental.noise_sums(law, 5)
    shut = np.maximum(0.1 * values @ u - 0.1 * b, 0)
    f = np.sum(u**4)
    expected = -8 * sum((u[k] ** 3 - f * u[k]) * (chance * 0.1 * values[:, k]) @ shut for k in range(5))
    assert incidental.row_push(u, b, law) == pytest.approx(expected, rel=1e-10)
    assert incidental.row_push(u, [b, b], law).shape == (2,)


@pytest.mark.parametrize("law", [incidental.discrete(1.0, -1), incidental.four_point(-1, 28, 1.0)], ids=["4", "28"])
def test_the_series_is_the_push_of_dense_rows(law):
    # what is left out is of relative order 1 / m^2 times the next cumulants; bound set after looking at other rows
    b, rows = np.array([0.7, 1.2, 2.2, 2.6]), directions(20, 12)
    exact = np.mean([incidental.row_push(u, b, law) for u in rows], axis=0)
    series = np.mean([incidental.row_push_series(u, b, law) for u in rows], axis=0)
    size = np.abs(exact).max()
    assert np.abs(series.sum(axis=0) - exact).max() < 0.12 * size
    assert np.abs(series[1]).max() > 0.12 * size  # the sixth cumulant would be missed


def test_gaussian_noise_pushes_nowhere():
    u = directions(1, 9)[0]
    np.testing.assert_allclose(incidental.row_push(u, [0.5, 2.0], incidental.normal(0.3)), 0, atol=1e-15)
    np.testing.assert_array_equal(incidental.row_push_series(u, [0.0, 0.5, 2.0], incidental.normal(0.3)), 0)


@pytest.mark.parametrize(("k", "kappa6"), [(-1, 28), (-0.3, 36)])
def test_the_push_turns_round_where_it_should(k, kappa6):
    depth = float(incidental.turning_depth(12, k, kappa6))
    mean, se = incidental.mean_row_push(12, [0.8 * depth, 1.2 * depth], incidental.four_point(k, kappa6, 0.1), rows=60)
    assert mean[0] > 4 * se[0] and mean[1] < -4 * se[1]


def test_negative_kurtosis_neither_suffices_nor_is_needed():
    against, _ = incidental.mean_row_push(8, 2.2, incidental.four_point(-1, 28, 0.1))
    for_it, _ = incidental.mean_row_push(8, 2.2, incidental.four_point(0.3, -8.6, 0.1))
    assert against < 0 < for_it
    assert np.isnan(incidental.turning_depth(16, -1, -5)) and incidental.turning_depth(2, 3, 20) == 0


def test_the_ratio_of_means_over_the_sphere():
    u = directions(200_000, 8)
    f, s6, s8 = (np.sum(u**q, axis=1) for q in (4, 6, 8))
    assert np.mean(s6 - f**2) / np.mean(s8 - f * s6) == pytest.approx(1.6, rel=0.02)


def test_a_mixture_of_gaussians_by_enumeration_and_without_mixing():
    u, b, variances, shares = directions(1, 4)[0], 1.3, np.array([0.3, 2.0]), np.array([0.6, 0.4])
    unit = variances / (shares @ variances)
    f, total = np.sum(u**4), 0.0
    for picks in np.ndindex(2, 2, 2, 2):
        V = unit[list(picks)]
        opened = norm.sf(b / np.sqrt(np.sum(u**2 * V)))
        total += np.prod(shares[list(picks)]) * -8 * np.sum((u**3 - f * u) * V * u) * opened
    assert incidental.mixture_row_push(u, b, variances, shares) == pytest.approx(total, rel=1e-10)
    assert incidental.mixture_row_push(u, [b, 2], [1.0, 1.0], [0.5, 0.5]) == pytest.approx([0, 0], abs=1e-15)


def test_uniform_noise_pushes_towards_the_axes_and_mixtures_of_gaussians_away():
    rng = np.random.default_rng(5)
    for _ in range(60):
        u, b = rng.standard_normal(rng.integers(2, 7)) ** rng.choice([1, 3]), rng.uniform(0.05, 4)
        # to what the characteristic function of uniform noise leaves out
        assert incidental.row_push(u, b, incidental.uniform(1.0)) > -1e-8
        assert incidental.mixture_row_push(u, b, rng.exponential(size=3), rng.dirichlet(np.ones(3))) < 1e-12


@pytest.mark.parametrize("law", [*LAWS, incidental.laplace(0.2)], ids=lambda law: law.name)
def test_the_push_of_the_open_output_is_the_slope_of_its_loss(law):
    law, h = type(law)(law.name, 0.5, law.points, law.probabilities), 1e-4
    for u in directions(2, 6, seed=3):
        way, S = u**3 - np.sum(u**4) * u, 0.8

        def loss(t, u=u, way=way, S=S):
            turned = np.sqrt(S) * (u + t * way) / np.linalg.norm(u + t * way)
            T = tail_moments.tails(np.array([S]), turned, law).T[:, 0]
            return T[2] - 2 * T[1]

        slope = (loss(h) - loss(-h)) / (2 * h)
        assert incidental.open_push(np.sqrt(S) * u, law) == pytest.approx(-4 * slope / S, abs=5e-7)


def test_two_outputs_of_two_features_are_the_slope_of_the_averaged_loss():
    law = incidental.bipolar(0.5)
    for u in directions(4, 7, seed=5):
        W = np.sqrt(0.85) * np.array([u, -u])
        parts = incidental.row_push(u, np.sqrt(0.85) / 0.5, law) + incidental.open_push(W[0], law)
        assert incidental.fourth_norm_slope(W, law) == pytest.approx(parts, abs=1e-14)


def test_no_noise_that_stays_below_the_length_shuts_the_output():
    w = np.array([0.6, 0.5, 0.4, 0.3])
    assert w @ w > 0.4 * np.abs(w).sum() * 1.1
    assert incidental.open_push(w, incidental.bipolar(0.4)) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("n", [2, 3, 6])
def test_the_share_of_the_push_is_that_of_a_weak_kurtosis(n):
    S, sigma = 0.9, 0.45

    def push(depth, first):
        """Push of the square, or of the excess itself, beyond a depth: the curvature of its loss in the variance."""
        v = sigma**2 * S
        density = np.exp(-(depth**2) / v / 2) / np.sqrt(2 * np.pi * v)
        return (depth**2 / v**2 - 1 / v) * density if first else depth / v * density

    shut, squares, first = push(S / (n - 1), False) * (n - 1), push(S, False), push(S, True)
    assert incidental.push_share(n, sigma, S) == pytest.approx((shut - squares - first) / shut, rel=1e-10)
    assert (incidental.push_share(n, sigma, S) < 0) == (n == 2)


def test_the_length_of_a_simplex_is_where_descent_on_gaussian_noise_rests():
    law, S = incidental.normal(0.3), incidental.simplex_length(3, 0.3)
    G = incidental.expected_loss_grad(np.sqrt(S) * incidental.simplex(3, 5), law)
    assert np.abs(G).max() < 1e-4
    assert np.abs(incidental.expected_loss_grad(incidental.simplex(3, 5), law)).max() > 1e-2
