"""Toy Models of Superposition: the ReLU output model ReLU(W^T W x + b), its exact loss and its geometry.

Conventions, the same in every function. ``W`` has shape (m, n): column i is the direction of
feature i among m hidden dimensions, m <= n. ``importance`` multiplies the *squared* error of a
feature (the text's ||I (x - x')||^2 would square it). Features are those of
`superposition.features`: on with probability p, then uniform on [0, 1]; the sparsity is
S = 1 - p. Losses are sums over features, as in the text, not means. Where it says (...), any
number of models is evaluated at once.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, features, relu_integrals
from superposition.features import Estimate
from superposition.toy.geometry import gram

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


LARGEST = 1e40  # of weights, biases and importances: squared errors stay finite
LARGEST_COST = 10**7  # pieces of the exact expansion: n 3^n for all terms together, so n up to 12


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
    >>> from superposition import toy
    >>> float(toy.probability(0.75))
    0.25
    """
    return 1 - checks.real("sparsity", sparsity, 0, 1, open_high=True)


def model(
    W: ArrayLike, b: ArrayLike, importance: ArrayLike = 1.0
) -> tuple[Float[np.ndarray, "... m n"], Float[np.ndarray, "... n"], Float[np.ndarray, "... n"]]:
    """Check weights, biases and importances, and give them their full shapes.

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights, m <= n.
    b : array_like, shape (..., n) or scalar
        Biases.
    importance : array_like, shape (..., n) or scalar
        Positive factors of the squared errors.

    Returns
    -------
    W : numpy.ndarray, shape (..., m, n)
        The weights.
    b, importance : numpy.ndarray, shape (..., n)
        Biases and importances.

    Raises
    ------
    ValueError
        If m > n, an importance is not positive, a number is not finite, or shapes do not fit.
    """
    W = checks.real("W", W, -LARGEST, LARGEST)
    if W.ndim < 2:
        raise ValueError(f"W has shape {W.shape}; allowed: (..., m, n)")
    n = W.shape[-1]
    sizes(n, W.shape[-2])
    b = checks.real("b", b, -LARGEST, LARGEST)
    importance = checks.real("importance", importance, 0, LARGEST, open_low=True)
    for name, array in (("b", b), ("importance", importance)):
        if array.ndim and array.shape[-1] != n:
            raise ValueError(f"{name} has shape {array.shape}; allowed: a number, or (..., n) with n = {n}")
    shape = np.broadcast_shapes((*W.shape[:-2], n), b.shape, importance.shape)
    return W, np.broadcast_to(b, shape), np.broadcast_to(importance, shape)


def sizes(n: int, m: int) -> tuple[int, int]:
    """Check the number of features and of hidden dimensions.

    Parameters
    ----------
    n : int
        Number of features, at least 1.
    m : int
        Number of hidden dimensions, from 1 to n.

    Returns
    -------
    n, m : int
        The same.

    Raises
    ------
    ValueError
        If one is out of range.

    Examples
    --------
    >>> sizes(5, 2)
    (5, 2)
    """
    n = checks.whole("n", n, 1)
    return n, checks.whole("m", m, 1, n)


def k_sparse_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike, k: int) -> np.ndarray:
    """The term L_k of the loss: summed over all C(n, k) sets of k features that are on, exact.

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights, m <= n.
    b : array_like, shape (..., n) or scalar
        Biases.
    importance : array_like, shape (..., n) or scalar
        Positive factors of the squared errors.
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
    >>> from superposition import toy
    >>> print(f"{toy.k_sparse_loss([[1.0, -1.0]], 0.0, 1.0, 1):.6f}")  # a digon loses nothing on one feature
    0.000000
    """
    W, b, importance = model(W, b, importance)
    n = W.shape[-1]
    k = checks.whole("k", k, 0, n)
    _affordable(n, n * math.comb(n, k) * 2**k)
    supports = np.array(list(itertools.combinations(range(n), k)), dtype=int).reshape(math.comb(n, k), k)
    overlaps = gram(W)
    outputs = relu_integrals.relu_power(b[..., None], overlaps[..., supports], 2).sum(axis=-1)
    if k == 0:
        return (importance * outputs).sum(axis=-1)
    j, support, place = _members(n, supports)
    moments = relu_integrals.relu_moment(b[..., j], overlaps[..., j[:, None], supports[support]], place)
    errors = outputs + math.comb(n - 1, k - 1) / 3 - 2 * moments.reshape(*moments.shape[:-1], n, -1).sum(axis=-1)
    return (importance * errors).sum(axis=-1)


def population_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike, p: ArrayLike) -> np.ndarray:
    """Expected loss sum_i I_i E (x_i - ReLU(W^T W x + b)_i)^2, exact, for up to 12 features.

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights, m <= n.
    b : array_like, shape (..., n) or scalar
        Biases.
    importance : array_like, shape (..., n) or scalar
        Positive factors of the squared errors.
    p : array_like, shape (...) or scalar
        Probability that a feature is on, 1 - S, in (0, 1].

    Returns
    -------
    numpy.ndarray, shape (...)

    Raises
    ------
    ValueError
        If `p` is outside (0, 1], n too large, or the model is not allowed (see `model`).

    Notes
    -----
    Source: Toy Models, the loss of the ReLU output model, and its expansion in sparsity.

    Examples
    --------
    >>> from superposition import toy
    >>> print(f"{toy.population_loss([[1.0, -1.0]], 0.0, 1.0, 0.1):.6f}")  # p^2 / 3: both features on
    0.003333
    """
    p = features.probability(p)
    W, b, importance = model(W, b, importance)
    n = W.shape[-1]
    _affordable(n, n * 3**n)
    return sum(p**k * (1 - p) ** (n - k) * k_sparse_loss(W, b, importance, k) for k in range(n + 1))  # pyrefly: ignore[bad-return]: of arrays


def simulated_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike, p: float, *, samples: int, seed: int) -> Estimate:
    """The same loss by Monte Carlo, for any number of features.

    Parameters
    ----------
    W : array_like, shape (m, n)
        Weights of one model, m <= n.
    b : array_like, shape (n,) or scalar
        Biases.
    importance : array_like, shape (n,) or scalar
        Positive factors of the squared errors.
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
    >>> from superposition import toy
    >>> found = toy.simulated_loss([[1.0, -1.0]], 0.0, 1.0, 0.1, samples=10**5, seed=0)
    >>> bool(abs(found.mean - 0.1**2 / 3) < 4 * found.se)
    True
    """
    samples, p = checks.whole("samples", samples, 2), features.one_probability(p)
    W, b, importance = model(W, b, importance)
    n, rng = W.shape[-1], checks.generator("seed", seed)
    errors = np.empty(samples)
    for start in range(0, samples, chunk := max(1, 2**21 // n)):
        x = features.sample(n, p, min(chunk, samples - start), seed=rng)
        errors[start : start + len(x)] = (x - np.maximum(x @ gram(W) + b, 0)) ** 2 @ importance
    return Estimate.of(errors)


def shortcut_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike) -> np.ndarray:
    """The text's "if we focus on the case x_i = 1": one feature on, at full strength.

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights, m <= n.
    b : array_like, shape (..., n) or scalar
        Biases.
    importance : array_like, shape (..., n) or scalar
        Positive factors of the squared errors.

    Returns
    -------
    numpy.ndarray, shape (...)
        Not equal to L_1, and zero for any number of features with large norms and biases.

    Raises
    ------
    ValueError
        If the model is not allowed (see `model`).

    Notes
    -----
    Source: Toy Models, the last display on L_1.

    Examples
    --------
    >>> from superposition import toy
    >>> float(toy.shortcut_loss([[1.0, -1.0]], 0.0, 1.0))
    0.0
    """
    W, b, importance = model(W, b, importance)
    outputs = np.maximum(gram(W) + b[..., :, None], 0)  # row: output, column: the feature that is on
    return (importance[..., :, None] * (np.eye(W.shape[-1]) - outputs) ** 2).sum(axis=(-2, -1))


def _members(n, supports):
    """For each feature in turn, all supports that contain it and its place in them."""
    support, place = np.nonzero(supports >= 0)
    j = supports[support, place]
    order = np.argsort(j, kind="stable")
    return j[order], support[order], place[order]


def _affordable(n, cost):
    if cost > LARGEST_COST:
        raise ValueError(
            f"n = {n} is too large for the exact expansion: it has {cost:.1e} pieces; allowed: up to "
            f"{LARGEST_COST:.0e} (n up to 12 for all terms), or Monte Carlo, toy.simulated_loss"
        )
