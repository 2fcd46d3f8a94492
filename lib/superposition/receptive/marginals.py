"""Inputs on a ring with other marginals than erf's: pixel-wise transforms, and elliptical laws.

Which marginal makes a neuron localise? For x = f(z) pixel by pixel, f odd and nearly linear, the
third Hermite coefficient decides: erf has c3/c1 = -q/6, and everything the theory of
the critical gain says about q holds for -6 c3/c1. Elliptical laws (a Gaussian vector times a random
length) never localise, whatever their kurtosis.

Source: the localization notes, the empty section 6.1; the prediction is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.receptive.ring import gaussian_covariance, gaussian_sample

if TYPE_CHECKING:
    from jaxtyping import Float


LAWS = {
    "erf": lambda z, s: _erf(s * z),
    "tanh": lambda z, s: np.tanh(s * z),
    "sine": lambda z, s: np.sin(s * z),
    "sinh": lambda z, s: np.sinh(s * z),
    "power": lambda z, s: np.sign(z) * np.abs(z) ** s,
    "shrink": lambda z, s: np.sign(z) * np.maximum(np.abs(z) - s, 0),
    "cubic": lambda z, s: z + s * (z**3 - 3 * z),
}
ELLIPTICAL = "elliptical"


def draw(
    law: str, strength: float, n: int, xi: float, samples: int, *, seed: int | np.random.Generator
) -> Float[np.ndarray, "samples n"]:
    """Draw inputs with unit variance whose marginals have a given law.

    Parameters
    ----------
    law : str
        "erf", "tanh", "sine" and "sinh" of strength z; "power", sign(z) |z|^strength; "shrink", z
        moved towards 0 by strength; "cubic", z + strength (z^3 - 3 z); or "elliptical", the whole
        vector z times (|z|/sqrt(n))^(-strength), so that 1 is the uniform law on an ellipsoid.
    strength : float
        From -5 to 5; above 0 where it multiplies z or is an exponent.
    n : int
        Number of pixels, at least 3.
    xi : float
        Correlation length of z, above 0.
    samples : int
        How many, at least 2.
    seed : int or numpy.random.Generator
        Where the numbers come from.

    Returns
    -------
    numpy.ndarray, shape (samples, n)
        Divided by the root mean square of all entries.

    Raises
    ------
    ValueError
        If the law is unknown or a number is out of range.
    """
    strength = _strength(law, strength)
    z = gaussian_sample(gaussian_covariance(n, xi), checks.whole("samples", samples, 2), seed=seed)
    if law == ELLIPTICAL:
        x = z * np.sqrt(np.mean(z**2, axis=1, keepdims=True)) ** -strength
    else:
        x = LAWS[law](z, strength)
    return x / np.sqrt(np.mean(x**2))


def hermite_ratio(law: str, strength: float) -> float:
    """Third over first Hermite coefficient of the marginal, c3/c1.

    Parameters
    ----------
    law : str
        See `draw`.
    strength : float
        See `draw`.

    Returns
    -------
    float
        E[f(z)(z^3 - 3z)] / (6 E[f(z) z]); 0 for elliptical laws. Negative: the marginal is flatter
        than linear, as for erf.

    Raises
    ------
    ValueError
        If the law is unknown or the strength out of range.
    """
    strength = _strength(law, strength)
    if law == ELLIPTICAL:
        return 0.0
    z = np.linspace(-12, 12, 240_001)  # a trapezoid rule with a Gaussian weight; f may have a kink
    weight = np.exp(-(z**2) / 2) * LAWS[law](z, strength)
    return float(np.sum(weight * (z**3 - 3 * z)) / (6 * np.sum(weight * z)))


def _strength(law, strength):
    checks.one_of("law", law, (*LAWS, ELLIPTICAL))
    signed = law in ("cubic", ELLIPTICAL)
    return float(checks.real("strength", strength, -5 if signed else 0, 5, open_low=not signed))


def _erf(z):
    from scipy.special import erf

    return erf(z)
