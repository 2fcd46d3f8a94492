"""Codes for features that never meet: any number in three dimensions, at a price in noise.

Feature t is written along w_t and read along v_t; with v_t . w_t = 1 and v_t . w_s <= 0 for all others, and no bias,
one feature at a time passes without any loss.
Source: ours; such directions are positively independent (Davis 1954; Hare and Song 2015).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, ranges
from superposition.checked import checked
from superposition.codes import Code
from superposition.correlated.ranges import code_exists, directions, entries, one_at_a_time, own_weights

MOST = ranges.whole(1, checks.MOST_FEATURES)
STARTS, STEPS = 4, 1500  # of the search for points that lie far apart


@checked(code_exists, G=MOST, m=MOST)
def exclusive_code(G: int, m: int) -> Code:
    """G features of which at most one is on, in m dimensions, without loss, and with the least noise gain known to us.

    Parameters
    ----------
    G : int
        Number of features, 1 to 16384; to 300 where 3 < m < G / 2.
    m : int
        Dimensions: at least 1 for up to two features, 2 for up to four, 3 for any number; at most 16384.

    Returns
    -------
    superposition.codes.fans.Code
        Digons for G up to 2 m, of `noise_gain` 1; else points on a sphere, raised: in three dimensions a cone of gain
        cot^2(pi / G).

    Notes
    -----
    Source: ours; which numbers of directions can be positively independent is known (Davis 1954; Hare and Song 2015).

    Examples
    --------
    >>> code = exclusive_code(12, 3)
    >>> (code.W - np.eye(12)).max().round(9) + 0.0, noise_gain(code.W_in, code.W_out).max().round(2)
    (np.float64(0.0), np.float64(13.93))
    """
    if G <= 2 * m:
        return _digons(G, m)
    u = _circle(G) if m == 3 else _apart(G, m - 1)
    return _raised(u)


def _raised(u):
    """Unit vectors (G, d), raised by one more dimension to the height of least noise."""
    # With c the largest cosine of two, v_t . w_s = (u_t . u_s - c) / (1 - c); gain (1 + c) / (1 - c) at height c^(1/2).
    c = (u @ u.T - 2 * np.eye(len(u))).max()
    height = np.sqrt(abs(c))
    foot = np.full((len(u), 1), -np.sign(c) * height)
    return Code(np.c_[u, np.full(len(u), height)].T, np.c_[u, foot] / (1 - c), np.zeros(len(u)))


@checked(own_weights, W_in=ranges.array("m n", -1e100, 1e100), W_out=ranges.array("n m", -1e100, 1e100))
def noise_gain(W_in: ArrayLike, W_out: ArrayLike) -> NDArray[np.float64]:
    """Factor by which each output magnifies noise on the hidden vector, |v_t| |w_t| / (v_t . w_t).

    Parameters
    ----------
    W_in : array_like, shape (m, n)
        The encoder, of columns w_t.
    W_out : array_like, shape (n, m)
        The decoder, of rows v_t, all own weights above 0.

    Returns
    -------
    numpy.ndarray, shape (n,)
        1 or more.

    Examples
    --------
    >>> noise_gain([[1, 0], [0, 1]], [[1, -1], [0, 1]])
    array([1.41421356, 1.        ])
    """
    W_in, W_out = np.asarray(W_in, float), np.asarray(W_out, float)
    return np.linalg.norm(W_in, axis=0) * np.linalg.norm(W_out, axis=1) / np.einsum("ti,it->t", W_out, W_in)


@checked(one_at_a_time, W=entries, p=ranges.one_probability)
def exclusive_loss(W: ArrayLike, p: float) -> float:
    """Loss per feature of ReLU(W x) where at most one feature is on, each with probability p; exact.

    Examples
    --------
    >>> exclusive_loss([[1, -1], [-1, 1]], 0.5)
    0.0
    """
    outputs = np.maximum(np.asarray(W, float), 0)
    return float(p / 3 * ((outputs - np.eye(len(outputs))) ** 2).sum() / len(outputs))


@checked(G=ranges.whole(16, 10**6))
def least_noise_gain(G: int) -> float:
    """Lower bound on the noise gain of every code of G exclusive features in three dimensions, for G of at least 16.

    Returns
    -------
    float
        Within a factor 2 of the gain of the cone, `exclusive_code`.

    Notes
    -----
    Source: ours. Use `best_noise_gain` instead for given directions.

    Examples
    --------
    >>> round(least_noise_gain(16), 2)
    12.42
    """
    return float(np.hypot(1, 1 / (np.sin(np.pi / G) * np.tan(2 * np.pi / G))))


@checked(W_in=directions)
def best_noise_gain(W_in: ArrayLike) -> NDArray[np.float64]:
    """Least noise gain of any reader of these directions: 1 / sin of the angle to the cone of the others.

    Returns
    -------
    numpy.ndarray, shape (G,)
        Infinite for a direction within the cone of the others.

    Notes
    -----
    Source: ours. Use `noise_gain` instead for a given reader.

    Examples
    --------
    >>> best_noise_gain(exclusive_code(12, 3).W_in)[:2].round(2)
    array([13.93, 13.93])
    """
    w = np.asarray(W_in, float)
    far = [_distance(np.delete(w, t, 1), w[:, t]) for t in range(w.shape[1])]
    with np.errstate(divide="ignore"):
        return np.linalg.norm(w, axis=0) / far


def _distance(rays, w):
    """Distance from w (m,) to the cone of rays (m, k)."""
    from scipy.optimize import lsq_linear, nnls

    shares, far = nnls(rays, w)
    slopes = rays.T @ (rays @ shares - w)
    # scipy 1.15's nnls stops at a wrong answer for cones of 12 and more: the slower search is taken where it did
    if slopes.min() < -1e-12 * (w @ w) or np.abs(slopes * shares).max() > 1e-12 * (w @ w):
        return np.sqrt(2 * lsq_linear(rays, w, (0, np.inf), method="bvls", tol=1e-14).cost)
    return far


def _digons(G, m):
    """Pairs of opposite directions, as many as needed."""
    which = np.arange(G)
    W_out = np.zeros((G, m))
    W_out[which, which // 2] = 1 - 2 * (which % 2)
    return Code(W_out.T.copy(), W_out, np.zeros(G))


def _circle(G):
    angle = 2 * np.pi * np.arange(G) / G
    return np.c_[np.cos(angle), np.sin(angle)]


def _apart(G, d):
    """G points on the sphere in d dimensions that repel their nearest neighbours: the best of a few starts."""
    rng, found = np.random.default_rng(0), []
    for _ in range(STARTS):
        u = rng.standard_normal((G, d))
        for step in range(STEPS):
            u /= np.linalg.norm(u, axis=1)[:, None]
            close = u @ u.T - 2 * np.eye(G)
            push = np.exp((10 + 300 * step / STEPS) * (close - close.max(axis=1, keepdims=True)))
            u = u - 0.1 * (1 - step / STEPS) * (push / push.sum(axis=1, keepdims=True)) @ u
        u /= np.linalg.norm(u, axis=1)[:, None]
        found.append(((u @ u.T - 2 * np.eye(G)).max(), u))
    return min(found, key=lambda one: one[0])[1]
