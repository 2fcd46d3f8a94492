"""Named runs: the registry, the digest of the code, results on disk, sweeps that are disturbed, tables."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fast_runs
import numpy as np
import pytest
from fast_runs import BROKEN, FAST, make
from pydantic import ValidationError
from superposition import digest, results, runs, sweeps, tables
from superposition.catalogue import rug

HERE = Path(__file__).resolve().parent
COMMAND = [sys.executable, str(HERE / "fast_runs.py"), "runs"]


def sweep(run, folder, **options):
    """Run a sweep in four threads."""
    with ThreadPoolExecutor(4) as executor:
        return sweeps.sweep(run, "full", folder, executor, in_flight=8, **options)


def start(folder):
    """Start the command line in a process of its own; the folder is called after the run."""
    command = [*COMMAND, "start", folder.name, "--grid", "full", "--results", str(folder.parent)]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    return subprocess.Popen(command, preexec_fn=_listen_to_interrupts, **options)


def _listen_to_interrupts():
    """Undo what a shell does to the programs that it starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def collected(folder, target):
    """Return the bytes of the collected table."""
    target.mkdir(exist_ok=True)
    return tables.collect(FAST, "full", folder, target).read_bytes()


def count(folder):
    """Return how many valid results there are."""
    return len(runs.status(FAST, "full", folder).done)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The table of a sweep in which nothing happens."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert sweep(FAST, folder / "results") == sweeps.Outcome(100, {}, False)
    return collected(folder / "results", folder)


# The registry


@pytest.mark.parametrize("run", runs.RUNS.values(), ids=lambda run: run.name)
@pytest.mark.parametrize("grid", runs.GRIDS)
def test_registered_run_is_whole(run, grid):
    assert runs.RUNS[run.name] is run
    assert runs.points(run, grid)
    assert run.feeds and run.hardware and run.hours[grid] > 0
    assert digest.modules(run.function)[0].startswith("superposition.")


def test_first_run_has_the_cells_it_was_asked_for():
    seen = {}
    for point in runs.points(runs.find("rug-grid"), "full"):
        seen.setdefault(point.ns, {}).setdefault((point.p, point.r), set()).add(point.seed)
    for ns in (128, 256):
        assert len(seen[ns]) == 64
        assert sorted(map(len, seen[ns].values())) == [2] * 60 + [5] * 4
    assert len(seen[512]) == 25
    assert {0.2, 0.5} <= {r for _, r in seen[128]}
    assert (min(seen[128])[0], max(seen[128])[0]) == (0.01, 0.5)


def test_unknown_run_names_the_nearest():
    with pytest.raises(ValueError, match="run = 'rug-gird' is unknown; nearest: rug-grid;"):
        runs.find("rug-gird")


def test_empty_grid_is_refused(tmp_path):
    for call in (runs.points, lambda *a: runs.status(*a, tmp_path), lambda *a: tables.collect(*a, tmp_path, tmp_path)):
        with pytest.raises(ValueError, match="grid = 'small' of run fast is empty"):
            call(FAST, "small")
    with pytest.raises(ValueError, match="grid = 'medium' is unknown; allowed: small, full"):
        runs.points(FAST, "medium")


@pytest.mark.parametrize(
    "change", [{"p": 1.5}, {"p": 0}, {"ns": 2}, {"ns": 100.5}, {"r": 1.0}, {"nss": 3}, {"seed": -1}, {"seed": True}]
)
def test_points_are_closed_and_within_their_ranges(change):
    good = {"ns": 64, "p": 0.1, "r": 0.5, "steps": 10, "full_rate_from": 0.05, "seed": 0}
    rug.TrainedPoint(**good)
    with pytest.raises(ValidationError, match=next(iter(change))):
        rug.TrainedPoint(**{**good, **change})


def test_points_are_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        runs.points(FAST, "full")[0].x = 3.0


def test_every_point_has_a_key_of_its_own():
    assert len({runs.key(run, point) for run in (FAST, BROKEN) for point in runs.points(run, "full")}) == 106


# The digest

PACKAGE = {
    "__init__": "",
    "top": '''"""Doc."""
from toy import low
from toy.mid import helper as h
import math
FACTOR = 2

def start(x):
    """Doc."""
    return FACTOR * h(x) + low.base(x) + math.pi

def unrelated():
    return 1
''',
    "mid": '''
def helper(x):
    return other(x)

def other(x):
    return x + 1  # one more
''',
    "low": '''
TABLE = {}
TABLE["a"] = 1
BASE: int = 5

def base(x):
    return Thing(x).value()

class Thing:
    def __init__(self, x):
        self.x = x

    def value(self):
        return self.x + BASE

def unused():
    return 0
''',
}


def toy_digest(folder, **changes):
    """Return the digest of ``toy.top:start`` in a fresh process, after changes in the package's text."""
    package = folder / "toy"
    package.mkdir(exist_ok=True)
    for name, text in PACKAGE.items():
        if name in changes:
            old, new = changes[name]
            assert old in text
            text = text.replace(old, new)
        (package / f"{name}.py").write_text(text)
    for function in (digest.of, digest._imports, digest._definitions, digest._parsed, digest._source):
        getattr(function, "cache_clear", lambda: None)()
    return digest.of("toy.top:start")


@pytest.fixture
def toy(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "change",
    [
        {"top": ('"""Doc."""\nfrom', '"""Another text."""\nfrom')},
        {"top": ('    """Doc."""\n', "")},
        {"mid": ("  # one more", "  # another comment\n")},
        {"mid": ("x + 1", "(x  +  1)")},
        {"top": ("return 1", "return 2")},
        {"low": ("return 0", "return 3")},
        {"low": ("TABLE = {}", "import os\nTABLE = {}")},
    ],
)
def test_digest_ignores_text_and_what_is_not_reached(toy, change):
    assert toy_digest(toy, **change) == toy_digest(toy)


@pytest.mark.parametrize(
    "change",
    [
        {"top": ("FACTOR = 2", "FACTOR = 3")},
        {"top": ("import math", "import cmath as math")},
        {"top": ("def start(x):", "def start(x, y=1):")},
        {"mid": ("x + 1", "x + 2")},
        {"low": ("self.x + BASE", "self.x - BASE")},
        {"low": ("BASE: int = 5", "BASE: int = 6")},
        {"low": ('TABLE["a"] = 1', 'TABLE["a"] = 2')},
    ],
)
def test_digest_sees_every_change_that_is_reached(toy, change):
    assert toy_digest(toy, **change) != toy_digest(toy)


@pytest.mark.parametrize("line", ["import toy.low as low", "from . import low"])
def test_digest_refuses_imports_it_cannot_follow(toy, line):
    with pytest.raises(ValueError, match="toy.top line 2: the digest can follow"):
        toy_digest(toy, top=("from toy import low", line))


def test_digest_of_the_first_run_covers_training_and_theory():
    found = digest.modules("superposition.experiments:trained_autoencoder")
    assert {f"superposition.{name}" for name in ("autoencoder", "features", "meanfield", "checks")} < set(found)
    assert not {"superposition.runs", "superposition.sweeps", "superposition.results"} & set(found)


def test_digest_of_nothing_is_refused():
    with pytest.raises(ValueError, match="'superposition.features:men' does not exist"):
        digest.of("superposition.features:men")
    with pytest.raises(ValueError, match="'superposition.feature' does not exist"):
        digest.of("superposition.feature:mean")


# One file per point


def test_result_comes_back_as_written(tmp_path):
    folder = results.prepare(tmp_path / "new")
    assert results.read(folder, "k") is None
    record = {"values": {"a": 0.1, "b": 3, "c": "text"}, "seconds": 1.5}
    results.write(folder, "k", record)
    assert results.read(folder, "k") == record
    assert sorted(path.name for path in folder.iterdir()) == ["format.json", "k.json"]
    (folder / "plain").touch()
    assert (folder / "k.json").stat().st_mode == (folder / "plain").stat().st_mode, "others cannot read it"


def test_every_truncation_and_every_changed_digit_is_detected(tmp_path):
    folder = results.prepare(tmp_path)
    results.write(folder, "k", {"values": {"a": 0.12345, "b": 3}})
    path = folder / "k.json"
    whole = path.read_bytes()
    for length in range(len(whole) - 1):  # the last byte closes the object
        path.write_bytes(whole[:length])
        with pytest.raises(results.ResultError, match="k.json is damaged"):
            results.read(folder, "k")
    for place in [match.start() for match in re.finditer(rb"\d", whole)]:
        path.write_bytes(whole[:place] + str((int(whole[place : place + 1]) + 1) % 10).encode() + whole[place + 1 :])
        with pytest.raises(results.ResultError, match="k.json is damaged"):
            results.read(folder, "k")


def test_binary_rubbish_and_the_result_of_another_point_are_detected(tmp_path):
    folder = results.prepare(tmp_path)
    results.write(folder, "k", {"values": {"a": 1}})
    (folder / "other.json").write_bytes((folder / "k.json").read_bytes())
    with pytest.raises(results.ResultError, match="other.json is damaged: it holds the result of another point"):
        results.read(folder, "other")
    (folder / "k.json").write_bytes(b"\xff\x00")
    with pytest.raises(results.ResultError, match="no text"):
        results.read(folder, "k")


def test_folder_of_another_version_is_refused(tmp_path):
    (tmp_path / "format.json").write_text('{"format": 7}')
    for call in (results.prepare, lambda folder: runs.status(FAST, "full", folder), lambda folder: sweep(FAST, folder)):
        with pytest.raises(results.ResultError, match="has format 7, this version reads and writes 1; allowed: "):
            call(tmp_path)


def test_folder_that_holds_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(results.ResultError, match="holds other files"):
        results.prepare(tmp_path)
    with pytest.raises(results.ResultError, match="is a file; allowed: a folder"):
        results.prepare(tmp_path / "thesis.tex")
    (tmp_path / "format.json").write_text("{")
    with pytest.raises(results.ResultError, match="format.json is damaged"):
        results.prepare(tmp_path)


def test_lock_is_held_by_one_process_only(tmp_path):
    folder = results.prepare(tmp_path)
    script = (
        "import sys; from pathlib import Path; from superposition import results\n"
        "with results.claim(Path(sys.argv[1]), 'k') as ours: print(ours)"
    )
    other = [sys.executable, "-c", script, str(folder)]
    with results.claim(folder, "k") as ours:
        assert ours
        assert subprocess.run(other, capture_output=True, text=True, check=True).stdout == "False\n"
    assert subprocess.run(other, capture_output=True, text=True, check=True).stdout == "True\n"


# Sweeps


def test_sweep_reports_progress_and_a_second_one_has_nothing_to_do(tmp_path, undisturbed):
    seen = []
    assert sweep(FAST, tmp_path / "fast", progress=lambda *pair: seen.append(pair)).computed == 100
    assert seen[0] == (0, 100) and seen[-1] == (100, 100) and seen == sorted(seen)
    assert sweep(FAST, tmp_path / "fast", progress=lambda *pair: seen.append(pair)) == sweeps.Outcome(0, {}, False)
    assert seen[-1] == (0, 0)
    assert collected(tmp_path / "fast", tmp_path) == undisturbed


def test_local_processes_give_the_same_table(tmp_path, undisturbed):
    assert sweeps.sweep_locally(FAST, "full", tmp_path / "fast", workers=2).computed == 100
    assert collected(tmp_path / "fast", tmp_path) == undisturbed


def test_damaged_files_are_reported_and_redone(tmp_path, undisturbed):
    sweep(FAST, tmp_path / "fast")
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
    assert sweep(FAST, tmp_path / "fast").computed == 3
    assert collected(tmp_path / "fast", tmp_path) == undisturbed


def test_results_of_other_library_code_do_not_count(tmp_path, monkeypatch):
    sweep(FAST, tmp_path / "fast")
    monkeypatch.setattr(digest, "of", lambda function: "another")
    found = runs.status(FAST, "full", tmp_path / "fast")
    assert [len(found.done), len(found.missing), found.others] == [0, 100, 100]


def test_failed_points_are_listed_and_the_others_finished(tmp_path):
    outcome = sweep(BROKEN, tmp_path)
    assert outcome.computed == 4 and not outcome.broken
    assert {str(point): reason for point, reason in outcome.failed.items()} == {
        "x=2.0, seed=0": "ArithmeticError: no value at two",
        "x=2.0, seed=1": "ArithmeticError: no value at two",
    }
    assert len(runs.status(BROKEN, "full", tmp_path).missing) == 2


def test_killed_worker_costs_the_points_of_its_moment_only(tmp_path):
    deadly = make("deadly", "deadly_at_two")
    outcome = sweeps.sweep_locally(deadly, "full", tmp_path, workers=1)
    assert outcome.computed == 4 and not outcome.broken
    assert {point.x for point in outcome.failed} == {2.0} and len(outcome.failed) == 2
    assert all("BrokenProcessPool" in reason for reason in outcome.failed.values())


def test_value_that_is_not_finite_is_a_failure(tmp_path):
    outcome = sweep(make("infinite", "infinite"), tmp_path)
    said = "TypeError: value = inf cannot be stored; allowed: finite numbers and texts"
    assert set(outcome.failed.values()) == {said}


def test_worker_with_other_library_code_is_refused():
    with pytest.raises(RuntimeError, match="other library code: .*, the sweep has 0123"):
        sweeps.compute("fast_runs:wave", {"x": 1.0, "seed": 0}, "cpu", "0123")


@pytest.mark.parametrize(("workers", "share"), [(2, 3), (1, 6)])
def test_threads_of_the_maths_library_are_divided(tmp_path, monkeypatch, workers, share):
    monkeypatch.setattr(sweeps, "cores", lambda: 6)
    run = make("threads", "threads")
    sweeps.sweep_locally(run, "full", tmp_path, workers=workers)
    tables.collect(run, "full", tmp_path, tmp_path)
    assert set(tables.load("threads", run=run, where=tmp_path).columns["threads"]) == {share}


@pytest.mark.parametrize("workers", [0, -1, 10_000, 1.5])
def test_senseless_number_of_workers_is_refused(tmp_path, workers):
    with pytest.raises(ValueError, match=re.escape(f"workers = {workers!r} is out of range; allowed: whole numbers")):
        sweeps.sweep_locally(FAST, "full", tmp_path, workers=workers)


# Disturbances


def test_killed_at_random_moments_the_table_is_the_same(tmp_path, undisturbed):
    rng = random.Random(3)
    counts = [0]
    for _ in range(20):
        process = start(tmp_path / "fast")
        wanted = counts[-1] + rng.randint(0, 3)  # points, since how fast a process starts depends on the machine
        while len(list((tmp_path / "fast").glob("?" * 32 + ".json"))) < wanted and process.poll() is None:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.05))
        process.kill()
        process.communicate(timeout=60)
        counts.append(count(tmp_path / "fast"))
    assert counts == sorted(counts), "a kill lost what was finished"
    assert counts[0] < counts[10] < counts[20] < 100, "the kills came too late to test anything"
    assert start(tmp_path / "fast").communicate(timeout=60)[0].startswith("fast, full grid: 100 of 100 points finished")
    assert collected(tmp_path / "fast", tmp_path) == undisturbed
    assert not list((tmp_path / "fast").glob("*.tmp"))


def test_workers_end_with_the_process_that_is_killed(tmp_path):
    process = start(tmp_path / "fast")
    while not list((tmp_path / "fast").glob("?" * 32 + ".json")):
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=5)  # until the last worker has closed its end of the pipe


def test_interrupt_leaves_a_resumable_state(tmp_path, undisturbed):
    process = start(tmp_path / "fast")
    while not list((tmp_path / "fast").glob("?" * 32 + ".json")):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to everybody
    _, said = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "Stopped. What was finished is kept" in said and "Traceback" not in said
    assert 0 < count(tmp_path / "fast") < 100
    assert "100 of 100" in start(tmp_path / "fast").communicate(timeout=60)[0]
    assert collected(tmp_path / "fast", tmp_path) == undisturbed


def test_interrupt_while_workers_start_says_one_sentence(tmp_path):
    process = start(tmp_path / "fast")
    while not list((tmp_path / "fast").glob("*.lock")):
        time.sleep(0.005)
    time.sleep(0.2)  # the workers are importing
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=10)
    assert process.returncode == 130 and "Stopped." in said and "Traceback" not in said


def test_two_processes_share_one_sweep(tmp_path, undisturbed):
    said = [process.communicate(timeout=60)[0] for process in [start(tmp_path / "fast") for _ in range(3)]]
    computed = [int(re.search(r"100 of 100 points finished, (\d+) of them now", text)[1]) for text in said]
    assert sum(computed) == 100, "a point was computed twice"
    assert sum(part > 0 for part in computed) > 1, "nothing was shared"
    assert collected(tmp_path / "fast", tmp_path) == undisturbed


def test_full_disk_is_told_and_keeps_what_was_finished(tmp_path, undisturbed, monkeypatch):
    results.prepare(tmp_path / "fast")
    real, left = os.replace, iter(range(7))

    def full(*names):
        if next(left, None) is None:
            raise OSError(28, "No space left on device")
        real(*names)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(results.StorageError, match="cannot write to .*: the disk is full; what was finished is"):
            sweep(FAST, tmp_path / "fast")
    assert count(tmp_path / "fast") == 7
    assert not list((tmp_path / "fast").glob("*.tmp"))
    assert sweep(FAST, tmp_path / "fast").computed == 93
    assert collected(tmp_path / "fast", tmp_path) == undisturbed


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 96 KiB, where one can be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("no mount command: the full and the read-only disk are tested by a stand-in only")
    if done.returncode:
        pytest.skip("no right to mount: the full and the read-only disk are tested by a stand-in only")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_disk_that_is_really_full_and_then_read_only(small_disk):
    process = start(small_disk / "fast")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2 and "the disk is full; what was finished is kept" in said and "Traceback" not in said
    done = count(small_disk / "fast")
    assert 0 < done < 100
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    process = start(small_disk / "fast")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2 and "the disk is read-only" in said and "Traceback" not in said
    assert count(small_disk / "fast") == done


# Tables


def test_table_comes_back_and_knows_where_it_is_from(tmp_path):
    sweep(FAST, tmp_path / "fast")
    collected(tmp_path / "fast", tmp_path)
    table = tables.load("fast", run=FAST, where=tmp_path)
    assert table.note == ""
    assert table.line.startswith("Table `fast`: 100 points, ")
    assert table.line.endswith(". It matches the current configuration of its run.")
    assert list(table.columns) == ["x", "seed", "value"]
    assert table.where(seed=1).columns["value"][2] == fast_runs.wave(x=0.2, seed=1, device="cpu")["value"]
    said = table.provenance
    assert said["grid"]["blocks"] == [{"x": list(FAST.full[0]["x"]), "seed": [0, 1]}]
    assert len(said["seconds"]) == 100 and all(0.02 <= seconds < 5 for seconds in said["seconds"])
    assert set(said["versions"][0]) == {"python", "superposition", "numpy", "scipy", "torch"}
    assert said["library_digest"] == digest.of(FAST.function) and said["run"] == "fast"
    assert str(tmp_path) not in json.dumps(said)


def test_pivot_averages_over_the_rest():
    columns = {"a": np.array([1, 1, 2]), "b": np.array([5, 5, 6]), "v": np.array([1.0, 2.0, 7.0])}
    rows, across, mean = tables.Table(columns, {}, "").pivot("v", down="a", across="b")
    assert rows.tolist() == [1, 2] and across.tolist() == [5, 6]
    np.testing.assert_array_equal(mean, [[1.5, np.nan], [np.nan, 7.0]])


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (lambda text, said: (text.replace("0.1,0,", "0.1,5,"), said), "The table was changed after it was collected"),
        (lambda text, said: (text, {**said, "library_digest": "0"}), "The table is older than the current library"),
    ],
)
def test_table_that_differs_says_so(tmp_path, change, note):
    sweep(FAST, tmp_path / "fast")
    path = tables.collect(FAST, "full", tmp_path / "fast", tmp_path)
    text, said = change(path.read_text(), json.loads(path.with_suffix(".json").read_text()))
    path.write_text(text)
    path.with_suffix(".json").write_text(json.dumps(said))
    assert note in tables.load("fast", run=FAST, where=tmp_path).line


def test_table_of_another_grid_says_so(tmp_path):
    sweep(FAST, tmp_path / "fast")
    collected(tmp_path / "fast", tmp_path)
    moved = make("fast", "wave", full=({"x": tuple(i / 10 for i in range(1, 52)), "seed": (0, 1)},))
    assert tables.load("fast", run=moved, where=tmp_path).note == (
        "The grid of the run has changed since: 4 points are not in the table, 2 are no longer in the grid."
    )


def test_run_without_a_table_says_how_to_make_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="fast.csv is not there; to make it: superposition runs collect fast"):
        tables.load("fast", run=FAST, where=tmp_path)


def test_tables_are_found_from_anywhere(tmp_path):
    script = "from superposition import tables; print(tables.folder())"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()) == HERE.parent / "book" / "data"


def test_tables_go_with_an_installation_that_is_not_editable(tmp_path):
    pytest.importorskip("setuptools", minversion="77", reason="setuptools is too old to build the wheel")
    tree = tmp_path / "tree"
    for name in ("lib", "book/data"):
        shutil.copytree(HERE.parent / name, tree / name, symlinks=True)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(HERE.parent / name, tree)
    build = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=tree, capture_output=True, check=True)
    shutil.unpack_archive(next(tmp_path.glob("*.whl")), tmp_path / "site", format="zip")
    script = "from superposition import tables; print(tables.folder(), len(tables.load('rug-rate').columns['p']))"
    options = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(tmp_path / "site")}}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, **options)
    assert done.stdout.split() == [str(tmp_path / "site" / "superposition" / "data"), "9"]


STORED = sorted(path.stem for path in (HERE.parent / "book" / "data").glob("*.csv"))


@pytest.mark.parametrize("name", STORED)
def test_stored_table_is_what_its_run_would_give_now(name):
    table = tables.load(name)
    assert table.note == ""
    assert len(table.provenance["seconds"]) == len(runs.points(runs.find(name), "full"))


def test_first_table_is_there():
    assert "rug-grid" in STORED


@pytest.mark.parametrize("path", sorted((HERE.parent / "book" / "data").glob("*")), ids=lambda path: path.name)
def test_stored_files_name_no_machine(path):
    assert re.findall(r"/(?:home|root|tmp|work|usr|opt)/", path.read_text(encoding="utf-8")) == []
    assert path.stat().st_size < 200_000
