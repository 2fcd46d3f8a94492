"""The tables: collected, found from anywhere, and compared with what their run would give."""

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import fast_runs
import numpy as np
import pytest
import superposition
from defprint import fingerprint
from fast_runs import FAST, ROOT, collected, make, swept
from superposition import runs
from superposition.runs import registry, store, table_files, tables
from together import together


def test_table_comes_back_and_knows_where_it_is_from(tmp_path):
    swept(FAST, tmp_path / "fast")
    collected(tmp_path / "fast", tmp_path)
    table = tables.load("fast", run=FAST, where=tmp_path)
    assert table.note == ""
    assert table.line.startswith("Table `fast`: 100 points, ")
    assert table.line.endswith(". It matches the current configuration of its run; replayed 0 of 100.")
    assert list(table.columns) == ["x", "seed", "value"]
    assert table.where(seed=1).columns["value"][2] == fast_runs.wave(x=0.2, seed=1, device="cpu")["value"]
    said = table.provenance
    assert said["grid"]["blocks"] == [{"x": list(FAST.full[0]["x"]), "seed": [0, 1]}]
    assert len(said["seconds"]) == 100 and all(0.02 <= seconds < 5 for seconds in said["seconds"])
    assert set(said["versions"][0]) == {"python", "superposition", "numpy", "scipy", "torch"}
    assert said["library_digest"] == fingerprint.of(FAST.function) and said["run"] == "fast"
    assert str(tmp_path) not in json.dumps(said)


def test_predictions_are_joined_when_a_table_is_read_and_are_not_in_the_file(tmp_path):
    run = dataclasses.replace(
        FAST, predicted=(lambda c: {"sine": np.sin(c["x"])}, lambda c: {"off": c["value"] - c["sine"]})
    )
    swept(run, tmp_path / "fast")
    path = tables.collect(run, "full", tmp_path / "fast", tmp_path)
    table = tables.load("fast", run=run, where=tmp_path)
    assert path.read_text().splitlines()[0] == "x,seed,value" and table.stored == ("x", "seed", "value")
    assert list(table.columns) == ["x", "seed", "value", "sine", "off"] and table.note == ""
    np.testing.assert_allclose(table.where(seed=1).columns["off"], 1 / 7)
    assert table.where(seed=1).stored == table.stored


def test_text_and_provenance_of_results():
    made = {
        "point": {"x": 1.0, "seed": 1},
        "seconds": 1.234,
        "commit": "b",
        "versions": {"a": "2"},
        "cpu": "c",
        "threads": 1,
    }
    one = made | {"values": {"value": 0.1, "note": "n, m"}, "device": "xpu:0"}
    other = made | {"values": {"note": "k", "value": 2}, "seconds": 2.345, "commit": None}
    assert tables._text([one]) == 'x,seed,value,note\n1.0,1,0.1,"n, m"\n'
    text = tables._text([one, other, one | {"values": {"value": 1, "note": "", "device": "cpu"}}])
    assert text == 'x,seed,value,note\n1.0,1,0.1,"n, m"\n1.0,1,2,k\n1.0,1,1,\n'
    found = tables._provenance(FAST, "full", [one, other, other | {"values": {"device": "cuda:0"}}, other], text)
    assert found == {
        "run": "fast",
        "feeds": "the tests",
        "function": "fast_runs:wave",
        "grid": {"name": "full", "blocks": list(FAST.full)},
        "library_digest": fingerprint.of(FAST.function),
        "table_sha256": table_files.sha256(text),
        "commits": ["b", None],
        "versions": [{"a": "2"}],
        "cpus": ["c"],
        "threads": [1],
        "devices": {"xpu:0": 1, "cpu": 2, "cuda:0": 1},
        "seconds_total": 8.3,
        "seconds": [1.23, 2.35, 2.35, 2.35],
    }


def test_a_provenance_is_sealed_and_has_a_line_for_each_entry(tmp_path):
    tables.write_provenance(tmp_path / "a.json", {"b": [1], table_files.SEAL: "an old one"})
    seal = store.checksum({"b": [1]})
    assert (tmp_path / "a.json").read_text() == f'{{\n "provenance_sha256": "{seal}",\n "b": [\n  1\n ]\n}}\n'


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["True", "False"], [True, False]),
        (["True", "True"], [True, True]),
        (["True", "1"], ["True", "1"]),
        (["1", "-2"], [1, -2]),
        (["1", "2.5"], [1.0, 2.5]),
        (["1", "a"], ["1", "a"]),
    ],
)
def test_a_column_has_the_narrowest_kind_of_its_texts(texts, values):
    found = table_files._column(texts)
    assert found.dtype == np.array(values).dtype and found.tolist() == values


@pytest.mark.parametrize(("missing", "damaged"), [((1,), {}), ((), {1: "no text"})])
def test_a_run_with_a_point_missing_or_damaged_is_not_collected(tmp_path, monkeypatch, missing, damaged):
    monkeypatch.setattr(registry, "status", lambda *about: runs.Status((), missing, damaged, 0))
    said = f"fast is not finished: {len(missing)} of 100 points are missing, {len(damaged)} damaged; to finish:"
    with pytest.raises(ValueError, match=said):
        tables.collect(FAST, "full", tmp_path, tmp_path)


def test_where_without_a_name_is_the_whole_table():
    whole = tables.Table({"a": np.array([1, 2, 2])}, {}, "")
    assert whole.where().columns["a"].tolist() == [1, 2, 2]
    assert whole.where(a=2).columns["a"].tolist() == [2, 2]


def test_pivot_averages_over_the_rest():
    columns = {"a": np.array([1, 1, 2]), "b": np.array([5, 5, 6]), "v": np.array([1.0, 2.0, 7.0])}
    rows, across, mean = tables.Table(columns, {}, "").pivot("v", down="a", across="b")
    assert rows.tolist() == [1, 2] and across.tolist() == [5, 6]
    np.testing.assert_array_equal(mean, [[1.5, np.nan], [np.nan, 7.0]])


def test_table_that_is_older_than_the_library_says_so(tmp_path):
    swept(FAST, tmp_path / "fast")
    path = tables.collect(FAST, "full", tmp_path / "fast", tmp_path).with_suffix(".json")
    tables.write_provenance(path, {**json.loads(path.read_text()), "library_digest": "0"})
    table = tables.load("fast", run=FAST, where=tmp_path)
    assert table.line.endswith("**Not current:** The table is older than the current library code.")


class Wider(FAST.point):
    height: float = 1.0


def test_table_of_another_grid_says_so(tmp_path):
    swept(FAST, tmp_path / "fast")
    collected(tmp_path / "fast", tmp_path)
    wider = dataclasses.replace(FAST, checked_point=Wider)
    assert tables.load("fast", run=wider, where=tmp_path).note == "The run has fields that the table has not: height."
    moved = make("fast", "wave", full=({"x": tuple(i / 10 for i in range(1, 52)), "seed": (0, 1)},))
    assert tables.load("fast", run=moved, where=tmp_path).note == (
        "The grid of the run has changed since: 4 points are not in the table, 2 are no longer in the grid."
    )


def test_run_without_a_table_says_how_to_make_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="fast.csv is not there; to make it: superposition runs collect fast"):
        tables.load("fast", run=FAST, where=tmp_path)


def test_tables_are_found_from_anywhere(tmp_path):
    script = "from superposition.runs import tables; print(tables.folder())"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).samefile(Path(superposition.__file__).parent / "data")


@pytest.mark.thorough
def test_tables_go_with_an_installation_that_is_not_editable(tmp_path):
    pytest.importorskip("setuptools", minversion="77", reason="setuptools is too old to build the wheel")
    tree = tmp_path / "tree"
    for name in ("lib", "book/data"):
        shutil.copytree(ROOT / name, tree / name, symlinks=True)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tree)
    build = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=tree, capture_output=True, check=True)
    shutil.unpack_archive(next(tmp_path.glob("*.whl")), tmp_path / "site", format="zip")
    assert {path.name for path in (tmp_path / "site" / "defprint").iterdir()} >= {"README.md", "py.typed", "syntax.py"}
    script = "from superposition.runs import tables; print(tables.folder(), len(tables.load('rug-rate').columns['p']))"
    options = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(tmp_path / "site")}}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, **options)
    assert done.stdout.split() == [str(tmp_path / "site" / "superposition" / "data"), "36"]


STORED = sorted(path.stem for path in (ROOT / "book" / "data").glob("*.csv"))


# Where a page loads a table, the cheapest point is computed again there.
PAGES = "".join(path.read_text() for path in (ROOT / "book").glob("*.md"))
LOADED = set(re.findall(r'tables\.load\("([\w-]+)"\)', PAGES))


SIGN = "run `superposition runs certify {}` if its values should be the same, else start it"


@together("name", STORED)
def test_stored_table_is_what_its_run_would_give_now(name):
    table = tables.load(name, replay=False)
    assert table.note == "", SIGN.format(name)
    assert len(table.provenance["seconds"]) == len(runs.points(runs.find(name), "full"))


@pytest.mark.thorough
@together("name", sorted(set(STORED) - LOADED))
def test_the_cheapest_point_of_a_table_that_no_page_loads_is_computed_again(name):
    assert tables.load(name, replay=True).note == "", SIGN.format(name)


def test_first_table_is_there():
    assert "rug-grid" in STORED


FILES = sorted(filter(Path.is_file, (ROOT / "book" / "data").rglob("*")))


@together("path", FILES, ids=lambda path: path.name)
def test_stored_files_name_no_machine(path):
    assert re.findall(r"/(?:home|root|tmp|work|usr|opt)/", path.read_bytes().decode("latin-1")) == []
    most = 1_000_000 if path.name == "bounds.safetensors" else 200_000  # proofs: a coefficient cannot be left out
    assert path.stat().st_size < most


def test_sources_of_a_run_are_theory_and_not_what_keeps_results():
    found = {path.stem for path in fingerprint.sources(runs.find("rug-grid").function)}
    assert {"features", "checks"} < found and not {"registry", "sweep", "store"} & found


def test_stored_table_is_stale_when_the_data_that_its_run_reads_change(tmp_path, monkeypatch):
    run, files = runs.find("rug-records"), fingerprint._files
    copies = shutil.copytree(files("superposition/data/records")[0].parent, tmp_path / "records")
    monkeypatch.setattr(fingerprint, "_files", lambda path: sorted(copies.iterdir()))
    key, point = runs.key, runs.points(run, "full")[0]
    before, of_point = fingerprint.of(run.function), key(run, point)
    changed = copies / "tile-2-5-p0.01.safetensors"
    changed.write_bytes(changed.read_bytes()[:-1] + b"?")
    assert fingerprint.of(run.function) != before and key(run, point) != of_point
    assert "older than the current library code" in tables.load("rug-records").note
