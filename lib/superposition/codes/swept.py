"""Swept fans: the wedge of arrows grows to the left and to the right in turn, so features come in pairs.

The two of a pair are nearly equally loud and weaken each other both ways, as in a digon of weights 3 and 1/3. A pair
costs 25/81 where a priority fan pays 1/3, and there are half as many steps of loudness.
Source: ours, against The Persian Rug, section 4.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, ranges
from superposition.checked import checked
from superposition.codes import ranges as within
from superposition.codes.fans import Code, fan_loss, rounded

LARGEST_SWEPT = (
    40  # features of a swept fan that double precision carries at steps of 1e4; beyond, a pair saves nothing
)
_WRITTEN, _SCALE, _OPPOSITE = 12, 25, 4  # bits of an encoder, of a reader's factor, of the arrow opposite to another


def spans(B: int, ratio: float, inner: float, growth: float | None) -> None:
    """Refuse a swept fan whose loudness spans more than double precision carries."""
    levels = np.log(1e250) - _pairs(B) * np.log(inner * (growth or 1.0))
    if levels < 0:
        raise ValueError(f"B, inner, growth = {B}, {inner:g}, {growth} span more than 1e250; allowed: less of one")
    checks.number("ratio", ratio, 1, float(np.exp(levels / (B - 1 - _pairs(B)))))


@checked(
    spans, B=within.fan_size, ratio=within.loudness_ratio, inner=ranges.number(1, 1e6),
    growth=ranges.number(1, 1e6, open_low=True),
)  # fmt: skip
def swept_fan(B: int, ratio: float, inner: float = 3.0, growth: float | None = None) -> Code:
    """The swept fan: B features in the plane, in pairs to the left and to the right.

    The angles are 0, x_1, -x_1, x_2, -x_2, ..., for even B up to 90 and -90 and then 180 degrees; odd B ends with the
    opposite of the last right one and with one at a right angle to both. The reader of a left feature is orthogonal to
    the left feature before it, and the reader of a right feature to the right one before it.

    Parameters
    ----------
    B : int
        Number of features, from 4 to 16384; use `priority_fan` instead at 4, where it is better.
    ratio : float
        Loudness of the softer of a pair divided by the louder of the next, at least 1. All of loudness, together with
        the span that `growth` adds, may not exceed 1e250.
    inner : float
        Loudness of the left one of a pair divided by the right one, from 1 to 1e6. In the limit of large `ratio` 3 is
        best.
    growth : float, optional
        Factor from the tangent of an angle to the next tangent, above 1, up to 1e6; equal steps if left out.

    Returns
    -------
    Code
        With a bias of 0 and gain 1 to 1e-7. The zeros of W are exact in any order of summation. Loudness follows the
        arguments to 1e-3, that of the last but one at odd B to three percent.

    Notes
    -----
    Source: ours. A left and a right one of a level weaken each other by weights of product
    (sin(x + y) / sin(x - y))^2, x and y their angle and the one before: 1 for the first and the last pair.

    Examples
    --------
    >>> import numpy as np
    >>> np.sign(swept_fan(6, 100).W * np.tri(6)).astype(int)
    array([[ 1,  0,  0,  0,  0,  0],
           [ 0,  1,  0,  0,  0,  0],
           [ 0, -1,  1,  0,  0,  0],
           [-1,  0, -1,  1,  0,  0],
           [-1, -1,  0, -1,  1,  0],
           [-1, -1, -1,  0,  0,  1]])
    """
    # A reader is at a right angle to its neighbour. Products of 12, 25 and 12 + 4 bits fit into 53: they cancel exactly
    # in any order of summation, and a rounding error may not be left over since it would be multiplied by the loudness.
    angle, neighbour, side = fan_layout(B, growth)
    level = _loudness(B, ratio, inner)
    w = rounded(level[:, None] * np.c_[np.cos(angle), np.sin(angle)], _WRITTEN)
    w[np.abs(angle) == np.pi / 2, 0] = w[np.abs(angle) == np.pi, 1] = 0
    if B % 2:
        w[-2] = -w[-3] * rounded(level[-2] / level[-3], _OPPOSITE)
    v = side[:, None] * np.c_[-w[neighbour, 1], w[neighbour, 0]]
    v[0] = w[0]
    v *= rounded(1 / np.sum(v * w, axis=1), _SCALE)[:, None]
    return Code(w.T.copy(), v, np.zeros(B))


@checked(p=ranges.probability, B=ranges.whole(4))
def swept_loss(p: ArrayLike, B: int) -> NDArray[np.float64]:
    """Loss of a swept fan at an infinite ratio between pairs and a ratio of 3 within, exact for every p.

    Returns
    -------
    numpy.ndarray
        Loss per feature, shape of `p`; from seven features on it is approached as `growth` rises, and not reached.

    Notes
    -----
    Source: ours. The loss is `fan_loss` minus (2/81) (p^2 / B) (1 + q^2 + q^4 + ...), one term a pair, q = 1 - p.

    Examples
    --------
    >>> round(float(swept_loss(0.05, 6) / fan_loss(0.05, 6)), 4)
    0.9837
    """
    p = np.asarray(p, float)
    apart = -np.expm1(2 * _pairs(B) * np.log1p(-np.minimum(p, np.nextafter(1, 0))))
    return fan_loss(p, B) - 2 / 81 * p * apart / (B * (2 - p))


def _pairs(B: int) -> int:
    """Pairs of nearly equal loudness in a swept fan."""
    return (B - 2) // 2


def largest_ratio(B: int, inner: float = 3.0, growth: float = 1.0, reach: float = 1e250) -> float:
    """Ratio between pairs at which loudness, with the span that steep angles add to it, covers `reach`."""
    steps = B - 1 - _pairs(B)
    return float((reach / inner ** _pairs(B) / growth ** _pairs(B)) ** (1 / steps))


def _loudness(B: int, ratio: float, inner: float) -> NDArray[np.float64]:
    """Loudness of each feature of a swept fan, the loudest first; loudest times softest is 1."""
    steps = np.full(B - 1, np.log(ratio))
    steps[1 : 2 * _pairs(B) : 2] = np.log(inner)
    level = -np.r_[0, np.cumsum(steps)]
    return np.exp(level - level[-1] / 2)


def fan_layout(B: int, growth: float | None = None) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Angle, louder neighbour to which a reader is at a right angle, and side (1: left), of each feature."""
    # Even B: 0, ±x_1, ..., ±90°, 180°. Odd B: 0, ±x_1, ..., ±x_J, the opposite of -x_J, and one at -90° - x_J.
    J, odd = _pairs(B), B % 2
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
