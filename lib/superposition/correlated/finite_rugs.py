"""A rug with randomly placed groups and finitely many features: its noise grows where whole groups are on.

Given which features are on, the interference of an output is Gaussian of variance Q = (1/r - 1)/n sum over the others
of (x_j - p/2)^2. Q has one distribution where the output's own feature is on and another where it is off; the loss is
the mean of the rug's loss over both. Source: ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from superposition import features, ranges
from superposition.checked import checked
from superposition.correlated.ranges import drawn, group, law, partner_probability, some_dimensions, whole_groups
from superposition.features import Estimate
from superposition.moments import moment, ramp_moment
from superposition.rug import meanfield
from superposition.rug.rugs import Rug

POINTS = 2**13  # of the grid of sums of squares
SMOOTH = 3  # points, standard deviation
LEVELS = 200  # quantiles of Q at which the loss is taken


class FiniteRug(NamedTuple):
    """Loss per feature of a rug of n features in groups, at its best ``gain`` and ``bias``."""

    loss: float
    gain: float
    bias: float


@checked(
    law, whole_groups, n=ranges.whole(4), p=ranges.number(1e-3, 1), r=ranges.number(0.01, 1, open_high=True), G=group,
    s=partner_probability,
)  # fmt: skip
def rug_loss(n: int, p: float, r: float, G: int, s: float) -> FiniteRug:
    """Loss of a rug of n features whose groups have random places, at its best gain and bias.

    Parameters
    ----------
    n : int
        Number of features, a multiple of G, from 2 G to 10^6.
    p : float
        Probability that a feature is on, 1e-3 to 1.
    r : float
        Compression ratio, 0.01 to below 1.
    G : int
        Features of a group, 2 to 32.
    s : float
        Probability that a given partner of a feature that is on is on too, 0 to 1; if s is below p, G p is at most 1.

    Raises
    ------
    ValueError
        If an argument is outside of its range.
    FloatingPointError
        If the search for gain and bias fails.

    Notes
    -----
    Source: ours. Given which features are on, the interference is taken as Gaussian: accurate to 3 % from about 1000
    features. Use `grouped_rug` instead for the best code of many groups.

    Examples
    --------
    >>> round(rug_loss(1024, 0.05, 0.25, 4, 0.5).loss, 5)
    0.00598
    """
    on, off = (np.sqrt((1 / r - 1) / n * q) for q in _squares(n, p, G, s))

    def loss(at):
        return p * _heard(at[0], at[1], on).mean() + (1 - p) * moment(2, at[1], at[0] * off).mean()

    start = meanfield.optimum(p, r)
    found = optimize.minimize(
        loss, [float(start.a), float(start.b)], method="Nelder-Mead", options={"xatol": 1e-5, "fatol": 1e-10}
    )
    if not found.success:
        raise FloatingPointError(f"the best gain and bias were not found: {found.message}")
    return FiniteRug(float(found.fun), *map(float, found.x))


@checked(
    law, whole_groups, some_dimensions, drawn, n=ranges.whole(4), p=ranges.one_probability, r=ranges.one_ratio, G=group,
    s=partner_probability, gain=ranges.number(), bias=ranges.number(), samples=ranges.whole(2), seed=ranges.whole(0),
)  # fmt: skip
def simulated_rug_loss(
    n: int, p: float, r: float, G: int, s: float, gain: float, bias: float, *, samples: int, seed: int
) -> Estimate:
    """Loss of a rug of n features whose groups have random places, by Monte Carlo.

    Parameters
    ----------
    gain, bias : float
        Of every output, as `rug_loss` returns them; the mean of the interference is subtracted.

    Returns
    -------
    superposition.features.Estimate
        Mean and standard error.

    Examples
    --------
    >>> best = rug_loss(320, 0.05, 0.25, 4, 0.5)
    >>> found = simulated_rug_loss(320, 0.05, 0.25, 4, 0.5, best.gain, best.bias, samples=500, seed=0)
    >>> bool(abs(found.mean / best.loss - 1) < 0.1)
    True
    """
    rng = np.random.default_rng(seed)
    rug, places = Rug(n, round(r * n), seed=int(rng.integers(2**31))), rng.permutation(n)
    x = features.grouped(n // G, G, p, s, samples, seed=rng)[:, places]
    y = np.maximum(gain * (rug.apply(x - p / 2) + p / 2) + bias, 0)
    return Estimate.of(np.mean((y - x) ** 2, axis=1))


def _squares(n: int, p: float, G: int, s: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Quantiles of the sum of (x_j - p/2)^2 over the others, given that the own feature is on, or off."""
    top, t = n * (1 - p / 2) ** 2, np.arange(POINTS // 2 + 1)
    top = min(top, n * features.variance(p) + 12 * np.sqrt(n * G * p) + 4 * G)
    loud, quiet = _square_wave(t / top, p), np.exp(-2j * np.pi * t / top * (p / 2) ** 2)
    on, off = _partners(loud, quiet, p, G, s)
    others = (p * on * loud + (1 - p) * off * quiet) ** (n // G - 1)
    grid = top * np.arange(POINTS) / POINTS
    return _quantiles(others * on, grid), _quantiles(others * off, grid)


def _square_wave(frequency, p):
    """Mean of exp(-2 pi i f (u - p/2)^2), u uniform, at frequencies f: Fresnel's integrals."""
    scale = 2 * np.sqrt(np.maximum(frequency, 1e-12))  # at zero the mean is 1, from here on to the last bit
    (s0, c0), (s1, c1) = special.fresnel(-p / 2 * scale), special.fresnel((1 - p / 2) * scale)
    return (c1 - c0 - 1j * (s1 - s0)) / scale


def _partners(loud, quiet, p, G, s):
    """Characteristic functions of the partners' contribution, given that the own feature is on, or off."""
    if s >= p:
        mixed = (s * loud + (1 - s) * quiet) ** (G - 1)
        return mixed, ((1 - p / s) * quiet ** (G - 1) + p / s * (1 - s) * mixed) / (1 - p)
    mixed, silent = (p * loud + (1 - p) * quiet) ** (G - 1), quiet ** (G - 1)
    alone = ((G - 1) * p * loud * quiet ** (G - 2) + (1 - G * p) * silent) / (1 - p)
    return (1 - s / p) * silent + s / p * mixed, (1 - s / p) * alone + s / p * mixed


def _quantiles(spectrum, grid):
    """Even quantiles of a law on the grid, from its characteristic function."""
    # Silence is an atom between two points, and would ring through the whole grid: it is widened to SMOOTH points.
    narrow = np.exp(-((2 * np.pi * SMOOTH * np.arange(len(spectrum)) / POINTS) ** 2) / 2)
    mass = np.maximum(np.fft.irfft(spectrum * narrow, n=POINTS), 0)
    cumulated = np.cumsum(mass) / mass.sum()
    return np.interp((np.arange(LEVELS) + 0.5) / LEVELS, cumulated, grid)


def _heard(a, b, sigma):
    """Mean squared error of a feature that is on."""
    return 1 / 3 - 2 * ramp_moment(1, 1, b, a, a * sigma) + ramp_moment(0, 2, b, a, a * sigma)
