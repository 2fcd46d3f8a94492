"""The constant in front of n^2 / m: measured stage by stage, and the part of it that is exact.

A network starts with n (n - 1) / 4m pairs of opposite largest weights at one neuron, on average. First the lengths and
overlaps settle, within a time of order 1 (the stage *fast*); then the l1 term thins the encodings out, within 1 /
lambda. The fast stage depends on overlaps and not on neurons, so its part of the constant follows from the distribution
of the overlaps alone. Source: Incidental Polysemanticity, section 2.1; everything here is ours.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.features import Estimate
from superposition.incidental import late_rate, many_networks
from superposition.incidental import ranges as own

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


GRID = 400  # quantiles of each largest weight in `_opposite_tops_at`


@checked(W=own.networks_of_several)
def isotropic_pairs(W: ArrayLike) -> Float[np.ndarray, " b"]:
    """Pairs of opposite tops of networks (b, n, m) of unit rows in random orientations, divided by n (n - 1) / 4m.

    Source: ours, for section 2.1. Use `opposite_tops_each` to count them in the given orientation.

    Examples
    --------
    >>> isotropic_pairs([np.eye(2, 8)]).round(3)
    array([0.431])
    """
    # Exact in the mean for unit rows after the fast stage, which turns with the neurons if they are turned, but for the
    # sums taken as normal in `_opposite_tops_at`.
    W = np.asarray(W, float)
    n, m = W.shape[1:]
    nodes = np.linspace(-8, 2, 201)
    log_chance = np.log(_opposite_tops_at(nodes, m))
    pairs = np.sqrt(m) * (W @ W.swapaxes(1, 2))[:, *np.triu_indices(n, 1)]
    return np.exp(np.interp(pairs, nodes, log_chance)).mean(axis=1)


@checked(W=own.networks_of_several)
def mean_overlap(W: ArrayLike) -> float:
    """Mean of sqrt(m) W_i·W_j over pairs and networks (b, n, m). Source: ours.

    Examples
    --------
    >>> round(mean_overlap([[[1.0, 0.0], [0.6, 0.8]]]), 4)
    0.8485
    """
    W = np.asarray(W, float)
    n, m = W.shape[1:]
    pairs = (W.sum(axis=1) ** 2).sum(axis=1) - (W**2).sum(axis=(1, 2))
    return float(np.sqrt(m) * pairs.mean() / (n * (n - 1)))


def _opposite_tops_at(overlap: ArrayLike, m: int) -> np.ndarray:
    """Chance that random directions have opposite tops, times 2m, at overlaps sqrt(m) W_i . W_j of a few units."""
    # Ours. With tops x and -y (largest of m half-normal numbers) the other m - 1 products have mean 0 and variance s^2,
    # so that the overlap has the density of N(-x y, s^2) / sqrt(m), against N(0, 1). The sum of products is taken as
    # normal: good to 3 % at m = 8, better beyond, and not beyond overlaps of some 5.
    from scipy.special import ndtr, ndtri

    overlap = np.asarray(overlap, float)
    x = ndtri((1 + ((np.arange(GRID) + 0.5) / GRID) ** (1 / m)) / 2)
    rest = 1 - 2 * x * _bell(x) / (2 * ndtr(x) - 1)  # variance of a normal number within -x and x
    mean, width = -np.outer(x, x) / np.sqrt(m), np.sqrt((m - 1) / m * np.outer(rest, rest))
    flat = overlap.ravel()
    chance = [np.mean(_bell((c - mean) / width) / width) for c in flat]
    return (np.array(chance) / _bell(flat)).reshape(overlap.shape)


@checked(m=ranges.whole(2, 10**7))
def two_feature_constant(m: int) -> float:
    """Pairs of opposite tops after the fast stage of two features, times 2m: 1 would be chance.

    A sum of m - 1 products is taken as normal, which costs 2 % at m = 8: use `two_feature_constant_drawn` for small m.
    Source: ours, for section 2.1.

    Examples
    --------
    >>> round(two_feature_constant(64), 4)
    1.1855
    """
    # If W_1 . W_2 > 0 the flow without l1 is W' = (1 - W W^T) W, which ends at the polar factor (W W^T)^(-1/2) W:
    # overlap 0, in a random orientation. If not, only lengths change. Tends to 1 as 1 + 2 ln m / sqrt(2 pi m).
    from scipy.special import ndtr, ndtri

    x = ndtri((1 + ((np.arange(GRID) + 0.5) / GRID) ** (1 / m)) / 2)
    rest = 1 - 2 * x * _bell(x) / (2 * ndtr(x) - 1)
    negative = np.mean(ndtr(np.outer(x, x) / np.sqrt((m - 1) * np.outer(rest, rest))))
    return float(negative + _opposite_tops_at(0.0, m) / 2)


@checked(own.fits, m=own.several, draws=ranges.whole(2), seed=ranges.seed)
def two_feature_constant_drawn(m: int, draws: int, *, seed: int) -> Estimate:
    """Estimate of `two_feature_constant` from random starts and their polar factors, with no sum taken as normal.

    Source: ours, for section 2.1.

    Examples
    --------
    >>> round(two_feature_constant_drawn(8, 1000, seed=0).mean, 2)
    1.23
    """
    W = np.random.default_rng(seed).standard_normal((draws, 2, m))
    W[:, 1] *= np.sign(np.sum(W[:, 0] * W[:, 1], axis=1))[:, None]  # a positive overlap
    p, q, r = (np.sum(W[:, i] * W[:, j], axis=1)[:, None] for i, j in ((0, 0), (0, 1), (1, 1)))
    root = np.sqrt(p * r - q**2)
    ends = np.stack([(r + root) * W[:, 0] - q * W[:, 1], (p + root) * W[:, 1] - q * W[:, 0]], axis=1)
    W[:, 1] *= -1  # the same with a negative one, which stays
    return Estimate.of(m * (many_networks.opposite_tops_each(W) + many_networks.opposite_tops_each(ends)))


def mean_field_exists(n: int, m: int) -> None:
    """Refuse more features than those for which the mean field is solved."""
    most = int(late_rate.DENSEST * np.sqrt(m))
    if n > most:
        raise ValueError(f"n = {n} is out of range; allowed: up to {most} at m = {m}")


@checked(mean_field_exists, n=ranges.whole(2, 10**8), m=ranges.whole(2, 10**7))
def several_feature_constant(n: int, m: int) -> float:
    """Pairs of opposite tops after the fast stage of n features, divided by n (n - 1) / 4m: 1 would be chance.

    Source: ours, for section 2.1, in the limit of many features. Use `two_feature_constant` for two features.

    Examples
    --------
    >>> round(several_feature_constant(64, 256), 4)
    1.0303
    """
    return _several(n, m)


@cache
def _several(n: int, m: int) -> float:
    """`several_feature_constant`, computed once."""
    # Third parties move the negative overlaps by one shift, to all orders for n and m to infinity at fixed n / sqrt(m):
    # that of `mean_field_overlaps`, g / (4 pi) at first. Positive ones end at 0.
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(12)
    left = 4 + 4 * nodes  # of a negative overlap, up to 8
    shift = late_rate.mean_field_overlaps((n - 2) / np.sqrt(m))[0]
    negative = 4 * (weights * _bell(shift + left)) @ _opposite_tops_at(-left, m)
    return float(ndtr(shift) * _opposite_tops_at(0.0, m) + negative)


def _bell(z):
    return np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
