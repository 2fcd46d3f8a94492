"""Certify: a computation that was only rearranged is signed again, another one is not; in a repository of its own."""

import ast
import json
import math
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import threadpoolctl
from fast_runs import FAST, ROOT
from superposition import runs
from superposition.runs import bridge, certify, fingerprint, provenance, tables

RUN = "polysemantic-flow"
COMMAND = [sys.executable, "-c", "from superposition.cli import main; main()", "runs"]
TABLE = "book/data/polysemantic-flow.json"


def git(folder, *arguments):
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """The library that is tested and one table, committed."""
    left_out = shutil.ignore_patterns("*.pyc", "*.egg-info", "data")
    shutil.copytree(certify.LIBRARY, tmp_path / "lib", ignore=left_out)
    (tmp_path / "lib" / "superposition" / "data").symlink_to(os.path.join("..", "..", "book", "data"))
    (tmp_path / "book" / "data").mkdir(parents=True)
    for path in (ROOT / "book" / "data").glob(f"{RUN}.*"):
        shutil.copy(path, tmp_path / "book" / "data")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "all")
    return tmp_path


def call(repository, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(repository / "lib")}
    return subprocess.run([*COMMAND, *arguments], env=environment, cwd=repository, capture_output=True, text=True)


def edit(repository, line):
    """Begin the function of the run with another line of code."""
    module, name = runs.find(RUN).function.split(":")
    path = repository.joinpath("lib", *module.split(".")).with_suffix(".py")
    tree = ast.parse(path.read_text())
    function = next(node for node in tree.body if getattr(node, "name", "") == name)
    function.body[1:1] = ast.parse(line).body
    path.write_text(ast.unparse(tree))


def test_rearranged_computation_is_signed_again(repository):
    valid = call(repository, "certify", RUN)
    assert valid.stdout == f"{RUN}: valid already, nothing to replay\n" and valid.returncode == 0
    edit(repository, "assert n == n")
    assert "is not current: The table is older than the current library code" in call(repository, "status", RUN).stdout
    done = call(repository, "certify", RUN, "--points", "2")
    assert done.returncode == 0, done.stderr
    assert f"{RUN}: 2 points have the same bits with {git(repository, 'rev-parse', 'HEAD')[:7]}" in done.stdout
    assert done.stdout.count("    replayed: n=64, m=") == 2 and "2/2" in done.stderr
    assert "points and is what the run would give now" in call(repository, "status", RUN).stdout
    said = json.loads((repository / TABLE).read_text())
    entry = said["certified"][-1]
    assert entry["to"]["library_digest"] == said["library_digest"] != entry["from"]["library_digest"]
    assert entry["from"]["commit"] == git(repository, "rev-parse", "HEAD")
    assert entry["to"]["commit"] == entry["from"]["commit"] + "+changes"
    assert len(entry["points"]) == 2 and entry["threads"] == 1 and entry["cpu"] == provenance.cpu()
    assert entry["versions"] == provenance.versions()


@pytest.mark.parametrize("line", ["lambda_ = lambda_ * 2", "raise ArithmeticError('none')"])
def test_another_computation_is_not_signed(repository, line):
    edit(repository, line)
    before = (repository / TABLE).read_bytes()
    done = call(repository, "certify", RUN, "--points", "1")
    assert done.returncode == 1 and "NOT signed" in done.stdout and "    differs: n=64, m=" in done.stdout
    assert (repository / TABLE).read_bytes() == before


def test_without_time_nothing_is_replayed_nor_signed(repository):
    edit(repository, "assert n == n")
    done = call(repository, "certify", RUN, "--points", "1", "--minutes", "1e-9")
    assert done.returncode == 1 and "NOT signed\n    no time for: n=64, m=" in done.stdout


def test_table_that_no_known_commit_could_have_made_is_refused(repository):
    said = json.loads((repository / TABLE).read_text())
    tables.write_provenance(repository / TABLE, {**said, "library_digest": "0123"})
    done = call(repository, "certify", RUN)
    assert done.returncode == 2 and "no commit is known whose code has the fingerprint 0123" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "certify takes either the name of a run or --all"),
        ((RUN, "--all"), "certify takes either the name of a run or --all"),
        ((RUN, "--points", "0"), "points = 0 is out of range; allowed: whole numbers from 1"),
        ((RUN, "--minutes", "0"), "minutes = 0 is out of range"),
        (("rug-grid-large",), "rug-grid-large.csv is not there"),
    ],
)
def test_bad_input_is_refused(arguments, said):
    done = call(ROOT, "certify", *arguments)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


def test_points_to_replay_are_cheap_and_show_every_text():
    columns = {name: np.array([0.0, 1.0, 2.0, 3.0]) for name in runs.find("toy-phase").point.model_fields}
    table = tables.Table(columns, {"seconds": [4.0, 1.0, 3.0, 2.0]}, "")
    assert certify._chosen(runs.find("toy-phase"), table, 3) == [1, 3, 2]
    columns["steps"] = np.array(["sgd", "adam", "sgd", "adam"])
    assert certify._chosen(runs.find("toy-phase"), table, 2) == [1, 2]


def test_a_replay_answers_with_values_and_no_more_threads_than_it_is_given(monkeypatch):
    said, fast = [], {"x": 0.5, "seed": 1}
    monkeypatch.setitem(runs.RUNS, "fast", FAST)
    monkeypatch.setattr(threadpoolctl, "threadpool_limits", said.append)
    torch = SimpleNamespace(set_num_threads=lambda number: said.append(f"torch {number}"))
    monkeypatch.setitem(sys.modules, "torch", torch)
    found = bridge._answer("fast", fast, 3)
    assert found["values"] == {"value": math.sin(0.5) + 1 / 7} and 0 < found["seconds"] < 60
    monkeypatch.delitem(sys.modules, "torch")
    bridge._answer("fast", fast, 2)
    assert said == [3, "torch 3", 2]
    assert bridge._answer("fast", None, 1)["digest"] == fingerprint.of(FAST.function)
