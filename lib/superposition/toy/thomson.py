"""The Thomson problem of the toy model: directions that share as little positive overlap as possible.

With unit norms, equal importance and no bias, L_1 of the ReLU output model is a third of the
energy below. Minima are the best of many starts: reported with their tolerance and with the
number of starts that reached them, and not certified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.toy import geometry, loss

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


ENERGIES = ("overlap", "coulomb")
SAME = 4 * np.finfo(float).eps  # distance at which two unit vectors are one: their rounding
TOLERANCE = 1e-8  # two energies are the same minimum if they differ by less than this, times 1 + energy


@dataclass(frozen=True)
class Packing:
    """Best of many minimisations: ``W`` (m, n) with unit columns, its ``energy``, all ``energies``.

    ``hits`` of the ``starts`` came within ``tolerance`` of the best.
    """

    W: np.ndarray
    energy: float
    energies: np.ndarray
    tolerance: float

    @property
    def starts(self) -> int:
        """Number of starts."""
        return len(self.energies)

    @property
    def hits(self) -> int:
        """Number of starts that reached the lowest energy within the tolerance."""
        return int((self.energies <= self.energy + self.tolerance).sum())


def thomson_energy(W: ArrayLike, threshold: float = 0.0) -> float:
    """Energy sum over i != j of ReLU(What_i·What_j - threshold)^2.

    Parameters
    ----------
    W : array_like, shape (m, n)
        Columns are directions; their lengths do not matter, but none may be zero.
    threshold : float
        Overlap that is free, in [-1, 1]: a negative bias of that size.

    Returns
    -------
    float
        Every pair counts twice, as in the text's double sum.

    Raises
    ------
    ValueError
        If a column is zero, m > n or `threshold` is out of range.

    Notes
    -----
    Source: Toy Models, "a generalized Thomson problem"; L_1 of such a model is a third of it.

    Examples
    --------
    >>> round(thomson_energy(polygon(3), -0.6), 6)
    0.06
    """
    threshold = checks.number("threshold", threshold, -1, 1)
    return _overlap_energy(_directions(W), threshold)[0]


def coulomb_energy(W: ArrayLike) -> float:
    """Energy of the classical Thomson problem, sum over pairs of 1 / |What_i - What_j|.

    Parameters
    ----------
    W : array_like, shape (m, n)
        Columns are directions; their lengths do not matter, but none may be zero.

    Returns
    -------
    float
        Every pair counts once; infinite if two directions coincide to rounding.

    Raises
    ------
    ValueError
        If a column is zero or m > n.

    Notes
    -----
    Source: Thomson's problem, to which Toy Models compares.

    Examples
    --------
    >>> round(coulomb_energy(simplex(3)), 4)  # a tetrahedron
    3.6742
    """
    W = _directions(W)
    one, other = np.triu_indices(W.shape[1], 1)
    distances = np.linalg.norm(W[:, one] - W[:, other], axis=0)
    return float(np.sum(1 / distances)) if np.all(distances > SAME) else np.inf


def minimise(
    n: int, m: int, *, starts: int = 60, seed: int = 0, energy: str = "overlap", threshold: float = 0.0
) -> Packing:
    """Place n unit vectors in m dimensions with the lowest energy, best of many random starts.

    Parameters
    ----------
    n : int
        Number of vectors, at least 2.
    m : int
        Number of dimensions, from 2 to n.
    starts : int
        Number of random starts, at least 1.
    seed : int
        Seed of the starts.
    energy : {"overlap", "coulomb"}
        `thomson_energy` or `coulomb_energy`.
    threshold : float
        Overlap that is free, in [-1, 1]; for the energy "overlap" only.

    Returns
    -------
    Packing

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Toy Models, the analogy with the Thomson problem. Descent by L-BFGS.

    Examples
    --------
    >>> found = minimise(4, 3, starts=4, energy="coulomb")
    >>> round(found.energy, 4), found.hits
    (3.6742, 4)
    """
    from scipy.optimize import minimize  # slow to import

    n = checks.whole("n", n, 2)
    m = checks.whole("m", m, 2, n)
    starts = checks.whole("starts", starts, 1)
    checks.one_of("energy", energy, ENERGIES)
    threshold = checks.number("threshold", threshold, -1, 1)
    rng, found = checks.generator("seed", seed), []

    def objective(flat):
        W = flat.reshape(m, n)
        norms = np.linalg.norm(W, axis=0)
        unit = W / norms
        value, slope = _coulomb(unit) if energy == "coulomb" else _overlap_energy(unit, threshold)
        return value, ((slope - unit * (unit * slope).sum(axis=0)) / norms).ravel()

    options = {"maxiter": 3000, "ftol": 1e-15, "gtol": 1e-10}
    for _ in range(starts):
        start = rng.standard_normal(m * n)
        found.append(minimize(objective, start, jac=True, method="L-BFGS-B", options=options))
    energies = np.array([result.fun for result in found])
    W = _directions(found[energies.argmin()].x.reshape(m, n))
    lowest = float(energies.min())
    return Packing(W, lowest, energies, TOLERANCE * (1 + lowest))


def polygon(n: int) -> Float[np.ndarray, "2 n"]:
    """A regular polygon, as directions in the plane.

    Parameters
    ----------
    n : int
        Number of corners, at least 2 (2 is a digon).

    Returns
    -------
    numpy.ndarray, shape (2, n)
        Unit columns.

    Raises
    ------
    ValueError
        If `n` is below 2.

    Examples
    --------
    >>> polygon(4).round(12) + 0.0
    array([[ 1.,  0., -1.,  0.],
           [ 0.,  1.,  0., -1.]])
    """
    angle = 2 * np.pi * np.arange(checks.whole("n", n, 2)) / n
    return np.array([np.cos(angle), np.sin(angle)])


def simplex(m: int) -> Float[np.ndarray, "m corners"]:
    """Corners of a regular simplex, m + 1 directions with equal overlaps -1 / m: triangle, tetrahedron.

    Parameters
    ----------
    m : int
        Number of dimensions, at least 1.

    Returns
    -------
    numpy.ndarray, shape (m, m + 1)
        Unit columns.

    Raises
    ------
    ValueError
        If `m` is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> W = simplex(2)
    >>> (W.T @ W).round(3)
    array([[ 1. , -0.5, -0.5],
           [-0.5,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    m = checks.whole("m", m, 1)
    centred = np.eye(m + 1) - 1 / (m + 1)
    W = np.linalg.svd(centred)[2][:m]  # an orthonormal basis of the vectors that sum to zero
    return W / np.linalg.norm(W, axis=0)


def sum_of_parts(*parts: ArrayLike) -> Float[np.ndarray, "_ _"]:
    """Directions that live in orthogonal spaces, such as two digons for a square.

    Parameters
    ----------
    *parts : array_like, shape (m_i, n_i)
        Directions of each part.

    Returns
    -------
    numpy.ndarray, shape (sum of m_i, sum of n_i)

    Examples
    --------
    >>> sum_of_parts([[1, -1]], [[1, -1]])
    array([[ 1., -1.,  0.,  0.],
           [ 0.,  0.,  1., -1.]])
    """
    blocks = [np.asarray(part, dtype=np.float64) for part in parts]
    W = np.zeros(np.sum([block.shape for block in blocks], axis=0))
    row = column = 0
    for block in blocks:
        W[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return W


def _directions(W: ArrayLike) -> np.ndarray:
    W = loss.model(W, 0.0)[0]
    norms = np.linalg.norm(W, axis=-2)
    checks.real("norm of a column of W", norms, 0, open_low=True)
    return W / norms


def _overlap_energy(W, threshold):
    """Energy and gradient for unit columns."""
    excess = np.maximum(geometry.gram(W) - threshold, 0)
    np.fill_diagonal(excess, 0)
    return float((excess**2).sum()), 4 * W @ excess


def _coulomb(W):
    """Energy and gradient for unit columns."""
    squares = 2 - 2 * geometry.gram(W)
    np.fill_diagonal(squares, np.inf)
    squares = np.maximum(squares, 1e-300)
    return float((squares**-0.5).sum() / 2), W @ squares**-1.5
