"""How large the entries off the diagonal must be at a given rank: a Lemma, and its average over random loudness.

Rows and columns of W may be rescaled against each other, D W D^-1: rank and diagonal stay. The mean of the
Lemma's sum over random D counts a one-sided pair of entries for less than a balanced one.
Source: ours, against The Persian Rug, section 4.2.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import ranges
from superposition.checked import checked

SPREAD = 1.6  # of the logarithms of random loudness in Theorem A, uniform on [0, SPREAD]
GAMMA = 0.1519  # Theorem A, for all codes; superposition.codes.verified_bounds.pair_inequality proves it
LOUDER = 5 / 3  # ratio of two loudnesses, equally likely, in the credit of Theorem F
SMALL = 3 / 4 + (LOUDER**2 + LOUDER**-2) / 8  # the credit of a small entry w is SMALL w^2


@checked(W=ranges.array("n n"))
def symmetric_squares(W: ArrayLike) -> float:
    """The sum of the Lemma for a matrix with unit diagonal: sum over i, j of min(1, ((W_ij + W_ji) / 2)^2).

    Returns
    -------
    float
        At least n^2 / rank(W).

    Notes
    -----
    Source: ours. The diagonal is taken as 1.

    Examples
    --------
    >>> symmetric_squares([[1, 3], [1 / 3, 1]])  # rank 1
    4.0
    """
    W = np.array(W, float)
    np.fill_diagonal(W, 1)
    return float(np.minimum(1, ((W + W.T) / 2) ** 2).sum())


@checked(r=ranges.ratio)
def random_loudness_bound(r: ArrayLike) -> NDArray[np.float64]:
    """Theorem A: C(r) is at least 0.1519 (1/r - 1) for all codes.

    Returns
    -------
    numpy.ndarray
        A lower bound on the best loss divided by p^2 as p goes to 0, of the shape of r.

    Notes
    -----
    Source: ours. Use `best_bound` at a given p.

    Examples
    --------
    >>> float(random_loudness_bound(0.5))  # digons have 25/162 = 0.1543
    0.1519
    """
    return (GAMMA * (1 / np.asarray(r, float) - 1))[()]


@checked(alpha=ranges.real(0, 1e6), beta=ranges.real(0, 1e6))
def two_loudness_share(alpha: ArrayLike, beta: ArrayLike) -> NDArray[np.float64]:
    """The same mean where the loudness of each feature is multiplied by 1 or 5/3, by the toss of a coin.

    Returns
    -------
    numpy.ndarray
        The share of a pair of entries in Theorem F, between 0 and 1.

    Examples
    --------
    >>> float(two_loudness_share(1.0, 1.0)), round(float(two_loudness_share(2.0, 0.0)), 3)
    (1.0, 0.84)
    """
    alpha, beta = np.asarray(alpha, float), np.asarray(beta, float)
    both = (alpha + beta, LOUDER * alpha + beta / LOUDER, alpha / LOUDER + LOUDER * beta)
    squares = [np.minimum(1, (value / 2) ** 2) for value in both]
    return (squares[0] / 2 + (squares[1] + squares[2]) / 4)[()]


@checked(w=ranges.real(0, 1e6))
def credit(w: ArrayLike) -> NDArray[np.float64]:
    """The credit of an entry w of a row: C(alpha) + C(beta) is at least twice the share of the pair in Theorem F.

    Returns
    -------
    numpy.ndarray
        0 to 2, never falling: ``SMALL * w**2`` up to 1, then the least that all smaller partners allow.

    Notes
    -----
    Source: ours. For a small partner beta, twice the share minus SMALL beta^2 is concave in beta, and its pieces are
    parabolas: its maximum is at a kink, at an end, or at the vertex of one of them.

    Examples
    --------
    >>> credit([0.5, 1.0, 1.5, 3.0]).round(3)
    array([0.286, 1.053, 1.59 , 1.984])
    """
    w = np.asarray(w, float)
    partners = [np.clip(partner, 0, 1 / np.sqrt(SMALL)) for partner in critical_partners(w)]
    needed = [2 * two_loudness_share.unchecked(w, partner) - SMALL * partner**2 for partner in partners]
    return np.where(w * np.sqrt(SMALL) <= 1, SMALL * w**2, np.maximum(1, np.max(needed, axis=0)))[()]


def critical_partners(w, louder=LOUDER, small=SMALL):
    """Partners at which twice the share of w and the partner, minus the partner's own credit, may be largest."""
    # the three squares (x + y beta)^2 / 4 with weights 1, 1/2, 1/2; each counts up to its kink
    squares = [(1, w, 1), (1 / 2, louder * w, 1 / louder), (1 / 2, w / louder, louder)]
    found = [0 * w, 0 * w + 2 / 1] + [(2 - x) / y for _, x, y in squares]
    for kept in range(1, 8):
        chosen = [square for k, square in enumerate(squares) if kept >> k & 1]
        bend = small - sum(weight * y * y for weight, _, y in chosen) / 4
        found.append(sum(weight * x * y for weight, x, y in chosen) / (4 * bend))
    return found
