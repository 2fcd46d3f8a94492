"""Figures on dark pages: axes and words turn, colours stay, and what lies on a picture is left alone."""

import io
import re
from types import SimpleNamespace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from docutils import nodes
from docutils.utils import new_document
from superposition.book import dark

mpl.use("agg")


def drawn(make):
    """Return a figure as it stands in a notebook, and its dark variant."""
    figure, ax = plt.subplots()
    make(ax)
    sink = io.StringIO()
    figure.savefig(sink, format="svg")
    plt.close(figure)
    return sink.getvalue(), dark.darkened(sink.getvalue())


def test_words_and_axes_turn_and_colours_stay():
    _, svg = drawn(lambda ax: (ax.plot([0, 1], color="#d55e00"), ax.plot([1, 0], color="black")))
    assert "#000000" not in svg and "#ffffff" not in svg
    assert svg.count("#d55e00") == 1
    assert 'fill="#ced6dd"' in svg[:400]


@pytest.mark.parametrize("kind", ["imshow", "pcolormesh"])
def test_a_word_or_line_on_a_picture_keeps_its_colour_and_a_title_does_not(kind):
    def kept(*more):
        svg = drawn(lambda ax: (getattr(ax, kind)(np.eye(2)), *(one(ax) for one in more)))[1]
        return len(re.findall('<g id="(?:text|line2d)_[^>]* fill="#000000"', svg))

    assert kept() == 0
    assert kept(lambda ax: ax.text(0.6, 0.6, "on")) == 1
    assert kept(lambda ax: ax.plot([0, 1], color="black")) == 1
    assert kept(lambda ax: ax.set_title("title"), lambda ax: ax.set_xlabel("label")) == 0


def test_marks_that_are_stored_as_an_image_are_no_picture():
    def make(ax):
        ax.plot(np.arange(9), ".", rasterized=True)
        ax.axvline(3, color="black")

    light, svg = drawn(make)
    assert "<image" in light and "#ffffff" in light
    assert "#ffffff" not in svg and 'fill="#000000"' not in svg


@pytest.mark.parametrize("colour", ["#000000", "#440154", "#0072b2", "#3d0a12", "#00007f"])
def test_every_colour_can_be_told_from_the_page(colour):
    rgb = [int(dark.turned(colour)[i : i + 2], 16) for i in (1, 3, 5)]
    assert (dark._luminance(rgb) + 0.05) / (dark._luminance(dark.PAGE) + 0.05) > 3


def test_grey_is_turned_and_a_colour_that_can_be_seen_stays():
    found = [dark.turned(colour) for colour in ("#ffffff", "#000000", "#e69f00", "#440154")]
    assert found == ["#121212", "#ced6dd", "#e69f00", "#875c91"]


@pytest.mark.parametrize("kind", ["imshow", "pcolormesh"])
def test_a_mark_that_a_colour_bar_explains_keeps_its_colour(kind):
    def make(ax):
        left, bar = ax.figure.subplots(1, 2)
        ax.remove()
        getattr(bar, kind)(np.linspace(0, 1, 256)[:, None], cmap="viridis")
        left.scatter([0, 1], [0, 1], c=[0, 0.2], vmin=0, vmax=1, cmap="viridis")
        left.plot([0, 1], color="#3d0a12")

    light, svg = drawn(make)
    assert "#440154" in light and "#440154" in svg.partition('id="axes_2"')[0]  # the mark of value 0
    assert "#3d0a12" in light and "#3d0a12" not in svg  # no colour of the bar


def test_the_dark_variant_stands_beside_the_light_one_before_the_caption(tmp_path):
    light, _ = drawn(lambda ax: ax.plot([0, 1]))
    (tmp_path / "figure.svg").write_text(light)
    figure = nodes.figure("", nodes.image(uri="figure.svg", classes=["wide"]), nodes.caption("", "what it is"))
    page = new_document("page")
    page += [figure, nodes.image(uri="photo.png")]
    env = SimpleNamespace(docname="page", doc2path=lambda name: str(tmp_path / f"{name}.md"))
    dark._add_variants(SimpleNamespace(srcdir=tmp_path, doctreedir=tmp_path / "built", env=env), page)
    by_day, by_night, caption = figure
    assert by_day["uri"] == "figure.svg" and isinstance(caption, nodes.caption) and len(page) == 2
    assert [image["classes"] for image in (by_day, by_night)] == [
        ["wide", "dark-light", time] for time in ("by-day", "by-night")
    ]
    assert (tmp_path / by_night["uri"].lstrip("/")).read_text() == dark.darkened(light)


@pytest.mark.parametrize(
    ("colour", "luminance"),
    [
        ([255, 0, 0], 0.2126),
        ([0, 255, 0], 0.7152),
        ([0, 0, 255], 0.0722),
        ([255, 255, 255], 1),
        ([10, 10, 10], 10 / 255 / 12.92),  # WCAG: linear up to there, then a power
        ([10.35, 10.35, 10.35], ((10.35 / 255 + 0.055) / 1.055) ** 2.4),
        ([11, 11, 11], ((11 / 255 + 0.055) / 1.055) ** 2.4),
    ],
)
def test_luminance_is_that_of_wcag(colour, luminance):
    assert dark._luminance(colour) == pytest.approx(luminance, rel=1e-12)


def test_a_figure_is_looked_for_beside_its_page_or_from_the_folder_of_all(tmp_path):
    pages, made = tmp_path / "pages", []
    pages.mkdir()
    light, _ = drawn(lambda ax: ax.plot([0, 1]))
    for folder, name in ((tmp_path, "above.svg"), (pages, "beside.svg")):
        (folder / name).write_text(light, encoding="utf-8")
    env = SimpleNamespace(docname="page", doc2path=lambda name: str(pages / f"{name}.md"))
    app = SimpleNamespace(
        srcdir=tmp_path, doctreedir=tmp_path / "built" / "here", env=env, connect=lambda *a, **k: made.append((a, k))
    )
    for uri in ("/above.svg", "beside.svg"):  # the second finds its variant written
        page = new_document("page")
        page += [nodes.paragraph(), nodes.image(uri=uri), nodes.paragraph(), nodes.paragraph()]
        dark._add_variants(app, page)
        assert [one.tagname for one in page] == ["paragraph", "image", "image", "paragraph", "paragraph"]
        assert page[1]["uri"] == uri and (tmp_path / page[2]["uri"].lstrip("/")).exists()
    dark.setup(app)
    (read, before), (shown, _) = made
    assert read == ("doctree-read", dark._add_variants) and before["priority"] < 500  # when Sphinx collects images
    assert shown == ("html-page-context", dark._leave_out_thebe)
