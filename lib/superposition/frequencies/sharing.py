"""Features that are not equally frequent: how they share the dimensions, and the loss of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, features, ranges
from superposition.checked import checked
from superposition.codes import Code
from superposition.frequencies.ranges import all_shares, encoded, of_features, probabilities, shared
from superposition.moments import floats
from superposition.rug import meanfield

TURNS = 2000  # at most, of the search for a projector with a given diagonal: 50 are usual


@checked(ns=ranges.whole(1, 10**6), exponent=ranges.number(0, 10), total=ranges.number(0, open_low=True))
def power_law(ns: int, exponent: float, *, total: float = 1.0) -> NDArray[np.float64]:
    """Probabilities that fall as a power of the rank: p_i in proportion to i^-exponent.

    Parameters
    ----------
    total : float
        Mean number of features on at once, the sum of the p_i, above 0; small enough that no p_i is above 1.

    Returns
    -------
    numpy.ndarray, shape (ns,)
        From the most frequent to the rarest.

    Examples
    --------
    >>> power_law(4, 1.0).round(2)
    array([0.48, 0.24, 0.16, 0.12])
    """
    law = np.arange(1.0, ns + 1) ** -exponent
    return checks.number("total", total, 0, float(law.sum() / law[0]), open_low=True) * law / law.sum()


@checked(encoded, W_in=ranges.array("nd ns"), p=probabilities)
def shares(W_in: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
    """Share of the dimensions that each feature has in an encoder: r_i = V_i w_i^T (sum_j V_j w_j w_j^T)^-1 w_i.

    Returns
    -------
    numpy.ndarray, shape (ns,)
        In [0, 1]; their sum is the rank of the encoder. No decoder brings the interference of feature i below
        V_i (1/r_i - 1).

    Notes
    -----
    Source: ours; for equal features it is the bound of The Persian Rug, eq. 6.

    Examples
    --------
    >>> shares([[1, 1, 1, 0], [0, 0, 0, 2]], [0.1, 0.1, 0.1, 0.5]).round(3)
    array([0.333, 0.333, 0.333, 1.   ])
    """
    W_in = np.asarray(W_in, float)
    _, values, vectors = np.linalg.svd(W_in * np.sqrt(features.variance(p)), full_matrices=False)
    kept = values > values[0] * max(W_in.shape) * np.finfo(float).eps
    return (vectors[kept] ** 2).sum(axis=0)


@checked(of_features, p=probabilities, nd=ranges.whole(1))
def tied_shares(p: ArrayLike, nd: int) -> NDArray[np.float64]:
    """Shares of a tied code of gain one with the least interference: r_i = min(1, V_i / c), adding up to nd.

    Returns
    -------
    numpy.ndarray, shape (ns,)
        Features with V_i > c have a dimension of their own; all others see the interference c - V_i.

    Notes
    -----
    Source: the rule of Viswanath and Anantharam (1999) for the users of a radio channel. Use `even_shares` instead for
    the same interference everywhere.

    Examples
    --------
    >>> tied_shares([0.9, 0.1, 0.1, 0.1], 2).round(3)
    array([1.   , 0.333, 0.333, 0.333])
    """
    V = features.variance(p)
    falling = -np.sort(-V)
    tails = falling[::-1].cumsum()[::-1][:nd] / (nd - np.arange(nd))  # c, if so many have a dimension of their own
    return np.minimum(1, V / tails[int((falling[:nd] <= tails * (1 + 1e-12)).argmax())])


@checked(of_features, p=probabilities, nd=ranges.whole(1))
def even_shares(p: ArrayLike, nd: int) -> NDArray[np.float64]:
    """Shares at which every feature sees the same interference s: r_i = V_i / (V_i + s), adding up to nd.

    Notes
    -----
    Source: ours. Use `tied_shares` instead for the least interference of a tied code.

    Examples
    --------
    >>> even_shares([0.9, 0.1, 0.1, 0.1], 2).round(3)
    array([0.706, 0.431, 0.431, 0.431])
    """
    from scipy.optimize import brentq

    V = features.variance(p)
    if nd == len(V):
        return np.ones(nd)
    # Where all V are the least one s is V (ns - nd) / nd, where all are the largest it is as far above: s is between.
    low, high = np.log([V.min(), V.max()]) + np.log((len(V) - nd) / nd)
    return V / (V + np.exp(brentq(lambda log: (V / (V + np.exp(log))).sum() - nd, low - 1, high + 1, xtol=1e-13)))


@checked(ranges.together("p", "share"), p=ranges.probability, share=ranges.real(0, 1))
def rug_losses(p: ArrayLike, share: ArrayLike) -> NDArray[np.float64]:
    """Loss of each feature at its share, if the interference is Gaussian and as small as the share allows.

    Parameters
    ----------
    share : array_like
        Share of the dimensions, in [0, 1].

    Returns
    -------
    numpy.ndarray
        `superposition.rug.optimum` at r = share; the variance where the share is 0.

    Notes
    -----
    Source: ours. Use `few_active_losses` instead where few features are on at once.

    Examples
    --------
    >>> rug_losses([0.1, 0.1, 0.1], [0, 0.3, 1]).round(4)
    array([0.0308, 0.0137, 0.    ])
    """
    p, share = floats(p, share)
    heard = share > 1e-12
    return np.where(heard, meanfield.optimum(p, np.where(heard, share, 1)).loss, features.variance(p))


@checked(shared, p=probabilities, share=all_shares, seed=ranges.seed)
def unequal_rug(p: ArrayLike, share: ArrayLike, *, seed: int | np.random.Generator = 0) -> Code:
    """A code with given shares and the least interference they allow, with the gains and biases of the theory.

    W_in has columns u_i / sqrt(V_i) and W_out rows in the direction of u_i, where the u_i are the rows of a random
    matrix with orthonormal columns and |u_i|^2 = r_i.

    Parameters
    ----------
    share : array_like, shape (ns,)
        Shares in [0, 1], whose sum is a whole number: the dimensions.

    Raises
    ------
    ValueError
        If an argument is outside of its range or the shares do not add up to a whole number.
    FloatingPointError
        If the search for the rows fails.

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> code = unequal_rug([0.5, 0.2, 0.2, 0.2], [0.8, 0.4, 0.4, 0.4])
    >>> shares(code.W_in, [0.5, 0.2, 0.2, 0.2]).round(6)
    array([0.8, 0.4, 0.4, 0.4])
    """
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
    alone, partial = int(whole.sum()), ~whole & (share > 1e-12)
    rows[whole, :alone] = np.eye(alone)
    if nd == alone:
        return rows
    target, free = share[partial], rng.standard_normal((int(partial.sum()), nd - alone))
    for _ in range(TURNS):  # in turn the right lengths, and the nearest orthonormal columns
        free *= np.sqrt(target / (free**2).sum(axis=1))[:, None]
        left, _, right = np.linalg.svd(free, full_matrices=False)
        free = left @ right
        if (apart := np.abs((free**2).sum(axis=1) - target).max()) < 1e-13:
            break
    if apart > 1e-6:
        raise FloatingPointError(f"rows of these lengths were not found in {TURNS} turns: {apart:.1g} is left")
    rows[partial, alone:] = free
    return rows
