"""Distributions of one feature, the text's and a reader's own: mean, variance, and how to draw from them.

Source: The Persian Rug, section 2, takes c u with c ~ Bernoulli(p) and u ~ U[0, 1]. Its formulas for the mean and
the variance of the interference need only these two numbers of the features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, features, minima, ranges
from superposition.moments import gauss_legendre, moment
from superposition.rug.meanfield import THRESHOLDS, Optimum

DRAWN = 200_000  # values that stand for a law that is known by its sampler
ENOUGH, MOST_DRAWS = 8000, 40  # values that are on, for which it is drawn so often at most
CELLS = 512  # parts of those above and below zero, each replaced by its mean
RAREST = 1e-9  # probability that stands for 0, which no law has
DOUBT = 6.0  # standard errors by which drawn values may miss the mean and variance that were given


class Nodes(NamedTuple):
    """Values ``x`` of a feature and their ``weight``: a quadrature of its law."""

    x: NDArray[np.float64]
    weight: NDArray[np.float64]


@dataclass(frozen=True)
class FeatureLaw:
    """The distribution of one feature, the same for all features, which are independent.

    Parameters
    ----------
    mean : float
        Mean of a feature.
    variance : float
        Its variance, above 0.
    sampler : callable
        ``sampler(generator, shape)`` returns an array of that shape, for a `numpy.random.Generator`.

    Raises
    ------
    ValueError
        If a number is out of range, the sampler is not callable, or its draws do not have that mean and variance.

    Examples
    --------
    >>> def sampler(rng, shape):
    ...     return (rng.random(shape) < 0.1) * rng.exponential(size=shape)
    >>> FeatureLaw(mean=0.1, variance=0.19, sampler=sampler).nodes().x.size
    513
    >>> FeatureLaw(mean=0.2, variance=0.19, sampler=sampler)
    Traceback (most recent call last):
    ...
    ValueError: mean = 0.2 is not that of the sampler, 0.1022 in 200000 values; allowed: within 6 standard errors
    """

    mean: float
    variance: float
    sampler: Callable[[np.random.Generator, tuple[int, int]], ArrayLike]

    def __post_init__(self):
        """Refuse what does not fit together."""
        mean = checks.number("mean", self.mean, open_low=True, open_high=True)
        variance = checks.number("variance", self.variance, 0, open_low=True, open_high=True)
        if not callable(self.sampler):
            raise ValueError(
                f"sampler = {checks.shown(self.sampler)} is no function; allowed: sampler(generator, shape)"
            )
        x = self._drawn()
        for name, value, seen in (("mean", mean, x), ("variance", variance, (x - mean) ** 2)):
            if abs(seen.mean() - value) > DOUBT * seen.std() / np.sqrt(DRAWN) + 1e-9 * abs(value):
                raise ValueError(
                    f"{name} = {value:g} is not that of the sampler, {seen.mean():.4g} in {DRAWN} values; "
                    f"allowed: within {DOUBT:g} standard errors"
                )

    def draw(self, batch: int, ns: int, seed: int | np.random.Generator) -> NDArray[np.float64]:
        """Draw feature vectors, shape (batch, ns); a result of any other shape is refused with a ValueError."""
        batch, ns = checks.whole("batch", batch, 1), checks.whole("ns", ns, 1)
        return checks.array("sampler", self.sampler(checks.generator("seed", seed), (batch, ns)), (batch, ns))

    def nodes(self) -> Nodes:
        """A quadrature from values drawn with a fixed seed: zero by itself, all others sorted into cells."""
        # their second moment is exact: where features can be zero, it sets the share of those that are not
        x, draws = self._drawn(), 1
        on = x[x != 0]
        while 0 < on.size < ENOUGH and draws < MOST_DRAWS:  # few are on: a quadrature of few would be a poor one
            more = self.draw(DRAWN, 1, np.random.default_rng(draws)).ravel()
            on, draws = np.r_[on, more[more != 0]], draws + 1
        cells = np.array_split(np.sort(on), min(CELLS, on.size))
        centre, weight = (np.array([part(cell) for cell in cells]) for part in (np.mean, np.size))
        weight = weight / (draws * DRAWN)
        if on.size < draws * DRAWN:
            weight = weight * (self.variance + self.mean**2) / (weight @ centre**2)
        return Nodes(np.r_[0.0, centre], np.r_[1 - weight.sum(), weight])

    def _drawn(self):
        return self.draw(DRAWN, 1, np.random.default_rng(0)).ravel()


def uniform_law(p: float) -> FeatureLaw:
    """The text's distribution: on with probability p, and then uniform."""

    def sampler(rng, shape):
        return features.sample(shape[1], p, shape[0], seed=rng)

    return _law(features.mean(p), features.variance(p), sampler)


def _law(mean, variance, sampler):
    """A distribution whose numbers are exact; for rare features no sample could confirm them."""
    law = object.__new__(FeatureLaw)
    for name, value in (("mean", float(mean)), ("variance", float(variance)), ("sampler", sampler)):
        object.__setattr__(law, name, value)
    return law


def uniform_nodes(p: float) -> Nodes:
    """A quadrature of the text's law: zero, and 64 nodes of Gauss and Legendre."""
    x, weight = gauss_legendre(64)
    return Nodes(np.r_[0.0, x], np.r_[1 - p, p * weight])


def gaussian_loss(a: ArrayLike, b: ArrayLike, s: ArrayLike, nodes: Nodes) -> NDArray[np.float64]:
    """Loss of ReLU(a x + b + s Z), Z standard normal, for any law of x and any sign of the gain (eq. 5)."""
    a, b, s = (np.asarray(value, float) for value in (a, b, s))
    drive = a[..., None] * nodes.x + b[..., None]
    one, two = (moment(k, drive, s[..., None]) for k in (1, 2))
    return np.sum((nodes.x**2 - 2 * nodes.x * one + two) * nodes.weight, axis=-1)


def rug_optimum(law: FeatureLaw, r: float) -> Optimum:
    """The text's theory for another law of the features: best gain and bias at the smallest noise (eq. 6, 14 to 16)."""
    nodes = law.nodes()
    sigma = min(float(np.sqrt(law.variance / r * (1 - r))), ranges.LARGEST)
    power_of_x = nodes.weight @ nodes.x**2
    if sigma == 0 and nodes.x.min() >= 0:
        return Optimum(*map(np.array, (1.0, 0.0, 0.0, 0.0)))

    def profile(z):
        drive = nodes.x + np.atleast_1d(z)[..., None] * sigma
        one, two = (moment(k, drive, sigma) @ (nodes.weight * nodes.x ** (2 - k)) for k in (1, 2))
        gain = np.where(one > 0, one / np.where(two > 0, two, 1), 0.0)
        return gain, power_of_x - gain * one

    z, lowest = minima.lowest(lambda z, one: profile(z * one)[1], THRESHOLDS, [np.ones(1)])
    a = profile(z)[0][0]
    return Optimum(a, a * z[0] * sigma, np.array(sigma), lowest[0])


def _nodes_of_each(vectors):
    """For each feature, zero and the means of sixteen groups of its nonzero values."""
    x, weight = np.zeros((2, vectors.shape[1], 17))
    for i, column in enumerate(vectors.T):
        parts = [part for part in np.array_split(np.sort(column[column != 0]), 16) if part.size]
        x[i, 1 : 1 + len(parts)] = [part.mean() for part in parts]
        weight[i, 1 : 1 + len(parts)] = [part.size / len(vectors) for part in parts]
    weight[:, 0] = 1 - weight.sum(axis=1)
    return Nodes(x, weight)


@dataclass(frozen=True, eq=False)
class Population:
    """All features: ``each``, the probability (ns,) of each, or None under another ``law`` than the text's.

    ``mean`` and ``variance`` (ns,) are those of the features; ``largest`` is the value of a feature fully on,
    ``chance`` the probability that a feature is on. ``vectors`` (n, ns) are given vectors; ``law`` is then the
    distribution of all their values together.
    """

    law: FeatureLaw
    each: NDArray[np.float64] | None
    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    largest: float
    chance: float | NDArray[np.float64]
    vectors: NDArray[np.floating] | None = None

    @classmethod
    def of_vectors(cls, vectors: NDArray[np.floating]) -> Population:
        """The population of given vectors (n, ns), whose numbers are not assumed to be independent."""
        chance = np.mean(vectors != 0, axis=0)
        mean, variance = vectors.mean(axis=0, dtype=float), vectors.var(axis=0, dtype=float)
        law = _law(vectors.mean(dtype=float), vectors.var(dtype=float), lambda rng, shape: rng.choice(values, shape))
        values = vectors.ravel()
        return cls(law, None, mean, variance, float(vectors.max()), chance, vectors)

    @classmethod
    def of(cls, p: ArrayLike | None, law: FeatureLaw | None, l0: float | None, ns: int) -> Population:
        """The population of one probability or one per feature, of a distribution, or of a mean number on."""
        if sum(one is not None for one in (p, law, l0)) != 1:
            raise ValueError(
                f"p = {checks.shown(p)}, law = {checks.shown(law)}, l0 = {checks.shown(l0)}; allowed: one of them, "
                "or vectors as features or x (on the command line one of --p, --l0, --firing, --features, --x)"
            )
        if l0 is not None:
            p = checks.number("l0", l0, 0, ns, open_low=True, open_high=True) / ns
        if law is not None:
            if not isinstance(law, FeatureLaw):
                raise ValueError(f"law = {checks.shown(law)} is no law; allowed: a superposition.diagnosis.FeatureLaw")
            nodes, ones = law.nodes(), np.ones(ns)
            return cls(law, None, law.mean * ones, law.variance * ones, nodes.x.max(), float(nodes.weight[1:].sum()))
        each = checks.real("p", p, 0, 1, open_high=True)  # pyrefly: ignore[bad-argument-type]: not None
        if each.ndim == 0:
            checks.number("p", each, 0, 1, open_low=True, open_high=True)
        if each.shape not in ((), (ns,)):
            raise ValueError(f"p has shape {each.shape}; allowed: one number, or ({ns},)")
        each = np.maximum(np.broadcast_to(each, (ns,)), RAREST)
        p = float(each.mean() if np.ptp(each) else each[0])
        return cls(uniform_law(p), each, features.mean(each), features.variance(each), 1.0, p)

    @property
    def p(self) -> float | None:
        """Mean probability of a feature of the text's law."""
        return None if self.each is None else float(self.each[0] if self.equal else self.each.mean())

    @property
    def equal(self) -> bool:
        """Whether all features have the same probability."""
        return self.each is None or bool(np.ptp(self.each) == 0)

    def nodes(self) -> Nodes:
        """A quadrature for a feature of the mean probability; for given vectors, one (ns, 17) for each feature."""
        if self.vectors is not None:
            return _nodes_of_each(self.vectors)
        return self.law.nodes() if self.p is None else uniform_nodes(self.p)

    def active(self, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Values of features that are on, shape (count,)."""
        if self.each is not None:
            return rng.random(count)
        nodes = self.law.nodes()
        return rng.choice(nodes.x[1:], count, p=nodes.weight[1:] / nodes.weight[1:].sum())

    def batches(self, samples: int, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.floating]]:
        """Feature vectors, ``size`` at a time: drawn, or the given ones in another order, each once."""
        order = None if self.vectors is None else rng.permutation(len(self.vectors))
        for start in range(0, samples, size):
            stop = min(start + size, samples)
            yield self.draw(stop - start, rng) if order is None else self.vectors[order[start:stop]]  # pyrefly: ignore[unsupported-operation]: there

    def apart(self, seed: int) -> Population:
        """The same features made independent: each column of the given vectors shuffled separately."""
        rng = np.random.default_rng([seed, 2])
        return replace(self, vectors=rng.permuted(self.vectors, axis=0))  # pyrefly: ignore[bad-argument-type]: there

    def draw(self, batch: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Feature vectors, shape (batch, ns)."""
        if self.equal:
            return self.law.draw(batch, len(self.mean), rng)
        return features.sample_each(self.each, batch, seed=rng)  # pyrefly: ignore[bad-argument-type]: there, as unequal
