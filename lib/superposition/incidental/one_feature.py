"""Sparsification by an l1 term: loss, forces, and one encoding without interference, solved exactly.

The text uses two conventions. The **loss** convention follows the gradient of `loss`. The
**simplified** convention drops the constants 4, for one encoding without interference

    dW/dt = (1 - |W|^2) W - lambda sign(W).

`conventions` converts. Everything but `loss` and `gradient` is in the simplified one.
Source: Incidental Polysemanticity, section 2 and Appendix B.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.incidental import ranges as own
from superposition.incidental.l1_loss import DEATH_LINE

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.incidental import cut_path  # slow to import: so where it is used


BLOCK = 32  # weights between two stored sums
IN_BLOCK = np.arange(BLOCK)

_strength = ranges.number(0, 1e6, open_low=True)


@dataclass(frozen=True)
class Trajectory:
    """One encoding over time: each field has one value per time, and `weights` has all weights up to the last time.

    ``norm_squared`` is |W|^2, ``survivors`` the number m' of weights that are not zero,
    ``l1_norm`` the sum of |W_k|. ``single`` is the time from which one weight (or several
    exactly equal ones) is left, infinite if that is later than the last time.

    Examples
    --------
    >>> from superposition import incidental
    >>> path = incidental.trajectory([0.6, -0.5], 0.05, [10.0])
    >>> type(path).__name__, path.norm_squared.round(4)
    ('Trajectory', array([0.9278]))
    """

    times: np.ndarray
    norm_squared: np.ndarray
    survivors: np.ndarray
    l1_norm: np.ndarray
    single: float
    _w0: np.ndarray = field(repr=False)
    _path: cut_path.Path = field(repr=False)

    def weights(self, t: float) -> Float[np.ndarray, " m"]:
        """All weights (m,) at one time, from 0 to the last of ``times``."""
        t = checks.number("t", t, 0, self.times.max())
        return _weights(self._w0, *self._path.at(t))


@checked(w0=ranges.array("m"), lambda_=_strength, times=own.any_times)
def trajectory(w0: ArrayLike, lambda_: float, times: ArrayLike) -> Trajectory:
    """Exact evolution of one encoding w0 (m,) without interference.

    The strength is that of the simplified convention. Above 2 / (3 sqrt 3) even a single weight dies, which gives a
    warning.

    Notes
    -----
    Costs O(m log m), and two arrays of length m besides the input. Relative errors are about 1e-9, and 1e-11 in
    ``single``. Source: Incidental Polysemanticity, Appendix B (the affine map), made into a solver. Use `gradient_flow`
    where features interfere.

    Examples
    --------
    >>> path = trajectory([0.6, -0.5, 0.1], 0.05, [0.0, 2.0, 40.0])
    >>> path.survivors
    array([3, 3, 1])
    >>> path.weights(2.0).round(4)
    array([ 0.7422, -0.5994,  0.028 ])
    """
    # All surviving |W_k| move by one affine map, |W_k(t)| = (|W_k(0)| - c)_+ / u. With d = max |W(0)| - c, the distance
    # of the cut below the largest weight, two numbers are left: d' = -lambda u and u' = Q(d) / u - u, where Q(d) =
    # sum_k (d - g_k)_+^2 over the gaps g_k = max |W(0)| - |W_k(0)|. Sorted gaps and their prefix sums give Q in O(log
    # m) once O(m log m) is paid. In this form nothing cancels. `superposition.incidental.cut_path` solves it over d in
    # place of time, so that no death has to be looked for.
    w0, times = np.asarray(w0, float), np.atleast_1d(np.asarray(times, float))
    if lambda_ > DEATH_LINE:
        warnings.warn(
            f"lambda_ = {lambda_:g} is above 2 / (3 sqrt 3) = {DEATH_LINE:.4f}: even a single weight dies", stacklevel=2
        )
    gaps = _Gaps(w0)
    path, single = _solve(gaps, lambda_, times.max())
    values = np.array([gaps.describe(*path.at(t)) for t in times])
    return Trajectory(times, values[:, 0], values[:, 1].astype(np.int64), values[:, 2], single, w0, path)


class _Gaps:
    """Sorted distances of all weights below the largest, and prefix sums of them and of their squares by blocks."""

    def __init__(self, w0):
        self.sorted = np.abs(w0)
        self.largest = float(self.sorted.max())
        np.subtract(self.largest, self.sorted, out=self.sorted)
        self.sorted.sort()
        whole = self.sorted[: len(w0) // BLOCK * BLOCK].reshape(-1, BLOCK)
        self.first = np.r_[0.0, np.cumsum(whole.sum(axis=1))]
        self.second = np.r_[0.0, np.cumsum(np.einsum("ij,ij->i", whole, whole))]
        self.tied = int(self.sorted.searchsorted(0.0, side="right"))

    def sums(self, d: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Number, sum and sum of squares of the remaining weights when the cut is d below the largest."""
        p = self.sorted.searchsorted(d)
        block, rest = np.divmod(p, BLOCK)
        place = np.minimum((p - rest)[..., None] + IN_BLOCK, len(self.sorted) - 1)
        others = np.where(IN_BLOCK < rest[..., None], self.sorted[place], 0.0)
        first = self.first[block] + others.sum(axis=-1)
        second = self.second[block] + np.einsum("...i,...i", others, others)
        return p, p * d - first, (p * d - 2 * first) * d + second

    def squares(self, d: np.ndarray) -> np.ndarray:
        """Q at many cuts."""
        return self.sums(d)[2]

    def some(self) -> np.ndarray:
        """The last deaths and some of the others: cuts where a weight dies."""
        from superposition.incidental import cut_path

        begin, end = self.tied, int(self.sorted.searchsorted(self.largest))
        near = np.arange(begin, min(end, begin + cut_path.EDGES))
        others = np.geomspace(near[-1] + 1, end, cut_path.EDGES).astype(int)
        return self.sorted[np.r_[near, others[others < end]]]

    def describe(self, d: float, u: float) -> tuple[float, int, float]:
        """|W|^2, number and l1 norm of the survivors."""
        p, first, second = self.sums(d)
        return float(second) / u**2, int(p), float(first) / u


def _solve(gaps, lambda_, end):
    """The path of (d, u), and the time from which only the largest weight is left."""
    from superposition.incidental import cut_path

    lambda_ = max(lambda_, 1e-200)  # less moves nothing before t = 1e180, and its reciprocal overflows
    if not gaps.largest:
        return cut_path.Path(np.zeros((1, 1)), np.ones((1, 1)), np.zeros((1, 1))), 0.0
    last = gaps.tied
    if last == len(gaps.sorted) or gaps.sorted[last] >= gaps.largest:
        return _single(gaps, lambda_, (gaps.largest, 1.0), 0.0, end), 0.0
    path = cut_path.solve(gaps.squares, lambda_, (gaps.largest, 1.0), gaps.some())
    single = float(path.t[-1, -1])
    if single > end:
        return path, np.inf
    after = _single(gaps, lambda_, (path.d[-1, -1], path.u[-1, -1]), single, end)
    return cut_path.Path(*(np.concatenate(parts) for parts in zip(path, after, strict=True))), single


def _single(gaps, lambda_, begin, t, end):
    """The path once only the largest weights, of equal size x = d / u, are left, until x is 0 or at or beyond rest."""
    from superposition.incidental import cut_path

    lowest = min(begin[0] / begin[1], (3 * gaps.tied) ** -0.5)  # at the latter (1 - tied x^2) x is largest
    dies = (1 - gaps.tied * lowest**2) * lowest <= lambda_
    shrunk = 40.0 if dies else min(lambda_ * (end - t) / lowest, 250.0)  # of log d, which falls for ever at rest
    edges = begin[0] * np.exp(-np.linspace(0, shrunk, 2 + int(shrunk)))
    path = cut_path.solve(gaps.squares, lambda_, begin, np.r_[edges[1:], 0.0] if dies else edges[1:], t)
    path.d[-1, -1] *= not dies  # exactly 0 at the death, and from then on
    return path


def _weights(w0, d, u):
    """(|w0| - c)_+ / u with the signs of w0, where the cut c lies d below the largest."""
    out = np.abs(w0)
    largest = out.max()
    np.subtract(largest, out, out=out)
    np.subtract(d, out, out=out)
    np.maximum(out, 0.0, out=out)
    out /= u
    return np.copysign(out, w0, out=out)
