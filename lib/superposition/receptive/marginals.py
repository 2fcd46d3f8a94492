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
    """Draw inputs (samples, n) whose marginals have a given law, divided by the root mean square of all entries."""
    # "erf", "tanh", "sine" and "sinh" of strength z; "power", sign(z) |z|^strength; "shrink", z moved towards 0 by
    # strength; "cubic", z + strength (z^3 - 3 z); or "elliptical", the whole vector z times (|z|/sqrt(n))^(-strength),
    # so that 1 is the uniform law on an ellipsoid. The strength is from -5 to 5; above 0 where it multiplies z or is an
    # exponent.
    z = gaussian_sample(gaussian_covariance(n, xi), samples, seed=seed)
    if law == ELLIPTICAL:
        x = z * np.sqrt(np.mean(z**2, axis=1, keepdims=True)) ** -strength
    else:
        x = LAWS[law](z, strength)
    return x / np.sqrt(np.mean(x**2))


def hermite_ratio(law: str, strength: float) -> float:
    """Third over first Hermite coefficient of the marginal, E[f(z)(z^3 - 3z)] / 6 E[f(z) z]; 0 for elliptical laws."""
    if law == ELLIPTICAL:
        return 0.0
    z = np.linspace(-12, 12, 240_001)  # a trapezoid rule with a Gaussian weight; f may have a kink
    weight = np.exp(-(z**2) / 2) * LAWS[law](z, strength)
    return float(np.sum(weight * (z**3 - 3 * z)) / (6 * np.sum(weight * z)))


def _erf(z):
    from scipy.special import erf

    return erf(z)
