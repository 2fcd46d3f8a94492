"""Layers of ReLUs on a rug: closed forms against sampling, and the recursion against rugs."""

import numpy as np
import pytest
from superposition import decoders, features, rug
from superposition.decoders import relu_layers


def test_one_layer_is_the_best_relu():
    p, r = np.array([0.01, 0.05, 0.3]), np.array([0.1, 0.2, 0.5])
    assert np.allclose(decoders.relu_evolution(p, r, 1).loss[..., 0], rug.optimum(p, r).loss, rtol=1e-9)


@pytest.mark.parametrize(("p", "sigma"), [(0.05, 0.25), (0.05, 0.03), (0.3, 0.6)])
def test_best_step_against_samples(p, sigma):
    rng, step = np.random.default_rng(3), relu_layers._best_step(p, sigma)
    x = features.sample(10**6, p, 1, seed=rng)[0]
    noise = sigma * rng.standard_normal(x.size)

    def guess(threshold):
        """The error variance at a threshold, and the covariance with the noise, from samples."""
        u = np.maximum(x + noise + threshold, 0)
        f = u - np.mean(x + noise + threshold > 0) * (x + noise)
        c = np.cov(x, f)
        return c[0, 0] - c[0, 1] ** 2 / c[1, 1], np.cov(f, noise)[0, 1] / np.std(f) / sigma

    error, echo = guess(step.threshold)
    assert error == pytest.approx(step.error, rel=0.01) and abs(echo) < 0.005
    assert all(guess(step.threshold + shift * sigma)[0] > error for shift in (-0.4, 0.4))
    s = step.gain * (np.maximum(x + noise + step.threshold, 0) - step.share * (x + noise)) + step.constant
    assert np.mean((s - x) ** 2) == pytest.approx(step.error, rel=0.01)
    assert np.mean(s - x) == pytest.approx(0, abs=5 * np.std(s - x) / 1000)


def test_more_layers_lose_less_and_never_less_than_the_best_step():
    layers = decoders.relu_evolution(0.05, np.array([0.15, 0.2, 0.5]), 6)
    best = decoders.state_evolution(0.05, np.array([0.15, 0.2, 0.5]), 6)
    assert np.all(np.diff(layers.loss) < 0) and np.all(layers.loss > best.loss)


@pytest.mark.parametrize("evolution", [decoders.relu_evolution, decoders.pair_evolution])
def test_shapes_that_do_not_fit_are_named(evolution):
    with pytest.raises(ValueError, match=r"^p, r have shapes \(2,\), \(3,\); allowed: shapes that can be broadcast"):
        evolution([0.1, 0.2], [0.1, 0.2, 0.3], 1)


def test_losses_in_units_of_one_relu():
    found = decoders.relu_evolution(0.05, 0.2, 4).loss
    assert np.allclose(found / found[0], [1, 0.546, 0.296, 0.154], atol=1e-3)


def test_layers_on_a_rug_follow_the_recursion_and_the_plain_loop_does_not():
    p, one = 0.05, rug.Rug(16384, 4096, seed=1)
    x = features.sample(one.ns, p, 16, seed=2)
    seen = one.apply(x)
    errors = np.array([np.mean((found - x) ** 2, axis=1) for found in decoders.decode_in_layers(seen, one, p, 4)])
    expected, se = decoders.relu_evolution(p, 0.25, 4).loss, errors.std(axis=1, ddof=1) / 4
    assert np.all(np.abs(errors.mean(axis=1) - expected) < 4 * se + 0.03 * expected)
    first = rug.optimum(p, 0.25)
    s = np.maximum(first.a * seen + first.b, 0)  # the output of one ReLU sent back as it is
    y = s + seen - one.apply(s)
    again = relu_layers._best_read(p, np.std(y - x))
    assert np.mean((again[1] * np.maximum(y + again[2], 0) - x) ** 2) > 1.2 * errors[1].mean()


@pytest.mark.thorough
def test_the_threshold_separates_ratios_that_are_decoded_from_others():
    p = 0.05
    ratio = decoders.relu_recovery_ratio(p)
    assert decoders.recovery_ratio(p) < ratio
    low, high = (decoders.relu_evolution(p, ratio * factor, 200).loss[-1] for factor in (0.97, 1.05))
    assert high < 1e-12 and low > 1e-4
