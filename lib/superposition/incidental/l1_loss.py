"""The l1-regularised loss of tied weights, its gradient and the forces that sparsify."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


DEATH_LINE = 2 / (3 * np.sqrt(3))  # largest of (1 - w^2) w: above it even a single weight dies


def loss(W: ArrayLike, lambda_: float) -> float:
    """Squared error of encodings (n, m) on the n basis vectors, plus the l1 term (section 2)."""
    W = np.asarray(W, float)
    gram = W @ W.T
    overlaps = _overlaps(gram)
    return float(((1 - np.diag(gram)) ** 2).sum() + (overlaps**2).sum() + lambda_ * np.abs(W).sum())


def gradient(W: ArrayLike, lambda_: float) -> Float[np.ndarray, "n m"]:
    """Gradient of `loss`, with sign(0) = 0 (section 2, the training dynamics, with the constants 4)."""
    benefit, interference, regularization = forces(W, lambda_ / 4)
    return -4 * (benefit + interference + regularization)


def forces(
    W: ArrayLike, lambda_: float
) -> tuple[Float[np.ndarray, "n m"], Float[np.ndarray, "n m"], Float[np.ndarray, "n m"]]:
    """Feature benefit, interference and regularization on every weight, in the simplified convention (section 2)."""
    W = np.asarray(W, float)
    gram = W @ W.T
    return (1 - np.diag(gram))[:, None] * W, -_overlaps(gram) @ W, -lambda_ * np.sign(W)


def conventions(lambda_: float, t: float, *, source: str) -> dict[str, tuple[float, float]]:
    """Strength and time in both conventions, ``loss`` and ``simplified``; their product is the same in both."""
    # Source: footnote 5, read the other way round: dropping the 4 makes lambda count four times as much.
    return {
        "loss": {"loss": (lambda_, t), "simplified": (lambda_ / 4, 4 * t)},
        "simplified": {"loss": (4 * lambda_, t / 4), "simplified": (lambda_, t)},
    }[source]


def threshold(norm_squared: ArrayLike, lambda_: float) -> np.ndarray:
    """Size above which a weight grows, lambda / (1 - |W|^2) (section 2, with sign(W_ik) for sign(W_i)); or infinity."""
    room = 1 - np.asarray(norm_squared, float)
    return np.where(room > 0, lambda_ / np.where(room > 0, room, 1), np.inf)


def resting_weight(lambda_: ArrayLike) -> np.ndarray:
    """Where a single weight comes to rest: the largest root of (1 - w^2) w = lambda, 0 if there is none."""
    lambda_ = np.asarray(lambda_, float)
    angle = np.arccos(-np.minimum(lambda_ / DEATH_LINE, 1)) / 3
    return np.where(lambda_ <= DEATH_LINE, 2 / np.sqrt(3) * np.cos(angle), 0.0)


def _overlaps(gram):
    """Positive inner products of different rows."""
    overlaps = np.maximum(gram, 0)
    np.fill_diagonal(overlaps, 0)
    return overlaps
