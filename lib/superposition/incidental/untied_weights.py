"""Encoder and decoder that are not tied, and whether training aligns them.

Feature i is encoded by row i of E and decoded by row i of D, both of shape (n, m); on input e_i
the output j is ReLU(D_j . E_i). Loss convention.
Source: Incidental Polysemanticity, Appendix A.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.incidental import ranges as own

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def shapes_fit(E: np.ndarray, D: np.ndarray, inputs: np.ndarray | None) -> None:
    """Refuse encoders, decoders and inputs that do not belong together."""
    if E.shape[:-2] != D.shape[:-2] or E.shape[-1] != D.shape[-1]:
        raise ValueError(f"D has shape {D.shape}; allowed: (..., n, m) with the networks and neurons of E, {E.shape}")
    if (D.shape[-2] if inputs is None else inputs.shape[1]) != E.shape[-2]:
        raise ValueError(f"E has shape {E.shape}; allowed: (..., k, m), one row for each entry of an input")
    if inputs is not None and len(inputs) != D.shape[-2]:
        raise ValueError(f"inputs has shape {inputs.shape}; allowed: ({D.shape[-2]}, k), one for each row of D")


def rows_match(E: np.ndarray, D: np.ndarray) -> None:
    """Refuse encodings and decodings of different shapes."""
    if E.shape != D.shape:
        raise ValueError(f"D has shape {D.shape}; allowed: {E.shape}, that of E")


@checked(
    shapes_fit, E=ranges.array("... k m"), D=ranges.array("... n m"), steps=ranges.steps, lr=ranges.rate,
    lambda_=own.strength, decay=own.strength, inputs=ranges.array("n k"),
)  # fmt: skip
def train_untied(
    E: ArrayLike, D: ArrayLike, *, steps: int, lr: float, lambda_: float = 0.0, decay: float = 0.0, inputs: ArrayLike |
    None = None,
) -> tuple[Float[np.ndarray, "... k m"], Float[np.ndarray, "... n m"]]:  # fmt: skip
    """Encoders (..., k, m) and decoders (..., n, m) after gradient descent on both; l1 is on hidden activations.

    `inputs` (n, k), one per row, are the basis vectors by default; then k = n. `decay` is the weight decay of both.
    Source: Appendix A. Use `descend_encodings` for tied weights.

    Raises
    ------
    FloatingPointError
        If training diverges.

    Examples
    --------
    >>> E, D = train_untied([[0.3, 0.4]], [[0.5, 0.2]], steps=2000, lr=0.02)
    >>> E.round(3), D.round(3)
    (array([[0.753, 0.651]]), array([[0.851, 0.552]]))
    """
    # Inputs, one per row (n, k), are the basis vectors by default; then k = n. `decay` is the weight decay of both.
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
    if not (np.isfinite(E).all() and np.isfinite(D).all()):
        raise FloatingPointError(f"training diverged (lr={lr:g}); use a smaller rate")
    return E, D


@checked(rows_match, E=ranges.array("n m"), D=ranges.array("n m"))
def untied_alignment(E: ArrayLike, D: ArrayLike) -> Float[np.ndarray, " n"]:
    """Cosine (n,) between encoding and decoding at the end, if feature benefit alone acts; 0 where E_i . D_i <= 0.

    Source: Appendix A, for rows of any length. Use `train_untied` with interference.

    Examples
    --------
    >>> untied_alignment([[0.3, 0.4]], [[0.5, 0.2]]).round(4)
    array([0.9903])
    """
    # There the ReLU is closed and nothing moves. E + D grows by a factor g while E - D shrinks by the same factor,
    # until E . D = 1. For orthogonal rows of length rho, g^2 = 1 / rho^2 + sqrt(1 / rho^4 + 1).
    E, D = np.asarray(E, float), np.asarray(D, float)
    plus, minus = ((E + D) ** 2).sum(axis=1), ((E - D) ** 2).sum(axis=1)
    growth = (2 + np.sqrt(4 + plus * minus)) / plus  # g^2, of g^2 plus - minus / g^2 = 4
    total, difference = growth * plus + minus / growth, 2 * ((E**2).sum(axis=1) - (D**2).sum(axis=1))
    cosine = 4 / np.sqrt((total + difference) * (total - difference))
    return np.where((E * D).sum(axis=1) > 0, cosine, 0.0)
