"""Loud and quiet codes: any number of features in two or three dimensions.

A code is a block of B features in m dimensions, r = m / B; blocks laid side by side serve any
number of features. The model is f = ReLU(W_out W_in x + b), the loss is per feature.
Source: ours, against The Persian Rug, abstract ("optimal") and section 4.2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, ranges
from superposition.checked import checked
from superposition.codes import ranges as within

_BITS = 22  # of a mantissa of the fan's vectors: products with the 8 bits of a scale are then exact


class Code(NamedTuple):
    """Weights of one block: ``W_in`` (m, B), ``W_out`` (B, m) and bias ``b`` (B,)."""

    W_in: NDArray[np.float64]
    W_out: NDArray[np.float64]
    b: NDArray[np.float64]

    @property
    def W(self) -> NDArray[np.float64]:
        """The product W_out W_in, shape (B, B)."""
        return self.W_out @ self.W_in


def valid_code(name: str, value: Any) -> Code:
    """A `Code`: finite weights of the shapes (m, B), (B, m) and (B,)."""
    ranges.instance(Code)(name, value)
    W_in, W_out, b = (checks.real(name, part, -within.LARGEST_FACTOR, within.LARGEST_FACTOR) for part in value)
    if W_in.ndim != 2 or W_out.shape != W_in.shape[::-1] or b.shape != W_in.shape[1:]:
        shapes = f"{W_in.shape}, {W_out.shape} and {b.shape}"
        raise ValueError(f"{name} has weights of shapes {shapes}; allowed: (m, B), (B, m) and (B,)")
    same = all(one is other for one, other in zip((W_in, W_out, b), value, strict=True))
    return value if same else Code(W_in, W_out, b)


@checked(within.fan_spans, B=within.fan_size, ratio=within.loudness_ratio)
def priority_fan(B: int, ratio: float) -> Code:
    """The priority fan: B features in the plane, each louder than the next.

    Feature t points to the angle (t - 1) 180 / (B - 2) degrees, the last one to 270. It is read orthogonally to its
    louder neighbour, so that no louder feature adds to it. Use `swept_fan` instead for half as many steps of loudness.

    Parameters
    ----------
    B : int
        Number of features, from 4 to 16384. Four are two digons.
    ratio : float
        Loudness of a feature divided by the loudness of the next, at least 1. ratio^(B - 1) may not exceed 1e250.

    Returns
    -------
    Code
        With a bias of 0 and gain 1 to 1e-7 B. The zeros of W are exact in any order of summation: the products that
        cancel are representable. Each loudness is within half a percent of its power of `ratio`.

    Notes
    -----
    Source: ours. Zeros must be exact because a rounding error is multiplied by ratio^(B - 1).

    Examples
    --------
    >>> import numpy as np
    >>> fan = priority_fan(6, 100)
    >>> np.sign(fan.W * np.tri(6, k=-1)).astype(int)
    array([[ 0,  0,  0,  0,  0,  0],
           [ 0,  0,  0,  0,  0,  0],
           [-1,  0,  0,  0,  0,  0],
           [-1, -1,  0,  0,  0,  0],
           [-1, -1, -1,  0,  0,  0],
           [ 0, -1, -1, -1,  0,  0]])
    """
    # Zeros must be exact because a rounding error is multiplied by ratio^(B - 1), which may be 1e250.
    level = _levels(B, ratio)
    angle = np.linspace(0, np.pi, B - 1)
    direction = np.c_[np.cos(angle), np.sin(angle)]
    direction[-1] = (-1, 0)
    w, v = np.zeros((B, 2)), np.zeros((B, 2))
    w[0], v[0] = (rounded(level[0], _BITS), 0), (1 / level[0], 0)
    for t in range(1, B - 1):
        side = np.array([-w[t - 1, 1], w[t - 1, 0]])
        scale = rounded(1 / (level[t] * (side @ direction[t])), 8)
        v[t] = scale * side
        w[t] = rounded(direction[t] / (v[t] @ direction[t]), _BITS)
    scale = rounded(1 / level[-1], 8)
    v[-1], w[-1] = (0, -scale), (0, -rounded(1 / scale, _BITS))
    return Code(w.T.copy(), v, np.zeros(B))


@checked(within.cone_spans, B=within.fan_size, ratio=within.loudness_ratio)
def cone(B: int, ratio: float = 1.0) -> Code:
    """The cone: B features on a circle in three dimensions, each hidden by all but its two neighbours.

    Parameters
    ----------
    B : int
        Number of features, from 4 to 16384.
    ratio : float
        Loudness of a feature divided by the loudness of the next one on the circle, at least 1. ratio^(B - 1) may not
        exceed 1e9: rounding errors are multiplied by it.

    Returns
    -------
    Code
        With a bias of 0 and gain 1. The zeros are zero to 1e-15 times the ratio of loudness.

    Notes
    -----
    Source: ours; it appears to be the case k = 1 of the DFT layer of Grivas, Vergari and Lopez (arXiv 2310.10443),
    2 k + 1 dimensions for any k active labels. Use `priority_fan` instead in a plane.

    Examples
    --------
    >>> cone(6).W.round(3)[0]
    array([ 1.,  0., -2., -3., -2.,  0.])
    """
    level = _levels(B, ratio)
    angle = 2 * np.pi * np.arange(B) / B
    circle, close = np.c_[np.cos(angle), np.sin(angle)], np.cos(2 * np.pi / B)
    w = np.c_[circle, np.ones(B)] * level[:, None]
    v = np.c_[circle, np.full(B, -close)] / ((1 - close) * level[:, None])
    return Code(w.T.copy(), v, np.zeros(B))


@checked(p=ranges.probability, B=ranges.whole(4))
def fan_loss(p: ArrayLike, B: int) -> NDArray[np.float64]:
    """Loss of a priority fan, and of a cone in the order of the circle, at an infinite ratio, exact for every p.

    Returns
    -------
    numpy.ndarray
        Loss per feature, shape of `p`.

    Notes
    -----
    Source: ours. A feature is lost, at a cost of 1/3, if one of its hiders is on: with k = 0, 0, 1, ..., B - 3, B - 3
    of them, L = p / (3 B) sum_t (1 - q^k_t), q = 1 - p. Use `code_loss` instead at a finite ratio.

    Examples
    --------
    >>> round(float(fan_loss(1e-6, 10)) / 1e-12, 3)  # (B - 3) / 6 for small p
    1.167
    """
    p = np.asarray(p, float)
    never = np.expm1(np.array([B - 3, B - 2]) * np.log1p(-np.minimum(p, np.nextafter(1, 0)))[..., None])
    return p / (3 * B) * (_met(p, B - 2, never[..., 1]) - never[..., 0])


def _met(p, n, never):
    """Sum of 1 - q^k over k < n, a geometric series; ``never`` is q^n - 1. A series in p is used where terms cancel."""
    term, series = -float(n), np.zeros_like(p)
    for j in range(1, 10):
        term = -term * p * (n - j) / (j + 1)
        series += term
    return np.where(n * p < 0.05, series, n + never / p)


def _levels(B, ratio):
    return ratio ** ((B - 1) / 2 - np.arange(B))


def rounded(value, bits):
    """``value`` rounded to this number of bits of the mantissa."""
    mantissa, exponent = np.frexp(value)
    return np.ldexp(np.round(mantissa * 2.0**bits) / 2.0**bits, exponent)
