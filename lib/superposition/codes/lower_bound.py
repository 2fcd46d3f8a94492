"""How low the loss can go at small p: the limit problem, its lower bounds, and what fans reach.

At a fixed number of features and p -> 0 the best loss is C p^2. Two active features conflict where
the weight between them is negative; C is the least total cost of conflicts that a rank allows.
Source: ours, against The Persian Rug, section 4.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

KAPPA = 1 / 6 - 1 / (12 * np.sqrt(2))  # half the cost of a one-sided conflict of weight root 2
DIGON = 25 / 162  # limit of the best digon's loss over p^2


def conflict_cost(alpha: ArrayLike) -> NDArray[np.float64]:
    """What a rival of weight -alpha costs a feature while both are on: E min(u, alpha u')^2."""
    # concave in alpha^2; where alpha is infinite, 1/3
    alpha = np.asarray(alpha, float)
    low = np.minimum(alpha, 1)
    return np.where(alpha > 1, 1 / 3 - 1 / (6 * np.maximum(alpha, 1)), low**2 * (1 / 3 - low / 6))[()]


def conflict_slope(alpha: ArrayLike) -> NDArray[np.float64]:
    """Slope of `conflict_cost` in alpha."""
    alpha = np.asarray(alpha, float)
    low = np.minimum(alpha, 1)
    return (low * (2 / 3 - low / 2) / np.maximum(alpha, 1) ** 2)[()]


def limit_cost(W: ArrayLike) -> float:
    """Cost of the conflicts of a code, (1/n) sum over i != j of e(W_ij^-): its loss over p^2 as p -> 0."""
    off = _unit_rows(W)
    if np.any(off > 1e-6):  # a positive entry costs p, not p^2
        return float("inf")
    return float(conflict_cost(np.maximum(-off, 0)).sum() / len(off))


def truncated_squares(W: ArrayLike) -> float:
    """The sum of the Lemma: sum over i, j of min(1, A_ij), A_ij = (W_ij^2 + W_ji^2) / 2, for a unit diagonal."""
    # At least n^2 / rank W: (tr X)^2 <= rank X |X|_F^2 for X = Y^(1/2) W Y^(1/2), and an exchange argument as in
    # Motzkin and Straus's proof of Turan's theorem.
    squares = _unit_rows(W) ** 2
    return float(len(squares) + np.minimum(1, (squares + squares.T) / 2).sum())


def general_bound(r: ArrayLike) -> NDArray[np.float64]:
    """Theorem A: C(r) >= KAPPA (1/r - 1), KAPPA = 1/6 - 1/(12 sqrt 2), for every code."""
    return KAPPA * _over(r)


def symmetrisable_bound(r: ArrayLike) -> NDArray[np.float64]:
    """Theorem B: C(r) >= (25/162) (1/r - 1) for codes W = D S D^-1 with S symmetric and D diagonal."""
    return DIGON * _over(r)


def hierarchical_bound(r: ArrayLike) -> NDArray[np.float64]:
    """Turan's bound for codes of infinite ratio, where each conflict costs 1/3: C(r) >= (1/r - 1) / 6."""
    # Features without conflict have independent directions, so the graph of non-conflicts holds no clique of nd + 1.
    return _over(r) / 6


def fewest_in_space(n: ArrayLike) -> NDArray[np.int64]:
    """Theorem C3: codes of infinite ratio in three dimensions have at least (n - 3)(n - 4)/2 conflicts, n >= 4."""
    n = np.asarray(n)
    return (n - 3) * (n - 4) // 2


def best_constant(r: ArrayLike) -> NDArray[np.float64]:
    """Upper bound on C(r): swept fans, the best digon and dedicated dimensions, mixed."""
    r = np.asarray(r, float)
    B = np.arange(int(np.ceil(2 / r.min(initial=1))) + 5, 4, -1)
    return np.interp(r, np.r_[2 / B, 0.5, 1], np.r_[(B - 3) / 6 - 2 / 81 * ((B - 2) // 2) / B, DIGON, 0])[()]


def _over(r):
    return 1 / np.asarray(r, float) - 1


def _unit_rows(W):
    """The weights off the diagonal, over the diagonal of their rows."""
    W = np.asarray(W, float)
    off = W / np.diag(W)[:, None]
    np.fill_diagonal(off, 0)
    return off
