"""Sets of active features: as many as are counted one by one, and the size from which none are."""

from math import comb

import numpy as np
import pytest
from superposition.codes import exact_losses


def test_ways_of_equal_weights_add_up_to_all_sets():
    slopes, ways = exact_losses._sets(np.array([-0.5, 0.2]), np.array([3, 4]), 3)
    assert ways.sum() == comb(7, 3) and len(slopes) == 4  # none, one, two or three of the first
    one_by_one, each = exact_losses._sets(np.arange(7.0), np.ones(7, dtype=int), 3)
    assert len(one_by_one) == comb(7, 3) and (each == 1).all()


def test_up_to_three_million_cases_are_counted():
    exact_losses._enumerable(3_000_000, 1)
    with pytest.raises(ValueError, match="sets of 1 matter: 3000001 cases; allowed: 3000000"):
        exact_losses._enumerable(3_000_001, 1)


def test_an_integral_over_k_slopes_has_two_to_the_k_cases():
    weights, counts = np.array([0.1]), np.array([30])
    assert exact_losses._sets(weights, counts, 21)[0].shape == (1, 21)
    with pytest.raises(ValueError, match="sets of 22 matter: 4194304 cases"):
        exact_losses._sets(weights, counts, 22)
