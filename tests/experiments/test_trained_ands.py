"""Groups of bits keep ANDs: readers are right where two bits are on, and training starts from them."""

import numpy as np
import pytest
from superposition import decoders
from superposition.experiments import trained_ands


@pytest.mark.parametrize(("m", "groups"), [(4, 1), (6, 2), (7, 2), (8, 4), (9, 3)])
def test_readers_of_groups_are_right_where_two_bits_are_on(m, groups):
    W_in, b, W_out, c = trained_ands.grouped(m, groups)
    pairs = m * (m - 1) // 2
    shapes = [one.shape for one in (W_in, b, W_out, c)]
    assert shapes == [(1, m, m - groups), (1, 1, m - groups), (1, m - groups, pairs), (1, 1, pairs)]
    x, _ = decoders.all_inputs(m, 0.5)
    x = x[x.sum(axis=1) <= 2]
    read = np.maximum((x @ W_in[0] + b[0]) @ W_out[0] + c[0], 0)
    own = m - groups == groups  # pairs that are a group have no reader
    silent = ~W_out[0].any(axis=0)
    assert silent.sum() == groups * own
    np.testing.assert_allclose(read[:, ~silent], decoders.ands_of_pairs(x)[:, ~silent], atol=1e-12)
    assert not read[:, silent].any()


@pytest.mark.parametrize(("m", "p", "epsilon"), [(3, 0.5, 0.2), (4, 0.1, 0.05), (6, 0.03, 0.4)])
def test_one_unit_fewer_than_bits_keeps_all_ands_up_to_a_known_loss(m, p, epsilon):
    W_in, b, W_out, c = trained_ands.faint(m, epsilon)
    shapes = [one.shape for one in (W_in, b, W_out, c)]
    assert shapes == [(1, m, m - 1), (1, 1, m - 1), (1, m - 1, m * (m - 1) // 2), (1, 1, m * (m - 1) // 2)]
    x, chance = decoders.all_inputs(m, p)
    error = np.maximum((x @ W_in[0] + b[0]) @ W_out[0] + c[0], 0) - decoders.ands_of_pairs(x)
    np.testing.assert_allclose(error[:, : m - 1], 0, atol=1e-12)  # the pairs of the faint bit
    np.testing.assert_allclose(np.mean(chance @ error**2) / p**2, 4 * epsilon**2 * (1 - p) * (m - 2) / m, rtol=1e-9)


@pytest.mark.parametrize("layer", ["linear", "relu"])
def test_training_starts_from_the_groups_and_keeps_the_best(layer):
    pytest.importorskip("torch")
    start = decoders.descend_on_ands(
        5, 4, 0.1, starts=1, steps=0, seed=0, layer="linear", reader="relu", weights=trained_ands.grouped(5, 1)
    )
    case = {"m": 5, "groups": 1, "p": 0.1, "layer": layer, "starts": 4, "steps": 40, "seed": 0}
    row = trained_ands.converged(**case, start="groups")
    assert row["loss"] <= row["first"] < 1.01 * start.loss[0] and row["rounds"] >= trained_ands.PATIENCE
    assert trained_ands.converged(**case, start="random")["first"] > row["first"]
