"""Tables of chapters: what stands in a cell, and what is compared between machines."""

import re

import numpy as np
import pytest
from superposition.book.tables import cell, table


def test_columns_and_rows_give_the_same_table():
    columns = table({"$r$": np.array([0.1, 0.2]), "loss": [0.25, 0.125], "note": ["a", None]})
    rows = table([{"$r$": 0.1, "loss": 0.25, "note": "a"}, {"$r$": 0.2, "loss": 0.125, "note": None}])
    assert columns == rows
    assert columns.markdown == (
        "| $r$ | loss | note |\n| --- | --- | --- |\n| 0.1 | 0.25 | a |\n| 0.2 | 0.125 | – |"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [
        (0.123456, "", "0.123"),
        (np.float32(2.0), "", "2"),
        (-1.5, "", "−1.5"),
        (1.5e-9, "", "1.5e−09"),
        (54321.9, "", "54322"),
        (1000.0, "", "1000"),
        (4e6, "", "4e+06"),
        (np.int64(54321), "", "54321"),
        (-0.25, "{:+.1f} %", "−0.2 %"),
        (0.25, ".3f", "0.250"),
        ((0.5, 0.01), ".2f", "0.50 ± 0.01"),
        (np.array([0.5, 0.25]), ".2f", "0.50, 0.25"),
        (np.array(0.5), "", "0.5"),
        ([1, 2], "", "1, 2"),
        ("a | b", "", "a \\| b"),
        ("$2|b|^2$ | 3", "", "$2\\vert b\\vert ^2$ \\| 3"),
        ("a \\| b", "", "a \\| b"),
        ("$\\|w\\|_1$", "", "$\\Vert w\\Vert _1$"),
        ("p-value 3-4", "", "p-value 3-4"),
        (None, ".3f", "–"),
        (float("nan"), "", "nan"),
    ],
)
def test_cells(value, form, shown):
    assert cell(value, form) == shown


def test_the_text_form_holds_no_measured_digit_unless_asked():
    first, second = (table({"$n$": [1], "loss": [loss]}, before="Loss 0.5:")._repr_mimebundle_() for loss in (0.5, 0.7))
    assert first["text/plain"] == second["text/plain"] == "$n$ | loss"
    assert "0.7" in second["text/markdown"]
    asked = table({"$n$": [1], "loss": [0.5]}, exact=True)._repr_mimebundle_()
    assert asked["text/plain"] == "$n$ | loss\n1 | 0.5"


def test_paragraphs_stand_around_it():
    shown = table({"n": [1]}, before="Medians:", after="The end.").markdown
    assert re.fullmatch(r"Medians:\n\n\| n \|\n\| --- \|\n\| 1 \|\n\nThe end\.", shown)


def test_a_bar_in_a_heading_ends_no_cell():
    assert table({"$|b|$": [1], "c": [2]}).markdown.splitlines()[0] == "| $\\vert b\\vert $ | c |"


@pytest.mark.parametrize("empty", [[], {"n": []}])
def test_a_table_without_rows_says_so(empty):
    assert table(empty).markdown == "Nothing to show here."


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: table({"a": [1, 2], "b": [1]}), "columns have {'a': 2, 'b': 1} cells; allowed: one length"),
        (lambda: table([{"a": 1}, {"b": 1}]), r"row 1 has the headings \['b'\]; allowed: \['a'\]"),
        (lambda: table({"a": [1]}, {"b": ".3f"}), "formats = 'b' is unknown; allowed: a"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
