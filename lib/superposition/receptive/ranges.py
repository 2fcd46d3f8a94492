"""The ranges of arguments that the functions on rings share, in the form of `superposition.ranges`, and relations.

A relation refuses arguments that do not fit together, such as a correlation length that is too long for the ring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from superposition import checks, ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KERNELS = ("periodic", "wrapped")
ROUNDING = 1e-12  # eigenvalues above minus this are zero up to rounding, at variance 1
WIDEST = 100  # largest correlation length, in units of the ring
MOST_PIXELS = 4096  # of a ring: beyond, one covariance has more than a hundred megabytes
MOST_NUMBERS = 2**28  # of a sample, two gigabytes
GAINS = (1e-6, 1e6)
LARGEST = 1e100  # of moments: their products stay finite
STEEPEST = 1e50  # weight of a neuron: its variance stays finite
SMALLEST = 1e-30  # of the largest entry of a field, where fourth powers are computed


def pixels(name: str, value: Any) -> int:
    """Pixels of the ring, from 2 to 4096."""
    return checks.whole(name, value, 2, MOST_PIXELS)


def three_pixels(name: str, value: Any) -> int:
    """Pixels of the ring, from 3 to 4096."""
    return checks.whole(name, value, 3, MOST_PIXELS)


def length(name: str, value: Any) -> float:
    """Correlation length in pixels, above 0 and up to 100 n."""
    return checks.number(name, value, 0, np.inf, open_low=True)  # the end depends on n


def length1(name: str, value: Any) -> float:
    """Correlation length of the data with label 1, in pixels, above 0 and up to 100 n."""
    return length(name, value)


def length0(name: str, value: Any) -> float:
    """Correlation length of the data with label 0, in pixels, above 0 and up to 100 n."""
    return length(name, value)


def kernel(name: str, value: Any) -> str:
    """Either "periodic" or "wrapped", see `gaussian_covariance`."""
    return checks.one_of(name, value, KERNELS)


def gains(name: str, value: Any) -> np.ndarray:
    """Gain, from 1e-6 to 1e6, one or an array."""
    array = checks.real(name, value)
    outside = ~((array >= GAINS[0]) & (array <= GAINS[1]))
    if np.any(outside):
        raise ValueError(
            f"{name} = {array[outside].flat[0]:g} is out of range; allowed: [1e-06, 1e+06]; the limit of small gain "
            "has gaussian_covariance and gaussian_sample"
        )
    return array


def one_gain(name: str, value: Any) -> float:
    """Gain, from 1e-6 to 1e6."""
    return checks.number(name, gains(name, value))


def vectors(name: str, value: Any) -> int:
    """Vectors of each label, from 100 to ten million."""
    return checks.whole(name, value, 100, 10**7)


def circulant_matrix(name: str, value: Any) -> np.ndarray:
    """Symmetric circulant matrix of shape (n, n), n of 2 or more."""
    matrix = checks.array(name, value, "n m")
    if matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise ValueError(f"{name} has shape {matrix.shape}; allowed: (n, n) with n of 2 or more")
    index = np.arange(len(matrix))
    expected = matrix[0][(index[:, None] - index) % len(matrix)]
    if not np.allclose(matrix, expected, rtol=0, atol=ROUNDING * np.abs(matrix[0]).max()):
        raise ValueError(f"{name} is not a symmetric circulant matrix; allowed: those that depend on distance alone")
    return _bounded(name, matrix)


def covariance(name: str, value: Any) -> np.ndarray:
    """Covariance of shape (n, n)."""
    matrix = _bounded(name, checks.array(name, value, "n n"))
    size = np.abs(matrix).max()
    if not np.allclose(matrix, matrix.T, rtol=0, atol=1e-9 * size) or np.any(np.diag(matrix) < 0):
        raise ValueError(f"{name} is not a covariance; allowed: symmetric matrices with variances from 0")
    return matrix


def fields(name: str, value: Any) -> np.ndarray:
    """Receptive fields of shape (..., n), with the pixels of a ring last."""
    return checks.array(name, value, "... n")


def field(name: str, value: Any) -> np.ndarray:
    """Receptive field of shape (n,), not zero, with its largest entry from 1e-30 to 1e30."""
    w = checks.array(name, value, "n")
    if not np.any(w):
        raise ValueError(f"{name} = 0 is no receptive field; allowed: fields with an entry that is not 0")
    return _sized(name, w)


def rows_of_fields(name: str, value: Any) -> np.ndarray:
    """Receptive fields of shape (K, n), none zero, with their largest entries from 1e-30 to 1e30."""
    W = checks.array(name, value, "K n")
    if not np.all(np.any(W, axis=1)):
        raise ValueError(f"{name} has a row of zeros; allowed: fields with an entry that is not 0")
    return _sized(name, W)


def neurons(name: str, value: Any) -> np.ndarray:
    """Weights of shape (K, n), one neuron a row, or (n,) for one."""
    return checks.array(name, np.atleast_2d(checks.real(name, value, -STEEPEST, STEEPEST)), "K n")


def moments(name: str, value: Any) -> np.ndarray:
    """Moments of one law: finite numbers up to 1e100."""
    return checks.real(name, value, -LARGEST, LARGEST)


def gated_means(name: str, value: Any) -> np.ndarray:
    """Moments E[g_k Y x] of shape (K, n)."""
    return _bounded(name, checks.array(name, value, "K n"))


def pixel(name: str, value: Any) -> int:
    """Pixel of the gate, from 0 to n - 1."""
    return checks.whole(name, value, 0, MOST_PIXELS - 1)


def row(name: str, value: Any) -> np.ndarray:
    """First row of a circulant matrix, of shape (n,), n up to 4096."""
    array = checks.array(name, value, "n")
    checks.whole(f"length of {name}", len(array), 1, MOST_PIXELS)
    return array


def even_pixels(name: str, value: Any) -> int:
    """Pixels of the ring, even and from 4 to 4096."""
    n = checks.whole(name, value, 4, MOST_PIXELS)
    if n % 2:
        raise ValueError(f"{name} = {n} is odd; allowed: even numbers from 4")
    return n


def correlations(name: str, value: Any) -> np.ndarray:
    """Correlations of shape (n, n), symmetric and with ones on the diagonal."""
    r = checks.real(name, covariance(name, value), -1, 1)
    if not np.allclose(np.diag(r), 1, rtol=0, atol=1e-9):
        raise ValueError(f"{name} has a variance that is not 1; allowed: correlations")
    return r


def sample(name: str, value: Any) -> np.ndarray:
    """Vectors of shape (N, n)."""
    return _bounded(name, checks.array(name, value, "N n"))


def nonzero_fields(name: str, value: Any) -> np.ndarray:
    """Receptive fields of shape (..., n), none zero."""
    w = checks.array(name, value, "... n")
    checks.real(f"largest entry of {name}", np.abs(w).max(axis=-1), 1 / STEEPEST, STEEPEST)
    return w


def two_vectors(name: str, value: Any) -> np.ndarray:
    """Vectors of shape (N, n), at least two."""
    x = sample(name, value)
    if len(x) < 2:
        raise ValueError(f"{name} has shape {x.shape}; allowed: two vectors or more")
    return x


def as_given(axes: str) -> Callable[[str, Any], np.ndarray]:
    """Make the range of arrays with these axes; floats of any precision stay as they are."""

    def taken(name, value):
        is_given = type(value) is np.ndarray and value.dtype.kind == "f" and value.ndim == len(axes.split())
        return value if is_given and value.size else checks.array(name, value, axes)

    taken.__doc__ = f"Floats of shape ({axes.replace(' ', ', ')})."
    return taken


def variances(name: str, value: Any) -> np.ndarray:
    """Variances, one or an array, from 1e-100 to 1e100."""
    return checks.real(name, value, 1 / LARGEST, LARGEST)


def variance(name: str, value: Any) -> float:
    """Variance, from 1e-100 to 1e100."""
    return checks.number(name, variances(name, value))


def widths(name: str, value: Any) -> tuple[float, ...]:
    """Widths in pixels, above 0, at least one."""
    return tuple(checks.array(name, checks.real(name, value, 1e-3, 1e6), "k"))


def whole_numbers(name: str, value: Any) -> np.ndarray:
    """Whole numbers, one or an array."""
    array = checks.real(name, value, -checks.LARGEST_WHOLE, checks.LARGEST_WHOLE)
    if np.any(array % 1):
        raise ValueError(f"{name} = {array[array % 1 != 0].flat[0]:g} is out of range; allowed: whole numbers")
    return array


def some_wholes(low: int) -> Callable[[str, Any], list[int]]:
    """Make the range of lists of whole numbers that hold at least one."""

    def taken(name, value):
        found = checks.wholes(name, value, low, MOST_PIXELS)
        if not found:
            raise ValueError(f"{name} = () is empty; allowed: at least one {name.rstrip('s')}")
        return found

    taken.__doc__ = f"Whole numbers from {low}, at least one."
    return taken


def hermite_ratios(most: float) -> Callable[[str, Any], dict[int, float]]:
    """Make the range of Hermite coefficients by their odd orders, in units of the first, up to ``most``."""

    def taken(name, value):
        if not isinstance(value, dict):
            raise ValueError(f"{name} = {checks.shown(value)} is no dictionary; allowed: {{order: ratio}}")
        for order in value:
            if checks.whole(name, order, 3, 15) % 2 == 0:
                raise ValueError(f"{name} has the order {order}; allowed: odd orders from 3 to 15")
        return {int(order): checks.number(name, ratio, -most, most) for order, ratio in value.items()}

    taken.__doc__ = f"Hermite coefficients by odd order from 3 to 15, in units of the first: -{most:g} to {most:g}."
    return taken


def batches(name: str, value: Any) -> Iterator:
    """Iterator over pairs of batches, of label 1 and of label 0: `nlgp_batches` and its like."""
    if not hasattr(value, "__next__"):
        raise ValueError(f"{name} = {checks.shown(value)} is no iterator; allowed: one over pairs of batches")
    return value


def device(name: str, value: Any) -> str:
    """Device of the training: "auto", "cpu", or an accelerator that has float64, as "cuda:1"."""
    from superposition.devices import resolve_device

    resolve_device(value)
    return value


def data_fit(w0: np.ndarray, x: np.ndarray, y: np.ndarray, batch: int) -> None:
    """Refuse inputs or labels that do not fit weights (R, K, n) or each other, and batches longer than the sample."""
    if w0.shape[2] != x.shape[1] or np.shape(y) not in ((len(x),), (len(x), len(w0))):
        shapes = f"{w0.shape}, {x.shape} and {np.shape(y)}"
        raise ValueError(f"w0, x and y have shapes {shapes}; allowed: (R, K, n), (N, n) and (N,) or (N, R)")
    checks.whole("batch", batch, 1, len(x))


def one_length(n: int, xi: float) -> None:
    """Refuse a correlation length that is too long for the ring."""
    checks.number("xi", xi, 0, WIDEST * n, open_low=True)


def two_lengths(n: int, xi1: float, xi2: float) -> None:
    """Refuse correlation lengths that are too long for the ring."""
    checks.number("xi1", xi1, 0, WIDEST * n, open_low=True)
    checks.number("xi2", xi2, 0, WIDEST * n, open_low=True)


def sample_fits(n: int, samples: int) -> None:
    """Refuse a sample that needs more than two gigabytes."""
    checks.whole("samples", samples, 1, MOST_NUMBERS // n)


def side_lengths(side: int, xi1: float, xi2: float) -> None:
    """Refuse correlation lengths that are too long for the side of a torus."""
    two_lengths(side, xi1, xi2)


def field_lengths(w: np.ndarray, xi1: float, xi2: float) -> None:
    """Refuse correlation lengths that are too long for the ring of a field."""
    two_lengths(pixels("length of w", len(w)), xi1, xi2)


def covariance_sample_fits(covariance: np.ndarray, samples: int) -> None:
    """Refuse a sample that needs more than two gigabytes."""
    sample_fits(len(covariance), samples)


def batch_fits(n: int, batch: int) -> None:
    """Refuse a batch that needs more than two gigabytes."""
    checks.whole("batch", batch, 1, MOST_NUMBERS // n)


def covariance_batch_fits(C1: np.ndarray, batch: int) -> None:
    """Refuse a batch that needs more than two gigabytes."""
    batch_fits(len(C1), batch)


def on_the_ring(n: int, i: int) -> None:
    """Refuse a pixel beyond the ring."""
    checks.whole("i", i, 0, n - 1)


def frequency_fits(n: int, frequency: int) -> None:
    """Refuse a frequency that a ring does not have."""
    checks.whole("frequency", frequency, 1, n // 2)


def one_ring(*names: str) -> Callable[..., None]:
    """Make the relation that refuses arrays with different numbers of pixels, the length of the last axis."""

    def relation(**arrays):
        n = np.shape(arrays[names[0]])[-1]
        for name in names[1:]:
            if np.shape(arrays[name])[-1] != n:
                raise ValueError(f"{name} has shape {np.shape(arrays[name])}; allowed: {n} pixels, as in {names[0]}")

    return ranges.of_parameters(relation, *names)


def _bounded(name, array):
    return checks.real(name, array, -LARGEST, LARGEST)


def _sized(name, rows):
    largest = np.abs(rows).max(axis=-1)
    checks.real(f"largest entry of {name}", largest, SMALLEST, 1 / SMALLEST)
    return rows
