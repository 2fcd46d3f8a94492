"""The l1-regularised loss of tied weights, its gradient and the forces that sparsify."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


DEATH_LINE = 2 / (3 * np.sqrt(3))  # largest of (1 - w^2) w: above it even a single weight dies


def loss(W: ArrayLike, lambda_: float) -> float:
    """Squared error on the n basis vectors, plus the l1 term.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Encodings, finite.
    lambda_ : float
        Strength of the l1 term in the loss convention, above 0.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Incidental Polysemanticity, section 2, "Learning dynamics and loss".

    Examples
    --------
    >>> from superposition import incidental
    >>> incidental.loss([[1.0, 0.0], [0.0, 1.0]], 0.01)  # two monosemantic features: the l1 term alone
    0.02
    """
    W, lambda_ = _matrix(W), checked_strength(lambda_)
    gram = W @ W.T
    overlaps = _overlaps(gram)
    return float(((1 - np.diag(gram)) ** 2).sum() + (overlaps**2).sum() + lambda_ * np.abs(W).sum())


def gradient(W: ArrayLike, lambda_: float) -> Float[np.ndarray, "n m"]:
    """Gradient of `loss`, with sign(0) = 0.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Encodings, finite.
    lambda_ : float
        Strength of the l1 term in the loss convention, above 0.

    Returns
    -------
    numpy.ndarray, shape (n, m)

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Incidental Polysemanticity, section 2, the training dynamics, with the constants 4.

    Examples
    --------
    >>> from superposition import incidental
    >>> incidental.gradient([[1.0, 0.5], [-0.5, 1.0]], 0.01)
    array([[ 1.01,  0.51],
           [-0.51,  1.01]])
    """
    benefit, interference, regularization = forces(W, checked_strength(lambda_) / 4)
    return -4 * (benefit + interference + regularization)


def forces(
    W: ArrayLike, lambda_: float
) -> tuple[Float[np.ndarray, "n m"], Float[np.ndarray, "n m"], Float[np.ndarray, "n m"]]:
    """Feature benefit, interference and regularization on every weight, in the simplified convention.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Encodings, finite.
    lambda_ : float
        Strength of the l1 term in the simplified convention, above 0.

    Returns
    -------
    benefit, interference, regularization : numpy.ndarray, shape (n, m)

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Incidental Polysemanticity, section 2.

    Examples
    --------
    >>> from superposition import incidental
    >>> benefit, interference, regularization = incidental.forces([[0.5, 0.5]], 0.1)
    >>> benefit, regularization
    (array([[0.25, 0.25]]), array([[-0.1, -0.1]]))
    """
    W, lambda_ = _matrix(W), checked_strength(lambda_)
    gram = W @ W.T
    return (1 - np.diag(gram))[:, None] * W, -_overlaps(gram) @ W, -lambda_ * np.sign(W)


def conventions(lambda_: float, t: float, *, source: str) -> dict[str, tuple[float, float]]:
    """Strength and time in both conventions.

    Parameters
    ----------
    lambda_ : float
        Strength of the l1 term in the convention it comes from, above 0.
    t : float
        Time in that convention, 0 or more; learning rate times steps in the loss convention.
    source : {"loss", "simplified"}
        The convention they come from.

    Returns
    -------
    dict of str to tuple of float
        ``loss`` and ``simplified``, each (lambda, t). The product lambda t is the same in both.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Incidental Polysemanticity, footnote 5, read the other way round: dropping the 4
    makes lambda count four times as much.

    Examples
    --------
    >>> conventions(1e-3, 7.5, source="loss")["simplified"]
    (0.00025, 30.0)
    """
    lambda_, t = checked_strength(lambda_), float(checks.real("t", t, 0, open_high=True))
    if checks.one_of("source", source, ("loss", "simplified")) == "simplified":
        return {"loss": (4 * lambda_, t / 4), "simplified": (lambda_, t)}
    return {"loss": (lambda_, t), "simplified": (lambda_ / 4, 4 * t)}


def threshold(norm_squared: ArrayLike, lambda_: float) -> np.ndarray:
    """Size above which a weight grows: lambda / (1 - |W|^2).

    Parameters
    ----------
    norm_squared : array_like
        |W|^2, 0 or more.
    lambda_ : float
        Strength of the l1 term, above 0.

    Returns
    -------
    numpy.ndarray
        Infinite where |W|^2 >= 1: there every weight shrinks.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Incidental Polysemanticity, section 2, with sign(W_ik) for the printed sign(W_i).

    Examples
    --------
    >>> from superposition import incidental
    >>> incidental.threshold([0.0, 0.5, 1.0], 0.1)
    array([0.1, 0.2, inf])
    """
    room = 1 - checks.real("norm_squared", norm_squared, 0, open_high=True)
    return np.where(room > 0, checked_strength(lambda_) / np.where(room > 0, room, 1), np.inf)


def resting_weight(lambda_: ArrayLike) -> np.ndarray:
    """Where a single weight comes to rest: the largest root of (1 - w^2) w = lambda, 0 if there is none.

    Parameters
    ----------
    lambda_ : array_like
        Strength of the l1 term, above 0.

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ValueError
        If `lambda_` is not above 0.

    Examples
    --------
    >>> resting_weight([1e-9, 0.2, 0.5]).round(3)
    array([1.   , 0.879, 0.   ])
    """
    lambda_ = checks.real("lambda_", lambda_, 0, open_low=True, open_high=True)
    angle = np.arccos(-np.minimum(lambda_ / DEATH_LINE, 1)) / 3
    return np.where(lambda_ <= DEATH_LINE, 2 / np.sqrt(3) * np.cos(angle), 0.0)


def _matrix(W):
    W = checks.real("W", W, open_low=True, open_high=True)
    if W.ndim != 2 or not W.size:
        raise ValueError(f"W has shape {W.shape}; allowed: (n, m) with at least one weight")
    return W


def _overlaps(gram):
    """Positive inner products of different rows."""
    overlaps = np.maximum(gram, 0)
    np.fill_diagonal(overlaps, 0)
    return overlaps


def checked_strength(lambda_: float) -> float:
    """Return the strength of the regularization as a float, or refuse it."""
    return float(checks.real("lambda_", lambda_, 0, open_low=True, open_high=True))
