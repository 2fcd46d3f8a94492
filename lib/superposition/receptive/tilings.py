"""The width of a receptive field at any gain: the best single field, and the best field whose copies tile the ring.

Both are maxima of a ratio over one field w, with u_s = <w moved by s, x>:

    one neuron      R = (E_1|u|)^2 / (sum over labels of E u^2 / 2),     least loss 1/4 - R/16,
    many neurons    R = (E_1 M)^2 / (sum over labels of E M^2 / 2),      least loss 1/4 - R/8,

where M is the mean of |u_s| over all n places: the output of neurons at every place with either sign. Second moments
are exact. The other averages are over a sample and all its turns; the part c z of x, with z its Gaussian and c =
E[x_i z_i], is known exactly and serves as control variate. There is no expansion.

Source: ours; the notes on localization measure localized fields.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import erf

from superposition import checks, ranges
from superposition.checked import checked
from superposition.receptive.nlgp import nlgp_covariance, normalization
from superposition.receptive.ranges import (
    field,
    length0,
    length1,
    one_gain,
    sample_fits,
    three_pixels,
    two_lengths,
    vectors,
    widths,
)
from superposition.receptive.ring import covariance_row, eigenvalues, stationary_sample

SILENT = 1e3  # for infinity, which stops a line search: minus the log score of neurons that no input turns on


class Tile(NamedTuple):
    """A field, shape (n,), even about pixel 0 and at its best amplitude, and the loss E(yhat - Y)^2 / 2 it reaches."""

    field: np.ndarray
    loss: float


class BiasedTile(NamedTuple):
    """A field (n,) at its best amplitude, the bias of every neuron and that of the output, and the loss they reach."""

    field: np.ndarray
    hidden: float
    output: float
    loss: float


class Label(NamedTuple):
    """Fourier coefficients of the vectors of a label and of their Gaussian part c z, and the eigenvalues of c z."""

    x: np.ndarray
    z: np.ndarray
    spectrum: np.ndarray


class Waves(NamedTuple):
    """Data of either label, the eigenvalues of the mean covariance (C_0 + C_1) / 2, and the pixels of the ring."""

    label1: Label
    label0: Label
    power: np.ndarray
    n: int


class Crowd(NamedTuple):
    """Mean sizes of a field's pre-activations over all places, and sign(u_s) / n: of vectors and Gaussian parts."""

    x: tuple[np.ndarray, np.ndarray]
    z: tuple[np.ndarray, np.ndarray]


def label_data(name: str, value: Any) -> Label:
    """Vectors of one label, from `sample_waves`."""
    x, z, spectrum = (np.asarray(part) for part in ranges.instance(Label)(name, value))
    if x.dtype.kind != "c" or x.shape != z.shape or x.ndim != 2 or not x.size or spectrum.shape != x.shape[1:]:
        raise ValueError(f"{name} has parts of shapes {x.shape}, {z.shape} and {spectrum.shape}; allowed: coefficients")
    return value


def wave_data(name: str, value: Any) -> Waves:
    """Data of both labels, from `sample_waves`."""
    data = ranges.instance(Waves)(name, value)
    checks.array(f"{name}.power", data.power, (checks.whole(f"{name}.n", data.n, 3) // 2 + 1,))
    for part in (data.label1, data.label0):
        if label_data(f"a label of {name}", part).x.shape[1] != data.n // 2 + 1:
            raise ValueError(f"{name}.n = {data.n} is not the ring of its labels; allowed: their own")
    return value


def _start_fits(start, ratio, data):
    checks.array("start", start, (data.n,))
    w = _unfold(start[: data.n // 2 + 1], data.n)
    b = ratio * root_mean_square.unchecked(w, data)[0]
    if all(np.all(biased_sizes(w, b, label, data.n)[2] > 2 - 1e-9) for label in (data.label1, data.label0)):
        raise ValueError(f"ratio = {ratio:g}: no neuron is ever off; allowed: a bias below some pre-activation")


def _label_fits(w, label, n):
    checks.array("w", w, (n,))
    if label.x.shape[1] != n // 2 + 1:
        raise ValueError(f"n = {n} is not the ring of this label; allowed: {2 * label.x.shape[1] - 2} or one more")


@checked(
    two_lengths, sample_fits, n=three_pixels, xi1=length1, xi2=length0, gain=one_gain, samples=vectors,
    seed=ranges.whole(0)
)  # fmt: skip
def sample_waves(n: int, xi1: float, xi2: float, gain: float, samples: int, *, seed: int = 0) -> Waves:
    """Draw NLGP data of both labels, in the form that `best_tile` and the functions of `Waves` take.

    Source: ours; the notes on localization measure localized fields. Use `nlgp_sample` instead for the vectors
    themselves.

    Parameters
    ----------
    samples : int
        Vectors of each label, at least 100; each of them counts in all its rotations round the ring.

    Examples
    --------
    >>> data = sample_waves(40, 2, 1, 3, 100, seed=0)
    >>> data.label1.x.shape, data.n
    ((100, 21), 40)
    """
    streams = np.random.SeedSequence(seed).spawn(2)
    labels = [_draw(n, xi, gain, samples, stream) for xi, stream in zip((xi1, xi2), streams, strict=True)]
    power = sum(eigenvalues(nlgp_covariance(n, xi, gain)) for xi in (xi1, xi2)) / 2
    return Waves(*labels, power, n)  # pyrefly: ignore[bad-argument-count, bad-argument-type]: two labels, an array


@checked(data=wave_data, tiled=ranges.flag, widths=widths)
def best_tile(data: Waves, *, tiled: bool, widths: tuple = (1.0, 3.0, 12.0)) -> Tile:
    """The best field of a single neuron, or the best one whose copies of either sign tile the ring.

    Source: ours; the notes on localization measure localized fields. Use `best_biased_tile` instead for neurons with a
    bias, `best_field` for the first order in the gain.

    Parameters
    ----------
    tiled : bool
        Many neurons (True) or one (False).
    widths : tuple of float
        The search starts from Gaussian bumps of these widths, in pixels, and the best result counts.

    Examples
    --------
    >>> data = sample_waves(40, 2, 1, 3, 500, seed=0)
    >>> one, many = (best_tile(data, tiled=tiled) for tiled in (False, True))
    >>> bool(abs(one.field[2] / one.field[0]) < abs(many.field[2] / many.field[0]))  # many: wider
    True
    """
    from scipy.optimize import minimize  # slow to import

    d = np.arange(data.n // 2 + 1)
    starts = [np.exp(-((d / width) ** 2)) + 0.02 for width in widths]
    ends = [minimize(_minus_log_score, start, (data, tiled), jac=True, method="L-BFGS-B") for start in starts]
    best = min(ends, key=lambda end: end.fun)
    w = _unfold(best.x, data.n)
    mean, square, *_ = _averages(w, data, tiled)
    return Tile(w * mean / square / (1 if tiled else 2), float(0.25 - np.exp(-best.fun) / (8 if tiled else 16)))


@checked(
    _start_fits, start=field, ratio=ranges.number(-100, 100), data=wave_data, hidden=ranges.flag,
    output=ranges.flag
)  # fmt: skip
def best_biased_tile(start: np.ndarray, ratio: float, data: Waves, *, hidden: bool, output: bool) -> BiasedTile:
    """The tiling, near copies of a field (n,), that is best with a hidden bias and perhaps one of the output.

    Source: ours. Use `best_tile` instead without biases.

    Parameters
    ----------
    ratio : float
        Hidden bias at the start, in units of the root mean square of the pre-activation.
    hidden, output : bool
        Whether the hidden bias may change, and whether the output has one.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or no neuron is ever on at the start.

    Examples
    --------
    >>> data = sample_waves(12, 1, 0.5, 3, 100, seed=0)
    >>> tile = best_biased_tile(best_tile(data, tiled=True).field, -0.5, data, hidden=True, output=False)
    >>> bool(tile.hidden < 0 and tile.output == 0)
    True
    """
    # The hidden bias b is given in units of the root mean square of u, and kept so if it may not learn. With M the mean
    # over places of ReLU(u + b) + ReLU(b - u) the prediction is a M + c. The least loss without c is 1/4 - R / 8 as for
    # |u|, and with c (1 - correlation of M and label, squared) / 8.
    from scipy.optimize import minimize  # slow to import

    first, free = np.append(start[: data.n // 2 + 1], ratio), (hidden, output)
    if _biased_score(first, data, *free)[0] == SILENT:
        raise ValueError(f"ratio = {ratio:g}: no neuron is ever on; allowed: a bias that some pre-activation exceeds")
    end = minimize(_biased_score, first, (data, *free), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    w = _unfold(end.x[:-1], data.n)
    b = float(end.x[-1] * root_mean_square.unchecked(w, data)[0])
    M1, M0 = (biased_sizes(w, b, label, data.n)[0] for label in (data.label1, data.label0))
    (m1, m0), square, variance = _moments(M1, M0)
    a = (m1 - m0) / 4 / variance if output else m1 / 2 / square
    c = 0.5 - a * (m1 + m0) / 2 if output else 0.0
    loss = 1 / 8 - a * (m1 - m0) / 8 if output else 1 / 4 - a * m1 / 4
    return BiasedTile(2 * a * w, float(2 * a * b), float(c), float(loss))


@checked(_label_fits, w=field, label=label_data, n=three_pixels)
def crowd(w: np.ndarray, label: Label, n: int) -> Crowd:
    """Sizes and signs of the pre-activations of copies of a field (n,) at all places, on the vectors of a label.

    Source: ours.

    Examples
    --------
    >>> data = sample_waves(12, 1, 0.5, 3, 100, seed=0)
    >>> crowd(np.eye(1, 12)[0], data.label1, 12).x[1].shape
    (100, 12)
    """
    return Crowd(*(_sizes(w, f, n) for f in (label.x, label.z)))


@checked(_label_fits, w=field, of=ranges.instance(Crowd), label=label_data, n=three_pixels)
def mean_crowd_size(w: np.ndarray, of: Crowd, label: Label, n: int) -> tuple[float, np.ndarray]:
    """Mean of M, the mean of |u_s| over all places, on a label, and its gradient in the field (n,).

    Source: ours.

    Parameters
    ----------
    of : Crowd
        `crowd` of the same field, label and ring.

    Returns
    -------
    value : float
    gradient : numpy.ndarray, shape (n,)

    Examples
    --------
    >>> data, w = sample_waves(12, 1, 0.5, 3, 100, seed=0), np.eye(1, 12)[0]
    >>> value, gradient = mean_crowd_size(w, crowd(w, data.label1, 12), data.label1, 12)
    >>> bool(value > 0), gradient.shape
    (True, (12,))
    """
    value, slope = _sampled((1.0, 1.0), of, label, n)
    image = label.spectrum * np.fft.rfft(w)
    known = np.sqrt(2 / np.pi * (w @ np.fft.irfft(image, n=n)))
    return value + known, slope + 2 / np.pi * np.fft.irfft(image, n=n) / known  # pyrefly: ignore[bad-return]: of two vectors


def mean_product(
    w: np.ndarray, of_w: Crowd, v: np.ndarray, of_v: Crowd, label: Label, n: int
) -> tuple[float, np.ndarray]:
    """E M_w M_v of a label, and its gradient in v."""
    value, slope = _sampled((of_w.x[0], of_w.z[0]), of_v, label, n)
    known, by_known = _gaussian_product(w, v, label.spectrum, n)
    return value + known, slope + by_known


def _draw(n, xi, gain, samples, stream):
    row = covariance_row(n, xi)
    z = stationary_sample(row, samples, seed=np.random.default_rng(stream))
    linear = 2 * gain / np.sqrt(np.pi * (1 + 2 * gain**2)) / normalization(gain)  # E x_i z_i
    x = erf(gain * z) / normalization(gain)
    return Label(np.fft.rfft(x, axis=1), np.fft.rfft(linear * z, axis=1), linear**2 * np.fft.rfft(row).real)


def _unfold(half, n):
    return np.concatenate([half, half[1 : (n + 1) // 2][::-1]])


def _fold(gradient):
    n = len(gradient)
    half = gradient[: n // 2 + 1].copy()
    half[1 : (n + 1) // 2] += gradient[n // 2 + 1 :][::-1]
    return half


def _sizes(w, f, n):
    """M of every vector, and sign(u_s) / n for every place s."""
    u = np.fft.irfft(np.conj(np.fft.rfft(w)) * f, n=n, axis=1)
    signs = np.sign(u) / n
    return np.sum(signs * u, axis=1), signs


def by_field(a, f, n):
    """Gradient of the mean over vectors of sum_s a_s u_s."""
    return np.fft.irfft(np.mean(np.conj(np.fft.rfft(a, axis=1)) * f, axis=0), n=n)


def _sampled(weights, of, label, n):
    """Mean of weight times M beyond that of the Gaussian parts, and its gradient at fixed weights."""
    value, slope = 0.0, np.zeros(n)
    for sign, weight, (sizes, signs), f in zip((1, -1), weights, of, (label.x, label.z), strict=True):
        value += sign * np.mean(weight * sizes)
        slope += sign * by_field(np.reshape(weight, (-1, 1)) * signs, f, n)
    return value, slope


def _gaussian_product(w, v, spectrum, n):
    """E M_w M_v on Gaussian data with these eigenvalues, and its gradient in v."""
    image = spectrum * np.fft.rfft(w)
    rho = np.fft.irfft(np.conj(image) * np.fft.rfft(v), n=n)  # covariance of u_0 and v_d
    of_v = np.fft.irfft(spectrum * np.fft.rfft(v), n=n)
    a, b = w @ np.fft.irfft(image, n=n), v @ of_v
    size = np.sqrt(a * b)
    angle = np.arcsin(np.clip(rho / size, -1, 1))
    s = size * np.cos(angle)  # with the rounding of the angle, so that the two cancel where rho is the size
    by_rho = 2 / np.pi * angle / n
    slope = np.fft.irfft(image * np.fft.rfft(by_rho), n=n) + 2 * of_v * np.mean(s) / np.pi / b
    return float(np.mean(2 / np.pi * (s + rho * angle))), slope


def _averages(w, data, tiled):
    """E_1|u|, sum over labels of E M^2 / 2 or of E u^2 / 2, and their gradients."""
    n, first = data.n, crowd.unchecked(w, data.label1, data.n)
    mean, by_mean = mean_crowd_size.unchecked(w, first, data.label1, n)
    if not tiled:
        image = np.fft.irfft(data.power * np.fft.rfft(w), n=n)
        return mean, w @ image, by_mean, 2 * image
    square, by_square = mean_product(w, first, w, first, data.label1, n)
    zero = crowd.unchecked(w, data.label0, n)
    other, by_other = mean_product(w, zero, w, zero, data.label0, n)
    return mean, (square + other) / 2, by_mean, by_square + by_other  # a square: twice the slope in one factor


def _minus_log_score(half, data, tiled):
    mean, square, by_mean, by_square = _averages(_unfold(half, data.n), data, tiled)
    return np.log(square) - 2 * np.log(mean), _fold(by_square / square - 2 * by_mean / mean)


def biased_sizes(w, b, label, n):
    """Mean over places s of ReLU(u_s + b) + ReLU(b - u_s) for every vector, and its slopes in every u_s and in b."""
    u = np.fft.irfft(np.conj(np.fft.rfft(w)) * label.x, n=n, axis=1)
    up, down = (u > -b) / n, (u < b) / n
    return np.sum(up * (u + b) + down * (b - u), axis=1), up - down, np.sum(up + down, axis=1)


def _moments(M1, M0):
    """Means of M with either label, and its mean square and variance over both."""
    means = M1.mean(), M0.mean()
    square = (np.mean(M1**2) + np.mean(M0**2)) / 2
    return means, square, square - (sum(means) / 2) ** 2


def _on_this_ring(w, data):
    checks.array("w", w, (data.n,))


@checked(_on_this_ring, w=field, data=wave_data)
def root_mean_square(w: np.ndarray, data: Waves) -> tuple[float, np.ndarray]:
    """Root mean square of the pre-activation u = <w, x> of a field w (n,) over both labels, and its gradient (n,).

    Source: ours.

    Examples
    --------
    >>> root, gradient = root_mean_square(np.eye(1, 12)[0], sample_waves(12, 1, 0.5, 3, 100, seed=0))
    >>> round(float(root), 6), gradient.shape
    (1.0, (12,))
    """
    image = np.fft.irfft(data.power * np.fft.rfft(w), n=data.n)
    root = np.sqrt(w @ image)
    return root, image / root  # pyrefly: ignore[bad-return]: a number


def _biased_score(point, data, hidden, output):
    """Minus the logarithm of R / 2, or of four times the squared correlation of M and label, and its gradient."""
    w, labels = _unfold(point[:-1], data.n), (data.label1, data.label0)
    rms, by_rms = root_mean_square.unchecked(w, data)
    sizes = [biased_sizes(w, point[-1] * rms, label, data.n) for label in labels]
    (m1, m0), square, variance = _moments(*(M for M, *_ in sizes))
    spread, apart, middle = (variance, m1 - m0, (m1 + m0) / 2) if output else (square, m1, 0.0)
    if not m1:
        return SILENT, np.zeros(len(point))
    by_w, by_b = np.zeros(data.n), 0.0
    for (M, by_u, slope), label, sign in zip(sizes, labels, (1, -1 if output else 0), strict=True):
        weight = (M - middle) / spread - 2 * sign / apart
        by_w, by_b = by_w + by_field(weight[:, None] * by_u, label.x, data.n), by_b + np.mean(weight * slope)
    by_w = by_w + by_b * point[-1] * by_rms
    return np.log(spread) - 2 * np.log(abs(apart)), np.append(_fold(by_w), by_b * rms if hidden else 0.0)
