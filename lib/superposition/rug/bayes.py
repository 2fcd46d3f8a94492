"""The best element-wise decoder: no function of the pre-activation alone does better.

Source: The Persian Rug (Cowsik, Dolev and Infanger), Appendix D.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from superposition import features
from superposition.rug import ranges
from superposition.rug.moments import REACH, gauss_legendre

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from superposition.checks import Floats


def bayes_loss(p: ArrayLike, sigma: ArrayLike) -> Floats:
    """Loss of the best element-wise decoder, E[Var(x | x + nu)].

    No function of the pre-activation alone does better while the interference is Gaussian.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    sigma : array_like
        Standard deviation of the interference, sigma >= 0.

    Returns
    -------
    numpy.ndarray
        The loss per feature, shape of the broadcast arguments.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, eq. 23, eq. 24, eq. 25 (Bayes' rule, with the density of y given u in its
    numerator) and eq. 26, without the text's restriction to features that are on. The posterior
    variance is a sum of positive terms, integrated over the pre-activation
    by Gauss-Legendre quadrature; tested against 30-digit quadrature.

    Examples
    --------
    >>> float(round(bayes_loss(p=0.05, sigma=0.25), 6))
    0.00694
    """
    p, sigma = np.broadcast_arrays(features.probability(p), ranges.spreads(sigma))
    s = np.where(sigma > 0, sigma, 1.0)[..., None]
    edge = np.minimum(REACH * s, 0.5)
    total, (nodes, weights) = np.zeros(p.shape), gauss_legendre(300)
    for low, high in (
        (-REACH * s, 0 * s),
        (0 * s, edge),
        (edge, 1 - edge),
        (1 - edge, 1 + 0 * s),
        (1 + 0 * s, 1 + REACH * s),
    ):
        y = low + (high - low) * nodes
        total = total + np.sum((high - low) * weights * _posterior_error(y, s, p[..., None]), axis=-1)
    return np.where(sigma > 0, p * total, 0.0)[()]


def _posterior_error(y, sigma, p):
    """Density of y given that the feature is on, times Var(x | y) / P(on | y)."""
    density, centre, spread = uniform_posterior(y, sigma)
    off = np.exp(-((y / sigma) ** 2) / 2) / np.sqrt(2 * np.pi) / sigma
    seen = p * density + (1 - p) * off
    doubt = np.where(seen > 0, (1 - p) * off / np.where(seen > 0, seen, 1), 0)
    return density * (spread + doubt * centre**2)


def uniform_posterior(y: np.ndarray, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Density of y = u + nu, and mean and variance of u given y (The Persian Rug, eq. 26)."""
    u, weights = gauss_legendre(24)
    weight = np.exp(-(((y[..., None] - u) / sigma[..., None]) ** 2) / 2) * weights
    mass = weight.sum(axis=-1)
    mass = np.where(mass > 0, mass, 1)
    centre = (weight * u).sum(axis=-1) / mass
    spread = (weight * (u - centre[..., None]) ** 2).sum(axis=-1) / mass
    wide = (mass / np.sqrt(2 * np.pi) / sigma, centre, spread)

    left, right = -y / sigma, (1 - y) / sigma  # a truncated normal, where it is narrow
    flip = y > 0.5
    density = ndtr(np.where(flip, right, -left)) - ndtr(np.where(flip, left, -right))
    safe = np.where(density > 0, density, 1)
    height = np.exp(-(np.stack([left, right]) ** 2) / 2) / np.sqrt(2 * np.pi) / safe
    lean = height[0] - height[1]
    narrow = (density, y + sigma * lean, sigma**2 * (1 + left * height[0] - right * height[1] - lean**2))
    return tuple(np.where(sigma < 0.25, n, w) for n, w in zip(narrow, wide, strict=True))
