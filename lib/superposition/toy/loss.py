"""Toy Models of Superposition: the ReLU output model ReLU(W^T W x + b), its exact loss and its geometry.

Conventions are those of `superposition.toy.face`: weights (..., m, n), biases and importances (..., n) or numbers.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from superposition import features, relu_integrals
from superposition.features import Estimate
from superposition.toy.geometry import gram

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


LARGEST_COST = 10**7  # pieces of the exact expansion: n 3^n for all terms together, so n up to 12


def probability(sparsity: ArrayLike) -> np.ndarray:
    """Probability that a feature is on, p = 1 - S (Toy Models, "x_i = 0 with probability S")."""
    return 1 - np.asarray(sparsity, float)


def shaped(
    W: ArrayLike, b: ArrayLike, importance: ArrayLike = 1.0
) -> tuple[Float[np.ndarray, "... m n"], Float[np.ndarray, "... n"], Float[np.ndarray, "... n"]]:
    """Weights in float64, biases and importances in their full shapes (..., n)."""
    W, b, importance = (np.asarray(value, float) for value in (W, b, importance))
    shape = np.broadcast_shapes((*W.shape[:-2], W.shape[-1]), b.shape, importance.shape)
    return W, np.broadcast_to(b, shape), np.broadcast_to(importance, shape)


def k_sparse_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike, k: int) -> np.ndarray:
    """The term L_k of L = sum_k (1 - S)^k S^(n - k) L_k, exact: the sum over all sets of k features that are on."""
    W, b, importance = shaped(W, b, importance)
    n = W.shape[-1]
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
    """Expected loss sum_i I_i E (x_i - ReLU(W^T W x + b)_i)^2, exact, for up to 12 features; `p` has shape (...)."""
    p = np.asarray(p, float)
    W, b, importance = shaped(W, b, importance)
    n = W.shape[-1]
    _affordable(n, n * 3**n)
    return sum(p**k * (1 - p) ** (n - k) * k_sparse_loss(W, b, importance, k) for k in range(n + 1))  # pyrefly: ignore[bad-return]: of arrays


def simulated_loss(
    W: ArrayLike, b: ArrayLike, importance: ArrayLike, p: float, *, samples: int, seed: int | np.random.Generator
) -> Estimate:
    """The same loss of one model by Monte Carlo, for any number of features."""
    W, b, importance = shaped(W, b, importance)
    n, rng = W.shape[-1], np.random.default_rng(seed)
    errors = np.empty(samples)
    for start in range(0, samples, chunk := max(1, 2**21 // n)):
        x = features.sample(n, p, min(chunk, samples - start), seed=rng)
        errors[start : start + len(x)] = (x - np.maximum(x @ gram(W) + b, 0)) ** 2 @ importance
    return Estimate.of(errors)


def shortcut_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike) -> np.ndarray:
    """The text's "if we focus on the case x_i = 1", the last display on L_1: one feature on, at full strength."""
    W, b, importance = shaped(W, b, importance)
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
