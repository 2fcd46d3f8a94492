"""Two pairs of partners in the plane: what Toy Models shows, exactly.

Partners may point apart (antipodal), at right angles, or the same way (merged); each arrangement is made of two blocks
of two features in one dimension, so that its loss is an integral over two strengths.
Source: Toy Models of Superposition, correlated features; the formulas are ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import optimize

from superposition.rug.moments import gauss_legendre

NODES = 400  # along one strength; the other's integral is exact between kinks


class Pairs(NamedTuple):
    """Loss per feature of the three arrangements, each at its best gain and bias, and the name of the best."""

    antipodal: float
    orthogonal: float
    merged: float
    best: str


def pairs_in_plane(p: float, s: float) -> Pairs:
    """Losses of two pairs in the plane; strangers meet with probability p^2, partners with p s."""
    losses = {"antipodal": shared_line(p, s, -1), "orthogonal": shared_line(p, p, -1), "merged": shared_line(p, s, 1)}
    return Pairs(**losses, best=min(losses, key=lambda name: (round(losses[name], 12), name)))


def shared_line(p: float, s: float, sign: int) -> float:
    """Least loss per feature of two on one line, ReLU(a (x + sign y) + b), both on with probability p s."""
    found = (
        optimize.minimize(_line_loss, start, (p, s, sign), method="Nelder-Mead", options=_FINE) for start in _STARTS
    )
    return float(min(one.fun for one in found))


def merged_bound(p: float, s: float) -> float:
    """What no reader of x + y can beat, p (1/6 - s/8): given their sum, each is half of it on average."""
    return p * (1 / 6 - s / 8)


_STARTS = ([1.0, 0.0], [0.5, 0.0], [1.2, -0.1], [0.7, -0.2])
_FINE = {"xatol": 1e-7, "fatol": 1e-13, "maxiter": 2000}


def _line_loss(at, p, s, sign):
    a, b = at
    if a <= 0:
        return np.inf
    u, w = gauss_legendre(NODES)
    both = w @ _own_on(a, b + a * sign * u)
    alone, other = float(_own_on(a, np.array(b))), float(_relu_square(sign * a, b))
    return p * s * both + p * (1 - s) * (alone + other) + (1 - 2 * p + p * s) * max(b, 0) ** 2


def _own_on(a, shift):
    """Integral of (x - ReLU(a x + shift))^2 over x in [0, 1], for a above 0."""
    start = np.clip(-shift / a, 0, 1)  # before it the output is 0
    slope, end = 1 - a, 1 - start
    return start**3 / 3 + end * (slope**2 * (1 + start + start**2) / 3 - slope * shift * (1 + start) + shift**2)


def _relu_square(c, b):
    """Integral of ReLU(c y + b)^2 over y in [0, 1]."""
    return (max(c + b, 0) ** 3 - max(b, 0) ** 3) / (3 * c)
