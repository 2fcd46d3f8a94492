"""How low the loss can go at small p: the limit problem, its lower bounds, and what fans reach.

At a fixed number of features and p -> 0 the best loss is C p^2. Two active features conflict where
the weight between them is negative; C is the least total cost of conflicts that a rank allows.
Source: ours, against The Persian Rug, section 4.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks

KAPPA = 1 / 6 - 1 / (12 * np.sqrt(2))  # half the cost of a one-sided conflict of weight root 2
DIGON = 25 / 162  # limit of the best digon's loss over p^2


def conflict_cost(alpha: ArrayLike) -> NDArray[np.float64]:
    """What a rival of weight -alpha costs a feature while both are on: E min(u, alpha u')^2.

    Parameters
    ----------
    alpha : array_like
        0 or more; infinity is allowed.

    Returns
    -------
    numpy.ndarray
        From 0 to 1/3. As a function of alpha^2 it is concave.

    Raises
    ------
    ValueError
        If `alpha` is negative.

    Notes
    -----
    Source: ours. 1/3 - 1/(6 alpha) from alpha = 1 on, alpha^2 (1/3 - alpha/6) below.

    Examples
    --------
    >>> conflict_cost([0, 1, 3]).round(4)
    array([0.    , 0.1667, 0.2778])
    """
    alpha = checks.real("alpha", alpha, 0)
    low = np.minimum(alpha, 1)
    return np.where(alpha > 1, 1 / 3 - 1 / (6 * np.maximum(alpha, 1)), low**2 * (1 / 3 - low / 6))[()]


def mutual_cost(t: ArrayLike) -> NDArray[np.float64]:
    """Least cost of a mutual conflict of given strength: min of e(alpha) + e(t / alpha), e the `conflict_cost`.

    Parameters
    ----------
    t : array_like
        Product of the two weights, 0 or more.

    Returns
    -------
    numpy.ndarray
        At least (25/81) min(1, t), with equality at t = 1 (alpha = 3) and t = 0.

    Raises
    ------
    ValueError
        If `t` is negative.

    Notes
    -----
    Source: ours. Either both weights are sqrt(t), or one is 3 t / (2 - sqrt(4 - 3 / t)), which needs t >= 3/4.

    Examples
    --------
    >>> bool(abs(mutual_cost(1.0) - 25 / 81) < 1e-15)
    True
    """
    t = checks.real("t", t, 0, open_high=True)
    positive = np.maximum(t, 0.75)
    x = (2 - np.sqrt(4 - 3 / positive)) / (3 * positive)
    uneven = np.where(t >= 0.75, conflict_cost(1 / x) + conflict_cost(positive * x), np.inf)
    return np.minimum(2 * conflict_cost(np.sqrt(t)), uneven)[()]


def limit_cost(W: ArrayLike) -> float:
    """Cost of the conflicts of a code, (1/n) sum over i != j of e(W_ij^-): its loss over p^2 as p -> 0.

    Parameters
    ----------
    W : array_like, shape (n, n)
        Weights with a positive diagonal; rows are divided by it. Positive entries count as infinitely
        bad beyond 1e-6 of the diagonal: they cost p, not p^2.

    Returns
    -------
    float
        Infinity if there is such an entry.

    Raises
    ------
    ValueError
        If `W` is not square or its diagonal not positive.

    Examples
    --------
    >>> round(limit_cost([[1, -1], [-1, 1]]), 4)
    0.1667
    """
    off, n = _unit_rows(W)
    if np.any(off > 1e-6):
        return float("inf")
    return float(conflict_cost(np.maximum(-off, 0)).sum() / n)


def truncated_squares(W: ArrayLike) -> float:
    """The sum of the Lemma: sum over i, j of min(1, A_ij), A_ij = (W_ij^2 + W_ji^2) / 2, for a unit diagonal.

    Parameters
    ----------
    W : array_like, shape (n, n)
        Weights with a positive diagonal; rows are divided by it.

    Returns
    -------
    float
        At least n^2 / rank W.

    Raises
    ------
    ValueError
        If `W` is not square or its diagonal not positive.

    Notes
    -----
    Source: ours. (tr X)^2 <= rank X |X|_F^2 for X = Y^(1/2) W Y^(1/2), and an exchange argument as in
    Motzkin and Straus's proof of Turan's theorem.

    Examples
    --------
    >>> truncated_squares([[1, -1], [-1, 1]])  # rank 1: 4 is the least
    4.0
    """
    off, n = _unit_rows(W)
    squares = off**2
    return float(n + np.minimum(1, (squares + squares.T) / 2).sum())


def general_bound(r: ArrayLike) -> NDArray[np.float64]:
    """Theorem A: C(r) >= KAPPA (1/r - 1), KAPPA = 1/6 - 1/(12 sqrt 2), for every code.

    Parameters
    ----------
    r : array_like
        Compression ratio, in (0, 1].

    Returns
    -------
    numpy.ndarray
        A lower bound on lim L / p^2, at a fixed number of features.

    Raises
    ------
    ValueError
        If `r` is outside (0, 1].

    Examples
    --------
    >>> round(float(general_bound(0.2)), 3)
    0.431
    """
    return KAPPA * _over(r)


def symmetrisable_bound(r: ArrayLike) -> NDArray[np.float64]:
    """Theorem B: C(r) >= (25/162) (1/r - 1) for codes W = D S D^-1 with S symmetric and D diagonal.

    Parameters
    ----------
    r : array_like
        Compression ratio, in (0, 1].

    Returns
    -------
    numpy.ndarray
        With equality for the best digon, at r = 1/2.

    Raises
    ------
    ValueError
        If `r` is outside (0, 1].

    Examples
    --------
    >>> bool(abs(symmetrisable_bound(0.5) - 25 / 162) < 1e-15)
    True
    """
    return DIGON * _over(r)


def hierarchical_bound(r: ArrayLike) -> NDArray[np.float64]:
    """Turan's bound for codes of infinite ratio, where each conflict costs 1/3: C(r) >= (1/r - 1) / 6.

    Parameters
    ----------
    r : array_like
        Compression ratio, in (0, 1].

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ValueError
        If `r` is outside (0, 1].

    Notes
    -----
    Source: ours. Features without conflict have independent directions, so the graph of non-conflicts
    holds no clique of nd + 1.

    Examples
    --------
    >>> round(float(hierarchical_bound(0.2)), 3)
    0.667
    """
    return _over(r) / 6


def best_constant(r: ArrayLike) -> NDArray[np.float64]:
    """Upper bound on C(r): fans, the best digon and dedicated dimensions, mixed.

    Parameters
    ----------
    r : array_like
        Compression ratio, in [1e-5, 1].

    Returns
    -------
    numpy.ndarray
        (2/r - 3) / 6 where 2/r is a whole number from 5 on.

    Raises
    ------
    ValueError
        If `r` is outside its range.

    Examples
    --------
    >>> best_constant([0.2, 0.5, 0.75]).round(4)
    array([1.1667, 0.1543, 0.0772])
    """
    r = checks.real("r", r, 1e-5, 1)
    B = np.arange(int(np.ceil(2 / r.min(initial=1))) + 5, 4, -1)
    return np.interp(r, np.r_[2 / B, 0.5, 1], np.r_[(B - 3) / 6, DIGON, 0])[()]


def _over(r):
    return 1 / checks.real("r", r, 0, 1, open_low=True) - 1


def _unit_rows(W):
    W = checks.real("W", W, open_low=True, open_high=True)
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        raise ValueError(f"W of shape {W.shape} is not square; allowed: (n, n)")
    diagonal = checks.real("diagonal of W", np.diag(W), 0, open_low=True)
    off = W / diagonal[:, None]
    np.fill_diagonal(off, 0)
    return off, len(W)
