"""The repeated plots of the book, looked at through what they draw."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from superposition.book import style


def axes():
    return Figure().subplots()


@pytest.mark.parametrize("dpi", [72, 200])
def test_a_page_shows_vectors_and_stores_the_asked_points_an_inch_beside_them(monkeypatch, dpi):
    told = []
    monkeypatch.setattr("matplotlib_inline.backend_inline.set_matplotlib_formats", lambda *a, **k: told.append((a, k)))
    monkeypatch.setattr(mpl, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    monkeypatch.setattr(style.running, "show_captions", lambda: told.append("captions"))
    with mpl.rc_context():
        style.use_style(dpi=dpi)
        assert mpl.rcParams["svg.hashsalt"] == "superposition" and mpl.rcParams["svg.fonttype"] == "path"
    assert told == [(("svg", "png"), {"metadata": {"Date": None}, "dpi": dpi}), "captions"]


def test_a_matrix_has_zero_in_the_middle_of_its_colours():
    image = style.matrix(axes(), [[0.5, -2.0], [1.0, 0.0]])
    assert image.get_clim() == (-2.0, 2.0) and image.get_interpolation() == "none"
    assert image.get_cmap().name == "RdBu_r"
    other = style.matrix(axes(), [[0.5]], limit=3, colours=style.RUG)
    assert other.get_clim() == (-3, 3) and other.get_cmap() == mpl.colormaps.get_cmap(style.RUG)


def test_measured_points_have_bars_and_no_line():
    ax = axes()
    points = style.measured(ax, [1, 2], [3.0, 4.0], [0.5, 0.25], colour="blue", marker="s", filled=False, label="rug")
    line, _, (bars,) = points.lines
    assert line.get_linestyle() == "None" and line.get_marker() == "s" and line.get_markerfacecolor() == "none"
    assert same_color(line.get_color(), style.COLOURS["blue"]) and points.get_label() == "rug"
    np.testing.assert_allclose([segment[:, 1] for segment in bars.get_segments()], [[2.5, 3.5], [3.75, 4.25]])
    assert style.measured(ax, [1], [1]).lines[0].get_markerfacecolor() == style.COLOURS["vermilion"]
    assert style.measured(ax, [1], [1], linestyle=":").lines[0].get_linestyle() == ":"


def test_coinciding_directions_are_drawn_once_and_counted():
    ax = axes()
    style.directions(ax, np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    assert [text.get_text() for text in ax.texts] == ["×2"] and len(ax.lines) == 4
    (circle,) = ax.patches
    assert circle.radius == 1 and not circle.fill


@pytest.mark.parametrize(("apart", "numbers"), [(0.001005, ["×2"]), (0.001012, [])])
def test_directions_a_thousandth_apart_coincide(apart, numbers):  # numpy adds 1e-5 of the length
    ax = axes()
    style.directions(ax, [[0.8, 0.8 + apart], [0.0, 0.0]])
    assert [text.get_text() for text in ax.texts] == numbers and len(ax.lines) == (2 if numbers else 4)


@pytest.mark.parametrize(("length", "numbers"), [(0.501, ["×2"]), (0.5, [])])
def test_short_directions_have_no_number(length, numbers):
    ax = axes()
    style.directions(ax, [[length, length], [0.0, 0.0]])
    assert [text.get_text() for text in ax.texts] == numbers


def test_the_style_is_on_white_without_frames_whatever_the_style_before():
    with mpl.rc_context(), plt.style.context("dark_background"):
        mpl.rcParams.update({"savefig.facecolor": "black", "legend.frameon": True, "axes.spines.top": True})
        style.use_style()
        figure = plt.figure()
        ax = figure.add_subplot()
        lines = [ax.plot([0, 1], label="a line")[0] for _ in style.COLOURS]
        assert [line.get_color() for line in lines] == list(style.COLOURS.values())
        assert not ax.legend().get_frame_on() and {line.get_linewidth() for line in lines} == {1.8}
        assert [side for side in ax.spines if ax.spines[side].get_visible()] == ["left", "bottom"]
        assert tuple(figure.get_size_inches()) == (7, 4.4) and figure.get_layout_engine() is not None
        assert figure.get_facecolor() == (1, 1, 1, 1) and mpl.rcParams["savefig.facecolor"] == "white"
        plt.close(figure)


def test_a_cube_has_twelve_edges():
    figure = Figure()
    ax = figure.add_subplot(projection="3d")
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]).T / 3**0.5
    style.polyhedron(ax, corners)
    assert len([line for line in ax.lines if len(line.get_data_3d()[0]) == 2]) == 12


def test_a_corner_where_two_coincide_is_drawn_larger():
    ax = Figure().add_subplot(projection="3d")
    style.polyhedron(ax, np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0]]).T)
    sizes = {
        tuple(np.ravel(line.get_data_3d())): line.get_markersize() for line in ax.lines if line.get_marker() == "o"
    }
    assert sizes.pop((1, 0, 0)) > max(sizes.values())


@pytest.mark.parametrize(("elevation", "azimuth"), [(20, -60), (-35, 25), (10, 130)])
def test_edges_behind_a_polyhedron_are_pale(elevation, azimuth):
    ax = Figure().add_subplot(projection="3d")
    ax.view_init(elevation, azimuth)
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]).T / 3**0.5
    style.polyhedron(ax, corners)
    around, up = np.radians([azimuth, elevation])
    turned = np.array([[np.cos(around), np.sin(around), 0], [-np.sin(around), np.cos(around), 0], [0, 0, 1]])
    near = np.array([[np.cos(up), 0, np.sin(up)]]) @ turned  # the axis of the eye, by two rotations
    edges = [line for line in ax.lines if len(line.get_data_3d()[0]) == 2]
    depth = {bool(line.get_alpha() == 1): [] for line in edges}
    for line in edges:
        depth[line.get_alpha() == 1].append((near @ np.array(line.get_data_3d())).mean())
    assert min(depth[True]) > max(depth[False])
