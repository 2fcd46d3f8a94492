"""The grouped rug: one rug on the means of groups, others on the contrasts within them.

Output i sees d x_i + e (sum of its partners) + b + noise. With a_1 = d + (G - 1) e on means and a_2 = d - e on
contrasts the noise is least where the ratios of the two kinds of rugs are proportional to |a| sqrt(eigenvalue).
Source: ours.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import optimize, special

from superposition import features, ranges
from superposition.checked import checked
from superposition.correlated import moments
from superposition.correlated.ranges import drawn_groups, group, law, partner_probability
from superposition.features import Estimate
from superposition.moments import gauss_legendre, moment, ramp_moment
from superposition.rug.rugs import Rug

NODES = 24  # Gauss-Legendre nodes a unit of the partners' sum
THRESHOLDS = np.concatenate([-np.geomspace(2, 1e-3, 30), [0.0], np.geomspace(1e-3, 0.5, 10)])
SLOPES = 24  # partner over own weight, on the grid of the search
FINE = {"xatol": 1e-7}  # a loss is flat at its minimum: 1e-14 of it
STEEP = {"ftol": 1e-16, "gtol": 1e-8}
AROUND = 1e-5 * np.array([[0, 1, 0, -1, 0], [0, 0, 1, 0, -1]])  # a point, and four from which its derivatives follow


class GroupedRug(NamedTuple):
    """The best grouped rug: its ``loss`` per feature, weights ``own`` and ``partner``, ``bias``, and its construction.

    ``bias`` counts from the features themselves, ``noise`` is the standard deviation of the sum of strangers;
    ``mean_ratio`` and ``contrast_ratio`` are the ratios of the two kinds of rugs.
    """

    loss: float
    own: float
    partner: float
    bias: float
    noise: float
    mean_ratio: float
    contrast_ratio: float


@checked(
    law, p=ranges.number(1e-4, 1), r=ranges.number(0.01, 1), G=group, s=partner_probability,
    phase=ranges.one_of("best", "apart", "together"),
)  # fmt: skip
def grouped_rug(p: float, r: float, G: int, s: float, *, phase: str = "best") -> GroupedRug:
    """The best code made of one rug on the means of groups and others on the contrasts within them.

    Parameters
    ----------
    p : float
        Probability that a feature is on, 1e-4 to 1.
    r : float
        Compression ratio, 0.01 to 1.
    G : int
        Features of a group, 2 to 32.
    s : float
        Probability that a given partner of a feature that is on is on too, 0 to 1; if s is below p, G p is at most 1.
    phase : {"best", "apart", "together"}
        All such codes; those that leave out the mean, so that partners point away from each other; or those in which
        partners add.

    Notes
    -----
    Source: ours, in the limit of many groups.

    Examples
    --------
    >>> best = grouped_rug(0.05, 0.25, 4, 0.5)
    >>> round(best.loss, 5), round(best.partner / best.own, 2)
    (0.0044, 0.21)
    """
    # Where nothing of a group's mean goes through, partner over own weight is -1 / (G - 1), and 1 where nothing of the
    # contrasts does. At both ends the noise has a kink, in |a_1| or |a_2|, and the loss may have a minimum of its own.
    law, apart = _law(p, G, s), -1 / (G - 1)
    if phase == "apart":
        return _made(p, r, G, s, apart)
    other = _made(p, r, G, s, _together(p, r, G, s, law, apart if phase == "best" else 0.0))
    ends = [_made(p, r, G, s, slope) for slope in ((apart, 1.0) if phase == "best" else (1.0,))]
    return min(other, *ends)


def _made(p: float, r: float, G: int, s: float, slope: float) -> GroupedRug:
    """The grouped rug with this ratio of partner to own weight."""
    noise, ratios = rug_ratios.unchecked(p, r, G, s, slope)
    threshold, gain, loss = _tuned(slope, noise, p, _law(p, G, s))
    return GroupedRug(loss, gain, gain * slope, gain * threshold, gain * noise, *ratios)


@checked(
    law, p=ranges.one_probability, r=ranges.one_ratio, G=group, s=partner_probability, slope=ranges.number(-100, 100),
)  # fmt: skip
def rug_ratios(p: float, r: float, G: int, s: float, slope: float) -> tuple[float, tuple[float, float]]:
    """Least noise of a grouped rug at gain one, and the ratios of the rugs on means and on contrasts that have it.

    Parameters
    ----------
    slope : float
        Weight of a partner divided by the own weight.

    Returns
    -------
    noise : float
    ratios : tuple of two floats

    Notes
    -----
    Source: ours. Use `grouped_rug` instead for the best slope.

    Examples
    --------
    >>> noise, ratios = rug_ratios(0.05, 0.25, 4, 0.5, 0.2)
    >>> print(f"{noise:.3f}, ratios {ratios[0]:.3f} and {ratios[1]:.3f}")
    0.213, ratios 0.542 and 0.153
    """
    # Least a_1^2 l_1 (1/r_1 - 1) / G + a_2^2 l_2 (1/r_2 - 1) (1 - 1/G) with r_1 / G + r_2 (1 - 1/G) = r and both up to
    # 1: by Lagrange r_k is proportional to |a_k| sqrt(l_k), cut at 1.
    gains, parts = np.array([1 + (G - 1) * slope, 1 - slope]), np.array([1 / G, 1 - 1 / G])
    loud = np.abs(gains) * np.sqrt(np.maximum(moments.levels(p, G, s), 0))
    loud[np.abs(gains) < 1e-12] = 0
    ratios = _filled(loud, parts, r)
    wasted = np.where(loud > 0, loud**2 * (1 / np.maximum(ratios, 1e-300) - 1), 0)
    return float(np.sqrt(np.maximum(parts @ wasted, 0))), (float(ratios[0]), float(ratios[1]))


@checked(
    law, drawn_groups, rug=ranges.instance(GroupedRug), p=ranges.one_probability, G=group, s=partner_probability,
    groups=ranges.whole(2, 2**16), samples=ranges.whole(2), seed=ranges.seed,
)  # fmt: skip
def simulated_grouped_loss(
    rug: GroupedRug, p: float, G: int, s: float, *, groups: int, samples: int, seed: int
) -> Estimate:
    """Loss per feature of a grouped rug with many groups, by Monte Carlo: rugs with random places, no theory.

    Parameters
    ----------
    rug : GroupedRug
        From `grouped_rug`.

    Returns
    -------
    superposition.features.Estimate
        Mean and standard error.

    Examples
    --------
    >>> best = grouped_rug(0.1, 0.3, 3, 0.4)
    >>> found = simulated_grouped_loss(best, 0.1, 3, 0.4, groups=256, samples=200, seed=0)
    >>> bool(abs(found.mean / best.loss - 1) < 0.1)
    True
    """
    rng = np.random.default_rng(seed)
    H = _helmert(G)
    ratios = [rug.mean_ratio] + [rug.contrast_ratio] * (G - 1)
    gains = [rug.own + (G - 1) * rug.partner] + [rug.own - rug.partner] * (G - 1)
    factors = [_factor(groups, ratio, int(rng.integers(2**31))) for ratio in ratios]
    x = features.grouped(groups, G, p, s, samples, seed=rng).reshape(samples, groups, G)
    within = (x - p / 2) @ H.T
    for k, (gain, factor) in enumerate(zip(gains, factors, strict=True)):
        within[..., k] = gain * factor(within[..., k])
    bias = rug.bias + (rug.own + (G - 1) * rug.partner) * p / 2
    return Estimate.of(np.mean((np.maximum(within @ H + bias, 0) - x) ** 2, axis=(1, 2)))


def _factor(groups, ratio, seed):
    """Multiplication by a rug on groups of this ratio; nothing at 0."""
    nd = round(ratio * groups)
    if nd in (0, groups):
        return lambda values: values * (nd > 0)
    return Rug(groups, nd, seed=seed).apply


def _helmert(G):
    """Rows: the mean of a group and its contrasts, orthonormal."""
    rows = np.tril(np.ones((G, G)), -1) - np.diag(np.arange(G))
    rows[0] = 1
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def _filled(loud, parts, r):
    """Ratios proportional to loudness, none above 1, that use r dimensions a feature."""
    if not loud.any():
        return np.minimum(r / parts.sum(), 1) * np.ones(2)
    ratios = loud * r / (parts @ loud)
    for k in (0, 1):
        if ratios[k] > 1:
            ratios[k], ratios[1 - k] = 1, min(1, (r - parts[k]) / parts[1 - k])
    return ratios


class _Law(NamedTuple):
    """Nodes of the partners' sum, and their weights where the own feature is on and where it is off."""

    sums: np.ndarray
    on: np.ndarray
    off: np.ndarray


@cache
def _law(p, G, s):
    """The exact law of the partners' sum: how many are on, and the sum of as many uniform strengths."""
    by = _partners_on(p, G, s)
    nodes, weights = zip(*(_sum_of_uniform(k) for k in range(G)), strict=True)
    on, off = (np.concatenate([c * w for c, w in zip(one, weights, strict=True)]) for one in by)
    return _Law(np.concatenate(nodes), on, off)


def _partners_on(p: float, G: int, s: float) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities that a feature is on, or off, and k of its partners are, k = 0 ... G - 1."""
    k = np.arange(G)

    from scipy.stats import binom  # as long to import as all the rest

    def binomial(q):
        return binom.pmf(k, G - 1, q)

    if s >= p:
        return p * binomial(s), (p / s - p) * binomial(s) + (1 - p / s) * (k == 0)
    alone = (1 - G * p) * (k == 0) + (G - 1) * p * (k == 1)
    return (p * ((1 - s / p) * (k == 0) + s / p * binomial(p)), (1 - s / p) * alone + s / p * (1 - p) * binomial(p))


def _sum_of_uniform(k):
    """Nodes and weights of the sum of k uniform numbers: a polynomial density on each unit."""
    if k == 0:
        return np.zeros(1), np.ones(1)
    u, w = gauss_legendre(NODES)
    nodes = (np.arange(k)[:, None] + u).ravel()
    j = np.arange(k + 1)
    terms = (-1.0) ** j * special.comb(k, j) * np.maximum(nodes[:, None] - j, 0) ** (k - 1) * (nodes[:, None] > j)
    density = terms.sum(axis=1) / special.factorial(k - 1)
    return nodes, np.maximum(density, 0) * np.tile(w, k)


def _at(slope, threshold, noise, p, law):
    """The best gain of R = ReLU(x + slope S + threshold + noise), and the loss p/3 - E[x R]^2 / E[R^2] there."""
    slope, threshold, noise = (np.asarray(value, float)[..., None] for value in (slope, threshold, noise))
    m = slope * law.sums + threshold
    overlap = ramp_moment(1, 1, m, 1.0, noise) @ law.on
    power = ramp_moment(0, 2, m, 1.0, noise) @ law.on + moment(2, m, noise) @ law.off
    gain = overlap / np.where(power > 0, power, 1)
    return gain, p / 3 - gain * overlap


def _tuned(slope, noise, p, law):
    """The best threshold at one ratio of partner to own weight, its gain and loss."""

    def loss(threshold):
        return float(_at(slope, threshold, noise, p, law)[1])

    grid = _at(np.full_like(THRESHOLDS, slope), THRESHOLDS, np.full_like(THRESHOLDS, noise), p, law)[1]
    k = int(np.clip(grid.argmin(), 1, len(THRESHOLDS) - 2))
    fine = optimize.minimize_scalar(loss, bounds=(THRESHOLDS[k - 1], THRESHOLDS[k + 1]), method="bounded", options=FINE)
    threshold = float(THRESHOLDS[k] if grid[k] <= fine.fun else fine.x)
    gain, lowest = _at(slope, threshold, noise, p, law)
    return threshold, float(gain), float(lowest)


def _together(p, r, G, s, law, low):
    """The ratio of partner to own weight, from ``low`` to 1, of least loss."""
    slopes = np.linspace(low, 1, SLOPES + 1)[1:]
    noises = np.array([rug_ratios.unchecked(p, r, G, s, slope)[0] for slope in slopes])
    few = THRESHOLDS[::2]
    rough = _at(slopes[:, None], few, noises[:, None], p, law)[1]
    k, j = np.unravel_index(rough.argmin(), rough.shape)

    def loss(point):
        """The loss divided by p/3, and its two derivatives by central differences."""
        slope, threshold = point[:, None] + AROUND
        noise = [rug_ratios.unchecked(p, r, G, s, x)[0] for x in slope]
        values = _at(slope, threshold, noise, p, law)[1] / (p / 3)
        return values[0], (values[1:3] - values[3:]) / (2 * AROUND[0, 1])

    near = slopes[[max(k - 2, 0), min(k + 2, SLOPES - 1)]]
    how = {"jac": True, "method": "L-BFGS-B", "bounds": (near, few[[0, -1]]), "options": STEEP}
    return float(optimize.minimize(loss, (slopes[k], few[j]), **how).x[0])
