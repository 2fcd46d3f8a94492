"""The list of figures: which page, which caption, which stored tables."""

import json

from superposition.book import figures


def page(tmp_path, *cells):
    """Write a notebook of code cells; a caption makes a cell a figure."""
    stored = []
    for source, caption in cells:
        shown = {"mystnb": {"figure": {"caption": caption, "name": "fig-x"}}} if caption else {}
        stored.append({"cell_type": "code", "source": [source], "metadata": shown})
    path = tmp_path / "ch9.ipynb"
    path.write_text(json.dumps({"cells": [*stored, {"cell_type": "markdown", "source": ["tables.load('no')"]}]}))
    return path


def test_a_table_is_followed_through_assignments(tmp_path):
    cells = [
        ('grid = tables.load("rug-grid")\npart = grid.where(ns=128)', None),
        ("show(part)", "Part of it. More words."),
        ("plt.show()", "Nothing stored: a picture."),
        ("grid = 3\nshow(grid)", "Another thing of the same name."),
        ("show(tables.load('toy-phase'), part)", "Two"),
    ]
    found = figures.listing(page(tmp_path, *cells))
    assert [figure.runs for figure in found] == [("rug-grid",), (), (), ("rug-grid", "toy-phase")]
    assert [figure.caption for figure in found][:2] == ["Part of it", "Nothing stored"]
    assert {(figure.page, figure.name) for figure in found} == {("ch9", "fig-x")}


def test_what_a_loop_leaves_behind_is_not_followed(tmp_path):
    cells = [('for row in tables.load("rug-grid").rows:\n    print(row)', None), ("show(row)", "A name used again.")]
    assert figures.listing(page(tmp_path, *cells))[0].runs == ()
