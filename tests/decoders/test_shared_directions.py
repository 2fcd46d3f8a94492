"""The best decoders of digons, antipodal rugs and planar codes: closed forms against bins, limits and simulation."""

import numpy as np
import pytest
from scipy.integrate import quad
from superposition import decoders, features
from superposition.codes import antipodal_optimum, digon
from superposition.codes.exact_losses import code_loss
from superposition.codes.fans import priority_fan
from superposition.decoders import shared_directions
from superposition.experiments import decoder_ladder
from superposition.rug import Rug, noise_std
from superposition.rug.bayes import bayes_decoder


def binned_loss(seen, x, width):
    """Mean squared error of the mean of x within bins, corrected for the share of each x in its own mean."""
    cells = np.unique(np.floor(np.atleast_2d(seen) / width).astype(int), axis=1, return_inverse=True)[1].ravel()
    count = np.bincount(cells)
    means = np.stack([np.bincount(cells, column) / count for column in x.T])
    errors = ((x - means[:, cells].T) ** 2).mean(axis=1)
    return np.mean(errors * np.where(count > 1, count / np.maximum(count - 1, 1), 1)[cells])


@pytest.mark.parametrize(
    ("p", "c"),
    [(0.3, 3.0), *(pytest.param(*case, marks=pytest.mark.thorough) for case in [(0.5, 1.0), (0.9, 2.0), (0.5, 0.4)])],
)
def test_digon_against_bins(p, c):
    x = features.sample(2, p, 2_000_000, seed=1)
    x = x[x.any(axis=1)]  # 0 alone is seen when both are off
    found = binned_loss(x[:, 0] - c * x[:, 1], x, 0.002) * (1 - (1 - p) ** 2)
    assert decoders.digon_bayes_loss(p, c) == pytest.approx(found, rel=0.01)


def test_digon_against_its_single_integral_and_its_limit():
    p = 0.3
    by_hand = p**2 / 6 - p**3 / 2 * quad(lambda length: length**4 / (1 - p + p * length), 0, 1)[0]
    assert decoders.digon_bayes_loss(p) == pytest.approx(by_hand, rel=1e-12)
    c = np.array([1, 2, 3, 10.0])
    assert np.allclose(decoders.digon_bayes_loss(1e-6, c) / 1e-12, (1 + c**-2) * (2 - 1 / c) / 12, rtol=1e-5)
    assert np.allclose(decoders.digon_bayes_loss(p, 1 / c), decoders.digon_bayes_loss(p, c), rtol=1e-12)
    assert np.all(decoders.digon_bayes_loss(0.05, c[:3]) < digon(0.05, c[:3]))  # no ReLU is better
    assert decoders.digon_bayes_loss(1.0) == pytest.approx(1 / 24, rel=1e-12)  # both are on


def by_quadrature(y, sigma, p):
    """The moments of a pair, over z and over the smaller of its two features."""
    alone, both = p * (1 - p), p**2

    def at(z):
        return np.exp(-(((y - z) / sigma) ** 2) / 2) / np.sqrt(2 * np.pi) / sigma

    def over(sign, weight):
        return quad(lambda m: weight(m) * at(sign * m), 0, 1, epsabs=0, limit=200)[0]

    def hidden(m, j):  # integral of t^j from 0 to 1 - m
        return both * (1 - m) ** (j + 1) / (j + 1)

    density = sum(over(sign, lambda m: alone + hidden(m, 0)) for sign in (1, -1)) + (1 - p) ** 2 * at(0)
    z = sum(sign * over(sign, lambda m: m * (alone + hidden(m, 0))) for sign in (1, -1))
    z2 = sum(over(sign, lambda m: m**2 * (alone + hidden(m, 0))) for sign in (1, -1))
    x = over(1, lambda m: alone * m + m * hidden(m, 0) + hidden(m, 1)) + over(-1, lambda m: hidden(m, 1))
    x2 = over(1, lambda m: alone * m**2 + m**2 * hidden(m, 0) + 2 * m * hidden(m, 1) + hidden(m, 2))
    x2 += over(-1, lambda m: hidden(m, 2))
    return z / density, z2 / density - (z / density) ** 2, x / density, x2 / density - (x / density) ** 2


@pytest.mark.parametrize(("p", "sigma"), [(0.05, 0.2), (0.5, 0.05), (0.2, 1.0)])
def test_pair_posterior_against_quadrature(p, sigma):
    for y in (-1.2, -0.4, 0.0, 0.03, 0.6, 1.1):
        found = shared_directions._pair_posterior(y, sigma, p)
        assert np.allclose(found, by_quadrature(y, sigma, p), rtol=1e-6, atol=1e-12)


def test_pairs_end_at_the_digon_and_start_at_the_noise_of_all_others():
    p = 0.05
    found = decoders.pair_evolution(p, [0.2, 0.3, 0.5], 14)
    assert np.allclose(found.sigma[:, 0] ** 2, noise_std(p, [0.2, 0.3, 0.5]) ** 2 - features.variance(p), atol=1e-15)
    assert np.allclose(found.loss[:, -1], decoders.digon_bayes_loss(p), rtol=1e-4)
    assert np.all(np.diff(found.loss) <= 1e-15)
    assert np.all(found.loss[:, 0] < antipodal_optimum(p, [0.2, 0.3, 0.5]).loss)


def test_decoder_of_pairs_follows_its_state_evolution():
    rug, p = Rug(16384, 4096, seed=5, antipodal=True), 0.05
    x = features.sample(rug.ns, p, 24, seed=11)
    steps = decoders.decode_antipodal(rug.apply(x), rug, p, iterations=4)
    errors = np.array([((found - x) ** 2).mean(axis=1) for found in steps])
    predicted = decoders.pair_evolution(p, 0.25, 4).loss
    se = errors.std(axis=1, ddof=1) / np.sqrt(len(x))
    assert np.all(np.abs(errors.mean(axis=1) - predicted) < 4 * se + 0.03 * predicted)


def test_without_partners_it_would_be_the_element_wise_decoder():
    y = np.array([-0.3, 0.05, 0.5, 0.9])
    assert np.allclose(shared_directions._pair_posterior(y, 0.1, 1e-9).x, bayes_decoder(y, 0.1, 1e-9)[0], rtol=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, 1])
def test_three_features_in_a_plane_against_bins(seed):
    W_in, p = np.random.default_rng(seed).standard_normal((2, 3)), 0.5
    exact = decoders.planar_bayes_loss(W_in, p, samples=100_000, seed=2)
    assert exact.lower == exact.upper  # there are no four
    x = features.sample(3, p, 3_000_000, seed=3)
    x = x[np.count_nonzero(x, axis=1) >= 2]  # a line is distinguished from the plane with certainty
    found = binned_loss(W_in @ x.T, x, 0.005) * len(x) / 3_000_000
    assert exact.lower == pytest.approx(found, rel=0.03)


def test_two_digons_at_right_angles_lose_as_digons_and_as_nothing_else():
    fan = priority_fan(4, 1)
    p, found = 0.01, decoders.planar_bayes_loss(priority_fan(4, 1).W_in, 0.01, samples=20_000, seed=0)
    assert code_loss(fan.W, fan.b, p) == pytest.approx(p**2 / 6, rel=1e-4)
    assert found.lower == pytest.approx(float(decoders.digon_bayes_loss(p)), rel=0.05)


def test_the_best_decoder_of_a_fan_is_below_its_relu_and_tells_pairs_apart():
    for ratio in (2, 8):
        fan = priority_fan(8, ratio)
        found = decoders.planar_bayes_loss(fan.W_in, 0.05, samples=4000, seed=1)
        assert found.lower <= found.upper < 0.6 * code_loss(fan.W, fan.b, 0.05)


def test_refusals_of_planar_codes():
    for W_in, words in (
        (np.ones((2, 2)), "B of 3 or more"),
        (np.ones((2, 3)), "at most two on a line, opposite"),
        (priority_fan(10, 20).W_in, "allowed: a ratio up to 1e10"),
    ):
        with pytest.raises(ValueError, match=words):
            decoders.planar_bayes_loss(W_in, 0.05, samples=4, seed=0)


def test_ladders_agree_with_theory_at_one_small_point():
    point = {"ns": 4096, "p": 0.05, "iterations": 2, "samples": 64, "seed": 3}
    rug, antipodal = decoder_ladder.ladder(r=0.3, **point), decoder_ladder.antipodal_ladder(r=0.3, **point)
    assert list(rug) == ["linear", "relu", "jumprelu", "bayes_1", "bayes_2"]
    assert list(antipodal) == ["relu", "plain_1", "plain_2", "pairs_1", "pairs_2"]
    assert rug["linear"] == pytest.approx(float(features.variance(0.05)) * 0.7, rel=0.05)
    assert antipodal["relu"] == pytest.approx(float(antipodal_optimum(0.05, 0.3).loss), rel=0.05)
    assert antipodal["pairs_2"] < antipodal["plain_2"] < antipodal["plain_1"]


def test_where_a_rug_is_not_recovered_pairs_and_fans_keep_less_than_it():
    p, r = 0.2, 0.25
    assert r < decoders.recovery_ratio(p)
    on_a_rug = decoders.state_evolution(p, r, 60).loss
    assert decoders.pair_evolution(p, 0.3, 60).loss[-1] < 0.4 * decoders.state_evolution(p, 0.3, 60).loss[-1]
    fan = decoders.planar_bayes_loss(priority_fan(8, 19.0).W_in, p, samples=30, seed=0)
    assert fan.upper + 3 * fan.se < on_a_rug[7] and decoders.pair_evolution(p, r, 8).loss[-1] < on_a_rug[7]


@pytest.mark.parametrize("sigma", [1e-4, 1e-3, 0.05, 0.6])
def test_the_losses_of_a_pair_need_no_more_nodes(monkeypatch, sigma):
    coarse = shared_directions._pair_losses(np.array([0.1]), np.array([sigma]))
    nodes = shared_directions.gauss_legendre
    monkeypatch.setattr(shared_directions, "gauss_legendre", lambda count: nodes(4 * count))
    fine = shared_directions._pair_losses(np.array([0.1]), np.array([sigma]))
    np.testing.assert_allclose(coarse, fine, rtol=1e-9)
