"""The l1-regularised loss of tied weights, its gradient and the forces that sparsify."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.incidental import ranges as own

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


DEATH_LINE = 2 / (3 * np.sqrt(3))  # largest of (1 - w^2) w: above it even a single weight dies


@checked(W=ranges.array("n m"), lambda_=own.strength)
def loss(W: ArrayLike, lambda_: float) -> float:
    """Squared error of encodings (n, m) on the n basis vectors, plus the l1 term.

    The strength is that of the loss convention. Source: section 2, "Learning dynamics and loss". Use `expected_loss`
    under noise, `company_flow` where features come in pairs.

    Examples
    --------
    >>> loss([[1.0, 0.0], [0.0, 1.0]], 0.01)  # two monosemantic features: the l1 term alone
    0.02
    """
    W = np.asarray(W, float)
    gram = W @ W.T
    overlaps = _overlaps(gram)
    return float(((1 - np.diag(gram)) ** 2).sum() + (overlaps**2).sum() + lambda_ * np.abs(W).sum())


@checked(W=ranges.array("n m"), lambda_=own.strength)
def gradient(W: ArrayLike, lambda_: float) -> Float[np.ndarray, "n m"]:
    """Gradient (n, m) of `loss`, with sign(0) = 0.

    Source: section 2, the training dynamics, with the constants 4.

    Examples
    --------
    >>> gradient([[1.0, 0.5], [-0.5, 1.0]], 0.01)
    array([[ 1.01,  0.51],
           [-0.51,  1.01]])
    """
    benefit, interference, regularization = forces(W, lambda_ / 4)
    return -4 * (benefit + interference + regularization)


@checked(W=ranges.array("n m"), lambda_=own.strength)
def forces(
    W: ArrayLike, lambda_: float
) -> tuple[Float[np.ndarray, "n m"], Float[np.ndarray, "n m"], Float[np.ndarray, "n m"]]:
    """Feature benefit, interference and regularization on every weight (n, m), in the simplified convention.

    Source: section 2. Use `gradient` in the loss convention.

    Examples
    --------
    >>> benefit, interference, regularization = forces([[0.5, 0.5]], 0.1)
    >>> benefit, regularization
    (array([[0.25, 0.25]]), array([[-0.1, -0.1]]))
    """
    W = np.asarray(W, float)
    gram = W @ W.T
    return (1 - np.diag(gram))[:, None] * W, -_overlaps(gram) @ W, -lambda_ * np.sign(W)


@checked(lambda_=own.strength, t=ranges.number(0), source=ranges.one_of("loss", "simplified"))
def conventions(lambda_: float, t: float, *, source: str) -> dict[str, tuple[float, float]]:
    """Strength and time in both conventions, ``loss`` and ``simplified``; their product is the same in both.

    Source: footnote 5, the other way round: without the 4 lambda counts four times as much.

    Examples
    --------
    >>> conventions(0.004, 1.0, source="loss")["simplified"]
    (0.001, 4.0)
    """
    # Source: footnote 5, read the other way round: dropping the 4 makes lambda count four times as much.
    return {
        "loss": {"loss": (lambda_, t), "simplified": (lambda_ / 4, 4 * t)},
        "simplified": {"loss": (4 * lambda_, t / 4), "simplified": (lambda_, t)},
    }[source]


@checked(norm_squared=ranges.real(0), lambda_=own.strength)
def threshold(norm_squared: ArrayLike, lambda_: float) -> np.ndarray:
    """Size above which a weight grows: lambda / (1 - |W|^2), infinite where |W|^2 >= 1, as every weight shrinks there.

    Source: section 2, with sign(W_ik) for the printed sign(W_i).

    Examples
    --------
    >>> threshold([0.0, 0.5, 1.0], 0.1)
    array([0.1, 0.2, inf])
    """
    room = 1 - np.asarray(norm_squared, float)
    return np.where(room > 0, lambda_ / np.where(room > 0, room, 1), np.inf)


@checked(lambda_=own.strengths)
def resting_weight(lambda_: ArrayLike) -> np.ndarray:
    """The value at which a single weight comes to rest: the largest root of (1 - w^2) w = lambda, 0 if there is none.

    The strength is that of the simplified convention; use `last_weight` in the loss convention. Source: ours, for
    section 2.

    Examples
    --------
    >>> resting_weight([0.0, 0.02, 0.4]).round(4)
    array([1.    , 0.9898, 0.    ])
    """
    lambda_ = np.asarray(lambda_, float)
    angle = np.arccos(-np.minimum(lambda_ / DEATH_LINE, 1)) / 3
    return np.where(lambda_ <= DEATH_LINE, 2 / np.sqrt(3) * np.cos(angle), 0.0)


def _overlaps(gram):
    """Positive inner products of different rows."""
    overlaps = np.maximum(gram, 0)
    np.fill_diagonal(overlaps, 0)
    return overlaps
