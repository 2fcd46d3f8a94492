"""Features that are not equally frequent: how they share the dimensions, and what that costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from superposition import checks, features
from superposition.codes.fans import Code
from superposition.rug import meanfield, ranges

TURNS = 2000  # at most, of the search for a projector with a given diagonal: 50 are usual


def power_law(ns: int, exponent: float, *, total: float = 1.0) -> NDArray[np.float64]:
    """Probabilities that fall as a power of the rank: p_i in proportion to i^-exponent.

    Parameters
    ----------
    ns : int
        Number of features, at least 1.
    exponent : float
        How fast they fall, 0 to 10; 0 for equal ones.
    total : float
        Features on at once on average, the sum of the p_i, above 0.

    Returns
    -------
    numpy.ndarray, shape (ns,)
        From the most frequent to the rarest.

    Raises
    ------
    ValueError
        If an argument is outside its range, or a probability would be above 1.

    Examples
    --------
    >>> power_law(4, 1.0).round(2)
    array([0.48, 0.24, 0.16, 0.12])
    """
    ns, exponent = checks.whole("ns", ns, 1), checks.number("exponent", exponent, 0, 10)
    law = np.arange(1.0, ns + 1) ** -exponent
    most = law.sum() / law[0]
    return checks.number("total", total, 0, float(most), open_low=True) * law / law.sum()


def shares(W_in: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
    """Share of the dimensions that each feature has in an encoder: r_i = V_i w_i^T (sum_j V_j w_j w_j^T)^-1 w_i.

    Parameters
    ----------
    W_in : array_like, shape (nd, ns)
        The encoder.
    p : array_like, shape (ns,)
        Probability that each feature is on, in (0, 1].

    Returns
    -------
    numpy.ndarray, shape (ns,)
        In [0, 1]; their sum is the rank of the encoder. No decoder brings the interference of feature i below
        V_i (1/r_i - 1).

    Raises
    ------
    ValueError
        If the shapes do not fit or a `p` is outside (0, 1].

    Notes
    -----
    Source: ours; for equal features it is the bound of The Persian Rug, eq. 6.

    Examples
    --------
    >>> shares([[1, 1, 1, 0], [0, 0, 0, 2]], [0.1, 0.1, 0.1, 0.5]).round(3)
    array([0.333, 0.333, 0.333, 1.   ])
    """
    W_in = checks.real("W_in", checks.of_shape("W_in", W_in, ("nd", "ns")), -ranges.LARGEST, ranges.LARGEST)
    p = checks.of_shape("p", features.probability(p), (W_in.shape[1],))
    _, values, vectors = np.linalg.svd(W_in * np.sqrt(features.variance(p)), full_matrices=False)
    kept = values > values[0] * max(W_in.shape) * np.finfo(float).eps
    return (vectors[kept] ** 2).sum(axis=0)


def tied_shares(p: ArrayLike, nd: int) -> NDArray[np.float64]:
    """Shares of a tied code of gain one with the least interference: r_i = min(1, V_i / c), adding up to nd.

    Parameters
    ----------
    p : array_like, shape (ns,)
        Probability that each feature is on, in (0, 1].
    nd : int
        Dimensions, 1 to ns.

    Returns
    -------
    numpy.ndarray, shape (ns,)
        Features with V_i > c have a dimension of their own; all others see the interference c - V_i.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: the rule is that of Viswanath and Anantharam (1999) for the users of a radio channel.

    Examples
    --------
    >>> tied_shares([0.9, 0.1, 0.1, 0.1], 2).round(3)
    array([1.   , 0.333, 0.333, 0.333])
    """
    p, nd = _law(p, nd)
    V = features.variance(p)
    falling = -np.sort(-V)
    tails = falling[::-1].cumsum()[::-1][:nd] / (nd - np.arange(nd))  # c, if so many have a dimension of their own
    return np.minimum(1, V / tails[int((falling[:nd] <= tails * (1 + 1e-12)).argmax())])


def even_shares(p: ArrayLike, nd: int) -> NDArray[np.float64]:
    """Shares at which every feature sees the same interference: r_i = V_i / (V_i + s), adding up to nd.

    Parameters
    ----------
    p : array_like, shape (ns,)
        Probability that each feature is on, in (0, 1].
    nd : int
        Dimensions, 1 to ns.

    Returns
    -------
    numpy.ndarray, shape (ns,)

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> even_shares([0.9, 0.1, 0.1, 0.1], 2).round(3)
    array([0.706, 0.431, 0.431, 0.431])
    """
    p, nd = _law(p, nd)
    V = features.variance(p)
    if nd == len(p):
        return np.ones(nd)
    return V / (V + np.exp(brentq(lambda log: (V / (V + np.exp(log))).sum() - nd, -80, 80, xtol=1e-13)))


def rug_losses(p: ArrayLike, share: ArrayLike) -> NDArray[np.float64]:
    """Loss of each feature at its share, if the interference is Gaussian and as small as the share allows.

    Parameters
    ----------
    p : array_like
        Probability that each feature is on, in (0, 1].
    share : array_like
        Share of the dimensions, in [0, 1].

    Returns
    -------
    numpy.ndarray
        `superposition.rug.meanfield.optimum` at r = share; the variance where the share is 0.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> rug_losses([0.1, 0.1, 0.1], [0, 0.3, 1]).round(4)
    array([0.0308, 0.0137, 0.    ])
    """
    p, share = np.broadcast_arrays(features.probability(p), checks.real("share", share, 0, 1))
    heard = share > 1e-12
    return np.where(heard, meanfield.optimum(p, np.where(heard, share, 1)).loss, features.variance(p))


def unequal_rug(p: ArrayLike, share: ArrayLike, *, seed: int | np.random.Generator = 0) -> Code:
    """A code with given shares and the least interference they allow, with the gains and biases of the theory.

    W_in has columns u_i / sqrt(V_i) and W_out rows in the direction of u_i, where the u_i are the rows of a random
    matrix with orthonormal columns and |u_i|^2 = r_i.

    Parameters
    ----------
    p : array_like, shape (ns,)
        Probability that each feature is on, in (0, 1].
    share : array_like, shape (ns,)
        Shares in [0, 1], whose sum is a whole number: the dimensions.
    seed : int or numpy.random.Generator
        A seed, or a generator to draw from.

    Returns
    -------
    superposition.codes.fans.Code

    Raises
    ------
    ValueError
        If an argument is outside its range or the shares do not add up to a whole number.

    Examples
    --------
    >>> code = unequal_rug([0.5, 0.2, 0.2, 0.2], [0.8, 0.4, 0.4, 0.4])
    >>> shares(code.W_in, [0.5, 0.2, 0.2, 0.2]).round(6)
    array([0.8, 0.4, 0.4, 0.4])
    """
    p = checks.of_shape("p", features.probability(p), ("ns",))
    share = checks.real("share", checks.of_shape("share", share, (len(p),)), 0, 1)
    nd = round(share.sum())
    if nd < 1 or abs(share.sum() - nd) > 1e-6:
        raise ValueError(f"share adds up to {share.sum():g}; allowed: a whole number of dimensions, from 1")
    rows = _rows_of_length(share, nd, checks.generator("seed", seed))
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


def _law(p, nd):
    p = checks.of_shape("p", features.probability(p), ("ns",))
    return p, checks.whole("nd", nd, 1, len(p))
