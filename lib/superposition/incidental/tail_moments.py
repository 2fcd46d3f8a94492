"""Tail moments of a weighted sum of independent noises, exactly: the terms of the expected loss.

For u = sum_k w_k xi_k and a threshold c the moments are T_q = E[(c + u)^q 1{c + u > 0}], q = 0, 1,
2, and the mixed ones E[xi_k (c + u)^q 1{c + u > 0}], q = 0, 1. Gaussian noise has a closed form. A
discrete law is convolved from two halves: all sums of one half of the coordinates, sorted, with
sums of their tails, looked up for each sum of the other half. Other laws go through their
characteristic function, as a difference to the Gaussian.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erfc

from superposition import ranges
from superposition.checked import checked
from superposition.incidental.noise_laws import one_law

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.incidental.noise_laws import Law


LARGEST_HALF = 2**16  # sums of one half: bipolar noise up to m = 32
NOTHING = 18 * np.log(10)
FAR = 400.0  # where the characteristic function is cut off, in units of 1 / standard deviation of u


@dataclass(frozen=True)
class Tails:
    """``T``, shape (3, thresholds), and ``mixed``, shape (2, thresholds, m); see the module."""

    T: np.ndarray
    mixed: np.ndarray


def tails(c: ArrayLike, w: ArrayLike, law: Law) -> Tails:
    """Tail moments of c + w·xi at thresholds c (thresholds,), with weights w (m,) of the noises. Ours."""
    # Discrete laws and the normal law are exact to rounding; others to about 1e-9 (1e-6 for q = 0 where a single weight
    # dominates), relative to the power of the standard deviation of u.
    c, w = np.asarray(c, float), np.asarray(w, float)
    if law.sigma == 0 or not np.any(w):
        return Tails(np.array([c > 0, np.maximum(c, 0), np.maximum(c, 0) ** 2]), np.zeros((2, len(c), len(w))))
    if law.points:
        return _by_halves(c, w, law)
    gauss = _gaussian(c, w, law.sigma)
    return gauss if law.name == "normal" else _by_characteristic(c, w, law, gauss)


def along(c: ArrayLike, w: ArrayLike, v: ArrayLike, law: Law) -> Float[np.ndarray, " thresholds"]:
    """E[v·xi (c + w·xi) 1{c + w·xi > 0}]: the second of the mixed moments of `tails`, for one sum of the noises."""
    c, w, v = (np.asarray(given, float) for given in (c, w, v))
    middle = len(w) // 2
    if law.sigma == 0 or not 0 < len(law.points) ** (len(w) - middle) <= LARGEST_HALF:
        return tails(c, w, law).mixed[1] @ v
    # one half sorted and summed up from its end, the other in falling order, for which it is quick to look up
    (first, p_first), (second, p_second) = (noise_sums.unchecked(law, len(part)) for part in (w[:middle], w[middle:]))
    u, x = law.sigma * first @ w[:middle], law.sigma * second @ w[middle:]
    falling, rising = np.argsort(-u), np.argsort(x)
    u, x = u[falling], x[rising]
    own, other = law.sigma * (first @ v[:middle])[falling], law.sigma * (second @ v[middle:])[rising]
    terms = p_second[rising] * np.array([np.ones_like(x), x, other, other * x])
    tail = np.concatenate([np.cumsum(terms[:, ::-1], axis=1)[:, ::-1], np.zeros((4, 1))], axis=1)
    at = c[:, None] + u
    P0, P1, Q0, Q1 = tail[:, np.searchsorted(x, -at, side="right")]
    return (own * (at * P0 + P1) + at * Q0 + Q1) @ p_first[falling]


@checked(c=ranges.array("thresholds"), w=ranges.array("m"), law=one_law)
def relu_moments(c: ArrayLike, w: ArrayLike, law: Law) -> Float[np.ndarray, "3 thresholds"]:
    """Moments E[(c + w·xi)^q 1{c + w·xi > 0}], q = 0, 1, 2, at thresholds c, for weights w (m,) of independent noises.

    Notes
    -----
    Exact for discrete laws and the normal law, else to about 1e-9. Source: ours, for section 3.1.

    Examples
    --------
    >>> from superposition.incidental import normal
    >>> relu_moments([0.0], [1.0], normal(1.0)).round(4).T  # of half a normal
    array([[0.5   , 0.3989, 0.5   ]])
    """
    c, w = np.asarray(c, float), np.asarray(w, float)
    if law.points or law.name == "normal" or law.sigma == 0 or not np.any(w):
        return tails(c, w, law).T
    t, h = _frequencies(w, law)
    s = law.sigma * np.linalg.norm(w)
    difference = np.prod(law.characteristic(np.outer(w, t)), axis=0) - np.exp(-((s * t) ** 2) / 2)
    change = _change_of_moments(*_waves(c, t, _reach(w, law)), difference, t)
    return gaussian_moments(c, s) + h / np.pi * change


@checked(law=one_law, m=ranges.whole(1, 64))
def noise_sums(law: Law, m: int) -> tuple[Float[np.ndarray, "count m"], Float[np.ndarray, " count"]]:
    """All values (count, m) of m independent noises of a discrete law in units of sigma, with their probabilities.

    Source: section 3.2. Use `relu_moments` where 2^20 values do not suffice.

    Raises
    ------
    ValueError
        If an argument is outside of its range, the law is not discrete, or there are more than 2^20 values.

    Examples
    --------
    >>> from superposition.incidental import bipolar
    >>> noise_sums(bipolar(0.1), 2)
    (array([[-1., -1.],
           [-1.,  1.],
           [ 1., -1.],
           [ 1.,  1.]]), array([0.25, 0.25, 0.25, 0.25]))
    """
    if not law.points:
        raise ValueError(f"law = {law.name} cannot be enumerated; allowed: discrete laws")
    count = len(law.points) ** m
    if count > 2**20:
        raise ValueError(f"m = {m} gives {len(law.points)}^{m} = {count} combinations; allowed: up to {2**20}")
    return _grid(law.points, law.probabilities, m)


def gaussian_moments(c: ArrayLike, s: ArrayLike) -> Float[np.ndarray, "3 ..."]:
    """T_0, T_1 and T_2 for Gaussian u of standard deviation s above 0."""
    c, s = np.asarray(c, float), np.asarray(s, float)
    z = c / s
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    T0 = erfc(-z / np.sqrt(2)) / 2
    T1 = c * T0 + s * density
    return np.array([T0, T1, c * T1 + s**2 * T0])


def _gaussian(c, w, sigma):
    s = sigma * np.linalg.norm(w)
    T = gaussian_moments(c, s)
    density = np.exp(-((c / s) ** 2) / 2) / np.sqrt(2 * np.pi) / s
    return Tails(T, sigma**2 * np.array([density, T[0]])[:, :, None] * w)  # E[xi_k g(u)] = sigma^2 w_k E g'(u)


@lru_cache(maxsize=8)
def _grid(points, probabilities, m):
    values = np.array(list(itertools.product(points, repeat=m)), dtype=np.float64).reshape(-1, m)
    weights = np.prod(np.array(list(itertools.product(probabilities, repeat=m))).reshape(-1, m), axis=1)
    return values, weights


def _by_halves(c, w, law):
    middle = len(w) // 2
    count = len(law.points) ** (len(w) - middle)
    if count > LARGEST_HALF:
        raise ValueError(
            f"m = {len(w)} gives {len(law.points)}^{len(w) - middle} = {count} sums in each half; "
            f"allowed: up to {LARGEST_HALF}"
        )
    first, p_first = _grid(law.points, law.probabilities, middle)
    second, p_second = _grid(law.points, law.probabilities, len(w) - middle)
    first, second = law.sigma * first, law.sigma * second
    u_first, u_second = first @ w[:middle], second @ w[middle:]
    T, mixed_first = _convolved(c, u_first, p_first, first, u_second, p_second)
    _, mixed_second = _convolved(c, u_second, p_second, second, u_first, p_first)
    return Tails(T, np.concatenate([mixed_first, mixed_second], axis=2))


def _convolved(c, u, p, values, other, p_other):
    """Sum over u, with the tail sums of the other half looked up; mixed moments with the values behind u."""
    order = np.argsort(other)
    x = other[order]
    terms = p_other[order] * np.array([np.ones_like(x), x, x**2])
    tail = np.concatenate([np.cumsum(terms[:, ::-1], axis=1)[:, ::-1], np.zeros((3, 1))], axis=1)
    at = c[:, None] + u
    P0, P1, P2 = tail[:, np.searchsorted(x, -at, side="right")]
    R = np.array([P0, at * P0 + P1, at * (at * P0 + 2 * P1) + P2])
    return R @ p, (R[:2] * p) @ values


def _by_characteristic(c, w, law, gauss):
    t, h = _frequencies(w, law)
    phi = law.characteristic(np.outer(w, t))
    bell = np.exp(-((law.sigma * np.linalg.norm(w) * t) ** 2) / 2)
    without = _products_without_one(phi)
    slope = _characteristic_slope(law, np.outer(w, t)) * t * without + law.sigma**2 * np.outer(w, t**2) * bell
    sine, cosine = _waves(c, t, _reach(w, law))
    # E[xi_k (c + u)^q 1] is the derivative of T_{q + 1} in w_k over q + 1
    mixed = np.array([-cosine @ (slope / t**2).T, -sine @ (slope / t**3).T])
    change = _change_of_moments(sine, cosine, without[0] * phi[0] - bell, t)
    return Tails(gauss.T + h / np.pi * change, gauss.mixed + h / np.pi * mixed)


def _change_of_moments(sine, cosine, difference, t):
    return np.array([sine @ (difference / t), -cosine @ (difference / t**2), -2 * sine @ (difference / t**3)])


def _waves(c, t, reach):
    """Sines and cosines at the thresholds within reach; at the others the law does not differ from the Gaussian."""
    angle, near = np.outer(c, t), np.abs(c)[:, None] < reach
    return np.where(near, np.sin(angle), 0), np.where(near, np.cos(angle), 0)


def _frequencies(w, law):
    """Frequencies and their spacing, up to where both characteristic functions are below 1e-18."""
    s = law.sigma * np.linalg.norm(w)
    h = 2 * np.pi / (2.1 * _reach(w, law))  # the images of the sum lie at distance 2 pi / h

    last = np.exp(np.linspace(0, np.log(FAR / s / h), 64)).astype(int)  # where the sums may end; the first ones repeat
    x = law.sigma * h * np.outer(np.abs(w), last)
    factors = 1 + x**2 / 2 if law.name == "laplace" else np.maximum(np.sqrt(3) * x, 1)  # 1 / bound of each
    left = np.minimum(np.log(factors).sum(axis=0), (s * h * last) ** 2 / 2) < NOTHING
    return h * np.arange(1, last[min(left.sum(), len(last) - 1)] + 1), h


def _reach(w, law):
    """Largest u: beyond, neither the law nor a Gaussian of the same variance has mass above 1e-17."""
    s = law.sigma * np.linalg.norm(w)
    bounded = np.sqrt(3) * law.sigma * np.abs(w).sum()
    return max(9 * s, bounded) if law.name == "uniform" else 12 * s + 30 * law.sigma * np.abs(w).max()


def _characteristic_slope(law, t):
    """Derivative of the characteristic function."""
    x = law.sigma * t
    if law.name == "laplace":
        return -law.sigma * x / (1 + x**2 / 2) ** 2
    y = np.sqrt(3) * x
    safe = np.where(np.abs(y) < 1e-3, 1, y)
    exact = (np.cos(safe) - np.sin(safe) / safe) / safe
    return np.sqrt(3) * law.sigma * np.where(np.abs(y) < 1e-3, -y / 3, exact)


def _products_without_one(phi):
    ones = np.ones((1, phi.shape[1]))
    left = np.cumprod(np.concatenate([ones, phi[:-1]]), axis=0)
    right = np.cumprod(np.concatenate([ones, phi[:0:-1]]), axis=0)[::-1]
    return left * right
