"""JumpReLU outputs: a threshold in addition to gain and bias.

Source: our answer to The Persian Rug, abstract and section 5.2.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import features, minima, ranges
from superposition.checked import checked
from superposition.moments import floats, moment, ramp_moment
from superposition.rug.meanfield import loss, noise_std, optimum

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class JumpOptimum:
    """The best gain ``a``, bias ``b`` and threshold ``theta`` at the smallest ``sigma``, and their ``loss``.

    Examples
    --------
    >>> best = jumprelu_optimum(p=0.05, r=0.2)
    >>> float(best.theta)  # no jump helps here: it is the ReLU
    0.0
    """

    a: np.ndarray
    b: np.ndarray
    theta: np.ndarray
    sigma: np.ndarray
    loss: np.ndarray


@checked(ranges.together("p", "r"), p=ranges.probability, r=ranges.ratio)
def jumprelu_optimum(p: ArrayLike, r: ArrayLike) -> JumpOptimum:
    """Gain, bias and threshold that minimise the loss of a JumpReLU at the smallest interference.

    The output is the pre-activation ``y = a (x + nu) + b`` where it exceeds ``theta``, and 0 elsewhere;
    ``theta = 0`` is the ReLU.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1]; tested for 1e-12 <= p <= 1, refused below 1e-30.
    r : array_like
        Compression ratio nd / ns, in (0, 1]; r = 1 is sigma = 0, solved exactly.

    Returns
    -------
    JumpOptimum
        Fields ``a``, ``b``, ``theta``, ``sigma``, ``loss``, each of the broadcast shape. Where no jump helps, the
        optimum is the ReLU of `optimum`, with ``theta`` 0.

    Notes
    -----
    Source: our answer to The Persian Rug, abstract and section 5.2.1 ("gating"), which rule out a gain.

    Examples
    --------
    >>> best = jumprelu_optimum(p=0.001, r=0.2)
    >>> round(float(best.a), 3), round(float(best.theta), 4), round(float(best.loss * 1e5), 4)
    (1.0, 0.1538, 0.2844)
    """
    # at a fixed place of the jump gain and height are a linear regression, so the search runs along one line
    p, r = floats(p, r)
    sigma = noise_std(p, r)
    noisy = np.where(sigma > 0, sigma, 1.0)
    jump, _ = minima.lowest(lambda *at: _jump_profile(*at)[2], _JUMPS, (noisy, p))
    a, theta, lowest = _jump_profile(jump, noisy, p)
    relu = optimum(p, r)
    helps = lowest < relu.loss * (1 - 1e-9)
    with_jump, without = (a, theta - a * jump * noisy, theta, lowest), (relu.a, relu.b, 0.0, relu.loss)
    a, b, theta, lowest = (np.where(helps, f, g)[()] for f, g in zip(with_jump, without, strict=True))
    return JumpOptimum(a, b, theta, sigma[()], lowest)  # pyrefly: ignore  # the four of the zip


_JUMPS = np.concatenate([-np.geomspace(12, 0.05, 40), np.linspace(-0.04, 0.04, 5), np.geomspace(0.05, 40, 100)])


def _jump_profile(z, sigma, p):
    """Best gain and height of a decoder that jumps at x + nu = z sigma, and the loss there."""
    z, sigma, p = np.broadcast_arrays(z, sigma, p)
    place, one = z * sigma, np.ones_like(sigma)

    def ramp(j, k):
        return ramp_moment.unchecked(j, k, -place, one, sigma)

    passed = (1 - p) * moment.unchecked(0, -place, sigma) + p * ramp(0, 0)
    alive = passed > 1e-290
    share = np.where(alive, passed, 1)
    mean = (
        (1 - p) * moment.unchecked(1, -place, sigma) + p * ramp(0, 1)
    ) / share  # of what lies above the jump, once passed
    power = ((1 - p) * moment.unchecked(2, -place, sigma) + p * ramp(0, 2)) / share
    alive = alive & (power > mean**2)
    overlap = p * (ramp(1, 1) / share - ramp(1, 0) / share * mean)
    a = np.where(alive, overlap / np.where(alive, power - mean**2, 1), 1.0)
    alive = alive & (a > 0)
    a = np.where(alive, a, 1.0)
    missing = p * _missing_at_the_jump(a, place, sigma) - a * (1 - p) * moment.unchecked(1, -place, sigma)
    value = loss.unchecked(a, -a * place, sigma, p) - missing * (missing / share)
    return a, np.where(alive, missing / share, 0), np.where(alive, value, features.second_moment.unchecked(p))


def _missing_at_the_jump(a, place, sigma):
    """E[u - a ReLU(u + nu - place)] over those above the jump: how much higher the output should be."""
    direct = ramp_moment.unchecked(1, 0, -place, np.ones_like(a), sigma) - a * ramp_moment.unchecked(
        0, 1, -place, np.ones_like(a), sigma
    )
    below = ramp_moment.unchecked(1, 0, place, -np.ones_like(a), sigma) + a * ramp_moment.unchecked(
        0, 1, place, -np.ones_like(a), sigma
    )
    return np.where(place < 0.5, (1 - a) / 2 + a * place - below, direct)
