"""The meaning of columns: a line for all that a table holds and a run returns, and ranges that the tables keep."""

from pathlib import Path

import numpy as np
import pytest
from superposition import runs
from superposition.runs import columns, tables
from together import together

STORED = sorted(path.stem for path in tables.folder().glob("*.csv"))
SAID = {name: columns.of(run) for name, run in runs.RUNS.items()}

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
    return request.param, tables.load(request.param, replay=False).columns


def test_every_column_has_a_meaning_and_every_meaning_a_column(table):
    name, found = table
    assert set(SAID[name]) == set(found)
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


def test_no_prediction_is_stored(table):
    name, found = table
    stored, made = tables.read(runs.find(name)).stored, {}
    for predicted in runs.find(name).predicted:
        made |= predicted({**{column: found[column] for column in stored}, **made})
    assert made.keys() == set(found) - set(stored)
    for column, values in made.items():
        np.testing.assert_array_equal(values, found[column])


@together("name", SAID)
def test_every_field_has_a_meaning(name):
    assert set(runs.find(name).point.model_fields) <= set(SAID[name])


@together("name", SAID)
def test_meanings_are_short_and_say_something(name):
    for column, (unit, meaning) in SAID[name].items():
        assert unit.strip() == unit != "", column
        assert 8 <= len(meaning) < 180 and not meaning.endswith("."), column


@together("name", SAID)
def test_errors_have_the_unit_of_what_they_are_errors_of(name):
    for column, (unit, meaning) in SAID[name].items():
        if column.endswith("_se") and " / " in meaning:  # of a quotient of two columns
            assert unit == "no unit", column
        elif column.endswith("_se"):
            measured = SAID[name].keys() - runs.find(name).point.model_fields  # text_se: of text_loss, text is a field
            of = column[:-3] if column[:-3] in measured else f"{column[:-3]}_loss"
            of = {"above_se": "trained_loss"}.get(column, of)  # of a difference of two columns
            assert SAID[name][of].unit == unit, column
            assert "standard error" in meaning, column


def test_a_column_without_a_meaning_is_named(monkeypatch):
    found = tables.load("rug-grid")
    found.columns["new"] = found.columns["p"]
    monkeypatch.setattr(tables, "load", lambda name, replay: found)
    with pytest.raises(ValueError, match="run rug-grid says nothing of its column new; allowed: a Meaning for each"):
        columns.meanings("rug-grid")


def test_the_dictionary_beside_the_tables_is_what_the_runs_say():
    assert (tables.folder() / "columns.toml").read_text() == columns.dictionary(), "run `make reference`"


def test_a_name_of_letters_is_a_bare_key_and_others_are_quoted():
    assert [columns._key(name) for name in ("ns_2", "n IPR", "p%")] == ["ns_2", '"n IPR"', '"p%"']


def test_the_dictionary_lies_beside_the_tables_and_is_packed():
    root = Path(__file__).resolve().parents[2]
    assert (root / "book" / "data").samefile(root / "lib" / "superposition" / "data")
    packed = next(line for line in (root / "pyproject.toml").read_text().splitlines() if "superposition.data" in line)
    assert '"*.toml"' in packed
