"""The loss of a code from exact integrals over every set of active features, and its best bias and gain.

Weights may span many orders of magnitude, as in a loud and quiet code.
Source: ours; the model and its loss are those of The Persian Rug, eq. 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import features, ranges, relu_integrals
from superposition.checked import checked
from superposition.codes import ranges as within
from superposition.features import Estimate
from superposition.rug.rugs import row_loss

SILENCING = 1e25  # a weight so many times below all that is positive shuts the output, as any below it
LARGEST_ENUMERATION = 3_000_000  # sets of active features that one output may need


class Decoder(NamedTuple):
    """Best ``gain`` and bias ``b`` of each output (the row of W is multiplied by the gain), and the ``loss``."""

    gain: NDArray[np.float64]
    b: NDArray[np.float64]
    loss: float


@checked(within.same_length, W=within.weights, b=within.bias_row, p=ranges.one_probability, rtol=within.share)
def code_loss(W: ArrayLike, b: ArrayLike, p: float, *, rtol: float = 1e-4) -> float:
    """Loss per feature of ReLU(W x + b), by exact integrals over every set of active features.

    Parameters
    ----------
    rtol : float
        Sets with many active features are left out once they are worth less than this share of the loss, by a bound
        that holds for any weights. 0 leaves out none.

    Raises
    ------
    ValueError
        If an argument is outside its range, or an output would need more than three million sets.

    Notes
    -----
    Source: The Persian Rug, eq. 1 and 2 per feature. Use `simulated_code_loss` instead where too many features meet.

    Examples
    --------
    >>> round(code_loss([[1, -1], [-1, 1]], [0, 0], 0.5), 6)  # a digon: p^2 / 6
    0.041667
    """
    W, b, top = np.asarray(W, float), np.asarray(b, float), float(features.second_moment(p))
    parts = [output_moments(np.delete(row, i), row[i], b[i], p, rtol=rtol) for i, row in enumerate(W)]
    return float(np.mean([top - 2 * overlap + power for overlap, power in parts]))


@checked(
    others=within.row_of_weights, own=ranges.number(-within.LARGEST_WEIGHT, within.LARGEST_WEIGHT),
    b=ranges.number(-within.LARGEST_WEIGHT, within.LARGEST_WEIGHT), p=ranges.one_probability, rtol=within.share,
)  # fmt: skip
def output_moments(others: ArrayLike, own: float, b: float, p: float, *, rtol: float = 1e-4) -> tuple[float, float]:
    """E[x f] and E[f^2] of one output f = ReLU(own x + others·x' + b), exact.

    Returns
    -------
    overlap, power : float
        Source: The Persian Rug, eq. 4. Sets of active features are left out as in `code_loss`.

    Examples
    --------
    >>> [round(value, 6) for value in output_moments([], 1.0, 0.0, 0.3)]  # alone: p / 3 both
    [0.1, 0.1]
    """
    from scipy.stats import binom  # as long to import as all the rest

    others = np.asarray(others, float)
    highest = max(1.0, max(b, 0) + max(own, 0) + np.maximum(others, 0).sum())
    values, counts = np.unique(np.maximum(others[others != 0], -SILENCING * highest), return_counts=True)
    n = int(counts.sum())
    overlap, power = 0.0, 0.0
    for k in range(n + 1):
        slopes, ways = _sets(values, counts, k)
        chance = ways * p**k * (1 - p) ** (n - k)
        on, offset = np.c_[np.full(len(slopes), own), slopes], np.full(len(slopes), b)
        overlap += p * chance @ relu_integrals.relu_moment(offset, on, 0)
        power += p * chance @ relu_integrals.relu_power(offset, on, 2)
        power += (1 - p) * chance @ relu_integrals.relu_power(offset, slopes, 2)
        if binom.sf(k, n, p) * highest**2 <= rtol * (p / 3 - 2 * overlap + power):
            break
    return float(overlap), float(power)


@checked(W=within.with_diagonal, p=ranges.one_probability, rtol=within.share)
def best_decoder(W: ArrayLike, p: float, *, rtol: float = 1e-4) -> Decoder:
    """Best bias and gain of every output of a code, each row by itself.

    Returns
    -------
    Decoder
        The weights ``gain[:, None] * W`` with bias ``b`` have the loss. Sets of active features are left out as in
        `code_loss`.

    Raises
    ------
    ValueError
        If an argument is outside its range, or an output would need more than three million sets.

    Notes
    -----
    Source: for each ratio of bias and gain the best gain is known (The Persian Rug, eq. 9); the search runs over that
    ratio, from -0.6 to 0.2 of the diagonal.

    Examples
    --------
    >>> best_decoder([[1.0]], 0.1).gain.round(6)
    array([1.])
    """
    W = np.asarray(W, float)
    rows = [_best_row(np.delete(row, i) / row[i], p, rtol) for i, row in enumerate(W)]
    gain, shift, loss = np.array(rows).T
    return Decoder(gain / np.diag(W), gain * shift, float(loss.mean()))


def best_shift(
    moments: Callable[[float], tuple[float, float]], grid: NDArray[np.float64], p: float, xatol: float
) -> tuple[float, float, float]:
    """Gain, shift b / gain and loss of the best output; ``moments``: E[x f] and E[f^2] at gain one and a shift."""
    # at each shift the loss is a parabola in the gain (The Persian Rug, eq. 9)
    from scipy.optimize import minimize_scalar

    def loss(shift):
        overlap, power = moments(shift)
        return p / 3 - overlap**2 / power

    at = int(np.clip(np.argmin([loss(shift) for shift in grid]), 1, len(grid) - 2))
    found = minimize_scalar(loss, bounds=(grid[at - 1], grid[at + 1]), method="bounded", options={"xatol": xatol})
    overlap, power = moments(found.x)
    return overlap / power, float(found.x), p / 3 - overlap**2 / power


def best_shift_by_law(weights: NDArray[np.float64], p: float) -> tuple[float, float, float]:
    """The same for a row of other weights (n,), at a diagonal of 1, from the law of its interference."""

    def moments(shift):  # from the losses at the gains 1 and 2
        one, two = (row_loss(weights, a, a * shift, p) for a in (1.0, 2.0))
        square = (two - 2 * one + p / 3) / 2
        return (p / 3 + square - one) / 2, square

    return best_shift(moments, shifts(weights, p), p, 1e-4)


def shifts(weights: NDArray[np.float64], p: float) -> NDArray[np.float64]:
    """Effective biases to choose from, in standard deviations of the interference of a row of other weights."""
    return np.linspace(-2.5, 0.5, 13) * float(np.sqrt(features.variance(p) * np.sum(weights**2)))


@checked(
    within.same_length, W=within.weights, b=within.bias_row, p=ranges.one_probability, samples=within.draws,
    seed=ranges.seed,
)  # fmt: skip
def simulated_code_loss(
    W: NDArray[np.float64], b: NDArray[np.float64], p: float, *, samples: int, seed: int | np.random.Generator
) -> Estimate:
    """The loss of `code_loss` by Monte Carlo.

    Returns
    -------
    superposition.features.Estimate
        Mean and standard error over feature vectors. Source: ours. Use `measured_code_loss` instead at small p.

    Examples
    --------
    >>> round(simulated_code_loss([[1, -1], [-1, 1]], [0, 0], 0.5, samples=10_000, seed=0).mean, 2)
    0.04
    """
    rng = np.random.default_rng(seed)
    chunk, errors = max(1, 2**21 // len(W)), []
    for start in range(0, samples, chunk):
        x = features.sample(len(W), p, min(chunk, samples - start), seed=rng)
        errors.append(np.mean((x - np.maximum(x @ W.T + b, 0)) ** 2, axis=1))
    return Estimate.of(np.concatenate(errors))


def _sets(values, counts, k):
    """Sums of k of the weights: their slopes, one row each, and in how many ways each row comes about."""
    if counts.max(initial=1) == 1:
        _enumerable(comb(len(values), k), k)
        chosen = np.array(list(combinations(range(len(values)), k)), dtype=int).reshape(comb(len(values), k), k)
        return values[chosen], np.ones(len(chosen))
    _enumerable(2**k, k)
    draws = list(_draws(tuple(counts.tolist()), k))
    slopes = np.array([np.repeat(values, draw) for draw in draws]).reshape(len(draws), k)
    return slopes, np.array([prod(map(comb, counts.tolist(), draw)) for draw in draws], dtype=float)


def _draws(counts, k):
    """Numbers of weights of each kind that add up to k."""
    if not counts:
        yield from [()] if k == 0 else []
        return
    for first in range(max(0, k - sum(counts[1:])), min(k, counts[0]) + 1):
        for rest in _draws(counts[1:], k - first):
            yield (first, *rest)


def _enumerable(cases, k):
    if cases > LARGEST_ENUMERATION:
        raise ValueError(
            f"W has so many features that meet, and p is so large, that sets of {k} matter: {cases} cases; "
            f"allowed: {LARGEST_ENUMERATION}"
        )


def _best_row(others, p, rtol):
    """Gain, shift and loss of the best output, for a diagonal of 1."""
    moments = lambda shift: output_moments(others, 1.0, shift, p, rtol=rtol)  # noqa: E731
    return best_shift(moments, np.linspace(-0.6, 0.2, 17), p, 1e-5)
