"""What a page says of itself where it runs: its captions, and at whose parameters an output was made."""

import json
from importlib import resources
from pathlib import Path

import jupytext
import pytest
from superposition.book import running

BOOK = Path(__file__).resolve().parents[2] / "book"
PAGES = [path for path in sorted(BOOK.glob("*.md")) if "\njupytext:" in path.read_text(encoding="utf-8")[:200]]


@pytest.fixture(scope="module")
def stored():
    return json.loads(resources.files("superposition.book").joinpath(running.CAPTIONS).read_text(encoding="utf-8"))


def test_every_figure_finds_its_caption(stored):
    cells = [cell for page in PAGES for cell in jupytext.read(page).cells if cell.cell_type == "code"]
    figures = {
        running.name_of(cell.source): cell.metadata["mystnb"]["figure"]["caption"]
        for cell in cells
        if "figure" in cell.metadata.get("mystnb", {})
    }
    assert stored == figures, "run make refresh"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_stored_captions_are_those_of_their_figures(page):
    notebook = jupytext.read(page.with_suffix(".ipynb"))
    for cell in (cell for cell in notebook.cells if "figure" in cell.metadata.get("mystnb", {})):
        below = [
            output.data["text/plain"] for output in cell.outputs if output.get("metadata") == {running.KIND: "caption"}
        ]
        assert below == [cell.metadata["mystnb"]["figure"]["caption"]], "run make refresh"


def test_a_caption_follows_its_figure_wherever_a_kernel_runs_it(stored, monkeypatch):
    from IPython.testing.globalipapp import get_ipython

    shell = get_ipython()
    shown = []
    monkeypatch.setattr(running, "_print", lambda text, kind: shown.append((text, kind)))
    monkeypatch.setattr(running, "_stored", lambda file: {running.name_of("1 + 1"): "Two."})
    monkeypatch.setattr(running, "_shell", lambda: shell)
    running.show_captions()
    for cell in ("1 + 1", "1 + 2"):
        shell.run_cell(cell)
    shell.events.unregister("post_run_cell", running._caption)
    assert shown == [("Two.", "caption")]


CELLS = [
    ("par", ""),
    ("import numpy as np\nfew = par.fewer(5, 3)", ""),
    ("def draw():\n    return few", ""),
    ("x = draw()\nx", "yours"),
    ("rug = 2\nrug", "defaults"),
    ("rug + x", "yours"),
    ("for _ in range(few):\n    y = 1", ""),
    ("print(y)", "yours"),
]


@pytest.mark.parametrize(("quick", "changed"), [(True, False), (False, True), (True, True)])
def test_an_output_says_whether_it_follows_from_the_parameters(quick, changed):
    marks = running.Marks(quick, changed)
    for source, whose in CELLS:
        lines = {"yours": [running.YOURS], "defaults": [running.DEFAULTS], "": []}[whose] if changed else []
        lines = lines + [running.QUICK] * (quick and whose == "yours")
        assert marks.said(source) == " ".join(lines), source


@pytest.mark.parametrize("path", sorted(BOOK.glob("ch*.ipynb")), ids=lambda path: path.stem)
def test_every_number_of_the_book_is_found_by_the_code_that_made_it(path):
    stored = json.loads(resources.files("superposition.book").joinpath(running.NUMBERS).read_text(encoding="utf-8"))
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    said = [
        (running.name_of("".join(cell["source"])), "".join(output.get("data", {}).get("text/markdown", "")))
        for cell in cells
        for output in cell["outputs"]
    ]
    numbers = [(name, text) for name, text in said if text.startswith(running.NUMBER)]
    assert len(numbers) == 1
    assert [(name, stored.get(name)) for name, _ in numbers] == numbers, "run make refresh"


@pytest.mark.parametrize(("source", "told"), [("few", True), ("2", False), ("1 / few", False)])
def test_the_number_of_the_book_stands_below_that_of_a_reader(monkeypatch, source, told):
    shown = []
    monkeypatch.setattr(running, "_print", lambda text, kind: shown.append((text, kind)))
    monkeypatch.setattr(running, "_stored", lambda file: {running.name_of(source): "**The number.** Two of five."})
    marks = running.Marks(quick=False, changed=True)
    marks.said("few = par.fewer(5, 3)")
    marks.said(source)
    done = type("Result", (), {"info": type("Info", (), {"raw_cell": source}), "success": "/" not in source})
    marks.after(done)
    assert shown == ([("**In the book,** at its parameters: Two of five.", "number")] if told else [])


def test_at_the_defaults_nothing_is_said(monkeypatch):
    from superposition.book import parameters

    shell = type("Shell", (), {"events": None})()
    monkeypatch.setattr(running, "_shell", lambda: shell)
    running.say_whose(parameters.Bounds())  # would fail without events
