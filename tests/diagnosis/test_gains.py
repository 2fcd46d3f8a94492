"""Gains of repairs against numbers that were worked out by hand."""

from types import SimpleNamespace as Found

import numpy as np
import pytest
from superposition.diagnosis import diagnosed, gains
from superposition.rug import meanfield

P = 0.05
KINDS = np.array(["heard", "heard", "dropped", "dead"])
LOST = np.array([1.0, 3.0, 5.0, 7.0])


def model(**about):
    """A model of four features in two dimensions, two of which it hears."""
    usual = {
        "ns": 4, "nd": 1, "p": P, "kind": KINDS, "heard": KINDS == "heard", "by_feature": LOST, "importance": None,
        "loss": 0.02, "sigma": 0.5, "sigma_bound": 0.25, "stands": True, "refitted": 3.0,
        "simulated": Found(mean=4.0), "population": Found(variance=np.array([1.0, 3.0, 9.0, 9.0])),
    }  # fmt: skip
    return Found(**usual | about)


def test_silent_outputs_would_lose_as_much_as_those_that_are_heard():
    assert gains._answered(model()) == (pytest.approx(5 / 16), "biases for 1 silent outputs")
    worth = np.array([1.0, 1, 1, 3])  # it is worth thrice as much, and loses 6 in place of 7
    assert gains._answered(model(importance=worth)).gain == pytest.approx(1 / 16)
    assert gains._answered(model(importance=9 * worth - 8)).gain == 0  # never more than it loses
    assert gains._answered(model(kind=KINDS[:3])) is None


def test_features_without_a_direction_would_share_those_that_are_there():
    dearer = meanfield.optimum(P, 1 / 4).loss / meanfield.optimum(P, 1 / 2).loss
    after = 4 * dearer + min(2 * dearer, 5) + 7
    assert gains._represented(model()) == (pytest.approx(1 - after / 16), "directions for 1 unheard features")
    assert gains._represented(model(p=None)) is gains._represented(model(kind=KINDS[:2])) is None
    assert gains._represented(model(nd=2)) is None  # those that are heard lose nothing


def test_biases_that_are_moved_together_gain_what_the_loss_falls_by():
    assert gains._refitted(model()) == (0.25, "biases and gains moved and scaled together")
    assert gains._refitted(model(refitted=np.inf)) is gains._refitted(model(simulated=Found(mean=0.0))) is None


def test_directions_gain_what_a_rug_of_their_noise_loses_beyond_one_of_their_ratio():
    ratio = 1 / (1 + 0.25 / 2)
    assert gains.ratio_of(model()) == pytest.approx(ratio)
    now, then = (float(meanfield.optimum(P, r).loss) for r in (ratio, 1 / 2))
    dear = model(loss=0.1)
    assert gains._turned(dear) == (pytest.approx((now - then) / 2 / 0.1), "directions with the least interference")
    assert gains._turned(model(loss=1e-9 + 0.8 * now)) is not None
    for about in ({"p": None}, {"sigma_bound": 0.0}, {"sigma_bound": 0.5}, {"stands": False},
                  {"importance": np.ones(4)}, {"loss": 0.8 * now}):  # fmt: skip
        assert gains._turned(model(**{"loss": 0.1} | about)) is None


@pytest.mark.parametrize(
    ("mutual", "clustering", "known"), [(0.5, 0.0, True), (0.5, 0.25, False), (0.5, 1.0, False), (0.0, 0.0, False)]
)
def test_silencing_without_triangles(mutual, clustering, known):
    assert diagnosed.Diagnosis.triangle_free.fget(Found(mutual=mutual, clustering=clustering)) is known
