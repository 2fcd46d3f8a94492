"""Execute chapters again and store their outputs: ``python scripts/refresh.py [ch3 …]``, all of them by default.

The text twin (``book/ch3.md``) is what people edit; this writes ``book/ch3.ipynb`` from it. A second run writes the
same bytes, so a diff shows what an edit changed. A failing cell ends the run and leaves the old notebook in place.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

BOOK = Path(__file__).resolve().parent.parent / "book"
PICTURE = BOOK / "figures" / "fig-ch3-ratio.svg"
LAST = "ledger"  # generated from the executed chapters
# What a user's shell may hold and what would then change the stored figures and warnings.
FOREIGN = ("MPLBACKEND", "MATPLOTLIBRC", "PYTHONWARNINGS")


def chapters():
    """Return the names of all paired chapters, the ledger last."""
    names = sorted(path.stem for path in BOOK.glob("*.md") if "\njupytext:" in path.read_text(encoding="utf-8")[:200])
    return sorted(names, key=lambda name: name == LAST)


def read(name):
    """Return the text twin as a notebook with fixed cell ids, so that a second run is byte-identical."""
    notebook = jupytext.read(BOOK / f"{name}.md")
    for number, cell in enumerate(notebook.cells):
        cell.id = f"{name}-{number:02d}"
    return notebook


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


def write_readme_picture(notebook):
    """Keep the picture of the README beside the chapters: the figure of that name, as a vector graphic."""
    for cell in notebook.cells:
        if cell.metadata.get("mystnb", {}).get("figure", {}).get("name") == PICTURE.stem:
            PICTURE.parent.mkdir(exist_ok=True)
            PICTURE.write_text(cell.outputs[0].data["image/svg+xml"], encoding="utf-8")


def refresh(name):
    """Read, run, clean and write one chapter."""
    notebook = read(name)
    execute(notebook, name)
    clean(notebook)
    write(notebook, name)
    write_readme_picture(notebook)


def main():
    """Refresh the chapters named on the command line."""
    known = chapters()
    parser = argparse.ArgumentParser(description="Execute chapters again and store their outputs.")
    parser.add_argument("names", nargs="*", metavar="chapter", help=f"one of {', '.join(known)}; default: all")
    names = parser.parse_args().names or known
    unknown = sorted(set(names) - set(known))
    if unknown:
        parser.error(f"no chapter {', '.join(unknown)} in book/; there are {', '.join(known)}")
    for variable in FOREIGN:
        os.environ.pop(variable, None)
    for name in sorted(set(names), key=known.index):
        try:
            refresh(name)
        except CellExecutionError as error:
            sys.exit(f"{name}: a cell failed, book/{name}.ipynb is left as it was\n{error}")


if __name__ == "__main__":
    main()
