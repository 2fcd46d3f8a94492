"""Features that are not equally frequent: how they share the dimensions, and what that costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, features
from superposition.codes import Code
from superposition.rug import meanfield
from superposition.rug.moments import floats

TURNS = 2000  # at most, of the search for a projector with a given diagonal: 50 are usual


def power_law(ns: int, exponent: float, *, total: float = 1.0) -> NDArray[np.float64]:
    """Probabilities (ns,) that fall as a power of the rank, p_i in proportion to i^-exponent, and add up to total."""
    law = np.arange(1.0, ns + 1) ** -exponent
    return checks.number("total", total, 0, float(law.sum() / law[0]), open_low=True) * law / law.sum()


def shares(W_in: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
    """Share of the dimensions of each feature in an encoder (nd, ns): V_i w_i^T (sum_j V_j w_j w_j^T)^-1 w_i (ours)."""
    W_in = np.asarray(W_in, float)
    _, values, vectors = np.linalg.svd(W_in * np.sqrt(features.variance(p)), full_matrices=False)
    kept = values > values[0] * max(W_in.shape) * np.finfo(float).eps
    return (vectors[kept] ** 2).sum(axis=0)


def tied_shares(p: ArrayLike, nd: int) -> NDArray[np.float64]:
    """Shares of a tied code of gain one with the least interference: r_i = min(1, V_i / c), adding up to nd."""
    # the rule of Viswanath and Anantharam (1999) for the users of a radio channel: features with V_i > c have a
    # dimension of their own, and all others see the interference c - V_i
    V = features.variance(p)
    falling = -np.sort(-V)
    tails = falling[::-1].cumsum()[::-1][:nd] / (nd - np.arange(nd))  # c, if so many have a dimension of their own
    return np.minimum(1, V / tails[int((falling[:nd] <= tails * (1 + 1e-12)).argmax())])


def even_shares(p: ArrayLike, nd: int) -> NDArray[np.float64]:
    """Shares at which every feature sees the same interference: r_i = V_i / (V_i + s), adding up to nd."""
    from scipy.optimize import brentq

    V = features.variance(p)
    if nd == len(V):
        return np.ones(nd)
    return V / (V + np.exp(brentq(lambda log: (V / (V + np.exp(log))).sum() - nd, -80, 80, xtol=1e-13)))


def rug_losses(p: ArrayLike, share: ArrayLike) -> NDArray[np.float64]:
    """Loss of each feature at its share, if the interference is Gaussian and as small as the share allows."""
    p, share = floats(p, share)
    heard = share > 1e-12
    return np.where(heard, meanfield.optimum(p, np.where(heard, share, 1)).loss, features.variance(p))


def unequal_rug(p: ArrayLike, share: ArrayLike, *, seed: int | np.random.Generator = 0) -> Code:
    """A code with given shares and the least interference they allow, with the gains and biases of the theory."""
    # W_in has columns u_i / sqrt(V_i) and W_out rows in the direction of u_i, where the u_i are the rows of a random
    # matrix with orthonormal columns and |u_i|^2 = r_i
    p, share = np.asarray(p, float), np.asarray(share, float)
    nd = round(share.sum())
    if nd < 1 or abs(share.sum() - nd) > 1e-6:
        raise ValueError(f"share adds up to {share.sum():g}; allowed: a whole number of dimensions, from 1")
    rows = _rows_of_length(share, nd, np.random.default_rng(seed))
    best, heard = meanfield.optimum(p, np.where(share > 1e-12, share, 1)), share > 1e-12
    gain, noise = np.where(heard, best.a, 0), np.sqrt(features.variance(p))
    W_in, W_out = rows.T / noise, (gain * noise / np.where(heard, share, 1))[:, None] * rows
    others = W_out @ (W_in @ features.mean(p)) - gain * features.mean(p)
    return Code(W_in, W_out, np.where(heard, best.b - others, features.mean(p)))


def _rows_of_length(share, nd, rng):
    """Rows of a random matrix with orthonormal columns whose squared lengths are the shares."""
    rows, whole = np.zeros((len(share), nd)), share > 1 - 1e-9
    alone = int(whole.sum())
    rows[whole, :alone] = np.eye(alone)
    target, free = share[~whole], rng.standard_normal((len(share) - alone, nd - alone))
    for _ in range(TURNS if nd > alone else 0):  # in turn the right lengths, and the nearest orthonormal columns
        free *= np.sqrt(target / (free**2).sum(axis=1))[:, None]
        left, _, right = np.linalg.svd(free, full_matrices=False)
        free = left @ right
        if np.abs((free**2).sum(axis=1) - target).max() < 1e-13:
            break
    rows[~whole, alone:] = free
    return rows
