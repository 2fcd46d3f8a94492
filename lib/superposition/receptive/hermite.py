"""Growth of waves on the flat receptive field where pixels are a series of odd Hermite polynomials of a Gaussian.

Source: completes the notes on localization, section 6.1, which look at the third coefficient alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.hermite_e import hermeder, hermeval

from superposition import checks
from superposition.receptive.ring import eigenvalues, gaussian_covariance, lengths
from superposition.receptive.wave_growth import Law, growth

if TYPE_CHECKING:
    from jaxtyping import Float

LARGEST_RATIO = 0.05  # of a Hermite coefficient to the first; beyond, f need not rise where the data are


def hermite_growth(
    n: int,
    xi1: float,
    xi2: float,
    ratios: dict[int, float],
    frequency: int = 1,
    *,
    samples: int = 100_000,
    seed: int = 0,
) -> tuple[float, float]:
    """Growth rate of a wave on the flat field, as `flat_growth`, for a law given by its Hermite series.

    The law is x = He_1(z) + sum_m ratios[m] He_m(z), divided by its standard deviation.

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
    superposition.receptive.ring.NotACovariance
        If a length gives no covariance.
    FewVectors
        If few vectors carry the average; it is a ValueError.
    ValueError
        If an argument is out of range.
    """
    orders, weights = _hermite(ratios)
    C1, C0 = (gaussian_covariance(n, xi) for xi in lengths(n, xi1, xi2))
    powers = [m for m in orders if weights[m]]
    scale = np.sqrt(sum(_factorial(m) * weights[m] ** 2 for m in powers))
    S = sum(_factorial(m) * (weights[m] / scale) ** 2 * (C1**m + C0**m) for m in powers)
    slopes = hermeder(weights / scale)
    law = Law(lambda z: hermeval(z, weights / scale), lambda z: hermeval(z, slopes), None, 4)
    return growth(C1, eigenvalues(S), law, frequency, samples, seed)


def hermite_rates(n: int, xi1: float, xi2: float, ratios: dict[int, float]) -> Float[np.ndarray, " half"]:
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
    superposition.receptive.ring.NotACovariance
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
    lam1, lam0 = (eigenvalues(gaussian_covariance(n, xi)) for xi in lengths(n, xi1, xi2))
    r0, push = lam0[0] / lam1[0], np.zeros(len(lam1))
    for m in orders[1:]:
        sign = (-1) ** ((m - 1) // 2) * np.prod(np.arange(m - 2, 0, -2.0))
        size = lam1[0] ** ((m - 3) / 2) / n ** ((m - 1) / 2)
        push += sign * weights[m] * (m - 1) * size * (lam1[0] + m * lam1)
    return ((lam1 * r0 - lam0 + (1 + r0) * lam1 * push) / 4)[1:]


def _hermite(ratios):
    """Odd orders from 1 up, and the coefficients of the series."""
    if not isinstance(ratios, dict):
        raise ValueError(f"ratios is of type {type(ratios).__name__}; allowed: a dict from odd orders to ratios")
    for m, ratio in ratios.items():
        if checks.whole("ratios", m, 3) % 2 == 0:
            raise ValueError(f"ratios has the order {m}; allowed: odd orders from 3")
        checks.number(f"ratios[{m}]", ratio, -LARGEST_RATIO, LARGEST_RATIO)
    weights = np.zeros(max(ratios, default=1) + 1)
    weights[1] = 1
    weights[list(ratios)] = list(ratios.values())
    return range(1, len(weights), 2), weights


def _factorial(m):
    return np.prod(np.arange(1.0, m + 1))
