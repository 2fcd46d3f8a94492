"""Growth rate of a wave on the flat receptive field, for any odd pointwise law, by conditional Monte Carlo.

Given everything but its mean, a Gaussian vector z has exactly one mean at which the sum of f(z_i) vanishes, so
the delta function in the rate of `superposition.receptive.flat_field` becomes an average without any smoothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from superposition.receptive.ring import eigenvalues, square_root

if TYPE_CHECKING:
    from collections.abc import Callable

FEWEST = 0.05  # effective share of the vectors below which an average is refused; sound ones have .2 to .5


class FewVectors(ValueError):  # noqa: N818 - a name that reads as a sentence
    """An average with a tail so heavy that it is dominated by a few vectors.

    Examples
    --------
    >>> from superposition import receptive
    >>> try:
    ...     receptive.flat_growth(4, 1.2, 0.3, 3.0, samples=2000, kernel="wrapped")
    ... except receptive.FewVectors as refusal:
    ...     print("refused")
    refused
    """


class Law(NamedTuple):
    """A pointwise transform of z, its slope, and how to find the mean at which its sum vanishes.

    Bisection, ``halvings`` times, between minus and plus ``reach`` of the vectors without their mean (None: five
    standard deviations of the mean), then Newton.
    """

    f: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]
    reach: Callable[[np.ndarray], np.ndarray] | None
    halvings: int


def growth(C1: np.ndarray, S: np.ndarray, law: Law, frequency: int, samples: int, seed: int) -> tuple[float, float]:
    """Growth rate of a wave on the flat field, and its standard error; S: eigenvalues, summed over both labels."""
    n, lam = len(C1), eigenvalues(C1)
    chunks = _chunks(samples, np.random.default_rng(seed))
    parts = [_flat_averages(rng, n, C1, lam, law, frequency, size) for rng, size in chunks]
    crossing, crossing_gauss, size, size_gauss = (np.concatenate(part) for part in zip(*parts, strict=True))
    _refuse_few(crossing)
    b, c = _slope(crossing, crossing_gauss), _slope(size, size_gauss)
    delta = crossing - b * (crossing_gauss - lam[frequency] / np.sqrt(2 * np.pi * lam[0]))
    mean = size - c * (size_gauss - np.sqrt(2 * lam[0] / np.pi))
    ratio = delta.mean() / mean.mean()
    noise = (delta - ratio * mean).std() / mean.mean() / samples**0.5
    return float((2 * S[0] * ratio - S[frequency]) / 4), float(2 * S[0] * noise / 4)


def _refuse_few(crossing):
    """Refuse an average with a tail so heavy that it is dominated by a few vectors."""
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


def _chunks(samples, rng, size=20_000):
    for start in range(0, samples, size):
        yield rng, min(size, samples - start)
