"""Starts of plain descent: what loudness does to them, and what it leaves alone."""

import numpy as np
from superposition.codes import plain_training as plain


def test_levels_are_the_plain_start_at_another_loudness_of_each_feature():
    here, loud = (plain._first(40, start, 2.0, 0.0, np.random.default_rng(1)) for start in ("plain", "levels"))
    loudness = np.linalg.norm(loud.W_in, axis=0) / np.linalg.norm(here.W_in, axis=0)
    np.testing.assert_allclose(loud.W_in, here.W_in * loudness)
    np.testing.assert_allclose(loud.W_out, here.W_out / loudness[:, None])
    low, high = np.log(loudness.min()) / np.log(plain.RANGE), np.log(loudness.max()) / np.log(plain.RANGE)
    assert -0.25 <= low < -0.2 and 0.2 < high <= 0.25  # as with 97 seeds of 100
    assert (here.W_in.T == here.W_out).all() and not here.b.any() and not loud.b.any()
