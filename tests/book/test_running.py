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


def test_a_caption_follows_its_figure_wherever_a_kernel_runs_it(stored, monkeypatch):
    from IPython.testing.globalipapp import get_ipython

    shell = get_ipython()
    shown = []
    monkeypatch.setattr(running, "_print", lambda text, kind: shown.append((text, kind)))
    monkeypatch.setattr(running, "_captions", lambda: {running.name_of("1 + 1"): "Two."})
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


def test_at_the_defaults_nothing_is_said(monkeypatch):
    from superposition.book import parameters

    shell = type("Shell", (), {"events": None})()
    monkeypatch.setattr(running, "_shell", lambda: shell)
    running.say_whose(parameters.Bounds())  # would fail without events
