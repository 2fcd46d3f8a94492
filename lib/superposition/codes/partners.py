"""Outputs with one strong partner: antipodal rugs and digons.

One output is ``ReLU(a (x - c x' + nu) + b)``: its own feature, one partner with weight -c, and
Gaussian interference ``nu`` of all the others. The text's theory has no such partner, which beats
the Persian rug. `superposition.rug.optimum` is the same without the partner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import features, minima, ranges
from superposition.checked import checked
from superposition.codes import ranges as within
from superposition.moments import floats, gauss_legendre, moment, moment_direct, moment_tail, piecewise, ramp_moment
from superposition.rug.meanfield import THRESHOLDS, Optimum, noise_std

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from superposition.checks import Floats


@checked(
    ranges.together("a", "b", "sigma", "c", "p"), a=within.gain, b=ranges.real(), sigma=within.spread, c=within.partner,
    p=ranges.probability,
)  # fmt: skip
def partner_loss(a: ArrayLike, b: ArrayLike, sigma: ArrayLike, c: ArrayLike, p: ArrayLike) -> Floats:
    """Mean squared error of a feature whose output has a partner and Gaussian interference of all other features.

    The output is ``ReLU(a (x - c x' + nu) + b)``, x' the partner. An antipodal rug has c = 1.

    Parameters
    ----------
    b : array_like
        Bias, in [-1e30, 1e30]. It includes the mean of ``nu`` but not the mean of the partner: the effective bias, as
        in `superposition.rug.loss`, is b - a c p/2.
    sigma : array_like
        Standard deviation of all off-diagonal noise, as in `superposition.rug.loss`. This noise includes the partner,
        so that ``nu`` has variance sigma^2 - c^2 Var[x], which must not be negative.
    c : array_like
        Weight of the partner, from 1e-6 to 1e6.

    Returns
    -------
    numpy.ndarray
        The loss per feature, of the broadcast shape.

    Notes
    -----
    Source: ours; The Persian Rug, eq. 5, has no partner. Tested against 30-digit quadrature. Use
    `superposition.rug.loss` instead for a rug without partners.

    Examples
    --------
    >>> float(round(partner_loss(a=1.2, b=-0.3, sigma=0.25, c=1, p=0.05), 6))
    0.006852
    """
    # Four cases, own feature and partner on or off; each is an average of moments E[ReLU(m + s Z)^k] over uniform
    # strengths, and these averages are moments again, up to k = 4.
    a, b, sigma, c, p = floats(a, b, sigma, c, p)
    return _loss(a, b, _gaussian_part(sigma, c, p), c, p)


@checked(ranges.together("sigma", "c", "p"), sigma=within.noise_above, c=within.partner, p=ranges.probability)
def partner_optimum(sigma: ArrayLike, c: ArrayLike, p: ArrayLike) -> Optimum:
    """Gain and bias that minimise the `partner_loss`.

    Returns
    -------
    Optimum
        Fields ``a``, ``b``, ``sigma`` and ``loss``, each of the broadcast shape. Source: ours.

    Examples
    --------
    >>> float(partner_optimum(0.25, 1, 0.05).loss.round(5))
    0.00596
    """
    # Eq. 16 of The Persian Rug gives the gain for every b / a; the search runs along that line.
    sigma, c, p = floats(sigma, c, p)
    noise = _gaussian_part(sigma, c, p)
    z, found = minima.lowest(lambda *at: _profile(*at)[1], THRESHOLDS, (sigma, noise, c, p))
    a = _profile(z, sigma, noise, c, p)[0]
    return Optimum(*(value[()] for value in (a, a * z * sigma, sigma.copy(), found)))


@checked(ranges.together("p", "c"), p=ranges.probability, c=within.partner)
def digon(p: ArrayLike, c: ArrayLike = 1.0) -> Floats:
    """Best loss of a digon: two features in one dimension, without other interference (r = 1/2).

    Its matrix is ((a_1, -a_1 c), (-a_2 / c, a_2)), of rank one; tied for c = 1.

    Parameters
    ----------
    c : array_like
        The partner's weight in the first row, from 1e-6 to 1e6; 1 / c is that in the second.

    Returns
    -------
    numpy.ndarray
        The loss per feature, averaged over both.

    Notes
    -----
    Source: ours. As p -> 0 it is p^2 (1 + c^-2) (2 - 1/c) / 12 for c >= 1: p^2 / 6 for the tied digon, and least at
    c = 3, where it is 25/162 p^2. Use `best_digon` instead for the best c.

    Examples
    --------
    >>> p = 1e-6
    >>> float(round(digon(p, c=1) / p**2, 4)), float(round(digon(p, c=3) / p**2, 4))
    (0.1667, 0.1543)
    """
    p, c = np.broadcast_arrays(np.asarray(p, float), np.asarray(c, float))
    weight = np.stack([c, 1 / c])  # of either partner on the other
    return partner_optimum.unchecked(weight * np.sqrt(features.variance(p)), weight, p).loss.sum(axis=0) / 2


@checked(p=ranges.probability)
def best_digon(p: ArrayLike) -> tuple[Floats, Floats]:
    """Best digon over the ratio of its two weights.

    Returns
    -------
    c : numpy.ndarray
        The partner's weight in the first row, from 1 to 5; 1 / c is that in the second.
    loss : numpy.ndarray
        The loss per feature there.

    Notes
    -----
    Source: ours; a grid of ratios, and a parabola through the best three.

    Examples
    --------
    >>> c, loss = best_digon(0.05)
    >>> round(float(c), 2), round(float(loss), 6)
    (2.97, 0.000385)
    """
    p = np.asarray(p, float)
    grid = np.linspace(0, np.log(5), 17)
    values = digon(p[..., None], np.exp(grid))
    index = np.clip(values.argmin(axis=-1), 1, len(grid) - 2)
    low, middle, high = (np.take_along_axis(values, (index + k)[..., None], -1)[..., 0] for k in (-1, 0, 1))
    bend = low - 2 * middle + high
    shift = np.clip((low - high) / (2 * np.where(bend != 0, bend, 1)), -1, 1)  # 0 where p^2 is below all numbers
    c = np.exp(grid[index] + shift * grid[1])
    return c[()], digon(p, c)


@checked(ranges.together("p", "r"), p=ranges.probability, r=within.antipodal_ratio)
def antipodal_optimum(p: ArrayLike, r: ArrayLike) -> Optimum:
    """Gain and bias that minimise the loss of an antipodal rug.

    Parameters
    ----------
    r : array_like
        Compression ratio nd / ns, in (0, 1/2]. At r = 1/2 the rug consists of separate digons.

    Returns
    -------
    Optimum
        Fields ``a``, ``b`` (as in `partner_loss`), ``sigma`` (the same as that of `superposition.rug.optimum`) and
        ``loss``, each of the broadcast shape.

    Notes
    -----
    Source: ours. The matrix is a scaled projector with constant diagonal, like the text's rug, and saturates The
    Persian Rug's eq. 6; only the distribution of the interference differs.

    Examples
    --------
    >>> from superposition import rug
    >>> float(round(antipodal_optimum(p=0.05, r=0.2).loss / rug.optimum(p=0.05, r=0.2).loss, 3))
    0.826
    """
    return partner_optimum.unchecked(noise_std(p, r), 1.0, p)


def _gaussian_part(sigma, c, p):
    """Standard deviation of the interference without the partner."""
    partner = c**2 * features.variance(p)
    rest = sigma**2 - partner
    if np.any(rest < -1e-12 * partner):
        index, p = np.argmin(rest), np.broadcast_to(p, rest.shape)
        raise ValueError(
            f"sigma = {sigma.flat[index]:g} is out of range; allowed: the partner's own noise or more, "
            f"{np.sqrt(partner.flat[index]):g} at c = {c.flat[index]:g} and p = {p.flat[index]:g}"
        )
    return np.sqrt(np.where(rest > 1e-12 * partner, rest, 0))


def _loss(a, b, noise, c, p):
    a, b, noise, c, p = np.broadcast_arrays(a, b, noise, c, p)
    return _combined(_parts(a, b, a * noise, c), a, b, a * noise, c, p)


def _parts(a, b, s, c):
    """E[R^2] with nothing on, with the partner on; E[u R], E[R^2] of the smaller part with the feature, with both."""
    own = _one_on_smaller_part(b, a, s)
    both = _both_on_smaller_part(a, b, s, c, b + a * (1 - c) / 2)
    return moment(2, b, s), _square_of_one(b, -a * c, s), own, both


def _combined(parts, a, b, s, c, p):
    """The loss from `_parts`."""
    nothing, partner, own, both = parts
    on = (1 - p) * _error(own, a, b, s, 0) + p * _error(both, a, b, s, c)
    return (1 - p) * ((1 - p) * nothing + p * partner) + p * on


def _error(smaller, a, b, s, c):
    """E[(u - R)^2] of the feature's strength u and R = ReLU(y), y = b + a u - a c u' + s Z."""
    product, square = smaller
    mean = b + a * (1 - c) / 2
    linear = (1 / 2 - mean) ** 2 + ((1 - a) ** 2 + (a * c) ** 2) / 12 + s**2
    return np.where(mean > 0, linear - 2 * product - square, 1 / 3 - 2 * product + square)


def _overlap_and_power(smaller, a, b, s, c):
    """E[u R] and E[R^2] of the same."""
    product, square = smaller
    mean = b + a * (1 - c) / 2
    power = mean**2 + a**2 * (1 + c**2) / 12 + s**2
    return np.where(mean > 0, mean / 2 + a / 12 + product, product), np.where(mean > 0, power - square, square)


def _square_of_one(b, slope, s):
    """E[R^2] of R = ReLU(y), y = b + slope u + s Z, with u uniform."""
    mean = b + slope / 2
    side = np.where(mean > 0, -1.0, 1.0)
    square = ramp_moment(0, 2, side * b, side * slope, s)
    return np.where(mean > 0, mean**2 + slope**2 / 12 + s**2 - square, square)


def _one_on_smaller_part(b, slope, s):
    """E[u R] and E[R^2] of the positive part of y where its mean is negative, of the negative part elsewhere."""
    # y+ = y + y-, y+^2 = y^2 - y-^2: where y is mostly positive its negative part is what does not cancel
    side = np.where(b + slope / 2 > 0, -1.0, 1.0)
    return tuple(ramp_moment(j, k, side * b, side * slope, s) for j, k in ((1, 1), (0, 2)))


def _both_on_smaller_part(a, b, s, c, mean):
    """E[u R] and E[R^2] of the positive part of y where its mean is negative, of the negative part elsewhere."""
    side = np.where(mean > 0, -1.0, 1.0)
    m, own, partner, s = np.broadcast_arrays(side * b, side * a, -side * a * c, s)
    smooth = (s > 0.5 * np.abs(own)) | (np.abs(partner) < 0.05 * np.abs(own))  # differences of fourth moments cancel
    product, square = np.empty(m.shape), np.empty(m.shape)
    for chosen, function in ((smooth, _both_on_by_quadrature), (~smooth, _both_on_closed)):
        if chosen.any():
            product[chosen], square[chosen] = function(*(value[chosen] for value in (m, own, partner, s)))
    return product, square


def _both_on_by_quadrature(m, own, partner, s):
    nodes, weights = gauss_legendre(64)
    shifted = m[..., None] + partner[..., None] * nodes
    wide = [np.broadcast_to(value[..., None], shifted.shape) for value in (own, s)]
    return tuple(ramp_moment(j, k, shifted, *wide) @ weights for j, k in ((1, 1), (0, 2)))


def _both_on_closed(m, own, partner, s):
    upper, lower = (_ramps_of_the_pair(own, shifted, s) for shifted in (m + partner, m))
    return (upper[0] - lower[0]) / (2 * partner), (upper[1] - lower[1]) / (3 * partner)


def _ramps_of_the_pair(slope, m, s):
    """Integrals over u in [0, 1] of u M_2(m + slope u) and of M_3(m + slope u)."""
    cubes = (_fourth_moment(m + slope, s) - _fourth_moment(m, s)) / (4 * slope)
    return (moment(3, m + slope, s) - cubes) / (3 * slope), cubes


def _fourth_moment(m, s):
    """M_4 = m M_3 + 3 s^2 M_2; in the lower tail by the continued fraction of the others."""
    positive = np.where(s > 0, s, 1.0)
    z = np.clip(np.where(s > 0, m / positive, np.copysign(np.inf, m)), -40, 40)
    return piecewise(z < -2.5, moment_tail, _fourth_moment_direct, 4, m, s, z)


def _fourth_moment_direct(k, m, s, z):
    return m * moment_direct(k - 1, m, s, z) + 3 * s**2 * moment_direct(k - 2, m, s, z)


def _profile(z, sigma, noise, c, p):
    """Best gain at b = z a sigma, and the loss there."""
    z, sigma, noise, c, p = np.broadcast_arrays(z, sigma, noise, c, p)
    one, shift = np.ones(z.shape), z * sigma
    nothing, partner, *smaller = _parts(one, shift, noise, c)
    own, both = (_overlap_and_power(part, one, shift, noise, k) for part, k in zip(smaller, (0, c), strict=True))
    overlap = p * ((1 - p) * own[0] + p * both[0])
    power = (1 - p) * ((1 - p) * nothing + p * partner) + p * ((1 - p) * own[1] + p * both[1])
    alive = (power > 0) & (overlap > 1e-150)
    a = np.where(alive, overlap / np.where(alive, power, 1), 1.0)
    # R grows with the gain
    scaled = nothing * a**2, partner * a**2, *((product * a, square * a**2) for product, square in smaller)
    value = _combined(scaled, a, a * shift, a * noise, c, p)
    return a, np.where(alive, value, features.second_moment(p))
