"""Descents on exclusive features and on two pairs in the plane: their losses, by another route, and where they end."""

import numpy as np
import pytest
from superposition import correlated, features

pytest.importorskip("torch")

STILL = {"steps": 1, "lr": 1e-12}  # the losses of the weights that are drawn


def drawn(G, m, starts, seed):
    """The encoders (starts, G, m), of columns of mean square length one."""
    return np.random.default_rng(seed).standard_normal((starts, G, m)) / m**0.5


@pytest.mark.parametrize("tied", [False, True])
def test_loss_of_features_that_never_meet(tied):
    [found] = correlated.descend_exclusive(3, [2], starts=4, seed=5, tied=tied, **STILL)
    u = (np.arange(4000) + 0.5) / 4000  # strengths: midpoints, good to 1e-7
    for loss, E in zip(found, drawn(3, 2, 4, 5), strict=True):
        y = np.maximum((E @ E.T)[..., None] * u, 0)
        assert loss == pytest.approx(np.mean((y - np.eye(3)[..., None] * u) ** 2, axis=2).sum() / 3, rel=1e-5)


@pytest.mark.parametrize("tied", [False, True])
def test_widths_that_descend_together_do_as_they_would_alone(tied):
    how = {"starts": 3, "steps": 40, "seed": 6, "tied": tied}
    alone = [correlated.descend_exclusive(4, [m], **how)[0] for m in (1, 3)]
    np.testing.assert_allclose(correlated.descend_exclusive(4, [1, 3], **how), alone, rtol=1e-3)


@pytest.mark.parametrize("tied", [False, True])
def test_a_line_holds_two_features_that_never_meet_and_drops_the_third(tied):
    found = [correlated.descend_exclusive(G, [1], starts=6, steps=400, seed=1, tied=tied).min() for G in (2, 3)]
    assert found[0] < 1e-3  # they point apart
    # with a constant c for an output, also where another is on: 1/3 - c + 3 c^2 over the three, 1/4 at c = 1/6; two on
    # one side lose a little less
    assert 0.05 < found[1] < 1 / 4 / 3 + 1e-3


def test_a_rate_is_a_hundredth_if_none_is_asked_for():
    few = {"starts": 2, "steps": 5, "seed": 2}
    plane = 0.05, 0.3
    np.testing.assert_array_equal(
        correlated.descend_exclusive(3, [2], **few), correlated.descend_exclusive(3, [2], **few, lr=0.01, tied=False)
    )
    np.testing.assert_array_equal(
        correlated.descend_pairs(*plane, **few)[0], correlated.descend_pairs(*plane, **few, lr=0.02)[0]
    )


@pytest.mark.parametrize(("p", "s"), [(0.2, 0.5), (0.3, 0.0), (0.1, 1.0)])
def test_loss_of_two_pairs_is_that_of_feature_vectors(p, s):
    losses, W = correlated.descend_pairs(p, s, starts=3, seed=4, **STILL)
    np.testing.assert_allclose(W, np.random.default_rng(4).standard_normal((3, 2, 4)) * 0.7, atol=1e-6)
    x = features.grouped(2, 2, p, s, 200_000, seed=6)
    for loss, one in zip(losses, W, strict=True):
        squares = np.mean((np.maximum(x @ one.T @ one, 0) - x) ** 2, axis=1)
        # 128 points stand for the strengths: two parts in a hundred, where a wrong chance is off by tens
        assert loss == pytest.approx(squares.mean(), abs=4 * squares.std() / len(x) ** 0.5 + 0.02 * squares.mean())


def directions(*degrees, length=1.0):
    """Directions (2, 4) in the plane."""
    return length * np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])


@pytest.mark.parametrize(
    ("W", "name"),
    [
        (directions(0, 180, 90, 270), "antipodal"),
        (directions(0, 144, 90, 234), "antipodal"),
        (directions(0, 142, 90, 270), "other"),
        (directions(0, 0, 90, 90), "merged"),
        (directions(0, 36, 90, 90), "merged"),
        (directions(0, 38, 90, 90), "other"),
        (directions(0, 90, 180, 270), "orthogonal"),
        (directions(0, 70, 180, 290), "orthogonal"),
        (directions(0, 68, 180, 270), "other"),
        (directions(0, 180, 90, 270, length=[1, 1, 1, 0.34]), "one dropped"),
        (directions(0, 180, 90, 270, length=[1, 1, 1, 0.36]), "antipodal"),
        (directions(0, 180, 90, 90), "other"),
    ],
)
def test_arrangements(W, name):
    assert correlated.partner_arrangement(W) == name
