"""The code of a commit beside today's: which commits are tried, and what the processes of both are asked."""

import json
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace as Made

import numpy as np
import pytest
from defprint import fingerprint
from fast_runs import FAST
from repositories import git
from superposition.runs import certify, cover, provenance, replay, tables


def test_commits_are_tried_from_those_of_the_table_on_and_only_those_in_head(tmp_path, monkeypatch):
    def committed(name):
        (tmp_path / name).write_text(f"{name} {len(made)}")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "--quiet", "--message", name)
        made.append(git(tmp_path, "rev-parse", "HEAD"))

    made = []
    git(tmp_path, "init", "--quiet")
    for name in ("code", "fast.json", "more", "fast.json", "other.json", "code", "code"):
        committed(name)
    git(tmp_path, "checkout", "--quiet", "-b", "side")
    committed("aside")
    git(tmp_path, "checkout", "--quiet", "-")
    monkeypatch.setattr(tables, "folder", lambda: tmp_path)
    # the newest of any table, then the table's own with what each came after, then where its points were computed
    first, expected = [4, 3, 2, 1, 0], [4, 3, 2, 1, 0, 6, 5]
    computed = [made[5], None, "f" * 40, made[6], made[7], made[3], "--output=ran"]
    table = tables.Table({}, {"library_digest": "wanted", "commits": computed}, "")
    for found in (*first, 6, 5):
        asked = []

        def ask(commit, name, fields, found=found, asked=asked):
            asked.append((commit, name, fields))
            return {"digest": "wanted"} if commit == made[found] else {"error": "no such run"}

        assert certify._valid_at(FAST, table, ask) == made[found]
        tried = expected[: expected.index(found) + 1]
        assert asked == [(made[place], "fast", None) for place in tried]
    tried = ", ".join(made[place][:7] for place in expected)
    with pytest.raises(
        ValueError, match=f"has the fingerprint wanted of its table .tried: {tried}; only code that HEAD"
    ):
        certify._valid_at(FAST, table, lambda *about: {})
    with pytest.raises(ValueError, match=f"^commit = {'f' * 40} is not in this checkout: fatal: "):
        monkeypatch.setattr(certify, "LIBRARY", tmp_path)
        with certify._library_at("f" * 40):
            pass


def test_what_a_commit_has_of_library_and_tables_is_taken_out_as_data(tmp_path, monkeypatch):
    def said(folder, what, *about):
        return str(tmp_path) if what == "rev-parse" else "tree" * (about[-1] == "abc:lib")

    asked = []
    archive = Made(extractall=lambda folder, **how: asked.append(how))
    monkeypatch.setattr(provenance, "git", said)
    monkeypatch.setattr(certify, "LIBRARY", tmp_path / "lib")
    monkeypatch.setattr(tables, "folder", lambda: tmp_path / "data")
    made = Made(returncode=0, stdout=b"an archive")
    monkeypatch.setattr(certify.subprocess, "run", lambda command, **how: asked.append((command, how)) or made)
    monkeypatch.setattr(certify.tarfile, "open", lambda fileobj: asked.append(fileobj.read()) or nullcontext(archive))
    with certify._library_at("abc") as library:
        assert library.name == "lib" and library.parent.is_dir()
    command = ["git", "archive", "abc", "lib"]
    assert asked == [(command, {"cwd": tmp_path, "capture_output": True}), b"an archive", {"filter": "data"}]
    assert not library.parent.exists()


@pytest.mark.filterwarnings("error")
def test_predictions_of_a_value_are_those_of_a_reader_and_of_a_wrong_one_no_warning():
    run = replace(FAST, predicted=(lambda columns: {"log": np.log(columns["value"]) + columns["x"]},))
    assert certify._joined(run, {"x": 0.5, "seed": 0}, {"value": 1.0}) == {"log": 0.5}
    assert np.isnan(certify._joined(run, {"x": 0.5, "seed": 0}, {"value": -1.0})["log"])


def test_each_code_has_one_process_and_the_older_one_a_library_of_its_own(monkeypatch):
    said = []

    @contextmanager
    def library_at(commit):
        yield Path(f"/at/{commit}")
        said.append(f"{commit} is put away")

    @contextmanager
    def process(library):
        said.append(f"{library} is opened")
        yield lambda *about: (str(library), *about)
        said.append(f"{library} is closed")

    monkeypatch.setattr(certify, "LIBRARY", Path("/today"))
    monkeypatch.setattr(certify, "_library_at", library_at)
    monkeypatch.setattr(certify, "_process", process)
    with certify._codes() as ask:
        assert ask(None, "fast", {"x": 1}) == ("/today", "fast", {"x": 1}, 0)
        assert ask("abc", "fast", None) == ("/at/abc", "fast", None, 0)
        assert ask(None, "fast", {"x": 1}, 2) == ("/today", "fast", {"x": 1}, 2)
    assert said == ["/today is opened", "/at/abc is opened", "/at/abc is closed", "abc is put away", "/today is closed"]


def test_a_process_has_the_library_one_thread_and_an_end(monkeypatch):
    asked, ends = [], []

    class Process:
        def __init__(self, command, env, **pipes):
            asked.append((command, env, pipes))
            self.stdin = Made(write=asked.append, flush=lambda: asked.append("flush"))
            self.stdout = Made(readline=lambda: next(lines))

        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda self, *error: None  # noqa: E731
        kill = lambda self: ends.append("killed")  # noqa: E731
        wait = lambda self: 9  # noqa: E731

    monkeypatch.setattr(certify.subprocess, "Popen", Process)
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    lines = iter(['{"values": {"x": 1}}\n', '{"from": "/lib/a.py"}\n', '{"from": "/other/a.py"}\n', ""])
    with certify._process(Path("/lib")) as ask:
        assert ask("fast", {"x": 0.5}, 2) == {"values": {"x": 1}}
        assert ask("fast", None, 0) == {"from": "/lib/a.py"}
        with pytest.raises(RuntimeError, match="^/lib was not used, but /other/a.py"):
            ask("fast", None, 0)
        assert ask("fast", None, 0) == {"error": "its process ended with exit code 9"} and ends == []
    assert ends == ["killed"]
    (command, env, pipes), line, flush, *_ = asked
    assert command == [sys.executable, "-P", replay.__file__, "1"] and flush == "flush"
    assert pipes == {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    limits = {name: env[name] for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONPATH")}
    assert list(limits.values()) == ["1", "1", "1", "/lib"] and env["PATH"]
    assert json.loads(line) == {"run": "fast", "point": {"x": 0.5}, "side": 2} and line.endswith("\n")


def a_table(seconds, code):
    columns = {"x": np.array([0.0, 0.1, 0.2, 0.3]), "seed": np.zeros(4, int), "value": np.array([1.0, 2.0, 3.0, 4.0])}
    said = {"seconds": seconds, "library_digest": code, "run": "fast", "commits": []}
    return tables.Table(columns, said, "", tuple(columns))


@pytest.mark.parametrize(("valid", "cost"), [(True, 10.0), (False, 5.0)])
def test_a_point_is_begun_if_it_can_end_in_time(monkeypatch, valid, cost):
    """A table that is not valid may need the point from older code too."""
    code = fingerprint.of(FAST.function) if valid else "older"
    table = a_table([1.01 * cost, cost, 0.5, 99.0], code)
    work = certify._Work(FAST, table, cover.Choice("pairs", (0, 1, 2), (3,), ("x=9",)))
    told, asked = [], []

    def ask(commit, name, fields, side=0):
        asked.append((commit, name, fields))
        return {"values": {"value": 10 * fields["x"] + 1}}

    monkeypatch.setattr(certify.time, "monotonic", lambda: 90.0)
    monkeypatch.setattr(tables, "read", lambda run: Made(replayed=7))
    monkeypatch.setattr(tables, "sign", lambda said, dropped: told.append(said))
    report = certify._done(work, ask, 100.0, told.append)
    points = cover.points(FAST, table)
    assert list(report.replayed) == points[1:3] and report.left == points[:1] and report.ever == 7
    assert (report.valid, report.total, report.rule, report.unreached) == (valid, 4, "pairs", ("x=9",))
    assert told[:4] == [1, 2, 3, 4] and len(told) == 4 + valid
    assert asked == [(None, "fast", {"x": x, "seed": 0}) for x in (0.1, 0.2)]


@pytest.mark.parametrize(
    ("value", "seconds", "valid", "witness"),
    [
        (2.0, 1.0, False, False),
        (2.0 + 2e-6, 5.0, False, True),
        (2.0 + 2e-6, 5.01, False, False),
        (2.0 + 2e-6, 1.0, True, False),
        (2.1, 9.0, False, True),
        (2.1, 9.0, True, False),
    ],
)
def test_older_code_is_asked_where_bits_differ_and_it_is_quick_or_they_are_far(value, seconds, valid, witness):
    table, asked = a_table([1.0, seconds, 1.0, 1.0], "older"), []
    table.columns["gone"] = np.ones(4)
    work = certify._Work(FAST, tables.Table(table.columns, table.provenance, "", tuple(table.columns)), None)

    def ask(commit, name, fields, side=0):
        asked.append((commit, side))
        return {"values": {"value": value}} if not side else {"error": "it fell"}

    report, fields = certify.Report("fast", valid), {"x": 0.1, "seed": 0}
    found = certify._agreement(report, work, 1, FAST.point(**fields), ask, lambda: "abc")
    assert [commit for commit, side in asked if not side] == [None, *["abc"] * witness]
    assert report.commit == "abc" * witness and report.dropped == ("gone",)
    assert found.distances == ({"value": pytest.approx((value - 2) / 4)} if value != 2 else {})
    assert bool(found.differs) is (value == 2.1)


def test_an_error_of_either_code_is_a_difference():
    table = a_table([1.0] * 4, "older")
    work, point = certify._Work(FAST, table, None), FAST.point(x=0.1, seed=0)

    def agreement(ask):
        return certify._agreement(certify.Report("fast"), work, 1, point, ask, lambda: "abc").differs

    assert agreement(lambda *about: {"error": "it fell"}) == "today's code: it fell"
    assert agreement(lambda *about: {"values": {}}) == "no column of the table is computed any more"
    far = {"values": {"value": 2.5}}
    assert agreement(lambda commit, *about: {"error": "it fell"} if commit else far) == "old code: it fell"
    old = {"values": {"value": 2.25}}
    assert agreement(lambda commit, *about: old if commit else far) == "value: 2.25 is 2.5"


def test_a_signature_says_from_which_code_to_which_and_what_was_replayed(monkeypatch):
    table, signed = a_table([1.0] * 4, "older"), []
    points = cover.points(FAST, table)
    far = certify.Agreement({"value": 1e-6}, {"value": 2e-5}, "")
    report = certify.Report("fast", rule="pairs", commit="abc", replayed={points[1]: certify.Agreement({}, {}, "")})
    report.replayed |= {points[3]: far}
    report.unreached, report.dropped = ("x=9",), ("gone",)
    monkeypatch.setattr(tables, "sign", lambda *about: signed.append(about))
    monkeypatch.setattr(provenance, "commit", lambda files: f"{len(files)} files")
    monkeypatch.setattr(provenance, "machine", lambda: {"cpu": "c"})
    certify._sign(FAST, table, report)
    table.provenance["certified"] = ["first"]
    report.left = [points[0]]
    certify._sign(FAST, table, report)
    today = fingerprint.of(FAST.function)
    entry = {
        "from": {"commit": "abc", "library_digest": "older"},
        "to": {"commit": f"{len(fingerprint.sources(FAST.function))} files", "library_digest": today},
        "rule": "pairs",
        "rows": [1, 3],
        "as_stored": 1,
        "distances": {"value": 1e-6},
        "moved_bounds": {"value": 2e-5},
        "unreached": ("x=9",),
        "dropped": ("gone",),
        "cpu": "c",
        "threads": 1,
    }
    said = {**table.provenance, "function": FAST.function, "library_digest": today}
    assert signed[0] == (said | {"certified": [entry]}, ("gone",))
    assert signed[1] == (said | {"certified": ["first", entry | {"rule": "part"}]}, ("gone",))


def test_all_tables_share_the_minutes_and_one_count_of_points(monkeypatch):
    table, seen, told = a_table([1.0] * 4, "older"), [], []
    works = [certify._Work(FAST, table, cover.Choice("pairs", rows, (3,), ())) for rows in ((0, 1), (0,))]
    prepared = iter([works[0], certify.Report("bad", refused="no table"), works[1]])
    monkeypatch.setattr(
        certify, "_prepared", lambda run, blocks_only: seen.append((run, blocks_only)) or next(prepared)
    )
    monkeypatch.setattr(certify.time, "monotonic", lambda: 1000.0)

    def done(work, ask, deadline, tell):
        tell(1)
        return deadline

    monkeypatch.setattr(certify, "_done", done)
    found = list(certify.certify([1, 2, 3], minutes=0.5, blocks_only=True, progress=lambda *pair: told.append(pair)))
    assert found == [1030.0, certify.Report("bad", refused="no table"), 1030.0]
    assert told == [(1, 5), (4, 5)] and seen == [(1, True), (2, True), (3, True)]
    prepared = iter([works[0]])
    assert list(certify.certify([1])) == [1000.0 + 3600] and seen[3:] == [(1, False)]


@pytest.mark.parametrize("error", [ValueError("it is damaged"), OSError("it is damaged")])
def test_a_table_that_cannot_be_read_is_reported_and_no_time_is_refused(monkeypatch, error):
    def damaged(run):
        raise error

    monkeypatch.setattr(tables, "read", damaged)
    assert list(certify.certify([FAST])) == [certify.Report("fast", refused="it is damaged")]
    with pytest.raises(ValueError, match="minutes = 0 is out of range"):
        list(certify.certify([FAST], minutes=0))
    work = certify._Work(FAST, a_table([1.0] * 4, "older"), cover.Choice("pairs", (0,), (), ()))
    found = certify._done(work, lambda *about: damaged(FAST), np.inf, print)
    assert found == certify.Report("fast", refused="it is damaged")


@pytest.mark.parametrize(
    ("note", "rows", "needed"), [("", [0], (1,)), ("", [0, 1], (0, 1)), ("", [], (0, 1)), ("older", [0], (0, 1))]
)
def test_points_of_a_replay_that_ran_out_of_time_are_not_needed_again(monkeypatch, note, rows, needed):
    table = replace(a_table([1.0] * 4, "code"), note=note)
    table.provenance["certified"] = [{"to": {"library_digest": "code"}, "rule": "part", "rows": rows}]
    monkeypatch.setattr(tables, "read", lambda run: table)
    chosen = cover.Choice("pairs", (0, 1), (2,), ("x=9",))
    monkeypatch.setattr(cover, "choose", lambda *about, blocks_only: replace(chosen, rule=f"blocks {blocks_only}"))
    for blocks_only in (False, True):
        found = certify._prepared(FAST, blocks_only)
        assert found == certify._Work(FAST, table, replace(chosen, rule=f"blocks {blocks_only}", needed=needed))


def test_a_report_begins_with_nothing():
    said = "fast: replayed 0 now, 0 ever of 0 points; 0 have the bits of the table; NOT signed"
    assert str(certify.Report("fast")) == said


def test_today_is_the_library_that_runs_and_a_quotient_may_round_by_so_much():
    assert (certify.LIBRARY / "superposition" / "runs" / "certify.py").samefile(certify.__file__)
    assert [certify._as_near(1.0, 1 + apart) for apart in (0.996e-13, 1.004e-13)] == [True, False]
