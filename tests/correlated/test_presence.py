"""Readers of presence: the linear loss on draws, and losses of small codes against all windows that there can be."""

from itertools import product

import numpy as np
import pytest
from superposition import correlated

RNG = np.random.default_rng(3)
VECTORS, P = RNG.standard_normal((6, 2)), np.array([0.3, 0.25, 0.2, 0.15, 0.1, 0.05])


def _exact(best, kinds, weights):
    """Loss of each feature over all windows, in kinds of independent features."""
    total = np.zeros(6)
    for bits in product((0, 1), repeat=6):
        x = np.array(bits, float)
        chance = sum(w * np.where(x, q, 1 - q).prod() for q, w in zip(kinds, weights, strict=True))
        y = best.reader @ (VECTORS.T @ (x - P)) + P
        total += chance * (x - best.gain * np.maximum(y - best.threshold, 0)) ** 2
    return total


@pytest.mark.parametrize(("kinds", "weights"), [([P], [1.0]), ([P * 0.4, np.minimum(P * 2, 0.9)], [0.7, 0.3])])
def test_all_rivals_apart_leave_the_exact_loss(kinds, weights):
    best = correlated.presence_reader(VECTORS, P)
    found = correlated.presence_losses(VECTORS, P, best, kinds, weights, np.ones(len(weights)), rivals=5)
    assert found == pytest.approx(_exact(best, kinds, weights), rel=1e-7)
    gaussian = correlated.presence_losses(VECTORS, P, best, kinds, weights, np.ones(len(weights)))
    assert np.abs(gaussian / found - 1).max() > 0.01


def test_the_linear_loss_and_the_noise_are_those_of_draws():
    best = correlated.presence_reader(VECTORS, P)
    x = (RNG.random((200_000, 6)) < P).astype(float)
    y = (x - P) @ VECTORS @ best.reader.T
    V = P * (1 - P)
    errors = (x - P - (1 - best.linear / V) * y) ** 2
    assert np.all(np.abs(errors.mean(axis=0) - best.linear) < 5 * errors.std(axis=0) / 200_000**0.5)
    assert (y - (x - P)).std(axis=0) == pytest.approx(best.noise, rel=0.02)
    assert np.all(best.relu <= P)


def test_linear_maps_of_the_vectors_change_nothing():
    one = correlated.presence_reader(VECTORS, P)
    other = correlated.presence_reader(VECTORS @ np.array([[3.0, 1.0], [0.0, 0.2]]), P)
    assert other.relu == pytest.approx(one.relu, rel=1e-9)


def test_shares_that_are_no_shares_are_refused():
    best = correlated.presence_reader(VECTORS, P)
    with pytest.raises(ValueError, match="weights add up to 0.5; allowed: 1"):
        correlated.presence_losses(VECTORS, P, best, [P], [0.5], [1.0])
    with pytest.raises(ValueError, match="features of vectors"):
        correlated.presence_reader(np.ones((2, 2)), [0.1, 0.2])
