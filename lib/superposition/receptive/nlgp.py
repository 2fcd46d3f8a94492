"""The nonlinear Gaussian process (NLGP): x = erf(gain z) / Z with z a stationary Gaussian process.

Source: the notes on localization, section 1. The limit of small gain is the Gaussian process
itself, which has functions of its own in `superposition.receptive.ring`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.receptive.ranges import gains, kernel, length, one_gain, one_length, pixels, sample_fits
from superposition.receptive.ring import covariance_row, gaussian_covariance, stationary_sample

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


@checked(gain=gains)
def normalization(gain: ArrayLike) -> np.ndarray:
    """Standard deviation Z of erf(gain z) for a standard normal z.

    Source: the notes on localization, below eq. 61, where Z(g) is not given.

    Returns
    -------
    numpy.ndarray
        Z = sqrt((2 / pi) arcsin q) with q of `saturation`; dividing by it makes the variance 1.

    Examples
    --------
    >>> print(f"{normalization(3.0):.4f}")
    0.8902
    """
    return np.sqrt(2 / np.pi * _arcsin_q(np.asarray(gain, dtype=np.float64)))


@checked(gain=gains)
def saturation(gain: ArrayLike) -> np.ndarray:
    """The extent to which the gain pushes a pixel into the flat part of erf: q = 2 gain^2 / (1 + 2 gain^2).

    Source: the notes on localization, section 1; the formula is ours.

    Returns
    -------
    numpy.ndarray
        q, in (0, 1): 0 is Gaussian, 1 is a pixel of two values.

    Examples
    --------
    >>> saturation([0.1, 1.0, 10.0]).round(4)
    array([0.0196, 0.6667, 0.995 ])
    """
    gain = np.asarray(gain, dtype=np.float64)
    return 2 * gain**2 / (1 + 2 * gain**2)


@checked(one_length, n=pixels, xi=length, gain=one_gain, kernel=kernel)
def nlgp_covariance(n: int, xi: float, gain: float, kernel: str = "periodic") -> Float[np.ndarray, "n n"]:
    """Covariance of the NLGP, arcsin(q r) / arcsin(q) with r that of the Gaussian process.

    Source: the notes on localization, section 1, which names the NLGP and does not define it; the closed form is the
    arcsine law of the error function. Use `gaussian_covariance` instead for the limit of small gain.

    Returns
    -------
    numpy.ndarray, shape (n, n)
        A circulant matrix with unit diagonal.

    Examples
    --------
    >>> nlgp_covariance(40, 2.0, 3.0)[0, :4].round(4)
    array([1.    , 0.6666, 0.286 , 0.0803])
    """
    r, gain = gaussian_covariance(n, xi, kernel), float(gain)
    return np.where(r == 1, 1.0, np.arcsin(saturation(gain) * r) / _arcsin_q(gain))


@checked(
    one_length, sample_fits, n=pixels, xi=length, gain=one_gain, samples=ranges.samples, seed=ranges.seed, kernel=kernel
)
def nlgp_sample(
    n: int, xi: float, gain: float, samples: int, *, seed: int | np.random.Generator, kernel: str = "periodic"
) -> Float[np.ndarray, "samples n"]:
    """Draw from the NLGP: x = erf(gain z) / Z, with variance 1 in every pixel.

    Source: the notes on localization, section 1 and below eq. 61. Use `gaussian_sample` instead for the limit of small
    gain.

    Examples
    --------
    >>> x = nlgp_sample(40, 2.0, 3.0, 1000, seed=0)
    >>> x.shape, round(float(x.var()), 1)
    ((1000, 40), 1.0)
    """
    from scipy.special import erf

    return erf(gain * stationary_sample(covariance_row(n, xi, kernel), samples, seed=seed)) / normalization(gain)


def _arcsin_q(gain):
    """Arcsine of q, without losing the digits of 1 - q at large gain."""
    return np.arctan2(2 * gain**2, np.sqrt(1 + 4 * gain**2))
