"""The best decoder of a code in the plane: the posterior over all sets of active features, added up.

Source: ours, beyond The Persian Rug, section 5.2.2.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.decoders.shared_directions import digon_bayes_loss

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FLAT = 1e-9  # sine of an angle below which two features share a line


MOST_PLANAR = 64  # features, of which there are 41664 triples


def _plane(name, value):
    """A code in the plane, shape (2, B), B from 3 to 64."""
    found = ranges.array("2 B", -ranges.LARGEST, ranges.LARGEST)(name, value)
    if len(found) != 2 or not 3 <= found.shape[1] <= MOST_PLANAR:
        raise ValueError(f"{name} has shape {found.shape}; allowed: (2, B) with B of 3 or more, up to {MOST_PLANAR}")
    return found


class Bracket(NamedTuple):
    """Loss of the best decoder: between ``lower`` and ``upper``, with the standard error ``se`` of both."""

    lower: float
    upper: float
    se: float


@checked(W_in=_plane, p=ranges.sparse_probability, samples=ranges.whole(2, 10**7), seed=ranges.seed)
def planar_bayes_loss(W_in: ArrayLike, p: float, *, samples: int, seed: int | np.random.Generator) -> Bracket:
    """Loss of the best decoder of a code in the plane, by Monte Carlo over its exact posterior.

    Parameters
    ----------
    W_in : array_like, shape (2, B)
        Encoder, B from 3 to 64; at most two features may share a line, in opposite directions. The loudest may be 1e10
        times as long as the quietest: beyond this ratio, rounding errors of the loudest hide the quietest.
    samples : int
        Feature vectors with two or more features on, at least 2.

    Returns
    -------
    Bracket
        ``lower`` is the loss of a decoder that is given whether four or more features are on, and whose error then does
        not count; every decoder has at least this loss. ``upper`` counts this error too; ``se`` is the standard error.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or samples are too few.

    Notes
    -----
    Source: ours. With two features on there is one solution for each pair, with three a segment for each triple;
    a set T weighs p^k (1 - p)^(B - k) times length over the root of det(W_T W_T^T). Use `digon_bayes_loss` instead for
    two features on a line.

    Examples
    --------
    >>> from superposition.codes import priority_fan
    >>> found = planar_bayes_loss(priority_fan(6, 10).W_in, 0.05, samples=4000, seed=0)
    >>> round(found.lower, 5), round(found.upper, 5)  # with one ReLU 0.0014
    (0.00041, 0.00041)
    """
    W_in = np.asarray(W_in, float)
    B, lines = W_in.shape[1], _lines(W_in)
    on_lines = 2 * sum(float(digon_bayes_loss(p, c)) for _, c in lines) * (1 - p) ** (B - 2) / B
    x, share = _several_on(B, p, samples, np.random.default_rng(seed))
    x = x[[not any(set(np.flatnonzero(row)) == pair for pair, _ in lines) for row in x]]
    if len(x) < 2:
        raise ValueError(f"samples = {samples} leave {len(x)} off the lines of W_in; allowed: more samples")
    share *= len(x) / samples
    errors = np.mean((_planar_posterior(x @ W_in.T, W_in, p, [pair for pair, _ in lines]) - x) ** 2, axis=1)
    excused = np.where(np.count_nonzero(x, axis=1) <= 3, errors, 0)
    se = float(share * errors.std(ddof=1) / np.sqrt(len(x)))
    return Bracket(on_lines + float(share * excused.mean()), on_lines + float(share * errors.mean()), se)


def _lines(W_in):
    """Pairs of features that share a line, with the ratio of loudness of the second to the first."""
    length = np.linalg.norm(W_in, axis=0)
    unit, found = W_in / np.where(length > 0, length, 1), []
    for i, j in combinations(range(W_in.shape[1]), 2):
        if abs(unit[0, i] * unit[1, j] - unit[1, i] * unit[0, j]) < FLAT:
            found.append(({i, j}, length[j] / length[i] if unit[:, i] @ unit[:, j] < 0 else np.nan))
    crowded = len({i for pair, _ in found for i in pair}) < 2 * len(found)
    if length.max() > 1e10 * length.min():
        raise ValueError(
            f"W_in has columns of length {length.min():g} to {length.max():g}; allowed: a ratio up to 1e10"
        )
    if crowded or not length.all() or any(np.isnan(c) for _, c in found):
        raise ValueError("W_in has features without a direction of their own; allowed: at most two on a line, opposite")
    return found


def _several_on(B, p, samples, rng):
    """Feature vectors with two or more features on, and the probability of such vectors."""
    from scipy.stats import binom

    weights = binom.pmf(np.arange(2, B + 1), B, p)
    on = np.zeros((samples, B))
    order = rng.permuted(np.tile(np.arange(B), (samples, 1)), axis=1)
    on[order < rng.choice(np.arange(2, B + 1), samples, p=weights / weights.sum())[:, None]] = 1
    return on * rng.random((samples, B)), float(weights.sum())


def _planar_posterior(h, W_in, p, lines):
    """Posterior mean of x where its active features span the plane, by sets of two and three."""
    B = W_in.shape[1]
    mass, total = np.zeros(len(h)), np.zeros((len(h), B))
    for pair in combinations(range(B), 2):
        if set(pair) not in lines:
            u = np.linalg.solve(W_in[:, pair], h.T).T
            weight = (p / (1 - p)) ** 2 / abs(np.linalg.det(W_in[:, pair])) * np.all((u >= 0) & (u <= 1), axis=1)
            mass, total[:, pair] = mass + weight, total[:, pair] + weight[:, None] * u
    for triple in combinations(range(B), 3):
        middle, length = _segments(h, W_in[:, triple])
        weight = (p / (1 - p)) ** 3 * length / np.linalg.norm(np.cross(*W_in[:, triple]))
        mass, total[:, triple] = mass + weight, total[:, triple] + weight[:, None] * middle
    return total / np.where(mass > 0, mass, 1)[:, None]


def _segments(h, W):
    """The segment of the cube on which three features give h: its middle and its length."""
    direction = np.cross(W[0], W[1])
    direction = direction / np.linalg.norm(direction)
    start = h @ np.linalg.pinv(W).T
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.stack([-start / direction, (1 - start) / direction])
    low, high = np.nanmax(ends.min(axis=0), axis=1), np.nanmin(ends.max(axis=0), axis=1)
    hit = high > low
    middle = np.where(hit, (low + high) / 2, 0)
    return start + middle[:, None] * direction, np.where(hit, high - low, 0)
