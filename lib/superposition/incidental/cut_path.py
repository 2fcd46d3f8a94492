"""One encoding as a function of its cut: the stiff equation of its scale, solved on panels between deaths.

With d the distance of the cut below the largest weight and u the scale (`one_feature.trajectory`),
dividing u' = Q(d) / u - u by d' = -lambda u leaves one equation without time,

    lambda du/d(-d) = Q(d) / u^2 - 1,

in which every death is known beforehand: it lies where d meets a gap. The right side is concave in u, so that Newton's
iterates rise to the solution from any function below it, such as min(u(0), sqrt Q); each iterate is one linear equation
on all panels at once. Time is then a quadrature, dt = d(-d) / (lambda u). Source: the equations of Incidental
Polysemanticity, Appendix B; this form is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray
from scipy.interpolate import krogh_interpolate

NODES = 8  # of a panel; Radau's, so that the right end is one of them and stiff panels are damped
EDGES = 100  # deaths that are edges of panels from the start: so many of the last ones, and of all others
ROUGH = 1e-9  # relative size of the highest divided difference above which a panel is cut in PARTS
PARTS = 4
ROUNDS = 300  # Newton steps; some ten are usual


class Path(NamedTuple):
    """Values at the nodes of panels, (panels, NODES + 1) each, in the order of time."""

    d: NDArray[np.float64]
    u: NDArray[np.float64]
    t: NDArray[np.float64]

    def at(self, t: float) -> tuple[float, float]:
        """The pair (d, u) at one time; after the last node, the pair at that node."""
        if t >= self.t[-1, -1]:
            return float(self.d[-1, -1]), float(self.u[-1, -1])
        panel = max(0, int(np.searchsorted(self.t[:, 0], t, side="right")) - 1)
        begin, end = self.t[panel, [0, -1]]
        values = np.c_[self.d[panel], self.u[panel]]
        d, u = krogh_interpolate((self.t[panel] - begin) / (end - begin), values, (t - begin) / (end - begin))
        return float(d), float(u)


def solve(
    squares: Callable[[NDArray[np.float64]], NDArray[np.float64]], lambda_: float, begin: tuple[float, float],
    edges: NDArray[np.float64], t: float = 0.0,
) -> Path:  # fmt: skip
    """The path from the cut d > 0 and scale u > 0 of `begin`, at time `t`, to the smallest of the edges."""
    # ``squares(d)`` is Q, the sum of squares of the weights after the cut, for an array of cuts. The edges (k,) are
    # where Q is not smooth, in any order.
    start, width = _panels(squares, lambda_, begin, edges)
    Q = squares(_nodes(start, width))
    below = u = _below(Q, width, lambda_, begin[1])
    for _ in range(ROUNDS):
        found, left = _newton(u, Q, width / lambda_, begin[1])
        before, u = u, np.maximum(found, below)
        change, inverse = np.abs(u / before - 1).max(), 1 / np.c_[left, u]
        rough = np.abs(inverse @ HIGHEST) > ROUGH * inverse.max(axis=1)
        rough |= (found < below * (1 - 1e-6)).any(axis=1)
        if change < 1e-8 and not rough.any():  # Newton doubles the digits
            return _timed(start, width, np.c_[left, u], lambda_, t)
        if change < 0.1 and rough.any():
            start, width, Q, u = _refined(squares, start, width, Q, np.c_[left, u], rough)
            below = _below(Q, width, lambda_, begin[1])
    raise RuntimeError(f"the path of an encoding did not settle in {ROUNDS} steps (lambda_ = {lambda_:g})")


def _radau():
    """Nodes on [0, 1] with the left end, the differences' highest order, and the matrix of derivatives."""
    x = np.r_[0.0, (1 + legendre.legroots(np.r_[np.zeros(NODES - 1), 1, -1])) / 2]
    x[-1] = 1.0
    share = 1 / np.array([np.prod(np.delete(node - x, i)) for i, node in enumerate(x)])
    D = share / share[:, None] / (x[:, None] - x + np.eye(NODES + 1))
    np.fill_diagonal(D, 0)
    np.fill_diagonal(D, -D.sum(axis=1))
    return x, share / np.abs(share).sum(), D[1:]


X, HIGHEST, D = _radau()
QUADRATURE = np.linalg.inv(D[:, 1:]).T
FINER = krogh_interpolate(X, np.eye(NODES + 1), (np.arange(PARTS)[:, None] + X[1:]).ravel() / PARTS)


def _panels(squares, lambda_, begin, edges):
    """Starts and widths: fine where the scale first settles, then from edge to edge."""
    d0, u0 = begin
    end = edges.min()
    size = max(1.0, float(np.sqrt(squares(np.array([d0]))[0])) / u0)
    settling = lambda_ * u0 * np.r_[0.0, np.geomspace(0.2 / size**2, 40 * size, 30)]
    half = max(d0 / 2, end)  # above it widths may be tiny beside d, and are no differences of cuts
    near = np.unique(np.r_[settling, d0 - edges])
    near = near[(near >= 0) & (near < d0 - half)]
    far = np.unique(np.r_[edges, d0 - settling])
    far = far[(far >= end) & (far <= half)][::-1]
    start, width = np.r_[d0 - near, far[:-1]], np.r_[np.diff(near), d0 - far[0] - near[-1], -np.diff(far)]
    return start[width > 0], width[width > 0]


def _below(Q, width, lambda_, u0):
    """A function that the solution cannot fall below: the balance u = sqrt Q, or growth without any resistance."""
    gone = np.cumsum(width)[:, None] - width[:, None] * (1 - X[1:])
    return np.maximum(np.minimum(u0, np.sqrt(Q)) + 1e-140, u0 - gone / lambda_)


def _nodes(start, width):
    """Cuts at all nodes of panels but the left ends."""
    return np.maximum(start[:, None] - width[:, None] * X[1:], 0)


def _newton(u, Q, rate, first):
    """One Newton step on all panels: new values at the nodes, and at the left ends."""
    panels, square = np.arange(NODES), Q / u**2  # the squared norm
    matrix = np.repeat(D[None, :, 1:], len(u), axis=0)
    matrix[:, panels, panels] += rate[:, None] * 2 * square / u
    right = np.empty((*u.shape, 2))  # of the value at the left end, and of the rest
    right[:, :, 0], right[:, :, 1] = -D[:, 0], rate[:, None] * (3 * square - 1)
    by_left, rest = np.moveaxis(np.linalg.solve(matrix, right), 2, 0)
    left = [first]
    for a, b in zip(by_left[:-1, -1].tolist(), rest[:-1, -1].tolist(), strict=True):
        left.append(a * left[-1] + b)
    left = np.array(left)
    return by_left * left[:, None] + rest, left


def _refined(squares, start, width, Q, u, rough):
    """Panels with the rough ones cut in equal parts."""
    parts = np.where(rough, PARTS, 1)
    of = np.repeat(np.arange(len(start)), parts)
    place = np.arange(len(of)) - np.repeat(np.cumsum(parts) - parts, parts)
    width, fresh = width[of] / parts[of], rough[of]
    start, Q, values = start[of] - place * width, Q[of], u[of, 1:]
    values[fresh] = (u[rough] @ FINER.T).reshape(-1, NODES)
    Q[fresh] = squares(_nodes(start[fresh], width[fresh]))
    return start, width, Q, values


def _timed(start, width, u, lambda_, t):
    passed = (width / lambda_)[:, None] / u[:, 1:] @ QUADRATURE
    begin = t + np.r_[0.0, np.cumsum(passed[:, -1])]
    return Path(np.c_[start, _nodes(start, width)], u, np.c_[begin[:-1], begin[:-1, None] + passed])
