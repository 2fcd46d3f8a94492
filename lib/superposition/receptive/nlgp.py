"""The nonlinear Gaussian process (NLGP): x = erf(gain z) / Z with z a stationary Gaussian process.

Source: the notes on localization, section 1. The limit of small gain is the Gaussian process
itself, which has functions of its own in `superposition.receptive.ring`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition.receptive.ring import covariance_row, gaussian_covariance, stationary_sample

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def normalization(gain: ArrayLike) -> np.ndarray:
    """Standard deviation Z = sqrt((2 / pi) arcsin q) of erf(gain z), z standard normal (below eq. 61, not given)."""
    return np.sqrt(2 / np.pi * _arcsin_q(np.asarray(gain, dtype=np.float64)))


def saturation(gain: ArrayLike) -> np.ndarray:
    """How far the gain pushes a pixel into the flat part of erf: q = 2 gain^2 / (1 + 2 gain^2), in (0, 1)."""
    gain = np.asarray(gain, dtype=np.float64)
    return 2 * gain**2 / (1 + 2 * gain**2)


def nlgp_covariance(n: int, xi: float, gain: float, kernel: str = "periodic") -> Float[np.ndarray, "n n"]:
    """Covariance of the NLGP, arcsin(q r) / arcsin(q) with r that of the Gaussian process (section 1)."""
    r, gain = gaussian_covariance(n, xi, kernel), float(gain)
    return np.where(r == 1, 1.0, np.arcsin(saturation(gain) * r) / _arcsin_q(gain))


def nlgp_sample(
    n: int, xi: float, gain: float, samples: int, *, seed: int | np.random.Generator, kernel: str = "periodic"
) -> Float[np.ndarray, "samples n"]:
    """Draw from the NLGP (the notes on localization, section 1 and below eq. 61), with variance 1 in every pixel."""
    from scipy.special import erf

    return erf(gain * stationary_sample(covariance_row(n, xi, kernel), samples, seed=seed)) / normalization(gain)


def _arcsin_q(gain):
    """Arcsine of q, without losing the digits of 1 - q at large gain."""
    return np.arctan2(2 * gain**2, np.sqrt(1 + 4 * gain**2))
