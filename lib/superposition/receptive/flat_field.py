"""When a flat receptive field gives way to a localized one: the critical gain of a single neuron.

Source: completes the notes on localization, which say that the gain controls localization. With
yhat = ReLU(<w, x>) and data that look the same as x and -x, the loss is
w'(C0 + C1)w / 8 - E_1|<w, x>| / 4 + 1/4. Its flat stationary point grows a wave of frequency k at
the rate -S_k / 4 + S_0 E_1[delta(s) |x_k|^2] / (4 E_1|s|), with S = C0 + C1, s the flat mode of x
and x_k the wave in it. For Gaussian data this is negative for every k; at finite gain it need
not be.
"""

from __future__ import annotations

import numpy as np

from superposition import checks
from superposition.receptive.nlgp import nlgp_covariance, normalization
from superposition.receptive.ring import eigenvalues, gaussian_covariance, square_root

LARGEST = 3.0  # beyond, few vectors with a tiny slope carry the average


def critical_gain(n: int, xi1: float, xi2: float, kernel: str = "periodic") -> float:
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
        See `superposition.receptive.ring.gaussian_covariance`.

    Returns
    -------
    float
        The critical gain. Infinite where xi1 <= xi2 (the flat field is then unstable or neutral
        already at small gain, and what replaces it oscillates), and where q would have to reach
        1, so that by this formula no gain localizes.

    Raises
    ------
    superposition.receptive.ring.NotACovariance
        If the kernel is no covariance.
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from superposition import receptive
    >>> print(f"{receptive.critical_gain(40, 2.0, 1.0):.4f}")
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
    q = n * (ratio - ratio[0])[there] / ((1 + ratio[0]) * (lam1[0] / 3 + lam1[there]))
    q = q.min()
    return float(np.sqrt(q / (2 * (1 - q)))) if q < 1 else float("inf")


def flat_growth(
    n: int, xi1: float, xi2: float, gain: float, frequency: int = 1, *, samples: int = 100_000, seed: int = 0, kernel:
    str = "periodic",
) -> tuple[float, float]:  # fmt: skip
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
        See `superposition.receptive.ring.gaussian_covariance`.

    Returns
    -------
    rate : float
        In units of 1 / tau.
    se : float
        Its standard error.

    Raises
    ------
    superposition.receptive.ring.NotACovariance
        If the kernel is no covariance.
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from superposition import receptive
    >>> rate, se = receptive.flat_growth(40, 2.0, 1.0, 0.1, samples=2000)
    >>> bool(rate < -4 * se)  # below the critical gain the flat field is stable
    True
    """
    n = checks.whole("n", n, 3)
    frequency = checks.whole("frequency", frequency, 1, n // 2)
    samples = checks.whole("samples", samples, 100)
    C1 = gaussian_covariance(n, xi1, kernel)
    S = eigenvalues(nlgp_covariance(n, xi1, gain, kernel) + nlgp_covariance(n, xi2, gain, kernel))
    lam = eigenvalues(C1)
    parts = [
        _flat_averages(rng, n, C1, lam, gain, frequency, size)
        for rng, size in _chunks(samples, np.random.default_rng(seed))
    ]
    crossing, crossing_gauss, size, size_gauss = (np.concatenate(part) for part in zip(*parts, strict=True))
    b = _slope(crossing, crossing_gauss)
    c = _slope(size, size_gauss)
    delta = crossing - b * (crossing_gauss - lam[frequency] / np.sqrt(2 * np.pi * lam[0]))
    mean = size - c * (size_gauss - np.sqrt(2 * lam[0] / np.pi))
    ratio = delta.mean() / mean.mean()
    noise = (delta - ratio * mean).std() / mean.mean() / samples**0.5
    return float((2 * S[0] * ratio - S[frequency]) / 4), float(2 * S[0] * noise / 4)


def measured_critical_gain(
    n: int, xi1: float, xi2: float, frequency: int = 1, *, samples: int = 100_000, seed: int = 0, kernel: str =
    "periodic",
) -> tuple[float, float]:  # fmt: skip
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
        See `superposition.receptive.ring.gaussian_covariance`.

    Returns
    -------
    gain : float
        To 0.1 %; infinite if the wave does not grow at gain 3 either.
    se : float
        Its standard error, from that of the rate and the slope of the rate.

    Raises
    ------
    superposition.receptive.ring.NotACovariance
        If the kernel is no covariance.
    ValueError
        If an argument is out of range, or the wave already grows at gain 0.001.

    Examples
    --------
    >>> from superposition import receptive
    >>> gain, se = receptive.measured_critical_gain(40, 2.0, 1.0, samples=2000)
    >>> bool(abs(gain - receptive.critical_gain(40, 2.0, 1.0)) < 4 * se + 0.02)
    True
    """
    from scipy.optimize import brentq

    def rate(log_gain):
        found = flat_growth(n, xi1, xi2, np.exp(log_gain), frequency, samples=samples, seed=seed, kernel=kernel)
        return found[0]

    low, high = np.log(1e-3), np.log(LARGEST)
    if rate(low) >= 0:
        raise ValueError(f"xi1 = {float(xi1):g} is too small: the wave grows at every gain; allowed: xi1 above xi2")
    if rate(high) <= 0:
        return float("inf"), float("nan")
    log_gain = brentq(rate, low, high, xtol=1e-3)
    slope = (rate(log_gain + 0.05) - rate(log_gain - 0.05)) / 0.1
    gain = np.exp(log_gain)
    se = flat_growth(n, xi1, xi2, gain, frequency, samples=samples, seed=seed, kernel=kernel)[1]
    return float(gain), float(gain * se / slope)


def _chunks(samples, rng, size=20_000):
    for start in range(0, samples, size):
        yield rng, min(size, samples - start)


def _flat_averages(rng, n, C1, lam, gain, frequency, samples):
    """Samples of delta(s) |x_k|^2 and |s| at this gain and in the Gaussian limit, on the same vectors."""
    from scipy.special import erf

    scale = normalization(gain)
    z = rng.standard_normal((samples, n)) @ square_root(C1)
    spread = np.sqrt(lam[0] / n)  # of the mean of z
    size = np.abs(erf(gain * z).sum(axis=1)) / np.sqrt(n) / scale
    size_gauss = np.abs(z.sum(axis=1)) / np.sqrt(n)
    rest = z - z.mean(axis=1, keepdims=True)
    mean = _zero_of_sum(gain, rest)
    x = erf(gain * (rest + mean[:, None])) / scale
    slope = (np.exp(-((gain * (rest + mean[:, None])) ** 2)).sum(axis=1)) * 2 * gain / np.sqrt(np.pi * n) / scale
    density = np.exp(-((mean / spread) ** 2) / 2) / (np.sqrt(2 * np.pi) * spread)
    crossing = density / slope * _energy(x, frequency)
    crossing_gauss = _energy(rest, frequency) / (np.sqrt(2 * np.pi) * spread * np.sqrt(n))
    return crossing, crossing_gauss, size, size_gauss


def _energy(x, frequency):
    """Energy of cosine and sine of one frequency, per mode, so that its mean is the eigenvalue."""
    return np.abs(np.fft.rfft(x, axis=1, norm="ortho")[:, frequency]) ** 2


def _zero_of_sum(gain, rest):
    """For each row the m at which sum_i erf(gain (rest_i + m)) = 0: bisection, then Newton."""
    from scipy.special import erf

    reach = np.abs(rest).max(axis=1)
    low, high = -reach, reach.copy()
    for _ in range(max(3, int(np.log2(40 * gain * reach.max())))):  # until gain times the bracket is small
        middle = (low + high) / 2
        above = erf(gain * (rest + middle[:, None])).sum(axis=1) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    middle = (low + high) / 2
    for _ in range(5):
        y = gain * (rest + middle[:, None])
        slope = 2 * gain / np.sqrt(np.pi) * np.exp(-(y**2)).sum(axis=1)
        middle = np.clip(middle - erf(y).sum(axis=1) / slope, low, high)
    return middle


def _slope(values, control):
    covariance = np.cov(values, control)
    return covariance[0, 1] / covariance[1, 1]
