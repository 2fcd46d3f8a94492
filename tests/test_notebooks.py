"""Stored notebooks are whole: what their text twin says, executed once from top to bottom, nothing left over.

nbval compares nothing in a cell without an execution count, so cleared outputs are caught here.
"""

import json
import re
import runpy
from pathlib import Path

import jupytext
import nbformat
import pytest
from jupytext.compare import NotebookDifference, compare_notebooks

BOOK = Path(__file__).resolve().parent.parent / "book"
HEADER = re.compile(r"\A---\n(?:.*\n)*?jupytext:\n", re.MULTILINE)
TEXTS = sorted(path for path in BOOK.glob("*.md") if HEADER.match(path.read_text(encoding="utf-8")))

PICTURES = {"image/svg+xml", "image/png", "image/jpeg"}
LEFTOVERS = {"application/vnd.jupyter.widget-view+json", "application/vnd.jupyter.widget-state+json"}
PROGRESS_BAR = re.compile(r"\d+%\|.*\||it/s\]|s/it\]|\r")
MACHINE_PATH = re.compile(
    r"(?<![\w.:/])/(?:home|root|tmp|usr|opt|work|var|Users|mnt|srv)/\S*|[A-Z]:\\+Users|ipykernel_\d+"
)

STATE = runpy.run_path(str(BOOK.parent / "scripts" / "page_state.py"))
chapters = pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
REFRESH = "run `make refresh`, which runs only the pages that need it"


def notebook(text):
    """Return the stored twin of a text."""
    return nbformat.read(text.with_suffix(".ipynb"), as_version=nbformat.NO_CONVERT)


def code(text):
    """Return the code cells of the stored twin."""
    return [cell for cell in notebook(text).cells if cell.cell_type == "code"]


def outputs(text):
    """Return every stored output with the number of its code cell."""
    return [(number, output) for number, cell in enumerate(code(text), 1) for output in cell.outputs]


def test_there_are_chapters():
    assert {path.stem for path in TEXTS} >= {"ch3", "ledger"}
    stray = {path.stem for path in BOOK.glob("*.ipynb")} - {path.stem for path in TEXTS}
    assert stray == set(), "a notebook without a text twin: nobody can edit it"


@chapters
def test_twins_agree(text):
    assert text.with_suffix(".ipynb").exists(), f"{text.stem}.ipynb is missing: {REFRESH}"
    stored = notebook(text)
    stored.metadata.pop("superposition", None)  # what the outputs follow from
    for cell in stored.cells:
        cell.metadata.pop("jupyter", None)  # what JupyterLab folds, see below
    written = jupytext.read(text)
    written.metadata["jupytext"].pop("text_representation")  # the text's own
    try:
        compare_notebooks(stored, written, "md:myst", compare_outputs=False, compare_ids=False)
    except NotebookDifference as difference:
        pytest.fail(f"{difference}\n{REFRESH}")


@chapters
def test_saving_changes_nothing(text, monkeypatch):
    """JupyterLab and `jupytext --sync` write both files again; a reader's first edit should be the only one."""
    monkeypatch.syspath_prepend(BOOK.parent / "scripts")
    saved = runpy.run_path(str(BOOK.parent / "scripts" / "refresh.py"))["as_saved"](text)
    assert saved == text.read_text(encoding="utf-8"), REFRESH
    assert "text_representation" not in notebook(text).metadata["jupytext"], REFRESH


@chapters
def test_plus_minus_is_one_standard_error(text):
    """As the front page says; the scatter of single runs has another name."""
    lines = text.read_text(encoding="utf-8").splitlines()
    scatter = [
        line
        for line in lines
        if re.search(r"± (is )?the standard deviation|mean\(\), [\w\[\]\"]+\.std\(ddof=1\)\)", line)
    ]
    scatter += [line for line in lines if re.search(r"± ?\{[\w\[\]\"]+\.std\(ddof=1\)(?! /)", line)]
    assert scatter == [], "± is a standard error: the standard deviation over the root of the number of runs"


@chapters
def test_jupyterlab_folds_what_the_book_folds(text):
    book = [bool({"hide-input", "hide-cell"} & set(cell.metadata.get("tags", []))) for cell in code(text)]
    assert [cell.metadata.get("jupyter", {}).get("source_hidden", False) for cell in code(text)] == book, REFRESH
    assert "cell_metadata_filter: all,-jupyter" in text.read_text(encoding="utf-8"), "or its twin opens unfolded"


@chapters
def test_every_cell_ran_in_order(text):
    counts = [cell.execution_count for cell in code(text)]
    assert counts == list(range(1, len(counts) + 1)), REFRESH
    assert counts, "no code at all"


@chapters
def test_it_is_small_enough_for_git(text):
    # Every refresh stores it again. Figures with many points want rasterized=True, checks a worst case.
    assert text.with_suffix(".ipynb").stat().st_size < 1.6e6


@chapters
def test_something_is_shown(text):
    assert outputs(text), f"no stored output at all: {REFRESH}"


@chapters
def test_every_output_can_be_compared_and_shown(text):
    # nbval compares the plain text; the page leaves out a JSON record that has no HTML beside it, without a word.
    shown = [(number, output.data) for number, output in outputs(text) if "data" in output]
    assert [number for number, data in shown if "text/plain" not in data] == []
    records = [(number, data) for number, data in shown if any(mime.endswith("+json") for mime in data)]
    assert [number for number, data in records if not {"text/html", "text/markdown"} & set(data)] == []


@chapters
def test_no_error_and_no_stderr(text):
    bad = [n for n, o in outputs(text) if o.output_type == "error" or o.get("name") == "stderr"]
    assert bad == []


@chapters
def test_no_progress_bars_or_widgets(text):
    assert "widgets" not in notebook(text).metadata
    bad = [n for n, o in outputs(text) if LEFTOVERS & set(o.get("data", ())) or PROGRESS_BAR.search(o.get("text", ""))]
    assert bad == []


@chapters
def test_what_stands_open_is_short(text):
    # What a reader would type stays visible, plumbing and groups of checks are folded.
    folded = {"hide-input", "hide-cell", "remove-input", "remove-cell", "parameters"}
    visible = [cell for cell in code(text) if not folded & set(cell.metadata.get("tags", []))]
    assert [cell.id for cell in visible if len(cell.source.strip().splitlines()) > 10] == []


@chapters
def test_no_cell_ends_in_a_semicolon(text):
    # nbval runs cells without a history, where IPython's semicolon hides nothing: end a figure with `plt.show()`.
    assert [number for number, cell in enumerate(code(text), 1) if cell.source.rstrip().endswith(";")] == []


@chapters
def test_ids_are_fixed_and_time_stamps_gone(text):
    cells, again = notebook(text).cells, notebook(text).cells
    STATE["identify"](again)
    assert [cell.id for cell in cells] == [cell.id for cell in again], REFRESH
    assert [cell.id for cell in cells if "execution" in cell.metadata] == [], REFRESH


@chapters
def test_kernel_is_the_one_everybody_has(text):
    metadata = notebook(text).metadata
    assert metadata.kernelspec.name == "python3"
    assert metadata.language_info.name == "python", "JupyterLab marks a notebook without language_info as changed"


@chapters
def test_figures_have_caption_and_alt_text(text):
    for number, cell in enumerate(code(text), 1):
        if any(PICTURES & set(output.get("data", ())) for output in cell.outputs):
            shown = cell.metadata.get("mystnb", {})
            assert shown.get("image", {}).get("alt", "").strip(), f"code cell {number}: a figure without alt text"
            assert shown.get("figure", {}).get("caption", "").strip(), f"code cell {number}: a figure without caption"
            assert shown["figure"].get("name", "").startswith("fig-"), f"code cell {number}: a figure without a name"


@chapters
def test_a_drawing_has_a_picture_of_points_beside_it(text):
    """JupyterLab shows no svg in a notebook that it does not trust."""
    kinds = [set(output.get("data", ())) for cell in code(text) for output in cell.outputs]
    assert all("image/png" in kind for kind in kinds if "image/svg+xml" in kind)


@chapters
def test_outputs_name_no_path_of_one_machine(text):
    for number, output in outputs(text):
        shown = json.dumps(output, ensure_ascii=False).replace("\\n", "\n")
        assert MACHINE_PATH.findall(shown) == [], f"code cell {number}"


@pytest.mark.parametrize("text", [path for path in TEXTS if path.stem.startswith("ch")], ids=lambda path: path.stem)
def test_parameters_come_first(text):
    tagged = [number for number, cell in enumerate(code(text)) if "parameters" in cell.metadata.get("tags", [])]
    assert tagged == [0], "papermill runs at the defaults, silently, without this tag"


def test_the_front_page_leads_to_every_page_of_a_chapter():
    front = (BOOK / "intro.md").read_text(encoding="utf-8")
    assert [text.stem for text in TEXTS if text.stem.startswith("ch") and f"({text.stem}.ipynb)" not in front] == []


PLACES = [BOOK.parent / "README.md", BOOK / "intro.md"]


@pytest.mark.parametrize("picture", sorted((BOOK / "figures").glob("*.svg")), ids=lambda path: path.stem)
def test_pictures_outside_the_chapters_are_those_of_the_chapters(picture):
    assert any(f"figures/{picture.name}" in place.read_text(encoding="utf-8") for place in PLACES)
    drawn = [
        "".join(cell.outputs[0].data["image/svg+xml"])
        for text in TEXTS
        for cell in code(text)
        if cell.metadata.get("mystnb", {}).get("figure", {}).get("name") == picture.stem
    ]
    assert drawn == [picture.read_text(encoding="utf-8")], REFRESH


EXERCISE = re.compile(r"^```\{exercise\}[^\n]*\n:label: (ex-[a-z0-9-]+)$", re.MULTILINE)
SOLUTION = re.compile(r"^`{3,}\{solution\} (\S+)\n:class: dropdown$", re.MULTILINE)


def test_exercises_have_labels_of_their_own_and_a_solution_each():
    # Sphinx numbers them and refuses references to labels that are not there.
    texts = {path.stem: path.read_text(encoding="utf-8") for path in TEXTS if path.stem.startswith("ch")}
    found = {page: EXERCISE.findall(text) for page, text in texts.items()}
    assert {page: SOLUTION.findall(text) for page, text in texts.items()} == found
    assert [page for page, labels in found.items() if len(labels) < 3] == []
    every = sum(found.values(), [])
    assert len(set(every)) == len(every)


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_no_exercise_is_named_by_a_typed_number(text):
    assert re.findall(r"[Ee]xercise \d.*", text.read_text(encoding="utf-8")) == []
