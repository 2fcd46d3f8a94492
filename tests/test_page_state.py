"""What stored outputs follow from: names, words and folds do not count; formulas, tables and verdicts do."""

import json
import runpy
from pathlib import Path

import nbformat
import pytest

STATE = runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "page_state.py"))
HEAD = "from superposition.rug import meanfield\nfrom superposition.runs import tables"
BODY = "grid = tables.load('rug-grid')\nmeanfield.linear_loss(0.05, 0.2)"


def page(*code, caption="A loss."):
    cells = [nbformat.v4.new_code_cell(source) for source in code]
    cells[-1].metadata["mystnb"] = {"figure": {"caption": caption}}
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("Words."), *cells])


def state(*code, **options):
    return STATE["state"](page(*code, **options))


@pytest.mark.parametrize(
    "code",
    [
        (HEAD.replace("meanfield", "meanfield as theory"), BODY.replace("meanfield", "theory")),
        (HEAD.replace("rug import meanfield", "rug.meanfield import linear_loss"), BODY.replace("meanfield.", "")),
        (HEAD + "\nimport superposition.rug.meanfield", BODY.replace("meanfield.", "superposition.rug.meanfield.")),
        (HEAD + "  # and a comment", BODY),
        (f"try:\n    import json\nexcept ModuleNotFoundError:\n    fetch('..')\n{HEAD}", BODY),
    ],
    ids=["alias", "another door", "whole path", "comment", "where the library comes from"],
)
def test_another_name_for_the_same_leaves_the_outputs(code):
    assert state(*code) == state(HEAD, BODY)


@pytest.mark.parametrize(
    "code",
    [
        (HEAD, BODY.replace("0.05", "0.06")),
        (HEAD, BODY.replace("linear_loss", "noise_std")),
        (HEAD, BODY.replace("rug-grid", "rug-seeds")),
        (HEAD, BODY + "\n'rug.eq5'"),
        (BODY, HEAD),
        (HEAD, "try:\n    x = 1\nexcept ModuleNotFoundError:\n    fetch('..')\n" + BODY),
    ],
    ids=["number", "function", "table", "claim", "order", "what is tried"],
)
def test_what_changes_outputs_is_seen(code):
    assert state(*code) != state(HEAD, BODY)


def test_a_caption_stands_in_the_output():
    assert state(HEAD, BODY, caption="Another.") != state(HEAD, BODY)


def test_another_signing_of_a_table_leaves_the_outputs(monkeypatch, tmp_path):
    before, data = state(HEAD, BODY), STATE["DATA"]
    for path in data.glob("rug-grid.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setitem(STATE["_tables"].__globals__, "DATA", tmp_path)
    said = json.loads((tmp_path / "rug-grid.json").read_text())
    (tmp_path / "rug-grid.json").write_text(json.dumps(said | dict.fromkeys(STATE["SIGNED"], "0")))
    assert state(HEAD, BODY) == before
    (tmp_path / "rug-grid.json").write_text(json.dumps(said | {"seconds_total": 1.0}))
    assert state(HEAD, BODY) != before


def test_what_cannot_be_followed_has_no_state():
    assert state("from superposition.rug import nothing_of_that_name", "nothing_of_that_name()") is None


def test_an_inserted_cell_changes_no_other_id():
    cells, more = page("a", "b", "a").cells, page("a", "new", "b", "a").cells
    STATE["identify"](cells)
    STATE["identify"](more)
    assert [cell.id for cell in more if cell.source != "new"] == [cell.id for cell in cells]
    assert len({cell.id for cell in more}) == len(more)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("loss 0.1234567890123456", "loss 0.1234567890123457", True),
        ("loss 0.12346", "loss 0.12347", False),
        ("<path d='M 10.5 3e-17'>", "<path d='M 10.500000000000002 2e-18'>", True),
        ({"a": [1, 0.5]}, {"a": [1, 0.5 + 1e-12]}, True),
        ({"a": [1]}, {"a": [2]}, False),
        ({"image/svg+xml": "M 1", "image/png": "x"}, {"image/svg+xml": "M 1", "image/png": "y"}, True),
        ({"image/png": "x"}, {"image/png": "y"}, False),
    ],
)
def test_outputs_are_alike_up_to_rounding(one, other, same):
    assert STATE["alike"](one, other) == same
