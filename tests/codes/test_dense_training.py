"""Leading training to loud and quiet codes: every method trains, blocks stay blocks, fans start as fans."""

import numpy as np
import pytest
import torch
from sampled import sampled
from superposition import codes
from superposition.codes import dense_training


@pytest.mark.parametrize("method", sampled(dense_training.METHODS, kept=4))
def test_every_method_gets_below_silence(method):
    found = codes.train_dense(24, 6, 0.1, method, steps=300, batch=64, fresh=4000, ratio=2.0)
    silence = 0.1 / 3
    assert found["loss"] < 0.9 * silence and found["loss_se"] < 0.1 * found["loss"]


def test_unknown_method():
    with pytest.raises(ValueError, match="method = 'prayer' is unknown; allowed: plain, loudness"):
        codes.train_dense(24, 6, 0.1, "prayer")


def test_a_start_from_fans_is_made_of_fans():
    """With no step worth the name the loss is that of the fans, and of what they leave over."""
    found = codes.train_dense(24, 6, 0.1, "fans", steps=1, lr=1e-12, ratio=4.0, fresh=400_000)
    fan = codes.priority_fan(10, 4.0)
    expected = (20 * codes.code_loss(fan.W, fan.b, 0.1) + 4 * 0.1 / 3) / 24
    assert abs(found["loss"] - expected) < 4 * found["loss_se"] + 0.02 * expected


def test_a_start_from_cones_is_made_of_cones():
    found = codes.train_dense(35, 7, 0.1, "cones", steps=1, lr=1e-12, ratio=2.0, fresh=200_000)
    cone = codes.cone(15, 2.0)
    exact = codes.simulated_code_loss(cone.W, cone.b, 0.1, samples=200_000, seed=3)
    expected = (30 * exact.mean + 5 * 0.1 / 3) / 35
    assert abs(found["loss"] - expected) < 4 * (found["loss_se"] + exact.se) + 0.02 * expected


@pytest.mark.thorough
def test_random_tiles_and_blocks():
    generator = torch.Generator().manual_seed(0)
    tiles = codes.random_tiles(2, 6, 0.1, 3, steps=5, generator=generator)
    assert [tile.W.shape for tile in tiles] == [(6, 6)] * 3 and not np.array_equal(tiles[0].W, tiles[1].W)
    found = codes.train_blocks(13, 4, 0.05, blocks=2, copies=4, steps=600, fresh=50_000)
    one, other = (codes.train_blocks(B, 2, 0.05, blocks=1, copies=1, steps=2, fresh=500) for B in (6, 7))
    assert found["loss"] < 0.5 * min(one["loss"], other["loss"])


def test_nothing_is_pruned_at_first():
    """All dimensions stay for the first tenth of the time, and two prunings are 25 steps apart."""
    pruned, loudness = (
        codes.train_dense(40, 20, 0.1, how, steps=20, batch=64, fresh=500) for how in ("pruned", "loudness")
    )
    assert pruned == loudness


def test_batches_have_256_vectors_unless_told_otherwise():
    few = {"steps": 3, "fresh": 500}
    assert codes.train_dense(8, 2, 0.1, "plain", **few) == codes.train_dense(8, 2, 0.1, "plain", batch=256, **few)


@pytest.mark.parametrize(("method", "steps", "turn"), [("plain", 30, 30), ("growing", 30, 6), ("growing", 3, 1)])
def test_the_rate_falls_along_a_cosine_that_starts_again_with_each_group(method, steps, turn):
    assert dense_training.GROUPS == 5
    optimiser, rates = torch.optim.Adam([torch.zeros(1, requires_grad=True)], lr=0.1), []
    schedule = dense_training._schedule(optimiser, method, steps)
    for _ in range(steps):
        rates.append(optimiser.param_groups[0]["lr"])
        optimiser.step()
        schedule.step()
    np.testing.assert_allclose(rates, 0.05 * (1 + np.cos(np.pi * (np.arange(steps) % turn) / turn)))
