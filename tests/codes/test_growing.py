"""A network that grows: which weights are there, and when."""

import numpy as np
import pytest
from superposition import codes

STILL = {"group": 5, "lr": 1e-9, "seed": 3, "batch": 64}  # 20 features in 8 dimensions, two for each group


def test_features_join_in_groups_and_only_those_that_are_there_have_weights():
    code = codes.train_growing(20, 8, 0.1, grown=1.0, steps=2, **STILL)  # the second step has three groups of four
    there = np.abs(code.W_in) > 1e-6
    assert (there == np.kron(np.eye(4), np.ones((2, 5)))[:, :20] * (np.arange(20) < 15)).all()
    np.testing.assert_allclose(code.W_out, 2 * 8 / 20 * code.W_in.T, atol=1e-6)
    assert not code.W_in[6:].any() and not code.W_out[15:].any() and not code.b[15:].any()
    moved = codes.train_growing(20, 8, 0.1, grown=1.0, steps=2, **STILL | {"lr": 0.01})
    assert not moved.W_in[6:].any() and not moved.W_out[15:].any() and not moved.b[15:].any()
    assert (moved.W_in[:6, :10] != 0).all() and (moved.W_out[:15, :4] != 0).any(axis=0).all()  # all are free


def test_a_network_that_is_there_from_the_first_step_trains_as_on_the_task_alone():
    form = {"group": 5, "steps": 40, "batch": 128, "seed": 5}
    grown = codes.train_growing(20, 8, 0.1, grown=0.0, apart=False, **form)
    alone = codes.train_exclusive_first(20, 8, 0.1, lesson=0.0, **form)
    for one, other in zip(grown, alone, strict=True):
        np.testing.assert_array_equal(one, other)
    later = codes.train_growing(20, 8, 0.1, grown=0.5, apart=False, **form)
    assert np.abs(later.W_in - alone.W_in).max() > 0.1


def test_weights_are_bounded_and_follow_the_seed():
    form = {"group": 5, "steps": 30, "lr": 0.1, "largest": 0.3}
    code, same, other = (codes.train_growing(20, 4, 0.1, seed=seed, **form) for seed in (0, 0, 1))
    assert max(np.abs(code.W_in).max(), np.abs(code.W_out).max()) <= 0.3 + 1e-7
    assert (code.W_in == same.W_in).all() and (code.W_in != other.W_in).any()


def test_refusals():
    with pytest.raises(ValueError, match="group = 21 is out of range; allowed: whole numbers from 1 to 20"):
        codes.train_growing(20, 4, 0.1, group=21)
    with pytest.raises(ValueError, match="nd = 3 is out of range; allowed: whole numbers from 4 to 20"):
        codes.train_growing(20, 3, 0.1, group=5)
