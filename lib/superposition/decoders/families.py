"""Parents and children: features that are on only while another one is, and their sparse autoencoders.

The first half of the features are parents, and feature ns / 2 + i is the child of feature i: it is on with a given
probability while its parent is, and never without it. Strengths are independent. A learned direction is given by its
angle in the plane of the two directions, from the parent's (0) to the child's. Source: Chanin and others (2024) for
absorption and (2025) for hedging; pairs with strengths of their own, and their angles, are ours.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, features, ranges
from superposition.checked import checked
from superposition.decoders import dictionaries, dictionary_scores
from superposition.decoders.dictionaries import KINDS, MOST_DIRECTIONS, Dictionary
from superposition.decoders.ranges import finite, shaped

NODES = 32  # of a strength: angles are good to .02 degrees
FLAT = 1e-7  # slope at which a descent ends
STEEPEST = 2e-3  # slope, in roots of the loss, that counts as converged: lower losses are then about 2e-6 lower
STARTS, POLISHED = 8, 3  # descents, the first from the truth; the best of them are polished if they stop too early
STEP = 1e-6  # of the differences of slopes
MIDDLES = (np.arange(400) + 0.5) / 400  # strengths by which shares are counted


def _in_pairs(ns, nd):
    """Refuse an odd number of features, and more dimensions than features."""
    if ns % 2:
        raise ValueError(f"ns = {ns} is odd; allowed: even numbers, half parents and half children")
    checks.whole("nd", nd, 1, ns)


def _leans(truth, x, codes, directions):
    """Refuse features, latents and directions that do not belong to the dictionary or to each other."""
    nd, ns = truth.directions.shape
    if ns % 2:
        raise ValueError(f"truth has {ns} features; allowed: even numbers, half parents and half children")
    shaped("x", x, "batch", ns)
    shaped("directions", directions, nd, "k")
    shaped("codes", codes, len(x), directions.shape[1])


@dataclass(frozen=True, eq=False)
class Families(Dictionary):
    """A dictionary whose second half of features are the children of the first."""

    def activations(
        self, batch: int, *, seed: int | np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Draw features (batch, ns) and the activations (batch, nd) that they make."""
        rng, half = checks.generator("seed", seed), len(self.p) // 2
        given = np.r_[self.p[:half], self.p[half:] / self.p[:half]]
        x = features.sample_each(given, checks.whole("batch", batch, 1), seed=rng)
        x[:, half:] *= x[:, :half] > 0
        h = x @ self.directions.T
        return x, h + self.noise * rng.standard_normal(h.shape) if self.noise else h

    def batches(self, batch: int, *, seed: int | np.random.Generator) -> Iterator[NDArray[np.float32]]:
        """Activations alone, in single precision, (batch, nd) at a time and without end."""
        rng = checks.generator("seed", seed)
        while True:
            yield self.activations(batch, seed=rng)[1].astype(np.float32)

    def save(self, path: str | os.PathLike) -> None:
        """Refuse, as `superposition.decoders.load_dictionary` gives independent features."""
        raise ValueError(f"path = {path} would lose who is whose child; allowed: to make it again by {self.recipe}")

    def to_saelens(self, path: str | os.PathLike, *, strengths: str | None = None) -> None:
        """Refuse, as SAELens' file has independent features."""
        raise ValueError(f"path = {path} would lose who is whose child; allowed: children = 0, or activations of ours")


@checked(
    _in_pairs, ns=ranges.whole(2, MOST_DIRECTIONS), nd=ranges.whole(1, MOST_DIRECTIONS), kind=ranges.one_of(*KINDS),
    p=ranges.one_probability, children=ranges.number(0, 1, open_low=True), noise=ranges.number(0), seed=ranges.whole(0),
)  # fmt: skip
def dictionary_of_families(
    ns: int, nd: int, kind: str = "rug", *, p: float = 0.05, children: float, noise: float = 0.0, seed: int = 0
) -> Families:
    """The directions of `superposition.decoders.dictionary`, with parents and children as features.

    Parameters
    ----------
    p : float
        Mean probability that a feature is on, in (0, 1]; parents have equal probabilities.
    children : float
        In (0, 1]: feature ns / 2 + i is on with this probability while its parent i is, and never without it.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or the probability of a parent would be above 1.

    Notes
    -----
    Source: Chanin and others (2024); independent strengths are ours. Use `dictionary` instead for independent features.

    Examples
    --------
    >>> dictionary_of_families(4, 2, p=0.3, children=0.5).p
    array([0.4, 0.4, 0.2, 0.2])
    """
    plain = dictionaries.dictionary(ns, nd, kind, p=p, noise=noise, seed=seed)
    parent = 2 * p / (1 + children)
    if parent > 1:
        raise ValueError(f"p = {p:g} with children = {children:g} gives parents {parent:g}; allowed: at most 1")
    each = np.repeat([parent, children * parent], ns // 2)
    return Families(kind, plain.directions, each, noise, f"{plain.recipe} children {children!r}")


@checked(truth=ranges.instance(Dictionary))
def unrelated_dictionary(truth: Dictionary) -> Dictionary:
    """A control: the same directions and frequencies, with all features independent.

    Examples
    --------
    >>> unrelated_dictionary(dictionary_of_families(4, 2, p=0.3, children=0.5)).p
    array([0.4, 0.4, 0.2, 0.2])
    """
    return Dictionary(truth.kind, truth.directions, truth.p, truth.noise, f"{truth.recipe} unrelated")


class Leaning(NamedTuple):
    """Degrees by which latents lean from their feature to its parent or child, and the activity of parents' latents.

    ``to_child`` of the latents of parents, ``to_parent`` of those of children, nan where a feature has no latent;
    ``alone`` and ``together``, the share of activations with a parent on, without and with its child, in which the
    parent's latent is on, for parents that have a latent.
    """

    to_child: NDArray[np.float64]
    to_parent: NDArray[np.float64]
    alone: float
    together: float

    @property
    def gap(self) -> float:
        """The absorption gap, how much more often a parent's latent is on without the child than with it."""
        return self.alone - self.together


@checked(
    _leans, truth=ranges.instance(Dictionary), x=finite("batch ns"), codes=finite("batch k"), directions=finite("nd k")
)
def leaning(truth: Dictionary, x: ArrayLike, codes: ArrayLike, directions: ArrayLike) -> Leaning:
    """Angles of latents, matched as by `superposition.decoders.scores`, towards the other feature of their pair.

    Parameters
    ----------
    truth : Dictionary
        Parents in the first half, children in the second, as of `dictionary_of_families`.
    x, codes, directions : array_like
        Features (batch, ns), latents (batch, k) and their directions (nd, k).

    Returns
    -------
    Leaning
        ``to_child`` and ``to_parent`` (ns / 2,), in degrees, nan without a latent; ``alone`` and ``together``.

    Notes
    -----
    Source: ours. Use `scores` instead for independent features.

    Examples
    --------
    >>> truth = dictionary_of_families(4, 4, p=0.3, children=0.5)
    >>> x, h = truth.activations(100, seed=0)
    >>> leaning(truth, x, x, truth.directions).to_child.round(6) + 0.0
    array([0., 0.])
    """
    x, codes = np.asarray(x, float), np.asarray(codes, float)
    latent, half = dictionary_scores.scores(truth, x, codes, directions).latent, len(truth.p) // 2
    parents, children = (truth.directions[:, part] for part in (slice(half), slice(half, None)))
    to_child = _angles(parents, children, _of(directions, latent[:half]))
    to_parent = _angles(children, parents, _of(directions, latent[half:]))
    on, child, answers = (x[:, :half] > 0) & (latent[:half] >= 0), x[:, half:] > 0, _of(codes, latent[:half]) > 0
    alone, together = (_share(answers, there) for there in (on & ~child, on & child))
    return Leaning(to_child, to_parent, alone, together)


def _share(answers, there):
    """The share of these activations in which a latent is on, 0 if there are none."""
    return float(answers[there].mean()) if there.any() else 0.0


def _of(columns, latent):
    """The column of each feature's latent, nan for features without one."""
    return np.where(latent >= 0, np.asarray(columns, float)[:, latent], np.nan)


def _angles(own, other, v):
    """Angles in the planes of two directions of length one that need not be orthogonal."""
    overlap, first, second = (np.einsum("ij,ij->j", *pair) for pair in ((own, other), (own, v), (other, v)))
    return np.degrees(np.arctan2(second - overlap * first, first - overlap * second))


@checked(price=ranges.real(0))
def absorbed_angle(price: ArrayLike) -> NDArray[np.float64]:
    """Angle, in degrees, by which the child's latent leans to its parent's direction, to leading order in the price.

    Returns
    -------
    numpy.ndarray
        Of the shape of price.

    Notes
    -----
    Source: ours. Use `best_pair` instead for the exact angle.

    Examples
    --------
    >>> float(absorbed_angle(0.01).round(2))
    11.46
    """
    # A lean of theta saves price u (1 - sec + tan) = price u theta of activity, and where the parent's u' < u theta it
    # leaves (u theta - u')^2 / 2: on average price theta / 2 - theta^3 / 24, the most at theta = 2 sqrt(price).
    return np.degrees(2 * np.sqrt(np.asarray(price, float)))


class BestPair(NamedTuple):
    """The best autoencoder of one pair on orthogonal directions: degrees of its latents, in increasing order.

    ``alone`` and ``together`` are those of `Leaning`, for the first latent.
    """

    loss: float
    degrees: NDArray[np.float64]
    alone: float
    together: float


@checked(
    parent=ranges.number(1e-4, 1), children=ranges.number(0, 1, open_low=True), price=ranges.number(0, 10),
    latents=ranges.whole(1, 2), related=ranges.flag,
)  # fmt: skip
def best_pair(parent: float, children: float, price: float, latents: int, *, related: bool = True) -> BestPair:
    """The autoencoder of the least loss on one parent and its child, on orthogonal directions, by quadrature.

    Parameters
    ----------
    parent : float
        Probability that the parent is on, in [1e-4, 1].
    children : float
        Probability that the child is on while its parent is, in (0, 1].
    latents : int
        1 or 2: with three and four, descents end at different losses, and some with four above that of three.
    related : bool
        With False the child is independent, at the same frequency.

    Returns
    -------
    BestPair
        ``loss``, ``degrees`` (latents,), ``alone`` and ``together``.

    Raises
    ------
    FloatingPointError
        If no descent converges.

    Notes
    -----
    Source: ours; the least of eight descents. With one and two latents, parents from 1e-4 and prices from 1e-6 to 1,
    descents from other starts found nothing lower. Use `absorbed_angle` instead for the limit of a small price.

    Examples
    --------
    >>> best_pair(0.05, 0.5, 0.1, 1).degrees.round(1)
    array([28.6])
    """
    from scipy.optimize import minimize

    h, weight = _nodes(parent, children, related)
    found = [
        minimize(
            _pair_loss, start, (h, weight, price), jac=True, method="BFGS", options={"gtol": FLAT, "maxiter": 2000}
        )
        for start in _starts(latents, price)
    ]
    best = min(found, key=lambda one: one.fun)
    if np.abs(best.jac).max() > FLAT:
        ends = sorted(found, key=lambda one: one.fun)[:POLISHED]
        best = min((_polished(one.x, h, weight, price, parent) for one in ends), key=lambda one: one.fun)
    if np.abs(best.jac).max() > STEEPEST * best.fun**0.5:
        raise FloatingPointError(f"none of the {STARTS} descents ended at a minimum: {best.message}")
    parts = _parts(best.x)
    first = np.argsort(parts.angle)[0]
    u = np.array(np.meshgrid(MIDDLES, MIDDLES)).reshape(2, -1)
    alone, together = (
        float(np.mean((side - parts.center) @ parts.encoder[first] + parts.bias[first] > 0))
        for side in (np.c_[MIDDLES, 0 * MIDDLES], u.T)
    )
    return BestPair(float(best.fun) * parent, np.sort(np.degrees(parts.angle)), alone, together)


def _polished(flat, h, weight, price, parent):
    """Continue a descent by Newton's steps, for rare parents and small prices.

    Coordinates are the drives at zero activations in place of the biases, which then do not depend on the decoder's
    bias, and this bias divided by the root of the parent's probability, as zero activations weigh 1 / parent.
    """
    from scipy.optimize import minimize

    scale = np.r_[np.ones(len(flat) - 2), np.full(2, parent**0.5)]

    def moved(flat, sign):
        angle, encoder, bias, center = _parts(flat)
        return np.concatenate([angle, encoder.ravel(), bias + sign * encoder @ center, center])

    def loss(z):
        at = _parts(z * scale)
        value, slopes = _pair_loss(moved(z * scale, 1), h, weight, price)
        by = _parts(slopes)
        encoder, center = by.encoder + np.outer(by.bias, at.center), by.center + at.encoder.T @ by.bias
        return value, scale * np.concatenate([by.angle, encoder.ravel(), by.bias, center])

    def curvature(z):
        rows = np.array([loss(z + step)[1] - loss(z - step)[1] for step in STEP * np.eye(len(z))]) / (2 * STEP)
        return (rows + rows.T) / 2

    found = minimize(loss, moved(flat, -1) / scale, jac=True, hess=curvature, method="trust-exact",
                     options={"gtol": FLAT * price, "maxiter": 100})  # fmt: skip
    found.x = moved(found.x * scale, 1)
    return found


class _Parts(NamedTuple):
    angle: NDArray[np.float64]
    encoder: NDArray[np.float64]
    bias: NDArray[np.float64]
    center: NDArray[np.float64]


def _parts(flat):
    """Angles (k,), encoder (k, 2), bias (k,), and the decoder's bias (2,)."""
    k = len(flat) // 4
    return _Parts(flat[:k], flat[k : 3 * k].reshape(k, 2), flat[3 * k : 4 * k], flat[4 * k :])


def _nodes(parent, children, related):
    """Activations of a pair (m, 2), and their weights divided by the parent's probability."""
    u, w = np.polynomial.legendre.leggauss(NODES)
    u, w, zero = (u + 1) / 2, w / 2, np.zeros(NODES)
    both = children if related else parent * children
    child = 0.0 if related else children - both
    h = [np.zeros((1, 2)), np.c_[u, zero], np.c_[zero, u], np.array(np.meshgrid(u, u)).reshape(2, -1).T]
    none = 1 / parent - 1 - child
    return np.concatenate(h), np.concatenate([[none], (1 - both) * w, child * w, both * np.outer(w, w).ravel()])


def _starts(latents, price):
    """Latents at angles between both directions, read along themselves."""
    rng = np.random.default_rng(0)
    for number in range(STARTS):
        angle = rng.uniform(0, np.pi / 2, latents) if number else np.linspace(0, np.pi / 2, latents)
        encoder = np.c_[np.cos(angle), np.sin(angle)].ravel()
        yield np.concatenate([angle, encoder, np.full(latents, -price), np.zeros(2)])


def _pair_loss(flat, h, weight, price):
    """Half the squared error and the price of activity, and the slopes of their sum."""
    angle, encoder, bias, center = _parts(flat)
    V, turned = np.c_[np.cos(angle), np.sin(angle)], np.c_[-np.sin(angle), np.cos(angle)]
    drive = (h - center) @ encoder.T + bias
    f = np.maximum(drive, 0)
    error = f @ V + center - h
    felt = weight[:, None] * error
    back = np.where(drive > 0, felt @ V.T + price * weight[:, None], 0)
    slopes = (
        np.sum((f.T @ felt) * turned, axis=1),
        (back.T @ (h - center)).ravel(),
        back.sum(axis=0),
        felt.sum(axis=0) - (back @ encoder).sum(axis=0),
    )
    return weight @ (np.sum(error**2, axis=1) / 2 + price * f.sum(axis=1)), np.concatenate(slopes)
