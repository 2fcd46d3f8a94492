"""What the run on the published training says of one model, by the model's own weights."""

import numpy as np
import pytest
from superposition import features, frequencies
from superposition.experiments.published_training import caused_loss

HOW = {"steps": 200, "batch": 64, "lr": 0.01, "seed": 3, "device": "cpu"}


def test_a_point_is_that_of_its_model():
    changed = {"pull": 0.5, "bias_spread": 1.0, "largest": 2.0}
    found = caused_loss(ns=30, nd=4, exponent=1.0, **changed, **HOW)
    p = frequencies.power_law(30, 1.0)
    model = frequencies.train_unequal(p, 4, tied=True, **changed, **HOW)
    W, b = model.W_out.astype(float) @ model.W_in, model.bias
    x = features.sample_each(p, 100_000, seed=5)  # up to 1: the model sees twice this
    squares = (np.maximum(2 * x @ W.T + b, 0) - 2 * x) ** 2 / 4
    lost = features.Estimate.of(squares.sum(axis=1))
    assert found["loss"] == pytest.approx(lost.mean, abs=4 * np.hypot(lost.se, found["loss_se"]))
    alone = np.maximum(2 * W + b[:, None], 0).diagonal()  # each feature fully on, with nobody else
    assert found["dead"] == (alone == 0).sum() > 0
    theirs = features.Estimate.of(squares[:, alone == 0].sum(axis=1))
    assert found["dead_loss"] == pytest.approx(theirs.mean, abs=5 * theirs.se)
    assert found["short"] == (np.linalg.norm(model.W_in, axis=0) < 0.5).sum()


def test_without_a_cause_it_is_our_training():
    found = caused_loss(ns=30, nd=4, exponent=1.0, pull=0.0, bias_spread=0.0, largest=1.0, **HOW)
    assert found["loss"] == frequencies.train_unequal(frequencies.power_law(30, 1.0), 4, tied=True, **HOW).loss
