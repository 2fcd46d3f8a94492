"""Small parts of the book's machinery that whole pages do not show."""

import base64
import io
from types import SimpleNamespace as Some
from unittest.mock import MagicMock
from xml.etree.ElementTree import Element

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from docutils.core import publish_doctree
from PIL import Image
from superposition.book import (
    contents,
    dark,
    frame,
    look_up,
    parameters,
    printed_forms,
    progress,
    reference,
    running,
    style,
)  # fmt: skip

ORIGIN = "Table `noise-rate`: 7 points, 0.1 hours of work, on cpu. It matches the current configuration of its run."


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("", ["base.js"]),
        ('<div data-slider="fan">', ["base.js", "sliders/theory.js", "sliders/drawing.js", "sliders/fan.js"]),
        ('<input id="ledger-filter">', ["base.js", "ledger.js"]),
        ('<input id="errata-filter">', ["base.js", "ledger.js"]),
        ('<input id="other-filter">', ["base.js"]),
    ],
)  # fmt: skip
def test_a_page_has_the_scripts_that_it_needs(body, left):
    names = ["base.js", "sliders/theory.js", "sliders/drawing.js", "sliders/fan.js", "sliders/cone.js", "ledger.js"]
    context = {"body": body, "script_files": [Some(filename=name) for name in names]}
    frame._leave_out_scripts(None, "page", "template", context, None)
    assert [one.filename for one in context["script_files"]] == left


def cell(kind):
    """A figure, a table with its origin, or something else."""
    about = {"figure": {"name": "fig-one"}} if kind == "figure" else {}
    data = [{"data": {"text/markdown": ORIGIN}}] if kind == "table" else []
    return {"cell_type": "code", "metadata": {"mystnb": about}, "source": kind, "outputs": data}


@pytest.mark.parametrize(
    ("kinds", "after"),
    [
        ("figure other other table figure", 4), ("figure table other other figure", 0), ("figure table figure", 0),
        ("table figure other figure", 1), ("figure other table", 0),
    ],
)  # fmt: skip
def test_the_origin_of_a_table_stands_below_the_nearest_figure(kinds, after):
    cells = [cell(kind) for kind in kinds.split()]
    shown = frame._with_footnotes(cells)
    assert [one["source"] for one in shown[: after + 1]] == kinds.split()[: after + 1]
    assert shown[after + 1]["source"].startswith('<details class="origin">') and len(shown) == len(cells) + 3


def test_formulas_are_known_by_their_own_names_and_that_of_their_section():
    text = "Title\n=====\n\n.. math::\n   :name: one\n\n   a = b\n\n.. math::\n   :name: two\n\n   c\n"
    app = Some(env=Some(get_doctree=lambda page: publish_doctree(text)))
    assert look_up._formulas(app, "page") == {"title": "a = b", "one": "a = b", "two": "c"}


@pytest.mark.parametrize(("page", "known"), [("index", {look_up.GLOSSARY}), ("ch1", set())])
def test_nothing_is_looked_up_outside_of_chapters_or_without_a_glossary(page, known):
    look_up._say_glossary(lambda: pytest.fail("it is read"), Some(env=Some(all_docs=known)), None, page)


def test_printed_forms_are_in_double_precision():
    L = [1, 2, 3]
    whole = (
        printed_forms.first_flow(L, L), printed_forms.gated_modes(1, L, L, L, 2), printed_forms.small_bump(1, [0], 1),
        printed_forms.steady_energy(L, 1), printed_forms.xor_matrix(4), printed_forms.fourier_basis(4),
    )  # fmt: skip
    assert {one.dtype for one in whole} == {np.dtype(float)}
    single = np.float32([0.3, 0.7])
    for one in (lambda r: printed_forms.small_bump(1, r, 1), lambda r: printed_forms.gated_modes(1, r, r, 2 * r, 2)):
        assert one(single).tolist() == one(single.astype(float)).tolist()
    assert printed_forms.first_flow([1, 2], [0.5, 0]).tolist() == [0.5, 2]


def test_printed_forms_of_a_bump():
    gain, r, Z = 0.7, np.array([0.3, 0.6]), 1.3
    angle = np.arctan2(r, np.sqrt(1 / 0.98 + 1 - r**2))
    np.testing.assert_allclose(printed_forms.small_bump(gain, r, Z), angle / (1.3 * np.pi**0.5))
    assert printed_forms.half_line_mean(gain, 0.3) == pytest.approx(2 * angle[0] / np.pi**0.5)


def test_progress_is_what_is_done(monkeypatch):
    bars = []

    class Bar:
        def __init__(self, **how):
            self.how, self.n, self.total, self.closed = how, 0, None, 0
            bars.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def update(self, more):
            self.n += more

        def close(self):
            self.closed += 1

    monkeypatch.setattr(progress, "tqdm", Bar)
    seen = []
    for item in progress.each(["a", "b", "c"], "going"):
        seen.append((item, bars[0].n, bars[0].total))
    assert seen == [("a", 0, None), ("b", 1, 3), ("c", 2, 3)] and (bars[0].n, bars[0].closed) == (3, 1)
    assert bars[0].how["desc"] == "going" and bars[0].how["leave"] is False and bars[0].how["file"].closed


@pytest.mark.parametrize(("x", "pale"), [(0.0, False), (-0.049, False), (-0.05, True), (0.049, False)])
def test_points_at_the_back_are_pale(x, pale):
    ax = plt.figure().add_subplot(projection="3d", elev=0, azim=0)
    corners = np.array([[x, 0, 1], [0.5, 1, -1], [0.5, -1, -1], [-0.9, 0, -0.5]]).T
    style.polyhedron(ax, corners)
    points = [line for line in ax.lines if line.get_marker() == "o"]
    assert [line.get_alpha() for line in points] == [0.35 if pale else 1, 1, 1, 0.35]
    plt.close(ax.figure)


def test_the_resolution_of_pictures_is_twenty_or_more():
    with mpl.rc_context():
        style.use_style(20)
        with pytest.raises(ValueError, match="dpi = 19"):
            style.use_style(19)


@pytest.mark.parametrize(("holes", "is_picture"), [(0, True), (4, True), (5, False), (10, False)])
def test_an_image_is_a_picture_where_less_than_half_shows_the_page(holes, is_picture):
    pixels = np.full((1, 10, 4), 255, dtype=np.uint8)
    pixels[0, :holes, 3] = 0
    sink = io.BytesIO()
    Image.fromarray(pixels).save(sink, "PNG")
    image = Element(f"{{{dark.SVG}}}image")
    image.set(f"{{{dark.LINK}}}href", f"data:image/png;base64,{base64.b64encode(sink.getvalue()).decode()}")
    assert dark._is_picture(image) is is_picture


def test_what_is_no_code_follows_no_parameter():
    marks = running.Marks(parameters.BestCodes(p=0.02))
    assert marks.follow("par.p") is True and marks.follow("par.p is no code") is False


def test_cells_are_those_of_the_shell_that_runs_the_page(monkeypatch):
    page = {"In": ["of the page"]}
    shell = Some(user_ns=page, history_manager=Some(input_hist_parsed=["of the shell"]))
    for runs, namespace, cells in (
        (shell, page, "shell"), (shell, dict(page), "page"), (None, page, "page"), (shell, {}, None)
    ):  # fmt: skip
        monkeypatch.setattr(running, "_shell", lambda runs=runs: runs)
        assert running.cells(namespace) == ([f"of the {cells}"] if cells else [])


@pytest.mark.parametrize("extension", [contents, dark, frame, look_up, reference])
def test_sphinx_may_read_pages_side_by_side(extension):
    assert extension.setup(MagicMock()) == {"parallel_read_safe": True}
