"""Where training under noise ends: near-simplices, frozen rows, and the last weight under l1.

Source: Incidental Polysemanticity, section 4 and Figures 5 and 6. The text observes a stuck row, and a drop at strong
regularisation; this module has the configurations behind both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.incidental import ranges as own

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def simplex_exists(n: int, m: int) -> None:
    """Refuse a simplex in too few dimensions."""
    if m < n - 1:
        raise ValueError(f"m = {m} is too small for a simplex of n = {n} rows; allowed: from {n - 1} on")


CRITICAL_LAMBDA = 8 / (3 * np.sqrt(3))  # where the two roots of (1 - w^2) w = lambda / 4 meet, at w = 1 / sqrt(3)


@checked(simplex_exists, own.fits, n=own.several, m=own.neurons)
def simplex(n: int, m: int) -> Float[np.ndarray, "n m"]:
    """Regular simplex (n, m) of n unit rows, n - 1 of them as close to the axes as they can be.

    The last row is the stuck one of Figure 6; columns beyond n - 1 are zero. Source: ours, for section 4.

    Examples
    --------
    >>> simplex(3, 2).round(3)
    array([[ 0.966, -0.259],
           [-0.259,  0.966],
           [-0.707, -0.707]])
    """
    # Ours, for Incidental Polysemanticity, Figure 6: the last row is the stuck one. All overlaps are -1 / (n - 1). Row
    # i < n - 1 is a e_i + b (1, ..., 1), the last row -(1, ..., 1) / sqrt(n - 1); columns beyond n - 1 stay zero.
    a, b = np.sqrt(n / (n - 1)), (1 - np.sqrt(n)) / (n - 1) ** 1.5
    W = np.zeros((n, m))
    W[:-1, : n - 1] = a * np.eye(n - 1) + b
    W[-1, : n - 1] = -1 / np.sqrt(n - 1)
    return W


@checked(n=own.several, l1=ranges.real(ranges.SMALLEST, ranges.LARGEST))
def freezing_sigma(n: int, l1: ArrayLike) -> np.ndarray:
    """Bipolar noise below which a simplex, with rows of l1 norm `l1`, is unreachable and the expected loss flat.

    The norm of a dense random direction is about sqrt(2 m / pi). Source: ours, for section 4.

    Examples
    --------
    >>> round(float(freezing_sigma(8, 3.2)), 4)
    0.0446
    """
    # Ours: equality in W_i . W_j <= -sigma ||W_j||_1. The norm of a dense random direction is about sqrt(2 m / pi).
    return 1 / ((n - 1) * np.asarray(l1, float))


@checked(lambda_=own.strengths)
def last_weight(lambda_: ArrayLike) -> np.ndarray:
    """Weight of a row with a single nonzero coordinate under l1 regularisation, without noise (Figure 5).

    The strength is that of the loss; use `resting_weight` in the simplified convention. 0 beyond `CRITICAL_LAMBDA`.

    Examples
    --------
    >>> last_weight([0.0, 0.3, 2.0]).round(4)
    array([1.    , 0.9601, 0.    ])
    """
    # The stable root w of (1 - w^2) w = lambda_ / 4, by Viete's formula: 1 at 0, and 1 / sqrt(3) at `CRITICAL_LAMBDA`;
    # beyond it the row dies.
    lambda_ = np.asarray(lambda_, float)
    angle = np.arccos(np.maximum(-lambda_ / CRITICAL_LAMBDA, -1.0))
    return np.where(lambda_ <= CRITICAL_LAMBDA, 2 / np.sqrt(3) * np.cos(angle / 3), 0.0)
