"""Optima of the exact loss: known figures, stationarity, dense features."""

import numpy as np
import pytest
from scipy.optimize import minimize
from superposition import features, toy
from superposition.toy import optima

RNG = np.random.default_rng(0)


def test_exact_optimum_of_two_features():
    # equal importance and rare features: the digon p^2 / 3 at unit norm, a little less when relaxed
    found = toy.minimise(2, 1, 1.0, 0.02, starts=3, first=[np.array([[1.0, -1.0]])])
    assert 0.98 * 0.02**2 / 3 < found.loss < 0.02**2 / 3
    assert toy.population_loss(found.W, found.b, 1.0, 0.02) == pytest.approx(found.loss, rel=1e-12)
    assert found.hits >= 1 and len(found.losses) == 4
    # stationary: no small step in any of 20 directions goes down by more than the tolerance
    for _ in range(20):
        nearby = toy.population_loss(
            found.W + 1e-4 * RNG.standard_normal((1, 2)), found.b + 1e-4 * RNG.standard_normal(2), 1.0, 0.02
        )
        assert nearby > found.loss * (1 - 1e-6)


def test_dense_features_drop_the_less_important():
    found = toy.minimise(2, 1, [1.0, 0.2], 1.0, starts=4)
    assert toy.phase(found.W, 1) == "dropped" and toy.phase(found.W, 0) == "own"
    assert found.loss == pytest.approx(0.2 / 12, rel=1e-5)  # V of a feature that is always on


def test_best_scale_of_a_pentagon():
    angle = 0.4 * np.pi * np.arange(5)
    length, bias, loss = toy.best_scale(np.array([np.cos(angle), np.sin(angle)]))
    scan = min(
        float(toy.k_sparse_loss(a * np.array([np.cos(angle), np.sin(angle)]), b, 1.0, 1))
        for a in np.linspace(length - 0.05, length + 0.05, 11)
        for b in np.linspace(bias - 0.05, bias + 0.05, 11)
    )
    assert loss <= scan + 1e-12
    assert loss == pytest.approx(scan, rel=1e-6)  # the middle of the scan is the minimum itself
    with_p = toy.best_scale(np.eye(2, 3), 1.0, 0.1)
    assert with_p[2] == pytest.approx(features.variance(0.1), rel=1e-8)  # the dropped one predicts its mean


@pytest.mark.parametrize("q", [12, 20, 27, 40])
def test_best_scale_of_many_corners(q):
    """By quadrature: what a regular polygon wins at its best length, over ratios of threshold and gain."""
    node, weight = np.polynomial.legendre.leggauss(100)
    u, weight = (node + 1) / 2, weight / 2
    seen = np.cos(2 * np.pi * np.arange(q) / q)[:, None] * u
    shut = np.linspace(0.3, 0.6, 301)
    own = np.array([weight @ (u * np.maximum(u - t, 0)) for t in shut])
    won = max(q * own**2 / [np.sum(np.maximum(seen - t, 0) ** 2 @ weight) for t in shut])
    assert q / 3 - toy.best_scale(toy.polygon(q))[2] == pytest.approx(won, rel=1e-4)


def test_best_scale_without_directions_drops_all():
    assert toy.best_scale(np.zeros((2, 3)))[2] == pytest.approx(1)
    assert toy.best_scale(0.5 * toy.polygon(4))[2] == pytest.approx(toy.best_scale(toy.polygon(4))[2])


def test_random_starts_do_not_beat_the_triangle_of_dense_features():
    triangle = toy.best_scale(toy.simplex(2), 1.0, 0.7)[2]
    assert toy.minimise(3, 2, 1.0, 0.7, starts=3, seed=11).loss > triangle * (1 - 1e-9)


def test_random_starts_do_not_put_unequal_features_that_are_always_on_into_superposition():
    """Dropping the less important of two, at a loss of its variance, is not beaten."""
    assert toy.minimise(2, 1, [1.0, 0.985], 1.0, starts=4, seed=5).loss > 0.985 / 12 * (1 - 1e-9)


def test_the_pentagon_is_below_digons_again_where_features_are_nearly_always_on():
    """At its best it crosses two digons that drop a feature twice; digons by quadrature, from three starts."""
    node, weight = np.polynomial.legendre.leggauss(40)
    x, weight, p = (node + 1) / 2, weight / 2, 0.8

    def digon(z):
        both = weight @ (x[:, None] - np.maximum(z[0] * (x[:, None] - x) + z[1], 0)) ** 2 @ weight
        one = (x - np.maximum(z[0] * x + z[1], 0)) ** 2 + np.maximum(z[1] - z[0] * x, 0) ** 2
        return 2 * (p**2 * both + p * (1 - p) * (weight @ one) + (1 - p) ** 2 * max(z[1], 0) ** 2)

    pair = min(minimize(digon, start, method="Nelder-Mead").fun for start in ((1, 0), (0.5, 0.3), (1.5, -0.2)))
    over = (toy.best_scale(toy.polygon(5), 1.0, p)[2] - 2 * pair) / float(features.variance(p)) - 1
    assert over == pytest.approx(-0.0048, abs=2e-4)


def test_no_regular_polygon_wins_more_than_seven_corners():
    """By quadrature alone: corners times what each wins over being dropped, at the best gain, over thresholds."""
    node, weight = np.polynomial.legendre.leggauss(200)
    u, weight = (node + 1) / 2, weight / 2

    def won(q, shut):
        seen = np.cos(2 * np.pi * np.arange(q) / q)[:, None] * u
        own = np.array([weight @ (u * np.maximum(u - t, 0)) for t in shut])
        return max(q * own**2 / [np.sum(np.maximum(seen - t, 0) ** 2 @ weight) for t in shut])

    seven = won(7, np.linspace(0.45, 0.48, 31))
    assert seven == pytest.approx(7 / 3 - toy.best_scale(toy.polygon(7))[2], rel=1e-4)
    coarse = np.linspace(-0.3, 0.95, 63)
    assert max(won(q, coarse) for q in (3, 4, 5, 6, *range(8, 20), 60)) < 0.998 * seven  # 60: nearly a circle


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: toy.minimise(2, 1, 1, 0.5, starts=0), "starts = 0 is out of range; .* from 1"),
        (
            lambda: toy.minimise(2, 1, 1, 0.5, first=[[[1.0, 0.0, 0.0]]]),
            r"first holds weights of shape \(1, 3\); allowed",
        ),
        (lambda: toy.minimise(2, 1, 1, 0.5, first={}), "first = {} is no list; allowed"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_hits_are_those_within_the_tolerance():
    """Relative 1e-6; the absolute 1e-12 keeps a loss of 0, met to rounding, from counting once only."""

    def found(*losses):
        return optima.Optimum(np.eye(1), np.zeros(1), min(losses), np.array(losses)).hits

    assert found(1.0, 1.0 + 5e-7, 1.0 + 5e-6) == 2
    assert found(0.0, 5e-13, 5e-12) == 2
