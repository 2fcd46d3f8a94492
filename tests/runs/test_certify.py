"""Certify: a computation that was only rearranged is signed again, another one is not; in a repository of its own."""

import ast
import csv
import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import threadpoolctl
from defprint import fingerprint
from fast_runs import FAST, ROOT
from repositories import git
from superposition import runs
from superposition.runs import certify, cover, provenance, replay, tables

RUN = "rug-ladder-antipodal"
COMMAND = [sys.executable, "-c", "from superposition.cli import main; main()", "runs"]
TABLE = f"book/data/{RUN}.json"


@pytest.fixture
def repository(tmp_path):
    """The library that is tested and one table, committed."""
    left_out = shutil.ignore_patterns("*.egg-info", "data")
    shutil.copytree(certify.LIBRARY, tmp_path / "lib", ignore=left_out)
    (tmp_path / "lib" / "superposition" / "data").symlink_to(os.path.join("..", "..", "book", "data"))
    (tmp_path / "book" / "data").mkdir(parents=True)
    for path in (ROOT / "book" / "data").glob(f"{RUN}.*"):
        shutil.copy(path, tmp_path / "book" / "data")
    (tmp_path / "book" / "data" / "records").mkdir()
    (tmp_path / "book" / "data" / "records" / "a.safetensors").write_text("a")
    git(tmp_path, "init", "--quiet")
    (tmp_path / ".git" / "info" / "exclude").write_text("__pycache__\n")
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


def said(repository):
    return json.loads((repository / TABLE).read_text())


def scale_stored(repository, factor):
    """Change the stored losses, so that no replay has their bits."""
    path = (repository / TABLE).with_suffix(".csv")
    header, *rows = csv.reader(path.read_text().splitlines())
    for row in rows:
        row[header.index("relu")] = repr(float(row[header.index("relu")]) * factor)
    path.write_text("".join(",".join(row) + "\n" for row in (header, *rows)))
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    tables.write_provenance(repository / TABLE, {**said(repository), "table_sha256": checksum})


@pytest.mark.thorough
def test_valid_table_is_confirmed(repository):
    first = call(repository, "certify", RUN)
    counted = re.compile(r"replayed 15 now, (\d+) ever of 15 points; ")
    assert first.returncode == 0 and first.stdout.endswith("confirmed\n") and "15/15" in first.stderr, first
    assert counted.search(first.stdout)[1] == "15"
    assert said(repository)["certified"][-1]["rule"] == "whole"
    assert said(repository)["certified"][-1]["rows"] == list(range(15))


@pytest.mark.thorough
def test_rearranged_computation_is_signed_again(repository):
    before = said(repository)
    edit(repository, "assert r == r")
    assert "is not current: The table is older than the current library code" in call(repository, "status", RUN).stdout
    done = call(repository, "certify", RUN, "--blocks-only")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{RUN}: replayed 2 now, 2 ever of 15 points; ") and done.stdout.endswith("signed\n")
    assert "points and is what the run would give now" in call(repository, "status", RUN).stdout
    entry, head = said(repository)["certified"][-1], git(repository, "rev-parse", "HEAD")
    assert entry["from"]["library_digest"] == before["library_digest"] != entry["to"]["library_digest"]
    assert entry["to"]["library_digest"] == said(repository)["library_digest"]
    assert entry["to"]["commit"] == f"{head}+changes" and entry["from"]["commit"] in ("", head)
    assert entry["rule"] == "blocks" and len(entry["rows"]) == 2 and entry["threads"] == 1
    assert entry["unreached"] == entry["dropped"] == [] and max([0, *entry["distances"].values()]) < 1e-5
    assert entry["cpu"] == provenance.cpu() and entry["versions"] == provenance.versions()


@pytest.mark.thorough
def test_where_stored_bits_are_not_met_the_older_code_is_the_witness(repository):
    scale_stored(repository, 1 + 1e-6)
    edit(repository, "assert r == r")
    done = call(repository, "certify", RUN, "--blocks-only")
    assert done.returncode == 0 and done.stdout.startswith(f"{RUN}: replayed 2 now, 2 ever of 15 points; 0 have"), done
    entry, head = said(repository)["certified"][-1], git(repository, "rev-parse", "HEAD")
    assert f"and {head[:7]} gives the bits of today's code where it was replayed; signed" in done.stdout
    assert entry["from"]["commit"] == head and entry["rule"] == "blocks" and entry["as_stored"] == 0
    assert 0 < entry["distances"]["relu"] < 1.1e-6 and entry["moved_bounds"] == {}


@pytest.mark.parametrize(
    ("factor", "line", "why", "fewer"),
    [
        pytest.param(1, "p = 1.2 * p if r < 0.4 else p", "relu: 0.00", (), marks=pytest.mark.thorough),
        pytest.param(  # within the bound, yet not what older code gives
            1, "p = p * (1 + 1e-9)", "relu: 0.00", ["--blocks-only"], marks=pytest.mark.thorough
        ),
        (1, "raise ArithmeticError('none')", "today's code: ArithmeticError: none", ["--blocks-only"]),
        pytest.param(  # old and new agree
            1.001, "assert r == r", "distance 0.001, bound 1e-05", ["--blocks-only"], marks=pytest.mark.thorough
        ),
    ],
)
def test_another_computation_is_not_signed(repository, factor, line, why, fewer):
    scale_stored(repository, factor)
    edit(repository, line)
    before = (repository / TABLE).read_bytes()
    done = call(repository, "certify", RUN, *fewer)
    assert done.returncode == 3 and "NOT signed\n    differs: ns=" in done.stdout and why in done.stdout
    assert (repository / TABLE).read_bytes() == before


@pytest.mark.thorough
def test_valid_table_whose_values_are_not_given_is_not_confirmed(repository):
    scale_stored(repository, 1.001)
    done = call(repository, "certify", RUN, "--blocks-only")
    assert done.returncode == 3 and "NOT confirmed\n    differs: ns=" in done.stdout


def test_without_time_nothing_is_replayed_nor_signed(repository):
    edit(repository, "assert r == r")
    before = (repository / TABLE).read_bytes()
    done = call(repository, "certify", RUN, "--minutes", "1e-9")
    assert done.returncode == 1 and re.search(r"replayed 0 now, \d+ ever of 15 points", done.stdout)
    assert "NOT signed\n    no time for: ns=" in done.stdout and (repository / TABLE).read_bytes() == before


@pytest.mark.parametrize("valid", [False, True])
def test_time_for_a_part_of_the_points_signs_what_is_valid_and_says_so(monkeypatch, valid):
    run, clock = runs.find("rug-ladder"), iter([0, *[1e9 if i > 2 else 0 for i in range(100)]])
    stored, signed = tables.read(run), []
    digest = {} if valid else {"library_digest": "0"}
    table = tables.Table(stored.columns, stored.provenance | digest, "")
    row = {point: i for i, point in enumerate(cover.points(run, stored))}
    names = [name for name in stored.columns if name not in run.point.model_fields]

    def ask(_, __, fields, side=0):
        return {"values": {name: stored.columns[name][row[run.point(**fields)]].item() for name in names}}

    monkeypatch.setattr(certify, "_codes", lambda: nullcontext(ask))
    monkeypatch.setattr(certify.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(tables, "read", lambda *_: table)
    monkeypatch.setattr(tables, "sign", lambda said, _: signed.append(said["certified"][-1]))
    (report,) = certify.certify([run], minutes=60)
    assert len(report.replayed) == 3 and report.as_stored == 3 and len(report.left) == 57
    assert report.signed == valid and [said["rule"] for said in signed] == ["part"] * valid
    assert report.exit_code == 1 and f"; {'confirmed in part' if valid else 'NOT signed'}\n    no time for" in str(
        report
    )
    if valid:  # it goes on where it was
        table.provenance["certified"] = table.provenance["certified"] + signed
        monkeypatch.setattr(certify.time, "monotonic", lambda: 0)
        (rest,) = certify.certify([run], minutes=60)
        assert set(report.left) <= set(rest.replayed) and not set(report.replayed) & set(rest.replayed)
        assert [said["rule"] for said in signed] == ["part", "whole"] and rest.left == []
        table.provenance["certified"] = table.provenance["certified"] + signed[1:]
        (again,) = certify.certify([run], minutes=60)
        assert set(report.replayed) | set(report.left) <= set(again.replayed)


@pytest.mark.thorough
def test_with_too_little_time_a_table_is_confirmed_in_part(repository):
    done = call(repository, "certify", RUN, "--minutes", ".05")
    assert done.returncode == 1 and "; confirmed in part\n    no time for: ns=" in done.stdout, done


@pytest.mark.thorough
def test_only_code_that_head_contains_is_run(repository):
    home = git(repository, "branch", "--show-current")
    git(repository, "checkout", "--quiet", "-b", "side")
    edit(repository, "assert p == p, open('ran', 'w')")
    git(repository, "commit", "--quiet", "--all", "--message", "elsewhere")
    elsewhere = git(repository, "rev-parse", "HEAD")
    program = f"import defprint; from superposition.runs import find; print(defprint.of(find('{RUN}').function))"
    environment = {**os.environ, "PYTHONPATH": str(repository / "lib")}
    there = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    git(repository, "checkout", "--quiet", home)
    scale_stored(repository, 1 + 1e-6)
    digest, commits = there.stdout.strip(), [elsewhere, "--output=ran"]
    tables.write_provenance(repository / TABLE, {**said(repository), "library_digest": digest, "commits": commits})
    done = call(repository, "certify", RUN, "--blocks-only")
    assert done.returncode == 2 and f"no commit is known whose code has the fingerprint {digest}" in done.stderr
    assert "only code that HEAD contains is run" in done.stderr and elsewhere[:7] not in done.stderr
    assert "Traceback" not in done.stderr and not (repository / "ran").exists()
    git(repository, "merge", "--quiet", "--strategy", "ours", "--message", "now in HEAD", "side")
    assert call(repository, "certify", RUN, "--blocks-only").returncode == 0


@pytest.mark.thorough
def test_one_table_that_cannot_be_replayed_does_not_end_the_others(repository):
    done = call(repository, "certify", "rug-sizes-longest", RUN, "--blocks-only")
    assert done.returncode == 2 and "rug-sizes-longest.csv is not there" in done.stderr
    assert f"{RUN}: replayed 2 now" in done.stdout


def test_older_code_is_taken_out_with_its_data(repository, monkeypatch):
    monkeypatch.setattr(certify, "LIBRARY", repository / "lib")
    monkeypatch.setattr(tables, "folder", lambda: repository / "book" / "data")
    with certify._library_at(git(repository, "rev-parse", "HEAD")) as library:
        data = library / "superposition" / "data"
        assert sorted(path.name for path in data.iterdir()) == ["records", f"{RUN}.csv", f"{RUN}.json"]
        assert (data / "records" / "a.safetensors").read_text() == "a"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "certify takes either names of runs or --all"),
        ((RUN, "--all"), "certify takes either names of runs or --all"),
        ((RUN, "--minutes", "0"), "minutes = 0 is out of range"),
        (("rug-sizes-longest",), "rug-sizes-longest.csv is not there"),
    ],
)
def test_bad_input_is_refused(arguments, said):
    done = call(ROOT, "certify", *arguments)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


def test_a_replay_answers_with_values_and_no_more_threads_than_it_is_given(monkeypatch):
    said, fast = [], {"x": 0.5, "seed": 1}
    monkeypatch.setitem(runs.RUNS, "fast", FAST)
    monkeypatch.setattr(threadpoolctl, "threadpool_limits", said.append)
    torch = SimpleNamespace(set_num_threads=lambda number: said.append(f"torch {number}"))
    monkeypatch.setitem(sys.modules, "torch", torch)
    found = replay._answer("fast", fast, 3)
    assert found["values"] == {"value": math.sin(0.5) + 1 / 7} and 0 < found["seconds"] < 60
    monkeypatch.delitem(sys.modules, "torch")
    replay._answer("fast", fast, 2)
    assert said == [3, "torch 3", 2]
    assert replay._answer("fast", None, 1)["digest"] == fingerprint.of(FAST.function)


def test_a_spread_of_quotients_rounds_more_than_a_mean_and_less_than_the_limit():
    """Older code took the quotients first; losses of copies spread by about a hundredth of them."""
    rng = np.random.default_rng(0)
    unit, losses = rng.uniform(0.003, 0.03, (2000, 1)), 0.4 + 0.004 * rng.standard_normal((2000, 5))
    spread = (losses * unit).std(axis=1, ddof=1) / unit[:, 0]
    assert 1e-15 < np.abs((losses * unit / unit).std(axis=1, ddof=1) / spread - 1).max() < certify.QUOTIENT
