"""All kinds of company at once, against counts and the law of the copula."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from superposition.experiments import further_schedules as further


def test_all_company_keeps_the_frequencies_and_joins_features_in_two_ways():
    truth = further.all_company(32, 12, 0.1, 1.0, 0.8, 3)
    x, h = truth.activations(100_000, seed=1)
    np.testing.assert_allclose(h, x @ truth.directions.T)
    p, on = truth.p, x > 0
    switch = np.minimum(1, further.SWITCHED * p[:: further.GROUP]).repeat(further.GROUP)
    assert p.mean() == pytest.approx(0.1) and p.max() == further.LARGEST and np.all(np.diff(p) <= 0)
    assert np.all(np.abs(on.mean(axis=0) - p) < 5 * np.sqrt(p / len(x)))
    order = np.random.default_rng(3).permutation(32)
    cause = np.arange(32)[order] // further.GROUP  # of each feature: a Gaussian cause, drawn at random
    for i, j in ((24, 25), (24, 31), (8, 30), (25, 29)):
        given = p[[i, j]] / switch[[i, j]]
        rho = 0.8 if cause[i] == cause[j] else 0.0
        both = multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf(-norm.isf(given))
        expected = both * (switch[i] if i // further.GROUP == j // further.GROUP else switch[i] * switch[j])
        assert abs(np.mean(on[:, i] & on[:, j]) - expected) < 5 * np.sqrt(expected / len(x))


def test_without_company_features_are_independent():
    truth = further.all_company(16, 8, 0.6, 0.0, 0.0, 3)  # every switch is always on
    x, _ = truth.activations(50_000, seed=1)
    apart = np.corrcoef((x > 0).T) - np.eye(16)
    assert np.abs(apart).max() < 5 / np.sqrt(len(x))
