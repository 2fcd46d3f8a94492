"""The verifier of records: dimensions, losses, and what it calls a record."""

import numpy as np
import pytest
from safetensors.numpy import save_file
from superposition import codes
from superposition.diagnosis import record_verifier


@pytest.fixture
def fan():
    return codes.priority_fan(10, 30)


def test_a_fan_is_near_the_best_and_its_own_dimensions_do_not_count_as_a_record(fan):
    record = record_verifier.check_record(fan.W, fan.b, 0.05)
    assert (record.ns, record.nd, record.se) == (10, 2, 0.0)
    assert 1 < record.loss / record.best < 1.03 and not record.is_record and "no record" in str(record)
    exact = record_verifier.check_record(np.eye(4), np.zeros(4), 0.05)
    assert not exact.is_record and "where nothing need be lost" in str(exact)


def test_factors_that_show_fewer_dimensions_than_the_rounded_product(fan):
    W = fan.W + 1e-7 * np.random.default_rng(0).standard_normal((10, 10))
    assert (
        record_verifier.check_record(W, fan.b, 0.05).nd > 2
        and record_verifier.check_record(W, fan.b, 0.05, nd=2).nd == 2
    )
    with pytest.raises(ValueError, match="nd = 0 is out of range"):
        record_verifier.check_record(W, fan.b, 0.05, nd=0)
    for unused in ({"samples": 1}, {"seed": -1}):  # the loss of so few features is exact
        with pytest.raises(ValueError, match="{} = {} is out of range".format(*next(iter(unused.items())))):
            record_verifier.check_record(W, fan.b, 0.05, **unused)
    with pytest.raises(ValueError, match="p = 1.5 is out of range"):
        record_verifier.check_record(W, fan.b, 1.5)


def test_many_features_are_simulated_as_often_as_asked_for():
    ns = record_verifier.EXACT + 1
    W, b = 0.9 * np.eye(ns), np.zeros(ns)
    same = codes.simulated_code_loss(W, b, 0.05, samples=100, seed=1)
    assert record_verifier.measured_record(W, b, 0.05, samples=100, seed=1) == (ns, ns, same.mean, same.se)


def test_a_better_number_is_a_record():
    better = record_verifier.Record(10, 2, 0.2, 0.05, 0.9, 0.0, 1.0, 2.0)
    unsure = record_verifier.Record(10, 2, 0.2, 0.05, 0.9, 0.03, 1.0, 2.0)
    assert better.is_record and not unsure.is_record and "a record" in str(better)


def test_rank_of_graded_matrices():
    rng = np.random.default_rng(0)
    for m in (1, 3, 7):
        grades = 10.0 ** rng.uniform(-6, 6, 20)
        W = rng.standard_normal((20, m)) @ rng.standard_normal((m, 20))
        assert record_verifier.rank_of(W * grades / grades[:, None]) == m
    noise = rng.standard_normal((20, 20)) * 1e-5  # what a rank cut short would hide
    assert record_verifier.rank_of(rng.standard_normal((20, 3)) @ rng.standard_normal((3, 20)) + noise) == 20


def test_p_of_zero_is_refused_with_what_is_allowed(fan):
    with pytest.raises(ValueError, match=r"p = 0 is out of range; allowed: \(0, 1\)"):
        record_verifier.check_record(fan.W, fan.b, 0)


def test_a_file_of_linear_layers_is_a_toy_model_and_a_sparse_autoencoder_is_refused(fan, tmp_path):
    save_file({"enc.weight": fan.W_in, "dec.weight": fan.W_out, "dec.bias": fan.b}, tmp_path / "toy")
    assert record_verifier.of_file(tmp_path / "toy", 0.05) == record_verifier.check_record(fan.W, fan.b, 0.05, nd=2)
    arrays = {"W_enc": np.ones((2, 5)), "W_dec": np.ones((5, 2)), "b_enc": np.ones(5), "b_dec": np.ones(2)}
    save_file(arrays, tmp_path / "sae")
    with pytest.raises(ValueError, match="a sparse autoencoder and no toy model; allowed: toy models"):
        record_verifier.of_file(tmp_path / "sae", 0.05)
