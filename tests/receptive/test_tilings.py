"""The law of any gain: its losses, its control variate, and whether an added field helps."""

import numpy as np
import pytest
from superposition import receptive
from superposition.experiments.predicted_fields import copies, sampled_loss
from superposition.experiments.tiled_fields import broad
from superposition.receptive import tilings

RING = (20, 1.5, 0.7)


@pytest.fixture(scope="module")
def data():
    return receptive.sample_waves(*RING, 3, 4000, seed=0)


@pytest.fixture(scope="module")
def tile(data):
    return receptive.best_tile(data, tiled=True)


def fresh_loss(W):
    """Mean and standard error over ten fresh samples."""
    found = [sampled_loss(W, *RING[1:], 3, 2000, seed) for seed in range(10)]
    return np.mean(found), np.std(found, ddof=1) / 10**0.5


def test_loss_of_a_tiling_is_that_of_the_network_of_all_copies(tile):
    mean, se = fresh_loss(copies(tile.field))
    assert abs(mean - tile.loss) < 4 * se + 1e-3  # the tile's own sample of 4000 has an error too
    assert fresh_loss(copies(1.3 * tile.field))[0] > mean + 4 * se


def test_loss_of_one_neuron_is_that_over_all_turns(data):
    one = receptive.best_tile(data, tiled=False)
    mean, se = fresh_loss(one.field[None])
    assert abs(mean - one.loss) < 4 * se + 1e-3


def test_gaussian_averages_need_no_sample():
    """At gain 0.001 a pixel is its Gaussian part, which is known without vectors."""
    few, many = (receptive.sample_waves(*RING, 1e-3, size, seed=size) for size in (100, 1000))
    w = np.random.default_rng(1).standard_normal(20)
    for tiled in (False, True):
        for one, other in zip(tilings._averages(w, few, tiled), tilings._averages(w, many, tiled), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_control_variate_leaves_the_mean_and_takes_most_of_the_noise():
    w = np.exp(-(np.minimum(np.arange(20), 20 - np.arange(20)) ** 2) / 4)
    with_it, plain = [], []
    for seed in range(20):
        label = receptive.sample_waves(*RING, 0.3, 300, seed=seed).label1
        of = receptive.crowd(w, label, 20)
        with_it.append(receptive.mean_crowd_size(w, of, label, 20)[0])
        plain.append(of.x[0].mean())
    x = receptive.nlgp_sample(20, 1.5, 0.3, 100_000, seed=99)
    size = np.abs(x @ w)
    assert abs(np.mean(with_it) - size.mean()) < 4 * size.std() / 1e5**0.5 + np.std(with_it)
    assert np.std(with_it) < np.std(plain) / 4


def test_slope_is_that_of_the_loss_of_two_fields(tile, data):
    added = np.random.default_rng(1).standard_normal(20)
    up, down = (receptive.tiled_network_loss(np.stack([tile.field, e * added]), data)[0] for e in (2e-5, 1e-5))
    size = np.sqrt(added @ np.fft.irfft(data.power * np.fft.rfft(added), n=20))
    assert receptive.added_slope(added, tile, data) * size == pytest.approx((up - down) / 1e-5, rel=1e-2)
    assert receptive.added_slope(tile.field, tile, data) == pytest.approx(0, abs=1e-7)
    assert receptive.tiled_network_loss(tile.field[None], data)[0] == pytest.approx(tile.loss, abs=1e-12)


def test_gaussian_tiling_can_be_improved_and_the_squashed_one_cannot():
    """Read on vectors that the search has not seen; bounds set after looking: slopes of -1e-3 and of no sign."""
    slopes = []
    for gain in (0.01, 3):
        known, fresh = (receptive.sample_waves(40, 2, 1, gain, 1000, seed=seed) for seed in (3, 4))
        tile = receptive.best_tile(known, tiled=True)
        added, _ = receptive.steepest_field(tile, known, waves=3, starts=1)
        slopes.append(receptive.added_slope(added, tile, fresh) - receptive.added_slope(tile.field, tile, fresh))
    assert slopes[0] < -5e-4
    assert slopes[1] > -2e-4


@pytest.mark.thorough
def test_best_pair_is_no_worse_than_the_tile_on_its_own_sample(tile, data):
    pair, loss = receptive.best_field_pair(tile, data, starts=0)
    assert loss <= tile.loss + 1e-9
    assert receptive.tiled_network_loss(pair, data)[0] == pytest.approx(loss)


def test_tile_solves_the_equations_behind_the_gates_of_its_copies(tile):
    fresh = receptive.sample_waves(*RING, 3, 4000, seed=5)
    A, b = receptive.behind_copies(tile.field, fresh)
    miss = np.linalg.norm(b - A @ tile.field / 2) / np.linalg.norm(b)
    pixel = np.eye(20)[0]
    A, b = receptive.behind_copies(pixel, fresh)
    assert miss < 0.03 < np.linalg.norm(b - A @ pixel / 2) / np.linalg.norm(b)


def test_many_neurons_are_wider_than_one_at_large_gain():
    data = receptive.sample_waves(40, 2, 1, 3, 3000, seed=4)
    one, many = (40 * receptive.ipr(receptive.best_tile(data, tiled=tiled).field) for tiled in (False, True))
    assert one > 2 * many


BIASES = [(hidden, output) for hidden in (False, True) for output in (False, True)]


@pytest.mark.parametrize(("hidden", "output"), BIASES)
def test_score_of_biased_tilings_has_its_gradient(data, hidden, output):
    """Of sums over 80 000 pre-activations, a few of which cross their threshold in a step of 1e-6."""
    point = np.append(np.exp(-((np.arange(11) / 3) ** 2)) + 0.02, -0.6)
    slope = tilings._biased_score(point, data, hidden, output)[1]
    for i, step in enumerate(1e-6 * np.eye(12)):
        up, down = (tilings._biased_score(point + side * step, data, hidden, output)[0] for side in (1, -1))
        learned = hidden or i < 11
        assert slope[i] == pytest.approx((up - down) / 2e-6 if learned else 0, abs=1e-4)


@pytest.mark.parametrize(("hidden", "output"), BIASES)
def test_loss_of_a_biased_tiling_is_that_of_its_network(tile, data, hidden, output):
    best = receptive.best_biased_tile(tile.field, -0.4, data, hidden=hidden, output=output)
    losses = []
    for seed in range(10):
        errors = [
            np.maximum(
                receptive.nlgp_sample(20, xi, 3, 2000, seed=2 * seed + y) @ copies(best.field).T + best.hidden, 0
            ).mean(axis=1)
            + best.output
            - y
            for y, xi in ((1, 1.5), (0, 0.7))
        ]
        losses.append(sum(np.mean(error**2) for error in errors) / 4)
    assert np.mean(losses) == pytest.approx(best.loss, abs=4 * np.std(losses, ddof=1) / 10**0.5 + 1e-3)
    assert best.loss < tile.loss - 0.01


def test_without_a_bias_the_biased_tiling_is_the_tiling(tile, data):
    """Up to the change by the control variate on 4000 vectors: the two losses differ slightly."""
    same = receptive.best_biased_tile(tile.field, 0, data, hidden=False, output=False)
    assert same.loss == pytest.approx(tile.loss, abs=1e-3)
    assert (same.hidden, same.output) == (0, 0)
    cosine = same.field @ tile.field / np.linalg.norm(same.field) / np.linalg.norm(tile.field)
    assert cosine == pytest.approx(1, abs=1e-3)


def test_beside_an_output_bias_the_sign_of_the_hidden_one_is_free(tile, data):
    low, high = (receptive.best_biased_tile(tile.field, b, data, hidden=False, output=True) for b in (-0.4, 0.4))
    assert low.loss == pytest.approx(high.loss, abs=1e-6)
    assert low.output == pytest.approx(high.output + high.hidden, rel=1e-2)  # a pair of neurons adds 2 b, their mean b


def test_neurons_that_are_never_on_are_refused(data):
    with pytest.raises(ValueError, match=r"ratio = -3: no neuron is ever on; allowed"):
        receptive.best_biased_tile(np.eye(20)[0], -3.0, data, hidden=True, output=False)


def test_broad_fields_have_the_shares_asked_for():
    shares = np.array([0, 0.3, 1])
    fields = broad(20, shares)
    np.testing.assert_allclose(receptive.power_spectrum(fields)[:, 1], shares, atol=1e-12)
    np.testing.assert_allclose(np.sum(fields**2, axis=1), 20)


@pytest.mark.parametrize("samples", [0, 99, 2.5])
def test_too_few_samples_are_refused(samples):
    with pytest.raises(ValueError, match="samples = "):
        receptive.sample_waves(40, 2, 1, 3, samples)
