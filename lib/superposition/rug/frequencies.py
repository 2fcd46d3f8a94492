"""Features that are not equally frequent: how they share the dimensions, and what that costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, features
from superposition.rug import ranges


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
