"""What the named run on the signs of trained weights says of one model."""

import numpy as np
import pytest
from superposition import frequencies
from superposition.experiments import unequal

SMALL = {"ns": 30, "nd": 4, "exponent": 1.0, "steps": 200, "batch": 64, "lr": 0.01, "seed": 3, "device": "cpu"}


def test_the_pieces_of_a_point_are_those_of_its_model():
    found = unequal.shuffled_signs(**SMALL)
    p = frequencies.power_law(30, 1.0)
    model = frequencies.train_unequal(p, 4, tied=True, steps=200, batch=64, lr=0.01, seed=3, device="cpu")
    assert (found["loss"], found["loss_se"]) == (model.loss, model.loss_se)
    W = model.W_out.astype(float) @ model.W_in
    tuned, se = frequencies.tuned_losses(W, p, samples=20_000, seed=9)
    assert found["tuned"] == pytest.approx(tuned.sum(), abs=4 * np.hypot(se, found["tuned_se"]))
    assert found["tuned"] < found["loss"] + 4 * found["loss_se"]


def test_signs_are_worth_something_and_only_those_between_features_are_drawn(monkeypatch):
    seen = []
    real = frequencies.tuned_losses
    monkeypatch.setattr(frequencies, "tuned_losses", lambda W, *a, **k: seen.append(W) or real(W, *a, **k))
    found = unequal.shuffled_signs(**SMALL)
    W, mixed = seen
    np.testing.assert_array_equal(np.diag(mixed), np.diag(W))
    np.testing.assert_array_equal(np.abs(mixed), np.abs(W))
    turned = np.mean((mixed * W < 0)[~np.eye(30, dtype=bool)])
    assert abs(turned - 0.5) < 4 * 0.5 / 870**0.5
    assert found["shuffled"] > found["tuned"] + 4 * np.hypot(found["shuffled_se"], found["tuned_se"])
