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

from superposition import checks, features, moments, ranges
from superposition.checked import checked
from superposition.rug import meanfield
from superposition.rug.ranges import LARGEST, not_all, rare

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from superposition.checks import Floats

HALF_DROP = (2 + np.sqrt(3)) / 3  # kappa where half of the loss is gone: mu = sqrt(3) - 1


@checked(t=ranges.real(-LARGEST, 40))
def off_moment(t: ArrayLike) -> Floats:
    """Part of unit noise that passes a threshold t <= 40: E[ReLU(Z - t)^2], shape of t.

    Notes
    -----
    Source: The Persian Rug, eq. 10 divided by sigma^2; the closed form is ours.

    Examples
    --------
    >>> float(off_moment(2.0).round(6))
    0.005769
    """
    return moments.moment(2, -np.asarray(t, float), 1.0)[()]


@checked(ranges.together("p", "bias_cost"), p=rare, bias_cost=ranges.number(1e-3, 1e3))
def small_noise_threshold(p: ArrayLike, bias_cost: float = 0.25) -> Floats:
    """Best threshold t = -b / (a sigma) as sigma goes to 0 at fixed p, in [0, 40]; shape of p.

    Parameters
    ----------
    bias_cost : float
        Price of a bias in units of t^2 sigma^2 for each feature that is on: 1/4 with the best gain a = 1 + 3/2 t sigma,
        and 1 with a = 1, the text's choice.

    Notes
    -----
    Source: the sharp form of The Persian Rug, eq. 12. Use `optimum` instead at a given ratio.

    Examples
    --------
    >>> float(small_noise_threshold(0.05).round(4))
    1.6331
    """
    from scipy.optimize.elementwise import find_root

    # It balances the noise that passes against the price of a bias. For small p the balance becomes
    # phi(t) = p t^3 / 4, so that t^2 -> 2 ln(1/p).
    p = np.asarray(p, float)

    def slope(t, p):
        return (1 - p) * moments.moment(1, -t, 1.0) - bias_cost * p * t

    return find_root(slope, (np.zeros_like(p), np.full_like(p, 40.0)), args=(p,)).x[()]


@checked(ranges.together("p", "bias_cost"), p=rare, bias_cost=ranges.number(1e-3, 1e3))
def small_noise_factor(p: ArrayLike, bias_cost: float = 0.25) -> Floats:
    """Loss of the best ReLU in units of sigma^2 as sigma goes to 0 at fixed p; shape of p.

    Parameters
    ----------
    bias_cost : float
        As in `small_noise_threshold`.

    Notes
    -----
    Source: the sharp form of The Persian Rug, eq. 13 and eq. 17. Use `optimum` instead at a given ratio, and
    `drop_loss` where r falls with p.

    Examples
    --------
    >>> float(small_noise_factor(0.05).round(4))
    0.0987
    """
    # c(p) / (p ln(1/p)) -> 1/2 as p -> 0, and c(p) / p is the largest ratio of the ReLU's loss to that of the Bayes
    # decoder at this p, reached as r -> 1 (seen numerically for p <= 1/2, not proved)
    p = np.asarray(p, float)
    t = small_noise_threshold(p, bias_cost)
    return (1 - p) * off_moment(t) + p * (1 + bias_cost * t**2)


@checked(ranges.together("p", "kappa"), p=rare, kappa=ranges.real(1e-30, LARGEST))
def drop_ratio(p: ArrayLike, kappa: ArrayLike) -> Floats:
    """Compression ratio r = kappa p ln(1/p) at which the loss drops; the broadcast shape.

    Notes
    -----
    Source: ours, for The Persian Rug, section 4.3.2.

    Examples
    --------
    >>> float(drop_ratio(0.001, kappa=1.5).round(5))
    0.01036
    """
    p = np.asarray(p, float)
    return checks.real("r = kappa p ln(1/p)", np.asarray(kappa, float) * p * np.log(1 / p), 0, 1, open_low=True)


@checked(kappa=ranges.real(1e-30, LARGEST))
def drop_threshold(kappa: ArrayLike) -> Floats:
    """Strength mu below which features are lost in the drop: min(1, sqrt(2 / (3 kappa))), shape of kappa.

    Notes
    -----
    Source: ours, from sigma^2 = 1 / (3 kappa ln(1/p)) and a threshold of sqrt(2 ln(1/p)) sigma.

    Examples
    --------
    >>> float(drop_threshold(1.5).round(4))
    0.6667
    """
    return np.minimum(1, np.sqrt(2 / (3 * np.asarray(kappa, float))))


@checked(kappa=ranges.real(1e-30, LARGEST))
def drop_loss(kappa: ArrayLike) -> Floats:
    """Limit of L*/p for the ReLU as p goes to 0 at r = kappa p ln(1/p): mu^2 (3 + mu) / 12, shape of kappa.

    Notes
    -----
    Source: ours; replaces "L/p -> 0 for r/p >> 1" (The Persian Rug, section 4.3.2). For kappa <= 2/3 no feature is
    seen, and it is 1/3. Use `loss_in_the_drop` instead at a given p.

    Examples
    --------
    >>> float(drop_loss(1.5).round(4))
    0.1358
    """
    # the error of the best a in E(u - a ReLU(u - mu))^2, with a = (2 + mu) / (2 (1 - mu))
    mu = drop_threshold(kappa)
    return mu**2 * (3 + mu) / 12


@checked(ranges.together("p", "kappa"), p=ranges.real(1e-100, 1, open_high=True), kappa=ranges.real(1e-30, LARGEST))
def loss_in_the_drop(p: ArrayLike, kappa: ArrayLike) -> Floats:
    """L*/p of the best ReLU at r = kappa p ln(1/p), for p down to 1e-100; the broadcast shape.

    Notes
    -----
    Source: The Persian Rug, section 4.3.2 (ours); tends to `drop_loss`.

    Examples
    --------
    >>> float(loss_in_the_drop(1e-12, kappa=1.5).round(4))
    0.1386
    """
    p = np.asarray(p, float)
    return _lowest_loss(p, drop_ratio(p, kappa)) / p


@checked(p=not_all)
def half_ratio(p: ArrayLike) -> Floats:
    """Compression ratio at which the loss of the best ReLU is half of the variance of a feature; shape of p.

    Raises
    ------
    ValueError
        If an argument is outside of its range.
    RuntimeError
        If the search fails.

    Notes
    -----
    Source: ours; for small p it is `HALF_DROP` p ln(1/p).

    Examples
    --------
    >>> float(half_ratio(0.05).round(4))
    0.1849
    """
    from scipy.optimize.elementwise import find_root

    def excess(log_r, p):
        return _lowest_loss(p, np.exp(log_r)) / features.variance.unchecked(p) - 0.5

    p = np.asarray(p, float)
    # where nothing is seen yet, and where a linear decoder is there already (r = 1/2)
    low, high = np.minimum(p, 0.4), np.minimum(4 * p * np.log(1 / p) + p, 0.51)
    found = find_root(excess, (np.log(low), np.log(high)), args=(p,), tolerances={"xatol": 1e-12})
    if not np.all(found.success):
        raise RuntimeError(f"no ratio of half the variance was found for p = {checks.shown(p)}")
    return np.exp(found.x)[()]


def _lowest_loss(p, r):
    """The loss of `meanfield.optimum`, in one search from the best grid point: fast where there are many valleys."""
    from scipy.optimize.elementwise import find_minimum

    p, sigma = np.broadcast_arrays(p, meanfield.noise_std(p, r))
    grid = meanfield.THRESHOLDS
    losses = meanfield.best_gain.unchecked(grid, sigma[..., None], p[..., None])[1]
    middle = np.clip(np.argmin(losses, axis=-1), 1, grid.size - 2)
    bracket = tuple(grid[middle + step] for step in (-1, 0, 1))
    found = find_minimum(lambda z, s, q: meanfield.best_gain.unchecked(z, s, q)[1], bracket, args=(sigma, p))
    return np.fmin(found.f_x, losses.min(axis=-1))
