"""Where training under noise ends: near-simplices, frozen rows, and the last weight under l1.

Source: Incidental Polysemanticity, section 4 and Figures 5 and 6. The text sees a row that is
stuck and a drop at strong regularisation; here are the configurations behind both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


CRITICAL_LAMBDA = 8 / (3 * np.sqrt(3))  # where the two roots of (1 - w^2) w = lambda / 4 meet, at w = 1 / sqrt(3)


def simplex(n: int, m: int) -> Float[np.ndarray, "n m"]:
    """Regular simplex of n unit rows, n - 1 of them as close to the axes as they can be.

    Parameters
    ----------
    n : int
        Rows, at least 2.
    m : int
        Columns, at least n - 1; the others stay zero.

    Returns
    -------
    numpy.ndarray, shape (n, m)
        All W_i . W_j = -1 / (n - 1), the best that n directions can do. Row i < n - 1 is a e_i +
        b (1, ..., 1) with a = sqrt(n / (n - 1)) and b = (1 - sqrt(n)) / (n - 1)^(3/2); the last
        row is -(1, ..., 1) / sqrt(n - 1).

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: ours, for Incidental Polysemanticity, Figure 6: the last row is the stuck one.
    """
    n = checks.whole("n", n, 2)
    m = checks.whole("m", m, n - 1)
    a, b = np.sqrt(n / (n - 1)), (1 - np.sqrt(n)) / (n - 1) ** 1.5
    W = np.zeros((n, m))
    W[:-1, : n - 1] = a * np.eye(n - 1) + b
    W[-1, : n - 1] = -1 / np.sqrt(n - 1)
    return W


def freezing_sigma(n: int, l1: ArrayLike) -> np.ndarray:
    """Bipolar noise below which a regular simplex is out of its reach, so that the expected loss has no slope.

    Parameters
    ----------
    n : int
        Rows, at least 2.
    l1 : array_like
        Norms ||W_j||_1 of the rows, above 0; that of a dense random direction is about sqrt(2 m / pi).

    Returns
    -------
    numpy.ndarray
        1 / ((n - 1) l1): equality in W_i . W_j <= -sigma ||W_j||_1.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: ours, for Incidental Polysemanticity, Figures 4 and 6.
    """
    return 1 / ((checks.whole("n", n, 2) - 1) * checks.real("l1", l1, 0, open_low=True))


def last_weight(lambda_: ArrayLike) -> np.ndarray:
    """The weight of a row with a single nonzero coordinate under l1 regularisation, without noise.

    Parameters
    ----------
    lambda_ : array_like
        Coefficient of the l1 norm in the loss, 0 or more.

    Returns
    -------
    numpy.ndarray
        The stable root w of (1 - w^2) w = lambda_ / 4, 1 at 0 and 1 / sqrt(3) at
        `CRITICAL_LAMBDA` = 1.5396; beyond it the row dies: 0.

    Raises
    ------
    ValueError
        If `lambda_` is negative.

    Notes
    -----
    Source: Incidental Polysemanticity, Figure 5; the root is ours, by Viete's formula.
    """
    lambda_ = checks.real("lambda_", lambda_, 0, open_high=True)
    angle = np.arccos(np.maximum(-lambda_ / CRITICAL_LAMBDA, -1.0))
    return np.where(lambda_ <= CRITICAL_LAMBDA, 2 / np.sqrt(3) * np.cos(angle / 3), 0.0)
