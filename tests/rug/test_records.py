"""The verifier of records: what it loads, what it refuses, and what it calls a record."""

import numpy as np
import pytest
from safetensors.numpy import save_file
from superposition.rug import codes, records


@pytest.fixture
def fan():
    return codes.priority_fan(10, 30)


def test_both_forms_of_a_file(tmp_path, fan):
    save_file({"W_in": fan.W_in, "W_out": fan.W_out, "b": fan.b}, tmp_path / "two.safetensors")
    save_file({"W": fan.W, "b": fan.b}, tmp_path / "one.safetensors")
    for name in ("one", "two"):
        W, b = records.load_weights(tmp_path / f"{name}.safetensors")
        np.testing.assert_array_equal(W, fan.W)
        np.testing.assert_array_equal(b, fan.b)


def test_refused_files(tmp_path, fan):
    (tmp_path / "text").write_text("no")
    save_file({"W": fan.W}, tmp_path / "no-bias")
    save_file({"W": fan.W, "b": fan.b[:3].copy()}, tmp_path / "short")
    save_file({"W": np.full((2, 2), np.nan), "b": np.zeros(2)}, tmp_path / "nan")
    for name, word in (("text", "cannot be read"), ("no-bias", "holds W"), ("short", "do not fit"), ("nan", "W = nan")):
        with pytest.raises(ValueError, match=word):
            records.load_weights(tmp_path / name)


def test_a_fan_is_near_the_best_and_its_own_dimensions_do_not_count_as_a_record(fan):
    record = records.check(fan.W, fan.b, 0.05)
    assert (record.ns, record.nd, record.se) == (10, 2, 0.0)
    assert 1 < record.loss / record.best < 1.03 and not record.is_record and "no record" in str(record)
    assert not records.check(np.eye(4), np.zeros(4), 0.05).is_record


def test_a_better_number_is_a_record():
    better = records.Record(10, 2, 0.2, 0.05, 0.9, 0.0, 1.0, 2.0)
    unsure = records.Record(10, 2, 0.2, 0.05, 0.9, 0.03, 1.0, 2.0)
    assert better.is_record and not unsure.is_record and "a record" in str(better)


def test_rank_of_graded_matrices():
    rng = np.random.default_rng(0)
    for m in (1, 3, 7):
        grades = 10.0 ** rng.uniform(-6, 6, 20)
        W = rng.standard_normal((20, m)) @ rng.standard_normal((m, 20))
        assert records.rank_of(W * grades / grades[:, None]) == m
    noise = rng.standard_normal((20, 20)) * 1e-5  # what a rank cut short would hide
    assert records.rank_of(rng.standard_normal((20, 3)) @ rng.standard_normal((3, 20)) + noise) == 20
