"""Where the best loss drops: at r of order p, no later and no earlier.

Fans are the upper bound. The lower one holds for every code and every number of features: outputs above a
threshold make few patterns, and active features many.
Source: ours, against The Persian Rug, section 4.2.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr

from superposition import checks


def drop_bounds(kappa: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Best loss over p/3 at r = kappa p, as p -> 0: no code gets below the first, fans reach the second.

    Parameters
    ----------
    kappa : array_like
        Above 0.

    Returns
    -------
    lower : numpy.ndarray
        max(0, 1 - kappa)^3: as many features heard as there are dimensions, the strongest.
    upper : numpy.ndarray
        1 - (kappa / 2)(1 - exp(-2 / kappa)).

    Raises
    ------
    ValueError
        If `kappa` is not above 0.

    Examples
    --------
    >>> [round(float(value), 3) for value in drop_bounds(0.1)]
    [0.729, 0.95]
    """
    kappa = checks.real("kappa", kappa, 0, open_low=True, open_high=True)
    return np.maximum(0, 1 - kappa) ** 3, 1 + kappa / 2 * np.expm1(-2 / kappa)


def counting_bound(p: float, r: float) -> float:
    """Lower bound on the loss at every number of features, from the count of patterns of active outputs.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in (0, 1).
    r : float
        Compression ratio, in (0, 1].

    Returns
    -------
    float
        0 where the count says nothing.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. n outputs above a threshold tau make at most exp(n H(r)) patterns, H the entropy in nats. With a
    share eta of the active features above tau and a share phi of the others, the patterns know p kl(eta | pi) +
    (1 - p) kl(phi | pi) nats a feature, pi = p eta + (1 - p) phi, and the loss is at least
    (1 - p) phi tau^2 + (p/3) max(0, 1 - eta - tau)^3. Each cell of the grid in phi is bounded by its ends.

    Examples
    --------
    >>> round(counting_bound(1e-6, 1e-8) / (1e-6 / 3), 2)  # nothing can be done here
    0.89
    """
    p = checks.number("p", p, 0, 1, open_low=True, open_high=True)
    r = checks.number("r", r, 0, 1, open_low=True)
    known = np.log(2) if r >= 0.5 else -r * np.log(r) - (1 - r) * np.log1p(-r)
    tau = np.geomspace(1e-3, 0.9, 40)[:, None]
    phi = np.geomspace(1e-6, 1, 200) * np.minimum(1, p / (3 * tau**2 * (1 - p)))
    eta, below = _largest_share(p, phi, known), np.hstack([np.zeros_like(tau), phi[:, :-1]])
    bound = (1 - p) * below * tau**2 + p / 3 * np.maximum(0, 1 - eta - tau) ** 3
    return float(min(bound.min(axis=1).max(), p / 3))


def _largest_share(p, phi, known):
    """Largest eta whose patterns fit into `known` nats, from above, by bisection."""
    low, high = np.minimum(phi, 1), np.ones_like(phi)
    for _ in range(40):
        eta = (low + high) / 2
        fits = _information(p, eta, phi) <= known
        low, high = np.where(fits, eta, low), np.where(fits, high, eta)
    return high


def _information(p, eta, phi):
    pi = p * eta + (1 - p) * phi
    on, off = (rel_entr(share, pi) + rel_entr(1 - share, 1 - pi) for share in (eta, phi))
    return p * on + (1 - p) * off
