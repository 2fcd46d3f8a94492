"""Sparsification by an l1 term: loss, forces, and one encoding without interference, solved exactly.

The text uses two conventions. The **loss** convention follows the gradient of `loss`. The
**simplified** convention drops the constants 4, for one encoding without interference

    dW/dt = (1 - |W|^2) W - lambda sign(W).

`conventions` converts. Everything but `loss` and `gradient` is in the simplified one.
Source: Incidental Polysemanticity, section 2 and Appendix B.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import solve_ivp

from superposition import checks
from superposition.incidental.l1_loss import DEATH_LINE

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Float
    from numpy.typing import ArrayLike


RTOL, ATOL = 1e-12, 1e-300  # of the two numbers that carry a trajectory; both stay above zero
RTOL_STIFF = 1e-10  # of Radau, above MANY weights and when LSODA crawls, as it may where it sees no stiffness
MANY = 10**6  # above it rounding in the sums disturbs LSODA
PATIENCE = 200_000  # evaluations until then; one and a half times what it needs at 10^6 weights


@dataclass(frozen=True)
class Trajectory:
    """One encoding over time: one value of each field a time, and `weights` at any time up to the last.

    ``norm_squared`` is |W|^2, ``survivors`` the number m' of weights that are not zero,
    ``l1_norm`` the sum of |W_k|. ``single`` is the time from which one weight (or several
    exactly equal ones) is left, infinite if that is later than the last time.

    Examples
    --------
    >>> from superposition import incidental
    >>> path = incidental.trajectory([0.6, -0.5], 0.05, [10.0])
    >>> isinstance(path, incidental.Trajectory), path.norm_squared.round(4)
    (True, array([0.9278]))
    """

    times: np.ndarray
    norm_squared: np.ndarray
    survivors: np.ndarray
    l1_norm: np.ndarray
    single: float
    _w0: np.ndarray = field(repr=False)
    _path: Callable = field(repr=False)

    def weights(self, t: float) -> Float[np.ndarray, " m"]:
        """All weights at one time.

        Parameters
        ----------
        t : float
            From 0 to the last of ``times``.

        Returns
        -------
        numpy.ndarray, shape (m,)

        Raises
        ------
        ValueError
            If `t` is outside its range.
        """
        t = checks.number("t", t, 0, self.times.max())
        return _weights(self._w0, *self._path(t))


def trajectory(w0: ArrayLike, lambda_: float, times: ArrayLike) -> Trajectory:
    """Exact evolution of one encoding without interference.

    Parameters
    ----------
    w0 : array_like, shape (m,)
        Weights at t = 0, finite, at least one.
    lambda_ : float
        Strength of the l1 term in the simplified convention, above 0 and up to 1e6. Above 2 / (3 sqrt 3) even
        a single weight dies, which gives a warning.
    times : array_like, shape (k,)
        Times in the simplified convention, 0 or more, at least one, in any order.

    Returns
    -------
    Trajectory

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    All surviving |W_k| move by one affine map, |W_k(t)| = (|W_k(0)| - c)_+ / u. With
    d = max |W(0)| - c, the distance of the cut below the largest weight, two numbers are left:
    d' = -lambda u and u' = Q(d) / u - u, where Q(d) = sum_k (d - g_k)_+^2 over the gaps
    g_k = max |W(0)| - |W_k(0)|. Sorted gaps and their prefix sums give Q in O(log m) once
    O(m log m) is paid. In this form nothing cancels. When only one weight is left its size x
    follows x' = (1 - x^2) x - lambda. Errors are below 1e-8 up to 10^6 weights and some 1e-8
    beyond, where rounding in the sums shows. Needs five arrays of length m besides the input.
    Source: Incidental Polysemanticity, Appendix B (the affine map), made into a solver.

    Examples
    --------
    >>> from superposition import incidental
    >>> path = incidental.trajectory([0.6, -0.5, 0.1], 0.05, [0.0, 2.0, 40.0])
    >>> path.survivors
    array([3, 3, 1])
    >>> path.weights(2.0).round(4)
    array([ 0.7422, -0.5994,  0.028 ])
    """
    w0 = checks.real("w0", w0, open_low=True, open_high=True)
    if w0.ndim != 1 or not w0.size:
        raise ValueError(f"w0 has shape {w0.shape}; allowed: (m,) with at least one weight")
    lambda_ = checks.number("lambda_", lambda_, 0, 1e6, open_low=True)
    times = np.atleast_1d(checks.real("times", times, 0, open_high=True))
    times = np.where(times < 1e-200, 0.0, times)  # the solver has no steps that small
    if times.ndim != 1 or not times.size:
        raise ValueError(f"times of shape {times.shape} are not allowed; allowed: at least one")
    if lambda_ > DEATH_LINE:
        warnings.warn(
            f"lambda_ = {lambda_:g} is above 2 / (3 sqrt 3) = {DEATH_LINE:.4f}: even a single weight dies", stacklevel=2
        )
    gaps = _Gaps(w0)
    path, single = _solve(gaps, lambda_, times.max())
    values = np.array([gaps.describe(*path(t)) for t in times])
    return Trajectory(times, values[:, 0], values[:, 1].astype(np.int64), values[:, 2], single, w0, path)


class _Gaps:
    """Sorted distances of all weights below the largest, and their prefix sums."""

    def __init__(self, w0):
        self.sorted = np.abs(w0)
        self.largest = float(self.sorted.max())
        np.subtract(self.largest, self.sorted, out=self.sorted)
        self.sorted.sort()
        self.first = np.cumsum(self.sorted)
        self.second = np.square(self.sorted)
        np.cumsum(self.second, out=self.second)
        self.tied = int(self.sorted.searchsorted(0.0, side="right"))

    def sums(self, d: float) -> tuple[int, float, float]:
        """Number, sum and sum of squares of what is left of the weights when the cut is d below the largest."""
        p = self.sorted.searchsorted(d).item()
        if p == 0:
            return 0, 0.0, 0.0
        first, second = self.first.item(p - 1), self.second.item(p - 1)  # floats are faster than array scalars
        return p, p * d - first, (p * d - 2 * first) * d + second

    def describe(self, d: float, u: float) -> tuple[float, int, float]:
        """|W|^2, number and l1 norm of the survivors."""
        p, first, second = self.sums(d)
        return second / u**2, p, first / u


def _solve(gaps, lambda_, end):
    """The path t -> (d, u) and the time from which only the largest weight is left."""
    several = gaps.tied < len(gaps.sorted) and gaps.sorted[gaps.tied] < gaps.largest
    if not several:
        return _single(gaps.largest, gaps, gaps.largest, lambda_, 0.0, end), 0.0
    last = float(gaps.sorted[gaps.tied])  # the cut at which all others are gone

    def gone(t, state):
        return state[0] - last

    gone.terminal = True  # pyrefly: ignore[missing-attribute]: solve_ivp looks for it
    many = _integrate(gaps, lambda_, end, gone)
    if not many.t_events[0].size:
        return many.sol, np.inf
    single = float(many.t_events[0][0])
    after = _single(last / many.sol(single)[1], gaps, last, lambda_, single, end)
    return lambda t: many.sol(t) if t < single else after(t), single


class _CrawlError(Exception):
    """LSODA needs more evaluations than it should."""


def _integrate(gaps, lambda_, end, gone):
    """The two numbers (d, u) from the start to the end, or until the event."""
    calls = itertools.count()

    def move(t, state):
        d, u = state.tolist()
        return -lambda_ * u, gaps.sums(d)[2] / u - u

    def impatient(t, state):
        if next(calls) == PATIENCE:
            raise _CrawlError
        return move(t, state)

    def slope(t, state):
        d, u = state.tolist()
        _, first, second = gaps.sums(d)
        return [[0.0, -lambda_], [2 * first / u, -second / u**2 - 1]]

    ask = {"dense_output": True, "events": gone, "atol": ATOL}
    begin = (0.0, end), (gaps.largest, 1.0)
    if len(gaps.sorted) <= MANY:
        with contextlib.suppress(_CrawlError):
            return solve_ivp(impatient, *begin, "LSODA", rtol=RTOL, **ask)
    return solve_ivp(move, *begin, "Radau", rtol=RTOL_STIFF, jac=slope, **ask)


def _single(size, gaps, cut, lambda_, begin, end):
    """The path once only the largest weights are left, all of one size: any cut above the others, u = cut / size."""

    def move(t, x):
        return (1 - gaps.tied * x * x) * x - lambda_ if x[0] > 0 else [-lambda_]

    rest = solve_ivp(move, (begin, max(begin, end)), [size], "Radau", dense_output=True, rtol=1e-10, atol=1e-14)

    def path(t):
        x = float(rest.sol(t)[0]) if t > begin else size
        return (cut, cut / x) if x > 0 else (0.0, 1.0)

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
