"""What the runs on predicted fields compute: every small grid, and the measures they use."""

from importlib import import_module
from itertools import product

import numpy as np
import pytest
from superposition import receptive, runs
from superposition.experiments import single_fields, wide_networks
from superposition.experiments.predicted_fields import copies, sampled_loss
from superposition.runs.point import computed

SMALL = ["field-one", "field-many", "field-branches", "field-hundred", "field-pulses", "field-torus", "field-frozen"]


@pytest.mark.parametrize("name", SMALL)
def test_small_grid_gives_finite_numbers(name):
    run = runs.find(name)
    module, name = run.function.split(":")
    for block in run.small:
        for values in product(*block.values()):
            point = run.point(**dict(zip(block, values, strict=True)))
            found = computed(getattr(import_module(module), name), dict(point), "cpu")
            assert all(np.isfinite(value) for value in found.values() if not isinstance(value, str))


@pytest.mark.parametrize("power", [0, 1, 2.5])
def test_filter_power_is_the_exponent(power):
    C1 = receptive.gaussian_covariance(40, 2)
    W0 = receptive.initial_weights(3, 5, 40, seed=1)
    lam = receptive.eigenvalues(C1)
    W = np.fft.irfft(np.fft.rfft(W0, axis=-1) * np.abs(lam) ** power, n=40, axis=-1)
    assert wide_networks.filter_power(W0, W, C1) == pytest.approx(power, abs=1e-9)


def test_extents_of_a_stripe_and_a_pixel():
    stripe, pixel = np.zeros((2, 6, 6))
    stripe[2], pixel[1, 3] = 1, -2
    narrow, wide = single_fields.extents(np.reshape([stripe, pixel], (2, 36)), 6)
    np.testing.assert_allclose(narrow, [1, 1])
    np.testing.assert_allclose(wide, [6, 1])


def test_torus_data_have_product_correlations():
    one, zero = next(single_fields.torus_batches(8, 1.0, 0.5, 1e-3, 40_000, seed=0, device="cpu"))
    r = receptive.gaussian_covariance(8, 1.0)
    x = one.numpy().reshape(-1, 8, 8)
    assert np.mean(x[:, 2, 3] * x[:, 3, 5]) == pytest.approx(r[0, 1] * r[0, 2], abs=4 / 20_000**0.5)
    assert np.mean(x[:, 2, 3] * x[:, 3, 3]) == pytest.approx(r[0, 1], abs=4 / 20_000**0.5)
    assert zero.shape == (20_000, 64)


def test_copies_turn_and_change_sign():
    w = np.arange(1.0, 6)
    W = copies(w)
    assert W.shape == (10, 5)
    np.testing.assert_allclose(W.sum(axis=0), 0)
    assert sampled_loss(0 * W, 0.8, 0.4, 1, 100, seed=0) == pytest.approx(0.25)


def test_output_bias_has_a_rate_of_its_own():
    W = receptive.initial_weights(1, 3, 12, seed=0)
    options = {"steps": 1, "lr": 0.5, "activation": "erf", "bias": 0.3}
    ends = [
        receptive.train_fields(
            W, receptive.nlgp_batches(12, 1, 0.5, 1, 50, seed=0, device="cpu"), lr_out=rate, **options
        )
        for rate in (None, 0.5, 0.05)
    ]
    np.testing.assert_array_equal(ends[0].bias_out, ends[1].bias_out)
    np.testing.assert_allclose(ends[2].bias_out, ends[0].bias_out / 10, rtol=1e-5)
    np.testing.assert_array_equal(ends[2].W, ends[0].W)
