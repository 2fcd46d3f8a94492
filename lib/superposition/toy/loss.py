"""The ReLU output model ReLU(W^T W x + b) and its exact loss.

Conventions are those of `superposition.toy`: weights (..., m, n), biases and importances (..., n) or numbers.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from superposition import features, ranges, relu_integrals
from superposition.checked import checked
from superposition.features import Estimate
from superposition.toy.geometry import gram
from superposition.toy.ranges import biases, importances, model, of_one_with_bias, on, one_model, probabilities, weights

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


LARGEST_COST = 10**7  # pieces of the exact expansion: n 3^n for all terms together, so n up to 12


def shaped(
    W: ArrayLike, b: ArrayLike, importance: ArrayLike = 1.0
) -> tuple[Float[np.ndarray, "... m n"], Float[np.ndarray, "... n"], Float[np.ndarray, "... n"]]:
    """Weights in float64, biases and importances in their full shapes (..., n)."""
    W, b, importance = (np.asarray(value, float) for value in (W, b, importance))
    shape = np.broadcast_shapes((*W.shape[:-2], W.shape[-1]), b.shape, importance.shape)
    return W, np.broadcast_to(b, shape), np.broadcast_to(importance, shape)


@checked(model, on, W=weights, b=biases, importance=importances, k=ranges.whole(0))
def k_sparse_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike, k: int) -> np.ndarray:
    """The term L_k of the loss, exact: the sum over all C(n, k) sets of k features that are on.

    Parameters
    ----------
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
        If an argument is outside of its range, or there are too many sets.

    Notes
    -----
    Source: Toy Models, the expansion L = sum_k (1 - S)^k S^(n - k) L_k, and its L_0 and L_1.

    Examples
    --------
    >>> print(f"{k_sparse_loss([[1.0, -1.0]], 0.0, 1.0, 1):.6f}")  # a digon loses nothing on one feature
    0.000000
    """
    W, b, importance = shaped(W, b, importance)
    n = W.shape[-1]
    _affordable(n, n * math.comb(n, k) * 2**k)
    supports = np.array(list(itertools.combinations(range(n), k)), dtype=int).reshape(math.comb(n, k), k)
    overlaps = gram.unchecked(W)
    outputs = relu_integrals.relu_power(b[..., None], overlaps[..., supports], 2).sum(axis=-1)
    if k == 0:
        return (importance * outputs).sum(axis=-1)
    j, support, place = _members(n, supports)
    moments = relu_integrals.relu_moment(b[..., j], overlaps[..., j[:, None], supports[support]], place)
    errors = outputs + math.comb(n - 1, k - 1) / 3 - 2 * moments.reshape(*moments.shape[:-1], n, -1).sum(axis=-1)
    return (importance * errors).sum(axis=-1)


@checked(model, probabilities, W=weights, b=biases, importance=importances, p=ranges.probability)
def population_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike, p: ArrayLike) -> np.ndarray:
    """Expected loss sum_i I_i E (x_i - ReLU(W^T W x + b)_i)^2, exact, for up to 12 features.

    Parameters
    ----------
    b, importance : array_like, shape (..., n) or scalar
        Biases, and positive factors of the squared errors.
    p : array_like, shape (...) or scalar
        Probability that a feature is on, 1 - S, in (0, 1].

    Raises
    ------
    ValueError
        If an argument is outside of its range, or n is above 12.

    Notes
    -----
    Source: Toy Models, the loss of the ReLU output model, and its expansion in sparsity. Use `simulated_loss` instead
    for more features.

    Examples
    --------
    >>> print(f"{population_loss([[1.0, -1.0]], 0.0, 1.0, 0.1):.6f}")  # p^2 / 3: both features on
    0.003333
    """
    p = np.asarray(p, float)
    W, b, importance = shaped(W, b, importance)
    n = W.shape[-1]
    _affordable(n, n * 3**n)
    return sum(p**k * (1 - p) ** (n - k) * k_sparse_loss.unchecked(W, b, importance, k) for k in range(n + 1))  # pyrefly: ignore[bad-return]: of arrays


@checked(
    of_one_with_bias, W=one_model, b=biases, importance=importances, p=ranges.one_probability,
    samples=ranges.whole(2, 10**9), seed=ranges.seed,
)  # fmt: skip
def simulated_loss(
    W: ArrayLike, b: ArrayLike, importance: ArrayLike, p: float, *, samples: int, seed: int | np.random.Generator
) -> Estimate:
    """Expected loss of one model by Monte Carlo, for any number of features.

    Parameters
    ----------
    b, importance : array_like, shape (n,) or scalar
        Biases, and positive factors of the squared errors.
    samples : int
        Number of feature vectors, from 2.

    Returns
    -------
    superposition.features.Estimate
        Mean and standard error.

    Notes
    -----
    Source: Toy Models, the loss of the ReLU output model. Use `population_loss` instead for up to 12 features.

    Examples
    --------
    >>> found = simulated_loss([[1.0, -1.0]], 0.0, 1.0, 0.1, samples=10**5, seed=0)
    >>> bool(abs(found.mean - 0.1**2 / 3) < 4 * found.se)
    True
    """
    W, b, importance = shaped(W, b, importance)
    n, rng = W.shape[-1], np.random.default_rng(seed)
    errors = np.empty(samples)
    for start in range(0, samples, chunk := max(1, 2**21 // n)):
        x = features.sample(n, p, min(chunk, samples - start), seed=rng)
        errors[start : start + len(x)] = (x - np.maximum(x @ gram.unchecked(W) + b, 0)) ** 2 @ importance
    return Estimate.of(errors)


@checked(model, W=weights, b=biases, importance=importances)
def shortcut_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike) -> np.ndarray:
    """Loss of one feature that is on at full strength, the text's "if we focus on the case x_i = 1".

    Parameters
    ----------
    b, importance : array_like, shape (..., n) or scalar
        Biases, and positive factors of the squared errors.

    Returns
    -------
    numpy.ndarray, shape (...)
        Zero for any number of features with large norms and biases.

    Notes
    -----
    Source: Toy Models, the last display on L_1. Use `k_sparse_loss` with k = 1 instead for L_1 itself: they differ.

    Examples
    --------
    >>> float(shortcut_loss([[1.0, -1.0]], 0.0, 1.0))
    0.0
    """
    W, b, importance = shaped(W, b, importance)
    outputs = np.maximum(gram.unchecked(W) + b[..., :, None], 0)  # row: output, column: the feature that is on
    return (importance[..., :, None] * (np.eye(W.shape[-1]) - outputs) ** 2).sum(axis=(-2, -1))


def _members(n, supports):
    """For each feature in turn, all supports that contain the feature, and its place in them."""
    support, place = np.nonzero(supports >= 0)
    j = supports[support, place]
    order = np.argsort(j, kind="stable")
    return j[order], support[order], place[order]


def _affordable(n, cost):
    """Refuse an expansion of too many pieces."""
    if cost > LARGEST_COST:
        raise ValueError(
            f"n = {n} is too large for the exact expansion: it has {cost:.1e} pieces; allowed: up to "
            f"{LARGEST_COST:.0e} (n up to 12 for all terms), or Monte Carlo, toy.simulated_loss"
        )
