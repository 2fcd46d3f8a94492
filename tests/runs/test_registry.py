"""The registry: runs, their grids and points, and what each point is called."""

import hashlib
import subprocess
import sys

import pytest
from defprint import fingerprint
from fast_runs import BROKEN, FAST, make, swept
from pydantic import ValidationError
from superposition import runs
from superposition.runs import registry, store, tables
from together import together


@together("run", runs.RUNS.values(), ids=lambda run: run.name)
@pytest.mark.parametrize("grid", runs.GRIDS)
def test_registered_run_is_whole(run, grid):
    assert runs.RUNS[run.name] is run
    assert runs.points(run, grid)
    assert run.feeds and run.hardware and run.hours[grid] > 0
    assert len(fingerprint.sources(run.function)) > 2


def test_runs_are_listed_without_the_theory_and_no_name_is_taken_twice():
    program = (
        "import sys; from superposition import experiments, runs; from importlib import import_module; "
        "from pkgutil import iter_modules; names = [run.name for found in iter_modules(experiments.__path__) "
        "for run in getattr(import_module(f'superposition.experiments.{found.name}'), 'RUNS', ())]; "
        "assert sorted(names) == sorted(runs.RUNS); print({'torch', 'scipy', 'superposition.rug'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_name_that_the_package_lacks_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'superposition.runs' has no attribute 'RUN'"):
        _ = runs.RUN


def test_first_run_has_the_cells_it_was_asked_for():
    seen = {}
    for point in runs.points(runs.find("rug-grid"), "full"):
        seen.setdefault(point.ns, {}).setdefault((point.p, point.r), set()).add(point.seed)
    for ns in (128, 256):
        assert len(seen[ns]) == 64
        assert sorted(map(len, seen[ns].values())) == [2] * 60 + [5] * 4
    assert len(seen[512]) == 62
    assert {0.2, 0.5} <= {r for _, r in seen[128]}
    assert (min(seen[128])[0], max(seen[128])[0]) == (0.01, 0.5)


def test_unknown_run_names_the_nearest():
    with pytest.raises(ValueError, match="run = 'rug-gird' is unknown; nearest: rug-grid;"):
        runs.find("rug-gird")
    with pytest.raises(ValueError, match="run = '#' is unknown; nearest: [a-z]"):
        runs.find("#")


def test_an_odd_result_is_told_by_what_only_it_lacks_or_has():
    usual, has = frozenset({("a", "number"), ("c", "truth value")}), frozenset({("a", "number"), ("b", "text")})
    said = "k.json is damaged: unlike most results it lacks the truth value c, has the text b"
    assert registry._odd("k", has, usual) == said


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
    good = {"ns": 64, "p": 0.1, "r": 0.5, "steps": 10, "protocol": "recipe", "rate": 1.0, "seed": 0}
    runs.find("rug-grid").point(**good)
    with pytest.raises(ValidationError, match=next(iter(change))):
        runs.find("rug-grid").point(**{**good, **change})


def test_points_are_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        runs.points(FAST, "full")[0].x = 3.0


def test_every_point_has_a_key_of_its_own():
    assert len({runs.key(run, point) for run in (FAST, BROKEN) for point in runs.points(run, "full")}) == 106


def test_keys_are_those_of_results_that_are_on_disk(monkeypatch):
    monkeypatch.setattr(fingerprint, "of", lambda function: f"code of {function}")
    point = FAST.point(x=0.5, seed=1)
    said = '["fast", {"seed": 1, "x": 0.5}, "code of fast_runs:wave"]'
    assert runs.key(FAST, point) == hashlib.sha256(said.encode()).hexdigest()[:32]


def test_points_are_sorted_by_what_is_on_disk(tmp_path):
    swept(make("few", "wave", full=({"x": (0.5,), "seed": (0, 1, 2)},)), tmp_path)
    now = make("few", "wave", full=({"x": (0.5, 1.0), "seed": (1, 2)},))
    half, one = runs.points(now, "full")[:2], runs.points(now, "full")[2:]
    assert runs.status(now, "full", tmp_path) == runs.Status(half, one, {}, 1)
    store.write(tmp_path, runs.key(now, half[0]), registry.read(now, half[1], tmp_path))
    store.write(tmp_path, runs.key(now, half[1]), {**registry.read(now, half[1], tmp_path), "seconds": "three"})
    found = runs.status(now, "full", tmp_path)
    assert (found.done, found.missing, found.others) == ((), one, 1)
    assert found.damaged[half[0]].endswith(".json is damaged: it holds the result of another point")
    assert ".json is damaged: seconds: Input should be a valid number" in found.damaged[half[1]]
