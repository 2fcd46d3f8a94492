"""Tight frames: projectors with constant diagonal, the Welch bound and the frame potential."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.rug.rugs import Rug


def frame_potential(vectors: ArrayLike) -> float:
    """Sum of the squares of all inner products of vectors (n, d); at least n^2 / d for unit ones (section 4.2.1)."""
    vectors = np.asarray(vectors, float)
    return float(np.sum((vectors.T @ vectors) ** 2))  # the same for V V^T and V^T V, and this one is small


def unit_vectors(ns: int, nd: int, *, seed: int | np.random.Generator) -> Float[np.ndarray, "ns nd"]:
    """Random unit vectors (ns, nd), uniform on the sphere; the mean noise of their Gram matrix is (ns - 1) / nd."""
    vectors = np.random.default_rng(seed).standard_normal((ns, nd))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def projector(ns: int, nd: int, *, seed: int | np.random.Generator) -> Float[np.ndarray, "ns ns"]:
    """Random orthogonal projector O P O^T (ns, ns), with O uniform on the orthogonal group (eq. 7 and eq. 22)."""
    # its diagonal is nd / ns on average only: the mean `row_noise` is (ns - nd) / (nd - 2) for nd above 2
    basis, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((ns, nd)))
    return basis @ basis.T


def tight_frame(ns: int, nd: int, *, seed: int | np.random.Generator, rounds: int = 500) -> Float[np.ndarray, "ns nd"]:
    """Unit vectors (ns, nd) that form a tight frame, by the alternating projection of Tropp and others (2005)."""
    vectors = unit_vectors(ns, nd, seed=seed)
    for _ in range(rounds):
        left, _, right = np.linalg.svd(vectors, full_matrices=False)
        vectors = left @ right  # nearest tight frame, up to a factor
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def rug_directions(rug: Rug, *, seed: int) -> Float[np.ndarray, "nd ns"]:
    """Directions of the features of a rug: W_in (nd, ns) with W_in^T W_in = R, in a random basis of its space."""
    # all eigenvalues of a rug but 0 are equal, so which eigenvectors a solver finds hangs on what is rounded away
    space = rug.apply(np.random.default_rng(seed).standard_normal((rug.nd, rug.ns)))
    return np.sqrt(rug.ns / rug.nd) * np.linalg.qr(space.T)[0].T
