"""Two pairs of partners in the plane, the pictures of Toy Models: exact losses.

Partners may point apart (antipodal), at right angles, or the same way (merged); each arrangement is made of two blocks
of two features in one dimension, so that its loss is an integral over two strengths.
Source: Toy Models of Superposition, correlated features; the formulas are ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.correlated.ranges import pair, partner_probability


class Pairs(NamedTuple):
    """Loss per feature of the three arrangements, each at its best gain and bias, and the name of the best."""

    antipodal: float
    orthogonal: float
    merged: float
    best: str


@checked(pair, p=ranges.one_probability, s=partner_probability)
def pairs_in_plane(p: float, s: float) -> Pairs:
    """Two pairs of partners in the plane: losses with partners antipodal, orthogonal, or merged.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in (0, 1].
    s : float
        Probability that the partner of a feature that is on is on too, 0 to 1, and 2 - 1/p at least.

    Notes
    -----
    Source: ours, for the pictures of Toy Models of Superposition on correlated features.

    Examples
    --------
    >>> pairs_in_plane(0.1, 0.05).best, pairs_in_plane(0.1, 0.5).best, pairs_in_plane(0.6, 1.0).best
    ('antipodal', 'orthogonal', 'merged')
    """
    losses = {
        "antipodal": shared_line_loss(p, s, -1),
        "orthogonal": shared_line_loss(p, p, -1),
        "merged": shared_line_loss(p, s, 1),
    }
    return Pairs(**losses, best=min(losses, key=lambda name: (round(losses[name], 12), name)))


@checked(pair, p=ranges.one_probability, s=partner_probability, sign=ranges.one_of(-1, 1))
def shared_line_loss(p: float, s: float, sign: int) -> float:
    """Least loss per feature of two on one line, ReLU(a (x + sign y) + b), both on with probability p s.

    Notes
    -----
    Source: ours, for the pictures of Toy Models of Superposition on correlated features.

    Examples
    --------
    >>> print(f"apart {shared_line_loss(0.1, 0.1, -1):.4f}, merged {shared_line_loss(0.1, 0.1, 1):.4f}")
    apart 0.0017, merged 0.0154
    """
    # At each b / a the best a is a division; b / a lies between silence and what the best linear answer has, 1 at most.
    t = np.linspace(-2, 1, _POINTS)
    for _ in range(_ZOOMS):
        best = _losses(t, p, s, sign).argmin()
        t = np.linspace(t[max(best - 1, 0)], t[min(best + 1, _POINTS - 1)], _POINTS)
    return float(_losses(t, p, s, sign).min())


@checked(pair, p=ranges.one_probability, s=partner_probability)
def merged_bound(p: float, s: float) -> float:
    """Least loss of any reader of x + y, p (1/6 - s/8): given their sum, each is half of it on average.

    Examples
    --------
    >>> round(merged_bound(0.1, 1.0), 5)
    0.00417
    """
    return p * (1 / 6 - s / 8)


_POINTS, _ZOOMS = 201, 3  # the last ones are 1e-8 apart


def _losses(t, p, s, sign):
    product, square = _moments(t, p, s, sign)
    return p / 3 - np.divide(product**2, square, out=np.zeros_like(t), where=square > 0)


def _moments(t, p, s, sign):
    """E[x r] and E[r^2] of r = ReLU(x + sign y + t); with sign -1, 1 - y is as likely as y."""
    shift = min(sign, 0)
    (one, one_square), (_, other_square), (both, both_square) = _of_one(t), _of_one(t + shift), _of_two(t + shift)
    p_both, p_one = p * s, p * (1 - s)
    own = p_both * (both_square - (t + shift) * both) / 2 + p_one * (one_square - t * one)
    silent = (1 - 2 * p + p_both) * np.maximum(t, 0) ** 2
    return own, p_both * both_square + p_one * (one_square + other_square) + silent


def _of_one(t):
    """E ReLU(x + t) and its square's, x uniform on [0, 1]."""
    return tuple((np.maximum(t + 1, 0) ** k - np.maximum(t, 0) ** k) / k for k in (2, 3))


def _of_two(t):
    """E ReLU(x + y + t) and its square's, x and y uniform on [0, 1]."""
    ends = [np.maximum(t + i, 0) for i in (0, 1, 2)]
    return tuple((ends[2] ** k - 2 * ends[1] ** k + ends[0] ** k) / norm for k, norm in ((3, 6), (4, 12)))
