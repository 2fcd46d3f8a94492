"""Measurements on an autoencoder, block by block: its rows, which features silence which, and simulated outputs.

No product of ns by ns numbers is kept: 16,384 features need a few hundred megabytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from superposition.diagnosis.ablations import STRONG
from superposition.diagnosis.feature_laws import Population
from superposition.diagnosis.weights import Weights
from superposition.features import Estimate
from superposition.ranges import LARGEST
from superposition.rug.model import RowStatistics

HEARD = 0.1  # of the largest gain: with less of its own feature, an output counts as dropped. Our choice.
BLOCK = 2**21  # numbers of a block
ALL = 2048  # features from which on weights of single precision are multiplied in it
LOOKED_AT = 512  # features whose partners' partners are counted
STEPS = np.linspace(-1.0, 1.0, 9)  # of all biases together, in standard deviations of each row's interference
REFITTED = 2**21  # outputs on which they are tried
FEW = 20  # times that a feature is on, below which its answer is that to itself alone


@dataclass(frozen=True, eq=False)
class Rows:
    """One value for each row, as in `RowStatistics`, and further results of the same blocks.

    ``noise`` is the variance of its interference, ``strongest`` its most negative weight; ``columns`` are the sums of
    squares of each column over the heard rows, divided by their gains; ``partners`` says which feature (row) is
    silenced by which (column).
    """

    rows: RowStatistics
    noise: NDArray[np.float64]
    strongest: NDArray[np.float64]
    columns: NDArray[np.float64]
    partners: Any  # a sparse array


@dataclass(frozen=True, eq=False)
class Simulated:
    """Results of a simulation: the ``loss`` with its error, and ``by_feature``; the ``mean`` output; rates of response.

    ``answers`` is the share of the vectors in which an output would be on if its own feature were, ``restless`` the
    share of the vectors without its feature in which it is on; ``refitted`` the loss with all biases moved together, in
    standard deviations of their noise, and all outputs scaled together, at the best of a few values; ``pushed`` the
    mean interference of each output while its feature is on. For given vectors, and for a forward pass that no weights
    reproduce, ``answers`` counts only vectors in which the feature is on.
    """

    loss: Estimate
    by_feature: NDArray[np.float64]
    mean: NDArray[np.float64]
    answers: NDArray[np.float64]
    restless: NDArray[np.float64]
    refitted: float
    pushed: NDArray[np.float64]


def measured(weights: Weights, mean: NDArray, variance: NDArray, told: Callable[[int], None]) -> Rows:
    """Statistics of every row, for features with these means and variances (ns,)."""
    ns, others, gains = weights.ns, weights.ns - 1, weights.gains()
    with np.errstate(all="ignore"):  # what is too large is refused below
        share = np.where(gains > HEARD * gains.max(), 1 / np.where(gains > 0, gains, 1) ** 2, 0)
    weights = _fast(weights)
    columns, found, where = np.zeros(ns), [], []
    for start, stop in _blocks(ns):
        W = np.array(weights.rows(start, stop))
        if not np.all(np.abs(W) <= LARGEST):
            first = W[~(np.abs(W) <= LARGEST)].flat[0]
            raise ValueError(f"W_out W_in = {first:g} is out of range; allowed: [{-LARGEST:g}, {LARGEST:g}]")
        own = np.arange(start, stop)
        diagonal = W[own - start, own].astype(float)
        W[own - start, own] = 0
        where.append(sparse.csr_array((-STRONG * np.maximum(diagonal, 0)[:, None]).astype(W.dtype) > W))
        squares, size = W**2, np.abs(W)
        columns += share[start:stop] @ squares
        total, square = W.sum(axis=1, dtype=float), squares.sum(axis=1, dtype=float)
        third, cubes = np.einsum("ij,ij->i", squares, W), np.einsum("ij,ij->i", squares, size)
        found.append([diagonal, total, square, third, cubes, W @ mean, squares @ variance, -W.min(axis=1)])
        told(stop - start)
    diagonal, total, square, third, cubes, pushed, noise, strongest = np.concatenate(found, axis=1).astype(float)
    off_mean = total / others
    spread = np.maximum(square / others - off_mean**2, 0)
    skew = third / others - 3 * off_mean * square / others + 2 * off_mean**3
    rows = RowStatistics(
        diagonal=diagonal, b=weights.b, b_eff=weights.b + pushed, off_mean=off_mean, off_variance=spread,
        off_skewness=_ratio(skew, spread**1.5), lyapunov=_ratio(cubes, square**1.5), dead=np.zeros(ns, dtype=bool),
    )  # fmt: skip
    return Rows(rows, noise, strongest, columns, sparse.csr_array(sparse.vstack(where)))


def simulated(
    weights: Weights, population: Population, rows: Rows, samples: int, seed: int, told: Callable[[int], None], *,
    forward: Callable[[NDArray], NDArray] | None = None, stands: bool = True,
    importance: NDArray[np.float64] | None = None,
) -> Simulated:  # fmt: skip
    """Feed feature vectors to the forward pass, or to weights; ``stands``, whether the weights are that pass."""
    rng, other, ns = np.random.default_rng(seed), np.random.default_rng([seed, 1]), weights.ns
    weights, chunk, worth = _fast(weights), max(2, BLOCK // ns), 1.0 if importance is None else importance
    errors, sums, scores = [], np.zeros((6, ns)), np.zeros((len(STEPS), 3))
    refits = stands and weights.k is None and weights.threshold is None
    moves, tried = STEPS[:, None] * np.sqrt(rows.noise), 0
    for x in population.batches(samples, chunk, rng):
        drive = weights.drive(x.astype(weights.b.dtype, copy=False))
        bars = weights.bars(drive)
        out = np.where(drive > bars, drive, 0) if forward is None else forward(x)
        squares, off = (x - out) ** 2 * worth, x == 0
        errors.append(squares.mean(axis=1, dtype=float))
        parts = [squares, out, (out > 0) & off, off]
        if population.vectors is None and stands:  # its own feature may be rare: it is put on in every vector
            typical = population.active(len(x), other)[:, None]
            parts.append(drive + rows.rows.diagonal * (typical - x) > bars)
        else:
            parts.append((out > 0) & ~off)
        if population.vectors is not None:
            parts.append((drive - weights.b - rows.rows.diagonal * x) * ~off)
        for total, part in zip(sums, parts, strict=False):
            total += part.sum(axis=0, dtype=float)
        if tried * ns < REFITTED and refits:
            tried += len(x)
            for score, move in zip(scores, moves, strict=True):
                moved = np.maximum(drive + move, 0)
                score += [np.vdot(x * worth, x), np.vdot(x * worth, moved), np.vdot(moved * worth, moved)]
        told(len(x))
    loss, by_feature = Estimate.of(np.concatenate(errors)), sums[0] / samples
    refitted = np.inf if not tried else loss.mean * _least_share(scores)
    on = samples - sums[3]
    asked = np.full(ns, samples) if population.vectors is None and stands else on
    answered = np.where(asked < FEW, rows.rows.diagonal > 0, sums[4] / np.maximum(asked, 1))
    return Simulated(loss, by_feature, sums[1] / samples, answered, sums[2] / np.maximum(sums[3], 1), refitted,
                     sums[5] / np.maximum(on, 1))  # fmt: skip


def clustering(partners: Any, seed: int = 0) -> tuple[float, float]:
    """Share of mutual partners, and share of closed paths of two steps among these, for some of the features."""
    if not partners.nnz:
        return 0.0, 0.0
    mutual = sparse.csr_array(partners.multiply(partners.T)).astype(float)
    n = len(mutual.indptr) - 1
    some = np.arange(n) if n <= LOOKED_AT else np.random.default_rng(seed).choice(n, LOOKED_AT, replace=False)
    near = sparse.csr_array(mutual[some])
    paths = near @ mutual
    away = paths.sum() - near.sum()  # a path there and back leads to where it began
    return float(mutual.nnz / partners.nnz), float(paths.multiply(near).sum() / away) if away > 0 else 0.0


def _least_share(scores):
    """Least loss at the best common factor, divided by the loss of the outputs as they are."""
    own, overlap, power = scores.T
    refitted = own - np.maximum(overlap, 0) ** 2 / np.where(power > 0, power, 1)
    as_it_is = (own - 2 * overlap + power)[len(STEPS) // 2]
    return float(refitted.min() / as_it_is) if as_it_is > 0 else 1.0


def _fast(weights):
    """The same in the precision that is worth its time."""
    if not weights.single or weights.ns < ALL:
        return weights
    parts = {name: getattr(weights, name) for name in ("b", "W", "W_in", "W_out", "threshold")}
    return replace(weights, **{name: part.astype(np.float32) for name, part in parts.items() if part is not None})


def _blocks(ns):
    size = max(1, BLOCK // ns)
    return [(start, min(start + size, ns)) for start in range(0, ns, size)]


def _ratio(numerator, denominator):
    return np.where(denominator > 0, numerator / np.where(denominator > 0, denominator, 1), 0)
