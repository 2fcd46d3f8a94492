"""Names at the limits between them: a number that lies exactly on a limit, and its neighbours."""

from types import SimpleNamespace as Found

import numpy as np
import pytest
from superposition.diagnosis import names

RUG, OTHERS = "a Persian rug", "directions of a Persian rug with other biases and gains"
DIRECTIONS, NEAR, NONE = "directions of a Persian rug", "near a rug", "none of the codes of this book"
TRAINED, NO_RUG = "a trained code: mutual partners, few triangles", "a tight frame that is not a rug"
UNGATED = Found(k=None, threshold=None)
FRAME = {
    "stands": True, "weights": UNGATED, "importance": None, "company": None, "loss": 1.0, "gaussian": 1.0,
    "mutual": 0.0, "clustering": 0.0, "sigma": 1.0, "sigma_bound": 1.0, "rows": Found(off_skewness=np.zeros(4)),
    "heard": np.ones(4, dtype=bool), "theory": Found(loss=1.0), "simulated": Found(se=1.0), "exact": 1.0,
}  # fmt: skip
SIMULATED = {"exact": None, "simulated": Found(se=1 / 64)}
LIKE_TRAINED = {"loss": 0.79, "mutual": 0.51, "clustering": 0.09}


def skewed(*by):
    return {"rows": Found(off_skewness=np.array(by, float))}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({}, RUG), ({"loss": 0.9}, OTHERS), ({"loss": 0.91}, RUG), ({"loss": 1.15}, OTHERS), ({"loss": 1.14}, RUG),
        (SIMULATED | {"loss": 0.84}, RUG), (SIMULATED | {"loss": 0.8375}, OTHERS), (SIMULATED | {"loss": 0.83}, OTHERS),
        (SIMULATED | {"loss": 1.21}, RUG), (SIMULATED | {"loss": 1.2125}, OTHERS), (SIMULATED | {"loss": 1.22}, OTHERS),
        (SIMULATED | {"loss": 1.69, "gaussian": 2, "theory": Found(loss=2.0)}, OTHERS),
        (SIMULATED | {"loss": 1.75, "gaussian": 2, "theory": Found(loss=2.0)}, RUG),
        ({"theory": Found(loss=0.0)}, RUG), (SIMULATED | {"theory": Found(loss=0.0)}, RUG),
        ({"theory": Found(loss=0.5)}, OTHERS), ({"theory": Found(loss=0.5), "importance": 1}, DIRECTIONS),
        ({"heard": np.arange(4) > 0}, OTHERS), ({"importance": np.ones(4), "loss": 5}, DIRECTIONS),
        ({"company": Found(apart=Found(mean=1.0)), "loss": 5}, DIRECTIONS), ({"stands": False, "loss": 5}, DIRECTIONS),
        ({"weights": Found(k=3, threshold=None), "loss": 5}, DIRECTIONS),
        ({"weights": Found(k=None, threshold=np.ones(4)), "loss": 5}, DIRECTIONS),
        ({"sigma": 1.05}, NEAR), ({"sigma": 2.08, "sigma_bound": 2}, RUG), ({"sigma": 1.3}, NONE),
        ({"sigma": 1.29}, NEAR),
        ({"sigma": 1.1, "loss": 0.8}, NONE), ({"sigma": 1.1, "loss": 0.81}, NEAR), ({"sigma_bound": 0.0}, NONE),
        ({"sigma": 1.1, "loss": 1.3}, NONE), ({"sigma": 1.1, "loss": 1.29}, NEAR), ({"sigma_bound": -1.0}, NONE),
        (skewed(-0.5, -0.5, -0.5, -0.5), NEAR), (skewed(0.2, 0.2, 0.2, 1.36), RUG), (skewed(-1, -1, -1, -1), NO_RUG),
        (skewed(-3, 0, 0, 0), NEAR), (skewed(-4.04, 0, 0, 0), NO_RUG),
        (skewed(9, 0, 0, 0) | {"heard": np.arange(4) > 0}, OTHERS),
        (LIKE_TRAINED, TRAINED), (LIKE_TRAINED | {"loss": 0.8}, OTHERS), (LIKE_TRAINED | {"mutual": 0.5}, OTHERS),
        (LIKE_TRAINED | {"clustering": 0.1}, OTHERS), (LIKE_TRAINED | {"gaussian": 0.0}, OTHERS),
        (LIKE_TRAINED | {"loss": 1.5, "gaussian": 2}, TRAINED), (LIKE_TRAINED | {"stands": False}, DIRECTIONS),
        (LIKE_TRAINED | {"company": Found(apart=Found(mean=0.9))}, DIRECTIONS),
        (LIKE_TRAINED | {"company": Found(apart=Found(mean=0.5)), "loss": 1.0}, TRAINED),
        (LIKE_TRAINED | {"weights": Found(k=3, threshold=None)}, DIRECTIONS),
    ],
)  # fmt: skip
def test_a_frame_is_judged_by_noise_skewness_and_loss(change, name):
    assert names._judged(RUG, Found(**FRAME | change)) == name


@pytest.mark.parametrize("change", [{}, LIKE_TRAINED, {"sigma": 3}])
@pytest.mark.parametrize("name", ["a digon", "a random frame", NONE])
def test_other_names_stay(name, change):
    judged = TRAINED if change is LIKE_TRAINED and name in names.FRAMES else name
    assert names._judged(name, Found(**FRAME | change)) == judged


@pytest.mark.parametrize(
    ("spread", "r", "name"),
    [
        (np.nan, 0.5, "a code too large to be named from its product"), (0.049, 0.5, "a tight frame"),
        (0.05, 0.5, NEAR),
        (0.25, 0.9, NONE), (0.249, 0.9, NEAR), (0.25, 0.0625, "a random frame"), (0.299, 0.0625, "a random frame"),
        (0.201, 0.0625, "a random frame"), (0.199, 0.0625, NEAR), (0.301, 0.0625, NONE), (1.0, 1.0, NONE),
        (0.99, 0.99, "a random frame"),
    ],
)  # fmt: skip
def test_large_codes_are_named_by_their_spread(spread, r, name):
    assert names.of_large(spread, r) == name


def test_an_eigenvalue_of_a_ten_thousandth_of_the_largest_counts_as_zero():
    assert names.spread_of(np.array([1e4, 1e4, 1.0])) == 0
    assert names.spread_of(np.array([1e4, 1e4, 1.01])) == pytest.approx(0.5**0.5, rel=1e-3)


def joined(n, *entries):
    """A diagonal of ones with some other entries."""
    W = np.eye(n)
    for i, j, value in entries:
        W[i, j] = value
    return W


def pair(i, by):
    return (i, i + 1, by), (i + 1, i, by)


@pytest.mark.parametrize(
    ("W", "name"),
    [
        (joined(1), "a dimension of its own"), (joined(2, *pair(0, -1)), "a digon"),
        (joined(2, *pair(0, 1)), "a tile of 2 features in 1 dimension"),
        (joined(2, *pair(0, -0.5)), "a tile of 2 features in 2 dimensions"),
        (joined(4, *pair(0, -1), *pair(2, -0.02)), "a cone of 4 features"),
        (joined(4, *pair(0, -1), *pair(2, -0.0199)), "a tile of 4 features in 3 dimensions"),
        (joined(4, *pair(0, -1), *pair(2, -0.5), (0, 2, 0.02)), "a tile of 4 features in 3 dimensions"),
        (joined(4, *pair(0, -1), *pair(2, -0.5), (0, 2, 0.0199)), "a cone of 4 features"),
        (joined(3, *pair(0, -1)), "a tile of 3 features in 2 dimensions"),
        (np.eye(16) - 0.3 * np.tri(16, k=-1), "a tile of 16 features in 15 dimensions"),
        (np.eye(17) - 0.3 * np.tri(17, k=-1), "a block of 17 features in 16 dimensions"),
    ],
)  # fmt: skip
def test_small_blocks(W, name):
    assert names._block(W, np.ones(len(W))) == name


@pytest.mark.parametrize(("by", "dimensions"), [(0.9, 2), (0.91, 1)])
def test_a_dimension_has_a_twentieth_of_the_largest_singular_value(by, dimensions):
    # singular values 1 + by and 1 - by: .1 / 1.9 is above a twentieth, .09 / 1.91 below
    assert names._block(joined(2, *pair(0, by)), np.ones(2)).endswith(names._counted_dimensions(dimensions))


@pytest.mark.parametrize(("by", "count"), [(0.02, 2), (-0.02, 2), (0.0201, 1), (-0.0201, 1)])
def test_weights_beyond_a_fiftieth_link(by, count):
    assert len(names._blocks(joined(2, (0, 1, by)))) == len(names._blocks(joined(2, (1, 0, by)))) == count


@pytest.mark.parametrize(("loud", "hides", "is_loud"), [(3.0, 0.0, False), (3.1, 0.0, True), (3.1, 0.5, False)])
def test_a_loud_code_is_thrice_as_loud_and_hides(loud, hides, is_loud):
    W = np.eye(2)
    W[1, 0] = hides
    assert names._is_loud(W, np.array([loud, 1.0])) is is_loud


@pytest.mark.parametrize(("entry", "share"), [(0.02, 1.0), (0.0201, 0.5), (-1.0, 1.0)])
def test_the_louder_hide_the_quieter_where_they_add_at_most_a_fiftieth_of_the_gain(entry, share):
    W = joined(3, (1, 0, entry), (0, 1, 5.0))
    W[2] = [0, 0, 1]
    expected = {1.0: 1.0, 0.5: 2 / 3}[share]
    assert names._hidden(W, np.array([9.0, 3.0, 1.0])) == pytest.approx(expected)


def test_four_fifths_of_hidden_pairs_are_not_enough():
    W, loud = np.eye(5), np.array([10.0, 8.0, 6.0, 4.0, 2.0])
    W[1, 0] = W[2, 0] = 0.5  # two of ten pairs
    assert names._hidden(W, loud) == 0.8 and not names._is_loud(W, loud)
    W[2, 0] = 0
    assert names._is_loud(W, loud)


def test_several_blocks_are_counted_and_the_rarest_left_out():
    blocks = [joined(1)] * 3 + [joined(2, *pair(0, -1))] * 2 + [joined(2, *pair(0, 0.5))]
    W = np.zeros((9, 9))
    at = 0
    for block in blocks:
        W[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    said = "3 dimensions of its own and 2 digons and a tile of 2 features in 2 dimensions"
    assert names.of(W, np.ones(9), 1.0, 1.0) == said
    three = np.eye(12)
    three[:9, :9] = W
    three[9:, 9:] = joined(3, (0, 1, 0.3), (1, 2, 0.3))
    assert names.of(three, np.ones(12), 1.0, 1.0) == f"{said}, and others"
