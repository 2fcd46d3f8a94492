"""Whether true directions minimise the loss of a sparse autoencoder with a price of activity, on a large rug.

The loss is E |h - h'|^2 / 2 + lambda E sum_k f_k, with f = ReLU(W_enc (h - b_dec) + b_enc) and h' = W_dec f + b_dec,
columns of W_dec of length one. Losses here are per feature, to leading order in 1/n_s: overlaps of a rug are then small
and many, and interference is Gaussian. Source: ours.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from superposition import features, ranges
from superposition.checked import checked
from superposition.decoders.ranges import price
from superposition.moments import moment, ramp_moment

LOWEST, HIGHEST = 1e-3, 0.3  # prices between which the border is searched for


class Priced(NamedTuple):
    """The least loss per feature, and the gain a and bias b of the encoder a D^T that has it."""

    loss: float
    a: float
    b: float


@checked(
    a=ranges.number(1e-6, 1e6), b=ranges.number(-1e6, 1e6), price=price, p=ranges.one_probability,
    r=ranges.number(1e-6, 1),
)  # fmt: skip
def truth_loss(a: float, b: float, price: float, p: float, r: float) -> float:
    """Loss of true directions on a rug, read along themselves: f_i = ReLU(a (x_i - E x_i + z_i) + b).

    Notes
    -----
    Source: ours; per feature, for large rugs. Use `least_priced_loss` instead for the best a and b.

    Examples
    --------
    >>> round(truth_loss(1.0, -0.1, 0.05, 0.05, 0.375), 5)
    0.00344
    """
    # z_i is the interference less its mean, Gaussian of variance V (1/r - 1). With errors e_i = x_i - f_i the squared
    # error is sum_ij G_ij cov(e_i, e_j), G = D^T D; the covariance is k G_ij for i != j, and sum_j G_ij^2 = 1/r - 1.
    V = float(features.variance(p))
    s, off = a * np.sqrt(V * (1 / r - 1)), b - a * features.mean(p)
    on, mean, square = ((1 - p) * moment(k, off, s) + p * ramp_moment(0, k, off, a, s) for k in range(3))
    with_feature = p * ramp_moment(1, 1, off, a, s) - p / 2 * mean
    k = -2 * a * on * (V - with_feature) + (a * on) ** 2 * V * (1 / r - 2)
    error = V - 2 * with_feature + square - mean**2
    return float((error + (1 / r - 1) * k) / 2 + price * mean)


@checked(
    a=ranges.number(1e-6, 1e6), b=ranges.number(-1e6, 1e6), price=price, p=ranges.one_probability,
    r=ranges.number(1e-6, 0.5),
)  # fmt: skip
def pairs_loss(a: float, b: float, price: float, p: float, r: float) -> float:
    """Loss of directions independent of the features: an antipodal rug, two latents on each line, r up to 1/2.

    Notes
    -----
    Source: ours; per feature, for large rugs. Use `least_priced_loss` instead for the best a and b.

    Examples
    --------
    >>> round(pairs_loss(1.0, -0.1, 0.05, 0.05, 0.375), 5)
    0.00271
    """
    # Along a line h is Gaussian of variance V / r, by many features of equal size. Of a line f - f' is odd.
    v = float(features.variance(p)) / r
    s = a * np.sqrt(v)
    on, mean, square = (2 * moment(k, b, s) for k in range(3))
    lines = (square + (1 / (2 * r) - 1) * (a * on) ** 2 * v) / 2 - a * on * v + price * mean
    return float(r * v + lines) / 2


@checked(loss=ranges.function, price=price, p=ranges.one_probability, r=ranges.number(1e-6, 1))
def least_priced_loss(loss, price: float, p: float, r: float) -> Priced:
    """The least of `truth_loss` or `pairs_loss` over gain and bias.

    Parameters
    ----------
    loss : callable
        `truth_loss` or `pairs_loss`.

    Returns
    -------
    Priced
        ``loss``, ``a`` and ``b``, with a in [0.01, 4] and b in [-2, 2].

    Notes
    -----
    Source: ours; the least of six descents.

    Examples
    --------
    >>> round(least_priced_loss(truth_loss, 0.05, 0.05, 0.375).loss, 5)
    0.00197
    """
    from scipy.optimize import minimize

    # a bias above zero keeps a latent on for noise, one below makes it wait for its feature: a valley each
    starts = [(gain, bias) for gain in (0.5, 1.0) for bias in (-0.2, -0.02, 0.05)]
    found = [
        minimize(lambda at: loss(*at, price, p, r), start, method="L-BFGS-B", bounds=((0.01, 4), (-2, 2)), tol=1e-12)
        for start in starts
    ]
    best = min(found, key=lambda one: one.fun)
    return Priced(float(best.fun), *map(float, best.x))


@checked(p=ranges.one_probability, r=ranges.number(1e-6, 0.5))
def border_price(p: float, r: float) -> float:
    """The price lambda_1 at which true directions of a large rug and pairs independent of them have the same loss.

    Returns
    -------
    float
        From 0.001 to 0.3.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or there is no such price.

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> round(border_price(0.05, 0.375), 4)
    0.0246
    """
    return _border(p, r)


@cache
def _border(p, r):
    """The same, which pages and tables ask for again and again."""
    from scipy.optimize import brentq

    def ahead(log_price):
        price = float(np.exp(log_price))
        truth, pairs = (least_priced_loss(loss.unchecked, price, p, r).loss for loss in (truth_loss, pairs_loss))
        return np.log(truth / pairs)

    try:
        return float(np.exp(brentq(ahead, np.log(LOWEST), np.log(HIGHEST), xtol=1e-6)))
    except ValueError:  # one sign at both ends
        between = f"a border from {LOWEST:g} to {HIGHEST:g}"
        raise ValueError(f"p, r = {p:g}, {r:g} have no border; allowed: {between}") from None
