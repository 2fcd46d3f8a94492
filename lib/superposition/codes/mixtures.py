"""Phases of the compressed features, and mixtures of them as a convex hull.

A network may serve different features differently: some share dimensions as in a rug, some as
in an antipodal rug or in digons, some get a dimension each, and some are dropped. Such a mixture
is block diagonal, so over many features its loss and its ratio are averages of those of its parts: the
best mixture is the lower convex hull of the phases in the plane of ratio and loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, features, ranges
from superposition.checked import checked
from superposition.codes import partners
from superposition.codes import ranges as within
from superposition.rug import meanfield

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from superposition.checks import Floats


@dataclass(frozen=True)
class Part:
    """A share of a mixture: the phase's name, its compression ratio, and the fraction of the features in it."""

    phase: str
    r: float
    fraction: float


@dataclass(frozen=True)
class Hull:
    """The best mixtures at one p: vertices ``r`` (increasing), their ``loss``, and the ``phase`` of each."""

    p: float
    r: np.ndarray
    loss: np.ndarray
    phase: tuple

    def at(self, r: ArrayLike) -> Floats:
        """Loss per feature of the best mixture at compression ratios from 0 to 1."""
        return np.interp(checks.real("r", r, 0, 1), self.r, self.loss)

    def parts(self, r: float) -> tuple[Part, ...]:
        """Parts of the best mixture at one compression ratio from 0 to 1."""
        r = checks.number("r", r, 0, 1)
        right = min(max(int(np.searchsorted(self.r, r)), 1), len(self.r) - 1)
        low, high = self.r[right - 1], self.r[right]
        share = (r - low) / (high - low)
        ends = ((right - 1, 1 - share), (right, share))
        if self.phase[right - 1] == self.phase[right]:
            return (Part(self.phase[right], r, 1.0),)
        return tuple(Part(self.phase[i], float(self.r[i]), float(weight)) for i, weight in ends if weight > 1e-12)


@checked(p=ranges.one_probability, without=within.phases, points=ranges.whole(10, 10_000))
def hull(p: float, *, without: Sequence[str] = (), points: int = 160) -> Hull:
    """The best mixture of phases at every compression ratio.

    Parameters
    ----------
    points : int
        Ratios at which the two rugs are computed, from 10 to 10000.

    Returns
    -------
    Hull
        With ``at(r)``, the loss, and ``parts(r)``, the phases of the mixture and their shares.

    Notes
    -----
    Source: ours. The text's theory is the phase "rug" alone. Use `best_known` instead with fans and lower bounds.

    Examples
    --------
    >>> mixed = hull(0.05, points=20)
    >>> round(float(mixed.at(0.2)), 5), [part.phase for part in mixed.parts(0.03)]
    (0.00618, ['dropped', 'antipodal'])
    """
    return hulls([p], without=without, points=points)[0]


@checked(p=within.probabilities, without=within.phases, points=ranges.whole(10, 10_000))
def hulls(p: ArrayLike, *, without: Sequence[str] = (), points: int = 160) -> list[Hull]:
    """`hull` at several probabilities, shape (n,), faster than one by one.

    Returns
    -------
    list of Hull
        One for each probability. Source: ours.

    Examples
    --------
    >>> [round(float(mixed.at(0.2)), 5) for mixed in hulls([0.05, 0.1], points=20)]
    [0.00618, 0.01682]
    """
    p = np.atleast_1d(np.asarray(p, float))
    found = [[("dropped", 0.0, float(top)), ("own dimension", 1.0, 0.0)] for top in features.variance(p)]
    for name, (ratios, losses) in CURVES.items():
        if name not in without:
            r = ratios(points)
            for at, values in zip(found, losses(p[:, None], r), strict=True):  # pyrefly: ignore  # pairs of functions
                at += [(name, float(x), float(value)) for x, value in zip(r, values, strict=True)]
    return [_hull(float(q), at) for q, at in zip(p, found, strict=True)]


@checked(p=ranges.one_probability)
def dropping_ratio(p: float) -> float:
    """Compression ratio below which dropping features beats the rug, in the Gaussian theory.

    Returns
    -------
    float
        0 if features never are dropped. Source: ours, against The Persian Rug, section 4.2.1.

    Examples
    --------
    >>> round(dropping_ratio(0.05), 3)
    0.173
    """
    # Section 4.2.1 of the text bounds the noise of the average row, which bounds the loss only where it is convex in r.
    low, high = np.log(1e-5), np.log(0.999)
    for _ in range(4):  # the steepest line from (0, Var[x]); each grid lies around the best point of the last
        grid = np.linspace(low, high, 40)
        slope = (meanfield.optimum(p, np.exp(grid)).loss - features.variance(p)) / np.exp(grid)
        at = int(slope.argmin())
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, 39)]
    return float(np.exp(grid[at])) if at > 0 else 0.0


def _ratios_of_the_rug(points):
    return np.unique(np.concatenate([np.geomspace(1e-3, 0.1, points // 2), np.linspace(0.1, 0.999, points)]))


def _ratios_of_the_antipodal_rug(points):
    return np.unique(np.concatenate([np.geomspace(1e-3, 0.1, points // 2), np.linspace(0.1, 0.5, points // 2)]))


# each phase with its ratios, and its loss there
CURVES = {
    "rug": (_ratios_of_the_rug, lambda p, r: meanfield.optimum(p, r).loss),
    "antipodal": (_ratios_of_the_antipodal_rug, lambda p, r: partners.antipodal_optimum(p, r).loss),
    "digon": (lambda points: np.array([0.5]), lambda p, r: partners.best_digon(p)[1]),
}


def _hull(p, found):
    names, r, loss = zip(*lower_hull(sorted(found, key=lambda point: point[1:])), strict=True)
    return Hull(p, np.array(r), np.array(loss), names)


@checked(found=within.sorted_points)
def lower_hull(found: Sequence[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """The vertices of the lower convex hull of codes (name, ratio, loss), by Andrew's monotone chain.

    Returns
    -------
    list of tuple
        The codes that no mixture of others beats, by increasing ratio.

    Examples
    --------
    >>> lower_hull([("a", 0.0, 1.0), ("b", 0.5, 0.9), ("c", 1.0, 0.0)])
    [('a', 0.0, 1.0), ('c', 1.0, 0.0)]
    """
    kept = []
    for point in found:
        while len(kept) > 1 and _turn(kept[-2], kept[-1], point) <= 0:
            kept.pop()
        kept.append(point)
    return kept


def _turn(one, two, three):
    return (two[1] - one[1]) * (three[2] - one[2]) - (two[2] - one[2]) * (three[1] - one[1])
