"""What the wing hands out, each argument checked once; the modules behind it compute.

Conventions, the same in every function. ``W`` has shape (m, n): column i is the direction of
feature i among m hidden dimensions, m <= n. ``importance`` multiplies the *squared* error of a
feature (the text's ||I (x - x')||^2 would square it). Features are those of
`superposition.features`: on with probability p, then uniform on [0, 1]; the sparsity is
S = 1 - p. Losses are sums over features, as in the text, not means. Where it says (...), any
number of models is evaluated at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, features
from superposition.toy import geometry, linear, optima
from superposition.toy import loss as losses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.features import Estimate
    from superposition.toy.optima import Optimum


LARGEST = 1e40  # of weights, biases and importances: squared errors stay finite


def gram(W: ArrayLike) -> Float[np.ndarray, "... n n"]:
    """Overlaps W_i·W_j of all features, W^T W.

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights.

    Returns
    -------
    numpy.ndarray, shape (..., n, n)

    Raises
    ------
    ValueError
        If `W` holds anything but finite numbers, or has other axes.

    Notes
    -----
    Source: Toy Models of Superposition, the figures of W^T W.

    Examples
    --------
    >>> gram([[1.0, -1.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return geometry.gram(_weights(W))


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

    Raises
    ------
    ValueError
        If `W` holds anything but finite numbers, or has other axes.

    Notes
    -----
    Source: Toy Models of Superposition (the full text), on the geometry of superposition.

    Examples
    --------
    >>> angle = 2 * np.pi * np.arange(5) / 5
    >>> feature_dimensionality([np.cos(angle), np.sin(angle)]).round(3)  # a pentagon
    array([0.4, 0.4, 0.4, 0.4, 0.4])
    """
    return geometry.feature_dimensionality(_weights(W))


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

    Raises
    ------
    ValueError
        If `W` holds anything but finite numbers, or has other axes.

    Notes
    -----
    Source: Toy Models of Superposition (the full text), the colour of its figures.

    Examples
    --------
    >>> interference([[2.0, -1.0]])
    array([1., 4.])
    """
    return geometry.interference(_weights(W))


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

    Raises
    ------
    ValueError
        If `W` holds anything but finite numbers, has other axes, or has no such column.

    Notes
    -----
    Source: Toy Models of Superposition (the full text), on phase changes. The thresholds are
    ours; most models are far from them.

    Examples
    --------
    >>> phase([[1.0, -1.0]], 1)
    'superposed'
    >>> phase([[1.0, 0.1]], 1)
    'dropped'
    """
    W = checks.array("W", W, "m n")
    return geometry.phase(W, checks.whole("feature", feature, 0, W.shape[1] - 1))


def two_force_loss(W: ArrayLike, importance: ArrayLike) -> np.ndarray:
    """Feature benefit and interference, sum_i I_i (1 - |W_i|^2)^2 + sum_{i != j} I_j (W_i·W_j)^2.

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights, m <= n.
    importance : array_like, shape (..., n) or scalar
        Positive factors of the squared errors.

    Returns
    -------
    numpy.ndarray, shape (...)
        In units of E[x^2] for features with mean zero, of V with the best bias.

    Raises
    ------
    ValueError
        If m > n, an importance is not positive, a number is not finite, or shapes do not fit.

    Notes
    -----
    Source: Toy Models, the first display.

    Examples
    --------
    >>> float(two_force_loss([[1.0, 0.0]], [1.0, 0.5]))  # the second feature is dropped
    0.5
    """
    W, _, importance = _model(W, 0.0, importance)
    return linear.two_force_loss(W, importance)


def linear_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike, p: float) -> np.ndarray:
    """Expected loss of the linear model, with the term of the mean that the text leaves out.

    V times the two forces, plus sum_j I_j (m_1 (1 - sum_i W_i . W_j) - b_j)^2.

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights, m <= n.
    b, importance : array_like, shape (..., n) or scalar
        Biases, and positive factors of the squared errors.
    p : float
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    numpy.ndarray, shape (...)

    Raises
    ------
    ValueError
        If `p` is outside (0, 1], m > n, an importance is not positive, or shapes do not fit.

    Notes
    -----
    Source: Toy Models, the first display, completed.

    Examples
    --------
    >>> print(f"{linear_loss([[1.0, 0.0]], [0.0, 0.05], 1.0, 0.1):.5f}")
    0.03083
    """
    return linear.linear_loss(*_model(W, b, importance), features.one_probability(p))


def probability(sparsity: ArrayLike) -> np.ndarray:
    """Probability that a feature is on, p = 1 - S.

    Parameters
    ----------
    sparsity : array_like
        Sparsity S in [0, 1); 0 means that every feature is always on.

    Returns
    -------
    numpy.ndarray
        Same shape, in (0, 1].

    Raises
    ------
    ValueError
        If a sparsity is outside [0, 1).

    Notes
    -----
    Source: Toy Models, "x_i = 0 with probability S".

    Examples
    --------
    >>> float(probability(0.75))
    0.25
    """
    return losses.probability(checks.real("sparsity", sparsity, 0, 1, open_high=True))


def k_sparse_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike, k: int) -> np.ndarray:
    """The term L_k of the loss: summed over all C(n, k) sets of k features that are on, exact.

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights, m <= n.
    b, importance : array_like, shape (..., n) or scalar
        Biases, and positive factors of the squared errors.
    k : int
        Number of features that are on, from 0 to n.

    Returns
    -------
    numpy.ndarray, shape (...)
        A sum over sets; divide by C(n, k) for the mean loss of a k-sparse vector.

    Raises
    ------
    ValueError
        If k > n, m > n, an importance is not positive, or there are too many terms.

    Notes
    -----
    Source: Toy Models, the expansion L = sum_k (1 - S)^k S^(n - k) L_k, and its L_0 and L_1.

    Examples
    --------
    >>> print(f"{k_sparse_loss([[1.0, -1.0]], 0.0, 1.0, 1):.6f}")  # a digon loses nothing on one feature
    0.000000
    """
    W, b, importance = _model(W, b, importance)
    return losses.k_sparse_loss(W, b, importance, checks.whole("k", k, 0, W.shape[-1]))


def population_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike, p: ArrayLike) -> np.ndarray:
    """Expected loss sum_i I_i E (x_i - ReLU(W^T W x + b)_i)^2, exact, for up to 12 features.

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights, m <= n.
    b, importance : array_like, shape (..., n) or scalar
        Biases, and positive factors of the squared errors.
    p : array_like, shape (...) or scalar
        Probability that a feature is on, 1 - S, in (0, 1].

    Returns
    -------
    numpy.ndarray, shape (...)

    Raises
    ------
    ValueError
        If `p` is outside (0, 1], n too large, m > n, an importance is not positive, or shapes do not fit.

    Notes
    -----
    Source: Toy Models, the loss of the ReLU output model, and its expansion in sparsity.

    Examples
    --------
    >>> print(f"{population_loss([[1.0, -1.0]], 0.0, 1.0, 0.1):.6f}")  # p^2 / 3: both features on
    0.003333
    """
    return losses.population_loss(*_model(W, b, importance), features.probability(p))


def simulated_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike, p: float, *, samples: int, seed: int) -> Estimate:
    """The same loss by Monte Carlo, for any number of features.

    Parameters
    ----------
    W : array_like, shape (m, n)
        Weights of one model, m <= n.
    b, importance : array_like, shape (n,) or scalar
        Biases, and positive factors of the squared errors.
    p : float
        Probability that a feature is on, 1 - S, in (0, 1].
    samples : int
        Number of feature vectors, at least 2.
    seed : int
        Seed of the feature vectors.

    Returns
    -------
    superposition.features.Estimate
        Mean and standard error.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Toy Models, the loss of the ReLU output model.

    Examples
    --------
    >>> found = simulated_loss([[1.0, -1.0]], 0.0, 1.0, 0.1, samples=10**5, seed=0)
    >>> bool(abs(found.mean - 0.1**2 / 3) < 4 * found.se)
    True
    """
    samples, rng = checks.whole("samples", samples, 2), checks.generator("seed", seed)
    W, b, importance = _model(W, b, importance)
    return losses.simulated_loss(W, b, importance, features.one_probability(p), samples=samples, seed=rng)


def shortcut_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike) -> np.ndarray:
    """The text's "if we focus on the case x_i = 1": one feature on, at full strength.

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights, m <= n.
    b, importance : array_like, shape (..., n) or scalar
        Biases, and positive factors of the squared errors.

    Returns
    -------
    numpy.ndarray, shape (...)
        Not equal to L_1, and zero for any number of features with large norms and biases.

    Raises
    ------
    ValueError
        If m > n, an importance is not positive, a number is not finite, or shapes do not fit.

    Notes
    -----
    Source: Toy Models, the last display on L_1.

    Examples
    --------
    >>> float(shortcut_loss([[1.0, -1.0]], 0.0, 1.0))
    0.0
    """
    return losses.shortcut_loss(*_model(W, b, importance))


def minimise(
    n: int, m: int, importance: ArrayLike, p: float, *, starts: int = 8, seed: int = 0, first: Sequence[ArrayLike] = ()
) -> Optimum:
    """Lowest exact population loss over all weights and biases, best of many starts.

    Parameters
    ----------
    n : int
        Number of features, from 1 to 12 (4 take a second a start).
    m : int
        Number of hidden dimensions, from 1 to n.
    importance : array_like, shape (n,) or scalar
        Positive factors of the squared errors.
    p : float
        Probability that a feature is on, in (0, 1].
    starts : int
        Number of random starts, 0 or more.
    seed : int
        Seed of the random starts.
    first : sequence of array_like, shape (m, n)
        Weights to start from as well, with zero bias.

    Returns
    -------
    Optimum

    Raises
    ------
    ValueError
        If an argument is outside its range or there is no start at all.

    Notes
    -----
    Source: Toy Models, the loss of the ReLU output model.

    Examples
    --------
    >>> found = minimise(2, 1, 1.0, 0.02, starts=1, first=[[[1.0, -1.0]]])
    >>> phase(found.W, 0), phase(found.W, 1)
    ('superposed', 'superposed')
    >>> print(f"{found.loss / (0.02**2 / 3):.3f} of the loss at unit norm")
    0.999 of the loss at unit norm
    """
    n = checks.whole("n", n, 1)
    m = checks.whole("m", m, 1, n)
    first = [_model(W, 0.0, 1.0)[0] for W in first]
    starts = checks.whole("starts", starts, 0 if first else 1)
    importance = _one_model(np.zeros((m, n)), importance)
    p, rng = features.one_probability(p), checks.generator("seed", seed)
    return optima.minimise(n, m, importance, p, starts=starts, seed=rng, first=first)


def best_scale(
    directions: ArrayLike, importance: ArrayLike = 1.0, p: float | None = None
) -> tuple[float, float, float]:
    """Lowest loss of given directions with a common length and a common bias.

    Parameters
    ----------
    directions : array_like, shape (m, n)
        Unit columns; a zero column is a feature that is dropped.
    importance : array_like, shape (n,) or scalar
        Positive factors of the squared errors.
    p : float, optional
        Probability that a feature is on. Without it the loss is L_1, of exactly one feature on.

    Returns
    -------
    length : float
        Common norm |W_i|.
    bias : float
        Common bias of the features that are represented; a dropped one has its own best bias.
    loss : float
        The smallest loss found, from several starts.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Toy Models, the terms L_k, with norms and bias free.

    Examples
    --------
    >>> length, bias, loss = best_scale([[1.0, -1.0]], p=0.02)
    >>> print(f"norm {length:.3f}, bias {bias:.4f}")
    norm 1.001, bias 0.0000
    """
    directions = checks.array("directions", directions, "m n")
    importance = _one_model(directions, importance)
    return optima.best_scale(directions, importance, None if p is None else features.one_probability(p))


def _weights(W):
    return checks.array("W", W, "... m n")


def _model(W, b, importance):
    """Weights, biases and importances that fit, the last two of shape (..., n)."""
    W = checks.real("W", W, -LARGEST, LARGEST)
    if W.ndim < 2:
        raise ValueError(f"W has shape {W.shape}; allowed: (..., m, n)")
    n = checks.whole("n", W.shape[-1], 1)
    checks.whole("m", W.shape[-2], 1, n)
    b = checks.real("b", b, -LARGEST, LARGEST)
    importance = checks.real("importance", importance, 0, LARGEST, open_low=True)
    for name, array in (("b", b), ("importance", importance)):
        if array.ndim and array.shape[-1] != n:
            raise ValueError(f"{name} has shape {array.shape}; allowed: a number, or (..., n) with n = {n}")
    return losses.shaped(W, b, importance)


def _one_model(W, importance):
    """The importances of one model, of shape (n,)."""
    importance = _model(W, 0.0, importance)[2]
    if importance.ndim > 1:
        raise ValueError(f"importance has shape {importance.shape}; allowed: a number, or (n,) with n = {W.shape[1]}")
    return importance
