"""Maps, arrows and graphs, looked at through what they draw."""

import numpy as np
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from superposition.book import maps, style


def axes():
    return Figure().subplots()


def test_a_map_of_values_has_a_row_for_each():
    bar = maps.values(axes(), [1, 2, 3], [[0.0, 1, 2], [3, 4, 5]], "loss", vmin=0, vmax=10)
    assert bar.mappable.get_array().shape == (2, 3) and bar.mappable.get_clim() == (0, 10)
    assert bar.ax.get_ylabel() == "loss" and bar.mappable.get_rasterized()


def test_names_have_colours_of_their_own_pure_ones_first():
    bar = maps.names(axes(), [1, 2, 3], [["fan", "fan + own", "own"], ["digon", "fan", "fan"]])
    assert [text.get_text() for text in bar.ax.get_yticklabels()] == ["digon", "fan", "own", "fan + own"]
    np.testing.assert_array_equal(bar.mappable.get_array(), [[1, 3, 2], [0, 1, 1]])
    assert len({bar.cmap(k) for k in range(4)}) == 4


def test_arrows_are_numbered_beyond_their_tips():
    ax = axes()
    maps.arrows(ax, [[1.0, 0.0], [0.0, 0.5]], ["red", "blue"])
    words = {text.get_text(): text.get_position() for text in ax.texts if text.get_text()}
    assert words["1"][0] > 1 and words["2"][1] > 0.5
    assert same_color(ax.texts[0].arrow_patch.get_edgecolor(), "red")


def test_conflicts_are_blue_where_mutual():
    ax = axes()
    hides = np.zeros((4, 4), dtype=bool)
    hides[0, 1] = hides[1, 0] = hides[2, 0] = True
    maps.conflicts(ax, hides, [1.0, 2.0, 0.5, 0.1])
    colours = [line.get_color() for line in ax.lines]
    assert sorted(colours) == sorted([style.COLOURS["blue"], style.COLOURS["vermilion"]])
    dots = ax.collections[0]
    # the loudest at the top, the others clockwise, all as far from each other
    np.testing.assert_allclose(dots.get_offsets(), [[0, 1], [1, 0], [0, -1], [-1, 0]], atol=1e-12)
    np.testing.assert_allclose(dots.get_sizes(), 5 + 60 * np.array([2, 1, 0.5, 0.1]) / 2)  # the louder the larger


def test_loudness_may_be_counted_in_whole_numbers_without_a_sign():
    ax = axes()
    maps.conflicts(ax, np.zeros((3, 3), dtype=bool), np.array([0, 2, 1], dtype=np.uint8))
    np.testing.assert_allclose(ax.collections[0].get_sizes(), [65, 35, 5])


def test_the_one_that_is_cut_off_is_red():
    ax = Figure().add_subplot(projection="3d")
    maps.cut_off(ax, np.eye(3), 2, (0, 1))
    tips = {tuple(np.round(np.array(line.get_data_3d())[:, 0], 9)): line.get_color() for line in ax.lines[1::2]}
    assert tips[0, 0, 1] == style.COLOURS["vermilion"] and tips[1, 0, 0] == style.COLOURS["blue"]
    assert len(ax.collections) == 1 and not ax.axison
