"""The least loss of a decoder: one element-wise step, many steps, and the thresholds.

A decoder sees the hidden vector h = W_in x and knows W_in and the law of x. The ladder begins with the element-wise
Bayes decoder and iterates it: orthogonal or vector approximate message passing, whose loss follows a recursion of one
number, its state evolution. Everything holds for tight frames (rugs) as ns -> infinity.
Source: ours, beyond The Persian Rug, section 5.2.2; the recursion is due to Ma and Ping (2017) and of Rangan,
Schniter and Fletcher (2019) for a projector without noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import features, ranges
from superposition.checked import checked
from superposition.decoders.ranges import (
    finite,
    finite_interference,
    iterations,
    of_the_rug,
    one_rare_probability,
    one_rare_ratio,
    rare_probability,
    rare_ratio,
)
from superposition.moments import floats
from superposition.rug import meanfield
from superposition.rug.bayes import bayes_decoder, bayes_loss
from superposition.rug.rugs import Rug

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.checks import Floats

LEAST_NOISE = 1e-9  # below it, rounding errors of y would be taken for features
FLATTEST = 1e-6  # least diagonal of the projector; a feature that is written nowhere has 0


def _read_from(hidden, W_in):
    """Refuse hidden vectors that do not fit the encoder."""
    if hidden.shape[-1] != len(W_in):
        raise ValueError(f"hidden has shape {hidden.shape}; allowed: (..., {len(W_in)})")


@dataclass(frozen=True)
class Evolution:
    """Interference ``sigma`` before each iteration and ``loss`` after it, shape (..., iterations).

    Examples
    --------
    >>> state_evolution(0.05, 0.2, 3).sigma.round(3)
    array([0.253, 0.179, 0.124])
    """

    sigma: np.ndarray
    loss: np.ndarray


@checked(finite_interference, p=rare_probability, r=rare_ratio, iterations=iterations)
def state_evolution(p: ArrayLike, r: ArrayLike, iterations: int) -> Evolution:
    """Loss of the iterated Bayes decoder on a rug, as ns -> infinity.

    Returns
    -------
    Evolution
        Fields ``sigma`` and ``loss``, of the broadcast shape and one more axis for the iterations.

    Notes
    -----
    Source: Ma and Ping (2017), section IV, for a projector without noise: v = `superposition.rug.bayes_loss` (p,
    sigma), tau = 1 / (1 / v - 1 / sigma^2), next sigma^2 = tau (1 / r - 1), from tau = Var[x]. Use `decode_rug` instead
    to decode vectors, `pair_evolution` for antipodal rugs and `relu_evolution` for layers of ReLUs.

    Examples
    --------
    >>> (state_evolution(0.05, 0.2, 4).loss / 0.007427).round(3)  # in units of the best ReLU
    array([0.956, 0.465, 0.202, 0.077])
    """
    p, r = floats(p, r)
    sigma, found = meanfield.noise_std(p, r), []
    for _ in range(iterations):
        v = bayes_loss(p, sigma)
        found.append((sigma, v))
        sigma = np.sqrt(extrinsic(v, sigma) * (1 - r) / r)
    return Evolution(*(np.stack(part, axis=-1) for part in zip(*found, strict=True)))


def extrinsic(v: ArrayLike, sigma: ArrayLike) -> Floats:
    """Variance of the extrinsic message of a Bayes decoder: 1 / (1 / v - 1 / sigma^2), 0 at sigma = 0."""
    v, sigma = floats(v, sigma)
    gain = sigma**2 - v
    if np.any((gain <= 0) & (v > 0)):
        raise ValueError(f"v = {v[(gain <= 0) & (v > 0)].flat[0]:g} is out of range; allowed: [0, sigma^2)")
    return np.where(v > 0, v * (sigma**2 / np.where(v > 0, gain, 1)), 0.0)[()]


@checked(p=rare_probability)
def recovery_ratio(p: ArrayLike) -> Floats:
    """The ratio above which the iterated Bayes decoder recovers every feature of a rug, as ns -> infinity.

    Returns
    -------
    numpy.ndarray
        max over sigma of `superposition.rug.bayes_loss` (p, sigma) / sigma^2, between p and 1.

    Notes
    -----
    Source: Donoho, Maleki and Montanari (2009) for the argument. As p -> 0 it is 2/3 p ln(1/p). Use
    `relu_recovery_ratio` instead for layers of ReLUs.

    Examples
    --------
    >>> float(recovery_ratio(0.05).round(4))
    0.1122
    """
    # a fixed point of `state_evolution` is a sigma with bayes_loss = r sigma^2, and all of them lie below its start
    return _hardest(np.asarray(p, float))[0]


@checked(finite_interference, p=one_rare_probability, r=one_rare_ratio)
def final_loss(p: float, r: float) -> float:
    """The loss at which `state_evolution` ends after any number of iterations.

    Returns
    -------
    float
        r sigma^2 at the largest sigma with bayes_loss = r sigma^2; 0 above `recovery_ratio`.

    Notes
    -----
    Source: ours; the last fixed point of `state_evolution` below its start. Use `state_evolution` instead for the loss
    after a few iterations.

    Examples
    --------
    >>> round(final_loss(0.05, 0.1) / 0.01222, 2), final_loss(0.05, 0.2)  # in units of the best ReLU
    (0.8, 0.0)
    """
    from scipy.optimize import brentq

    ratio, hardest = _hardest(np.asarray(p, float))
    if r > ratio or r == 1:
        return 0.0

    def excess(log_sigma):
        return bayes_loss(p, np.exp(log_sigma)) / np.exp(2 * log_sigma) - r

    start = np.log(meanfield.noise_std(p, r))  # no fixed point lies above; between the two the share only falls
    place = brentq(excess, hardest, start, xtol=1e-13) if excess(hardest) > 0 else hardest
    return float(r * np.exp(2 * place))


@checked(
    _read_from, hidden=finite("... nd"), W_in=ranges.array("nd ns"), p=ranges.one_probability, iterations=iterations
)
def decode(hidden: ArrayLike, W_in: ArrayLike, p: float, *, iterations: int = 20) -> Float[np.ndarray, "... ns"]:
    """Estimate feature vectors from hidden vectors by the iterated Bayes decoder.

    Parameters
    ----------
    hidden : array_like, shape (..., nd)
        Hidden vectors W_in x, without noise or bias.
    W_in : array_like, shape (nd, ns)
        Encoder. Only its row space counts; the decoder is best where that is a tight frame without coherence (a rug),
        and only an approximation where features share directions.
    iterations : int
        From 1 to 100,000; the first is the element-wise Bayes decoder. A vector whose own estimate of its error has
        stopped falling keeps its best.

    Returns
    -------
    numpy.ndarray, shape (..., ns)
        Posterior means, in [0, 1].

    Notes
    -----
    Source: Ma and Ping (2017); Rangan, Schniter and Fletcher (2019). Use `decode_rug` instead for rugs, which it reads
    by fast transforms.

    Examples
    --------
    >>> from superposition.features import sample
    >>> x = sample(400, 0.05, 20, seed=0)
    >>> W_in = np.random.default_rng(1).standard_normal((160, 400))
    >>> bool(np.mean((decode(x @ W_in.T, W_in, 0.05) - x) ** 2) < 1e-6)
    True
    """
    W_in, hidden = np.asarray(W_in, float), np.asarray(hidden, float)
    inverse = np.linalg.pinv(W_in)
    P = inverse @ W_in
    diagonal = np.clip(np.diag(P), FLATTEST, 1)
    R = P / diagonal[:, None]
    readout = (hidden @ inverse.T).reshape(-1, W_in.shape[1]) / diagonal
    steps = _steps_to_x(readout, lambda v: v @ R.T, diagonal, p, iterations)
    return _last(steps).reshape(*hidden.shape[:-1], W_in.shape[1])


@checked(
    of_the_rug, readout=finite("batch ns"), rug=ranges.instance(Rug), p=ranges.one_probability, iterations=iterations
)
def decode_rug(readout: ArrayLike, rug: Rug, p: float, *, iterations: int = 20) -> Iterator[np.ndarray]:
    """Iterate over the estimates of the Bayes decoder on a rug, one after each iteration.

    Parameters
    ----------
    readout : array_like, shape (batch, ns)
        R x, which the hidden vectors determine.
    rug : superposition.rug.Rug
        The matrix R.

    Returns
    -------
    iterator of numpy.ndarray, shape (batch, ns)
        Posterior means; the same memory each time.

    Notes
    -----
    Source: as `decode`, at a cost of two fast transforms an iteration. Use `decode_antipodal` instead on antipodal
    rugs, and `state_evolution` for the mean loss of large rugs.

    Examples
    --------
    >>> from superposition.features import sample
    >>> rug, x = Rug(4096, 1229), sample(4096, 0.05, 4, seed=0)
    >>> losses = [np.mean((estimate - x) ** 2) for estimate in decode_rug(rug.apply(x), rug, 0.05, iterations=4)]
    >>> [f"{loss:.0e}" for loss in losses]
    ['4e-03', '9e-04', '2e-04', '3e-05']
    """
    return _steps_to_x(readout, rug.apply, np.full(1, rug.nd / rug.ns), p, iterations)


def iterates(
    readout: np.ndarray, apply: Callable[[np.ndarray], np.ndarray], diagonal: np.ndarray,
    denoise: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]], prior: tuple[float, float],
    iterations: int,
) -> Iterator[np.ndarray]:  # fmt: skip
    """Iterate any element-wise posterior on R x (batch, n), R = D^-1 P a projector divided by its diagonal."""
    # ``denoise(y, sigma)`` gives posterior mean and variance of y = x + sigma Z; ``prior`` is both before anything is
    # seen. The estimates are the same memory each time.
    s, tau = np.full_like(readout, prior[0]), np.full((len(readout), 1), prior[1])
    estimate, doubt = s.copy(), np.full((len(readout), 1), np.inf)
    for k in range(iterations):
        rest = readout - apply(s)
        if k:  # the part of the error of s that the hidden vector shows is a fair sample of the whole error
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
    """The iterates with the step for the features themselves."""
    prior = float(features.mean(p)), float(features.variance(p))
    return iterates(readout, apply, diagonal, lambda y, sigma: bayes_decoder(y, sigma, p), prior, iterations)  # pyrefly: ignore[bad-argument-type]: arrays


def _last(steps):
    """The last estimate."""
    for estimate in steps:
        last = estimate
    return last  # pyrefly: ignore[unbound-name]: at least one
