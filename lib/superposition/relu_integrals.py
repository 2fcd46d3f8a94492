"""Exact integrals of powers of a ReLU over unit cubes, with no division by a small overlap.

The pre-activation of one output of the toy model is y = b + c . x with x uniform on a cube, so every loss of the model
is made of integrals of ReLU(y)^q and x_j ReLU(y). Inclusion and exclusion over the corners gives them in one line, but
divides by the product of the entries of c, which is 0 / 0 for orthogonal features. Here the cube is cut one side at a
time, the longest entry of c first, and a piece is not cut further once the kink of the ReLU does not cross it, because
the integrand is a polynomial there. Small entries are then never divided by.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


LARGEST = 1e100  # of offsets and slopes: their powers stay finite
TOGETHER = 2**13  # pieces below which both halves are cut in one go: faster, and memory stays bounded
STEP = 1e-30  # of the complex-step derivative: its square vanishes beside 1, so nothing is rounded away


def relu_power(b: ArrayLike, c: ArrayLike, q: int) -> np.ndarray:
    """Integral of ReLU(b + c·x)^q over the unit cube, exact to rounding: b (...), c (..., k), q of 1 or more."""
    # The terms L_k of the expansion in sparsity, which Toy Models leaves as integrals. The corner formula is q! / ((q +
    # k)! prod c) times the sum over corners of (-1)^(k - |corner|) ReLU(b + corner . c)^(q + k).
    q = checks.whole("q", q, 1)
    b, c = _offsets_and_slopes(b, c)
    return math.factorial(q) * _integral(b, c, q)


def relu_moment(b: ArrayLike, c: ArrayLike, j: ArrayLike) -> np.ndarray:
    """Integral of x_j ReLU(b + c·x) over the unit cube, exact to rounding: the benefit part of the terms L_k."""
    # It is half the derivative of the integral of ReLU^2 with respect to c_j, taken by a complex step.
    b, c = _offsets_and_slopes(b, c)
    j, given = checks.real("j", j), j
    fits = j.ndim <= b.ndim and all(size in (1, of_b) for size, of_b in zip(j.shape[::-1], b.shape[::-1], strict=False))
    if not fits or not np.isin(j, np.arange(c.shape[-1])).all():
        last = c.shape[-1] - 1
        raise ValueError(
            f"j = {checks.shown(np.asarray(given).tolist())} is out of range; allowed: whole numbers from 0 to {last}"
        )
    direction = np.arange(c.shape[-1]) == np.broadcast_to(j, b.shape)[..., None]
    unit = np.exp2(np.frexp(np.maximum(np.abs(b), np.abs(c).max(axis=-1)))[1])  # the integral scales with b and c
    step = 1j * STEP * direction
    return unit * _integral((b / unit).astype(complex), c / unit[..., None] + step, 2).imag / STEP


def _offsets_and_slopes(b, c):
    b = checks.real("b", b, -LARGEST, LARGEST)
    c = checks.real("c", c, -LARGEST, LARGEST)
    if c.ndim == 0 or not b.size:
        raise ValueError(f"b and c have shapes {b.shape} and {c.shape}; allowed: (...) and (..., k)")
    shape = np.broadcast_shapes(b.shape, c.shape[:-1])
    return np.broadcast_to(b, shape), np.broadcast_to(c, (*shape, c.shape[-1]))


def _integral(b, c, q):
    """Integral of ReLU^q / q!; derivatives with respect to b and c survive complex steps."""
    shape, b, c = b.shape, b.reshape(-1), c.reshape(b.size, -1)
    lowest, highest = (b + np.where(keep, c, 0).sum(axis=1) for keep in (c.real < 0, c.real >= 0))
    c = np.where(c.real < 0, -c, c)  # reflect x_j to 1 - x_j where c_j < 0
    c = np.take_along_axis(c, np.argsort(-c.real, axis=1), axis=1)
    return _cut(lowest, highest, c, q).reshape(shape)


def _cut(low, high, c, q):
    """The same for the values at the lowest and highest corner and slopes c >= 0 in falling order, one row each."""
    value = np.zeros_like(low)
    whole = low.real >= 0
    value[whole] = _polynomial(low[whole], c[whole], q)
    kink = np.flatnonzero(~whole & (high.real > 0))
    if len(kink):
        longest, rest, low, high = c[kink, 0], c[kink, 1:], low[kink], high[kink]
        reach = rest.sum(axis=1)  # each half keeps the corner that it has: no difference of huge numbers
        if len(kink) < TOGETHER:
            ends = np.r_[high - reach, low], np.r_[high, low + reach]
            upper, lower = np.split(_cut(*ends, np.r_[rest, rest], q + 1), 2)
        else:
            upper, lower = _cut(high - reach, high, rest, q + 1), _cut(low, low + reach, rest, q + 1)
        value[kink] = (upper - lower) / longest
    return value


def _polynomial(y, c, q):
    """Integral of (y + c·x)^q / q!: the coefficient of t^q in exp(t y) prod_i (exp(t c_i) - 1) / (t c_i)."""
    series = [y**n / math.factorial(n) for n in range(q + 1)]
    for slope in c.T:
        factor = [slope**n / math.factorial(n + 1) for n in range(q + 1)]
        series = [sum(map(np.multiply, series, factor[n::-1])) for n in range(q + 1)]
    return series[q]
