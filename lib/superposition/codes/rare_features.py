"""Rare features: where the best loss drops, and the logarithm that rugs pay and fans do not.

The loss drops at r of order p, and neither at larger nor at smaller r. Fans are the upper bound. The lower one holds
for every code and every number of features: outputs above a threshold form few patterns of few members, and active
features form many. Source: ours, against The Persian Rug, sections 4.2 and 4.2.1.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, lambertw, rel_entr

from superposition import ranges
from superposition.checked import checked
from superposition.codes import ranges as within


@checked(kappa=ranges.real(0, open_low=True))
def drop_bounds(kappa: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds on the best loss divided by p/3 at r = kappa p, as p -> 0.

    Returns
    -------
    lower, upper : numpy.ndarray
        No code is below the first, fans reach the second; shape of `kappa`. Source: ours.

    Examples
    --------
    >>> [round(float(bound), 3) for bound in drop_bounds(1.0)]
    [0.125, 0.568]
    """
    kappa = np.asarray(kappa, float)
    few = np.minimum(2 / kappa, 1e-4)  # 1 + (e^-x - 1) / x at x = 2 / kappa, by its series where terms would cancel
    upper = np.where(2 / kappa > few, 1 + kappa / 2 * np.expm1(-2 / kappa), few / 2 - few**2 / 6 + few**3 / 24)
    return np.maximum(0, 1 - kappa / 2) ** 3, upper


@checked(p=within.rare_probability, r=ranges.one_ratio)
def counting_bound(p: float, r: float) -> float:
    """Lower bound on the loss at every number of features, from the count of patterns of active outputs.

    Returns
    -------
    float
        0 where the count does not exclude any loss; use `bound_at_any_size` instead there.

    Notes
    -----
    Source: ours, with the bounds of Clarkson and Shor and of McMullen. n outputs above a threshold tau, a share pi of
    them at once, make at most exp(n H(r/2) + n (r/2 + pi) H((r/2) / (r/2 + pi))) patterns, H the entropy in nats, and
    at most exp(n H(r)). With a share eta of the active features above tau and a share phi of the others, the patterns
    know p kl(eta | pi) + (1 - p) kl(phi | pi) nats a feature, pi = p eta + (1 - p) phi, and the loss is at least
    (1 - p) phi tau^2 + (p/3) max(0, 1 - eta - tau)^3. Each cell of the grid in phi is bounded by its ends.

    Examples
    --------
    >>> round(counting_bound(1e-6, 1e-8) / (1e-6 / 3), 2)  # nothing can be done here
    0.9
    """
    tau = np.geomspace(1e-3, 0.9, 40)[:, None]
    phi = np.geomspace(1e-6, 1, 200) * np.minimum(1, p / (3 * tau**2 * (1 - p)))
    eta, below = _largest_share(p, phi, r), np.hstack([np.zeros_like(tau), phi[:, :-1]])
    bound = (1 - p) * below * tau**2 + p / 3 * np.maximum(0, 1 - eta - tau) ** 3
    return float(min(bound.min(axis=1).max(), p / 3))


@checked(n=ranges.whole(1, 1000), d=ranges.whole(1, 1000), depth=ranges.whole(0, 1000))
def shallow_cells(n: int, d: int, depth: int) -> float:
    """Upper bound on the number of cells of n hyperplanes in d dimensions that lie above `depth` of them or fewer.

    Returns
    -------
    float
        Source: ours, with Clarkson and Shor's sampling and McMullen's upper bound theorem.

    Examples
    --------
    >>> shallow_cells(9, 2, 9)  # all cells
    46.0
    """
    # vertices of a depth in 0, ..., d dimensions by sampling, each hyperplane with probability s; see Theorem D
    s = np.linspace(0.01, 0.99, 99)
    found = 1.0
    for k in range(1, d + 1):
        low = k // 2
        facets = comb(n, low) * s**low + (comb(n, low - 1) * s ** (low - 1) if low else 0)
        vertices = np.min(np.log(2 * facets) - k * np.log(s) - depth * np.log1p(-s))
        found += min(comb(n, k), float(np.exp(min(vertices, 700))))
    return found


@checked(r=ranges.ratio)
def rug_constant(r: ArrayLike) -> NDArray[np.float64]:
    """Limit of the rug's loss divided by p^2 ln(1/p) as p -> 0, (1/r - 1) / 6, in the theory of the text.

    Returns
    -------
    numpy.ndarray
        Shape of `r`. Source: ours. The limit is slow: use `rug_at_small_p` instead at a finite p.

    Examples
    --------
    >>> round(float(rug_constant(0.25)), 6)
    0.5
    """
    # The threshold that keeps off features silent is sqrt(2 ln(1/p)) sigma; a feature that is on loses a quarter of
    # its square, as the gain makes up for the rest; sigma^2 = (p/3)(1/r - 1).
    return (1 / np.asarray(r, float) - 1) / 6


@checked(r=within.antipodal_ratio)
def antipodal_constant(r: ArrayLike) -> NDArray[np.float64]:
    """Limit of the antipodal rug's loss divided by p^2 ln(1/p) as p -> 0, (1/r - 2) / 6: the partner adds no noise.

    Returns
    -------
    numpy.ndarray
        Shape of `r`. Source: ours.

    Examples
    --------
    >>> float(antipodal_constant(0.125))
    1.0
    """
    return (1 / np.asarray(r, float) - 2) / 6


@checked(ranges.together("p", "r"), p=ranges.real(ranges.SMALLEST, 0.01), r=ranges.ratio)
def rug_at_small_p(p: ArrayLike, r: ArrayLike) -> NDArray[np.float64]:
    """Loss of the rug at small p, with the first correction to its logarithm: p sigma^2 (3/2 + z^2 / 4).

    Returns
    -------
    numpy.ndarray
        Of the broadcast shape. Source: ours. Use `superposition.rug.optimum` instead for p above 0.01.

    Examples
    --------
    >>> from superposition import rug
    >>> round(float(rug_at_small_p(1e-8, 0.2) / rug.optimum(1e-8, 0.2).loss), 2)
    1.01
    """
    # Off features leave 2 phi(z) / z^3 sigma^2 at the threshold z, least together with p z^2 / 4.
    p = np.asarray(p, float)
    bare = (4 / (p * np.sqrt(2 * np.pi))) ** (2 / 3) / 3  # phi(z) = p z^3 / 4 is (z^2/3) exp(z^2/3) = this
    z2 = 3 * lambertw(bare).real
    return p**2 / 3 * (1 / np.asarray(r, float) - 1) * (1.5 + z2 / 4)


def _patterns(r: ArrayLike, pi: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Nats a feature in the patterns of outputs that hyperplanes in r dimensions a feature make, a share pi above."""
    # all cells, or those of depth pi: Clarkson and Shor's sampling with the upper bound theorem
    half = np.asarray(r, float) / 2
    shallow = _entropy(half) + (half + pi) * _entropy(half / (half + pi))
    return np.minimum(_entropy(np.minimum(r, 0.5)), shallow)


def _entropy(x):
    return entr(x) + entr(1 - x)


def _largest_share(p, phi, r):
    """Largest eta that needs no more patterns than there are, from above, by bisection."""
    # what they know is convex in eta, how many there are concave, and phi itself fits: one crossing
    low, high = np.minimum(phi, 1), np.ones_like(phi)
    for _ in range(40):
        eta = (low + high) / 2
        fits = _information(p, eta, phi) <= _patterns(r, p * eta + (1 - p) * phi)
        low, high = np.where(fits, eta, low), np.where(fits, high, eta)
    return high


def _information(p, eta, phi):
    pi = p * eta + (1 - p) * phi
    on, off = (rel_entr(share, pi) + rel_entr(1 - share, 1 - pi) for share in (eta, phi))
    return p * on + (1 - p) * off
