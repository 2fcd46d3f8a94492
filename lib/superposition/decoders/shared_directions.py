"""The best decoders of features that share a direction: no decoder has a lower loss.

One ReLU reads antipodal rugs and digons well. Here are their best decoders: of digons in closed form, of antipodal rugs
the iterated decoder of their signed pairs z = x - x'.
Source: ours, beyond The Persian Rug, section 5.2.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr

from superposition import features, ranges
from superposition.checked import checked
from superposition.decoders.ladder import Evolution, extrinsic, iterates
from superposition.decoders.ranges import broadcast, finite, of_the_rug, same_shape
from superposition.decoders.ranges import iterations as some_iterations
from superposition.moments import REACH, floats, gauss_legendre
from superposition.rug.rugs import Rug

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from superposition.checks import Floats


def _digons(p, c):
    """Refuse shapes that do not fit."""
    same_shape(p=p, c=c)


def _antipodal(readout, rug):
    """Refuse other rugs, and readouts with a different number of features."""
    if not rug.antipodal:
        raise ValueError(f"rug = {rug!r} is not antipodal; allowed: Rug(..., antipodal=True)")
    of_the_rug(readout, rug)


class PairPosterior(NamedTuple):
    """Posterior of a signed pair z = x - x': mean and variance of z, and mean and variance of x."""

    z: np.ndarray
    z_variance: np.ndarray
    x: np.ndarray
    x_variance: np.ndarray


@checked(_digons, p=ranges.probability, c=ranges.real(1e-15, 1e15))
def digon_bayes_loss(p: ArrayLike, c: ArrayLike = 1.0) -> Floats:
    """Loss of the best decoder of a digon, to which only x - c x' is given.

    Parameters
    ----------
    c : array_like
        Weight of the second feature, from 1e-15 to 1e15; 1 for the tied digon.

    Returns
    -------
    numpy.ndarray
        The loss per feature, averaged over both.

    Notes
    -----
    Source: ours. If both are on, x - c x' leaves an interval of length l for x, and the error is that of a value that
    is 0 or uniform on it. As p -> 0 it is p^2 (1 + c^-2) (2 - 1 / c) / 12, the loss of one ReLU: the best decoder gains
    only a term of order p^3. Use `planar_bayes_loss` instead for codes in the plane.

    Examples
    --------
    >>> float(round(digon_bayes_loss(0.05) / 0.05**2, 4))  # 1/6 less p / 10
    0.1616
    """
    p, c = floats(p, c)
    c, (nodes, weights) = np.maximum(c, 1 / c), gauss_legendre(24)

    def unknown(length):
        share = p[..., None] * length
        return share**2 * length * (1 / 3 - share / (4 * (1 - p[..., None] + share)))

    short = unknown(nodes / c[..., None]) @ weights  # length (1 - h) / c, at h > 0
    long = unknown(nodes) @ weights + (c - 1) * unknown(np.ones(1))[..., 0]  # length min(1, c + h), at h < 0
    return ((1 + c**2) * short + (1 + c**-2) * long / c)[()] / 2


def _pair_posterior(y: ArrayLike, sigma: ArrayLike, p: ArrayLike) -> PairPosterior:
    """Posterior of an antipodal pair given y = x - x' + nu, at a noise sigma > 0; E[x'] is its x - z."""
    # z is 0 with probability (1 - p)^2 and has the density p - p^2 abs(z) elsewhere; given z, the lesser of the two
    # features is 0 or uniform on [0, 1 - abs(z)]. All moments are those of truncated normal variables.
    return PairPosterior(*(part[()] for part in _posterior(*floats(y, sigma, p))[1]))


@checked(broadcast, p=ranges.probability, r=ranges.real(1e-30, 0.5), iterations=some_iterations)
def pair_evolution(p: ArrayLike, r: ArrayLike, iterations: int) -> Evolution:
    """State evolution of the best iterated decoder on an antipodal rug, as ns -> infinity, for r up to 1/2.

    Returns
    -------
    Evolution
        Fields ``sigma`` and ``loss``, of the broadcast shape and one more axis for the iterations.

    Notes
    -----
    Source: ours; it ends at `digon_bayes_loss`. Use `state_evolution` instead for other rugs.

    Examples
    --------
    >>> (pair_evolution(0.05, 0.2, 4).loss / 0.007427).round(3)  # in units of the best ReLU on a rug
    array([0.774, 0.331, 0.146, 0.08 ])
    """
    # An antipodal rug of ns features is a rug of ns / 2 signed pairs at the ratio 2 r, so that sigma^2 = tau (1 / (2
    # r) - 1), from tau = 2 Var[x]. As sigma -> 0 the loss goes to `digon_bayes_loss`.
    p, r = floats(p, r)
    tau, found = 2 * features.variance(p), []
    for _ in range(iterations):
        sigma = np.sqrt(tau * (1 / (2 * r) - 1))
        of_z, of_x = _pair_losses(p, sigma)
        found.append((sigma, of_x))
        tau = extrinsic(of_z, sigma)
    return Evolution(*(np.stack(part, axis=-1) for part in zip(*found, strict=True)))


@checked(
    _antipodal, readout=finite("batch ns"), rug=ranges.instance(Rug), p=ranges.one_probability,
    iterations=some_iterations,
)  # fmt: skip
def decode_antipodal(
    readout: NDArray[np.float64], rug: Rug, p: float, *, iterations: int = 20
) -> Iterator[NDArray[np.float64]]:
    """Iterate over the estimates of the best decoder on an antipodal rug, one after each iteration.

    Parameters
    ----------
    readout : array_like, shape (batch, ns)
        R x, which the hidden vectors determine.
    rug : superposition.rug.Rug
        An antipodal rug.

    Returns
    -------
    iterator of numpy.ndarray, shape (batch, ns)
        Posterior means.

    Notes
    -----
    Source: ours. Use `decode_rug` instead on other rugs.

    Examples
    --------
    >>> rug, x = Rug(64, 16, antipodal=True), features.sample(64, 0.05, 2, seed=0)
    >>> [guess.shape for guess in decode_antipodal(rug.apply(x), rug, 0.05, iterations=2)]
    [(2, 64), (2, 64)]
    """
    return _pairs(readout[:, : rug.ns // 2], rug, p, iterations)


def _normal(w, sigma):
    """Density of a normal variable of standard deviation sigma."""
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
    """Density times E[x] and E[x^2]: at z > 0 x is z or more, at z < 0 it is 0 or more."""
    (a, b, c, d), (e, f, g, h) = _powers(y, right), _powers(-y, left)
    q = 1 - p
    mean = p * q * b + p**2 * (a - c) / 2 + p**2 * (e - 2 * f + g) / 2
    return mean, p * q * c + p**2 * (a - d) / 3 + p**2 * (e - 3 * f + 3 * g - h) / 3


def _posterior(y, sigma, p):
    """Density of y, and the posterior moments in the order of `PairPosterior`."""
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
    """Iterate on the signed pairs, one for each feature of the first half, and return both features of each pair."""
    half, ratio, latest = rug.ns // 2, 2 * rug.nd / rug.ns, {}

    def apply(z):
        return rug.apply(np.concatenate([z, np.zeros_like(z)], axis=1))[:, :half]

    def denoise(y, sigma):
        latest["found"] = found = _pair_posterior(y, sigma, p)
        return found.z, found.z_variance

    for _ in iterates(readout, apply, np.full(1, ratio), denoise, (0.0, 2 * float(features.variance(p))), iterations):
        found = latest["found"]
        yield np.concatenate([found.x, found.x - found.z], axis=1)
