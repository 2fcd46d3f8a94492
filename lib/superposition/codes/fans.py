"""Loud and quiet codes: any number of features in two or three dimensions.

A code is a block of B features in m dimensions, r = m / B; blocks laid side by side serve any
number of features. The model is f = ReLU(W_out W_in x + b), the loss is per feature.
Source: ours, against The Persian Rug, abstract ("optimal") and section 4.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


def priority_fan(B: int, ratio: float) -> Code:
    """B features in the plane, each louder than the next by `ratio`; its zeros are exact in any order of summation."""
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


def cone(B: int, ratio: float = 1.0) -> Code:
    """B features on a circle in three dimensions, each hidden by all but its two neighbours."""
    level = _levels(B, ratio)
    angle = 2 * np.pi * np.arange(B) / B
    circle, close = np.c_[np.cos(angle), np.sin(angle)], np.cos(2 * np.pi / B)
    w = np.c_[circle, np.ones(B)] * level[:, None]
    v = np.c_[circle, np.full(B, -close)] / ((1 - close) * level[:, None])
    return Code(w.T.copy(), v, np.zeros(B))


def hiders(B: int) -> NDArray[np.int64]:
    """How many louder features hide each feature of a fan: 0, 0, 1, ..., B - 3, B - 3."""
    return np.r_[0, np.arange(B - 2), B - 3]


def fan_loss(p: ArrayLike, B: int) -> NDArray[np.float64]:
    """Loss of a priority fan at an infinite ratio: L = p / (3 B) sum_t (1 - q^k_t), k the `hiders`, q = 1 - p."""
    p = np.asarray(p, float)
    never = np.expm1(np.array([B - 3, B - 2]) * np.log1p(-np.minimum(p, np.nextafter(1, 0)))[..., None])
    return p / (3 * B) * (_met(p, B - 2, never[..., 1]) - never[..., 0])


def _met(p, n, never):
    """Sum of 1 - q^k over k < n, a geometric one; ``never`` is q^n - 1. By its series in p where that cancels."""
    term, series = -float(n), np.zeros_like(p)
    for j in range(1, 10):
        term = -term * p * (n - j) / (j + 1)
        series += term
    return np.where(n * p < 0.05, series, n + never / p)


def _levels(B, ratio):
    return ratio ** ((B - 1) / 2 - np.arange(B))


def rounded(value, bits):
    """``value`` with that many bits of mantissa."""
    mantissa, exponent = np.frexp(value)
    return np.ldexp(np.round(mantissa * 2.0**bits) / 2.0**bits, exponent)
