"""Growth of waves on the flat receptive field where pixels are a series of odd Hermite polynomials of a Gaussian.

Source: completes the notes on localization, section 6.1, which has only the third coefficient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.hermite_e import herme2poly
from numpy.polynomial.polynomial import polyder

from superposition import ranges
from superposition.checked import checked
from superposition.receptive.ranges import (
    frequency_fits,
    hermite_ratios,
    length0,
    length1,
    three_pixels,
    two_lengths,
    vectors,
)
from superposition.receptive.ring import eigenvalues, gaussian_covariance
from superposition.receptive.wave_growth import Law, growth

if TYPE_CHECKING:
    from jaxtyping import Float


@checked(
    two_lengths, frequency_fits, n=three_pixels, xi1=length1, xi2=length0, ratios=hermite_ratios(0.05),
    frequency=ranges.whole(1), samples=vectors, seed=ranges.whole(0)
)  # fmt: skip
def hermite_growth(
    n: int, xi1: float, xi2: float, ratios: dict[int, float], frequency: int = 1, *, samples: int = 100_000,
    seed: int = 0,
) -> tuple[float, float]:  # fmt: skip
    """Growth rate of a wave on the flat field, as `flat_growth`, for pixels that are a series of Hermite polynomials.

    The pixel is x = He_1(z) + sum_m ratios[m] He_m(z), divided by its standard deviation.

    Source: ours. Use `hermite_rates` instead for the first order in closed form.

    Parameters
    ----------
    ratios : dict
        Coefficients by odd order from 3 to 15, from -0.05 to 0.05; for larger ones the series may fall within the range
        of the data.

    Returns
    -------
    rate, se : float
        In units of 1 / tau, and its standard error.

    Examples
    --------
    >>> rate, se = hermite_growth(40, 2, 1, {3: -0.02}, samples=500)
    >>> bool(rate > -1 and se > 0)
    True
    """
    orders, weights = _hermite(ratios)
    C1, C0 = (gaussian_covariance(n, xi) for xi in (xi1, xi2))
    powers = [m for m in orders if weights[m]]
    scale = np.sqrt(sum(_factorial(m) * weights[m] ** 2 for m in powers))
    S = sum(_factorial(m) * (weights[m] / scale) ** 2 * (C1**m + C0**m) for m in powers)
    series = herme2poly(weights / scale)
    odd, even = series[1::2], polyder(series)[::2]
    law = Law(lambda z: _in_place(odd, z) * z, lambda z: _in_place(even, z), None, 4)
    return growth(C1, eigenvalues(S), law, frequency, samples, seed)


@checked(two_lengths, n=three_pixels, xi1=length1, xi2=length0, ratios=hermite_ratios(0.2))
def hermite_rates(n: int, xi1: float, xi2: float, ratios: dict[int, float]) -> Float[np.ndarray, " half"]:
    """Growth rates (n // 2,) of waves on the flat field, to first order in every odd Hermite coefficient.

    Source: completes the notes on localization, section 6.1; the formula is ours. Use `hermite_growth` instead where
    the coefficients are not small.

    Examples
    --------
    >>> print(f"{hermite_rates(40, 2, 1, {3: -0.02})[0]:.4f}")
    0.0100
    """
    # With a_m = (-1)^((m-1)/2) (m-2)!! ratios[m], where {3: -q / 6} is erf, that of frequency k is lam1_k {r_0 - r_k +
    # (1 + r_0) sum_m a_m (m - 1) (lam1_0^((m-3)/2) / n^((m-1)/2)) (lam1_0 + m lam1_k)} / 4.
    orders, weights = _hermite(ratios)
    lam1, lam0 = (eigenvalues(gaussian_covariance(n, xi)) for xi in (xi1, xi2))
    r0, push = lam0[0] / lam1[0], np.zeros(len(lam1))
    for m in orders[1:]:
        sign = (-1) ** ((m - 1) // 2) * np.prod(np.arange(m - 2, 0, -2.0))
        size = lam1[0] ** ((m - 3) / 2) / n ** ((m - 1) / 2)
        push += sign * weights[m] * (m - 1) * size * (lam1[0] + m * lam1)
    return ((lam1 * r0 - lam0 + (1 + r0) * lam1 * push) / 4)[1:]


def _hermite(ratios):
    """Odd orders, beginning with 1, and the coefficients of the series."""
    weights = np.zeros(max(ratios, default=1) + 1)
    weights[1] = 1
    weights[list(ratios)] = list(ratios.values())
    return range(1, len(weights), 2), weights


def _in_place(coefficients, z):
    """A polynomial in z^2, by Horner's rule in one array."""
    square = z * z
    found = np.full_like(square, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        found *= square
        found += coefficient
    return found


def _factorial(m):
    return np.prod(np.arange(1.0, m + 1))
