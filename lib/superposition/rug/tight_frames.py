"""Tight frames: projectors with constant diagonal, the Welch bound and the frame potential."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.rug.ranges import rank
from superposition.rug.rugs import Rug

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

MOST_OF_A_MATRIX = 4096
MOST_OF_A_FRAME = 1024  # as each round is a singular value decomposition


@checked(vectors=ranges.array("n d"))
def frame_potential(vectors: ArrayLike) -> float:
    """Sum of the squares of all inner products of vectors (n, d); at least n^2 / d for unit vectors.

    Notes
    -----
    Source: The Persian Rug, section 4.2.1.

    Examples
    --------
    >>> frame_potential([[1, 0], [0, 1]])
    2.0
    """
    vectors = np.asarray(vectors, float)
    return float(np.sum((vectors.T @ vectors) ** 2))  # the same for V V^T and V^T V, and this one is small


@checked(ns=ranges.whole(1, checks.MOST_FEATURES), nd=ranges.whole(1, checks.MOST_FEATURES), seed=ranges.seed)
def unit_vectors(ns: int, nd: int, *, seed: int | np.random.Generator) -> Float[np.ndarray, "ns nd"]:
    """Random unit vectors (ns, nd), uniform on the sphere; the mean noise of their Gram matrix is (ns - 1) / nd.

    Examples
    --------
    >>> unit_vectors(2, 3, seed=0).shape
    (2, 3)
    """
    vectors = np.random.default_rng(seed).standard_normal((ns, nd))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@checked(rank, ns=ranges.whole(1, MOST_OF_A_MATRIX), nd=ranges.whole(1, MOST_OF_A_MATRIX), seed=ranges.seed)
def random_projector(ns: int, nd: int, *, seed: int | np.random.Generator) -> Float[np.ndarray, "ns ns"]:
    """Random orthogonal projector O P O^T (ns, ns) of rank nd, with O uniform on the orthogonal group.

    Notes
    -----
    Source: The Persian Rug, eq. 7 and eq. 22. Its diagonal is nd / ns on average only: the mean `row_noise` is
    (ns - nd) / (nd - 2) for nd above 2. Use `Rug` instead for a constant diagonal.

    Examples
    --------
    >>> round(float(random_projector(6, 2, seed=0).trace()), 6)
    2.0
    """
    basis, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((ns, nd)))
    return basis @ basis.T


@checked(
    rank, ns=ranges.whole(1, MOST_OF_A_FRAME), nd=ranges.whole(1, MOST_OF_A_FRAME), seed=ranges.seed,
    rounds=ranges.whole(1, 10_000),
)  # fmt: skip
def tight_frame(ns: int, nd: int, *, seed: int | np.random.Generator, rounds: int = 500) -> Float[np.ndarray, "ns nd"]:
    """Unit vectors (ns, nd) that form a tight frame, after some rounds of alternating projection.

    Notes
    -----
    Source: Tropp and others (2005).

    Examples
    --------
    >>> round(frame_potential(tight_frame(6, 3, seed=0)), 6)
    12.0
    """
    vectors = unit_vectors(ns, nd, seed=seed)
    for _ in range(rounds):
        left, _, right = np.linalg.svd(vectors, full_matrices=False)
        vectors = left @ right  # nearest tight frame, up to a factor
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@checked(rug=ranges.instance(Rug), seed=ranges.seed)
def rug_directions(rug: Rug, *, seed: int) -> Float[np.ndarray, "nd ns"]:
    """Directions of the features of a rug: W_in (nd, ns) with W_in^T W_in = R, in a random basis of its space.

    Examples
    --------
    >>> W_in = rug_directions(Rug(8, 3), seed=0)
    >>> bool(np.allclose(W_in.T @ W_in, Rug(8, 3).dense()))
    True
    """
    # all eigenvalues of a rug but 0 are equal, so which eigenvectors a solver finds hangs on what is rounded away
    space = rug.apply(np.random.default_rng(seed).standard_normal((rug.nd, rug.ns)))
    return np.sqrt(rug.ns / rug.nd) * np.linalg.qr(space.T)[0].T
