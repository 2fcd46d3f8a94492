"""How fast an encoding sparsifies: the law with its constants, its limits, and the random end.

Simplified convention, one encoding without interference; m' is the number of weights left, R
the relative variance (variance over squared mean) of their sizes.
Source: Incidental Polysemanticity, section 2 and Appendix B. The constants are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erfcx, ndtr, ndtri

from superposition import ranges
from superposition.checked import checked
from superposition.incidental import ranges as own

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


LOG_S = np.linspace(-60, 60, 2401)  # nodes in ln s: the trapezoid of a smooth function that vanishes at both ends
CUTS = 400  # Gauss nodes in c
HEAD = 4000  # largest weights drawn one by one for the random end; the rest is its expectation


@checked(l1_norm=ranges.real(0), lambda_=own.strength)
def balanced_norm(l1_norm: ArrayLike, lambda_: float) -> np.ndarray:
    """|W|^2 on the balance 1 - |W|^2 = lambda ||W||_1 / |W|^2, the larger root; nan where there is none.

    Source: section 2.

    Examples
    --------
    >>> balanced_norm([0.0, 2.0, 9.0], 0.1).round(4)
    array([1.    , 0.7236,    nan])
    """
    pull = lambda_ * np.asarray(l1_norm, float)
    return np.where(pull <= 0.25, 0.5 + np.sqrt(np.maximum(0.25 - pull, 0)), np.nan)


def shapes_fit(l1_norm: ArrayLike, relative_variance: ArrayLike) -> None:
    """Refuse arrays of different shapes."""
    one, other = np.shape(l1_norm), np.shape(relative_variance)
    if one and other and one != other:
        raise ValueError(f"relative_variance has shape {other}; allowed: {one}, that of l1_norm")


@checked(shapes_fit, l1_norm=ranges.real(0), lambda_=own.strength, relative_variance=ranges.real(0))
def balance_error(l1_norm: ArrayLike, lambda_: float, relative_variance: ArrayLike) -> np.ndarray:
    """Relative error of the balance condition to first order: lambda ||W||_1 R / 2. Source: ours, for section 2.

    Examples
    --------
    >>> round(float(balance_error(10.0, 0.001, 0.6)), 6)
    0.003
    """
    # By how much 1 - S exceeds lambda ||W||_1 / S, relative to it: S = |W|^2 rises while the l1 norm falls, and lags
    # behind.
    return lambda_ * np.asarray(l1_norm, float) * np.asarray(relative_variance, float) / 2


@checked(w=own.rows("m"))
def relative_variance(w: ArrayLike) -> float:
    """Variance over squared mean of the sizes of the weights (m,) that are not zero. Source: section 2.

    Examples
    --------
    >>> relative_variance([1.0, -3.0, 0.0])
    0.25000000000000006
    """
    w = _sizes(w)
    w = w / w.max()
    return float(w.var() / w.mean() ** 2)


@dataclass(frozen=True)
class L1Decay:
    """Four forms of -d||W||_1 / dt: exact, by the balance, by the variance, and as printed."""

    exact: float
    balance: float
    variance: float
    printed: float


@checked(w=own.rows("m"), lambda_=own.strength)
def l1_decay(w: ArrayLike, lambda_: float) -> L1Decay:
    """The chain of Appendix B, link by link, for the weights (m,) of one encoding.

    Examples
    --------
    >>> round(l1_decay([0.8, -0.4], 0.1).exact, 6)
    np.float64(-0.04)
    """
    # ``exact`` = lambda m' - (1 - S) l1; ``balance`` = (lambda / S) (m' S - l1^2); ``variance`` = (lambda m'^2 / S)
    # Var; ``printed`` has the deviations without a square.
    size = _sizes(w)
    left, l1, square = len(size), size.sum(), (size**2).sum()
    front = lambda_ * left**2 / square
    deviation = size - l1 / left
    return L1Decay(
        exact=lambda_ * left - (1 - square) * l1,
        balance=lambda_ / square * (left * square - l1**2),
        variance=front * (deviation**2).mean(),
        printed=front * deviation.mean(),
    )


@dataclass(frozen=True)
class Continuum:
    """Infinitely many Gaussian weights: ``T`` = lambda t sqrt(m), ||W||_1 / sqrt(m), m' / m and R."""

    T: np.ndarray
    l1_norm: np.ndarray
    survivors: np.ndarray
    relative_variance: np.ndarray


@checked(x=ranges.real(0, 50))
def continuum(x: ArrayLike) -> Continuum:
    """The law for m to infinity and lambda sqrt(m) to 0 from Gaussian weights, at cuts x in standard deviations.

    A curve with x as its parameter. Source: ours, for section 2. Use `trajectory` for given weights.

    Examples
    --------
    >>> continuum([0.0, 1.0]).survivors.round(4)
    array([1.    , 0.3173])
    """
    # A curve with x as its parameter; the standard deviation of the initial weights drops out. Where the norm is 1,
    # lambda dt = dc / sqrt(Q(c)), with Q the sum of (|W_k(0)| - c)_+^2.
    from scipy.integrate import quad

    x = np.asarray(x, float)
    T = [quad(_slowness, 0, end, epsrel=1e-10, limit=200)[0] for end in np.ravel(x)]
    left, mean, square = _excess(x)
    density = 2 * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    norm = np.exp(-(x**2) / 4) * (2 / np.pi) ** 0.25 / np.sqrt(square) * mean  # the density itself may underflow
    return Continuum(np.reshape(T, x.shape), norm, density * left, square * left / mean**2 - 1)


def _excess(x):
    """P(|Z| > x), E (|Z| - x)_+ and E (|Z| - x)_+^2, each in units of the density of |Z| at x."""
    left = np.sqrt(np.pi / 2) * erfcx(x / np.sqrt(2))
    return left, 1 - x * left, (1 + x**2) * left - x


def _slowness(x):
    """DT / dx = 1 / sqrt(E (|Z| - x)_+^2)."""
    return np.exp(x**2 / 4) * (np.pi / 2) ** 0.25 / np.sqrt(_excess(x)[2])


@dataclass(frozen=True)
class TailLaw:
    """Limits of ||W||_1 lambda t, of m' (lambda t)^2 and of R."""

    l1_norm: float
    survivors: float
    relative_variance: float


@checked(xi=ranges.number(high=0.5, open_high=True))
def tail_law(xi: float) -> TailLaw:
    """The constants of the law for initial weights of tail index xi below 1/2: 0 for Gaussian ones.

    Source: ours, for section 2.

    Examples
    --------
    >>> tail_law(0.0)
    TailLaw(l1_norm=1.0, survivors=2.0, relative_variance=1.0)
    """
    # Excesses over a high cut follow a generalized Pareto law, whose relative variance is R.
    return TailLaw(1 - 2 * xi, (1 - 2 * xi) * (2 - 2 * xi), 1 / (1 - 2 * xi))


@dataclass(frozen=True)
class VarianceBounds:
    """Relative variance when m' = 1, 2, … m - 1 weights are left: at least ``low``, at most ``high``."""

    survivors: np.ndarray
    low: np.ndarray
    high: np.ndarray


@checked(w0=ranges.array("m"))
def relative_variance_bounds(w0: ArrayLike) -> VarianceBounds:
    """Bounds on the relative variance while m' weights are left (Appendix B and Figure 7).

    Nan where all sizes vanish: ``high`` at m' = 1, and both where they are equal.

    Examples
    --------
    >>> relative_variance_bounds([0.9, 0.5, 0.2]).low.round(4)
    array([0.  , 0.16])
    """
    # ``low`` translates the m' largest sizes until the next one is zero, ``high`` until the smallest of them is; nan
    # where all sizes vanish: ``high`` at m' = 1, and both where they are equal.
    gaps = np.abs(np.asarray(w0, float))
    gaps = np.sort(gaps.max() - gaps)  # below the largest; the order is kept by every translation
    left = np.arange(1, gaps.size)
    mean = np.cumsum(gaps)[:-1] / left
    variance = np.maximum(np.cumsum(gaps**2)[:-1] / left - mean**2, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return VarianceBounds(left, variance / (gaps[1:] - mean) ** 2, variance / (gaps[:-1] - mean) ** 2)


@checked(m=ranges.whole(1, 10**8))
def gaussian_percentiles(m: int) -> Float[np.ndarray, " m"]:
    """Sizes of m Gaussian weights that hit regular percentiles, decreasing (Figure 7, "an idealized version").

    Examples
    --------
    >>> gaussian_percentiles(3).round(4)
    array([1.383 , 0.6745, 0.2104])
    """
    return -ndtri((np.arange(m) + 0.5) / (2 * m))


@checked(w0=ranges.array("... m"))
def end_time(w0: ArrayLike) -> np.ndarray:
    """Lambda times the moment at which one of the weights (..., m) is left, for lambda to 0; infinite for a tie.

    Source: ours, for section 2. Use `mean_end_gaussian` for the mean over Gaussian weights.

    Examples
    --------
    >>> round(float(end_time([0.9, 0.5, 0.2])), 4)
    0.7652
    """
    # The sum over p >= 2 of the integrals of dc / sqrt(Q(c)) between the p-th and the next smaller size, each a
    # difference of two inverse hyperbolic sines.
    gaps = np.abs(np.asarray(w0, float))
    largest = gaps.max(axis=-1, keepdims=True)
    gaps = np.sort(largest - gaps)
    return _slow_times(gaps, np.concatenate([gaps[..., 2:], largest], axis=-1)).sum(axis=-1)


@checked(draws=ranges.whole(1, 10**7), seed=ranges.seed)
def random_end_times(draws: int, *, seed: int) -> Float[np.ndarray, " draws"]:
    """Random draws of lambda times the end, for weights with an exponential tail, m to infinity.

    Source: ours, for section 2. Use `mean_end` for their mean, `end_time` for given weights.

    Examples
    --------
    >>> random_end_times(3, seed=0).round(3)
    array([1.58 , 1.422, 1.513])
    """
    # The largest of many such weights have gaps E_k / k with independent exponential E_k (Renyi), so the law has no
    # parameter. Gaussian weights tend to it, slowly.
    rng, ends = np.random.default_rng(seed), []
    for size in [min(200, draws - first) for first in range(0, draws, 200)]:
        spacings = rng.exponential(size=(size, HEAD)) / np.arange(1, HEAD + 1)
        gaps = np.concatenate([np.zeros((size, 1)), np.cumsum(spacings, axis=1)], axis=1)
        ends.append(_slow_times(gaps[:, :-1], gaps[:, 2:]).sum(axis=1))
    return np.concatenate(ends) + np.sqrt(2 / HEAD)  # the expected rest: sum of p^(-3/2) / sqrt 2


def mean_end() -> float:
    """Mean of lambda t at the end for weights with an exponential tail, m to infinity.

    Source: ours, for section 2. Use `mean_end_gaussian` for finitely many Gaussian weights, `random_end_times` for
    draws.

    Examples
    --------
    >>> round(mean_end(), 4)
    1.7586
    """
    # The number p of weights above the cut is Poisson. Its mean mu falls through all values, at the rate dmu / mu, and
    # the integral of mu^(p - 1) e^-mu / p! is 1 / p.
    s = np.exp(LOG_S)
    one = np.sqrt(np.pi / (4 * s)) * erfcx(1 / np.sqrt(4 * s))  # E exp(-s y^2) of an exponential excess y
    small = np.minimum(s, 1e-6)  # where 1 - one would cancel
    log_left = np.where(s > small, np.log1p(-np.minimum(one, 1 - 1e-9)), np.log(2 * small - 12 * small**2))
    return _over_s(-log_left - one)


@checked(m=ranges.whole(2, 10**9))
def mean_end_gaussian(m: int) -> float:
    """Mean of lambda t at the end for m Gaussian weights.

    Source: ours, for section 2. Use `mean_end` for the limit of large m.

    Examples
    --------
    >>> round(mean_end_gaussian(1000), 4)
    1.8508
    """
    nodes, weights = np.polynomial.legendre.leggauss(CUTS)
    highest = np.sqrt(2 * np.log(m)) + 6
    cuts = (1 + nodes) * highest / 2
    return float(sum(w * highest / 2 * _at_cut(m, c) for c, w in zip(cuts, weights, strict=True)))


def _at_cut(m, c):
    """Mean of Q(c)^(-1/2) where at least two of m Gaussian weights exceed the cut c."""
    a = 0.5 + np.exp(LOG_S)
    above = np.exp(-(c**2) / 2) / np.sqrt(2 * np.pi) * np.sqrt(np.pi / a) * erfcx(c / np.sqrt(4 * a))
    below = 1 - 2 * ndtr(-c)
    few = m * above / below < 1e-3  # there the three terms cancel
    r = np.where(few, above / below, 0)
    series = below**m * m * (m - 1) / 2 * r**2 * (1 + (m - 2) * r / 3)
    return _over_s(np.where(few, series, (below + above) ** m - below**m - m * below ** (m - 1) * above))


def _over_s(values):
    """Integral of values s^(-1/2) ds / sqrt(pi)."""
    return float(np.sum(values * np.exp(LOG_S / 2)) * (LOG_S[1] - LOG_S[0]) / np.sqrt(np.pi))


def _sizes(w):
    """Sizes of the weights that are not zero; too small ones have no square."""
    size = np.abs(np.asarray(w, float))
    return size[size > 1e-100]


def _slow_times(gaps, until):
    """Lambda times how long p = 2, 3, … weights are left: gaps (..., m) from the largest, increasing."""
    p = np.arange(2, gaps.shape[-1] + 1)
    mean = np.cumsum(gaps, axis=-1)[..., 1:] / p
    square = np.cumsum(gaps**2, axis=-1)[..., 1:] - p * mean**2  # p times the variance
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt(p / square)
        end, begin = (x + np.sqrt(x**2 + 1) for x in (scale * (until - mean), scale * (gaps[..., 1:] - mean)))
        return np.where(square > 0, np.log(end / begin) / np.sqrt(p), np.inf)  # equal weights stay for good
