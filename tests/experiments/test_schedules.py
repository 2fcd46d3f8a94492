"""Features in company, and the agreement of two autoencoders, against counts."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from superposition import decoders
from superposition.experiments import schedules


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_company_keeps_frequencies_and_joins_eight(rho):
    truth = schedules.company(16, 8, 0.1, rho, 3)
    x, h = truth.activations(100_000, seed=1)
    on = x > 0
    assert np.all(np.abs(on.mean(axis=0) - 0.1) < 5 * np.sqrt(0.09 / len(x)))
    np.testing.assert_allclose(h, x @ truth.directions.T)
    both = (on.astype(float).T @ on) / len(x)
    bar = norm.isf(0.1)
    together = multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf([-bar, -bar])
    joined = np.isclose(both, together, atol=5 * np.sqrt(together / len(x))) & ~np.eye(16, dtype=bool)
    assert np.all(joined.sum(axis=1) == (15 if rho == 0 else 7))


def test_agreement_counts_latents_that_others_have():
    axes = np.eye(4)
    turned = axes.copy()
    turned[:, 0] = [0.8, 0.6, 0, 0]
    one, two = (decoders.sae_along(D, 1.0, 0.0, np.zeros(4)) for D in (axes, turned[:, ::-1]))
    assert schedules._agreement(one, [one, two]) == schedules._agreement(two, [one, two]) == 0.75
