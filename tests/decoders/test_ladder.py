"""State evolution, its fixed points and the iterated decoder: closed forms against sums, limits and simulation."""

import numpy as np
import pytest
from sampled import sampled
from scipy.integrate import quad
from superposition import decoders, features
from superposition.decoders import ladder
from superposition.rug import Rug, bayes, linear_loss, meanfield, optimum, scaling
from superposition.rug.bayes import bayes_loss

CASES = [(0.001, 0.3), (0.05, 0.25), (0.3, 0.6), (0.05, 0.02), (0.9, 2.0)]


def joint(p, sigma, y):
    """Density of y and the first two moments of x, by quadrature over the strength u."""
    normal = lambda u: np.exp(-(((y - u) / sigma) ** 2) / 2) / np.sqrt(2 * np.pi) / sigma  # noqa: E731
    near = np.clip([y - 8 * sigma, y, y + 8 * sigma], 0, 1)
    on = [quad(lambda u, k=k: u**k * normal(u), 0, 1, points=near, epsabs=0, epsrel=1e-11)[0] for k in range(3)]
    return p * on[0] + (1 - p) * normal(0), p * on[1], p * on[2]


@pytest.mark.parametrize(("p", "sigma"), CASES)
def test_element_wise_decoder_against_quadrature(p, sigma):
    for y in (-3 * sigma, 0.0, 0.1, 2 * sigma, 0.7, 1 + 2 * sigma):
        density, first, second = joint(p, sigma, y)
        mean, variance = bayes.bayes_decoder(y, sigma, p)
        assert mean == pytest.approx(first / density, rel=1e-8)
        assert variance == pytest.approx(second / density - (first / density) ** 2, rel=1e-6, abs=1e-14)


@pytest.mark.parametrize(("p", "sigma"), CASES)
def test_its_mean_variance_is_the_loss_and_so_is_its_slope(p, sigma):
    rng = np.random.default_rng(7)
    x = features.sample(400_000, p, 1, seed=rng)[0]
    y = x + sigma * rng.standard_normal(x.size)
    mean, variance = bayes.bayes_decoder(y, sigma, p)
    loss, error = float(bayes_loss(p, sigma)), (mean - x) ** 2
    assert abs(error.mean() - loss) < 4.5 * error.std() / np.sqrt(x.size)
    assert abs(variance.mean() - loss) < 4.5 * variance.std() / np.sqrt(x.size)
    slope = (bayes.bayes_decoder(y + 1e-5 * sigma, sigma, p)[0] - mean) / (1e-5 * sigma)
    assert np.allclose(slope, variance / sigma**2, atol=2e-4)  # Tweedie; this makes the step divergence-free


def test_the_first_iteration_is_the_element_wise_decoder_and_the_loss_only_falls():
    p, r = np.array([0.001, 0.05, 0.4])[:, None], np.array([0.05, 0.2, 0.5, 0.9])
    found = decoders.state_evolution(p, r, 12)
    assert np.allclose(found.sigma[..., 0], meanfield.noise_std(p, r), rtol=1e-14)
    assert np.allclose(found.loss[..., 0], bayes_loss(p, meanfield.noise_std(p, r)), rtol=1e-14)
    assert np.all(np.diff(found.loss) < 1e-12 * found.loss[..., 1:])  # rounding, at a fixed point
    assert np.all(np.diff(found.loss[..., :3]) < 0) and np.all(found.loss[..., 0] < linear_loss(p, r))


def test_one_step_in_units_that_need_no_recursion():
    # with an estimate of variance tau, y = s + R (x - s) has (1 - r)^2 tau / r from inside and (1 - r) tau from outside
    p, r = 0.05, 0.3
    first = decoders.state_evolution(p, r, 2)
    tau = ladder.extrinsic(first.loss[0], first.sigma[0])
    assert first.sigma[1] ** 2 == pytest.approx(tau * ((1 - r) ** 2 / r + (1 - r)), rel=1e-12)
    assert 1 / first.loss[0] == pytest.approx(1 / tau + 1 / first.sigma[0] ** 2, rel=1e-12)


def test_a_full_frame_leaves_nothing():
    assert np.all(decoders.state_evolution(0.05, 1.0, 2).loss == 0)


@pytest.mark.parametrize(("p", "printed"), sampled([(0.05, 0.1122), (0.01, 0.03142), (0.001, 0.004492)]))
def test_threshold_against_a_fine_grid_and_the_recursion(p, printed):
    sigma = np.geomspace(0.05, 1, 3000)
    ratio = float(decoders.recovery_ratio(p))
    assert ratio == pytest.approx(np.max(bayes_loss(p, sigma) / sigma**2), rel=1e-6)
    assert ratio == pytest.approx(printed, rel=5e-4)
    below, above = (decoders.state_evolution(p, ratio * factor, 400).loss[-1] for factor in (0.98, 1.05))
    assert above < 1e-9 < below and below == pytest.approx(decoders.final_loss(p, 0.98 * ratio), rel=1e-3)


@pytest.mark.parametrize("p", [0.002, 0.05, 0.5])
def test_final_loss_is_a_fixed_point_and_falls_with_the_ratio(p):
    ratios = float(decoders.recovery_ratio(p)) * np.array([0.1, 0.5, 0.9, 0.999])
    losses = [decoders.final_loss(p, r) for r in ratios]
    for r, loss in zip(ratios, losses, strict=True):
        assert bayes_loss(p, np.sqrt(loss / r)) == pytest.approx(loss, rel=1e-9)
    assert np.all(np.diff(losses) < 0) and losses[0] < features.variance(p)
    assert decoders.final_loss(p, 1.01 * ratios[-1]) == 0


def test_thresholds_at_small_p():
    # in sigma = mu / sqrt(2 ln(1/p)) the loss is p mu^3 / 3 up to mu = 1: the share is largest there, 2/3 p ln(1/p)
    p = np.array([1e-20, 1e-60, 1e-200])
    shares = decoders.recovery_ratio(p) / (p * np.log(1 / p))
    assert np.all(np.diff(shares) > 0) and np.all(shares < 2 / 3) and shares[-1] > 0.97 * 2 / 3
    linear = scaling.small_noise_factor(p, 1.0) / (p * np.log(1 / p))
    assert np.all(np.diff(np.abs(linear - 2)) < 0) and abs(linear[-1] - 2) < 0.08


def test_losses_in_the_drop_at_small_p():
    # each iteration raises the exponent of mu: 3 (3 (3/2)^(k - 1) - 2)
    p, kappa = 1e-200, 1.5
    mu = float(scaling.drop_threshold(kappa))
    losses = decoders.state_evolution(p, scaling.drop_ratio(p, kappa), 3).loss / (p / 3)
    limits = mu ** (3 * (3 * 1.5 ** np.arange(3) - 2))
    assert np.allclose(losses, limits, rtol=0.25) and not np.allclose(losses[1:], mu**3, rtol=0.5)


@pytest.mark.parametrize("r", [0.1, 0.3])
def test_decoder_on_a_rug_follows_state_evolution(r):
    rug, p = Rug(16384, round(r * 16384), seed=5), 0.05
    x = features.sample(rug.ns, p, 24, seed=11)
    errors = np.array(
        [((found - x) ** 2).mean(axis=1) for found in decoders.decode_rug(rug.apply(x), rug, p, iterations=4)]
    )
    predicted = decoders.state_evolution(p, rug.nd / rug.ns, 4).loss
    se = errors.std(axis=1, ddof=1) / np.sqrt(len(x))
    assert np.all(np.abs(errors.mean(axis=1) - predicted) < 4 * se + 0.03 * predicted)


def test_dense_form_agrees_with_the_fast_one_and_takes_any_shape():
    rug = Rug(64, 26, seed=2)
    x = features.sample(64, 0.05, 6, seed=3)
    vectors = np.linalg.eigh(rug.dense())[1][:, -26:].T
    fast = [found.copy() for found in decoders.decode_rug(rug.apply(x), rug, 0.05, iterations=3)][-1]
    mixed = np.random.default_rng(0).standard_normal((26, 26)) @ vectors  # the same row space
    for W_in in (vectors, mixed):
        assert np.allclose(decoders.decode(x @ W_in.T, W_in, 0.05, iterations=3), fast, atol=1e-7)
    assert decoders.decode((x @ vectors.T).reshape(2, 3, 26), vectors, 0.05).shape == (2, 3, 64)


def test_coherent_columns_stop_it_and_it_does_not_run_away():
    # each column twice: the errors of a pair are one, which the recursion does not know, and the first step was better
    W_in = np.repeat(np.random.default_rng(4).standard_normal((30, 60)), 2, axis=1)
    x = features.sample(120, 0.05, 200, seed=5)
    first, fifth, last = (
        np.mean((decoders.decode(x @ W_in.T, W_in, 0.05, iterations=k) - x) ** 2) for k in (1, 5, 200)
    )
    assert first < fifth < 1.3 * first and last == pytest.approx(fifth, rel=0.02)


def test_features_that_are_written_nowhere_get_their_mean():
    W_in = np.zeros((2, 3))
    W_in[:, :2] = np.eye(2)
    assert np.allclose(decoders.decode([0.4, 0.0], W_in, 0.05), [0.4, 0, 0.025], atol=1e-6)


def test_best_relu_is_above_the_iterated_decoder():
    p, r = 0.05, np.array([0.1, 0.2, 0.5])
    assert np.all(decoders.state_evolution(p, r, 2).loss[:, 1] < optimum(p, r).loss)


def test_refusals_name_the_shape():
    with pytest.raises(ValueError, match=r"hidden has shape \(3,\); allowed: \(..., 2\)"):
        decoders.decode(np.ones(3), np.ones((2, 5)), 0.05)
    with pytest.raises(ValueError, match=r"readout has shape \(1, 5\); allowed: \(batch, 8\)"):
        decoders.decode_rug(np.ones((1, 5)), Rug(8, 3), 0.05)
    with pytest.raises(ValueError, match=r"v = 2 is out of range; allowed: \[0, sigma\^2\)"):
        ladder.extrinsic(2.0, 1.0)
