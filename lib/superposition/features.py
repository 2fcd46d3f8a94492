"""Sparse feature data: x = c u with c ~ Bernoulli(p) and u ~ U[0, 1].

Source: The Persian Rug, section 2. Features are independent and identically distributed;
``p`` is the probability that a feature is on, 0 < p <= 1 (the sparsity is 1 - p).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from numpy.typing import ArrayLike
    from scipy.sparse import csr_array

_SURELY = 40.0  # -log of the smallest probability that a feature of p = 1 is off: 4e-18


@dataclass(frozen=True)
class Estimate:
    """A Monte Carlo mean and its standard error.

    Examples
    --------
    >>> print(Estimate(mean=0.25, se=0.01))
    Estimate(mean=0.25, se=0.01)
    """

    mean: float
    se: float


def probability(p: ArrayLike) -> np.ndarray:
    """Return ``p`` as a float64 array, or refuse it.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ValueError
        If any ``p`` is outside (0, 1].

    Examples
    --------
    >>> probability([0.05, 1])
    array([0.05, 1.  ])
    """
    return checks.real("p", p, 0, 1, open_low=True)


def one_probability(p: float) -> float:
    """Return ``p`` as one float, or refuse it.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If ``p`` is not one number in (0, 1].
    """
    return checks.number("p", probability(p))


def mean(p: ArrayLike) -> np.ndarray:
    """Mean of a feature, E[x] = p / 2.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    numpy.ndarray
        Same shape as `p`, in (0, 1/2].

    Raises
    ------
    ValueError
        If any ``p`` is outside (0, 1].

    Notes
    -----
    Source: The Persian Rug, section 2 (data).

    Examples
    --------
    >>> float(mean(0.05))
    0.025
    """
    return probability(p) / 2


def second_moment(p: ArrayLike) -> np.ndarray:
    """Second moment of a feature, E[x^2] = p / 3.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    numpy.ndarray
        Same shape as `p`, in (0, 1/3].

    Raises
    ------
    ValueError
        If any ``p`` is outside (0, 1].

    Notes
    -----
    Source: The Persian Rug, section 2 (data).

    Examples
    --------
    >>> second_moment([0.3, 0.6]).round(3)
    array([0.1, 0.2])
    """
    return probability(p) / 3


def variance(p: ArrayLike) -> np.ndarray:
    """Variance of a feature, Var[x] = (4 p - 3 p^2) / 12.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    numpy.ndarray
        Same shape as `p`, in (0, 1/9].

    Raises
    ------
    ValueError
        If any ``p`` is outside (0, 1].

    Notes
    -----
    Source: The Persian Rug, eq. 6 and 19 (the factor in front of the bracket).

    Examples
    --------
    >>> variance([0.05, 1.0]).round(4)
    array([0.016 , 0.0833])
    """
    p = probability(p)
    return p * (4 - 3 * p) / 12


def nonzeros(
    ns: int, p: float, batch: int, *, seed: int | np.random.Generator
) -> tuple[Int[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Draw a batch of feature vectors as a list of its non-zero entries.

    The gaps between non-zero entries of a Bernoulli sequence are geometric, so the gaps are
    drawn and not the entries: the cost is proportional to what is on.

    Parameters
    ----------
    ns : int
        Number of features, at least 1.
    p : float
        Probability that a feature is on, in (0, 1].
    batch : int
        Number of feature vectors, at least 1.
    seed : int or numpy.random.Generator
        A seed, or a generator to draw from.

    Returns
    -------
    flat : numpy.ndarray of int64, shape (k,)
        Increasing positions ``row * ns + column`` of the entries that are on.
    values : numpy.ndarray of float64, shape (k,)
        Their values, uniform in [0, 1).

    Raises
    ------
    ValueError
        If `ns` or `batch` is below 1 or `p` outside (0, 1].

    Notes
    -----
    Source: The Persian Rug, section 2 (data).

    Examples
    --------
    >>> flat, values = nonzeros(8, 0.25, 2, seed=0)
    >>> flat
    array([ 2,  6,  7,  8, 10])
    >>> values.round(3)
    array([0.615, 0.384, 0.997, 0.981, 0.686])
    """
    total = checks.whole("ns", ns, 1) * checks.whole("batch", batch, 1)
    p, rng = one_probability(p), checks.generator("seed", seed)
    with np.errstate(divide="ignore"):
        rate = -np.log1p(-p)  # infinite at p = 1: every gap is then 1
    expected = int(total * p + 5 * np.sqrt(total * p) + 10)
    flat = np.array([-1], dtype=np.int64)
    while flat[-1] < total:
        gaps = 1 + np.floor(rng.standard_exponential(expected) / rate)
        flat = np.append(flat, flat[-1] + np.cumsum(np.minimum(gaps, total + 1).astype(np.int64)))
    flat = flat[1 : np.searchsorted(flat, total)]
    return flat, rng.random(flat.size)


def sample(
    ns: int, p: float, batch: int, *, seed: int | np.random.Generator, layout: str = "dense"
) -> np.ndarray | csr_array:
    """Draw a batch of feature vectors.

    Parameters
    ----------
    ns : int
        Number of features, at least 1.
    p : float
        Probability that a feature is on, in (0, 1].
    batch : int
        Number of feature vectors, at least 1.
    seed : int or numpy.random.Generator
        A seed, or a generator to draw from. Both layouts draw the same numbers.
    layout : {"dense", "csr"}
        A numpy array, or a scipy CSR array at a cost proportional to its non-zeros.

    Returns
    -------
    numpy.ndarray or scipy.sparse.csr_array, shape (batch, ns)
        Values in [0, 1), float64.

    Raises
    ------
    ValueError
        If `ns` or `batch` is below 1, `p` outside (0, 1] or `layout` unknown.

    Notes
    -----
    Source: The Persian Rug, section 2 (data).

    Examples
    --------
    >>> sample(4, 0.5, 2, seed=1).round(2)
    array([[0.  , 0.72, 0.54, 0.  ],
           [0.  , 0.  , 0.  , 0.  ]])
    """
    checks.one_of("layout", layout, ("dense", "csr"))
    ns, batch = checks.whole("ns", ns, 1), checks.whole("batch", batch, 1)
    flat, values = nonzeros(ns, p, batch, seed=seed)
    if layout == "csr":
        from scipy.sparse import csr_array

        row_starts = np.searchsorted(flat, np.arange(batch + 1) * ns)
        return csr_array((values, flat % ns, row_starts), shape=(batch, ns))
    x = np.zeros((batch, ns))
    x.reshape(-1)[flat] = values
    return x


def nonzeros_each(
    p: ArrayLike, batch: int, *, seed: int | np.random.Generator
) -> tuple[Int[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Draw a batch of vectors whose features are on with probabilities of their own, as a list of what is on.

    Points fall on a line on which each feature has a piece of length -log(1 - p_i): it is on where at
    least one point falls on its piece. The cost is proportional to what is on.

    Parameters
    ----------
    p : array_like, shape (ns,)
        Probability that each feature is on, in (0, 1].
    batch : int
        Number of feature vectors, at least 1.
    seed : int or numpy.random.Generator
        A seed, or a generator to draw from.

    Returns
    -------
    flat : numpy.ndarray of int64, shape (k,)
        Increasing positions ``row * ns + column`` of the entries that are on.
    values : numpy.ndarray of float64, shape (k,)
        Their values, uniform in [0, 1).

    Raises
    ------
    ValueError
        If `p` is no vector, one of it is outside (0, 1], or `batch` is below 1.

    Notes
    -----
    Source: ours. `nonzeros` is for one p for all features, and keeps its own numbers.

    Examples
    --------
    >>> flat, values = nonzeros_each([1, 0.5, 0.001], 3, seed=0)
    >>> flat
    array([0, 3, 4, 6])
    """
    p, batch = checks.of_shape("p", probability(p), ("ns",)), checks.whole("batch", batch, 1)
    rng = checks.generator("seed", seed)
    with np.errstate(divide="ignore"):
        ends = np.cumsum(np.minimum(-np.log1p(-p), _SURELY))
    points = rng.poisson(ends[-1] * batch)
    rows, columns = rng.integers(batch, size=points), np.searchsorted(ends, ends[-1] * rng.random(points), "right")
    flat = np.sort(rows * len(p) + np.minimum(columns, len(p) - 1))
    flat = flat[np.diff(flat, prepend=-1) > 0]  # fifteen times as fast as numpy's unique, which hashes
    return flat, rng.random(flat.size)


def sample_each(p: ArrayLike, batch: int, *, seed: int | np.random.Generator) -> Float[np.ndarray, "batch ns"]:
    """Draw a batch of feature vectors whose features are on with probabilities of their own.

    Parameters
    ----------
    p : array_like, shape (ns,)
        Probability that each feature is on, in (0, 1].
    batch : int
        Number of feature vectors, at least 1.
    seed : int or numpy.random.Generator
        A seed, or a generator to draw from; the same numbers as `nonzeros_each`.

    Returns
    -------
    numpy.ndarray, shape (batch, ns)
        Values in [0, 1), float64.

    Raises
    ------
    ValueError
        If `p` is no vector, one of it is outside (0, 1], or `batch` is below 1.

    Examples
    --------
    >>> sample_each([1, 0.5, 0.001], 2, seed=0).round(2)
    array([[0.59, 0.55, 0.  ],
           [0.81, 0.  , 0.  ]])
    """
    flat, values = nonzeros_each(p, batch, seed=seed)
    x = np.zeros((checks.whole("batch", batch, 1), len(np.asarray(p))))
    x.flat[flat] = values
    return x
