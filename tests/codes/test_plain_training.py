"""Starts of plain descent: what loudness does to them, and what it leaves alone."""

import numpy as np
import pytest
from superposition.codes import plain_training as plain


def test_levels_are_the_plain_start_at_another_loudness_of_each_feature():
    here, loud = (plain._first(40, start, 2.0, 0.0, np.random.default_rng(1)) for start in ("plain", "levels"))
    loudness = np.linalg.norm(loud.W_in, axis=0) / np.linalg.norm(here.W_in, axis=0)
    np.testing.assert_allclose(loud.W_in, here.W_in * loudness)
    np.testing.assert_allclose(loud.W_out, here.W_out / loudness[:, None])
    low, high = np.log(loudness.min()) / np.log(plain.RANGE), np.log(loudness.max()) / np.log(plain.RANGE)
    assert -0.25 <= low < -0.2 and 0.2 < high <= 0.25  # as with 97 seeds of 100
    assert (here.W_in.T == here.W_out).all() and not here.b.any() and not loud.b.any()


def test_the_rate_rises_in_a_hundred_steps_and_falls_to_nothing(monkeypatch):
    torch, rates = pytest.importorskip("torch"), []
    monkeypatch.setattr(torch.optim.Adam, "step", lambda self: rates.append(self.param_groups[0]["lr"]))
    plain.train_plain(10, 0.1, "fans", steps=250, lr=0.02, fresh=100)
    step = np.arange(250)
    np.testing.assert_allclose(rates, 0.02 * np.minimum((step + 1) / 100, 1) * (1 - step / 250))
