"""Layers of ReLUs that read a rug, as an alternative to the iterated Bayes decoder.

Each layer receives y = s + R (x - s), with s the guess of the layer before, and makes the next guess from ReLU(y + z)
and, by a linear path, from y itself. Three scalars are free in each layer: threshold, gain and constant. Source: ours;
the loop is as in `superposition.decoders.ladder`, with another step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import features, minima, ranges
from superposition.checked import checked
from superposition.decoders.ranges import broadcast, finite, of_the_rug
from superposition.moments import floats, moment, ramp_moment
from superposition.rug import meanfield
from superposition.rug.rugs import Rug

if TYPE_CHECKING:
    from superposition.checks import Floats

# over sigma: as far as a feature is above little noise, and a little on the side where everything passes
THRESHOLDS = np.concatenate([-np.geomspace(60, 0.05, 160), np.linspace(-0.04, 1.5, 30)])

ROUNDING = 1e-17  # rounding error of a variance that is a difference: smaller errors are 0


class Step(NamedTuple):
    """The best step at an interference: the ``error`` variance of its guess, and its scalars; ``share`` is tied."""

    error: np.ndarray
    threshold: np.ndarray
    share: np.ndarray
    gain: np.ndarray
    constant: np.ndarray


class Layers(NamedTuple):
    """For each layer, along the last axis: its interference ``sigma``, the ``loss`` of one ReLU there, its step."""

    sigma: np.ndarray
    loss: np.ndarray
    step: Step


@checked(broadcast, p=ranges.probability, r=ranges.real(1e-30, 1), layers=ranges.whole(1, 10_000))
def relu_evolution(p: ArrayLike, r: ArrayLike, layers: int) -> Layers:
    """Losses of one, two and more layers of ReLUs on a rug as ns -> infinity, each with its best three scalars.

    Returns
    -------
    Layers
        ``sigma`` and ``loss``, of the broadcast shape and one more axis for the layers, and the scalars ``step``.

    Notes
    -----
    Source: ours. Use `state_evolution` instead for the best element-wise step, `train_layers` for free weights.

    Examples
    --------
    >>> found = relu_evolution(0.05, 0.2, 4).loss
    >>> (found / found[0]).round(3)
    array([1.   , 0.546, 0.296, 0.154])
    """
    p, r = floats(p, r)
    sigma, found = meanfield.noise_std(p, r), []
    for _ in range(layers):
        step = _best_step(p, sigma)
        found.append((sigma, *step))
        sigma = np.sqrt(step.error * (1 / r - 1))
    sigma, *step = (np.stack(part, axis=-1) for part in zip(*found, strict=True))
    return Layers(sigma, np.asarray(_best_read(p[..., None], sigma)[0]), Step(*step))


def _best_step(p: ArrayLike, sigma: ArrayLike) -> Step:
    """The best step of the form gain (ReLU(y + z) - share y) plus a constant."""
    p, sigma = floats(p, sigma)
    z, error = minima.lowest(lambda *at: _line(*at)[0], THRESHOLDS, (sigma, p))
    _, share, gain, constant = _line(z, sigma, p)
    return Step(error, z * sigma, share, gain, constant)


@checked(p=ranges.one_probability)
def relu_recovery_ratio(p: float) -> float:
    """The ratio above which layers of ReLUs recover every feature of a rug, if there are enough layers.

    Notes
    -----
    Source: ours, by 600 values of sigma. Use `recovery_ratio` instead for the iterated Bayes decoder.

    Examples
    --------
    >>> round(relu_recovery_ratio(0.05), 3)
    0.121
    """
    sigma = np.geomspace(1e-5, 3, 600)  # a ratio r stops at a sigma with error (1 / r - 1) = sigma^2
    error = _best_step(p, sigma).error
    return float(np.max(error / (error + sigma**2)))


def _best_read(p: ArrayLike, sigma: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Loss, gain and threshold of the best ReLU, a ReLU(y + z), at an interference."""
    p, sigma = floats(p, sigma)
    z, loss = minima.lowest(lambda z, sigma, p: meanfield.best_gain(z, sigma, p)[1], THRESHOLDS, (sigma, p))
    return loss, meanfield.best_gain(z, sigma, p)[0], z * sigma


@checked(
    of_the_rug, readout=finite("batch ns"), rug=ranges.instance(Rug), p=ranges.one_probability,
    layers=ranges.whole(1, 10_000),
)  # fmt: skip
def decode_in_layers(readout: NDArray[np.float64], rug: Rug, p: float, layers: int) -> Iterator[NDArray[np.float64]]:
    """Yield the estimates of one, two and more layers of ReLUs, each read out by a ReLU of its own.

    Parameters
    ----------
    readout : array_like, shape (batch, ns)
        R x, which the hidden vectors determine.

    Yields
    ------
    numpy.ndarray, shape (batch, ns)
        Estimates of x.

    Notes
    -----
    Source: ours, with the scalars of `relu_evolution`. Use `decode_rug` instead for the best element-wise step.

    Examples
    --------
    >>> rug, x = Rug(64, 32), features.sample(64, 0.05, 2, seed=0)
    >>> [guess.shape for guess in decode_in_layers(rug.apply(x), rug, 0.05, 2)]
    [(2, 64), (2, 64)]
    """
    plan = relu_evolution(p, rug.nd / rug.ns, layers)
    gains, thresholds = np.array(_best_read(p, plan.sigma)[1:])
    s = np.full_like(readout, float(features.mean(p)))
    for k in range(layers):
        y = s + readout - rug.apply(s)
        yield gains[k] * np.maximum(y + thresholds[k], 0)
        _, threshold, share, gain, constant = (part[k] for part in plan.step)
        s = gain * (np.maximum(y + threshold, 0) - share * y) + constant


def _line(z, sigma, p):
    """Error variance at a threshold of z sigma, with the tied share, the best gain and the constant."""
    at = z * sigma

    def mean(k):
        return (1 - p) * moment(k, at, sigma) + p * ramp_moment(0, k, at, 1.0, sigma)

    first, half, variance = mean(1), features.mean(p), features.variance(p)
    # by Stein's lemma ReLU(y + z) has the covariance share sigma^2 with the noise, and ReLU(y + z) - share y has none
    share, with_x = mean(0), p * ramp_moment(1, 1, at, 1.0, sigma) - half * first
    kept = with_x - share * variance
    spread = mean(2) - first**2 - 2 * share * (with_x + share * sigma**2) + share**2 * (variance + sigma**2)
    gain = np.where(spread > 0, kept / np.where(spread > 0, spread, 1), 0)
    return np.maximum(variance - gain * kept, ROUNDING), share, gain, half - gain * (first - share * half)
