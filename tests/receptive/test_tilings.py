"""The law of any gain: its gradients, its losses, and the certificate that no added field helps."""

import numpy as np
import pytest
from superposition import receptive
from superposition.experiments.predicted_fields import copies
from superposition.receptive import measures, tilings


@pytest.fixture(scope="module")
def data():
    return tilings.sample_waves(20, 1.5, 0.7, 3, 4000, seed=0)


def vectors(data):
    return [np.fft.irfft(f, n=data.n, axis=1) for f in data[:2]]


def loss(W, data):
    x1, x0 = vectors(data)
    return sum(np.mean((np.maximum(x @ W.T, 0).mean(axis=1) - y) ** 2) / 4 for x, y in ((x1, 1), (x0, 0)))


def test_loss_of_a_tiling_is_that_of_the_network_of_all_copies(data):
    tile = tilings.best_tile(data, tiled=True)
    assert loss(copies(tile.field), data) == pytest.approx(tile.loss, rel=1e-9)
    assert loss(copies(1.01 * tile.field), data) > tile.loss


def test_loss_of_one_neuron_is_that_over_all_turns(data):
    one = tilings.best_tile(data, tiled=False)
    turned = [loss(np.roll(sign * one.field, s)[None], data) for s in range(20) for sign in (1, -1)]
    assert np.mean(turned) == pytest.approx(one.loss, rel=1e-9)


def test_variation_is_the_slope_of_the_loss(data):
    """The tiling and the added copies are half of the neurons each, at twice their weight."""
    tile = tilings.best_tile(data, tiled=True)
    added = np.random.default_rng(1).standard_normal(20)
    size = np.sqrt(np.mean([np.mean((x @ np.roll(added, s)) ** 2) for x in vectors(data) for s in range(20)]))
    up = loss(np.concatenate([copies(tile.field * 2), copies(4e-4 * added)]), data)
    down = loss(np.concatenate([copies(tile.field * 2), copies(2e-4 * added)]), data)
    assert tilings.variation(added, tile, data) * size == pytest.approx((up - down) / 1e-4, rel=1e-2)
    assert tilings.variation(tile.field, tile, data) == pytest.approx(0, abs=1e-12)


def test_gaussian_tiling_can_be_improved_and_the_squashed_one_cannot(data):
    """Bounds set after looking: slopes of -1.3e-3 at gain 0.01 and -1e-5 at gain 3, at n = 40."""
    gaussian = tilings.sample_waves(40, 2, 1, 0.01, 3000, seed=3)
    squashed = tilings.sample_waves(40, 2, 1, 3, 3000, seed=3)
    low, high = (
        tilings.least_variation(tilings.best_tile(x, tiled=True), x, starts=3)[1] for x in (gaussian, squashed)
    )
    assert low < -5e-4
    assert abs(high) < 1e-4


def test_many_neurons_are_wider_than_one_at_large_gain():
    data = tilings.sample_waves(40, 2, 1, 3, 3000, seed=4)
    one, many = (40 * measures.ipr(tilings.best_tile(data, tiled=tiled).field) for tiled in (False, True))
    assert one > 2 * many


@pytest.mark.parametrize("samples", [0, 99, 2.5])
def test_too_few_samples_are_refused(samples):
    with pytest.raises(ValueError, match="samples = "):
        receptive.sample_waves(40, 2, 1, 3, samples)
