"""Geometry of a toy model: overlaps, feature dimensionality, interference, and the phase of a feature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def gram(W: ArrayLike) -> Float[np.ndarray, "... n n"]:
    """Overlaps W_i·W_j of all features, W^T W.

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights.

    Returns
    -------
    numpy.ndarray, shape (..., n, n)

    Examples
    --------
    >>> from superposition import toy
    >>> toy.gram([[1.0, -1.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    W = checks.array("W", W, "... m n")
    return np.swapaxes(W, -1, -2) @ W


def feature_dimensionality(W: ArrayLike) -> Float[np.ndarray, "... n"]:
    """How much of a dimension each feature has for itself, D_i = |W_i|^2 / sum_j (What_i·W_j)^2.

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights.

    Returns
    -------
    numpy.ndarray, shape (..., n)
        In [0, 1]; 0 for a feature without weight. The sum over features is at most m.

    Notes
    -----
    Source: Toy Models of Superposition (the full text), on the geometry of superposition.

    Examples
    --------
    >>> import numpy as np
    >>> from superposition import toy
    >>> angle = 2 * np.pi * np.arange(5) / 5
    >>> toy.feature_dimensionality([np.cos(angle), np.sin(angle)]).round(3)  # a pentagon
    array([0.4, 0.4, 0.4, 0.4, 0.4])
    """
    unit, lengths = _directions(W)
    with np.errstate(all="ignore"):  # lengths of very different size, and features without weight
        shared = gram(unit) * (lengths[..., None, :] / lengths[..., :, None])
        return np.where(lengths > 0, 1 / np.nansum(shared**2, axis=-1), 0.0)


def interference(W: ArrayLike) -> Float[np.ndarray, "... n"]:
    """How much a feature shares with the others, sum over j != i of (What_i·W_j)^2.

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights.

    Returns
    -------
    numpy.ndarray, shape (..., n)
        0 for a feature with a direction of its own, or without weight.

    Notes
    -----
    Source: Toy Models of Superposition (the full text), the colour of its figures.

    Examples
    --------
    >>> from superposition import toy
    >>> toy.interference([[2.0, -1.0]])
    array([1., 4.])
    """
    unit, lengths = _directions(W)
    others = gram(unit) * lengths[..., None, :] * ~np.eye(lengths.shape[-1], dtype=bool)
    return (others**2).sum(axis=-1)


def phase(W: ArrayLike, feature: int) -> str:
    """What became of a feature: dropped, in a dimension of its own, or in superposition.

    Parameters
    ----------
    W : array_like, shape (m, n)
        Weights.
    feature : int
        Which column.

    Returns
    -------
    str
        "dropped" if |W_i|^2 < 1/4, else "superposed" if `interference` exceeds 1/4, else "own".

    Notes
    -----
    Source: Toy Models of Superposition (the full text), on phase changes. The thresholds are
    ours; most models are far from them.

    Examples
    --------
    >>> from superposition import toy
    >>> toy.phase([[1.0, -1.0]], 1)
    'superposed'
    >>> toy.phase([[1.0, 0.1]], 1)
    'dropped'
    """
    W = checks.array("W", W, "m n")
    feature = checks.whole("feature", feature, 0, W.shape[1] - 1)
    if gram(W)[feature, feature] < 0.25:
        return "dropped"
    return "superposed" if interference(W)[feature] > 0.25 else "own"


def _directions(W):
    """Unit columns and their lengths, with no square that underflows; a column of zeros stays one."""
    W = checks.array("W", W, "... m n")
    largest = np.abs(W).max(axis=-2, keepdims=True)
    scale = np.where(largest > 0, largest, 1.0)
    lengths = np.linalg.norm(W / scale, axis=-2, keepdims=True)
    return W / scale / np.where(lengths > 0, lengths, 1.0), (scale * lengths)[..., 0, :]
