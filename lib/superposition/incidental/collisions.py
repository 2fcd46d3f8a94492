"""Collisions of features in neurons: their expected number, their count, and their effect.

A neuron is polysemantic when two features use it. W has shape (n, m): n features, m neurons.
Source: Incidental Polysemanticity, sections 1 and 2.1.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.incidental import ranges as own

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


_positive = ranges.number(ranges.SMALLEST, ranges.LARGEST)


@dataclass(frozen=True)
class ExpectedCollisions:
    """Numbers of collisions to expect at the start.

    ``collisions`` of largest weights, n (n - 1) / 2m; ``pairs`` of opposite sign, half of that;
    polysemantic neurons if every feature drew a neuron and a sign ``independent`` of the others;
    and if all drew ``distinct`` ones, because if two share a neuron and a sign, one moves to a free place.
    """

    collisions: float
    pairs: float
    independent: float
    distinct: float


@checked(n=ranges.whole(1), m=ranges.whole(1))
def expected(n: int, m: int) -> ExpectedCollisions:
    """Return the numbers of collisions that chance alone gives.

    Fewer neurons than features give a warning. Source: sections 1 and 2.1; the last two fields are ours.

    Returns
    -------
    ExpectedCollisions
        ``distinct`` is nan where n > 2m.

    Examples
    --------
    >>> expected(256, 1024).pairs  # n (n - 1) / 4m
    15.9375
    """
    if m < n:
        warnings.warn(
            f"m = {m} neurons for n = {n} features: the text assumes m >= n, so that sharing is not necessary",
            stacklevel=2,
        )
    ordered = n * (n - 1)
    # m (1 - 2 (1 - 1 / 2m)^n + (1 - 1 / m)^n), without its loss of digits where collisions are rare
    missed = np.expm1(n * np.log1p(-0.5 / m))
    both = np.expm1(n * np.log1p(-((2 * m - 1) ** -2.0))) if m > 1 else -1.0
    independent = float(m * (missed**2 + (1 + missed) ** 2 * both)) if n > 1 else 0.0
    distinct = ordered / (2 * (2 * m - 1)) if n <= 2 * m else np.nan
    return ExpectedCollisions(ordered / (2 * m), ordered / (4 * m), independent, distinct)


@checked(W=ranges.array("n m"))
def benefit_and_interference(W: ArrayLike) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Feature benefit (1 - |W_i|^2) |W_i|^2 and interference, sum over j of ReLU(W_i . W_j)^2, of encodings (n, m).

    Source: section 2.1, "How strong is the interference?".

    Examples
    --------
    >>> benefit_and_interference([[0.6, 0.0], [0.5, 0.5]])
    (array([0.2304, 0.25  ]), array([0.09, 0.09]))
    """
    # Source: Incidental Polysemanticity, section 2.1, "How strong is the interference?".
    W = np.asarray(W, float)
    gram = W @ W.T
    square = np.diag(gram)
    return (1 - square) * square, (np.maximum(gram, 0) ** 2).sum(axis=1) - square**2


@checked(n=ranges.whole(1), m=ranges.whole(1), scale=own.deviation)
def mean_benefit_and_interference(n: int, m: int, scale: float) -> tuple[float, float]:
    """Means of `benefit_and_interference` for weights N(0, s^2 / m): s^2 - s^4 (1 + 2 / m) and (n - 1) s^4 / 2m.

    Source: section 2.1.

    Examples
    --------
    >>> mean_benefit_and_interference(64, 128, 1.0)
    (-0.015625, 0.24609375)
    """
    square = scale**2
    return square - square**2 * (1 + 2 / m), (n - 1) * square**2 / (2 * m)


@checked(x0=_positive, y0=_positive, t=ranges.real(0))
def malign_pair(x0: float, y0: float, t: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Two weights of one sign on one neuron, under their interference alone: x' = -x y^2, y' = -x^2 y.

    Source: section 2.1, "Benign and malign collisions"; the solution is ours.

    Examples
    --------
    >>> [float(w.round(4)) for w in malign_pair(0.8, 0.5, 100.0)]  # the larger one keeps sqrt(0.8^2 - 0.5^2)
    [0.6245, 0.0]
    """
    # Source: Incidental Polysemanticity, section 2.1, "Benign and malign collisions". x^2 - y^2 is conserved, and y / x
    # decays at the rate x0^2 - y0^2: the larger one ends at sqrt(|x0^2 - y0^2|), equal ones decay as 1 / sqrt(2 t).
    t = np.asarray(t, float)
    if y0 > x0:
        return malign_pair(y0, x0, t)[::-1]
    kept = (x0 - y0) * (x0 + y0)
    # x^2 = kept / (1 - r^2) with r = (y0 / x0) exp(-kept t), written so that kept = 0 is no exception
    shrinking = np.where(kept * t > 0, -np.expm1(-2 * kept * t) / max(2 * kept, 1e-300), t)
    x = x0 / np.sqrt(1 + 2 * y0**2 * shrinking)
    return x, y0 / x0 * np.exp(-kept * t) * x


@checked(W=ranges.array("n m"), noise=own.deviation, seed=ranges.seed, matched=ranges.flag, threshold=own.share)
def duplicate_polysemantic(
    W: ArrayLike, *, noise: float, seed: int, matched: bool = False, threshold: float = 0.5
) -> Float[np.ndarray, "n _"]:
    """Replace every polysemantic neuron by two copies of weight 1/sqrt(2), and disturb them.

    Returns
    -------
    numpy.ndarray, shape (n, m + copies)
        The second copies are at the end.

    Notes
    -----
    Source: section 5. With tied weights both copies take 1/sqrt(2); the text halves the outgoing weights only.
    Independent noise separates half of the pairs; use ``matched`` noise to separate all of them.

    Examples
    --------
    >>> duplicate_polysemantic([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], noise=0, seed=0).round(3)
    array([[ 0.707,  0.   ,  0.707],
           [-0.707,  0.   , -0.707],
           [ 0.   ,  1.   ,  0.   ]])
    """
    # Source: Incidental Polysemanticity, section 5. The second copies stand at the end. With tied weights both copies
    # take 1/sqrt(2); the text halves the outgoing weights only. Where `matched`, all weights of a copy move the same
    # way, and those of the other copy the opposite way: the noise that favours a copy for positive weights disfavours
    # it for negative ones.
    uses = _uses(W, threshold)
    shared = np.flatnonzero(uses.sum(axis=0) >= 2)
    rng, W = np.random.default_rng(seed), np.array(W, dtype=np.float64)
    half = W[:, shared] / np.sqrt(2)
    if matched:
        push = noise * np.abs(rng.standard_normal(len(shared))) * uses[:, shared]
        first, second = half + push, half - push
    else:
        first, second = (half + noise * rng.standard_normal(half.shape) * uses[:, shared] for _ in range(2))
    W[:, shared] = first
    return np.concatenate([W, second], axis=1)


@checked(W=ranges.array("n m"), threshold=own.share)
def count_polysemantic(W: ArrayLike, threshold: float = 0.5) -> int:
    """Count neurons that at least two features use.

    Source: section 1. Use `count_polysemantic_each` for many networks.

    Examples
    --------
    >>> count_polysemantic([[1.0, 0.0], [-0.9, 0.1], [0.0, 1.0]])
    1
    """
    return int((_uses(W, threshold).sum(axis=0) >= 2).sum())


@checked(W=ranges.array("n m"), threshold=own.share)
def same_sign_pairs(W: ArrayLike, threshold: float = 0.5) -> int:
    """Count pairs of features that use one neuron with the same sign. Source: footnote 3.

    Examples
    --------
    >>> same_sign_pairs([[1.0, 0.0], [0.9, 0.1], [-0.8, 1.0]])
    1
    """
    uses = _uses(W, threshold)
    counts = [(uses & (np.sign(W) == sign)).sum(axis=0) for sign in (1, -1)]
    return int(sum((c * (c - 1) // 2).sum() for c in counts))


@checked(W=ranges.array("n m"))
def opposite_tops(W: ArrayLike) -> int:
    """Count pairs of features whose largest weights are at one neuron with opposite signs. Source: section 2.1.

    Use `opposite_tops_each` for many networks.

    Examples
    --------
    >>> opposite_tops([[1.0, 0.0], [-0.9, 0.1], [0.0, 1.0]])
    1
    """
    W = np.asarray(W, float)
    top = np.abs(W).argmax(axis=1)
    sign = np.sign(W[np.arange(len(W)), top])
    counts = [np.bincount(top[sign == s], minlength=W.shape[1]) for s in (1, -1)]
    return int(np.dot(*counts))


def _uses(W, threshold):
    return np.abs(np.asarray(W, float)) >= threshold
