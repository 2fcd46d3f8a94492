"""Encoder and decoder that are not tied, and whether they become alike.

Feature i is encoded by row i of E and decoded by row i of D, both of shape (n, m); on input e_i
the output j is ReLU(D_j . E_i). Loss convention.
Source: Incidental Polysemanticity, Appendix A.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def train(
    E: ArrayLike, D: ArrayLike, *, steps: int, lr: float, lambda_: float = 0.0, decay: float = 0.0, inputs: ArrayLike |
    None = None,
) -> tuple[Float[np.ndarray, "... k m"], Float[np.ndarray, "... n m"]]:  # fmt: skip
    """Encoders (..., k, m), decoders (..., n, m) after gradient descent on both; l1 is on hidden activations."""
    # Inputs, one a row (n, k), are the basis vectors where not given; then k = n. `decay` is the weight decay of both.
    E, D = np.array(E, float), np.array(D, float)
    target = np.eye(D.shape[-2])
    inputs = target if inputs is None else np.asarray(inputs, float)
    keep = 1 - lr * decay
    for _ in range(steps):
        hidden = inputs @ E
        out = np.maximum(hidden @ D.swapaxes(-1, -2), 0)
        error = 2 * (out - target) * (out > 0)
        to_E = inputs.T @ (error @ D + lambda_ * np.sign(hidden))
        D = keep * D - lr * (error.swapaxes(-1, -2) @ hidden)
        E = keep * E - lr * to_E
    return E, D


def alignment(E: ArrayLike, D: ArrayLike) -> Float[np.ndarray, " n"]:
    """Cosine (n,) between encoding and decoding at the end, if feature benefit alone acts; 0 where E_i . D_i <= 0."""
    # There the ReLU is closed and nothing moves. E + D grows by a factor g while E - D shrinks by the same factor,
    # until E . D = 1. For orthogonal rows of length rho, g^2 = 1 / rho^2 + sqrt(1 / rho^4 + 1).
    E, D = np.asarray(E, float), np.asarray(D, float)
    plus, minus = ((E + D) ** 2).sum(axis=1), ((E - D) ** 2).sum(axis=1)
    growth = (2 + np.sqrt(4 + plus * minus)) / plus  # g^2, of g^2 plus - minus / g^2 = 4
    total, difference = growth * plus + minus / growth, 2 * ((E**2).sum(axis=1) - (D**2).sum(axis=1))
    cosine = 4 / np.sqrt((total + difference) * (total - difference))
    return np.where((E * D).sum(axis=1) > 0, cosine, 0.0)
