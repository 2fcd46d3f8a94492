"""How the mean-field loss scales: rare features, little noise, and the window where the loss drops.

Source: The Persian Rug (Cowsik, Dolev and Infanger), sections 3.1 and 4.3. The text gives orders of
magnitude; the constants and the limit functions here are ours. Three limits:

* **no room** (r -> 0): the loss is the variance of a feature, `superposition.features.variance`;
* **little noise** (sigma -> 0, p fixed): L* -> `small_noise_factor` (p) sigma^2;
* **the drop** (p -> 0 with r = kappa p ln(1/p)): L*/p -> `drop_loss` (kappa).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, features
from superposition.rug import meanfield, moments

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from superposition.checks import Floats

HALF_DROP = (2 + np.sqrt(3)) / 3  # kappa where half of the loss is gone: mu = sqrt(3) - 1


def off_moment(t: ArrayLike) -> Floats:
    """What a threshold t lets through of unit noise, E[ReLU(Z - t)^2] with Z standard normal.

    Parameters
    ----------
    t : array_like
        Threshold in units of the noise, up to 40.

    Returns
    -------
    numpy.ndarray
        (1 + t^2) Phi(-t) - t phi(t), without cancellation.

    Raises
    ------
    ValueError
        If `t` is out of range.

    Notes
    -----
    Source: The Persian Rug, eq. 10, divided by sigma^2; the closed form is ours.
    """
    return moments.moment(2, -_threshold(t), 1.0)[()]


def no_room_gain(p: ArrayLike, t: ArrayLike, sigma: ArrayLike) -> Floats:
    """The best gain where there is no room: much noise, and an output that hardly depends on the feature.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    t : array_like
        Threshold in units of the noise, -b / (a sigma), from -40 to 40.
    sigma : array_like
        Standard deviation of the interference, above 0; far above 1 for the limit to hold.

    Returns
    -------
    numpy.ndarray
        p / (2 sigma) E[ReLU(Z - t)] / E[ReLU(Z - t)^2], up to order 1 / sigma of itself.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, eq. 8.
    """
    p, sigma = features.probability(p), checks.real("sigma", sigma, 0, open_low=True, open_high=True)
    return p / 2 / sigma * moments.moment(1, -_threshold(t), 1.0) / off_moment(t)


def threshold(p: ArrayLike, bias_cost: float = 0.25) -> Floats:
    """The best threshold t = -b / (a sigma) for little noise.

    It balances the noise let through against the price of a bias, ``bias_cost`` t^2 sigma^2 for
    each feature that is on: (1 - p) (phi(t) - t Phi(-t)) = ``bias_cost`` p t.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    bias_cost : float
        1/4 with the best gain a = 1 + 3/2 t sigma, 1 with a = 1 (the text's choice); above 0.

    Returns
    -------
    numpy.ndarray
        t, between 0 and 40.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: the sharp form of The Persian Rug, eq. 12. For small p it becomes phi(t) = p t^3 / 4,
    so that t^2 -> 2 ln(1/p).
    """
    from scipy.optimize.elementwise import find_root

    p = features.probability(p)
    bias_cost = checks.number("bias_cost", bias_cost, 0, open_low=True, open_high=True)

    def slope(t, p):
        return (1 - p) * moments.moment(1, -t, 1.0) - bias_cost * p * t

    return find_root(slope, (np.zeros_like(p), np.full_like(p, 40.0)), args=(p,)).x[()]


def small_noise_factor(p: ArrayLike, bias_cost: float = 0.25) -> Floats:
    """The loss of the best ReLU in units of sigma^2 as sigma -> 0 at fixed p.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    bias_cost : float
        As in `threshold`.

    Returns
    -------
    numpy.ndarray
        c(p) = min over t of (1 - p) E[ReLU(Z - t)^2] + p (1 + ``bias_cost`` t^2).

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: the sharp form of The Persian Rug, eq. 13 and eq. 17. c(p) / (p ln(1/p)) -> 1/2 as p -> 0,
    and c(p) / p is the largest ratio of the ReLU's loss to that of the Bayes decoder at this p,
    reached as r -> 1 (seen numerically for p <= 1/2, not proved).
    """
    p = features.probability(p)
    t = threshold(p, bias_cost)
    return (1 - p) * off_moment(t) + p * (1 + bias_cost * t**2)


def drop_ratio(p: ArrayLike, kappa: ArrayLike) -> Floats:
    """The compression ratio r = kappa p ln(1/p) at which the loss drops.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    kappa : array_like
        Place within the drop, above 0; small enough for r <= 1.

    Returns
    -------
    numpy.ndarray
        r in (0, 1].

    Raises
    ------
    ValueError
        If an argument is outside its range, or r above 1.
    """
    p = features.probability(p)
    return checks.real("r = kappa p ln(1/p)", _kappa(kappa) * p * np.log(1 / p), 0, 1, open_low=True)


def drop_threshold(kappa: ArrayLike) -> Floats:
    """The place mu below which strengths are lost in the drop: min(1, sqrt(2 / (3 kappa))).

    Parameters
    ----------
    kappa : array_like
        r / (p ln(1/p)), above 0.

    Returns
    -------
    numpy.ndarray
        mu in (0, 1]; 1 for kappa <= 2/3, where nothing is seen.

    Raises
    ------
    ValueError
        If `kappa` is not positive.

    Notes
    -----
    Source: ours, from sigma^2 = 1 / (3 kappa ln(1/p)) and a threshold of sqrt(2 ln(1/p)) sigma.
    """
    return np.minimum(1, np.sqrt(2 / (3 * _kappa(kappa))))


def drop_loss(kappa: ArrayLike) -> Floats:
    """Limit of L*/p for the ReLU as p -> 0 at r = kappa p ln(1/p).

    Parameters
    ----------
    kappa : array_like
        r / (p ln(1/p)), above 0.

    Returns
    -------
    numpy.ndarray
        mu^2 (3 + mu) / 12 with mu of `drop_threshold`; 1/3 for kappa <= 2/3.

    Raises
    ------
    ValueError
        If `kappa` is not positive.

    Notes
    -----
    Source: ours; it replaces "L/p -> 0 for r/p >> 1" (The Persian Rug, section 4.3.2). It is the
    error of the best a in E(u - a ReLU(u - mu))^2, with a = (2 + mu) / (2 (1 - mu)).
    """
    mu = drop_threshold(kappa)
    return mu**2 * (3 + mu) / 12


def drop_bayes(kappa: ArrayLike) -> Floats:
    """Limit of the loss over p for the Bayes decoder, and for JumpReLU, as p -> 0 at r = kappa p ln(1/p).

    Parameters
    ----------
    kappa : array_like
        r / (p ln(1/p)), above 0.

    Returns
    -------
    numpy.ndarray
        mu^3 / 3 with mu of `drop_threshold`: strengths below mu are lost, the others known.

    Raises
    ------
    ValueError
        If `kappa` is not positive.
    """
    return drop_threshold(kappa) ** 3 / 3


def loss_in_the_drop(p: ArrayLike, kappa: ArrayLike) -> Floats:
    """L*/p of the best ReLU at r = kappa p ln(1/p): what tends to `drop_loss`.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1]; tested down to 1e-100.
    kappa : array_like
        Place within the drop, above 0; small enough for r <= 1.

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ValueError
        If an argument is outside its range, or r above 1.

    Notes
    -----
    Source: `superposition.rug.meanfield.optimum`, with a shorter search.
    """
    p = features.probability(p)
    return _lowest_loss(p, drop_ratio(p, kappa)) / p


def half_ratio(p: float) -> float:
    """The compression ratio at which the best ReLU has half the variance of a feature as its loss.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in [1e-150, 1).

    Returns
    -------
    float
        r with L*(p, r) = Var[x] / 2.

    Raises
    ------
    ValueError
        If `p` is outside its range.

    Notes
    -----
    Source: ours. As p -> 0, r / (p ln(1/p)) -> `HALF_DROP` = (2 + sqrt 3) / 3 = 1.2440, where
    `drop_loss` is 1/6, that is mu = sqrt 3 - 1.
    """
    from scipy.optimize import brentq

    p = checks.number("p", p, 1e-150, 1, open_high=True)

    def excess(log_r):
        return float(_lowest_loss(p, np.exp(log_r)) / features.variance(p) - 0.5)

    # where nothing is seen yet, and where a linear decoder is there already (r = 1/2)
    low, high = min(p, 0.4), min(4 * p * np.log(1 / p) + p, 0.51)
    return float(np.exp(brentq(excess, np.log(low), np.log(high), xtol=1e-12)))


def _lowest_loss(p, r):
    """The loss of `meanfield.optimum`, in one search from the best grid point: fast where there are many valleys."""
    from scipy.optimize.elementwise import find_minimum

    p, sigma = np.broadcast_arrays(p, meanfield.noise_std(p, r))
    grid = meanfield.THRESHOLDS
    losses = meanfield.best_gain(grid, sigma[..., None], p[..., None])[1]
    middle = np.clip(np.argmin(losses, axis=-1), 1, grid.size - 2)
    bracket = tuple(grid[middle + step] for step in (-1, 0, 1))
    found = find_minimum(lambda z, s, q: meanfield.best_gain(z, s, q)[1], bracket, args=(sigma, p))
    return np.fmin(found.f_x, losses.min(axis=-1))


def _threshold(t):
    return checks.real("t", t, -40, 40)


def _kappa(kappa):
    return checks.real("kappa", kappa, 0, open_low=True, open_high=True)
