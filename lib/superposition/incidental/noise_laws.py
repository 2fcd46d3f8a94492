"""Symmetric noise laws with exact moments: small frozen objects.

Source: Incidental Polysemanticity, section 3: every hidden neuron gets independent noise from a
law that is symmetric about 0, with variance sigma^2 and fourth moment mu4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.incidental import ranges as own

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def symmetric_law(name: str, points: tuple, probabilities: tuple) -> None:
    """Refuse distributions without a formula, and points that are not symmetric or have no probabilities."""
    if not points:
        checks.one_of("name", name, tuple(_MOMENTS))
        return
    places, chances = ranges.array("k")("points", points), ranges.array("k")("probabilities", probabilities)
    if places.shape != chances.shape or np.any(places != -places[::-1]) or np.any(chances != chances[::-1]):
        raise ValueError(f"points = {checks.shown(points)} are not symmetric; allowed: +-x, equally probable")
    if np.any(chances < 0) or abs(chances.sum() - 1) > 1e-9:
        raise ValueError(f"probabilities = {checks.shown(chances)} are not; allowed: 0 or more, 1 in all")


@checked(symmetric_law, sigma=own.deviation, points=ranges.instance(tuple), probabilities=ranges.instance(tuple))
@dataclass(frozen=True)
class Law:
    """The law of the noise xi on one neuron: `bipolar`, `uniform`, `normal`, `laplace`, `discrete` or `four_point`.

    ``points`` and ``probabilities`` are those of xi / sigma if the law is discrete, empty otherwise.

    Examples
    --------
    >>> law = Law("normal", 0.5)
    >>> law.variance, law.excess_kurtosis, law == normal(0.5)
    (0.25, 0.0, True)
    """

    name: str
    sigma: float
    points: tuple = ()
    probabilities: tuple = ()

    @checked(order=ranges.whole(0, 10))
    def moment(self, order: int) -> float:
        """E xi^order, exact, for an order of 0 or more; odd ones vanish."""
        if order % 2:
            return 0.0
        return self.sigma**order * (self._discrete_moment(order) if self.points else _MOMENTS[self.name](order))

    @property
    def variance(self) -> float:
        """E xi^2 = sigma^2."""
        return self.sigma**2

    @property
    def mu4(self) -> float:
        """E xi^4."""
        return self.moment(4)

    @property
    def excess_kurtosis(self) -> float:
        """The number k = mu4 / sigma^4 - 3, from -2 upwards; it does not depend on sigma."""
        unit = self._discrete_moment(4) if self.points else _MOMENTS[self.name](4)
        return unit - 3.0

    @property
    def kappa4(self) -> float:
        """Fourth cumulant mu4 - 3 sigma^4."""
        return self.excess_kurtosis * self.sigma**4

    @property
    def sixth_cumulant(self) -> float:
        """The number kappa6 / sigma^6 = E xi^6 / sigma^6 - 15 k - 15; it does not depend on sigma."""
        unit = self._discrete_moment(6) if self.points else _MOMENTS[self.name](6)
        return unit - 15 * self.excess_kurtosis - 15.0

    @checked(t=ranges.real())
    def characteristic(self, t: ArrayLike) -> np.ndarray:
        """E exp(i t xi), real because the law is symmetric."""
        x = self.sigma * np.asarray(t, float)
        if self.points:
            return sum(p * np.cos(point * x) for point, p in zip(self.points, self.probabilities, strict=True))  # pyrefly: ignore[bad-return]: of arrays
        return _CHARACTERISTIC[self.name](x)

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """Independent values, of any shape."""
        unit = self._discrete_sample(shape, rng) if self.points else _SAMPLE[self.name](shape, rng)
        return self.sigma * unit

    def _discrete_moment(self, order):
        return math.fsum(p * point**order for point, p in zip(self.points, self.probabilities, strict=True))

    def _discrete_sample(self, shape, rng):
        if len(self.points) == 2:
            bits = np.unpackbits(np.frombuffer(rng.bytes(-(-math.prod(shape) // 8)), dtype=np.uint8))
            return np.array(self.points)[bits[: math.prod(shape)]].reshape(shape)
        thresholds = np.cumsum(self.probabilities)[:-1]
        return np.array(self.points)[np.searchsorted(thresholds, rng.random(shape), side="right")]


def one_law(name: str, value: Any) -> Law:
    """Law of the noise on each neuron, as `superposition.incidental.bipolar` and the functions beside it make it."""
    return ranges.instance(Law)(name, value)


def some_laws(name: str, value: Any) -> Law | list[Law]:
    """Law of the noise, or a list of laws, one per network."""
    return [one_law(name, one) for one in value] if isinstance(value, (list, tuple)) else one_law(name, value)


@checked(sigma=own.deviation)
def bipolar(sigma: float) -> Law:
    """Noise +sigma or -sigma, each with probability 1/2: excess kurtosis -2, the smallest possible (section 3.2).

    Examples
    --------
    >>> bipolar(0.1).excess_kurtosis
    -2.0
    """
    return Law("bipolar", _sigma(sigma), (-1.0, 1.0), (0.5, 0.5))


@checked(sigma=own.deviation)
def uniform(sigma: float) -> Law:
    """Noise uniform on [-sqrt(3) sigma, sqrt(3) sigma]: excess kurtosis -6/5 (section 3.1).

    Examples
    --------
    >>> round(uniform(0.1).excess_kurtosis, 12)
    -1.2
    """
    return Law("uniform", _sigma(sigma))


@checked(sigma=own.deviation)
def normal(sigma: float) -> Law:
    """Gaussian noise: excess kurtosis 0 (section 3.1).

    Examples
    --------
    >>> normal(0.1).kappa4
    0.0
    """
    return Law("normal", _sigma(sigma))


@checked(sigma=own.deviation)
def laplace(sigma: float) -> Law:
    """Two-sided exponential noise, a distribution with heavy tails: excess kurtosis 3. Ours.

    Examples
    --------
    >>> round(laplace(0.1).excess_kurtosis, 12)
    3.0
    """
    return Law("laplace", _sigma(sigma))


@checked(sigma=own.deviation, kurtosis=ranges.number(-2, 1e49))
def discrete(sigma: float, kurtosis: float) -> Law:
    """Noise on three points, 0 and +-sigma sqrt(kurtosis + 3), with any possible excess kurtosis.

    At -2 the law is bipolar; no law has less, because E xi^4 >= (E xi^2)^2. Source: ours, for section 3. Use
    `four_point` to choose the sixth cumulant as well.

    Examples
    --------
    >>> law = discrete(0.1, 1.0)
    >>> law.points, round(law.excess_kurtosis, 12)
    ((-2.0, 0.0, 2.0), 1.0)
    """
    kurtosis = checks.number("kurtosis", kurtosis, -2, open_high=True)
    if kurtosis == -2:
        return Law("discrete", _sigma(sigma), (-1.0, 1.0), (0.5, 0.5))
    outer = math.sqrt(kurtosis + 3)
    tail = 0.5 / (kurtosis + 3)
    return Law("discrete", _sigma(sigma), (-outer, 0.0, outer), (tail, 1 - 2 * tail, tail))


@checked(kurtosis=ranges.number(-2, 1e49, open_low=True), kappa6=ranges.number(-26.25, 1e100), sigma=own.deviation)
def four_point(kurtosis: float, kappa6: float, sigma: float) -> Law:
    """Noise on four points, +-a and +-b, with any possible excess kurtosis and sixth cumulant.

    Parameters
    ----------
    kurtosis : float
        Excess kurtosis k, above -2 (at -2 there is `bipolar` noise alone), up to 1e49.
    kappa6 : float
        Sixth cumulant in units of sigma^6, from k^2 - 9 k - 6 to 1e100; at the lower end the inner
        two points meet at 0 and the law is `discrete`.

    Notes
    -----
    Source: ours, for Incidental Polysemanticity, section 3. With Y = (xi / sigma)^2 the moments
    E Y^2 = k + 3 and E Y^3 = kappa6 + 15 k + 15 are given; E Y^3 >= (E Y^2)^2 because Y >= 0,
    and the two values of Y are the nodes of Gaussian quadrature.

    Examples
    --------
    >>> law = four_point(-1, 28, 0.1)
    >>> round(law.excess_kurtosis, 12), round(law.sixth_cumulant, 12)
    (-1.0, 28.0)
    """
    k = checks.number("kurtosis", kurtosis, -2, 1e49, open_low=True)
    kappa6 = checks.number("kappa6", kappa6, k**2 - 9 * k - 6, 1e100)
    second, third = k + 3, kappa6 + 15 * k + 15
    total = (third - second) / (second - 1)  # sum of the two values of Y; their product is total - second
    high = total / 2 + math.sqrt(max(total**2 / 4 - total + second, 0))
    low = max(total - second, 0) / high
    inner, outer, share = math.sqrt(low), math.sqrt(high), (1 - low) / (high - low) / 2
    return Law("four points", _sigma(sigma), (-outer, -inner, inner, outer), (share, 0.5 - share, 0.5 - share, share))


def _sigma(sigma):
    return checks.number("sigma", sigma, 0, open_high=True)


# Of the laws with sigma = 1: moments of even order, characteristic function, draws.
_MOMENTS = {
    "uniform": lambda order: 3.0 ** (order // 2) / (order + 1),
    "normal": lambda order: float(math.prod(range(order - 1, 0, -2))),
    "laplace": lambda order: math.factorial(order) / 2.0 ** (order // 2),
}
_CHARACTERISTIC = {
    "uniform": lambda x: np.sinc(math.sqrt(3) * x / math.pi),
    "normal": lambda x: np.exp(-(x**2) / 2),
    "laplace": lambda x: 1 / (1 + x**2 / 2),
}
_SAMPLE = {
    "uniform": lambda shape, rng: rng.uniform(-math.sqrt(3), math.sqrt(3), shape),
    "normal": lambda shape, rng: rng.standard_normal(shape),
    "laplace": lambda shape, rng: rng.laplace(0, math.sqrt(0.5), shape),
}
