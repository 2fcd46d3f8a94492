"""Swept fans: the wedge of arrows grows to the left and to the right in turn, so features come in pairs.

The two of a pair are nearly equally loud and weaken each other both ways, as in a digon of weights 3 and 1/3. A pair
costs 25/81 where a priority fan pays 1/3, and there are half as many steps of loudness.
Source: ours, against The Persian Rug, section 4.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition.codes.fans import Code, fan_loss, rounded

LARGEST = 40  # features of a swept fan that double precision carries at steps of 1e4; beyond, a pair saves nothing
_WRITTEN, _SCALE, _OPPOSITE = 12, 25, 4  # bits of an encoder, of a reader's factor, of the arrow opposite to another


def swept_fan(B: int, ratio: float, inner: float = 3.0, growth: float | None = None) -> Code:
    """B features in the plane, in pairs: `ratio` from a pair to the next, `inner` within; zeros are exact."""
    # A reader is at a right angle to its neighbour. Products of 12, 25 and 12 + 4 bits fit into 53: they cancel exactly
    # in any order of summation, and a rounding error may not be left over since it would be multiplied by the loudness.
    angle, neighbour, side = layout(B, growth)
    level = loudness(B, ratio, inner)
    w = rounded(level[:, None] * np.c_[np.cos(angle), np.sin(angle)], _WRITTEN)
    w[np.abs(angle) == np.pi / 2, 0] = w[np.abs(angle) == np.pi, 1] = 0
    if B % 2:
        w[-2] = -w[-3] * rounded(level[-2] / level[-3], _OPPOSITE)
    v = side[:, None] * np.c_[-w[neighbour, 1], w[neighbour, 0]]
    v[0] = w[0]
    v *= rounded(1 / np.sum(v * w, axis=1), _SCALE)[:, None]
    return Code(w.T.copy(), v, np.zeros(B))


def swept_loss(p: ArrayLike, B: int) -> NDArray[np.float64]:
    """Loss of a swept fan at an infinite ratio between pairs, 3 within, and ever steeper angles (B from 7 on)."""
    p = np.asarray(p, float)
    apart = -np.expm1(2 * pairs(B) * np.log1p(-np.minimum(p, np.nextafter(1, 0))))
    return fan_loss(p, B) - 2 / 81 * p * apart / (B * (2 - p))


def pairs(B: int) -> int:
    """Pairs of nearly equal loudness in a swept fan."""
    return (B - 2) // 2


def largest_ratio(B: int, inner: float = 3.0, growth: float = 1.0, reach: float = 1e250) -> float:
    """Ratio between pairs at which loudness, and what steep angles add to it, spans `reach`."""
    steps = B - 1 - pairs(B)
    return float((reach / inner ** pairs(B) / growth ** pairs(B)) ** (1 / steps))


def loudness(B: int, ratio: float, inner: float) -> NDArray[np.float64]:
    """Loudness of each feature of a swept fan, the loudest first, as far above 1 as the softest is below."""
    steps = np.full(B - 1, np.log(ratio))
    steps[1 : 2 * pairs(B) : 2] = np.log(inner)
    level = -np.r_[0, np.cumsum(steps)]
    return np.exp(level - level[-1] / 2)


def layout(B: int, growth: float | None = None) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Angle, louder neighbour to which a reader is at a right angle, and side (1: left), of each feature."""
    # Even B: 0, ±x_1, ..., ±90°, 180°. Odd B: 0, ±x_1, ..., ±x_J, the opposite of -x_J, and one at -90° - x_J.
    J, odd = pairs(B), B % 2
    x = np.arange(1, J + 1) * np.pi / (2 * J + odd)
    if growth is not None:
        top = np.tan(np.pi / 3) if odd else 1.0
        x[: J - 1 + odd] = np.arctan(top * growth ** np.arange(2 - odd - J, 1, dtype=float))
    x[J - 1] = x[J - 1] if odd else np.pi / 2
    ends = [np.pi - x[-1], -np.pi / 2 - x[-1]] if odd else [np.pi]
    angle = np.r_[0, np.c_[x, -x].ravel(), ends]
    neighbour = np.r_[0, 0, np.arange(2 * J - 1), [2 * J - 1, 2 * J] if odd else [2 * J - 1]]
    neighbour[2] = 0
    return angle, neighbour, np.r_[1, np.tile([1, -1], J), [1, -1] if odd else [1]]
