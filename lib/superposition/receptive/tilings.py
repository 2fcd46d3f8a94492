"""The width of a receptive field at any gain: the best single field, and the best field whose copies tile the ring.

Both are maxima of a ratio over one field w, with u_s = <w moved by s, x>:

    one neuron      R = (E_1|u|)^2 / (sum over labels of E u^2 / 2),     least loss 1/4 - R/16,
    many neurons    R = (E_1 M)^2 / (sum over labels of E M^2 / 2),      least loss 1/4 - R/8,

M being the mean of |u_s| over all n places: so predict neurons at every place with either sign. The averages are
over a sample and all its turns; nothing is expanded. `least_variation` asks whether any other field, added to
the tiling, would lower the loss: the loss is convex in the distribution of fields, so if none does, no network of any
width is better.

Source: completes the notes on localization, which measure localized fields; the formulas are ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from superposition.receptive.nlgp import nlgp_sample


class Tile(NamedTuple):
    """A field, shape (n,), even about pixel 0 and at its best amplitude, and the loss E(yhat - Y)^2 / 2 it reaches."""

    field: np.ndarray
    loss: float


class Waves(NamedTuple):
    """Fourier coefficients of the vectors with label 1 and of those with label 0, and the pixels of the ring."""

    label1: np.ndarray
    label0: np.ndarray
    n: int


def sample_waves(n: int, xi1: float, xi2: float, gain: float, samples: int, *, seed: int = 0) -> Waves:
    """Draw NLGP data of both labels; every vector counts with all its turns round the ring."""
    streams = np.random.SeedSequence(seed).spawn(2)
    x1, x0 = (
        nlgp_sample(n, xi, gain, samples, seed=np.random.default_rng(stream))
        for xi, stream in zip((xi1, xi2), streams, strict=True)
    )
    return Waves(np.fft.rfft(x1, axis=1), np.fft.rfft(x0, axis=1), n)


def best_tile(data: Waves, *, tiled: bool, widths: tuple = (1.0, 3.0, 12.0)) -> Tile:
    """The best field of a single neuron, or the best one whose copies of either sign tile the ring."""
    # The search starts from Gaussian bumps of the given widths, in pixels, and the best end counts.
    d = np.arange(data.n // 2 + 1)
    starts = [np.exp(-((d / width) ** 2)) + 0.02 for width in widths]
    ends = [minimize(_minus_log_score, start, (data, tiled), jac=True, method="L-BFGS-B") for start in starts]
    best = min(ends, key=lambda end: end.fun)
    w = _unfold(best.x, data.n)
    mean, square, *_ = _averages(w, data, tiled)
    return Tile(w * mean / square / (1 if tiled else 2), float(0.25 - np.exp(-best.fun) / (8 if tiled else 16)))


def network_outputs(tile: Tile, data: Waves) -> tuple[np.ndarray, np.ndarray]:
    """Prediction of the tiling, half the mean of |u_s| over the ring, for the vectors with label 1 and with label 0."""
    y1, y0 = (np.abs(_preactivations(tile.field, f, data.n)).mean(axis=1) / 2 for f in data[:2])
    return y1, y0


def variation(w: np.ndarray, tile: Tile, data: Waves) -> float:
    """Slope of the loss of a tiling as copies of a field w (n,) are added to it, all places, either sign."""
    # It is E[(yhat - Y) |<w, x>|] / 2 over the root mean square of <w, x>: 0 for the tile's own field.
    return _variation(np.asarray(w, dtype=np.float64), _errors(tile, data), data)[0]


def least_variation(tile: Tile, data: Waves, *, starts: int = 8, seed: int = 0) -> tuple[np.ndarray, float]:
    """The field whose addition to a tiling would lower the loss most steeply, and its `variation`."""
    # Below 0 the tiling is not the best network, at 0 (up to the search and the sample) it is. The search starts from
    # the waves of the six lowest frequencies and from as many random fields as asked for.
    rng = np.random.default_rng(seed)
    waves = [np.cos(2 * np.pi * k * np.arange(data.n) / data.n) for k in range(6)]
    tried = [*waves, *rng.standard_normal((starts, data.n))]
    tried = [w + 1e-3 * rng.standard_normal(data.n) for w in tried]
    errors = _errors(tile, data)
    ends = [minimize(_variation, w, (errors, data), jac=True, method="L-BFGS-B") for w in tried]
    best = min(ends, key=lambda end: end.fun)
    return best.x, float(best.fun)


def _unfold(half, n):
    return np.concatenate([half, half[1 : (n + 1) // 2][::-1]])


def _fold(gradient):
    n = len(gradient)
    half = gradient[: n // 2 + 1].copy()
    half[1 : (n + 1) // 2] += gradient[n // 2 + 1 :][::-1]
    return half


def _preactivations(w, f, n):
    """<w moved by s, x> for every vector and place s."""
    return np.fft.irfft(np.conj(np.fft.rfft(w)) * f, n=n, axis=1)


def _back(a, f, n):
    """Gradient of the mean over vectors of sum_s a_s u_s."""
    return np.fft.irfft(np.mean(np.conj(np.fft.rfft(a, axis=1)) * f, axis=0), n=n)


def _averages(w, data, tiled):
    """E_1|u|, sum over labels of E M^2 / 2, and their gradients."""
    n = data.n
    mean, by_mean, square, by_square = 0.0, np.zeros(n), 0.0, np.zeros(n)
    for label, f in ((0, data.label0), (1, data.label1)):
        u = _preactivations(w, f, n)
        signs = np.sign(u) / n
        sizes = np.sum(signs * u, axis=1, keepdims=True)  # M
        square += np.mean(sizes**2 if tiled else u**2) / 2
        by_square = by_square + _back(signs * sizes if tiled else u / n, f, n)
        if label:
            mean, by_mean = np.mean(np.abs(u)), _back(signs, f, n)
    return mean, square, by_mean, by_square


def _minus_log_score(half, data, tiled):
    mean, square, by_mean, by_square = _averages(_unfold(half, data.n), data, tiled)
    return np.log(square) - 2 * np.log(mean), _fold(by_square / square - 2 * by_mean / mean)


def _errors(tile, data):
    y1, y0 = network_outputs(tile, data)
    return y1 - 1, y0


def _variation(w, errors, data):
    value, by_value, square, by_square, n = 0.0, 0.0, 0.0, 0.0, data.n
    for f, error in zip(data[:2], errors, strict=True):
        u = _preactivations(w, f, n)
        signs = error[:, None] * np.sign(u) / n
        value, by_value = value + np.mean(np.sum(signs * u, axis=1)) / 4, by_value + _back(signs, f, n) / 4
        square, by_square = square + np.mean(u**2) / 2, by_square + _back(u, f, n) / n
    root = np.sqrt(square)
    return value / root, by_value / root - value * by_square / (2 * root**3)
