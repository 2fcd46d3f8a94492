"""Geometry of a toy model: overlaps, feature dimensionality, interference, and the phase of a feature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.toy.ranges import column, directions

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


@checked(W=directions)
def gram(W: ArrayLike) -> Float[np.ndarray, "... n n"]:
    """Overlaps W_i·W_j of all features, W^T W, as in the text's figures.

    Examples
    --------
    >>> gram([[1.0, -1.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    W = np.asarray(W, float)
    return np.swapaxes(W, -1, -2) @ W


@checked(W=directions)
def feature_dimensionality(W: ArrayLike) -> Float[np.ndarray, "... n"]:
    """Fraction of a dimension that each feature has, D_i = |W_i|^2 / sum_j (What_i·W_j)^2.

    Returns
    -------
    numpy.ndarray, shape (..., n)
        In [0, 1]; 0 for a feature without weight. The sum over features is at most m.

    Notes
    -----
    Source: Toy Models of Superposition (the full text), on the geometry of superposition. Use `interference` instead
    for how much a feature shares, in units of squared weights.

    Examples
    --------
    >>> angle = 2 * np.pi * np.arange(5) / 5
    >>> feature_dimensionality([np.cos(angle), np.sin(angle)]).round(3)  # a pentagon
    array([0.4, 0.4, 0.4, 0.4, 0.4])
    """
    unit, lengths = _directions(W)
    with np.errstate(all="ignore"):  # lengths of very different size, and features without weight
        shared = gram.unchecked(unit) * (lengths[..., None, :] / lengths[..., :, None])
        return np.where(lengths > 0, 1 / np.nansum(shared**2, axis=-1), 0.0)


@checked(W=directions)
def interference(W: ArrayLike) -> Float[np.ndarray, "... n"]:
    """Overlap of each feature's direction with the others, sum over j != i of (What_i·W_j)^2.

    Returns
    -------
    numpy.ndarray, shape (..., n)
        0 for a feature with a direction of its own, or without weight.

    Notes
    -----
    Source: Toy Models of Superposition (the full text), the colour of its figures.

    Examples
    --------
    >>> interference([[2.0, -1.0]])
    array([1., 4.])
    """
    unit, lengths = _directions(W)
    others = gram.unchecked(unit) * lengths[..., None, :] * ~np.eye(lengths.shape[-1], dtype=bool)
    return (others**2).sum(axis=-1)


@checked(column, W=ranges.array("m n", -1e150, 1e150), feature=ranges.whole(0))
def phase(W: ArrayLike, feature: int) -> str:
    """Phase of one feature of a model: dropped, in a dimension of its own, or in superposition.

    Parameters
    ----------
    feature : int
        Its column, from 0.

    Returns
    -------
    str
        "dropped" if |W_i|^2 < 1/4, else "superposed" if `interference` exceeds 1/4, else "own".

    Notes
    -----
    Source: Toy Models of Superposition (the full text), on phase changes. The thresholds are ours; most models are far
    from them.

    Examples
    --------
    >>> phase([[1.0, -1.0]], 1), phase([[1.0, 0.1]], 1)
    ('superposed', 'dropped')
    """
    if gram(W)[feature, feature] < 0.25:
        return "dropped"
    return "superposed" if interference(W)[feature] > 0.25 else "own"


def _directions(W):
    """Unit columns and their lengths, with no square that underflows; a column of zeros stays one."""
    W = np.asarray(W, float)
    largest = np.abs(W).max(axis=-2, keepdims=True)
    scale = np.where(largest > 0, largest, 1.0)
    lengths = np.linalg.norm(W / scale, axis=-2, keepdims=True)
    return W / scale / np.where(lengths > 0, lengths, 1.0), (scale * lengths)[..., 0, :]
