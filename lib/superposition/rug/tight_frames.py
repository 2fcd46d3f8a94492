"""Tight frames: projectors with constant diagonal, the Welch bound and the frame potential."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.rug.rugs import Rug

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def frame_potential(vectors: ArrayLike) -> float:
    """Sum of the squares of all inner products, the square of the norm of the Gram matrix.

    Parameters
    ----------
    vectors : array_like, shape (n, d)
        One vector a row.

    Returns
    -------
    float
        At least n^2 / d for unit vectors, with equality for tight frames only.

    Raises
    ------
    ValueError
        If `vectors` is not two-dimensional or holds an infinity.

    Notes
    -----
    Source: The Persian Rug, section 4.2.1 ("variational characterization of tight frames").
    """
    vectors = checks.real("vectors", vectors, open_low=True, open_high=True)
    if vectors.ndim != 2:
        raise ValueError(f"vectors has shape {vectors.shape}; allowed: (number, dimensions)")
    return float(np.sum((vectors.T @ vectors) ** 2))  # the same for V V^T and V^T V, and this one is small


def unit_vectors(ns: int, nd: int, *, seed: int | np.random.Generator) -> Float[np.ndarray, "ns nd"]:
    """Random unit vectors, uniform on the sphere.

    Parameters
    ----------
    ns : int
        Number of vectors, at least 1.
    nd : int
        Dimensions, from 1 to ns.
    seed : int or numpy.random.Generator
        A seed, or a generator to draw from.

    Returns
    -------
    numpy.ndarray, shape (ns, nd)
        The mean noise of their Gram matrix is (ns - 1) / nd on average.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    ns, nd = checked_sizes(ns, nd)
    vectors = checks.generator("seed", seed).standard_normal((ns, nd))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def projector(ns: int, nd: int, *, seed: int | np.random.Generator) -> Float[np.ndarray, "ns ns"]:
    """Random orthogonal projector O P O^T, with O uniform on the orthogonal group.

    Parameters
    ----------
    ns : int
        Size, at least 1.
    nd : int
        Rank, from 1 to ns.
    seed : int or numpy.random.Generator
        A seed, or a generator to draw from.

    Returns
    -------
    numpy.ndarray, shape (ns, ns)
        Its diagonal is nd / ns on average only; the mean `row_noise` is (ns - nd) / (nd - 2) on
        average, for nd above 2.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, eq. 7 and eq. 22.
    """
    ns, nd = checked_sizes(ns, nd)
    basis, _ = np.linalg.qr(checks.generator("seed", seed).standard_normal((ns, nd)))
    return basis @ basis.T


def tight_frame(ns: int, nd: int, *, seed: int | np.random.Generator, rounds: int = 500) -> Float[np.ndarray, "ns nd"]:
    """Unit vectors that form a tight frame, from random ones by alternating projection.

    Parameters
    ----------
    ns : int
        Number of vectors, at least 1.
    nd : int
        Dimensions, from 1 to ns.
    seed : int or numpy.random.Generator
        A seed, or a generator to draw from.
    rounds : int
        How often the frame is made tight and its vectors unit, at least 1.

    Returns
    -------
    numpy.ndarray, shape (ns, nd)
        Its Gram matrix meets eq. 6 with equality, up to what `rounds` leaves (1e-12 of it at
        the default for nd below 0.9 ns).

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, section 4.2.1 (tight frames); the method is that of Tropp, Dhillon,
    Heath and Strohmer (2005).
    """
    vectors = unit_vectors(ns, nd, seed=seed)
    for _ in range(checks.whole("rounds", rounds, 1)):
        left, _, right = np.linalg.svd(vectors, full_matrices=False)
        vectors = left @ right  # nearest tight frame, up to a factor
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def checked_sizes(ns: int, nd: int) -> tuple[int, int]:
    """Return both sizes as ints, or refuse them."""
    ns = checks.whole("ns", ns, 1)
    return ns, checks.whole("nd", nd, 1, ns)


def rug_directions(rug: Rug, *, seed: int) -> Float[np.ndarray, "nd ns"]:
    """Directions of the features of a rug: W_in with W_in^T W_in = R, in a random basis of its space.

    All eigenvalues of a rug but 0 are equal, so which eigenvectors a solver finds hangs on what is rounded away.

    Parameters
    ----------
    rug : Rug
        The matrix R.
    seed : int
        Seed of the basis.

    Returns
    -------
    numpy.ndarray, shape (nd, ns)
        Columns of length 1.

    Raises
    ------
    ValueError
        If `seed` is no seed.

    Notes
    -----
    Source: The Persian Rug, section 4.2.2; the basis is ours.

    Examples
    --------
    >>> rug = Rug(8, 3, indices=[3, 5, 6])
    >>> W_in = rug_directions(rug, seed=0)
    >>> np.allclose(W_in.T @ W_in, rug.dense())
    True
    """
    space = rug.apply(checks.generator("seed", seed).standard_normal((rug.nd, rug.ns)))
    return np.sqrt(rug.ns / rug.nd) * np.linalg.qr(space.T)[0].T
