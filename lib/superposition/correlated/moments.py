"""The distribution of features in groups: its correlation, and the loss of the best linear code.

Each of n features is on with probability p, and a given partner of a feature that is on is on with probability s, so
that both are on with probability p s. Groups are independent of each other; a strength is uniform on [0, 1].
Source: ours; the open question of The Persian Rug, section 5.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from superposition import features, ranges
from superposition.checked import checked
from superposition.correlated.ranges import LARGEST_GROUP, compared, correlated, group, law, partner_probability


@checked(correlated, p=ranges.probability, s=ranges.real(0, 1))
def partner_correlation(p: ArrayLike, s: ArrayLike) -> np.ndarray:
    """Correlation of two partners, (s - p) / (4/3 - p).

    Returns
    -------
    numpy.ndarray
        Of the shape to which p and s broadcast.

    Examples
    --------
    >>> partner_correlation(0.1, [0.1, 1.0]).round(3)
    array([0.  , 0.73])
    """
    p = np.asarray(p, float)
    return (s - p) / (4 / 3 - p)


def levels(p: ArrayLike, G: int, s: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of a group's covariance: of its mean, and of its G - 1 contrasts."""
    V, rho = features.variance(p), partner_correlation.unchecked(p, s)
    return V * (1 + (G - 1) * rho), V * (1 - rho)


@checked(law, p=ranges.one_probability, r=ranges.one_ratio, G=ranges.whole(1, LARGEST_GROUP), s=partner_probability)
def linear_loss(p: float, r: float, G: int, s: float) -> float:
    """Loss per feature of the best linear code on groups of features.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in (0, 1].
    r : float
        Compression ratio, in (0, 1].
    G : int
        Features of a group, 1 to 32.
    s : float
        Probability that a given partner of a feature that is on is on too, 0 to 1; if s is below p, G p is at most 1.

    Notes
    -----
    Source: ours. With rho = (s - p)/(4/3 - p) the eigenvalues of a group's covariance are V (1 + (G - 1) rho), once,
    and V (1 - rho).

    Examples
    --------
    >>> round(linear_loss(0.05, 0.25, 4, 0.05), 6), round(linear_loss(0.05, 0.25, 4, 1.0), 6)
    (0.012031, 0.003125)
    """
    mean, contrast = levels(p, G, s)
    large, small = np.maximum(mean, contrast), np.minimum(mean, contrast)
    share = np.where(mean > contrast, 1 / G, 1 - 1 / G)  # of the larger eigenvalue
    return float(large * np.maximum(share - r, 0) + small * np.minimum(1 - r, 1 - share))


@checked(compared, p=ranges.probability, r=ranges.real(1e-30, 1, open_high=True), G=group, loss=ranges.real(0))
def linear_border(p: ArrayLike, r: ArrayLike, G: int, loss: ArrayLike) -> np.ndarray:
    """The correlation above which the best linear code beats a code whose loss does not depend on correlation.

    Parameters
    ----------
    loss : array_like
        Loss per feature of that code.

    Returns
    -------
    numpy.ndarray
        Above 1 where no correlation does.

    Examples
    --------
    >>> rho = linear_border(0.05, 0.25, 4, 0.006)
    >>> print(f"{linear_loss(0.05, 0.25, 4, 0.05 + float(rho) * (4 / 3 - 0.05)):.6f}")
    0.006000
    """
    r = np.asarray(r, float)
    gap = 1 - loss / (features.variance(p) * (1 - r))
    return np.where(r * G >= 1, gap, gap * (1 - r) / (r * (G - 1)))
