"""The dictionary of columns: a line for every column of every table, none too many, and ranges that the tables keep."""

from pathlib import Path

import numpy as np
import pytest
from superposition.runs import columns, tables

STORED = sorted(path.stem for path in tables.folder().glob("*.csv"))
LINES = columns.lines()

RANGES = {
    "0 to 1": (0, 1),
    "0 to 2": (0, 2),
    "0 to 3": (0, 3),
    "-1 to 1": (-1, 1),
    "(0, 1]": (np.nextafter(0, 1), 1),
    "(0, 1)": (np.nextafter(0, 1), np.nextafter(1, 0)),
    "above 0": (np.nextafter(0, 1), np.inf),
    "0 or more": (0, np.inf),
    "1 or more": (1, np.inf),
}
COUNTS = ("features", "dimensions", "neurons", "networks", "vectors", "steps", "step", "pixels", "pairs of features")
ROUNDING = 1e-9


@pytest.fixture(scope="module", params=STORED)
def table(request):
    return request.param, tables.load(request.param).columns


def test_every_column_has_exactly_one_line(table):
    name, found = table
    known = [column for pattern, column, _ in LINES if columns.applies(pattern, name)]
    assert {column: known.count(column) for column in found} == dict.fromkeys(found, 1)
    assert list(columns.meanings(name)) == list(found)


def test_values_are_in_the_range_that_is_said(table):
    name, found = table
    for column, (unit, _) in columns.meanings(name).items():
        values = found[column]
        if unit in RANGES:
            low, high = RANGES[unit]
            assert (values >= low - ROUNDING * (low <= 0)).all(), column
            assert (values <= high + ROUNDING).all(), column
        elif unit in COUNTS:
            assert (values >= 0).all(), column
        elif values.dtype.kind == "U" and "," in unit and "text" not in unit:
            assert set(values) <= set(unit.split(", ")), column


def test_no_line_is_too_many():
    has = {name: set(tables.load(name).columns) for name in STORED}
    idle = [(names, column) for names, column, _ in LINES if not any(
        columns.applies(names, name) and column in has[name] for name in STORED)]  # fmt: skip
    assert idle == []
    for names in {names for names, *_ in LINES}:
        own = {column for pattern, column, _ in LINES if pattern == names}
        for one in names.split():
            assert any(columns.applies(one, name) and own & has[name] for name in STORED), (names, one)


def test_lines_are_short_and_say_something():
    for _, column, (unit, meaning) in LINES:
        assert unit.strip() == unit != "", column
        assert 8 < len(meaning) < 180 and not meaning.endswith("."), column


def test_errors_have_the_unit_of_what_they_are_errors_of():
    for pattern, column, (unit, meaning) in LINES:
        if column.endswith("_se"):
            whole = [one.unit for names, name, one in LINES if (names, name) == (pattern, column[:-3])]
            assert whole == [unit], column
            assert "standard error" in meaning, column


def test_a_column_without_a_line_is_named(tmp_path, monkeypatch):
    (tmp_path / "columns.toml").write_text('["*"]\nseed = ["whole", "seed of everything"]\n')
    found = tables.load("rug-grid")
    monkeypatch.setattr(tables, "folder", lambda: tmp_path)
    monkeypatch.setattr(tables, "load", lambda name: found)
    with pytest.raises(ValueError, match="no line for column ns of table rug-grid"):
        columns.meanings("rug-grid")


def test_the_dictionary_lies_beside_the_tables_and_is_packed():
    root = Path(__file__).resolve().parents[2]
    assert (root / "book" / "data").samefile(root / "lib" / "superposition" / "data")
    assert (tables.folder() / "columns.toml").is_file()
    packed = next(line for line in (root / "pyproject.toml").read_text().splitlines() if "superposition.data" in line)
    assert '"*.toml"' in packed
