"""What the rug and the antipodal rug pay at small p: a logarithm that fans do not pay.

Source: ours; the limit p -> 0 at fixed r of The Persian Rug's closed form, section 4.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import lambertw

from superposition import checks


def rug_constant(r: ArrayLike) -> NDArray[np.float64]:
    """What the rug pays: its loss is (1/r - 1) / 6 p^2 ln(1/p) as p -> 0, in the theory of the text.

    Parameters
    ----------
    r : array_like
        Compression ratio, in (0, 1].

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ValueError
        If `r` is outside (0, 1].

    Notes
    -----
    Source: ours. The threshold that keeps off features silent is sqrt(2 ln(1/p)) sigma; a feature that is on
    loses a quarter of its square (the gain makes up for the rest), and sigma^2 = (p/3)(1/r - 1).

    Examples
    --------
    >>> round(float(rug_constant(0.2)), 3)
    0.667
    """
    return _over(r) / 6


def antipodal_constant(r: ArrayLike) -> NDArray[np.float64]:
    """The same for the antipodal rug, whose partner makes no noise: (1/r - 2) / 6.

    Parameters
    ----------
    r : array_like
        Compression ratio, in (0, 1/2].

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ValueError
        If `r` is outside (0, 1/2].

    Examples
    --------
    >>> round(float(antipodal_constant(0.2)), 3)
    0.5
    """
    return (1 / checks.real("r", r, 0, 0.5, open_low=True) - 2) / 6


def rug_at_small_p(p: ArrayLike, r: ArrayLike) -> NDArray[np.float64]:
    """Loss of the rug at small p with the first correction to its logarithm.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in [1e-150, 0.01]: above, there is no threshold to speak of.
    r : array_like
        Compression ratio, in (0, 1].

    Returns
    -------
    numpy.ndarray
        p sigma^2 (3/2 + z^2 / 4), where the threshold z solves phi(z) = p z^3 / 4.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. Off features leave 2 phi(z) / z^3 sigma^2, least together with p z^2 / 4.

    Examples
    --------
    >>> round(float(rug_at_small_p(1e-12, 0.1) / (1e-24 * np.log(1e12))), 2)  # not yet rug_constant(0.1) = 1.5
    1.38
    """
    p = checks.real("p", p, 1e-150, 0.01)
    bare = (4 / (p * np.sqrt(2 * np.pi))) ** (2 / 3) / 3  # phi(z) = p z^3 / 4 is (z^2/3) exp(z^2/3) = this
    z2 = 3 * lambertw(bare).real
    return p**2 / 3 * _over(r) * (1.5 + z2 / 4)


def _over(r):
    return 1 / checks.real("r", r, 0, 1, open_low=True) - 1
