"""The best crowd of neurons: the best tiling of Gaussian data in closed form, and the best distribution of fields.

A crowd has its neurons in pairs of opposite sign at every place of the ring. Its prediction is linear in the
distribution of fields and biases, so its loss is convex in this distribution: a crowd is the best one if and only if no
pair that joins it lowers the loss to first order.

Source: ours, for the notes on localization, which measure localized fields.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.receptive.ranges import circulant_matrix, field, one_ring, rows_of_fields
from superposition.receptive.ring import eigenvalues
from superposition.receptive.tilings import Tile, Waves, best_tile, biased_sizes, by_field, root_mean_square, wave_data

WIDTHS, WAVES, RATIOS = (0.5, 1.5, 3.0, 6.0), 3, (-2.0, -1.0, 0.0, 1.0)  # bumps, waves and biases a search starts from


class Mixture(NamedTuple):
    """Fields (J, n) whose copies make a crowd, with their biases (J,), its loss, and the least slope found."""

    fields: np.ndarray
    biases: np.ndarray
    loss: float
    slope: float


@checked(one_ring("C1", "C0"), C1=circulant_matrix, C0=circulant_matrix)
def gaussian_tile(C1: np.ndarray, C0: np.ndarray) -> Tile:
    """The best tiling by one field on Gaussian data with circulant covariances (n, n), without a sample.

    The loss depends on the power spectrum of the field alone, and is quasiconvex in it, so that the minimum is global.
    All fields with this spectrum are equally good; the one returned has all its waves in phase at pixel 0.

    Source: ours. Use `best_tile` instead for the NLGP, where phases matter.

    Examples
    --------
    >>> from superposition import receptive
    >>> tile = gaussian_tile(*(receptive.nlgp_covariance(40, xi, 3.0) for xi in (2, 1)))
    >>> round(tile.loss, 5), round(float(40 * receptive.ipr(tile.field)), 1)
    (0.09983, 6.5)
    """
    # With rho_d the covariance of u_0 and u_d, E M = sqrt(2 rho_0 / pi) and E M^2 is the mean over d of
    # (2 / pi) (sqrt(rho_0^2 - rho_d^2) + rho_d arcsin(rho_d / rho_0)), convex in the spectrum.
    from scipy.optimize import minimize  # slow to import

    n, (lam1, lam0) = len(C1), (np.maximum(eigenvalues(C), 0) for C in (C1, C0))
    k = np.arange(n // 2 + 1)
    times = np.where((k == 0) | (2 * k == n), 1.0, 2.0) / n  # how often a frequency occurs, over n

    def square(power, lam):
        rho = np.fft.irfft(lam * power, n=n)
        cosine = np.clip(rho / rho[0], -1, 1)
        angle, sine = np.arcsin(cosine), np.sqrt(1 - cosine**2)
        by_rho = 2 / np.pi * angle / n
        by_rho[0] += 2 / np.pi * np.mean(sine)
        return 2 / np.pi * np.mean(rho[0] * sine + rho * angle), lam * times * np.fft.rfft(by_rho).real

    def minus_log_score(power):
        (one, by_one), (zero, by_zero), variance = square(power, lam1), square(power, lam0), times @ (lam1 * power)
        slope = (by_one + by_zero) / (one + zero) - times * lam1 / variance
        return np.log((one + zero) / 2) - np.log(variance * 2 / np.pi), slope

    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10}
    bounds = [(0, None)] * len(k)
    end = minimize(minus_log_score, np.ones(len(k)), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    one, zero = (square(end.x, lam)[0] for lam in (lam1, lam0))
    size = np.sqrt(2 / np.pi * times @ (lam1 * end.x)) * 2 / (one + zero)
    return Tile(size * np.fft.irfft(np.sqrt(end.x), n=n), float(0.25 - np.exp(-end.fun) / 8))


def _crowd_fits(W, b, data):
    checks.array("W", W, ("J", data.n))
    checks.array("b", b, (len(W),))


@checked(_crowd_fits, W=rows_of_fields, b=ranges.array("J"), data=wave_data)
def crowd_loss(W: np.ndarray, b: np.ndarray, data: Waves) -> tuple[float, np.ndarray, np.ndarray]:
    """Loss E(yhat - Y)^2 / 2 of a crowd with fields W (J, n) and hidden biases b (J,), and its gradients.

    Source: ours. Use `tiled_network_loss` instead without biases: it knows the Gaussian part of the loss exactly.

    Returns
    -------
    value : float
    by_W : numpy.ndarray, shape (J, n)
    by_b : numpy.ndarray, shape (J,)

    Examples
    --------
    >>> from superposition import receptive
    >>> value, by_W, by_b = crowd_loss(np.eye(1, 12), [-0.5], receptive.sample_waves(12, 1, 0.5, 3, 100, seed=0))
    >>> by_W.shape, by_b.shape
    ((1, 12), (1,))
    """
    value, by_W, by_b = 0.0, np.zeros(np.shape(W)), np.zeros(len(W))
    for label, y in ((data.label1, 1), (data.label0, 0)):
        sizes = [biased_sizes(w, c, label, data.n) for w, c in zip(W, b, strict=True)]
        error = sum(M for M, *_ in sizes) / 2 - y
        value += float(np.mean(error**2)) / 4
        for j, (_, by_u, slope) in enumerate(sizes):
            by_W[j] += by_field(error[:, None] * by_u, label.x, data.n) / 4  # pyrefly: ignore[bad-index]: an array
            by_b[j] += np.mean(error * slope) / 4
    return value, by_W, by_b


@checked(_crowd_fits, W=rows_of_fields, b=ranges.array("J"), data=wave_data)
def crowd_errors(W: np.ndarray, b: np.ndarray, data: Waves) -> tuple[np.ndarray, np.ndarray]:
    """Errors yhat - Y of a crowd with fields W (J, n) and hidden biases b (J,), on the vectors of label 1 and label 0.

    Source: ours.

    Examples
    --------
    >>> from superposition import receptive
    >>> one, zero = crowd_errors(np.eye(1, 12), [-0.5], receptive.sample_waves(12, 1, 0.5, 3, 100, seed=0))
    >>> one.shape
    (100,)
    """
    labels = ((data.label1, 1), (data.label0, 0))
    outputs = [sum(biased_sizes(w, c, label, data.n)[0] for w, c in zip(W, b, strict=True)) / 2 for label, _ in labels]
    return outputs[0] - 1, outputs[1]  # pyrefly: ignore[bad-return]: of arrays


def _joining_fits(v, errors, data):
    checks.array("v", v, (data.n,))
    if len(errors) != 2:
        raise ValueError(f"errors has {len(errors)} parts; allowed: two, as of crowd_errors")
    for error, label in zip(errors, (data.label1, data.label0), strict=True):
        checks.array("errors", error, (len(label.x),))


@checked(_joining_fits, v=field, c=ranges.number(-1e30, 1e30), errors=ranges.instance(tuple), data=wave_data)
def joining_slope(v: np.ndarray, c: float, errors: tuple, data: Waves) -> tuple[float, np.ndarray]:
    """Slope of the loss as pairs v (n,) with bias c join at every place, in units of their size, and its gradient.

    Source: ours.

    Parameters
    ----------
    errors : tuple of numpy.ndarray
        As from `crowd_errors`, on the same data.

    Examples
    --------
    >>> from superposition import receptive
    >>> data = receptive.sample_waves(12, 1, 0.5, 3, 100, seed=0)
    >>> errors = crowd_errors(np.eye(1, 12), [-0.5], data)
    >>> joining_slope(np.eye(1, 12)[0], -0.5, errors, data)[1].shape
    (13,)
    """
    value, by_v, by_c = 0.0, np.zeros(data.n), 0.0
    for error, label in zip(errors, (data.label1, data.label0), strict=True):
        M, by_u, slope = biased_sizes(v, c, label, data.n)
        value += np.mean(error * M) / 4
        by_v, by_c = by_v + by_field(error[:, None] * by_u, label.x, data.n) / 4, by_c + np.mean(error * slope) / 4
    rms, by_rms = root_mean_square.unchecked(v, data)
    size = np.hypot(rms, c)
    return value / size, np.append(by_v / size - value * rms * by_rms / size**3, by_c / size - value * c / size**3)


@checked(
    data=wave_data, biased=ranges.flag, most=ranges.whole(1, 100), tolerance=ranges.number(0, 1),
    iterations=ranges.whole(1, 10**5), seed=ranges.seed
)  # fmt: skip
def best_crowd(
    data: Waves, *, biased: bool, most: int = 6, tolerance: float = 2e-4, iterations: int = 300, seed: int = 0
) -> Mixture:
    """The best distribution of fields, and of hidden biases, for a crowd, on this sample, by column generation.

    The best crowd of one field is a start. Then the pair that lowers the loss most steeply joins and all fields descend
    together; this is repeated until no pair is found that lowers the loss by more than a tolerance.

    Source: ours. Read loss and slope on another sample. Use `best_tile` instead for one field.

    Parameters
    ----------
    most : int
        Largest number of fields.
    tolerance : float
        Slope at which no more fields join; an output of a pair is as large as its pre-activation.
    iterations : int
        Steps of each descent.

    Examples
    --------
    >>> from superposition import receptive
    >>> data = receptive.sample_waves(12, 1, 0.5, 3, 100, seed=0)
    >>> best_crowd(data, biased=False, most=2).loss <= receptive.best_tile(data, tiled=True).loss
    True
    """
    from scipy.optimize import minimize  # slow to import

    n, W = data.n, best_tile(data, tiled=True).field[None]
    b = np.array([-0.5 * biased * root_mean_square.unchecked(W[0], data)[0]])

    def loss(flat):
        fields = flat.reshape(-1, n + 1)
        value, by_W, by_b = crowd_loss.unchecked(fields[:, :n], fields[:, n], data)
        return value, np.column_stack([by_W, biased * by_b]).ravel()

    while True:
        flat = np.column_stack([W, b]).ravel()
        end = minimize(loss, flat, jac=True, method="L-BFGS-B", options={"maxiter": iterations})
        W, b = np.split(end.x.reshape(-1, n + 1), [n], axis=1)
        v, slope = steepest_pair.unchecked(W, b[:, 0], data, biased=biased, seed=seed)
        if slope > -tolerance or len(W) == most:
            return Mixture(W, b[:, 0], float(end.fun), slope)
        W, b = np.vstack([W, 0.05 * v[:n]]), np.append(b, 0.05 * v[n])


@checked(
    _crowd_fits, W=rows_of_fields, b=ranges.array("J"), data=wave_data, biased=ranges.flag, seed=ranges.seed
)  # fmt: skip
def steepest_pair(W: np.ndarray, b: np.ndarray, data: Waves, *, biased: bool, seed: int) -> tuple[np.ndarray, float]:
    """Field and bias (n + 1,), of size 1, that lower the loss of a crowd most steeply as they join, and the slope.

    Source: ours. If the slope is not negative for any pair, no other distribution of fields and biases loses less.

    Examples
    --------
    >>> from superposition import receptive
    >>> data = receptive.sample_waves(12, 1, 0.5, 3, 100, seed=0)
    >>> tile = receptive.best_tile(data, tiled=True)
    >>> steepest_pair(tile.field[None], [0.0], data, biased=False, seed=0)[0].shape
    (13,)
    """
    from scipy.optimize import minimize  # slow to import

    n, rng = data.n, np.random.default_rng(seed)
    errors, d = crowd_errors.unchecked(W, b, data), np.minimum(np.arange(n), n - np.arange(n))
    shapes = [np.exp(-((d / width) ** 2)) for width in WIDTHS] + [np.cos(2 * np.pi * k * d / n) for k in range(WAVES)]

    def slope(point):
        value, gradient = joining_slope.unchecked(point[:n], point[n], errors, data)
        return value, gradient * np.append(np.ones(n), biased)

    starts = [
        np.append(w / root_mean_square.unchecked(w, data)[0] + 0.02 * rng.standard_normal(n), ratio)
        for w in shapes for ratio in (RATIOS if biased else (0.0,))
    ]  # fmt: skip
    ends = [minimize(slope, start, jac=True, method="L-BFGS-B", options={"maxiter": 60}) for start in starts]
    best = min(ends, key=lambda end: end.fun)
    return best.x / np.hypot(root_mean_square.unchecked(best.x[:n], data)[0], best.x[n]), float(best.fun)
