"""Sweeps in which nothing is killed: what they compute, list, skip and refuse."""

import re
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from defprint import fingerprint
from fast_runs import BROKEN, FAST, collected, make, swept
from superposition import runs
from superposition.runs import executors, store, sweep, tables


def test_sweep_reports_progress_and_a_second_one_has_nothing_to_do(tmp_path, undisturbed):
    seen = []
    assert swept(FAST, tmp_path / "fast", progress=lambda *pair: seen.append(pair)).computed == 100
    assert seen == [(done, 100) for done in range(101)]
    assert swept(FAST, tmp_path / "fast", progress=lambda *pair: seen.append(pair)) == sweep.Outcome(0, {}, False)
    assert seen[-1] == (0, 0)
    assert collected(tmp_path / "fast", tmp_path) == undisturbed


def test_local_processes_give_the_same_table(tmp_path, undisturbed):
    assert sweep.locally(FAST, "full", tmp_path / "fast", workers=2).computed == 100
    assert collected(tmp_path / "fast", tmp_path) == undisturbed


def test_damaged_files_are_reported_and_redone(tmp_path, undisturbed):
    swept(FAST, tmp_path / "fast")
    first, second, third, *_ = [runs.key(FAST, point) for point in runs.points(FAST, "full")]
    (tmp_path / "fast" / f"{first}.json").write_text("{")
    whole = (tmp_path / "fast" / f"{second}.json").read_text()
    (tmp_path / "fast" / f"{second}.json").write_text(whole.replace('"seed": 1', '"seed": 2'))
    (tmp_path / "fast" / f"{third}.json").unlink()
    found = runs.status(FAST, "full", tmp_path / "fast")
    assert [len(found.done), len(found.missing), len(found.damaged)] == [97, 1, 2]
    assert "truncated" in list(found.damaged.values())[0] and "checksum" in list(found.damaged.values())[1]
    with pytest.raises(ValueError, match="fast is not finished: 1 of 100 points are missing, 2 damaged"):
        collected(tmp_path / "fast", tmp_path)
    assert swept(FAST, tmp_path / "fast").computed == 3
    assert collected(tmp_path / "fast", tmp_path) == undisturbed


def test_results_of_other_library_code_do_not_count(tmp_path, monkeypatch):
    swept(FAST, tmp_path / "fast")
    monkeypatch.setattr(fingerprint, "of", lambda function: "another")
    found = runs.status(FAST, "full", tmp_path / "fast")
    assert [len(found.done), len(found.missing), found.others] == [0, 100, 100]


def test_failed_points_are_listed_and_the_others_finished(tmp_path):
    seen = []
    outcome = swept(BROKEN, tmp_path, progress=lambda *pair: seen.append(pair))
    assert outcome.computed == 4 and not outcome.broken
    assert seen[-1] == (4, 6) and {total for _, total in seen} == {6}
    assert {str(point): reason for point, reason in outcome.failed.items()} == {
        "x=2.0, seed=0": "ArithmeticError: no value at two",
        "x=2.0, seed=1": "ArithmeticError: no value at two",
    }
    assert len(runs.status(BROKEN, "full", tmp_path).missing) == 2


def test_a_sweep_rests_while_others_hold_what_is_left(tmp_path, monkeypatch):
    held, rests = ExitStack(), []

    def rest(seconds):
        rests.append(seconds)
        held.close()

    monkeypatch.setattr(sweep, "time", SimpleNamespace(sleep=rest))
    key = runs.key(FAST, runs.points(FAST, "full")[7])
    assert held.enter_context(store.claim(store.prepare(tmp_path), key))
    assert swept(FAST, tmp_path) == sweep.Outcome(100, {}, False)
    assert rests == [sweep.PAUSE]


def test_killed_worker_costs_the_points_of_its_moment_only(tmp_path):
    deadly = make("deadly", "deadly_at_two")
    outcome = sweep.locally(deadly, "full", tmp_path, workers=1)
    assert outcome.computed == 4 and not outcome.broken
    assert {point.x for point in outcome.failed} == {2.0} and len(outcome.failed) == 2
    assert all("BrokenProcessPool" in reason for reason in outcome.failed.values())


def test_value_that_is_not_finite_is_a_failure(tmp_path):
    outcome = swept(make("infinite", "infinite"), tmp_path)
    said = "TypeError: value = inf cannot be stored; allowed: finite numbers and texts"
    assert set(outcome.failed.values()) == {said}


def test_worker_with_other_library_code_is_refused():
    with pytest.raises(RuntimeError, match="other library code: .*, the sweep has 0123"):
        executors.compute("fast_runs:wave", {"x": 1.0, "seed": 0}, "cpu", "0123")


@pytest.mark.parametrize(("workers", "share"), [(2, 3), (1, 6)])
def test_threads_of_the_maths_library_are_divided(tmp_path, monkeypatch, workers, share):
    monkeypatch.setattr(executors, "cores", lambda: 6)
    run = make("threads", "threads")
    sweep.locally(run, "full", tmp_path, workers=workers)
    tables.collect(run, "full", tmp_path, tmp_path)
    assert set(tables.load("threads", run=run, where=tmp_path, replay=False).columns["threads"]) == {share}


@pytest.mark.parametrize("workers", [0, -1, 10_000, 1.5])
def test_senseless_number_of_workers_is_refused(tmp_path, workers):
    with pytest.raises(ValueError, match=re.escape(f"workers = {workers!r} is out of range; allowed: whole numbers")):
        sweep.locally(FAST, "full", tmp_path, workers=workers)
