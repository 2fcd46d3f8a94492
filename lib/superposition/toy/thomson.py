"""The Thomson problem of the toy model: directions that share as little positive overlap as possible.

With unit norms, equal importance and no bias, L_1 of the ReLU output model is a third of the energy below. A minimum is
the best of many starts, reported with its tolerance and with the number of starts that reached it; it is not certified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.toy import geometry
from superposition.toy.ranges import columns, energy_exists

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


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


@checked(W=columns, threshold=ranges.number(-1, 1))
def thomson_energy(W: ArrayLike, threshold: float = 0.0) -> float:
    """Energy of directions, the sum over i != j of ReLU(What_i·What_j - threshold)^2; their lengths do not matter.

    Parameters
    ----------
    threshold : float
        Overlap that costs nothing because of a negative bias of that size; from -1 to 1.

    Notes
    -----
    Source: Toy Models, "a generalized Thomson problem"; L_1 of a model with unit norms and no bias is a third of it.

    Examples
    --------
    >>> round(thomson_energy(polygon(5)), 4)  # 5 (3 - sqrt(5)) / 4
    0.9549
    """
    return _overlap_energy(_directions(W), threshold)[0]


@checked(
    energy_exists, n=ranges.whole(1, 1024), m=ranges.whole(1, 1024), starts=ranges.whole(1, 10**6), seed=ranges.seed,
    energy=ranges.one_of("overlap", "coulomb"), threshold=ranges.number(-1, 1),
)  # fmt: skip
def thomson_minimum(
    n: int, m: int, *, starts: int = 60, seed: int = 0, energy: str = "overlap", threshold: float = 0.0
) -> Packing:
    """Place n unit vectors in m dimensions with the lowest energy, best of many random starts.

    Parameters
    ----------
    energy : {"overlap", "coulomb"}
        That of `thomson_energy`, or the sum over pairs of 1 / |What_i - What_j|, Thomson's problem.

    Returns
    -------
    Packing
        Not certified: a lower minimum may exist.

    Notes
    -----
    Source: Toy Models, "a generalized Thomson problem". Descent by L-BFGS.

    Examples
    --------
    >>> found = thomson_minimum(4, 3, starts=4, energy="coulomb")
    >>> round(found.energy, 4), found.hits
    (3.6742, 4)
    """
    from scipy.optimize import minimize  # slow to import

    rng, found = np.random.default_rng(seed), []
    of = {"overlap": lambda unit: _overlap_energy(unit, threshold), "coulomb": _coulomb}[energy]

    def objective(flat):
        W = flat.reshape(m, n)
        norms = np.linalg.norm(W, axis=0)
        unit = W / norms
        value, slope = of(unit)
        return value, ((slope - unit * (unit * slope).sum(axis=0)) / norms).ravel()

    options = {"maxiter": 3000, "ftol": 1e-15, "gtol": 1e-10}
    for _ in range(starts):
        start = rng.standard_normal(m * n)
        found.append(minimize(objective, start, jac=True, method="L-BFGS-B", options=options))
    energies = np.array([result.fun for result in found])
    W = _directions(found[energies.argmin()].x.reshape(m, n))
    lowest = float(energies.min())
    return Packing(W, lowest, energies, TOLERANCE * (1 + lowest))


@checked(n=ranges.whole(1, 10**6))
def polygon(n: int) -> Float[np.ndarray, "2 n"]:
    """A regular polygon of n corners, as directions in the plane; n = 2 is a digon.

    Examples
    --------
    >>> polygon(4).round(3) + 0.0
    array([[ 1.,  0., -1.,  0.],
           [ 0.,  1.,  0., -1.]])
    """
    angle = 2 * np.pi * np.arange(n) / n
    return np.array([np.cos(angle), np.sin(angle)])


@checked(m=ranges.whole(1, 1024))
def simplex(m: int) -> Float[np.ndarray, "m corners"]:
    """Corners of a regular simplex in m dimensions, directions with equal overlaps -1 / m: triangle, tetrahedron.

    Examples
    --------
    >>> W = simplex(2)
    >>> (W.T @ W).round(3)[0]
    array([ 1. , -0.5, -0.5])
    """
    centred = np.eye(m + 1) - 1 / (m + 1)
    W = np.linalg.svd(centred)[2][:m]  # an orthonormal basis of the vectors that sum to zero
    return W / np.linalg.norm(W, axis=0)


@checked()
def direct_sum(*parts: ArrayLike) -> Float[np.ndarray, "_ _"]:
    """Directions in orthogonal spaces, such as two digons for a square: a matrix of blocks.

    Parameters
    ----------
    *parts : array_like, shape (m_i, n_i)
        Directions in each of the spaces, finite numbers.

    Raises
    ------
    ValueError
        If there is no part, or one is not such an array.

    Examples
    --------
    >>> direct_sum([[1, -1]], [[1]])
    array([[ 1., -1.,  0.],
           [ 0.,  0.,  1.]])
    """
    blocks = [checks.array("part", part, "m n") for part in parts]
    if not blocks:
        raise ValueError("parts = () is empty; allowed: one part or more")
    W = np.zeros(np.sum([block.shape for block in blocks], axis=0))
    row = column = 0
    for block in blocks:
        W[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return W


def _directions(W):
    """The columns, scaled to length one."""
    W = np.asarray(W, float)
    return W / np.linalg.norm(W, axis=-2)


def _overlap_energy(W, threshold):
    """Energy and gradient for unit columns."""
    excess = np.maximum(geometry.gram.unchecked(W) - threshold, 0)
    np.fill_diagonal(excess, 0)
    return float((excess**2).sum()), 4 * W @ excess


def _coulomb(W):
    """Energy and gradient for unit columns."""
    squares = 2 - 2 * geometry.gram.unchecked(W)
    np.fill_diagonal(squares, np.inf)
    squares = np.maximum(squares, 1e-300)
    return float((squares**-0.5).sum() / 2), W @ squares**-1.5
