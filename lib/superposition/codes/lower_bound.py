"""How low the loss can go at small p: the limit problem, its lower bounds, and the losses that fans reach.

At a fixed number of features and p -> 0 the best loss is C p^2. Two active features conflict where
the weight between them is negative; C is the least total cost of conflicts that a rank allows.
Source: ours, against The Persian Rug, section 4.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import ranges
from superposition.checked import checked
from superposition.codes import ranges as within

KAPPA = 1 / 6 - 1 / (12 * np.sqrt(2))  # half the cost of a one-sided conflict of weight root 2
DIGON_CONSTANT = 25 / 162  # limit of the best digon's loss over p^2


@checked(alpha=ranges.real(0, np.inf))
def conflict_cost(alpha: ArrayLike) -> NDArray[np.float64]:
    """Cost of a rival of weight -alpha to a feature while both are on: e(alpha) = E min(u, alpha u')^2.

    Returns
    -------
    numpy.ndarray
        Shape of `alpha`; 1/3 where it is infinite. Source: ours.

    Examples
    --------
    >>> conflict_cost([0, 1, np.inf]).round(3)
    array([0.   , 0.167, 0.333])
    """
    # concave in alpha^2; where alpha is infinite, 1/3
    alpha = np.asarray(alpha, float)
    low = np.minimum(alpha, 1)
    return np.where(alpha > 1, 1 / 3 - 1 / (6 * np.maximum(alpha, 1)), low**2 * (1 / 3 - low / 6))[()]


def conflict_slope(alpha: ArrayLike) -> NDArray[np.float64]:
    """Slope of `conflict_cost` in alpha."""
    alpha = np.asarray(alpha, float)
    low = np.minimum(alpha, 1)
    return (low * (2 / 3 - low / 2) / np.maximum(alpha, 1) ** 2)[()]


@checked(W=within.with_diagonal)
def limit_cost(W: ArrayLike) -> float:
    """Cost of the conflicts of a code: its loss divided by p^2 as p -> 0.

    Returns
    -------
    float
        (1/n) sum over i != j of e(W_ij^-), e the `conflict_cost`, rows divided by their diagonal; infinite if an entry
        is above 1e-6, as it costs p. Source: ours. Use `code_loss` instead at a finite p.

    Examples
    --------
    >>> round(limit_cost([[1, -3], [-1 / 3, 1]]) * 162, 6)  # the best digon
    25.0
    """
    off = _unit_rows(W)
    if np.any(off > 1e-6):  # a positive entry costs p, not p^2
        return float("inf")
    return float(conflict_cost(np.maximum(-off, 0)).sum() / len(off))


@checked(W=within.with_diagonal)
def truncated_squares(W: ArrayLike) -> float:
    """The sum of the Lemma, which is at least n^2 / rank W.

    Returns
    -------
    float
        Sum over i, j of min(1, A_ij), A_ij = (W_ij^2 + W_ji^2) / 2, rows divided by their diagonal. Source: ours.

    Examples
    --------
    >>> truncated_squares([[1, -1], [-1, 1]])
    4.0
    """
    # At least n^2 / rank W: (tr X)^2 <= rank X |X|_F^2 for X = Y^(1/2) W Y^(1/2), and an exchange argument as in
    # Motzkin and Straus's proof of Turan's theorem.
    squares = _unit_rows(W) ** 2
    return float(len(squares) + np.minimum(1, (squares + squares.T) / 2).sum())


@checked(r=ranges.ratio)
def symmetrisable_bound(r: ArrayLike) -> NDArray[np.float64]:
    """Theorem B: C(r) >= (25/162) (1/r - 1) for codes W = D S D^-1 with S symmetric and D diagonal.

    Returns
    -------
    numpy.ndarray
        Lower bound on the loss divided by p^2 as p -> 0, shape of `r`. Source: ours.

    Examples
    --------
    >>> round(float(symmetrisable_bound(0.5)) * 162, 6)
    25.0
    """
    return DIGON_CONSTANT * _over(r)


@checked(r=ranges.ratio)
def hierarchical_bound(r: ArrayLike) -> NDArray[np.float64]:
    """Turan's bound for codes of infinite ratio, where each conflict costs 1/3: C(r) >= (1/r - 1) / 6.

    Returns
    -------
    numpy.ndarray
        Lower bound on the loss divided by p^2 as p -> 0, shape of `r`. Source: ours.

    Examples
    --------
    >>> round(float(hierarchical_bound(0.25)), 6)
    0.5
    """
    # Features without conflict have independent directions, so the graph of non-conflicts holds no clique of nd + 1.
    return _over(r) / 6


@checked(n=within.counts)
def fewest_conflicts_in_space(n: ArrayLike) -> NDArray[np.int64]:
    """Theorem C3: codes of infinite ratio in three dimensions have at least (n - 3)(n - 4)/2 conflicts.

    Returns
    -------
    numpy.ndarray
        Shape of `n`. Source: ours.

    Examples
    --------
    >>> fewest_conflicts_in_space([4, 6, 9])
    array([ 0,  3, 15])
    """
    n = np.asarray(n)
    return (n - 3) * (n - 4) // 2


@checked(r=ranges.real(1e-6, 1))
def best_known_constant(r: ArrayLike) -> NDArray[np.float64]:
    """Upper bound on C(r), the best loss divided by p^2 as p -> 0: swept fans, digons and own dimensions, mixed.

    Returns
    -------
    numpy.ndarray
        Shape of `r`. Source: ours. Use `best_known` instead at a finite p.

    Examples
    --------
    >>> round(float(best_known_constant(0.2)), 3)
    1.157
    """
    r = np.asarray(r, float)
    B = np.arange(int(np.ceil(2 / r.min(initial=1))) + 5, 4, -1)
    return np.interp(r, np.r_[2 / B, 0.5, 1], np.r_[(B - 3) / 6 - 2 / 81 * ((B - 2) // 2) / B, DIGON_CONSTANT, 0])[()]


def _over(r):
    return 1 / np.asarray(r, float) - 1


def _unit_rows(W):
    """The weights off the diagonal, divided by the diagonal of their rows."""
    W = np.asarray(W, float)
    off = W / np.diag(W)[:, None]
    np.fill_diagonal(off, 0)
    return off
