"""How far any decoder can go: one element-wise step, many of them, and the thresholds.

A decoder sees the hidden vector h = W_in x and knows W_in and the law of x. The ladder begins with the element-wise
Bayes decoder and iterates it: orthogonal or vector approximate message passing, whose loss follows a recursion of one
number, its state evolution. Everything holds for tight frames (rugs) as ns -> infinity.
Source: ours, beyond The Persian Rug, section 5.2.2; the recursion is that of Ma and Ping (2017) and of Rangan,
Schniter and Fletcher (2019) for a projector without noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import features
from superposition.moments import floats
from superposition.rug import meanfield
from superposition.rug.bayes import bayes_decoder, bayes_loss

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.checks import Floats
    from superposition.rug.rugs import Rug

LEAST_NOISE = 1e-9  # below it, rounding errors of y would be taken for features
FLATTEST = 1e-6  # least diagonal of the projector; a feature that is written nowhere has 0


@dataclass(frozen=True)
class Evolution:
    """Interference ``sigma`` that each iteration meets and ``loss`` that it leaves, shape (..., iterations).

    Examples
    --------
    >>> state_evolution(0.05, 0.2, 3).sigma.round(3)
    array([0.253, 0.179, 0.124])
    """

    sigma: np.ndarray
    loss: np.ndarray


def state_evolution(p: ArrayLike, r: ArrayLike, iterations: int) -> Evolution:
    """Loss of the iterated Bayes decoder on a rug, as ns -> infinity (Ma and Ping 2017, section IV, without noise)."""
    p, r = floats(p, r)
    sigma, found = meanfield.noise_std(p, r), []
    for _ in range(iterations):
        v = bayes_loss(p, sigma)
        found.append((sigma, v))
        sigma = np.sqrt(extrinsic(v, sigma) * (1 - r) / r)
    return Evolution(*(np.stack(part, axis=-1) for part in zip(*found, strict=True)))


def extrinsic(v: ArrayLike, sigma: ArrayLike) -> Floats:
    """Variance of what a Bayes decoder adds to its input: 1 / (1 / v - 1 / sigma^2), 0 at sigma = 0."""
    v, sigma = floats(v, sigma)
    gain = sigma**2 - v
    if np.any((gain <= 0) & (v > 0)):
        raise ValueError(f"v = {v[(gain <= 0) & (v > 0)].flat[0]:g} is out of range; allowed: [0, sigma^2)")
    return np.where(v > 0, v * (sigma**2 / np.where(v > 0, gain, 1)), 0.0)[()]


def recovery_ratio(p: ArrayLike) -> Floats:
    """The ratio above which the iterated Bayes decoder recovers every feature of a rug, as ns -> infinity."""
    # a fixed point of `state_evolution` is a sigma with bayes_loss = r sigma^2, and all of them lie below its start
    return _hardest(np.asarray(p, float))[0]


def final_loss(p: float, r: float) -> float:
    """Where `state_evolution` ends: what no number of iterations takes away from a rug."""
    from scipy.optimize import brentq

    ratio, hardest = _hardest(np.asarray(p, float))
    if r > ratio:
        return 0.0

    def excess(log_sigma):
        return bayes_loss(p, np.exp(log_sigma)) / np.exp(2 * log_sigma) - r

    start = np.log(meanfield.noise_std(p, r))  # no fixed point lies above; between the two the share only falls
    place = brentq(excess, hardest, start, xtol=1e-13) if excess(hardest) > 0 else hardest
    return float(r * np.exp(2 * place))


def decode(hidden: ArrayLike, W_in: ArrayLike, p: float, *, iterations: int = 20) -> Float[np.ndarray, "... ns"]:
    """Estimate feature vectors (..., ns) from hidden vectors (..., nd) by the iterated Bayes decoder."""
    W_in, hidden = np.asarray(W_in, float), np.asarray(hidden, float)
    inverse = np.linalg.pinv(W_in)
    P = inverse @ W_in
    diagonal = np.clip(np.diag(P), FLATTEST, 1)
    R = P / diagonal[:, None]
    readout = (hidden @ inverse.T).reshape(-1, W_in.shape[1]) / diagonal
    steps = _steps_to_x(readout, lambda v: v @ R.T, diagonal, p, iterations)
    return _last(steps).reshape(*hidden.shape[:-1], W_in.shape[1])


def decode_rug(readout: ArrayLike, rug: Rug, p: float, *, iterations: int = 20) -> Iterator[np.ndarray]:
    """Give the estimates (batch, ns) of the iterated Bayes decoder on a rug, one after each iteration."""
    return _steps_to_x(readout, rug.apply, np.full(1, rug.nd / rug.ns), p, iterations)


def iterates(
    readout: np.ndarray,
    apply: Callable[[np.ndarray], np.ndarray],
    diagonal: np.ndarray,
    denoise: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
    prior: tuple[float, float],
    iterations: int,
) -> Iterator[np.ndarray]:
    """Iterate any element-wise posterior on R x (batch, n), R = D^-1 P a projector divided by its diagonal."""
    # ``denoise(y, sigma)`` gives posterior mean and variance of y = x + sigma Z; ``prior`` is both before anything is
    # seen. The estimates are the same memory each time.
    s, tau = np.full_like(readout, prior[0]), np.full((len(readout), 1), prior[1])
    estimate, doubt = s.copy(), np.full((len(readout), 1), np.inf)
    for k in range(iterations):
        rest = readout - apply(s)
        if k:  # the error of s that the hidden vector shows is a fair sample of all of it
            tau = np.mean((diagonal * rest) ** 2, axis=1, keepdims=True) / diagonal.mean()
        sigma = np.maximum(np.sqrt(tau * (1 / diagonal - 1)), LEAST_NOISE)
        y = s + rest
        mean, variance = denoise(y, sigma)
        v = variance.mean(axis=1, keepdims=True)
        better = v < doubt
        estimate[:], doubt = np.where(better, mean, estimate), np.where(better, v, doubt)
        yield estimate
        slope = np.minimum(np.mean(variance / sigma**2, axis=1, keepdims=True), 0.999)
        s = np.where(better, (mean - slope * y) / (1 - slope), s)


def _hardest(p):
    """The largest share bayes_loss / sigma^2, and the logarithm of the sigma that has it."""
    from scipy.optimize.elementwise import find_minimum

    def share(log_sigma, p):
        return -bayes_loss(p, np.exp(log_sigma)) * np.exp(-2 * log_sigma)

    grid = np.linspace(np.log(1e-6), np.log(3), 120)
    middle = np.clip(np.argmin(share(grid, p[..., None]), axis=-1), 1, grid.size - 2)
    found = find_minimum(share, tuple(grid[middle + step] for step in (-1, 0, 1)), args=(p,))
    place = np.where(found.success, found.x, grid[middle - 1])  # at p = 1 it rises to the end of the grid
    return np.clip(-share(place, p), p, 1)[()], place[()]


def _steps_to_x(readout, apply, diagonal, p, iterations):
    """The iterates for the features themselves."""
    prior = float(features.mean(p)), float(features.variance(p))
    return iterates(readout, apply, diagonal, lambda y, sigma: bayes_decoder(y, sigma, p), prior, iterations)  # pyrefly: ignore[bad-argument-type]: arrays


def _last(steps):
    for estimate in steps:
        last = estimate
    return last  # pyrefly: ignore[unbound-name]: at least one
