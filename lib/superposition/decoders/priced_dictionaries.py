"""Whether true directions minimise the loss of a sparse autoencoder with a price of activity, on a large rug.

The loss is E |h - h'|^2 / 2 + lambda E sum_k f_k, with f = ReLU(W_enc (h - b_dec) + b_enc) and h' = W_dec f + b_dec,
columns of W_dec of length one. Losses here are per feature, to leading order in 1/n_s: overlaps of a rug are then small
and many, and interference is Gaussian. Source: ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from superposition import features
from superposition.moments import moment, ramp_moment

LOWEST, HIGHEST = 1e-3, 0.3  # prices between which the border is searched for


class Priced(NamedTuple):
    """The least loss per feature, and the gain a and bias b of the encoder a D^T that has it."""

    loss: float
    a: float
    b: float


def truth_loss(a: float, b: float, price: float, p: float, r: float) -> float:
    """Loss of true directions on a rug, read along themselves: f_i = ReLU(a (x_i - E x_i + z_i) + b)."""
    # z_i is the interference less its mean, Gaussian of variance V (1/r - 1). With errors e_i = x_i - f_i the squared
    # error is sum_ij G_ij cov(e_i, e_j), G = D^T D; the covariance is k G_ij for i != j, and sum_j G_ij^2 = 1/r - 1.
    V = float(features.variance(p))
    s, off = a * np.sqrt(V * (1 / r - 1)), b - a * features.mean(p)
    on, mean, square = ((1 - p) * moment(k, off, s) + p * ramp_moment(0, k, off, a, s) for k in range(3))
    with_feature = p * ramp_moment(1, 1, off, a, s) - p / 2 * mean
    k = -2 * a * on * (V - with_feature) + (a * on) ** 2 * V * (1 / r - 2)
    error = V - 2 * with_feature + square - mean**2
    return float((error + (1 / r - 1) * k) / 2 + price * mean)


def pairs_loss(a: float, b: float, price: float, p: float, r: float) -> float:
    """Loss of directions that know nothing of the features: an antipodal rug, two latents a line, r up to 1/2."""
    # Along a line h is Gaussian of variance V / r: many features, none of which stands out. Of a line f - f' is odd.
    v = float(features.variance(p)) / r
    s = a * np.sqrt(v)
    on, mean, square = (2 * moment(k, b, s) for k in range(3))
    lines = (square + (1 / (2 * r) - 1) * (a * on) ** 2 * v) / 2 - a * on * v + price * mean
    return float(r * v + lines) / 2


def least(loss, price: float, p: float, r: float) -> Priced:
    """The least of `truth_loss` or `pairs_loss` over gain and bias."""
    from scipy.optimize import minimize

    # a bias above zero keeps a latent on for noise, one below makes it wait for its feature: a valley each
    starts = [(gain, bias) for gain in (0.5, 1.0) for bias in (-0.2, -0.02, 0.05)]
    found = [
        minimize(lambda at: loss(*at, price, p, r), start, method="L-BFGS-B", bounds=((0.01, 4), (-2, 2)), tol=1e-12)
        for start in starts
    ]
    best = min(found, key=lambda one: one.fun)
    return Priced(float(best.fun), *map(float, best.x))


def border(p: float, r: float) -> float:
    """The price lambda_1 at which true directions of a large rug cost as much as pairs that know nothing of them."""
    from scipy.optimize import brentq

    def ahead(log_price):
        price = float(np.exp(log_price))
        return np.log(least(truth_loss, price, p, r).loss / least(pairs_loss, price, p, r).loss)

    return float(np.exp(brentq(ahead, np.log(LOWEST), np.log(HIGHEST), xtol=1e-6)))
