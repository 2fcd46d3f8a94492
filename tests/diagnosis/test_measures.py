"""Measurements on an autoencoder, each against the same by other means."""

import numpy as np
import pytest
from superposition.diagnosis import measures, weights


def test_the_least_share_is_that_of_the_best_common_factor():
    rng = np.random.default_rng(1)
    x, biased = rng.random(50), rng.random((len(measures.STEPS), 50)) + 0.3
    scores = np.array([[x @ x, x @ out, out @ out] for out in biased])
    factors = np.linspace(0, 2, 200_001)
    least = min((x @ x - 2 * factors * (x @ out) + factors**2 * (out @ out)).min() for out in biased)
    as_it_is = np.sum((x - biased[len(biased) // 2]) ** 2)
    assert measures._least_share(scores) == pytest.approx(least / as_it_is, rel=1e-6)


def test_outputs_against_their_features_are_best_left_out():
    scores = np.tile([2.0, -0.5, 1.0], (len(measures.STEPS), 1))
    assert measures._least_share(scores) == pytest.approx(2 / (2 + 1 + 1))
    silent = np.tile([2.0, 0.0, 0.0], (len(measures.STEPS), 1))
    assert measures._least_share(silent) == 1
    assert measures._least_share(0 * silent) == 1


def test_what_is_too_large_for_a_product_is_left_to_the_refusal_in_words():
    large = np.array([[1e200, 1.0], [1e200, 1.0]])
    huge = weights.Weights(np.zeros(2), W_in=large, W_out=np.array([[1e200, -1e200], [1.0, 2.0]]))
    assert not np.isfinite(huge.gains()[0]) and huge.gains()[1] == 3  # and no warning, which would be an error here
    assert not np.isfinite(huge.rows(0, 2)[0, 0])


def test_where_nothing_is_lost_no_factor_is_better():
    assert measures._least_share(np.ones((len(measures.STEPS), 3))) == 1
