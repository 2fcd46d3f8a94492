"""When a flat receptive field gives way to a localized one: the critical gain of a single neuron.

Source: ours; the notes on localization say that the gain controls localization. With
yhat = ReLU(<w, x>) and data for which x and -x are equally likely, the loss is
w'(C0 + C1)w / 8 - E_1|<w, x>| / 4 + 1/4. Its flat stationary point grows a wave of frequency k at
the rate -S_k / 4 + S_0 E_1[delta(s) |x_k|^2] / (4 E_1|s|), with S = C0 + C1, s the flat mode of x
and x_k the wave in it. For Gaussian data this is negative for every k; at finite gain it need
not be.
"""

from __future__ import annotations

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.receptive.nlgp import nlgp_covariance, normalization
from superposition.receptive.ranges import (
    frequency_fits,
    kernel,
    length0,
    length1,
    one_gain,
    pixels,
    three_pixels,
    two_lengths,
    vectors,
)
from superposition.receptive.ring import eigenvalues, gaussian_covariance
from superposition.receptive.wave_growth import FewVectors, Law, growth

LARGEST = 3.0  # beyond, few vectors with a tiny slope carry the average
VALID = 0.3  # largest q to which the first order is trusted: measured 3 % to 7 % off in the gain at .2 to .3


@checked(two_lengths, n=pixels, xi1=length1, xi2=length0, kernel=kernel)
def critical_gain(n: int, xi1: float, xi2: float, kernel: str = "periodic") -> float:
    """Gain above which the flat receptive field of one neuron is unstable, to first order in q.

    The growth rate of frequency k is lam1_k (r_0 - r_k + q (1 + r_0) (lam1_0 / 3 + lam1_k) / n) / 4 + O(q^2) with r =
    lam0 / lam1 of the Gaussian process and q = 2 gain^2 / (1 + 2 gain^2); the first frequency to grow decides.

    Source: ours; the notes on localization say that the gain controls localization. Use `measured_critical_gain`
    instead on small rings.

    Returns
    -------
    float
        Infinite where xi1 <= xi2: the flat field is then unstable or neutral even at small gain, and the fields that
        replace it oscillate. NaN where q would have to be above 0.3, as on small rings: the first order does not hold
        there.

    Examples
    --------
    >>> print(f"{critical_gain(40, 2.0, 1.0):.4f}")
    0.1685
    """
    lam1 = eigenvalues(gaussian_covariance(n, xi1, kernel))
    lam0 = eigenvalues(gaussian_covariance(n, xi2, kernel))
    if xi1 <= xi2:
        return float("inf")
    there = lam1 > 1e-10 * lam1[0]  # frequencies that the data with label 1 do not have cannot grow
    there[0] = False
    if not there.any():
        return float("inf")
    ratio = lam0 / np.where(lam1 > 0, lam1, np.inf)
    q = (n * (ratio - ratio[0])[there] / ((1 + ratio[0]) * (lam1[0] / 3 + lam1[there]))).min()
    return float(np.sqrt(q / (2 * (1 - q)))) if q <= VALID else float("nan")


@checked(
    two_lengths, frequency_fits, n=three_pixels, xi1=length1, xi2=length0, gain=one_gain, frequency=ranges.whole(1),
    samples=vectors, seed=ranges.whole(0), kernel=kernel
)  # fmt: skip
def flat_growth(
    n: int, xi1: float, xi2: float, gain: float, frequency: int = 1, *, samples: int = 100_000, seed: int = 0, kernel:
    str = "periodic",
) -> tuple[float, float]:  # fmt: skip
    """Growth rate of a wave on the flat receptive field at any gain, by conditional Monte Carlo.

    Given everything but its mean, a Gaussian vector z has exactly one mean at which the sum of erf(gain z_i) vanishes,
    so the delta function in the rate becomes an average without any smoothing. Gaussian data, where rate and averages
    are known, serve as control variate.

    Source: ours; the notes on localization say that the gain controls localization.

    Parameters
    ----------
    frequency : int
        Frequency of the wave, from 1 to n // 2.
    samples : int
        Number of vectors, from 100 to ten million.
    seed : int
        Seed of the vectors; the same seed gives the same vectors at every gain.

    Returns
    -------
    rate : float
        In units of 1 / tau.
    se : float
        Its standard error.

    Raises
    ------
    FewVectors
        If few vectors dominate the average, as at large gain; more vectors help. It is a ValueError.

    Examples
    --------
    >>> rate, se = flat_growth(40, 2.0, 1.0, 0.1, samples=2000)
    >>> bool(rate < -4 * se)  # below the critical gain the flat field is stable
    True
    """
    S = eigenvalues(nlgp_covariance(n, xi1, gain, kernel) + nlgp_covariance(n, xi2, gain, kernel))
    return growth(gaussian_covariance(n, xi1, kernel), S, _squash(gain), frequency, samples, seed)


@checked(
    two_lengths, frequency_fits, n=three_pixels, xi1=length1, xi2=length0, frequency=ranges.whole(1),
    samples=vectors, seed=ranges.whole(0), kernel=kernel
)  # fmt: skip
def measured_critical_gain(
    n: int, xi1: float, xi2: float, frequency: int = 1, *, samples: int = 100_000, seed: int = 0, kernel: str =
    "periodic",
) -> tuple[float, float]:  # fmt: skip
    """Gain at which `flat_growth` changes sign.

    Source: ours; the notes on localization say that the gain controls localization. Use `critical_gain` instead for the
    formula of first order.

    Parameters
    ----------
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0, in pixels, xi1 > xi2 > 0.
    frequency : int
        Frequency of the wave, from 1 to n // 2.

    Returns
    -------
    gain : float
        To 0.1 %; infinite if the wave does not grow at gain 3 either, or, on small rings, at the largest gain below it
        at which `flat_growth` has an error.
    se : float
        Its standard error, from that of the rate and the slope of the rate.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or the wave already grows at gain 0.001.

    Examples
    --------
    >>> gain, se = measured_critical_gain(40, 2.0, 1.0, samples=2000)
    >>> bool(abs(gain - critical_gain(40, 2.0, 1.0)) < 4 * se + 0.02)
    True
    """
    from scipy.optimize import brentq

    def rate(log_gain):
        found = flat_growth(n, xi1, xi2, np.exp(log_gain), frequency, samples=samples, seed=seed, kernel=kernel)
        return found[0]

    low, high = np.log(1e-3), _highest(rate)
    if rate(low) >= 0:
        raise ValueError(f"xi1 = {float(xi1):g} is too small: the wave grows at every gain; allowed: xi1 above xi2")
    if rate(high) <= 0:
        return float("inf"), float("nan")
    log_gain: float = brentq(rate, low, high, xtol=1e-3)
    slope = (rate(log_gain + 0.05) - rate(log_gain - 0.05)) / 0.1
    gain = np.exp(log_gain)
    se = flat_growth(n, xi1, xi2, gain, frequency, samples=samples, seed=seed, kernel=kernel)[1]
    return float(gain), float(gain * se / slope)


def _highest(rate):
    """Logarithm of the largest gain, up to 3, at which the rate is not refused."""
    for gain in LARGEST * 0.8 ** np.arange(12):
        try:
            rate(np.log(gain))
        except FewVectors:
            continue
        return np.log(gain)
    raise FewVectors("samples are too few at any gain above 0.25; allowed: more of them")


def _squash(gain):
    from scipy.special import erf

    scale = normalization(gain)
    steep = 2 * gain / np.sqrt(np.pi) / scale
    halvings = max(3, int(np.log2(400 * gain)))  # until gain times the bracket is small
    return Law(
        lambda z: erf(gain * z) / scale,
        lambda z: steep * np.exp(-((gain * z) ** 2)),
        lambda rest: np.abs(rest).max(axis=1),
        halvings,
    )
