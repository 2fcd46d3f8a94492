"""Moments of a rectified Gaussian, and their averages over a uniform feature.

M_k(m, s) = E[ReLU(m + s Z)^k], Z standard normal; ramp moments are their integrals against u^j.
"""

from __future__ import annotations

from functools import cache
from math import factorial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from superposition import checks, ranges
from superposition.checked import checked

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import ArrayLike

LARGEST = 1e75  # of means and standard deviations: their cubes are still finite
LEAST = 1e-30  # slope or standard deviation of a ramp: its inverse powers are finite
SERIES = 0.1  # slopes below this share of s have a series
REACH = 13.0  # standard deviations beyond which the normal density is below 1e-36


@checked(n=ranges.whole(1, 1024))
@cache
def gauss_legendre(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Gauss-Legendre quadrature on [0, 1], both of shape (n,).

    Examples
    --------
    >>> nodes, weights = gauss_legendre(2)
    >>> nodes.round(3), weights
    (array([0.211, 0.789]), array([0.5, 0.5]))
    """
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (nodes + 1) / 2, weights / 2


def floats(*values: ArrayLike) -> tuple[np.ndarray, ...]:
    """Return arrays of one shape, in float64."""
    return np.broadcast_arrays(*(np.asarray(value, float) for value in values))


@checked(ranges.together("m", "s"), k=ranges.whole(-1, 3), m=ranges.real(-LARGEST, LARGEST), s=ranges.real(0, LARGEST))
def moment(k: int, m: ArrayLike, s: ArrayLike) -> np.ndarray:
    """M_k(m, s) = E[ReLU(m + s Z)^k] for Z standard normal, shape of the broadcast m and s.

    Parameters
    ----------
    k : int
        The power, from -1 to 3; M_{-1} = phi(m / s) / s is the derivative of M_0, 0 where s = 0.
    m, s : array_like
        Mean, and standard deviation of 0 or more, both up to 1e75 in size.

    Notes
    -----
    Source: The Persian Rug, eq. 10, in closed form (ours). Use `superposition.relu_integrals` instead for weighted
    sums of uniform features.

    Examples
    --------
    >>> float(moment(1, -0.3, 0.2).round(5))
    0.00586
    """
    m, s = np.broadcast_arrays(m, s)
    positive = np.where(s > 0, s, 1.0)
    z = np.clip(np.where(s > 0, m / positive, np.copysign(np.inf, m)), -40, 40)
    if k == -1:
        return np.where(s > 0, np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) / positive, 0)
    return piecewise(z < -2.5, moment_tail, moment_direct, k, m, s, z)


def piecewise(
    mask: np.ndarray, yes: Callable, no: Callable, order: int | tuple[int, int], *arrays: ArrayLike
) -> np.ndarray:
    """``np.where(mask, yes(...), no(...))``, each computed only where it is needed."""
    arrays = np.broadcast_arrays(mask, *arrays)
    result = np.empty(mask.shape)
    for chosen, function in ((mask, yes), (~mask, no)):
        if chosen.any():
            result[chosen] = function(order, *(array[chosen] for array in arrays[1:]))
    return result


def moment_direct(k: int, m: np.ndarray, s: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The same by the normal distribution function, for k = 0 ... 3; ``z = m / s`` above the tail."""
    cdf, density = ndtr(z), np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    if k == 0:
        return cdf
    if k == 1:
        return m * cdf + s * density
    if k == 2:
        return (m**2 + s**2) * cdf + m * s * density
    return m * (m**2 + 3 * s**2) * cdf + s * (m**2 + 2 * s**2) * density


def moment_tail(k: int, m: np.ndarray, s: np.ndarray, z: np.ndarray) -> np.ndarray:
    """s^k E[ReLU(Z + z)^k] for z <= -2.5, without cancellation (3e-14 relative)."""
    # With t = -z, T_{k+1} = k T_{k-1} - t T_k is unstable upwards, so the ratios
    # T_k / T_{k-1} = k / (t + next) come from their continued fraction, started near its limit.
    depth = 50
    ratio = (np.sqrt(z**2 + 4 * depth) + z) / 2
    product = s**k * ndtr(z)
    for order in range(depth, 0, -1):
        ratio = order / (ratio - z)
        if order <= k:
            product = product * ratio
    return product


def _resolved(j: int, k: int, m: Any, slope: Any, s: Any) -> None:
    """Refuse moments of a ramp that are beyond the closed forms, a ramp that is a point, and one too flat for m."""
    checks.whole("j", j, 0, 2 - k)
    size = np.abs(slope)
    if np.any(np.maximum(size, s) < LEAST):
        raise ValueError(f"slope = {checks.shown(slope)} is out of range; allowed: slope or s from 1e-30 on in size")
    most = 10.0 ** (4 - j)  # by parts j + 1 times, each loses a factor m / slope: 1e-9 is left
    if np.any((size >= SERIES * s) & (np.asarray(m) > most * size)):
        raise ValueError(
            f"m = {checks.shown(m)} is out of range; allowed: up to {most:g} times the slope, or s above it"
        )


@checked(
    ranges.together("m", "slope", "s"), _resolved, j=ranges.whole(0, 3), k=ranges.whole(-1, 3),
    m=ranges.real(-LARGEST, LARGEST), slope=ranges.real(-LARGEST, LARGEST), s=ranges.real(0, LARGEST),
)  # fmt: skip
def ramp_moment(j: int, k: int, m: ArrayLike, slope: ArrayLike, s: ArrayLike) -> np.ndarray:
    """Integral of u^j M_k(m + slope u, s) over u in [0, 1], shape of the broadcast m, slope and s.

    Parameters
    ----------
    j, k : int
        Powers with j + k up to 2; k as in `moment`.
    m, slope, s : array_like
        Mean at u = 0, its slope, and the standard deviation, up to 1e75 in size; slope and s are not both 0. Where
        the slope is 0.1 s or more, m is at most 10^(4 - j) times the slope.

    Notes
    -----
    Source: The Persian Rug, eq. 5; by parts, or by a series where the parts cancel (ours).

    Examples
    --------
    >>> float(ramp_moment(1, 1, -0.3, 1.0, 0.2).round(5))
    0.19387
    """
    m, slope, s = np.broadcast_arrays(m, slope, s)
    return piecewise(np.abs(slope) < 0.1 * s, _ramp_series, _ramp_by_parts, (j, k), m, slope, s)


def _ramp_by_parts(order, m, slope, s):
    j, k = order
    step = max(k + 1, 1) * slope  # the antiderivative of M_k is M_{k+1} / (k + 1), that of M_{-1} is M_0
    if j == 0:
        return (moment.unchecked(k + 1, m + slope, s) - moment.unchecked(k + 1, m, s)) / step
    return moment.unchecked(k + 1, m + slope, s) / step - j / step * _ramp_by_parts((j - 1, k + 1), m, slope, s)


def _ramp_series(order, m, slope, s):
    """The same by Taylor expansion in slope / s, where the integration by parts cancels."""
    j, k = order
    z, x = np.clip(m / s, -40, 40), slope / s
    below = {i: moment.unchecked(i, m, s) * s ** -float(i) for i in range(-1, k + 1)}
    hermite = [np.ones_like(z), z]
    total = 0.0
    for n in range(15):
        if n <= k + 1:
            derivative = below[k - n] / factorial(max(k - n, 0))
        else:
            while len(hermite) <= n - k - 1:
                hermite.append(z * hermite[-1] - (len(hermite) - 1) * hermite[-2])
            derivative = (-1) ** (n - k - 1) * hermite[n - k - 1] * below[-1]
        total = total + x**n * derivative / (factorial(n) * (n + j + 1))
    return factorial(max(k, 0)) * s ** float(k) * total
