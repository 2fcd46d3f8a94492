"""The border of superposition for two features in one dimension: where it is sharp and where it is continuous.

Feature 1 has importance 1, feature 2 has importance I <= 1, and both are on with probability p. The loss is L = A + I B
with the two outputs' errors A and B. Where feature 2 is dropped A = 0 and B = V, so superposition has the lower loss if
and only if I > A / (V - B) for some weights. The border is the smallest such ratio. For I >= 1 exchange the features:
the upper border is the inverse of the lower one.

Source: Toy Models of Superposition, "a phase change"; everything here is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import features, ranges
from superposition.checked import checked

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


SMALLEST = 0.005  # overlap below which the ratio is that of the limit
STARTS = (0.02, 0.1, 0.3, 0.6, 0.9)  # overlaps from which the least ratio is sought
SHIFT = 1e-6  # of the central differences


@dataclass(frozen=True)
class Border:
    """Least ``importance`` I_2 with superposition, and the ``strengths`` |W_1|^2 and |W_2|^2 just above it.

    At a ``sharp`` border |W_2|^2 jumps; else it grows from 0.
    """

    importance: float
    strengths: tuple[float, float]
    sharp: bool


@checked(p=ranges.probability)
def continuous_border(p: ArrayLike) -> np.ndarray:
    """Importance I_2 at which the dropped feature becomes unstable: the border of superposition if it is continuous.

    Returns
    -------
    numpy.ndarray
        Of the shape of p.

    Notes
    -----
    Source: ours. Use `superposition_border` instead for the border itself, which may lie lower and be sharp.

    Examples
    --------
    >>> continuous_border([0.3, 1.0]).round(4)
    array([0.3189, 1.    ])
    """
    # Min over beta of D / V, D = p [V + (beta - p/2)^2 / 4] + (1 - p) [(1 - p) beta^2 + p beta^3 / 3]; above the border
    # where that is sharp. With the small overlap -delta, the bias b_1 = beta delta and
    # |W_1|^2 = 1 + (3/2)(p/2 - beta) delta the loss is I V + delta^2 (D - I V) + C delta^3 + ...
    p = np.asarray(p, float)
    return _second(p, _beta(p)) / features.variance(p)


def _cubic_term(p: ArrayLike) -> np.ndarray:
    """Coefficient C of delta^3 in the loss at the continuous border; where it is below 0 the border is sharp."""
    # The first part is the growth of |W_1|, the second the ReLU that closes on output 1 where x_1 < delta (x_2 - beta).
    p = np.asarray(p, float)
    beta = _beta(p)
    return 3 * (p / 2 - beta) * _second(p, beta) - p**2 / 6 * (1 - beta) ** 4


def tricritical_points() -> tuple[float, float]:
    """Probabilities p between which the border of superposition can be continuous: there the cubic term is positive.

    Returns
    -------
    low, high : float

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> [round(p, 4) for p in tricritical_points()]
    [0.5202, 0.8373]
    """
    from scipy.optimize import brentq

    low, high = (brentq(_cubic_term, *bracket, xtol=1e-14) for bracket in ((0.3, 0.7), (0.7, 0.95)))
    return float(np.asarray(low)), float(np.asarray(high))


@checked(p=ranges.one_probability)
def superposition_border(p: float) -> Border:
    """The border of superposition: the least importance of feature 2 at which it is not dropped.

    Returns
    -------
    Border
        The lowest of several descents and of the limit of small overlaps, not certified. Jumps with an overlap below
        0.005 count as continuous.

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> found = superposition_border(0.3)
    >>> round(found.importance, 4), round(found.strengths[1], 2), found.sharp
    (0.2047, 0.48, True)
    """
    limit = float(continuous_border(p))
    value, own, overlap = min(_least(p, SMALLEST, 0.4), _least(p, 0.4, 1.5))
    if value >= limit:
        return Border(limit, (1.0, 0.0), False)
    return Border(value, (own, overlap**2 / own), True)


def _output_error(own: ArrayLike, other: ArrayLike, b: ArrayLike, p: ArrayLike) -> np.ndarray:
    """Mean squared error of one of two outputs, E (x - ReLU(own x + other y + b))^2, in closed form."""
    # For other = W_1 . W_2 below 0, and slopes that are not tiny; faster than `superposition.toy.population_loss`.
    own, other, b, p = (np.asarray(value, float) for value in (own, other, b, p))
    return np.where(b + other >= 0, _linear_error(own, other, b, p), _corner_error(own, other, b, p))


def _linear_error(own, other, b, p):
    """The error while the ReLU is open for all x and y."""
    offset = p / 2 * (1 - own - other) - b
    return features.variance(p) * ((1 - own) ** 2 + other**2) + offset**2


def _corner_error(own, other, b, p):
    """The error as a sum of powers of the ReLU at the corners of the unit square."""
    corners = [np.maximum(b + one * own + two * other, 0) for one in (0, 1) for two in (0, 1)]
    none, second, first, both = corners
    alone = (first**3 - none**3) / (3 * own) - 2 * _moment(own, b) + 1 / 3
    square = (both**4 - first**4 - second**4 + none**4) / (12 * own * other)
    moment = ((both**3 - first**3) / (6 * other) - square / 2) / own
    return (
        (1 - p) ** 2 * none**2
        + p * (1 - p) * (alone + (second**3 - none**3) / (3 * other))
        + p**2 * (square - 2 * moment + 1 / 3)
    )


def _moment(own, b):
    """Integral of x ReLU(own x + b) from 0 to 1."""
    end, begin = np.maximum(own + b, 0), np.maximum(b, 0)
    return (end**3 - begin**3) / (3 * own**2) - b * (end**2 - begin**2) / (2 * own**2)


def _least(p, low, high):
    """Least A / (V - B) with the overlap between two bounds; with |W_1|^2 and the overlap there."""
    from scipy.optimize import minimize  # slow to import

    variance, shifts = float(features.variance(p)), np.concatenate([np.zeros((1, 4)), np.eye(4), -np.eye(4)])

    def objective(at):
        slope, overlap, b, c = (at + SHIFT * shifts).T  # all of them of order 1, however small the overlap
        own = 1 + slope * overlap
        biases = np.stack([b * overlap, p / 2 + c * overlap])
        first, second = _output_error(np.stack([own, overlap**2 / own]), -overlap, biases, p)
        values = first / np.maximum(variance - second, 1e-9 * variance)
        up, down = values[1:].reshape(2, -1)
        return values[0], (up - down) / (2 * SHIFT)

    beta = float(_beta(p))
    overlaps = np.unique(np.clip(STARTS, low, high))
    begin = [(1.5 * (p / 2 - beta), d, beta, p / 2 * (1 - d)) for d in overlaps]
    begin += [(0.0, d, -p / 2, -p / 2 / d) for d in overlaps]
    bounds = [(-0.6 / high, 2 / high), (low, high), (-2, 2), (-2 / low, 2 / low)]
    options = {"ftol": 1e-13, "gtol": 1e-10, "maxiter": 500}
    found = [minimize(objective, at, jac=True, bounds=bounds, method="L-BFGS-B", options=options) for at in begin]
    best = min(found, key=lambda result: result.fun)
    slope, overlap = best.x[:2]
    return float(best.fun), float(1 + slope * overlap), float(overlap)


def _beta(p):
    """Place of the least second-order term: a root of p (1 - p) beta^2 + (p/2 + 2 (1-p)^2) beta = p^2 / 4."""
    square, linear = p * (1 - p), p / 2 + 2 * (1 - p) ** 2
    return p**2 / 2 / (linear + np.sqrt(linear**2 + square * p**2))


def _second(p, beta):
    """The second-order term D: the cost of a small overlap to output 1."""
    gap = beta - p / 2
    return p * (features.variance(p) + gap**2 / 4) + (1 - p) * ((1 - p) * beta**2 + p * beta**3 / 3)
