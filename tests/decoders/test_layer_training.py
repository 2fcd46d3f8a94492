"""Trained decoders of several layers: their starts, frozen codes, and their losses at a small size."""

import numpy as np
import pytest
from superposition import decoders, features
from superposition.rug.rugs import Rug


@pytest.mark.parametrize(("start", "opposite", "met"), [("rug", 0, None), ("antipodal", 1, 1)])
def test_first_codes_have_the_shape_of_their_name(start, opposite, met):
    found = decoders.code_shape(decoders.first_code(start, 64, 32, 3))
    assert found["opposite"] == opposite and found["spread"] < 1e-3
    row = Rug(64, 32, seed=3).row()[1:]
    assert found["met"] == pytest.approx(met or np.sum(row**2) ** 2 / np.sum(row**4), rel=1e-3)


def test_a_random_code_is_neither():
    found = decoders.code_shape(decoders.first_code("random", 64, 32, 3))
    assert found["opposite"] == 0 and found["spread"] > 0.03 and found["met"] > 10


def test_shape_depends_on_the_row_space_alone():
    W_in, rng = decoders.first_code("random", 32, 12, 0), np.random.default_rng(1)
    mixed = decoders.code_shape(rng.standard_normal((12, 12)) @ W_in)
    assert mixed == pytest.approx(decoders.code_shape(W_in))


def test_a_feature_that_is_written_nowhere_has_a_finite_shape():
    W_in = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])  # a digon, a dimension of its own, and nowhere
    found = decoders.code_shape(W_in)
    assert all(np.isfinite(value) for value in found.values()) and found["opposite"] == 0.5 and found["skewness"] < -1


def test_without_training_every_depth_is_one_relu_on_the_readout():
    W_in = decoders.first_code("rug", 32, 16, 0)
    P = np.linalg.pinv(W_in) @ W_in
    x = features.sample(32, 0.1, 40_000, seed=5)
    by_hand = features.Estimate.of(np.mean((np.maximum(x @ P.T / np.diag(P), 0) - x) ** 2, axis=1))
    for layers in (1, 3):
        found = decoders.train_layers(W_in, 0.1, layers, frozen=True, steps=1, lr=1e-9, seed=0).loss
        assert abs(found.mean - by_hand.mean) < 4 * np.hypot(found.se, by_hand.se)


@pytest.mark.thorough
def test_a_kept_code_is_kept_and_the_second_layer_reads_more_of_it():
    W_in = decoders.first_code("rug", 32, 16, 0)
    one, two = (
        decoders.train_layers(W_in, 0.1, n, frozen=True, steps=600, lr=0.01, seed=0, fresh=8000) for n in (1, 2)
    )
    assert np.allclose(one.W_in, W_in, rtol=1e-6, atol=1e-7) and np.allclose(two.W_in, W_in, rtol=1e-6, atol=1e-7)
    assert two.loss.mean < 0.8 * one.loss.mean
    free = decoders.train_layers(W_in, 0.1, 1, frozen=False, steps=600, lr=0.01, seed=0, fresh=8000)
    assert np.abs(free.W_in - W_in).max() > 0.1 and free.loss.mean < 0.8 * one.loss.mean


def test_the_seed_decides():
    W_in = decoders.first_code("random", 16, 8, 0)
    one, same, other = (
        decoders.train_layers(W_in, 0.1, 2, frozen=False, steps=5, lr=0.01, seed=seed, fresh=2000) for seed in (0, 0, 1)
    )
    assert one.loss == same.loss and np.array_equal(one.W_in, same.W_in) and one.loss != other.loss
