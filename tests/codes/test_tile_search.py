"""The search for tiles: weights of the strata, the measured loss against the exact one, and a search that finds."""

import numpy as np
import pytest
import torch
from superposition import codes
from superposition.codes import tile_search


def test_strata_keep_the_law():
    x, share = tile_search.draw(6, 0.01, 200_000, torch.Generator().manual_seed(0))
    pair = float(share @ ((x[:, 0] > 0) & (x[:, 1] > 0)).float())
    assert abs(pair / 1e-4 - 1) < 0.03  # 1e-4 of all vectors, 4 % of those drawn: se 1 %
    assert abs(float(share.sum()) / (1 - 0.99**6) - 1) < 0.01


def test_measured_loss_against_the_exact_one():
    code = codes.priority_fan(7, 20)
    loss, se = codes.measured_code_loss(*code, 0.01, samples=200_000, seed=1)
    exact = codes.code_loss(code.W, code.b, 0.01, rtol=1e-6)
    assert abs(loss - exact) < 4 * se and se < 0.02 * exact


@pytest.mark.thorough
def test_a_search_finds_the_digons():
    found = codes.search_tile(2, 4, 0.05, starts=16, kept=2, screening=300, steps=600, fresh=100_000, seed=3)
    digons, both = float(codes.best_digon(0.05)[1]), float(np.max(found["refined"]))
    assert found["loss"] < 1.05 * digons and both < 0.05 / 3
    W = np.array(found["W_out"]) @ np.array(found["W_in"])
    again = codes.code_loss(W, found["b"], 0.05, rtol=1e-6)
    assert abs(found["loss"] - again) < 4 * found["loss_se"]


def test_a_quarter_of_the_starts_are_fans_and_cones_and_a_quarter_of_unequal_loudness():
    W_in, W_out, b, loud = tile_search.first_weights(3, 9, 20, torch.Generator().manual_seed(0))
    apart = (W_out - W_in.transpose(1, 2)).abs().amax(dim=(1, 2)) > 0.1  # the others begin tied, up to a thousandth
    assert apart.tolist() == [True] * 5 + [False] * 15
    assert (loud != 0).any(dim=1).tolist() == [True] * 10 + [False] * 10 and not b.any()
