"""Sparse feature data: x = c u with c ~ Bernoulli(p) and u ~ U[0, 1].

Source: The Persian Rug, section 2. Features are independent and identically distributed;
``p`` is the probability that a feature is on, 0 < p <= 1 (the sparsity is 1 - p).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from numpy.typing import ArrayLike
    from scipy.sparse import csr_array

_SURELY = 40.0  # -log of the smallest probability that a feature of p = 1 is off: 4e-18


@dataclass(frozen=True)
class Estimate:
    """A Monte Carlo mean and its standard error: floats, or arrays where several were estimated at once.

    Examples
    --------
    >>> Estimate.of([0.5, 1.5, 1.0, 1.0, 0.5, 1.5, 1.0])
    Estimate(mean=1.0, se=0.1543033499620919)
    """

    mean: Any
    se: Any

    @classmethod
    @checked(values=ranges.draws, axis=ranges.whole(-8, 8))
    def of(cls, values: ArrayLike, axis: int = 0) -> Estimate:
        """Return the mean of independent draws along an axis, at least two of them, and its standard error.

        Both are numbers where the draws are a vector.
        """
        values = np.asarray(values, float)
        mean, se = values.mean(axis=axis), values.std(axis=axis, ddof=1) / np.sqrt(values.shape[axis])
        return cls(float(mean), float(se)) if values.ndim == 1 else cls(mean, se)


def probability(p: ArrayLike) -> np.ndarray:
    """Return probabilities ``p`` in (0, 1] as a float64 array, or refuse them."""
    return checks.real("p", p, 0, 1, open_low=True)


def one_probability(p: float) -> float:
    """Return a probability ``p`` in (0, 1] as one float, or refuse it."""
    return checks.number("p", probability(p))


@checked(p=ranges.chance)
def mean(p: ArrayLike) -> np.ndarray:
    """Return the mean of a feature, E[x] = p / 2 (The Persian Rug, section 2).

    Examples
    --------
    >>> float(mean(0.05))
    0.025
    """
    return np.asarray(p, float) / 2


@checked(p=ranges.chance)
def second_moment(p: ArrayLike) -> np.ndarray:
    """Return the second moment of a feature, E[x^2] = p / 3 (The Persian Rug, section 2).

    Examples
    --------
    >>> float(second_moment(0.3).round(12))
    0.1
    """
    return np.asarray(p, float) / 3


@checked(p=ranges.chance)
def variance(p: ArrayLike) -> np.ndarray:
    """Return the variance of a feature, Var[x] = (4 p - 3 p^2) / 12 (The Persian Rug, the factor of eq. 6 and 19).

    Examples
    --------
    >>> float(variance(1.0).round(6))  # uniform on [0, 1]
    0.083333
    """
    p = np.asarray(p, float)
    return p * (4 - 3 * p) / 12


@checked(ranges.places_fit, ns=ranges.whole(1), p=ranges.one_probability, batch=ranges.whole(0), seed=ranges.seed)
def nonzeros(
    ns: int, p: float, batch: int, *, seed: int | np.random.Generator
) -> tuple[Int[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Draw a batch of feature vectors, shape (batch, ns), as the places ``row * ns + column`` and values of what is on.

    The gaps between non-zero entries of a Bernoulli sequence are geometric. The gaps are drawn, not the entries, so
    that the cost is proportional to the number of features that are on. Use `sample` for the vectors themselves.

    Returns
    -------
    flat : numpy.ndarray of int64, shape (k,)
        Increasing.
    values : numpy.ndarray of float64, shape (k,)
        Uniform in [0, 1).

    Examples
    --------
    >>> flat, values = nonzeros(8, 0.25, 2, seed=0)
    >>> flat
    array([ 2,  6,  7,  8, 10])
    >>> values.round(3)
    array([0.615, 0.384, 0.997, 0.981, 0.686])
    """
    total, rng = ns * batch, np.random.default_rng(seed)
    with np.errstate(divide="ignore"):
        rate = -np.log1p(-p)  # infinite at p = 1: every gap is then 1
    expected = int(total * p + 5 * np.sqrt(total * p) + 10)
    flat = np.array([-1], dtype=np.int64)
    while flat[-1] < total:
        gaps = 1 + np.floor(rng.standard_exponential(expected) / rate)
        flat = np.append(flat, flat[-1] + np.cumsum(np.minimum(gaps, total + 1).astype(np.int64)))
    flat = flat[1 : np.searchsorted(flat, total)]
    return flat, rng.random(flat.size)


@checked(
    ranges.batch_fits, ns=ranges.whole(1), p=ranges.one_probability, batch=ranges.whole(0), seed=ranges.seed,
    layout=ranges.one_of("dense", "csr"),
)  # fmt: skip
def sample(
    ns: int, p: float, batch: int, *, seed: int | np.random.Generator, layout: str = "dense"
) -> np.ndarray | csr_array:
    """Draw a batch of feature vectors, shape (batch, ns): dense, or as CSR at a cost proportional to what is on.

    Use `sample_each` for features with probabilities of their own, `grouped` for features that occur together.

    Examples
    --------
    >>> sample(4, 0.5, 2, seed=0).round(2)
    array([[0.62, 0.  , 0.38, 1.  ],
           [0.98, 0.69, 0.  , 0.  ]])
    """
    flat, values = nonzeros(ns, p, batch, seed=seed)
    if layout == "csr":
        from scipy.sparse import csr_array

        row_starts = np.searchsorted(flat, np.arange(batch + 1) * ns)
        return csr_array((values, flat % ns, row_starts), shape=(batch, ns))
    x = np.zeros((batch, ns))
    x.reshape(-1)[flat] = values
    return x


@checked(ranges.batch_fits, p=ranges.probabilities, batch=ranges.whole(0), seed=ranges.seed)
def nonzeros_each(
    p: ArrayLike, batch: int, *, seed: int | np.random.Generator
) -> tuple[Int[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Draw as `nonzeros` does, for features that are on with probabilities of their own, ``p`` of shape (ns,)."""
    # Points fall on a line on which each feature has a piece of length -log(1 - p_i): it is on where at
    # least one point falls on its piece. `nonzeros` is for one p for all features, and keeps its own numbers.
    p, rng = np.asarray(p, float), np.random.default_rng(seed)
    with np.errstate(divide="ignore"):
        ends = np.cumsum(np.minimum(-np.log1p(-p), _SURELY))
    points = rng.poisson(ends[-1] * batch)
    rows, columns = rng.integers(batch, size=points), np.searchsorted(ends, ends[-1] * rng.random(points), "right")
    flat = np.sort(rows * len(p) + np.minimum(columns, len(p) - 1))
    flat = flat[np.diff(flat, prepend=-1) > 0]  # fifteen times as fast as numpy's unique, which hashes
    return flat, rng.random(flat.size)


@checked(ranges.batch_fits, p=ranges.probabilities, batch=ranges.whole(0), seed=ranges.seed)
def sample_each(p: ArrayLike, batch: int, *, seed: int | np.random.Generator) -> Float[np.ndarray, "batch ns"]:
    """Draw as `sample` does, for features that are on with probabilities of their own, ``p`` of shape (ns,).

    Examples
    --------
    >>> (sample_each([0.001, 1.0], 1000, seed=0) > 0).mean(axis=0)
    array([0.002, 1.   ])
    """
    flat, values = nonzeros_each(p, batch, seed=seed)
    x = np.zeros((batch, len(np.asarray(p))))
    x.flat[flat] = values
    return x


@checked(
    ranges.group_exists, groups=ranges.whole(1), G=ranges.whole(1), p=ranges.one_probability, s=ranges.number(0, 1),
    batch=ranges.whole(0), seed=ranges.seed,
)  # fmt: skip
def grouped(
    groups: int, G: int, p: float, s: float, batch: int, *, seed: int | np.random.Generator
) -> Float[np.ndarray, "batch n"]:
    """Draw as `sample` does, for groups of G neighbours: each is on with probability p, and with s if a partner is.

    At s = p all features are independent, at s = 0 those of a group exclude each other, which needs G p <= 1.

    Examples
    --------
    >>> x = grouped(1000, 2, 0.1, 0.0, 10, seed=0).reshape(-1, 2)
    >>> int((x > 0).all(axis=1).sum())
    0
    """
    # From s = p on a group has a switch, on with probability p / s, and then its members are on with s each. Below, a
    # group is exclusive with probability 1 - s / p: one member is on, with probability G p, or none; else independent.
    rng = np.random.default_rng(seed)
    x = np.zeros((batch * groups, G))
    if s >= p:
        _switched(x, nonzeros(groups, p / s, batch, seed=rng)[0], s, rng)
        return x.reshape(batch, -1)
    one, strength = nonzeros(groups, min(G * p, 1), batch, seed=rng)
    x[one, rng.integers(G, size=one.size)] = strength
    if s:
        independent = nonzeros(groups, s / p, batch, seed=rng)[0]
        x[independent] = 0
        _switched(x, independent, p, rng)
    return x.reshape(batch, -1)


def _switched(x, rows, s, rng):
    """In these rows every feature is on with probability s, in place."""
    x[rows] = (rng.random((rows.size, x.shape[1])) < s) * rng.random((rows.size, x.shape[1]))
