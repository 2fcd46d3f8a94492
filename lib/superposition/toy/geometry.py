"""Geometry of a toy model: overlaps, feature dimensionality, interference, and the phase of a feature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def gram(W: ArrayLike) -> Float[np.ndarray, "... n n"]:
    """Overlaps W_i·W_j of all features, W^T W (..., n, n), of weights (..., m, n)."""
    W = np.asarray(W, float)
    return np.swapaxes(W, -1, -2) @ W


def feature_dimensionality(W: ArrayLike) -> Float[np.ndarray, "... n"]:
    """How much of a dimension each feature has, D_i = |W_i|^2 / sum_j (What_i·W_j)^2 (Toy Models, on geometry)."""
    unit, lengths = _directions(W)
    with np.errstate(all="ignore"):  # lengths of very different size, and features without weight
        shared = gram(unit) * (lengths[..., None, :] / lengths[..., :, None])
        return np.where(lengths > 0, 1 / np.nansum(shared**2, axis=-1), 0.0)


def interference(W: ArrayLike) -> Float[np.ndarray, "... n"]:
    """How much a feature shares with the others, sum over j != i of (What_i·W_j)^2 (the colour of the figures)."""
    unit, lengths = _directions(W)
    others = gram(unit) * lengths[..., None, :] * ~np.eye(lengths.shape[-1], dtype=bool)
    return (others**2).sum(axis=-1)


def phase(W: ArrayLike, feature: int) -> str:
    """What became of a feature of one model: "dropped", "own" (a dimension of its own) or "superposed"."""
    # Source: Toy Models of Superposition, on phase changes. The thresholds are ours; most models are far from them.
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
