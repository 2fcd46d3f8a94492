"""The nonlinear Gaussian process (NLGP): x = erf(gain z) / Z with z a stationary Gaussian process.

Source: the notes on localization, section 1. The limit of small gain is the Gaussian process
itself, which has functions of its own in `superposition.receptive.ring`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition.receptive.ring import gaussian_covariance, gaussian_sample

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


GAINS = (1e-6, 1e6)


def normalization(gain: ArrayLike) -> np.ndarray:
    """Standard deviation Z of erf(gain z) for a standard normal z.

    Parameters
    ----------
    gain : array_like
        Gain, from 1e-6 to 1e6.

    Returns
    -------
    numpy.ndarray
        Z = sqrt((2 / pi) arcsin q) with q of `saturation`; dividing by it makes the variance 1.

    Raises
    ------
    ValueError
        If `gain` is out of range.

    Notes
    -----
    Source: the notes on localization, below eq. 61, where Z(g) is not given.

    Examples
    --------
    >>> from superposition import receptive
    >>> print(f"{receptive.normalization(3.0):.4f}")
    0.8902
    """
    return np.sqrt(2 / np.pi * _arcsin_q(_gain(gain)))


def saturation(gain: ArrayLike) -> np.ndarray:
    """How far the gain pushes a pixel into the flat part of erf: q = 2 gain^2 / (1 + 2 gain^2).

    Parameters
    ----------
    gain : array_like
        Gain, from 1e-6 to 1e6.

    Returns
    -------
    numpy.ndarray
        q, in (0, 1): 0 is Gaussian, 1 is a pixel of two values.

    Raises
    ------
    ValueError
        If `gain` is out of range.

    Examples
    --------
    >>> from superposition import receptive
    >>> receptive.saturation([0.1, 1.0, 10.0]).round(4)
    array([0.0196, 0.6667, 0.995 ])
    """
    gain = _gain(gain)
    return 2 * gain**2 / (1 + 2 * gain**2)


def nlgp_covariance(n: int, xi: float, gain: float, kernel: str = "periodic") -> Float[np.ndarray, "n n"]:
    """Covariance of the NLGP, arcsin(q r) / arcsin(q) with r that of the Gaussian process.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    xi : float
        Correlation length in pixels, above 0 and up to 100 n.
    gain : float
        Gain, from 1e-6 to 1e6; `gaussian_covariance` is the limit of small gain.
    kernel : {"periodic", "wrapped"}
        See `gaussian_covariance`.

    Returns
    -------
    numpy.ndarray, shape (n, n)
        A circulant matrix with unit diagonal.

    Raises
    ------
    NotACovariance
        If z has no such covariance.
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: the notes on localization, section 1, which names the NLGP and does not define it;
    the closed form is the arcsine law of the error function.

    Examples
    --------
    >>> from superposition import receptive
    >>> receptive.nlgp_covariance(40, 2.0, 3.0)[0, :4].round(4)
    array([1.    , 0.6666, 0.286 , 0.0803])
    """
    r = gaussian_covariance(n, xi, kernel)
    gain = float(_gain(gain))
    return np.where(r == 1, 1.0, np.arcsin(saturation(gain) * r) / _arcsin_q(gain))


def nlgp_sample(
    n: int, xi: float, gain: float, samples: int, *, seed: int | np.random.Generator, kernel: str = "periodic"
) -> Float[np.ndarray, "samples n"]:
    """Draw from the NLGP: x = erf(gain z) / Z, with variance 1 in every pixel.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    xi : float
        Correlation length of z in pixels, above 0 and up to 100 n.
    gain : float
        Gain, from 1e-6 to 1e6; `gaussian_sample` is the limit of small gain.
    samples : int
        Number of vectors, at least 1.
    seed : int or numpy.random.Generator
        Where the numbers come from.
    kernel : {"periodic", "wrapped"}
        See `gaussian_covariance`.

    Returns
    -------
    numpy.ndarray, shape (samples, n)

    Raises
    ------
    NotACovariance
        If z has no such covariance.
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: the notes on localization, section 1 and below eq. 61.

    Examples
    --------
    >>> from superposition import receptive
    >>> x = receptive.nlgp_sample(40, 2.0, 3.0, 1000, seed=0)
    >>> x.shape, round(float(x.var()), 1)
    ((1000, 40), 1.0)
    """
    from scipy.special import erf

    scale = normalization(gain)
    return erf(gain * gaussian_sample(gaussian_covariance(n, xi, kernel), samples, seed=seed)) / scale


def _gain(gain):
    array = np.asarray(gain, dtype=np.float64)
    if not np.all((array >= GAINS[0]) & (array <= GAINS[1])):
        first = array[~((array >= GAINS[0]) & (array <= GAINS[1]))].flat[0]
        raise ValueError(
            f"gain = {first:g} is out of range; allowed: [1e-06, 1e+06]; the limit of small gain has "
            "gaussian_covariance and gaussian_sample"
        )
    return array


def _arcsin_q(gain):
    """Arcsine of q, without losing the digits of 1 - q at large gain."""
    return np.arctan2(2 * gain**2, np.sqrt(1 + 4 * gain**2))
