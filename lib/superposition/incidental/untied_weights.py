"""Encoder and decoder that are not tied, and whether they become alike.

Feature i is encoded by row i of E and decoded by row i of D, both of shape (n, m); on input e_i
the output j is ReLU(D_j . E_i). Loss convention.
Source: Incidental Polysemanticity, Appendix A.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def train(
    E: ArrayLike, D: ArrayLike, *, steps: int, lr: float, lambda_: float = 0.0, decay: float = 0.0, inputs: ArrayLike |
    None = None,
) -> tuple[Float[np.ndarray, "k m"], Float[np.ndarray, "n m"]]:  # fmt: skip
    """Plain gradient descent on encoder and decoder.

    Parameters
    ----------
    E : array_like, shape (k, m)
        Encoder at the start, finite; k = n unless `inputs` says otherwise.
    D : array_like, shape (n, m)
        Decoder at the start, finite.
    steps : int
        Steps, at least 1.
    lr : float
        Learning rate, above 0.
    lambda_ : float
        Strength of the l1 term on the hidden activations, 0 or more.
    decay : float
        Weight decay of both, 0 or more.
    inputs : array_like, shape (n, k), optional
        Inputs, one a row, instead of the basis vectors.

    Returns
    -------
    E : numpy.ndarray, shape (k, m)
    D : numpy.ndarray, shape (n, m)

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    E, D = (np.array(checks.real(name, v, open_low=True, open_high=True)) for name, v in (("E", E), ("D", D)))
    inputs = np.eye(len(D)) if inputs is None else checks.real("inputs", inputs, open_low=True, open_high=True)
    if E.ndim != 2 or D.ndim != 2 or E.shape[1] != D.shape[1] or inputs.shape != (len(D), len(E)):
        shapes = f"E {E.shape}, D {D.shape}, inputs {inputs.shape}"
        raise ValueError(f"{shapes} do not fit; allowed: (k, m), (n, m), (n, k)")
    steps, lr = checks.whole("steps", steps, 1), float(checks.real("lr", lr, 0, open_low=True, open_high=True))
    lambda_ = float(checks.real("lambda_", lambda_, 0, open_high=True))
    keep = 1 - lr * float(checks.real("decay", decay, 0, open_high=True))
    for _ in range(steps):
        hidden = inputs @ E
        out = np.maximum(hidden @ D.T, 0)
        error = 2 * (out - np.eye(len(D))) * (out > 0)
        to_E = inputs.T @ (error @ D + lambda_ * np.sign(hidden))
        D = keep * D - lr * (error.T @ hidden)
        E = keep * E - lr * to_E
    return E, D


def alignment(E: ArrayLike, D: ArrayLike) -> Float[np.ndarray, " n"]:
    """Cosine between encoding and decoding at the end, if feature benefit alone acts.

    Parameters
    ----------
    E, D : array_like, shape (n, m)
        Rows at the start, finite.

    Returns
    -------
    numpy.ndarray, shape (n,)
        0 where E_i . D_i <= 0: there the ReLU is closed and nothing moves.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    E + D grows by a factor g while E - D shrinks by the same factor, until E . D = 1. For
    orthogonal rows of length rho, g^2 = 1 / rho^2 + sqrt(1 / rho^4 + 1).
    """
    E, D = (checks.real(name, v, open_low=True, open_high=True) for name, v in (("E", E), ("D", D)))
    plus, minus = ((E + D) ** 2).sum(axis=1), ((E - D) ** 2).sum(axis=1)
    growth = (2 + np.sqrt(4 + plus * minus)) / plus  # g^2, of g^2 plus - minus / g^2 = 4
    total, difference = growth * plus + minus / growth, 2 * ((E**2).sum(axis=1) - (D**2).sum(axis=1))
    cosine = 4 / np.sqrt((total + difference) * (total - difference))
    return np.where((E * D).sum(axis=1) > 0, cosine, 0.0)
