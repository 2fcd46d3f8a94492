"""Descents on all inputs: losses are those of the weights, and a linear layer is one of ReLUs with a large bias."""

import numpy as np
import pytest
from superposition import decoders

HOW = {"starts": 2, "steps": 60, "seed": 0}


def test_loss_is_that_of_the_weights():
    x, chance = decoders.all_inputs(5, 0.2)
    for reader in ("relu", "linear"):
        ended = decoders.descend_on_ands(5, 3, 0.2, layer="relu", reader=reader, **HOW)
        W_in, b, W_out, c = ended.weights
        h = np.maximum(x @ W_in + b, 0)
        np.testing.assert_allclose(h, ended.hidden, atol=1e-5)  # float32
        y = (h if reader == "relu" else np.concatenate((h, np.broadcast_to(x, (2, *x.shape))), axis=2)) @ W_out + c
        y = np.maximum(y, 0) if reader == "relu" else y
        loss = np.mean((y - decoders.ands_of_pairs(x)) ** 2, axis=2) @ chance / 0.2**2
        assert ended.loss == pytest.approx(loss, rel=1e-4)


def test_training_lowers_the_loss_and_starts_differ():
    one, more = (
        decoders.descend_on_ands(5, 3, 0.2, layer="relu", reader="relu", **HOW | {"steps": n}) for n in (1, 300)
    )
    assert np.all(more.loss < one.loss)
    assert more.loss[0] != more.loss[1]


def test_a_linear_layer_as_relus_has_the_same_outputs():
    linear = decoders.descend_on_ands(5, 3, 0.2, layer="linear", reader="relu", **HOW)
    weights = decoders.as_relus(linear.weights, 5)
    again = decoders.descend_on_ands(5, 3, 0.2, layer="relu", reader="relu", weights=weights, **HOW | {"steps": 0})
    assert again.loss == pytest.approx(linear.loss, rel=1e-4)
    assert again.hidden.min() > -1e-6
