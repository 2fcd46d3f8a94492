"""The bounds of The Persian Rug, Appendices B and D, each with its sharp constant.

Appendix B bounds the loss of a ReLU with gain 1 and bias -t sigma from above, Appendix D that of any function of the
pre-activation from below: by the error of one who is told which features are on. Interference is Gaussian throughout.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erf, log_ndtr, ndtr

from superposition.rug import bayes, meanfield, moments

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from superposition.checks import Floats

INSIDE_FLOOR = erf(2**-0.5)  # chance that a normal variable is within one standard deviation
INSIDE_VARIANCE = 1 - 2 * np.exp(-0.5) / np.sqrt(2 * np.pi) / INSIDE_FLOOR  # and its variance there
PROOF_CONSTANT = INSIDE_FLOOR * INSIDE_VARIANCE  # the C of eq. 29 that the text's proof gives


@dataclass(frozen=True)
class OnTerms:
    """Parts of the error of features that are on: ``total = relu + noise``, ``relu = mean + tail``."""

    total: np.ndarray
    relu: np.ndarray
    noise: np.ndarray
    mean: np.ndarray
    tail: np.ndarray


def on_terms(t: ArrayLike, sigma: ArrayLike) -> OnTerms:
    """The on term of Appendix B and its parts, at gain 1 and bias -t sigma, for t in [0, 30], sigma in [1e-6, 1]."""
    # `relu` is the text's E_r (features cut off), `noise` its E_nu, `mean` and `tail` the parts of E_r with u below and
    # above 2 t sigma; without the stray factor sigma^2 of the Appendix's first line
    t, sigma = moments.floats(t, sigma)
    split = np.minimum(2 * t * sigma, 1)

    def cut(u):
        return u**2 * ndtr(t[..., None] - u / sigma[..., None])

    def blur(u):
        low, shift = t[..., None] - u / sigma[..., None], t[..., None]
        density = np.exp(-(low**2) / 2) / np.sqrt(2 * np.pi)
        return sigma[..., None] ** 2 * ((1 + shift**2) * ndtr(-low) + (low - 2 * shift) * density)

    mean, tail = _integral(cut, 0 * split, split, t, sigma), _integral(cut, split, 0 * split + 1, t, sigma)
    noise = _integral(blur, 0 * split, 0 * split + 1, t, sigma)
    return OnTerms(mean + tail + noise, mean + tail, noise, mean, tail)


def on_bounds(t: ArrayLike, sigma: ArrayLike) -> OnTerms:
    """What Appendix B proves about each part, with every O(...) written out; 2 t sigma < 1."""
    t, sigma = moments.floats(t, sigma)
    mu = t * sigma
    noise, mean = sigma**2 + mu**2, (2 * mu) ** 3 / 3
    # Phi(-t) <= exp(-t^2 / 2) / 2 with the best constant; at 2 mu >= 1 the text's interval for the tail is empty
    tail = (1 - 2 * mu) * np.exp(-(t**2) / 2) / 2
    return OnTerms(noise + mean + tail, mean + tail, noise, mean, tail)


def cut_off_error(t: ArrayLike, sigma: ArrayLike) -> Floats:
    """The sharp form of E_r: sigma^3 E[ReLU(Z + t)^3] / 3, the integral of u^2 Phi(t - u / sigma) over u > 0 (ours)."""
    # reached up to exponentially small terms when sigma (t + 4) < 1; sigma^3 (t^3 + 3 t) / 3 for large t
    t, sigma = moments.floats(t, sigma)
    return sigma**3 * moments.moment(3, t, 1.0) / 3


def upper_bound(p: ArrayLike, t: ArrayLike, sigma: ArrayLike) -> Floats:
    """Appendix B put together: (1 - p) sigma^2 exp(-t^2/2) / 2 + p times the total of `on_bounds` (eq. 11)."""
    p, t, sigma = moments.floats(p, t, sigma)
    return (1 - p) * sigma**2 * np.exp(-(t**2) / 2) / 2 + p * on_bounds(t, sigma).total


def mmse(sigma: ArrayLike) -> Floats:
    """Smallest mean squared error of u ~ U[0, 1] seen through Gaussian noise, E Var(u | u + nu) (eq. 23, eq. 24)."""
    return bayes.bayes_loss(1.0, sigma)


@cache
def mmse_slope() -> float:
    """The c in mmse = sigma^2 (1 - c sigma): 2 times the integral of phi(z)^2 / Phi(z), 1.8064 (ours)."""
    # from mmse = sigma^2 - sigma^4 J with J the Fisher information of u + nu; it is what the ends of [0, 1] give away
    z, weights = moments.gauss_legendre(200)
    z = -15 + 30 * z
    return float(2 * 30 * np.sum(weights * np.exp(-(z**2) - log_ndtr(z)) / (2 * np.pi)))


def lower_bound(p: ArrayLike, r: ArrayLike) -> Floats:
    """Loss below which no function of the pre-activation gets, p mmse(sigma) (eq. 31 with its best constant)."""
    return np.asarray(p, float) * mmse(meanfield.noise_std(p, r))


def posterior_mean(y: ArrayLike, sigma: ArrayLike) -> Floats:
    """Mean of u given u + nu = y: what the best decoder says of a feature that is on (the f* of Appendix D)."""
    return bayes.uniform_posterior(*moments.floats(y, sigma))[1]


def posterior_variance(y: ArrayLike, sigma: ArrayLike) -> Floats:
    """Variance of u given u + nu = y: that of a normal variable cut to [0, 1] (eq. 26)."""
    return bayes.uniform_posterior(*moments.floats(y, sigma))[2]


def inside_probability(y: ArrayLike, sigma: ArrayLike) -> Floats:
    """Chance that u is within one sigma of y in [0, 1], given u + nu = y: P[R = 1] of eq. 27 and eq. 28."""
    y, sigma = moments.floats(y, sigma)
    low, high = np.minimum(y / sigma, 1), np.minimum((1 - y) / sigma, 1)
    return (ndtr(high) - ndtr(-low)) / (ndtr((1 - y) / sigma) - ndtr(-y / sigma))


def window_probability(sigma: ArrayLike) -> Floats:
    """Chance that y = u + nu falls into [sigma, 1 - sigma], sigma up to 1/2 (eq. 30; the closed form is ours)."""
    sigma = np.asarray(sigma, float)

    def below(y):  # P(u + nu < y): the integral of Phi((y - u) / sigma)
        return moments.moment(1, y, sigma) - moments.moment(1, y - 1, sigma)

    return below(1 - sigma) - below(sigma)


def window_constant(sigma: ArrayLike) -> Floats:
    """The best C in Var[u | y] >= C sigma^2 for y in [sigma, 1 - sigma] (eq. 29; its proof: `PROOF_CONSTANT`)."""
    # reached at the ends of the window, where the posterior is cut off most
    return posterior_variance(sigma, sigma) / np.square(sigma)


def _integral(function, low, high, t, sigma) -> np.ndarray:
    """Over u from low to high, cut where the integrand turns: within 12 sigma of t sigma."""
    nodes, weights = moments.gauss_legendre(80)
    marks = [low, *(np.clip((t + step) * sigma, low, high) for step in (-12, -4, 0, 4, 12)), high]
    total = 0.0
    for left, right in zip(marks[:-1], marks[1:], strict=True):
        width = (right - left)[..., None]
        total = total + np.sum(width * weights * function(left[..., None] + width * nodes), axis=-1)
    return total  # pyrefly: ignore[bad-return]: of arrays
