"""Crowds: the closed form on Gaussian data, gradients, and the certificate."""

import numpy as np
import pytest
from superposition import receptive
from superposition.receptive import crowds

DATA = receptive.sample_waves(12, 1, 0.5, 3, 300, seed=0)


def test_the_closed_form_is_the_loss_of_the_tile_on_gaussian_vectors():
    C1, C0 = (receptive.nlgp_covariance(20, xi, 2.0) for xi in (1.6, 0.8))
    tile, losses = receptive.gaussian_tile(C1, C0), []
    rng = np.random.default_rng(3)
    for x, y in (
        (receptive.gaussian_sample(C1, 40_000, seed=1), 1),
        (receptive.gaussian_sample(C0, 40_000, seed=2), 0),
    ):
        u = np.fft.irfft(np.conj(np.fft.rfft(tile.field)) * np.fft.rfft(x), n=20, axis=1)
        losses.append((np.abs(u).mean(axis=1) / 2 - y) ** 2 / 4)
    error = np.sqrt(sum(part.var() / len(part) for part in losses))
    assert sum(part.mean() for part in losses) == pytest.approx(tile.loss, abs=4 * error)
    # any phases, the same loss; another spectrum, a larger one
    phases = np.append(0, rng.uniform(0, 6, 10))
    turned = np.fft.irfft(np.fft.rfft(tile.field) * np.exp(1j * phases), n=20)
    flat = receptive.kernel_row(20, 0.7)
    loss = [exact(w, C1, C0) for w in (tile.field, turned, flat)]
    assert loss[0] == pytest.approx(tile.loss, abs=1e-9)
    assert loss[1] == pytest.approx(tile.loss, abs=2e-6)  # the last wave of a real field has no phase
    assert loss[2] > tile.loss + 1e-3


def exact(w, C1, C0):
    """Loss at the best length, by the covariances of all pairs of places."""
    means = []
    for C in (C1, C0):
        rho = np.array([w @ C @ np.roll(w, d) for d in range(len(w))])
        c = np.clip(rho / rho[0], -1, 1)
        means.append((np.sqrt(2 * rho[0] / np.pi), 2 / np.pi * rho[0] * np.mean(np.sqrt(1 - c**2) + c * np.arcsin(c))))
    return 0.25 - means[0][0] ** 2 / (means[0][1] + means[1][1]) * 2 / 8


def test_gradients_of_crowds():
    rng = np.random.default_rng(1)
    W, b, h = rng.standard_normal((2, 12)), np.array([-0.5, 0.3]), 1e-6
    _, by_W, by_b = receptive.crowd_loss(W, b, DATA)
    V, c = rng.standard_normal((2, 12)), rng.standard_normal(2)
    up, down = (receptive.crowd_loss(W + s * h * V, b + s * h * c, DATA)[0] for s in (1, -1))
    assert (up - down) / (2 * h) == pytest.approx(np.sum(by_W * V) + by_b @ c, rel=1e-4)
    errors = receptive.crowd_errors(W, b, DATA)
    _, slope = crowds.joining_slope(V[0], 0.4, errors, DATA)
    up, down = (crowds.joining_slope(V[0] + s * h * V[1], 0.4 + s * h, errors, DATA)[0] for s in (1, -1))
    assert (up - down) / (2 * h) == pytest.approx(slope[:12] @ V[1] + slope[12], rel=1e-4, abs=1e-8)


def test_the_slope_is_what_a_weak_pair_does():
    W, b, v, c, t = np.eye(1, 12), np.array([-0.4]), np.roll(np.eye(1, 12)[0], 3) + 0.2, -0.3, 1e-6
    slope = crowds.joining_slope(v, c, receptive.crowd_errors(W, b, DATA), DATA)[0]
    size = np.hypot(crowds.root_mean_square(v, DATA)[0], c)
    joined = receptive.crowd_loss(np.vstack([W, t * v]), np.append(b, t * c), DATA)[0]
    assert (joined - receptive.crowd_loss(W, b, DATA)[0]) / t == pytest.approx(slope * size, rel=1e-3)


def test_without_biases_it_is_the_loss_of_the_tiling():
    tile = receptive.best_tile(DATA, tiled=True)
    sampled = receptive.crowd_loss(tile.field[None], [0.0], DATA)[0]
    assert sampled == pytest.approx(
        receptive.tiled_network_loss(tile.field[None], DATA)[0], abs=2e-2
    )  # no control variate


@pytest.mark.thorough
def test_a_pair_that_joins_lowers_the_loss_until_none_does():
    one, more = (receptive.best_crowd(DATA, biased=True, most=most, seed=0) for most in (1, 3))
    assert one.slope < 0
    assert more.loss < one.loss - 1e-4
    assert more.slope > one.slope
    assert len(more.fields) == len(more.biases) <= 3
    assert np.all(receptive.best_crowd(DATA, biased=False, most=2, iterations=20).biases == 0)
