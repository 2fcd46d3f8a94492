"""A rug when few features are on at once: given the features that are on, the interference is Gaussian.

Output i receives a sum of their values with random weights, of a variance sigma_i^2 T, where T depends on the features
that are on and has mean 1. The loss is that of the Gaussian theory with both of its moments averaged over T.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import features, ranges
from superposition.checked import checked
from superposition.frequencies.ranges import all_shares, decoded, drawn, probabilities, shared, square_code
from superposition.moments import moment, ramp_moment

BIASES = np.r_[-np.geomspace(1.2, 1e-3, 60), 0, np.geomspace(1e-3, 0.3, 8)]  # b / a: where the best one is sought
BINS = 80  # values that stand for the law of T
KNOTS = 14  # probabilities at which the loss is computed; between them it is interpolated


def _crowd(p, share, samples, seed):
    """Values of T, the interference power of a feature vector / its mean, as means of equally likely bins (80,)."""
    # squared weights from j to i are taken as r_j (1 - r_j) V_i / V_j up to a factor that depends on i: the mean of a
    # random projector with diagonal r
    weight = share * (1 - share)
    samples = BINS * -(-samples // BINS)
    x = features.sample_each(p, samples, seed=seed) - features.mean(p)
    power = np.sort(x**2 @ (weight / weight.sum() / features.variance(p)))
    return power.reshape(BINS, -1).mean(axis=1)


@checked(shared, drawn, p=probabilities, share=all_shares, samples=ranges.samples, seed=ranges.seed)
def few_active_losses(
    p: ArrayLike, share: ArrayLike, *, samples: int = 4000, seed: int | np.random.Generator = 0
) -> NDArray[np.float64]:
    """Loss of each feature in a random rug with given shares, where few features are on at once.

    Notes
    -----
    Source: ours; eq. 16 of The Persian Rug, averaged over the interference power of feature vectors. Use `rug_losses`
    instead where many are on: then the interference is Gaussian.

    Examples
    --------
    >>> few_active_losses([0.001] * 100, [0.1] * 100)[:2].round(5)  # with Gaussian interference 0.00011
    array([0.00015, 0.00015])
    """
    p, share = np.asarray(p, float), np.asarray(share, float)
    alone, never = share > 1 - 1e-9, share < 1e-12
    losses = np.where(alone, 0.0, features.variance(p))
    inner = np.flatnonzero(~alone & ~never)
    if len(inner):
        noise = features.variance(p[inner]) * (1 / share[inner] - 1)
        losses[inner] = _interpolated(p[inner], noise, _crowd(p, share, samples, seed))
    return losses


@checked(decoded, drawn, W=square_code, p=probabilities, samples=ranges.whole(2), seed=ranges.seed)
def tuned_losses(
    W: ArrayLike, p: ArrayLike, *, samples: int = 4000, seed: int | np.random.Generator = 0
) -> tuple[NDArray[np.float64], float]:
    """Loss of each output of any code W at its best gain and bias, simulated.

    Returns
    -------
    losses : numpy.ndarray, shape (ns,)
    error : float
        Standard error of their sum.

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> losses, error = tuned_losses(np.eye(3), [0.5, 0.1, 0.1])
    >>> bool(losses.max() < 1e-12)
    True
    """
    # Gain and bias are found on one half of the feature vectors and the loss is measured on the other. Only the other
    # features of an output are drawn: its own is averaged exactly, so that rare features need no more vectors.
    p, W = np.asarray(p, float), np.asarray(W, float)
    losses, heard = features.variance(p), np.diag(W) > 0
    off = W[heard] / np.diag(W)[heard, None]
    off[:, heard] -= np.eye(heard.sum())
    others = (features.sample_each(p, 2 * samples, seed=seed) - features.mean(p)) @ off.T
    z, gain, better = _tuned(p[heard], others[:samples], losses[heard])
    overlap, power = _overlap_and_power(p[heard], others[samples:], z)
    each = np.where(better, p[heard] / 3 - 2 * gain * overlap + gain**2 * power, losses[heard])
    losses[heard] = each.mean(axis=0)
    return losses, features.Estimate.of(each.sum(axis=1)).se


def _interpolated(p, noise, T):
    distinct, first = np.unique(p, return_index=True)
    at = np.unique(np.geomspace(1, len(distinct), KNOTS).round().astype(int)) - 1
    at = np.unique(np.r_[at, len(distinct) - 1 - at])
    relative = np.array([_loss(distinct[k], noise[first[k]], T) / distinct[k] for k in at])
    relative = np.maximum(relative, np.finfo(float).eps)  # rounding may leave less than nothing
    return p * np.exp(np.interp(np.log(p), np.log(distinct[at]), np.log(relative)))


def _loss(p, noise, T):
    """Loss at the best gain and the best of the biases, p/3 minus the squared overlap divided by the power."""
    z, s = np.broadcast_arrays(BIASES[:, None], np.sqrt(noise * T))
    one = np.ones_like(z)
    overlap = p * ramp_moment(1, 1, z, one, s).mean(axis=1)
    power = ((1 - p) * moment(2, z, s) + p * ramp_moment(0, 2, z, one, s)).mean(axis=1)
    heard = power > 1e-300
    return p / 3 - (np.where(heard, overlap**2, 0) / np.where(heard, power, 1)).max()


def _tuned(p, others, most):
    """Best b / a and gain of each output, and whether they beat a constant."""
    tried = BIASES[::2]
    ramps = np.stack([_ramps(column, -np.r_[tried, tried + 1]) for column in others.T], axis=1)
    (off2, on2), (off3, on3) = (np.split(found, 2, axis=1) for found in ramps)
    overlap, power = _combined(p[:, None], off2, off3, on2, on3)
    gain = np.where(power > 1e-300, overlap / np.maximum(power, 1e-300), 0)
    losses = p[:, None] / 3 - gain * overlap
    best = np.arange(len(p)), losses.argmin(axis=1)
    better = losses[best] < most
    return np.where(better, tried[best[1]], 0), np.where(better, gain[best], 0), better


def _ramps(values, ends):
    """Means of (v - c)^2 and (v - c)^3 over the values v above c, at many ends c, from one sorted list of sums."""
    falling = np.sort(values)[::-1]
    sums = np.zeros((len(values) + 1, 4))
    np.cumsum(np.vander(falling, 4, increasing=True), axis=0, out=sums[1:])
    s0, s1, s2, s3 = sums[np.searchsorted(-falling, -ends)].T / len(values)
    return s2 - 2 * ends * s1 + ends**2 * s0, s3 - 3 * ends * s2 + 3 * ends**2 * s1 - ends**3 * s0


def _overlap_and_power(p, others, z):
    """E x ReLU(x + t) and E ReLU(x + t)^2 at t = others + z, over the output's own feature."""
    off, on = np.maximum(others + z, 0), np.maximum(others + z + 1, 0)
    return _combined(p, off**2, off**2 * off, on**2, on**2 * on)


def _combined(p, off2, off3, on2, on3):
    """Overlap and power from powers of the output without its feature (off), and with it fully on."""
    return p * (on2 / 2 - (on3 - off3) / 6), (1 - p) * off2 + p * (on3 - off3) / 3
