"""Store chapters with their outputs: ``python scripts/refresh.py [--again] [ch3 …]``, all of them by default.

The text twin (``book/ch3.md``) is what people edit; this writes ``book/ch3.ipynb`` from it. A chapter whose code is the
same up to names, and reaches the same library and the same stored tables, keeps its outputs without being run, unless
``--again`` asks for it. Where it runs, outputs that only rounding moved stay as they were. So a diff shows what an
edit changed. A failing cell ends the run and leaves the old notebook in place.
"""

import argparse
import json
import os
import re
import sys
import time
from importlib import resources
from pathlib import Path

import jupytext
import nbformat
import page_state
from jupytext.config import load_jupytext_config
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from superposition import runs
from superposition.book import running
from superposition.runs import tables

BOOK = Path(__file__).resolve().parent.parent / "book"
PICTURES = BOOK / "figures"  # of the README and the front page
LINE = re.compile(r"Table `([a-z0-9-]+)`: \d+ points, .*")  # below a table or a number, to the end of its line
LAST = ("errata", "ledger")  # generated from the executed chapters
# What a user's shell may hold and what would then change the stored figures and warnings.
FOREIGN = ("MPLBACKEND", "MATPLOTLIBRC", "PYTHONWARNINGS")


def chapters():
    """Return the names of all paired chapters, what is made from the others last."""
    names = sorted(path.stem for path in BOOK.glob("*.md") if "\njupytext:" in path.read_text(encoding="utf-8")[:200])
    return sorted(names, key=lambda name: name in LAST)


def as_saved(path):
    """Return the text of a page as jupytext and JupyterLab write it, so that saving without an edit changes nothing."""
    config = load_jupytext_config(str(path))
    return jupytext.writes(jupytext.read(path, config=config), fmt="md:myst", config=config)


def read(name):
    """Return the text twin as a notebook, with cell ids by content and the state that its outputs follow from."""
    path = BOOK / f"{name}.md"
    path.write_text(as_saved(path), encoding="utf-8")
    notebook = jupytext.read(path)
    notebook.metadata["jupytext"].pop("text_representation", None)  # which is the text's own, and dropped in saving
    page_state.identify(notebook.cells)
    state = page_state.state(notebook) if name.startswith("ch") else None  # other pages read the chapters
    if state:
        notebook.metadata["superposition"] = {"state": state}
    return notebook


def stored(name):
    """Return the notebook as it is stored, None if there is none."""
    path = BOOK / f"{name}.ipynb"
    return nbformat.read(path, as_version=nbformat.NO_CONVERT) if path.exists() else None


def holds(notebook, old):
    """Whether the outputs of a stored notebook are those of another one with other names and words."""
    known = notebook.metadata.get("superposition")
    return bool(old and known and known == old.metadata.get("superposition"))


def take_outputs(notebook, old):
    """Take over the stored outputs, code cell by code cell, and what the kernel said of its language."""
    notebook.metadata["language_info"] = old.metadata["language_info"]
    code = [[cell for cell in one.cells if cell.cell_type == "code"] for one in (notebook, old)]
    for cell, before in zip(*code, strict=True):
        cell.outputs, cell.execution_count = before.outputs, before.execution_count


def renew_captions(notebook):
    """Let captions below figures say what their cells say: they are outputs that no code follows."""
    for cell in notebook.cells:
        caption = cell.metadata.get("mystnb", {}).get("figure", {}).get("caption")
        outputs = [
            output for output in cell.get("outputs", ()) if output.get("metadata", {}).get(running.KIND) != "caption"
        ]
        if caption and outputs:
            said = {"text/markdown": caption, "text/plain": caption}
            below = nbformat.v4.new_output("display_data", data=said, metadata={running.KIND: "caption"})
            cell.outputs = [*outputs, below]


def renew_lines(notebook):
    """Let the lines of stored tables say how much was replayed by now: a signing changes nothing else on a page."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            texts = {kind: text for kind, text in output.get("data", {}).items() if isinstance(text, str)}
            output.get("data", {}).update({kind: LINE.sub(_line, text) for kind, text in texts.items()})


def _line(match):
    return tables.read(runs.find(match[1])).line


def execute(notebook, name):
    """Run all cells in ``book/``, one line of progress per cell on stderr."""
    total = sum(cell.cell_type == "code" for cell in notebook.cells)
    started = time.monotonic()

    def report(cell, cell_index, execute_reply):
        done = cell.execution_count or "-"
        print(f"{name}: cell {done} of {total}, {time.monotonic() - started:.1f} s", file=sys.stderr)

    NotebookClient(
        notebook,
        timeout=None,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,  # how a stream is cut into pieces depends on timing
        resources={"metadata": {"path": str(BOOK)}},
        extra_arguments=["--log-level=ERROR"],  # what the kernel writes to the terminal is for progress
        on_cell_executed=report,
    ).execute()


def clean(notebook):
    """Drop what differs from run to run: time stamps and widget state. JupyterLab wants ``language_info`` kept.

    It knows no tags, so what the book folds is folded for it in its own words, which the text twin leaves out.
    """
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        folded = {"source_hidden": {"hide-input", "hide-cell"}, "outputs_hidden": {"hide-output", "hide-cell"}}
        hidden = {name: True for name, tags in folded.items() if tags & set(cell.metadata.get("tags", []))}
        if hidden:
            cell.metadata["jupyter"] = hidden


def write(notebook, name):
    """Replace the notebook in one step, after checking it."""
    nbformat.validate(notebook)
    new = BOOK / f".{name}.ipynb.new"
    new.write_text(nbformat.writes(notebook, version=4) + "\n", encoding="utf-8")
    os.replace(new, BOOK / f"{name}.ipynb")


def write_pictures(notebook):
    """Write the pictures of the README and the front page again, as vector graphics: figures that have a file there."""
    for cell in notebook.cells:
        name = cell.metadata.get("mystnb", {}).get("figure", {}).get("name")
        picture = PICTURES / f"{name}.svg"
        if picture.exists():
            picture.write_text(cell.outputs[0].data["image/svg+xml"], encoding="utf-8")


def write_captions():
    """Write the captions of all pages where a running page finds its own."""
    notebooks = [jupytext.read(BOOK / f"{name}.md") for name in chapters()]
    cells = [cell for notebook in notebooks for cell in notebook.cells]
    found = {
        running.name_of(cell.source): cell.metadata["mystnb"]["figure"]["caption"]
        for cell in cells
        if "figure" in cell.metadata.get("mystnb", {})
    }
    write_beside(found, running.CAPTIONS)


def write_numbers():
    """Write the number of each stored page, at the book's parameters, where a page that runs at others finds it."""
    cells = [cell for name in chapters() if stored(name) for cell in stored(name).cells if cell.cell_type == "code"]
    said = ((cell, output.get("data", {}).get("text/markdown", "")) for cell in cells for output in cell.outputs)
    write_beside(
        {running.name_of(c.source): text for c, text in said if text.startswith(running.NUMBER)}, running.NUMBERS
    )


def write_outputs():
    """Write a digest of what each cell of the stored pages shows, with which a page that runs compares its own."""
    cells = [cell for name in chapters() if stored(name) for cell in stored(name).cells if cell.cell_type == "code"]
    shown = {running.name_of(cell.source): running.digest(cell.outputs) for cell in cells}
    write_beside({name: digest for name, digest in shown.items() if digest}, running.OUTPUTS)


def write_beside(found, file):
    """Write what pages find by the code of their cells."""
    text = json.dumps(found, indent=0, ensure_ascii=False, sort_keys=True)
    resources.files("superposition.book").joinpath(file).write_text(f"{text}\n", encoding="utf-8")


def refresh(name, again):
    """Read, run where it is needed or asked for, clean and write one chapter."""
    notebook, old = read(name), stored(name)
    if holds(notebook, old) and not again:
        take_outputs(notebook, old)
        print(f"{name}: its outputs hold", file=sys.stderr)
    else:
        execute(notebook, name)
        if old:
            page_state.keep_what_rounding_moved(notebook, old)
    renew_captions(notebook)
    renew_lines(notebook)
    clean(notebook)
    write(notebook, name)
    write_pictures(notebook)


def main():
    """Refresh the chapters named on the command line."""
    known = chapters()
    parser = argparse.ArgumentParser(description="Store chapters with their outputs, run where they need it.")
    parser.add_argument("--again", action="store_true", help="run also where the stored outputs hold")
    parser.add_argument("names", nargs="*", metavar="chapter", help=f"one of {', '.join(known)}; default: all")
    asked = parser.parse_args()
    names = asked.names or known
    unknown = sorted(set(names) - set(known))
    if unknown:
        parser.error(f"no chapter {', '.join(unknown)} in book/; there are {', '.join(known)}")
    for variable in FOREIGN:
        os.environ.pop(variable, None)
    write_captions()
    for name in sorted(set(names), key=known.index):
        try:
            refresh(name, asked.again)
        except CellExecutionError as error:
            sys.exit(f"{name}: a cell failed, book/{name}.ipynb is left as it was\n{error}")
    write_numbers()
    write_outputs()


if __name__ == "__main__":
    main()
