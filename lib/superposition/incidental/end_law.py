"""The mean of the random end of an encoding, lambda t at which one weight is left, exactly.

With Q(c) the sum of (|W_k| - c)_+^2 the end is the integral of Q^(-1/2) over the cuts c that two or more weights pass.
As Q^(-1/2) = pi^(-1/2) times the integral of s^(-1/2) exp(-s Q), and the weights are independent, its mean needs that
of exp(-s (|W_k| - c)^2) for one weight alone. Source: ours, for Incidental Polysemanticity, section 2.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erfcx, ndtr

LOG_S = np.linspace(-60, 60, 2401)  # nodes in ln s: the trapezoid of a smooth function that vanishes at both ends
CUTS = 400  # Gauss nodes in c


def mean_end() -> float:
    """Mean of lambda t at the end for weights with an exponential tail, m to infinity. Ours."""
    # The number p of weights above the cut is Poisson. Its mean mu falls through all values, at the rate dmu / mu, and
    # the integral of mu^(p - 1) e^-mu / p! is 1 / p.
    s = np.exp(LOG_S)
    one = np.sqrt(np.pi / (4 * s)) * erfcx(1 / np.sqrt(4 * s))  # E exp(-s y^2) of an exponential excess y
    small = np.minimum(s, 1e-6)  # where 1 - one would cancel
    log_left = np.where(s > small, np.log1p(-np.minimum(one, 1 - 1e-9)), np.log(2 * small - 12 * small**2))
    return _over_s(-log_left - one)


def mean_end_gaussian(m: int) -> float:
    """The same for m Gaussian weights, m from 2 upwards. Ours."""
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
