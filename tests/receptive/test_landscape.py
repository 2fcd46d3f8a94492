"""The first-order landscape: its Hessian is the critical gain, its gradients are slopes, its values are averages."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from superposition import receptive

TASK = receptive.nlgp_task(8, 1, 0.5, 1)
RINGS = [(12, 1.1, 0.6), (40, 2, 1), (41, 2.5, 0.7)]


def hessian_rate(n, xi1, xi2, drive, k):
    """Growth of frequency k on the flat field from the curvature of log R, with the covariances of z."""
    r1, r0 = (receptive.gaussian_covariance(n, xi) for xi in (xi1, xi2))
    task = receptive.Task(r1, r0, r1, r0, drive)
    flat, wave = np.ones(n) / n**0.5, np.cos(2 * np.pi * k * np.arange(n) / n)
    wave /= np.linalg.norm(wave)

    def slope(e):
        value, gradient = receptive.field_score(flat + e * wave, task)
        return gradient @ wave / value

    curvature = (slope(1e-4) - slope(-1e-4)) / 2e-4
    return (receptive.eigenvalues(r1) + receptive.eigenvalues(r0))[0] / 8 * curvature


def hessian_q(n, xi1, xi2):
    """Drive at which the first wave begins to grow, from the Hessian alone."""
    found = []
    for k in range(1, 4):
        still, up, down = (hessian_rate(n, xi1, xi2, q, k) for q in (0, 1e-4, -1e-4))
        found.append(-still / (up - down) * 2e-4)
    return min(found)


@pytest.mark.parametrize(("n", "xi1", "xi2"), RINGS)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_hessian_at_the_flat_field_is_the_growth_rate(n, xi1, xi2, k):
    slope = (hessian_rate(n, xi1, xi2, 1e-4, k) - hessian_rate(n, xi1, xi2, -1e-4, k)) / 2e-4
    rates = receptive.hermite_rates(n, xi1, xi2, {}), receptive.hermite_rates(n, xi1, xi2, {3: -0.01 / 6})
    assert hessian_rate(n, xi1, xi2, 0, k) == pytest.approx(rates[0][k - 1], rel=1e-5)
    assert slope == pytest.approx((rates[1] - rates[0])[k - 1] / 0.01, rel=1e-5)  # differences of 1e-4


@pytest.mark.parametrize(("n", "xi1", "xi2"), [(40, 2, 1), (41, 2.5, 0.7), (60, 2, 1)])
def test_critical_gain_is_where_the_hessian_says_and_no_rival_is(n, xi1, xi2):
    found = hessian_q(n, xi1, xi2)
    assert receptive.saturation(receptive.critical_gain(n, xi1, xi2)) == pytest.approx(found, rel=1e-5)
    lam1, lam0 = (receptive.eigenvalues(receptive.gaussian_covariance(n, xi))[:4] for xi in (xi1, xi2))
    r = lam0 / lam1

    def q(size=n, ratio=1 + r[0], share=1 / 3, gap=r[1] - r[0]):
        return size * gap / (ratio * (share * lam1[0] + lam1[1]))

    assert q() == pytest.approx(found, rel=1e-5)
    rivals = {
        "1 + r_1": q(ratio=1 + r[1]),
        "1": q(ratio=1),
        "n - 1": q(size=n - 1),
        "log of the ratios": q(gap=np.log(r[1] / r[0])),
        **{f"share {share:.3g} of lam1_0": q(share=share) for share in (0, 1 / 6, 1 / 4, 1 / 2)},
        "1.2 times": 1.2 * q(),
    }
    for name, rival in rivals.items():
        assert abs(rival / found - 1) > 1e-3, name


@pytest.mark.parametrize("gain", [0.3, 1.0, 3.0])
def test_gradients_are_slopes(gain):
    rng = np.random.default_rng(1)
    W, D = rng.standard_normal((2, 4, 12))
    task = receptive.nlgp_task(12, 1.1, 0.6, gain)
    for function, at, way in (
        (receptive.first_order_loss, W, D),
        (receptive.first_order_loss, W[:1], D[:1]),
        (receptive.field_score, W[0], D[0]),
    ):
        up, down = (function(at + e * way, task)[0] for e in (1e-5, -1e-5))
        assert np.sum(function(at, task)[1] * way) == pytest.approx((up - down) / 2e-5, rel=1e-6)


def test_small_gain_is_the_gaussian_loss():
    W = np.random.default_rng(2).standard_normal((5, 20))
    C1, C0 = (receptive.gaussian_covariance(20, xi) for xi in (1.5, 0.7))
    loss, gradient = receptive.first_order_loss(W, receptive.nlgp_task(20, 1.5, 0.7, 1e-5))
    assert loss == pytest.approx(float(receptive.gaussian_loss(W, C0, C1)), rel=1e-9)
    np.testing.assert_allclose(-gradient, receptive.gaussian_flow(W, C0, C1), atol=1e-9)


def test_one_neuron_loss_and_score_agree():
    w = np.exp(-(np.arange(-10, 10.0) ** 2) / 8)
    score, task = receptive.one_neuron_score(w, 1.5, 0.7, 0.4)[0], receptive.nlgp_task(20, 1.5, 0.7, 0.4)
    best = minimize_scalar(lambda a: receptive.first_order_loss(a * w[None], task)[0], (0.01, 1.0))
    assert best.fun == pytest.approx(1 / 4 - score / 16, rel=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_loss_against_samples(seed):
    """At a small drive the first order is wrong by less than a third of its own correction."""
    gain, W = 0.35, 0.3 * receptive.starting_fields(12, 3, "tiled", seed)
    rng = np.random.default_rng(seed + 10)
    x1, x0 = (receptive.nlgp_sample(12, xi, gain, 400_000, seed=rng) for xi in (1.1, 0.6))
    parts = [(np.maximum(x @ W.T, 0).mean(axis=1) - y) ** 2 / 4 for x, y in ((x1, 1), (x0, 0))]
    se = sum(part.var() / len(part) for part in parts) ** 0.5
    task = receptive.nlgp_task(12, 1.1, 0.6, gain)
    first, without = receptive.first_order_loss(W, task)[0], receptive.first_order_loss(W, task._replace(drive=0.0))[0]
    truth = sum(part.mean() for part in parts)
    assert abs(first - without) > 6 * se
    assert abs(truth - first) < abs(first - without) / 3 + 3 * se


def test_twins_are_finite():
    W = np.tile(np.exp(-(np.arange(-10, 10.0) ** 2) / 8), (3, 1)) * np.array([[1.0], [2.0], [-1.0]])
    loss, gradient = receptive.first_order_loss(W, receptive.nlgp_task(20, 1.5, 0.7, 1.0))
    assert np.isfinite(loss)
    assert np.all(np.isfinite(gradient))


def test_fields_are_flat_below_the_critical_gain_and_localized_above():
    low, high = (receptive.predicted_fields(40, 2, 1, gain, 1) for gain in (0.12, 0.3))
    assert 40 * receptive.ipr(low)[0] < 1.01
    assert 40 * receptive.ipr(high)[0] > 3


def test_torus_has_the_covariance_of_products():
    task = receptive.torus_task(6, 1.0, 0.6, 1e-5)
    r = receptive.gaussian_covariance(6, 1.0)
    assert task.C1[0, 6 * 2 + 3] == pytest.approx(r[0, 2] * r[0, 3], rel=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: receptive.one_neuron_score(np.zeros(8), 2, 1, 1), "w = 0 is no receptive field"),
        (lambda: receptive.first_order_loss(np.zeros((2, 8)), TASK), "W has a row of zeros"),
        (lambda: receptive.first_order_loss(np.ones((2, 9)), TASK), r"W has shape \(2, 9\)"),
        (lambda: receptive.field_score(np.ones(8), TASK._replace(C0=None)), "task.C0 = None"),
        (lambda: receptive.nlgp_task(8, 1, 0.5, 0), "gain = 0 is out of range"),
        (lambda: receptive.predicted_fields(40, 2, 1, 1, 0), "K = 0 is out of range"),
        (lambda: receptive.predicted_fields(40, 2, 1, 1, 2, start="flat"), "start = 'flat' is unknown"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_best_field_is_a_summit_above_every_start():
    task = receptive.nlgp_task(12, 2, 1, 0.3)
    starts = np.random.default_rng(0).standard_normal((4, 12))
    best = receptive.best_field(starts, task)
    value, slope = receptive.field_score(best, task)
    assert np.linalg.norm(best) == pytest.approx(1) and np.abs(slope).max() < 1e-5
    assert value >= max(receptive.field_score(receptive.best_field([w], task), task)[0] for w in starts) - 1e-12
    assert value > max(receptive.field_score(w, task)[0] for w in starts)


def test_random_start_has_the_spread_of_xavier():
    W = receptive.starting_fields(40, 400, "random", 0)
    assert W.std() == pytest.approx(np.sqrt(2 / 440), rel=4 / np.sqrt(2 * W.size))  # four standard errors


@pytest.mark.parametrize(("xi1", "ratio", "side"), [(3.0, 0.5, -1), (1.2, 0.6, 1)])
def test_the_border_of_phases_moves_with_the_size_of_the_ring(xi1, ratio, side):
    """An attack on one ratio for all: 40 pixels are 13 lengths, or 33. Above 0: the waves in phase lose less."""
    lengths, rng, size = (xi1, ratio * xi1), np.random.default_rng(5), 40
    spectrum = np.abs(
        np.fft.rfft(receptive.gaussian_tile(*(receptive.nlgp_covariance(size, xi, 0.3) for xi in lengths)).field)
    )
    losses, task = [], receptive.nlgp_task(size, *lengths, 0.3)
    for phase in (np.zeros(21), *rng.uniform(0, 2 * np.pi, (3, 21))):
        w = np.fft.irfft(spectrum * np.exp(1j * phase * (np.arange(21) > 0)), n=size)
        turns = np.array([np.roll(w, k) for k in range(size)])
        losses.append(receptive.first_order_loss(np.concatenate([turns, -turns]), task)[0])
    assert np.all(side * (np.array(losses[1:]) - losses[0]) > 0)
