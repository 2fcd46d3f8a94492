"""When a flat receptive field gives way to a localized one: the critical gain of a single neuron.

Source: completes the notes on localization, which say that the gain controls localization. With
yhat = ReLU(<w, x>) and data that look the same as x and -x, the loss is
w'(C0 + C1)w / 8 - E_1|<w, x>| / 4 + 1/4. Its flat stationary point grows a wave of frequency k at
the rate -S_k / 4 + S_0 E_1[delta(s) |x_k|^2] / (4 E_1|s|), with S = C0 + C1, s the flat mode of x
and x_k the wave in it. For Gaussian data this is negative for every k; at finite gain it need
not be.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermeder, hermeval

from superposition import checks
from superposition.nlgp import nlgp_covariance, normalization
from superposition.ring import eigenvalues, gaussian_covariance, square_root

LARGEST = 3.0  # beyond, few vectors with a tiny slope carry the average
VALID = 0.3  # largest q to which the first order is trusted: measured 3 % to 7 % off in the gain at .2 to .3
FEWEST = 0.05  # effective share of the vectors below which an average is refused; sound ones have .2 to .5
LARGEST_RATIO = 0.05  # of a Hermite coefficient to the first; beyond, f need not rise where the data are


def critical_gain(n, xi1, xi2, kernel="periodic"):
    """Gain above which the flat receptive field of one neuron is unstable, to first order in q.

    The growth rate of frequency k is
    lam1_k (r_0 - r_k + q (1 + r_0) (lam1_0 / 3 + lam1_k) / n) / 4 + O(q^2) with r = lam0 / lam1 of
    the Gaussian process and q = 2 gain^2 / (1 + 2 gain^2); the first frequency to grow decides.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0, in pixels, above 0.
    kernel : {"periodic", "wrapped"}
        See `superposition.ring.gaussian_covariance`.

    Returns
    -------
    float
        The critical gain. Infinite where xi1 <= xi2: the flat field is then unstable or neutral
        already at small gain, and what replaces it oscillates. NaN where q would have to be above
        0.3, as on small rings: the first order says nothing there, `measured_critical_gain` may.

    Raises
    ------
    superposition.ring.NotACovariance
        If the kernel is no covariance.
    ValueError
        If an argument is out of range.
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


def flat_growth(n, xi1, xi2, gain, frequency=1, *, samples=100_000, seed=0, kernel="periodic"):
    """Growth rate of a wave on the flat receptive field at any gain, by conditional Monte Carlo.

    Given everything but its mean, a Gaussian vector z has exactly one mean at which the sum of
    erf(gain z_i) vanishes, so the delta function in the rate becomes an average without any
    smoothing. Gaussian data, where rate and averages are known, serve as control variate.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0, in pixels, above 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    frequency : int
        Frequency of the wave, from 1 to n // 2.
    samples : int
        Number of vectors, at least 100.
    seed : int
        Seed of the vectors; the same seed gives the same vectors at every gain.
    kernel : {"periodic", "wrapped"}
        See `superposition.ring.gaussian_covariance`.

    Returns
    -------
    rate : float
        In units of 1 / tau.
    se : float
        Its standard error.

    Raises
    ------
    superposition.ring.NotACovariance
        If the kernel is no covariance.
    FewVectors
        If few vectors carry the average, as on small rings at large gain; it is a ValueError.
    ValueError
        If an argument is out of range.
    """
    n = checks.whole("n", n, 3)
    S = eigenvalues(nlgp_covariance(n, xi1, gain, kernel) + nlgp_covariance(n, xi2, gain, kernel))
    return _growth(gaussian_covariance(n, xi1, kernel), S, _squash(gain), frequency, samples, seed)


def hermite_growth(n, xi1, xi2, ratios, frequency=1, *, samples=100_000, seed=0):
    """`flat_growth` for x = He_1(z) + sum_m ratios[m] He_m(z), divided by its standard deviation.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0, in pixels, above 0.
    ratios : dict from int to float
        For odd orders of 3 or more the Hermite coefficient over the first, from -0.05 to 0.05.
    frequency : int
        Frequency of the wave, from 1 to n // 2.
    samples : int
        Number of vectors, at least 100.
    seed : int
        Seed of the vectors.

    Returns
    -------
    rate : float
        In units of 1 / tau.
    se : float
        Its standard error.

    Raises
    ------
    superposition.ring.NotACovariance
        If a length gives no covariance.
    FewVectors
        If few vectors carry the average; it is a ValueError.
    ValueError
        If an argument is out of range.
    """
    orders, weights = _hermite(ratios)
    C1, C0 = (gaussian_covariance(n, xi) for xi in (xi1, xi2))
    powers = [m for m in orders if weights[m]]
    scale = np.sqrt(sum(_factorial(m) * weights[m] ** 2 for m in powers))
    S = sum(_factorial(m) * (weights[m] / scale) ** 2 * (C1**m + C0**m) for m in powers)
    slopes = hermeder(weights / scale)
    law = _Law(lambda z: hermeval(z, weights / scale), lambda z: hermeval(z, slopes), None, 4)
    return _growth(C1, eigenvalues(S), law, frequency, samples, seed)


def hermite_rates(n, xi1, xi2, ratios):
    """Growth rates of waves on the flat field, to first order in every odd Hermite coefficient.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0, in pixels, above 0.
    ratios : dict from int to float
        As in `hermite_growth`; {3: -q / 6} is erf.

    Returns
    -------
    numpy.ndarray, shape (n // 2,)
        Rate of frequency 1, 2, ...: with a_m = (-1)^((m-1)/2) (m-2)!! ratios[m],
        lam1_k {r_0 - r_k + (1 + r_0) sum_m a_m (m - 1) (lam1_0^((m-3)/2) / n^((m-1)/2)) (lam1_0 + m lam1_k)} / 4.

    Raises
    ------
    superposition.ring.NotACovariance
        If a length gives no covariance.
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> bool(hermite_rates(40, 2, 1, {3: -0.01})[0] > hermite_rates(40, 2, 1, {3: -0.01, 5: -0.002})[0])
    True
    """
    n = checks.whole("n", n, 3)
    orders, weights = _hermite(ratios)
    lam1, lam0 = (eigenvalues(gaussian_covariance(n, xi)) for xi in (xi1, xi2))
    r0, push = lam0[0] / lam1[0], np.zeros(len(lam1))
    for m in orders[1:]:
        sign = (-1) ** ((m - 1) // 2) * np.prod(np.arange(m - 2, 0, -2.0))
        size = lam1[0] ** ((m - 3) / 2) / n ** ((m - 1) / 2)
        push += sign * weights[m] * (m - 1) * size * (lam1[0] + m * lam1)
    return ((lam1 * r0 - lam0 + (1 + r0) * lam1 * push) / 4)[1:]


def measured_critical_gain(n, xi1, xi2, frequency=1, *, samples=100_000, seed=0, kernel="periodic"):
    """Gain at which `flat_growth` changes sign.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0, in pixels, xi1 > xi2 > 0.
    frequency : int
        Frequency of the wave, from 1 to n // 2.
    samples : int
        Number of vectors, at least 100.
    seed : int
        Seed of the vectors.
    kernel : {"periodic", "wrapped"}
        See `superposition.ring.gaussian_covariance`.

    Returns
    -------
    gain : float
        To 0.1 %; infinite if the wave does not grow at gain 3 either, or, on small rings, at the largest gain
        below it at which `flat_growth` has an error.
    se : float
        Its standard error, from that of the rate and the slope of the rate.

    Raises
    ------
    superposition.ring.NotACovariance
        If the kernel is no covariance.
    ValueError
        If an argument is out of range, or the wave already grows at gain 0.001.
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
    log_gain = brentq(rate, low, high, xtol=1e-3)
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


def _chunks(samples, rng, size=20_000):
    for start in range(0, samples, size):
        yield rng, min(size, samples - start)


class FewVectors(ValueError):  # noqa: N818 - a name that reads as a sentence
    """An average with so heavy a tail that a few vectors make it up."""


class _Law(NamedTuple):
    """A pointwise transform of z, its slope, and how to find the mean at which its sum vanishes.

    Bisection, ``halvings`` times, between minus and plus ``reach`` of the vectors without their mean (None: five
    standard deviations of the mean), then Newton.
    """

    f: Callable
    slope: Callable
    reach: Callable | None
    halvings: int


def _squash(gain):
    from scipy.special import erf

    scale = normalization(gain)
    steep = 2 * gain / np.sqrt(np.pi) / scale
    halvings = max(3, int(np.log2(400 * gain)))  # until gain times the bracket is small
    return _Law(
        lambda z: erf(gain * z) / scale,
        lambda z: steep * np.exp(-((gain * z) ** 2)),
        lambda rest: np.abs(rest).max(axis=1),
        halvings,
    )


def _hermite(ratios):
    """Odd orders from 1 up, and the coefficients of the series."""
    for m, ratio in ratios.items():
        if checks.whole("ratios", m, 3) % 2 == 0:
            raise ValueError(f"ratios has the order {m}; allowed: odd orders from 3")
        checks.real(f"ratios[{m}]", ratio, -LARGEST_RATIO, LARGEST_RATIO)
    weights = np.zeros(max(ratios, default=1) + 1)
    weights[1] = 1
    weights[list(ratios)] = list(ratios.values())
    return range(1, len(weights), 2), weights


def _factorial(m):
    return np.prod(np.arange(1.0, m + 1))


def _growth(C1, S, law, frequency, samples, seed):
    """Rate and standard error, from the correlations of z with label 1 and the eigenvalues of both labels' sum."""
    n, lam = len(C1), eigenvalues(C1)
    frequency = checks.whole("frequency", frequency, 1, n // 2)
    samples = checks.whole("samples", samples, 100)
    parts = [
        _flat_averages(rng, n, C1, lam, law, frequency, size)
        for rng, size in _chunks(samples, np.random.default_rng(seed))
    ]
    crossing, crossing_gauss, size, size_gauss = (np.concatenate(part) for part in zip(*parts, strict=True))
    _refuse_few(crossing)
    b, c = _slope(crossing, crossing_gauss), _slope(size, size_gauss)
    delta = crossing - b * (crossing_gauss - lam[frequency] / np.sqrt(2 * np.pi * lam[0]))
    mean = size - c * (size_gauss - np.sqrt(2 * lam[0] / np.pi))
    ratio = delta.mean() / mean.mean()
    noise = (delta - ratio * mean).std() / mean.mean() / samples**0.5
    return float((2 * S[0] * ratio - S[frequency]) / 4), float(2 * S[0] * noise / 4)


def _refuse_few(crossing):
    """Refuse an average over so heavy a tail that few vectors make it up."""
    effective = crossing.sum() ** 2 / np.sum(crossing**2)
    if not effective >= FEWEST * len(crossing):
        raise FewVectors(
            f"samples = {len(crossing)} count as {effective:.0f}: few vectors carry the average; "
            "allowed: a smaller gain, or a larger ring"
        )


def _flat_averages(rng, n, C1, lam, law, frequency, samples):
    """Samples of delta(s) |x_k|^2 and |s| for this law and for z itself, on the same vectors."""
    z = rng.standard_normal((samples, n)) @ square_root(C1)
    spread = np.sqrt(lam[0] / n)  # of the mean of z
    size = np.abs(law.f(z).sum(axis=1)) / np.sqrt(n)
    size_gauss = np.abs(z.sum(axis=1)) / np.sqrt(n)
    rest = z - z.mean(axis=1, keepdims=True)
    mean = _zero_of_sum(law, rest, np.full(samples, 5 * spread) if law.reach is None else law.reach(rest))
    at = rest + mean[:, None]
    slope = law.slope(at).sum(axis=1) / np.sqrt(n)
    density = np.exp(-((mean / spread) ** 2) / 2) / (np.sqrt(2 * np.pi) * spread)
    crossing = density / np.abs(slope) * _energy(law.f(at), frequency)
    crossing_gauss = _energy(rest, frequency) / (np.sqrt(2 * np.pi) * spread * np.sqrt(n))
    return crossing, crossing_gauss, size, size_gauss


def _energy(x, frequency):
    """Energy of cosine and sine of one frequency, per mode, so that its mean is the eigenvalue."""
    return np.abs(np.fft.rfft(x, axis=1, norm="ortho")[:, frequency]) ** 2


def _zero_of_sum(law, rest, reach):
    """For each row the m between -reach and reach at which sum_i f(rest_i + m) = 0: bisection, then Newton."""
    low, high = -reach, reach.copy()
    for _ in range(law.halvings):
        middle = (low + high) / 2
        above = law.f(rest + middle[:, None]).sum(axis=1) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    middle = (low + high) / 2
    for _ in range(5):
        at = rest + middle[:, None]
        middle = np.clip(middle - law.f(at).sum(axis=1) / law.slope(at).sum(axis=1), low, high)
    return middle


def _slope(values, control):
    covariance = np.cov(values, control)
    return covariance[0, 1] / covariance[1, 1]
