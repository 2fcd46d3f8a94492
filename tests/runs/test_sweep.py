"""Sweeps in which nothing is killed: what they compute, list, skip and refuse."""

import re
from collections import deque
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
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


@pytest.mark.parametrize("device", [{}, {"device": "xpu"}])
def test_a_sweep_keeps_as_many_points_in_flight_as_it_may(tmp_path, monkeypatch, device):
    asked, ours = [], (sweep.wait, executors.submit)

    def waits(flying, **how):
        asked.append((len(flying), how))
        return ours[0](flying, **how)

    def submits(*about, **how):
        asked.append(how)
        return ours[1](*about, device="cpu")

    monkeypatch.setattr(sweep, "wait", waits)
    monkeypatch.setattr(executors, "submit", submits)
    with ThreadPoolExecutor(1) as executor:
        options = {"in_flight": 2, "skip": runs.points(BROKEN, "full")[:1], **device}
        outcome = sweep.on_executor(BROKEN, "full", tmp_path, executor, **options)
    assert outcome.computed == 3 and asked[:2] == [{"device": "auto", **device}] * 2
    assert asked[2] == (2, {"timeout": 0.5, "return_when": FIRST_COMPLETED})
    assert max(one[0] for one in asked if isinstance(one, tuple)) == 2


def test_a_pool_that_broke_is_replaced_until_one_does_not(monkeypatch):
    parts = iter([sweep.Outcome(3, {"a": "gone"}, True), sweep.Outcome(2, {"b": "wrong"}, False)])
    asked = []

    @contextmanager
    def pool(*about):
        yield about

    monkeypatch.setattr(executors, "local_pool", pool)
    monkeypatch.setattr(sweep, "on_executor", lambda *about, **how: asked.append((about, how)) or next(parts))
    outcome = sweep.locally(FAST, "full", "folder", workers=3, progress=print)
    assert outcome == sweep.Outcome(5, {"a": "gone", "b": "wrong"}, False)
    about, how = (FAST, "full", "folder", (3, FAST.function)), {"in_flight": 3, "device": "auto", "progress": print}
    assert asked == [(about, how | {"skip": skip}) for skip in ({}, {"a": "gone"})]


def test_the_next_point_is_neither_finished_nor_held_by_others(tmp_path):
    folder, (held, done, damaged, free) = store.prepare(tmp_path), runs.points(FAST, "full")[:4]
    keys = {point: runs.key(FAST, point) for point in (held, done, damaged, free)}
    code, fields = fingerprint.of(FAST.function), done.model_dump()
    store.write(folder, keys[done], {**executors.compute(FAST.function, fields, "cpu", code), "commit": None})
    (folder / f"{keys[damaged]}.json").write_text("{")

    def taken(queue, columns=frozenset()):
        found = sweep._take(queue, FAST, folder, columns)
        return found and (found[1].close(), found[0])[1]

    with store.claim(folder, keys[held]):
        queue = deque((held, done, free))
        assert taken(queue) == free and list(queue) == [held]
        assert taken(queue) is None and list(queue) == [held]
        assert taken(deque((done, damaged))) == damaged
        assert taken(deque((done, free)), frozenset({("value", "number")})) == free
        assert taken(deque((done, free)), frozenset({("value", "text")})) == done  # it is not like most results
    with store.claim(folder, keys[done]) as ours:
        assert ours


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
