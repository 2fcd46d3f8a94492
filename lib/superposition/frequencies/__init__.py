"""Features that are not equally frequent: how they share the dimensions, and what that costs.

What stands here is theory, in float64. It refuses what is outside its range, with a ValueError that names the argument,
its value and what is allowed; the modules behind it compute: `superposition.frequencies.allocations` (over phases and
features of any frequency), `superposition.frequencies.few_active_features` and, with torch,
`superposition.frequencies.unequal_training`.

Source: ours, beyond The Persian Rug.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from superposition import checks, features
from superposition.frequencies import allocations, sharing
from superposition.rug import ranges

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from superposition.codes import Code
    from superposition.frequencies.allocations import Allocation

__all__ = [
    "allocate",
    "even_shares",
    "power_law",
    "rug_losses",
    "shares",
    "tied_shares",
    "unequal_rug",
]


def allocate(
    p: ArrayLike, nds: Sequence[int], *, importance: ArrayLike = 1.0, phases: Sequence[str] = ("rug", "fan", "digon")
) -> list[Allocation]:
    """The best allocations of several numbers of dimensions to features of any frequency and importance.

    Parameters
    ----------
    p : array_like, shape (ns,)
        Probability that each feature is on, in (0, 1].
    nds : sequence of int
        Dimensions, each 1 to ns.
    importance : array_like
        Weight of each feature's squared error, 1e-30 to 1e30: one number, or shape (ns,).
    phases : sequence of str
        What there is beside dropped features and own dimensions, of "rug", "fan" and "digon".

    Returns
    -------
    list of Allocation
        One for each number. The shares add up to it, or fall short of it by less than one feature's share.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. The rug counts with Gaussian interference; blocks count as if their features were equally frequent,
    as neighbours in rank nearly are.

    Examples
    --------
    >>> [best] = allocate([0.5, 0.01, 0.01, 0.01, 0.01], [3])
    >>> best.phase[:2].tolist(), float(best.share.sum())
    (['own', 'digon'], 3.0)
    """
    p = _vector(p)
    importance = checks.real("importance", importance, 1 / ranges.LARGEST, ranges.LARGEST)
    if importance.shape not in ((), p.shape):
        raise ValueError(f"importance has shape {importance.shape}; allowed: one number, or one for each p: {p.shape}")
    phases = list(phases) if isinstance(phases, Collection) and not isinstance(phases, str) else [phases]
    for name in phases:
        checks.one_of("phases", name, tuple(allocations.PHASES))
    return allocations.allocate(p, checks.wholes("nds", nds, 1, len(p)), importance=importance, phases=phases)


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
    return sharing.power_law(ns, exponent, total=total)


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
    W_in = checks.real("W_in", checks.array("W_in", W_in, "nd ns"), -ranges.LARGEST, ranges.LARGEST)
    return sharing.shares(W_in, checks.array("p", features.probability(p), (W_in.shape[1],)))


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
    p = _vector(p)
    return sharing.tied_shares(p, checks.whole("nd", nd, 1, len(p)))


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
    p = _vector(p)
    return sharing.even_shares(p, checks.whole("nd", nd, 1, len(p)))


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
    return sharing.rug_losses(features.probability(p), checks.real("share", share, 0, 1))


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
    superposition.codes.Code

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
    p = _vector(p)
    share = checks.real("share", checks.array("share", share, p.shape), 0, 1)
    return sharing.unequal_rug(p, share, seed=checks.generator("seed", seed))


def _vector(p):
    """Probabilities of features, one for each."""
    return checks.array("p", features.probability(p), "ns")
