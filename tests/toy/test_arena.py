"""The toy-model exercises of ARENA, written again here: their loss, dimensionality and batches against ours.

Read at callummcdougall/ARENA_2.0, commit 20bdbe8, part 7 (``solutions.py``: model, loss, ``compute_dimensionality``),
and BareBeaverBat/ARENA_3.0, commit 6fe58bb, part 3.1 (``tests.py``: shapes, probabilities and tolerances). They publish
no numbers: what they compare is a student's code with theirs. No file of theirs is used.
"""

import numpy as np
import pytest
from superposition import features, toy

INSTANCES, FEATURES, HIDDEN = 10, 5, 2
PROBABILITIES = np.arange(1, INSTANCES + 1) / (INSTANCES + 1)


def models(seed):
    """Weights, biases and importances of ten instances, in the shapes of the exercise."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((INSTANCES, HIDDEN, FEATURES)) / np.sqrt(HIDDEN)
    return W, rng.standard_normal((INSTANCES, FEATURES)) / 4, rng.random((INSTANCES, FEATURES))


def batch(size, seed):
    """A batch (size, instance, feature)."""
    rng = np.random.default_rng(seed)
    return np.stack([features.sample(FEATURES, p, size, seed=rng) for p in PROBABILITIES], axis=1)


def exercise_losses(x, W, b, importance):
    """The loss of the exercise for each vector: the mean over features, summed over instances."""
    hidden = np.einsum("sif,ihf->sih", x, W)
    out = np.maximum(np.einsum("sih,ihf->sif", hidden, W) + b, 0)
    return (importance * (x - out) ** 2).mean(axis=-1).sum(axis=-1)


@pytest.mark.parametrize("seed", range(3))
def test_their_loss_is_ours_over_the_number_of_features_summed_over_instances(seed):
    W, b, importance = models(seed)
    measured = exercise_losses(batch(40_000, seed), W, b, importance)
    ours = toy.population_loss(W, b, importance, PROBABILITIES)
    error = measured.std() / np.sqrt(len(measured))
    assert abs(measured.mean() - ours.sum() / FEATURES) < 4 * error
    # what a slip in the convention would give lies far outside
    for slip in (ours.mean() / FEATURES, ours.sum(), toy.population_loss(W, b, 1.0, PROBABILITIES).sum() / FEATURES):
        assert abs(measured.mean() - slip) > 40 * error


def test_their_dimensionality_is_ours_with_features_in_front():
    W = np.random.default_rng(0).standard_normal((5, 20, 40))  # instance, feature, hidden
    squares = (W**2).sum(axis=-1)
    shared = (np.einsum("iah,ibh->iab", W, W) ** 2).sum(axis=-1) / squares  # a feature's direction on all others
    ours = toy.feature_dimensionality(W.swapaxes(-1, -2))
    np.testing.assert_allclose(ours, squares / shared, rtol=1e-12)  # rounding of sums of 40 terms
    assert np.abs(ours - toy.feature_dimensionality(W)[..., :20]).max() > 0.1, "the order of axes matters"


def test_their_batches_are_ours():
    x = batch(5000, 0)
    assert x.shape == (5000, INSTANCES, FEATURES) and x.min() >= 0 and x.max() <= 1
    assert np.abs((x > 1e-5).mean(axis=(0, -1)) - PROBABILITIES).sum() < 0.05  # both numbers are theirs
