"""Codes for features that never meet: any number in three dimensions, at a price in noise.

Feature t is written along w_t and read along v_t; with v_t . w_t = 1 and v_t . w_s <= 0 for all others, and no bias,
one feature at a time passes without any loss.
Source: ours; such directions are positively independent (Davis 1954; Hare and Song 2015).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition.codes import Code

STARTS, STEPS = 4, 1500  # of the search for points that lie far apart


def exclusive_code(G: int, m: int) -> Code:
    """G features in m dimensions: digons where they fit, else points on a sphere, raised until each is a corner."""
    if G <= 2 * m:
        return _digons(G, m)
    u = _circle(G) if m == 3 else _apart(G, m - 1)
    return raised(u)


def raised(u: NDArray[np.float64]) -> Code:
    """Unit vectors (G, d), raised by one more dimension to the height of least noise."""
    # With c the largest cosine of two, v_t . w_s = (u_t . u_s - c) / (1 - c); gain (1 + c) / (1 - c) at height c^(1/2).
    c = (u @ u.T - 2 * np.eye(len(u))).max()
    height = np.sqrt(abs(c))
    foot = np.full((len(u), 1), -np.sign(c) * height)
    return Code(np.c_[u, np.full(len(u), height)].T, np.c_[u, foot] / (1 - c), np.zeros(len(u)))


def noise_gain(W_in: ArrayLike, W_out: ArrayLike) -> NDArray[np.float64]:
    """How much each output magnifies hidden noise: |v_t| |w_t|, with the own weight v_t . w_t at 1."""
    W_in, W_out = np.asarray(W_in, float), np.asarray(W_out, float)
    return np.linalg.norm(W_in, axis=0) * np.linalg.norm(W_out, axis=1) / np.einsum("ti,it->t", W_out, W_in)


def exclusive_loss(W: ArrayLike, p: float) -> float:
    """Loss per feature of ReLU(W x) where at most one feature is on, exactly."""
    heard = np.maximum(np.asarray(W, float), 0)
    return float(p / 3 * ((heard - np.eye(len(heard))) ** 2).sum() / len(heard))


def least_dimensions(G: int) -> int:
    """Dimensions that G exclusive features need for loss zero: 1, 2 or 3."""
    return min(3, -(-G // 2))


def least_gain(G: int) -> float:
    """A bound that no code of G exclusive features in three dimensions can beat, within a factor 2 of the cone's."""
    return float(np.hypot(1, 1 / (np.sin(np.pi / G) * np.tan(2 * np.pi / G))))


def best_gain(W_in: ArrayLike) -> NDArray[np.float64]:
    """Least noise gain that any reader of these directions (m, G) has: 1 over the sine to the cone of the others."""
    w = np.asarray(W_in, float)
    far = [_distance(np.delete(w, t, 1), w[:, t]) for t in range(w.shape[1])]
    with np.errstate(divide="ignore"):
        return np.linalg.norm(w, axis=0) / far


def _distance(rays, w):
    """From w (m,) to the cone of rays (m, k)."""
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
    """G points on the sphere in d dimensions that push their nearest ones away: the best of a few starts."""
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
