"""What no decoder can undo: features that share a direction.

Antipodal rugs and digons are read well by one ReLU. Here each gets the best decoder there is: digons in closed form,
antipodal rugs by the iterated decoder of their signed pairs z = x - x'.
Source: ours, beyond The Persian Rug, section 5.2.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr

from superposition import features
from superposition.decoders.ladder import Evolution, extrinsic, iterates
from superposition.moments import REACH, floats, gauss_legendre

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from superposition.checks import Floats
    from superposition.rug.rugs import Rug


class Pair(NamedTuple):
    """Posterior of a signed pair z = x - x': mean and variance of z, and mean and variance of x."""

    z: np.ndarray
    z_variance: np.ndarray
    x: np.ndarray
    x_variance: np.ndarray


def digon_bayes_loss(p: ArrayLike, c: ArrayLike = 1.0) -> Floats:
    """Loss per feature of the best decoder of a digon, which sees x - c x' alone."""
    p, c = floats(p, c)
    c, (nodes, weights) = np.maximum(c, 1 / c), gauss_legendre(24)

    def unknown(length):
        share = p[..., None] * length
        return share**2 * length * (1 / 3 - share / (4 * (1 - p[..., None] + share)))

    short = unknown(nodes / c[..., None]) @ weights  # length (1 - h) / c, at h > 0
    long = unknown(nodes) @ weights + (c - 1) * unknown(np.ones(1))[..., 0]  # length min(1, c + h), at h < 0
    return ((1 + c**2) * short + (1 + c**-2) * long / c)[()] / 2


def pair_posterior(y: ArrayLike, sigma: ArrayLike, p: ArrayLike) -> Pair:
    """What y = x - x' + nu says of an antipodal pair, at a noise sigma > 0; E[x'] is x - z of the answer."""
    # z is 0 with probability (1 - p)^2 and has the density p - p^2 abs(z) elsewhere; given z, the lesser of the two
    # features is 0 or uniform on [0, 1 - abs(z)]. All moments are those of truncated normal variables.
    return Pair(*(part[()] for part in _posterior(*floats(y, sigma, p))[1]))


def pair_evolution(p: ArrayLike, r: ArrayLike, iterations: int) -> Evolution:
    """State evolution of the best iterated decoder on an antipodal rug, as ns -> infinity."""
    # An antipodal rug of ns features is a rug of ns / 2 signed pairs at the ratio 2 r, so that sigma^2 = tau (1 / (2
    # r) - 1), from tau = 2 Var[x]. However small sigma gets, `digon_bayes_loss` is left.
    p, r = floats(p, r)
    tau, found = 2 * features.variance(p), []
    for _ in range(iterations):
        sigma = np.sqrt(tau * (1 / (2 * r) - 1))
        of_z, of_x = _pair_losses(p, sigma)
        found.append((sigma, of_x))
        tau = extrinsic(of_z, sigma)
    return Evolution(*(np.stack(part, axis=-1) for part in zip(*found, strict=True)))


def decode_antipodal(
    readout: NDArray[np.float64], rug: Rug, p: float, *, iterations: int = 20
) -> Iterator[NDArray[np.float64]]:
    """Give the estimates (batch, ns) of the best iterated decoder on an antipodal rug, one after each iteration."""
    return _pairs(readout[:, : rug.ns // 2], rug, p, iterations)


def _normal(w, sigma):
    return np.exp(-((w / sigma) ** 2) / 2) / np.sqrt(2 * np.pi) / sigma


def _centred(y, sigma):
    """Integrals of (z - y)^k times the normal density at z - y, over z in [0, 1], for k = 0 to 3."""
    inside = np.where(y > 0.5, ndtr((1 - y) / sigma) - ndtr(-y / sigma), ndtr(y / sigma) - ndtr((y - 1) / sigma))
    end, start = _normal(1 - y, sigma), _normal(y, sigma)
    one = sigma**2 * (start - end)
    two = sigma**2 * (inside - (1 - y) * end - y * start)
    return inside, one, two, sigma**2 * (2 * one - (1 - y) ** 2 * end + y**2 * start)


def _powers(m, C):
    """Integrals of z^k instead, for k = 0 to 3."""
    return C[0], m * C[0] + C[1], m**2 * C[0] + 2 * m * C[1] + C[2], m**3 * C[0] + 3 * (m**2 * C[1] + m * C[2]) + C[3]


def _of_one(y, p, right, left):
    """Density times E[x] and E[x^2]: z and what may hide in it at z > 0, what may hide alone at z < 0."""
    (a, b, c, d), (e, f, g, h) = _powers(y, right), _powers(-y, left)
    q = 1 - p
    mean = p * q * b + p**2 * (a - c) / 2 + p**2 * (e - 2 * f + g) / 2
    return mean, p * q * c + p**2 * (a - d) / 3 + p**2 * (e - 3 * f + 3 * g - h) / 3


def _posterior(y, sigma, p):
    """Density of y, and the posterior moments in the order of `Pair`."""
    right, left = _centred(y, sigma), _centred(-y, sigma)
    none = (1 - p) ** 2 * _normal(y, sigma)
    (zero, first, second), mirrored = ([p * (1 - p * m) * C[k] - p**2 * C[k + 1] for k in range(3)]
                                       for m, C in ((y, right), (-y, left)))  # fmt: skip
    density = none + zero + mirrored[0]
    known, seen = density > 0, np.where(density > 0, density, 1)
    shift = (first - mirrored[1] - y * none) / seen  # E[z - y]
    spread = (second + mirrored[2] + y**2 * none) / seen - shift**2
    x, power = (moment / seen for moment in _of_one(y, p, right, left))
    guess = np.clip(y, -1, 1)  # so far outside that nothing has a density there
    moments = ((y + shift, guess), (spread, 0), (x, np.maximum(guess, 0)), (power - x**2, 0))
    z, spread, x, variance = (np.where(known, *both) for both in moments)
    return density, (z, np.maximum(spread, 0), x, np.maximum(variance, 0))


def _pair_losses(p, sigma):
    """Mean posterior variances of z and of x."""
    s = np.where(sigma > 0, sigma, 1e-9)[..., None]
    edge, total, (nodes, weights) = np.minimum(REACH * s, 0.5), 0.0, gauss_legendre(200)
    corners = (-1 - REACH * s, -1 + 0 * s, -1 + edge, -edge, 0 * s, edge, 1 - edge, 1 + 0 * s, 1 + REACH * s)
    for low, high in zip(corners[:-1], corners[1:], strict=True):
        density, (_, of_z, _, of_x) = _posterior(low + (high - low) * nodes, s, p[..., None])
        total = total + np.sum((high - low) * weights * density * np.stack([of_z, of_x]), axis=-1)
    return np.where(sigma > 0, total[0], 0), total[1]  # pyrefly: ignore[bad-index]: an array by now


def _pairs(readout, rug, p, iterations):
    """Iterate on the signed pairs of the first half of the features, and give both of each."""
    half, ratio, latest = rug.ns // 2, 2 * rug.nd / rug.ns, {}

    def apply(z):
        return rug.apply(np.concatenate([z, np.zeros_like(z)], axis=1))[:, :half]

    def denoise(y, sigma):
        latest["found"] = found = pair_posterior(y, sigma, p)
        return found.z, found.z_variance

    for _ in iterates(readout, apply, np.full(1, ratio), denoise, (0.0, 2 * float(features.variance(p))), iterations):
        found = latest["found"]
        yield np.concatenate([found.x, found.x - found.z], axis=1)
