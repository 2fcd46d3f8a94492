"""Families of gates for a gated linear network, and the moments that are known in closed form.

A half-space gate is open where ``a . x > 0``. Inputs are a mixture of two laws, Y = 1 and Y = 0
with probability 1/2 each, and each law is symmetric: x and -x are equally likely. Then every
half-space gate has the same E[g x x'] = (C0 + C1)/4, whatever its direction a.

Source: the localization notes, section 4.1.1 (a TODO there) and 4.1.2; the formulas are ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.receptive.nlgp import normalization, saturation
from superposition.receptive.ranges import (
    MOST_PIXELS,
    correlations,
    covariance,
    neurons,
    one_ring,
    pixels,
    sample,
    some_wholes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxtyping import Bool, Float, Int
    from numpy.typing import ArrayLike


GATE_FAMILIES = ("random", "small bumps", "wide bumps", "Mexican hats", "waves", "opposite pairs")
NODES = 48  # Gauss-Legendre nodes of the orthant integral; beyond gain 100 the signs are too strongly correlated


def _family_fits(family, n, K):
    if family == "opposite pairs" and K % 2:
        raise ValueError(f"K = {K} is odd; allowed: even numbers of opposite pairs")
    if family == "waves":
        checks.whole("K", K, 1, n)


def _moment_fits(directions, C):
    checks.whole("number of weights, K n,", len(directions) * len(C), 1, MOST_PIXELS)


def _pixels_fit(pixels, latent):
    checks.whole("number of weights, K n,", len(pixels) * len(latent), 1, MOST_PIXELS)
    if len(set(checks.wholes("pixels", pixels, 0, len(latent) - 1))) < len(pixels):
        raise ValueError(f"pixels = {checks.shown(pixels)} has one twice; allowed: different pixels")


@checked(_family_fits, family=ranges.one_of(*GATE_FAMILIES), n=pixels, K=ranges.whole(1, 4096), seed=ranges.seed)
def gate_directions(family: str, n: int, K: int, *, seed: int = 0) -> Float[np.ndarray, "K n"]:
    """Directions a_k (K, n) of K half-space gates of a family.

    Source: the notes on localization, section 4.1.2; the families are ours.

    Parameters
    ----------
    family : str
        "random": Gaussian vectors. "small bumps": single pixels, evenly spaced. "wide bumps": Gaussian bumps with
        standard deviation 2 pixels. "Mexican hats": the negative second derivative of such a bump with standard
        deviation 1.5. "waves": cosines and sines of the lowest frequencies, from the constant on, at most n. "opposite
        pairs": random ones, each with its negative, for even K.

    Examples
    --------
    >>> gate_directions("small bumps", 4, 2)
    array([[1., 0., 0., 0.],
           [0., 0., 1., 0.]])
    """
    if family == "waves":
        return _waves(n, K)
    if family == "opposite pairs":
        half = np.random.default_rng(seed).standard_normal((K // 2, n))
        return np.concatenate([half, -half])
    if family == "random":
        return np.random.default_rng(seed).standard_normal((K, n))
    profile = {"small bumps": _pixel, "wide bumps": _bump, "Mexican hats": _hat}[family]
    return np.stack([np.roll(profile(n), centre) for centre in gate_centres(n, K)])


@checked(n=pixels, K=ranges.whole(1, 4096))
def gate_centres(n: int, K: int) -> Int[np.ndarray, " K"]:
    """Pixels (K,) of K evenly spaced gates on a ring, starting at 0.

    Source: ours.

    Examples
    --------
    >>> gate_centres(12, 3)
    array([0, 4, 8])
    """
    return np.arange(K) * n // K


@checked(one_ring("directions", "x"), directions=neurons, x=sample)
def opened_gates(directions: ArrayLike, x: ArrayLike) -> Bool[np.ndarray, "N K"]:
    """Which half-space gates are open for which inputs, a . x > 0, of shape (N, K); a zero direction never is.

    Source: the notes on localization, section 4.

    Examples
    --------
    >>> opened_gates([[1.0, 0.0]], [[2.0, 1.0], [-2.0, 1.0]])
    array([[ True],
           [False]])
    """
    directions, x = np.atleast_2d(np.asarray(directions, float)), np.asarray(x, float)
    return x @ directions.T > 0


@checked(one_ring("directions", "C"), _moment_fits, directions=neurons, C=covariance)
def gaussian_second_moment(directions: ArrayLike, C: ArrayLike) -> Float[np.ndarray, "Kn Kn"]:
    """E[1(a_k·x > 0) 1(a_l·x > 0) x x'] in blocks, for Gaussian x and all pairs of half-space gates.

    Source: the notes on localization, section 4.1.1, a TODO there; the formula is ours. Use `gated_moments` instead for
    any sample.

    Examples
    --------
    >>> gaussian_second_moment([[1.0, 0.0], [-1.0, 0.0]], np.eye(2)).round(2)
    array([[0.5, 0. , 0. , 0. ],
           [0. , 0.5, 0. , 0. ],
           [0. , 0. , 0.5, 0. ],
           [0. , 0. , 0. , 0.5]])
    """
    # With a = C a_k/sqrt(rho_kk), b = C a_l/sqrt(rho_ll) and their correlation gamma the block is 1/4 (C (1 + (2/pi)
    # arcsin gamma) + (2/pi)(1 - gamma^2)^(-1/2) (ab' + ba' - gamma (aa' + bb'))).
    directions, C = np.atleast_2d(np.asarray(directions, float)), np.asarray(C, float)
    K = len(directions)
    image = directions @ C
    variance = np.sum(image * directions, axis=1)
    scale = np.sqrt(checks.real("variance along a direction", variance, 0, open_low=True, open_high=True))
    unit = image / scale[:, None]
    gamma = np.clip(unit @ (directions / scale[:, None]).T, -1, 1)
    np.fill_diagonal(gamma, 1)
    blocks = [[_gaussian_block(C, unit[k], unit[m], gamma[k, m]) for m in range(K)] for k in range(K)]
    return np.block(blocks)


@checked(_pixels_fit, pixels=some_wholes(0), latent=correlations, gain=ranges.number(1e-6, 100))
def small_bump_second_moment(pixels: Sequence[int], latent: ArrayLike, gain: float) -> Float[np.ndarray, "Kn Kn"]:
    """E[1(x_i > 0) 1(x_k > 0) x x'] in blocks, for x = erf(gain z) / Z and single-pixel gates i and k.

    Source: the notes on localization, section 4.1.1, a TODO there; the formula is ours.

    Parameters
    ----------
    pixels : sequence of int
        Pixels of the gates, all different.
    latent : array_like, shape (n, n)
        Correlations of z.
    gain : float
        From 1e-6 to 100, where the moment is good to 1e-6; to 1e-14 up to 10.

    Examples
    --------
    >>> from superposition import receptive
    >>> small_bump_second_moment([0, 3], receptive.gaussian_covariance(6, 1.0), 3.0).shape
    (12, 12)
    """
    # erf(gain z) is the mean of sign(sqrt(2) gain z + noise), so the moment is one of four signs of Gaussians,
    # integrated along the path from uncorrelated to correlated ones (Plackett): to about 1e-14 at gains up to 10, 1e-6
    # at 100.
    latent = np.asarray(latent, float)
    q, variance = saturation(gain), normalization(gain) ** 2
    signs = 2 / np.pi * np.arcsin(q * latent) / variance
    K, n = len(pixels), len(latent)
    A = np.empty((K, n, K, n))
    for k, i in enumerate(pixels):
        A[k, :, k] = signs / 2
        for m in range(k + 1, K):
            A[k, :, m] = A[m, :, k] = (signs + _four_signs(latent, i, pixels[m], q) / variance) / 4
    return A.reshape(K * n, K * n)


def _four_signs(latent, i, k, q):
    """E[s_i s_k s_j s_l] for all j and l, s_i = sign z_i, s_j = sign of the noisy pixel."""
    n = len(latent)
    ik = np.full((n, n), latent[i, k])
    near, far = np.sqrt(q) * latent[i], np.sqrt(q) * latent[k]
    r = {(0, 1): ik, (2, 3): q * latent}
    for gate, values in ((0, near), (1, far)):
        r[gate, 2] = np.broadcast_to(values[:, None], (n, n))
        r[gate, 3] = np.broadcast_to(values[None, :], (n, n))
    # nodes crowd at the end of the path, where the correlations are strongest: s = sin(angle)
    node, weight = np.polynomial.legendre.leggauss(NODES)
    angle = np.pi / 4 * (node + 1)
    return sum(w * np.pi / 4 * np.cos(a) * _path_slope(r, np.sin(a)) for a, w in zip(angle, weight, strict=True)) * (
        4 / np.pi**2
    )


def _path_slope(r, s):
    """Sum over pairs of r/sqrt(1 - s^2 r^2) arcsin(correlation of the other two, given that both are 0)."""
    total = 0.0
    for (a, b), pair in r.items():
        c, d = sorted({0, 1, 2, 3} - {a, b})
        rest = [s * r[tuple(sorted(edge))] for edge in ((a, c), (b, c), (a, d), (b, d), (c, d))]
        total = total + pair / np.sqrt(1 - (s * pair) ** 2) * np.arcsin(_partial(s * pair, *rest))
    return total


def _partial(ab, ac, bc, ad, bd, cd):
    free = 1 - ab**2
    cross = cd - (ac * ad + bc * bd - ab * (ac * bd + ad * bc)) / free
    var_c = 1 - (ac**2 + bc**2 - 2 * ab * ac * bc) / free
    var_d = 1 - (ad**2 + bd**2 - 2 * ab * ad * bd) / free
    return np.clip(cross / np.sqrt(var_c * var_d), -1, 1)


def _gaussian_block(C, a, b, gamma):
    side = np.sqrt(max(1 - gamma**2, 0.0))
    block = C * (1 + 2 / np.pi * np.arcsin(gamma))
    if side > 1e-7:  # below, the rest is smaller than rounding in the difference b - gamma a
        d = (b - gamma * a) / side
        cross = np.outer(a, d) + np.outer(d, a)
        block = block + 2 / np.pi * side * (gamma * (np.outer(a, a) - np.outer(d, d)) + side * cross)
    return block / 4


def _offset(n):
    index = np.arange(n)
    return np.minimum(index, n - index).astype(float)


def _pixel(n):
    return np.eye(1, n)[0]


def _bump(n):
    return np.exp(-(_offset(n) ** 2) / 8)


def _hat(n):
    u = (_offset(n) / 1.5) ** 2
    return (1 - u) * np.exp(-u / 2)


def _waves(n, K):
    phase = 2 * np.pi / n * np.arange(n)
    return np.stack([np.cos((k + 1) // 2 * phase - (k % 2 == 0) * (k > 0) * np.pi / 2) for k in range(K)])
