"""Whether true directions minimise the loss of a sparse autoencoder with a price of activity, on a large rug.

The loss is E |h - h'|^2 / 2 + lambda E sum_k f_k, with f = ReLU(W_enc (h - b_dec) + b_enc) and h' = W_dec f + b_dec,
columns of W_dec of length one. Losses here are per feature, to leading order in 1/n_s: overlaps of a rug are then small
and many, and interference is Gaussian. Source: ours.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from superposition import checks, features, ranges
from superposition.checked import checked
from superposition.decoders.ranges import price
from superposition.moments import moment, ramp_moment

LOWEST, HIGHEST = 1e-3, 0.3  # prices between which the border is searched for
RATIOS, ZOOMS = np.geomspace(1e-3, 200, 150), 8  # of bias to gain, of either sign


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
    return float(_of_truth(a, b, price, p, r))


def _of_truth(a, b, price, p, r):
    """The same for arrays of gains and biases."""
    # z_i is the interference less its mean, Gaussian of variance V (1/r - 1). With errors e_i = x_i - f_i the squared
    # error is sum_ij G_ij cov(e_i, e_j), G = D^T D; the covariance is k G_ij for i != j, and sum_j G_ij^2 = 1/r - 1.
    V = float(features.variance(p))
    s, off = a * np.sqrt(V * (1 / r - 1)), b - a * features.mean(p)
    on, mean, square = ((1 - p) * moment(k, off, s) + p * ramp_moment(0, k, off, a, s) for k in range(3))
    with_feature = p * ramp_moment(1, 1, off, a, s) - p / 2 * mean
    k = -2 * a * on * (V - with_feature) + (a * on) ** 2 * V * (1 / r - 2)
    error = V - 2 * with_feature + square - mean**2
    return (error + (1 / r - 1) * k) / 2 + price * mean


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
    return float(_of_pairs(a, b, price, p, r))


def _of_pairs(a, b, price, p, r):
    """The same for arrays of gains and biases."""
    # Along a line h is Gaussian of variance V / r, by many features of equal size. Of a line f - f' is odd.
    v = float(features.variance(p)) / r
    s = a * np.sqrt(v)
    on, mean, square = (2 * moment(k, b, s) for k in range(3))
    lines = (square + (1 / (2 * r) - 1) * (a * on) ** 2 * v) / 2 - a * on * v + price * mean
    return (r * v + lines) / 2


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

    Raises
    ------
    ValueError
        If an argument is outside of its range or of that of the loss.

    Notes
    -----
    Source: ours. With b / a fixed, the loss is a parabola in a; over b / a, a search on ever finer grids in every
    valley.

    Examples
    --------
    >>> round(least_priced_loss(truth_loss, 0.05, 0.05, 0.375).loss, 5)
    0.00197
    """
    of = {truth_loss: _of_truth, pairs_loss: _of_pairs}.get(loss)
    if of is None:
        raise ValueError(f"loss = {checks.shown(loss)}; allowed: truth_loss, pairs_loss")
    loss(1.0, 0.0, price, p, r)  # refuses what is outside of its range

    def best(ratio):
        """The least loss at each b / a, and the gain that has it."""
        nothing, one, two = (of(a, a * ratio, price, p, r) for a in (1e-6, 1.0, 2.0))
        bend = np.maximum(two - 2 * one + nothing, 1e-300)  # 0 of latents that are never on
        most = np.minimum(4, 2 / np.maximum(np.abs(ratio), 0.5))
        a = np.clip((two - 4 * one + 3 * nothing) / (2 * bend), 0.01, most)
        return of(a, a * ratio, price, p, r), a

    # a bias above zero keeps a latent on for noise, one below makes it wait for its feature: a valley each
    ratios = np.concatenate((-RATIOS[::-1], RATIOS))
    losses = best(ratios)[0]
    beside = np.pad(losses, 1, constant_values=np.inf)
    valleys = np.flatnonzero((losses <= beside[:-2]) & (losses <= beside[2:]))
    found = []
    for k in valleys[np.argsort(losses[valleys])[:3]]:
        low, high = ratios[max(k - 1, 0)], ratios[min(k + 1, len(ratios) - 1)]
        for _ in range(ZOOMS):
            fine = np.linspace(low, high, 17)
            cost, gain = best(fine)
            i = int(np.argmin(cost))
            low, high = fine[max(i - 1, 0)], fine[min(i + 1, 16)]
        # pyrefly: ignore[unbound-name]: there are zooms
        found.append(Priced(float(cost[i]), float(gain[i]), float(gain[i] * fine[i])))
    return min(found)


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
        truth, pairs = (least_priced_loss(loss, price, p, r).loss for loss in (truth_loss, pairs_loss))
        return np.log(truth / pairs)

    try:
        return float(np.exp(brentq(ahead, np.log(LOWEST), np.log(HIGHEST), xtol=1e-6)))
    except ValueError:  # one sign at both ends
        between = f"a border from {LOWEST:g} to {HIGHEST:g}"
        raise ValueError(f"p, r = {p:g}, {r:g} have no border; allowed: {between}") from None
