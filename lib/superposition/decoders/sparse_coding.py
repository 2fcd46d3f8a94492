"""Sparse codes of activations at a given dictionary, by many steps instead of one layer."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import ranges
from superposition.checked import checked
from superposition.decoders.ranges import finite, shaped

ROWS = 250  # activations at once: few enough to stay in the processor's cache


def _activations(hidden, directions):
    """Refuse activations with a different number of dimensions."""
    shaped("hidden", hidden, "batch", len(directions))


@checked(
    _activations, hidden=finite("batch nd"), directions=finite("nd k"), lambda_=ranges.number(0),
    iterations=ranges.whole(1, 10**6),
)  # fmt: skip
def nonnegative_lasso(
    hidden: ArrayLike, directions: ArrayLike, lambda_: float, *, iterations: int = 200
) -> NDArray[np.float64]:
    """Sparse codes of activations by FISTA: minimise |h - D c|^2 / 2 + lambda sum c over c >= 0.

    Parameters
    ----------
    directions : array_like, shape (nd, k)
        A dictionary D.
    lambda_ : float
        Price of a unit of a code, 0 or more.

    Notes
    -----
    Source: Beck and Teboulle (2009), with a constant step of one over the largest eigenvalue of D^T D. Use `decode`
    instead where the distribution of the features is known.

    Examples
    --------
    >>> nonnegative_lasso([[1.0, -2.0]], [[1, 0], [0, 1]], 0.25).round(6)
    array([[0.75, 0.  ]])
    """
    D, h = np.asarray(directions, float), np.asarray(hidden, float)
    step = 1 / max(float(np.linalg.norm(D, 2) ** 2), 1e-300)
    rest, drive = np.eye(D.shape[1]) - step * (D.T @ D), step * (h @ D - lambda_)
    blocks = np.array_split(drive, 1 + len(drive) // ROWS)
    return np.concatenate([_descended(block, rest, iterations) for block in blocks])


def _descended(drive, rest, iterations):
    """The codes of some activations."""
    c = ahead = np.zeros_like(drive)
    t = 1.0
    for _ in range(iterations):
        last, c = c, np.maximum(ahead @ rest + drive, 0)
        t, before = (1 + np.sqrt(1 + 4 * t**2)) / 2, t
        ahead = c + (before - 1) / t * (c - last)
    return c
