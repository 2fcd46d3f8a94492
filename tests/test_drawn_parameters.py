"""Every page at two sets of parameters drawn by a seed: what it says of its outputs, against what the book shows.

The book's own parameters are those of the stored outputs, which `pytest --nbval` compares.
"""

import copy
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from superposition.book import parameters, running

BOOK = Path(__file__).resolve().parent.parent / "book"
NOT_DRAWN = {"seed", "device", "quick", "minutes"}  # other seeds have tests of their own
SEEDS = (541, 542)
PAGES = [path.stem for path in sorted(BOOK.glob("ch*.md")) if "parameters.check(" in path.read_text(encoding="utf-8")]


def drawn(model, rng):
    """Values between 3/4 and 4/3 of the book's, for every parameter of a page, drawn until the page allows them."""
    book = {name: value for name, value in model().model_dump().items() if name not in NOT_DRAWN}
    for _ in range(10_000):
        given = {name: near(value, rng) for name, value in book.items()}
        try:
            found = model(**given).model_dump(include=set(book))
        except ValueError:
            continue
        if found != book:
            return given
    raise AssertionError("no values that the page allows")


def near(value, rng):
    """Return a value, or the values of a tuple, times a factor between 3/4 and 4/3."""
    if isinstance(value, tuple):
        return [near(one, rng) for one in value]
    found = value * (3 / 4) ** rng.uniform(-1, 1)
    return round(found) if isinstance(value, int) else float(f"{found:.3g}")


def of_cells(cells, given):
    """Cells of a page with other parameters, as papermill writes them."""
    cells = copy.deepcopy(cells)
    first = next(i for i, cell in enumerate(cells) if "parameters" in cell.metadata.get("tags", []))
    lines = [f"{name} = {value!r}" for name, value in given.items()]
    return [*cells[: first + 1], nbformat.v4.new_code_cell("\n".join(["# Parameters", *lines])), *cells[first + 1 :]]


def run(page, kernel):
    """The code cells of a page as stored, and as they ran at each of the two sets of parameters, in one kernel."""
    notebook = nbformat.read(BOOK / f"{page}.ipynb", as_version=4)
    stored = [cell for cell in notebook.cells if cell.cell_type == "code"]
    model = getattr(parameters, re.search(r"parameters\.check\(globals\(\), parameters\.(\w+)\)", str(stored))[1])
    sets = [drawn(model, np.random.default_rng([seed, *page.encode()])) | {"quick": True} for seed in SEEDS]
    first, second = (of_cells(stored, given) for given in sets)
    notebook.cells = [*first, nbformat.v4.new_code_cell("%reset -f"), *second]
    NotebookClient(notebook, timeout=600, kernel_name=kernel, resources={"metadata": {"path": BOOK}}).execute()
    parts = notebook.cells[: len(first)], notebook.cells[len(first) + 1 :]
    return stored, [[cell for cell in cells if not cell.source.startswith("# Parameters\n")] for cells in parts]


def lines(cell):
    """What a page says of itself in the outputs of a cell, by kind."""
    own = [output for output in cell.outputs if running.KIND in output.get("metadata", {})]
    return {output.metadata[running.KIND]: output.data["text/plain"] for output in own}


@pytest.mark.thorough
@pytest.mark.parametrize("opened", PAGES)  # by this name a page has a worker of its own
def test_a_page_says_of_its_outputs_what_they_are(opened, page_kernel):
    stored, parts = run(opened, page_kernel)
    marks = set()
    for cell, *here in zip(stored, *parts, strict=True):
        book, shows = running.digest(cell.outputs), [running.digest(one.outputs) for one in here]
        said = [lines(one) for one in here]
        for line, show in zip(said, shows, strict=True):
            assert ("mark" in line) == (bool(show) and not cell.source.endswith("\npar")), cell.source
            if "mark" in line:
                assert (line["mark"] == running.SAME) == (show == book), cell.source
                marks.add(show == book)
            if show and "caption" in line:
                assert line["caption"].startswith(running.THE_BOOKS) == (show != book), cell.source
        if all(running.NOT_USED in line.get("mark", "") for line in said):  # a rounding of this machine, no parameter
            assert shows[0] == shows[1], cell.source
    assert True in marks and False in marks


@pytest.mark.thorough
def test_a_page_kept_elsewhere_runs_again_with_the_same_outputs(tmp_path):
    page = BOOK / "ch10-company.ipynb"
    for command in (
        ("papermill", "--no-progress-bar", page, "out.ipynb", "-p", "n", "10", "-p", "quick", "true"),
        ("pytest", "-q", "--nbval", "-p", "no:cacheprovider", "out.ipynb"),
    ):
        subprocess.run([sys.executable, "-m", *command], cwd=tmp_path, check=True, capture_output=True)
    assert running.YOURS in (tmp_path / "out.ipynb").read_text(encoding="utf-8")
