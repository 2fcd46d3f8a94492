"""The best element-wise decoder: no function of the pre-activation alone does better.

Source: The Persian Rug (Cowsik, Dolev and Infanger), Appendix D.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from superposition import ranges
from superposition.checked import checked
from superposition.moments import REACH, floats, gauss_legendre
from superposition.rug.ranges import flush_underflow, positive_spreads, rare, seen_in_wide_noise, spreads

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from superposition.checks import Floats


LARGEST = 1e100  # of pre-activations: over the least sigma their squares are still finite


@checked(ranges.together("p", "sigma"), p=rare, sigma=spreads)
def bayes_loss(p: ArrayLike, sigma: ArrayLike) -> Floats:
    """Loss of the best element-wise decoder, E[Var(x | x + nu)].

    No function of the pre-activation alone does better while the interference is Gaussian.

    Returns
    -------
    numpy.ndarray
        The loss per feature, shape of the broadcast arguments.

    Notes
    -----
    Source: The Persian Rug, eq. 23, eq. 24, eq. 25 (Bayes' rule, with the density of y given u in its
    numerator) and eq. 26, without the text's restriction to features that are on. Tested against
    30-digit quadrature. Use `loss_lower_bound` instead for the text's own, lower bound.

    Examples
    --------
    >>> float(round(bayes_loss(p=0.05, sigma=0.25), 6))
    0.00694
    """
    # the posterior variance is a sum of positive terms, so its quadrature over the pre-activation does not cancel
    p, sigma = floats(p, sigma)
    sigma = flush_underflow(sigma)
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


@checked(
    ranges.together("y", "sigma", "p"), seen_in_wide_noise, y=ranges.real(-LARGEST, LARGEST), sigma=positive_spreads,
    p=rare,
)  # fmt: skip
def bayes_decoder(y: ArrayLike, sigma: ArrayLike, p: ArrayLike) -> tuple[Floats, Floats]:
    """Posterior mean and variance of a feature x given its pre-activation y = x + nu.

    Parameters
    ----------
    y : array_like
        Pre-activation in units of the gain, without the mean of the interference, up to 1e100 in size, and up to
        30 sigma outside of [0, 1] where sigma is 1 or more. Further out beside less noise the mean is the nearer
        end, and the variance sigma^2.

    Returns
    -------
    mean : numpy.ndarray
        E[x | y], in [0, 1], shape of the broadcast arguments.
    variance : numpy.ndarray
        Var[x | y]; its mean over y is `bayes_loss`.

    Notes
    -----
    Source: The Persian Rug, eq. 26, without the text's restriction to features that are on. Use
    `posterior_mean` instead for a feature that is known to be on.

    Examples
    --------
    >>> mean, variance = bayes_decoder([0.1, 0.4, 0.9], sigma=0.1, p=0.05)
    >>> mean.round(3)
    array([0.002, 0.39 , 0.871])
    """
    y, sigma, p = floats(y, sigma, p)
    density, centre, spread = uniform_posterior(y, sigma)
    off = (1 - p) * np.exp(-((y / sigma) ** 2) / 2) / np.sqrt(2 * np.pi) / sigma
    seen = p * density + off
    on = np.where(seen > 0, p * density / np.where(seen > 0, seen, 1), y > 0.5)
    centre = np.clip(centre, 0, 1)
    return (on * centre)[()], (on * np.maximum(spread, 0) + on * (1 - on) * centre**2)[()]


def uniform_posterior(y: np.ndarray, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Density of y = u + nu, and mean and variance of u given y (The Persian Rug, eq. 26)."""
    y, sigma = np.broadcast_arrays(y, sigma)
    found, narrow = np.empty((3, *y.shape)), sigma < 1
    for chosen, form in ((narrow, _truncated_normal), (~narrow, _nearly_uniform)):
        if chosen.any():
            found[:, chosen] = form(y[chosen], sigma[chosen])
    return tuple(found)


def _truncated_normal(y, sigma):
    """The same in closed form, where differences of the normal distribution do not cancel."""
    left, right = -y / sigma, (1 - y) / sigma
    flip = y > 0.5
    density = ndtr(np.where(flip, right, -left)) - ndtr(np.where(flip, left, -right))
    safe = np.where(density > 0, density, 1)
    height = np.exp(-(np.stack([left, right]) ** 2) / 2) / np.sqrt(2 * np.pi) / safe
    lean = height[0] - height[1]
    return density, y + sigma * lean, sigma**2 * (1 + left * height[0] - right * height[1] - lean**2)


def _nearly_uniform(y, sigma):
    """The same by quadrature, where the interference is wide."""
    u, weights = gauss_legendre(24)
    weight = np.exp(-(((y[..., None] - u) / sigma[..., None]) ** 2) / 2) * weights
    mass = weight.sum(axis=-1)
    mass = np.where(mass > 0, mass, 1)
    centre = (weight * u).sum(axis=-1) / mass
    spread = (weight * (u - centre[..., None]) ** 2).sum(axis=-1) / mass
    return mass / np.sqrt(2 * np.pi) / sigma, centre, spread
