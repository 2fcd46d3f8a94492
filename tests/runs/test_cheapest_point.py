"""The cheapest point of a loaded table is computed again, if it takes at most a second, and must be what is stored."""

import functools
import json
from dataclasses import replace

import fast_runs
import numpy as np
import pytest
from defprint import fingerprint
from fast_runs import FAST
from superposition import runs
from superposition.runs import agreement, table_files, tables

COLUMNS = {"x": np.array([0.5, 2.0]), "seed": np.array([0, 1]), "value": np.array([np.sin(0.5), 3.0])}
CODE = fingerprint.of(FAST.function)


def provenance(seconds, code=CODE):
    return {"seconds": seconds, "library_digest": code}


@pytest.fixture(autouse=True)
def forgotten():
    tables._computed.cache_clear()


def check(run, columns, said):
    tables._replay_cheapest(run, tables.Table(columns, said, ""))


def test_cheapest_point_is_the_one_that_is_computed():
    check(FAST, COLUMNS, provenance([0.02, 0.5]))  # the second is stored wrong, and not looked at
    said = "run = fast: its code gives other values than its table holds, at x=2.0, seed=1: value: 3.0 is stored, 1.0"
    with pytest.raises(ValueError, match=said):
        check(FAST, COLUMNS, provenance([0.5, 0.02]))


@pytest.mark.parametrize("code", [CODE, "older"])
def test_only_cheap_points_are_computed(code):
    wrong = {**COLUMNS, "value": COLUMNS["value"] * 1.05}
    check(FAST, wrong, provenance([1.01, 2.1], code))
    with pytest.raises(ValueError, match="value: 0.503"):
        check(FAST, wrong, provenance([1.0, 1.9], code))


def test_a_point_is_computed_once_for_one_code(monkeypatch):
    called, wave = [], fast_runs.wave

    @functools.wraps(wave)  # a run is given the parameters that its function has
    def counted(**options):
        called.append(options)
        return wave(**options)

    monkeypatch.setattr(fast_runs, "wave", counted)
    for _ in range(3):
        check(FAST, COLUMNS, provenance([0.02, 0.5]))
    assert len(called) == 1


def without(name):
    def fails(**options):
        raise ModuleNotFoundError(f"No module named {name}", name=name)

    return fails


def test_without_torch_a_table_can_be_read_but_not_without_a_part_of_this_library(monkeypatch):
    monkeypatch.setattr(fast_runs, "wave", without("torch"))
    check(FAST, COLUMNS, provenance([0.02, 0.5]))
    monkeypatch.setattr(fast_runs, "wave", without("superposition.none"))
    with pytest.raises(ModuleNotFoundError):
        check(FAST, COLUMNS, provenance([0.02, 0.5]))


def chaotic(*, x, seed, device):
    """Magnify the last digit of what is drawn."""
    drawn = np.random.default_rng(seed).standard_normal()
    return {"value": float(1e6 * (drawn - round(drawn, 4)))}


def test_chaos_is_given_what_moving_its_start_does(monkeypatch):
    monkeypatch.setattr(fast_runs, "wave", chaotic)
    value = chaotic(x=0.5, seed=0, device="cpu")["value"]
    check(FAST, {**COLUMNS, "value": np.array([value, 1.0])}, provenance([0.02, 0.5]))
    assert tables._computed.cache_info().currsize == 1, "its start is moved where nothing differs"
    for factor, agrees in ((1 + 1e-4, True), (1.5, False)):
        tables._computed.cache_clear()
        columns = {**COLUMNS, "value": np.array([value * factor, 1.0])}
        if agrees:
            assert agreement.of(columns, 0, {"value": value}, lambda side: {"value": value}).differs
            check(FAST, columns, provenance([0.02, 0.5]))
        else:
            with pytest.raises(ValueError, match="other values than its table holds"):
                check(FAST, columns, provenance([0.02, 0.5]))


def test_whoever_loads_a_table_looks_at_it_if_not_told_otherwise(tmp_path):
    text = f"x,seed,value\n0.5,0,{np.sin(0.5) * 1.05}\n"
    (tmp_path / "fast.csv").write_text(text)
    made = {"commits": [None], "versions": [{}], "devices": {"cpu": 1}, "seconds_total": 0.02, "grid": {}}
    said = {
        **provenance([0.02]),
        **made,
        "run": "fast",
        "function": FAST.function,
        "table_sha256": table_files.sha256(text),
    }
    tables.write_provenance(tmp_path / "fast.json", said)
    run = replace(FAST, full=({"x": (0.5,), "seed": (0,)},))
    assert tables.load("fast", run=run, where=tmp_path, replay=False).note == ""
    with pytest.raises(ValueError, match="its code gives other values than its table holds"):
        tables.load("fast", run=run, where=tmp_path)


def signing(code, rows, rule="pairs"):
    return {"to": {"library_digest": code}, "rows": rows, "rule": rule}


def of_points(*points):
    """A signing from before rows were written down."""
    return {"to": {"library_digest": "now"}, "points": points, "rule": "cover"}


@pytest.mark.parametrize(
    ("signings", "line"),
    [
        ([], "replayed 0 of 9."),
        ([signing("old", [1])], "replayed 0 of 9."),
        ([signing("now", [1, 2]), signing("now", [2, 3])], "replayed 3 of 9."),
        ([of_points({"a": 1}, {"a": 2}), signing("now", [2, 3])], "replayed 3 of 9."),
        ([signing("now", [1], "blocks")], "replayed 1 of 9, one a block."),
        ([signing("now", [1], "part")], "replayed 1 of 9, not all that it needs."),
        ([signing("now", [1]), signing("now", [2], "part")], "replayed 2 of 9."),
        ([signing("now", list(range(9)), "whole")], "replayed 9 of 9."),
        ([signing("now", [1], "cheapest")], "1 of 9, once a release, as each costs more than a minute."),
    ],
)
def test_line_says_how_many_points_were_replayed_for_this_code(signings, line):
    said = {"run": "x", "seconds": [1] * 9, "seconds_total": 9, "devices": ["cpu"], "versions": [{}]}
    columns = {"a": np.arange(9), "b": np.zeros(9)}
    table = tables.Table(columns, {**said, "library_digest": "now", "certified": json.loads(json.dumps(signings))}, "")
    assert table.line.endswith(line)


def test_runs_that_share_work_are_stored_runs():
    assert all(tables.is_stored(name) and runs.find(name) for name in tables.SHARED)
    assert not tables.is_stored("rug-sizes-longest") and runs.find("rug-sizes-longest")
