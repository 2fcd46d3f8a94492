"""The mean-field loss of a sparse autoencoder with Gaussian interference.

Source: The Persian Rug (Cowsik, Dolev and Infanger), sections 4 and 5, Appendices A, B and D. One output sees ``ReLU(a
(x + nu) + b)`` with interference ``nu ~ N(0, sigma^2)``, and should reproduce the feature ``x = c u``, ``c ~
Bernoulli(p)``, ``u ~ U[0, 1]``.

Everything is built from the moments M_k(m, s) = E[ReLU(m + s Z)^k], Z standard normal, and
from their averages over ``u``, the ramp integrals of ``_ramp``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import features, minima, ranges
from superposition.checked import checked
from superposition.moments import floats, moment, ramp_moment
from superposition.rug.ranges import biases, flush_underflow, gains, loud_enough, positive_spreads, rare, spreads

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from superposition.checks import Floats


@dataclass(frozen=True)
class Gradient:
    """Partial derivatives of the loss with respect to a, b and sigma (same shape each); unpacks in that order.

    Examples
    --------
    >>> da, db, dsigma = loss_grad(1.2, -0.4, 0.25, 0.05)
    >>> round(float(db), 4)
    0.013
    """

    a: np.ndarray
    b: np.ndarray
    sigma: np.ndarray

    def __iter__(self):
        """Give the three in order, as in ``da, db, dsigma = loss_grad(...)``."""
        return iter((self.a, self.b, self.sigma))


@dataclass(frozen=True)
class Optimum:
    """The best gain ``a`` and bias ``b`` at the smallest ``sigma``, and their ``loss``.

    Examples
    --------
    >>> best = optimum(p=0.05, r=1.0)
    >>> float(best.a), float(best.b), float(best.loss)
    (1.0, 0.0, 0.0)
    """

    a: np.ndarray
    b: np.ndarray
    sigma: np.ndarray
    loss: np.ndarray


@checked(ranges.together("a", "b", "sigma", "p"), a=gains, b=biases, sigma=spreads, p=ranges.probability)
def loss(a: ArrayLike, b: ArrayLike, sigma: ArrayLike, p: ArrayLike) -> Floats:
    """Mean squared error of one feature, L(a, b, sigma).

    Returns
    -------
    numpy.ndarray
        The loss per feature, shape of the broadcast arguments.

    Notes
    -----
    Source: The Persian Rug, eq. 5 and the split into on and off terms below it; the closed
    form is ours. Tested to 1e-10 relative against 30-digit quadrature for 1e-12 <= p <= 1,
    sigma of every 0 < r <= 1, 1e-3 <= a <= 5 and abs(b) <= 5, optima included. Use `row_loss`
    instead when the interference has few terms and is not Gaussian.

    Examples
    --------
    >>> float(round(loss(a=1.2, b=-0.4, sigma=0.25, p=0.05), 6))
    0.007729
    """
    a, b, sigma, p = _arguments(a, b, sigma, p)
    return _loss(a, b, a * sigma, p)


@checked(ranges.together("a", "b", "sigma", "p"), a=gains, b=biases, sigma=spreads, p=ranges.probability)
def loss_grad(a: ArrayLike, b: ArrayLike, sigma: ArrayLike, p: ArrayLike) -> Gradient:
    """Gradient of `loss` with respect to a, b and sigma.

    Returns
    -------
    Gradient
        Fields ``a``, ``b``, ``sigma``, each of the broadcast shape.

    Notes
    -----
    Source: derivative of The Persian Rug, eq. 5, by d/dm M_k = k M_{k-1} and
    d/ds^2 M_k = k (k-1)/2 M_{k-2}.

    Examples
    --------
    >>> da, db, dsigma = loss_grad(a=1.2, b=-0.4, sigma=0.25, p=0.05)
    >>> float(round(dsigma, 5))
    0.07582
    """
    a, b, sigma, p = _arguments(a, b, sigma, p)
    s = a * sigma
    below, side = _sides(a, b)

    def ramp(j, k):
        return ramp_moment.unchecked(j, k, side * b, side * a, s)

    density = s * ramp(1, -1)  # E[u phi((a u + b) / s)], the derivative of E[u M_1] in s
    on_a = -2 * (side * ramp(2, 0) + sigma * density) + 2 * ramp(1, 1) + 2 * side * a * sigma**2 * ramp(0, 0)
    on_sigma = -2 * a * density + 2 * side * a * s * ramp(0, 0)
    on_a = on_a + np.where(below, -2 * (1 - a) / 3 + b + 2 * a * sigma**2, 0)
    on_sigma = on_sigma + np.where(below, 2 * a * s, 0)
    off = moment.unchecked(0, b, s)
    return Gradient(
        a=(1 - p) * 2 * a * sigma**2 * off + p * on_a,
        b=_by_bias(a, b, s, p),
        sigma=(1 - p) * 2 * a * s * off + p * on_sigma,
    )


@checked(ranges.together("p", "r"), p=rare, r=ranges.ratio)
def noise_std(p: ArrayLike, r: ArrayLike) -> Floats:
    """Smallest interference at ratio r: sigma^2 = (4 p - 3 p^2) / 12 (1/r - 1).

    Returns
    -------
    numpy.ndarray
        sigma, 0 at r = 1, shape of the broadcast arguments.

    Notes
    -----
    Source: The Persian Rug, eq. 6 at equality.

    Examples
    --------
    >>> float(round(noise_std(p=0.05, r=0.2), 5))
    0.25331
    """
    r = np.asarray(r, float)
    return np.sqrt(features.variance.unchecked(p) * (1 - r) / r)


@checked(ranges.together("p", "r"), p=rare, r=ranges.ratio)
def linear_loss(p: ArrayLike, r: ArrayLike) -> Floats:
    """Loss per feature of the best linear autoencoder, Var[x] (1 - r), shape of the broadcast arguments.

    Notes
    -----
    Source: The Persian Rug, section 2 ("closely related to principal component analysis").

    Examples
    --------
    >>> float(round(linear_loss(p=0.05, r=0.2), 6))
    0.012833
    """
    return features.variance.unchecked(p) * (1 - np.asarray(r, float))


@checked(ranges.together("p", "r"), loud_enough, p=rare, r=ranges.ratio)
def optimum(p: ArrayLike, r: ArrayLike) -> Optimum:
    """Gain and bias that minimise the loss at the smallest interference.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1]; tested for 1e-12 <= p <= 1. Below 1e-30 it is refused where the
        noise is below 1e-8.
    r : array_like
        Compression ratio nd / ns, in (0, 1]; r = 1 is sigma = 0, solved exactly.

    Returns
    -------
    Optimum
        Fields ``a``, ``b``, ``sigma``, ``loss``, each of the broadcast shape.

    Raises
    ------
    ValueError
        If an argument is outside of its range.
    RuntimeError
        If the search misses the minimum, as for p < 1e-26 at r > 1 - 1e-9.

    Notes
    -----
    Source: The Persian Rug, section 4.2 ("we do this numerically"), eq. 9 and eq. 14 to eq. 16. Use
    `loss_in_the_drop` instead for p down to 1e-150, and `jumprelu_optimum` or `bayes_loss` for better
    activations.

    Examples
    --------
    >>> best = optimum(p=0.05, r=0.2)
    >>> round(float(best.a), 4), round(float(best.b), 4), round(float(best.loss), 6)
    (1.1703, -0.4649, 0.007427)
    >>> optimum(0.05, [0.1, 0.2, 1.0]).loss.round(5)
    array([0.01222, 0.00743, 0.     ])
    """
    # Eq. 14 scales the gain out of the ReLU, eq. 15 sets the derivative with respect to it to zero, and eq. 16 (eq. 9
    # without a bias) is the gain that solves it for every b / a. So the search runs along one line: a grid of
    # b / (a sigma), then every valley that may win is refined.
    p, r = floats(p, r)
    sigma = noise_std(p, r)
    noisy = np.where(sigma > 0, sigma, 1.0)
    z, lowest = minima.lowest(lambda *at: best_gain.unchecked(*at)[1], THRESHOLDS, (noisy, p), slope=_slope)
    a = best_gain.unchecked(z, noisy, p)[0]
    exact = sigma == 0
    found = ((1.0, a), (0.0, a * z * noisy), (0.0, sigma), (0.0, lowest))
    return Optimum(*(np.where(exact, free, value)[()] for free, value in found))


# b / (a sigma): thresholds on the negative side, nearly linear decoders on the positive one
THRESHOLDS = np.concatenate([-np.geomspace(40, 0.05, 120), np.linspace(-0.04, 0.04, 5), np.geomspace(0.05, 1e8, 120)])


def _arguments(a, b, sigma, p):
    a, b, sigma, p = floats(a, b, sigma, p)
    return a, b, flush_underflow(sigma), p


def _loss(a, b, s, p):
    """The loss; s = a sigma."""
    below, side = _sides(a, b)
    base = np.where(below, (1 - a) ** 2 / 3 - (1 - a) * b + b**2 + s**2, 1 / 3)
    on = (
        base
        - 2 * ramp_moment.unchecked(1, 1, side * b, side * a, s)
        + side * ramp_moment.unchecked(0, 2, side * b, side * a, s)
    )
    return (1 - p) * moment.unchecked(2, b, s) + p * on


def _sides(a, b):
    """Mask of where to start from E(u - y)^2 instead of E u^2, and the sign of the part that is then small."""
    # With y = a (u + nu) + b, the error (u - ReLU y)^2 is u^2 - 2 u y+ + y+^2, and also
    # (u - y)^2 - 2 u y- - y-^2. The one whose parts are small does not cancel.
    below = b > -a / 2
    return below, np.where(below, -1.0, 1.0)


def _by_bias(a, b, s, p):
    """Derivative of the loss with respect to b; s = a sigma."""
    below, side = _sides(a, b)
    on = -2 * side * ramp_moment.unchecked(1, 0, side * b, side * a, s) + 2 * ramp_moment.unchecked(
        0, 1, side * b, side * a, s
    )
    return (1 - p) * 2 * moment.unchecked(1, b, s) + p * (on + np.where(below, a - 1 + 2 * b, 0))


def _gain(shift, sigma, p):
    """The best gain at b = shift a (The Persian Rug, eq. 16), 1 where nothing passes; and a mask of what passes."""
    one = np.ones_like(shift)
    overlap = p * ramp_moment.unchecked(1, 1, shift, one, sigma)
    power = (1 - p) * moment.unchecked(2, shift, sigma) + p * ramp_moment.unchecked(0, 2, shift, one, sigma)
    alive = (power > 0) & (overlap > 1e-150)
    return np.where(alive, overlap / np.where(alive, power, 1), 1.0), alive


@checked(
    ranges.together("z", "sigma", "p"),
    z=ranges.real(-ranges.LARGEST, 1e8),
    sigma=positive_spreads,
    p=ranges.real(1e-100, 1),
)
def best_gain(z: ArrayLike, sigma: ArrayLike, p: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Best gain a at the bias b = z a sigma, and the loss there.

    Returns
    -------
    a : numpy.ndarray
        The gain, 1 where nothing passes; shape of the broadcast arguments.
    loss : numpy.ndarray
        The loss per feature, equal to the loss of a silent output where nothing passes the ReLU.

    Notes
    -----
    Source: The Persian Rug, eq. 9, 14, 15 and 16; eq. 8 for much noise. Above z = 1e6 rounding
    costs a share of up to 1e-17 z^2 of the loss. Use `optimum` instead for the best z.

    Examples
    --------
    >>> a, loss = best_gain(z=-1.5, sigma=0.25, p=0.05)
    >>> round(float(a), 4), round(float(loss), 6)
    (1.1283, 0.007282)
    """
    z, sigma, p = np.broadcast_arrays(z, sigma, p)
    a, alive = _gain(z * sigma, sigma, p)
    value = _loss(a, a * (z * sigma), a * sigma, p)
    return a, np.where(alive, value, features.second_moment.unchecked(p))


def _slope(z, sigma, p):
    """A number with the sign of dL/dz on the line of best gains, where dL/dz is a sigma dL/db."""
    a, _ = _gain(z * sigma, sigma, p)
    return _by_bias(a, a * z * sigma, a * sigma, p)
