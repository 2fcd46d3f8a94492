"""The bounds of The Persian Rug, Appendices B and D, each with its sharp constant.

Appendix B bounds the loss of a ReLU with gain 1 and bias -t sigma from above, Appendix D that of any function of the
pre-activation from below: by the error of a decoder that knows which features are on. Interference is Gaussian
throughout.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erf, log_ndtr, ndtr

from superposition import moments, ranges
from superposition.checked import checked
from superposition.rug import bayes, meanfield
from superposition.rug.ranges import LARGEST, biases, positive_spreads, rare, seen, separate, spreads

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


@checked(ranges.together("t", "sigma"), t=ranges.real(0, 30), sigma=ranges.real(1e-6, 1))
def on_terms(t: ArrayLike, sigma: ArrayLike) -> OnTerms:
    """On term of Appendix B at gain 1 and bias -t sigma, and its parts.

    Returns
    -------
    OnTerms
        ``relu`` is the text's E_r (features cut off), ``noise`` its E_nu; ``mean`` and ``tail`` are the
        parts of E_r with u below and above 2 t sigma. Each has the broadcast shape.

    Notes
    -----
    Source: The Persian Rug, Appendix B, without the stray factor sigma^2 of its first line.

    Examples
    --------
    >>> float(on_terms(t=2.0, sigma=0.05).total.round(6))
    0.011333
    """
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


@checked(separate, t=ranges.real(0, 30), sigma=ranges.real(0, 1))
def on_term_bounds(t: ArrayLike, sigma: ArrayLike) -> OnTerms:
    """Bounds of Appendix B on each part of `on_terms`, with every O(...) written out, for 2 t sigma < 1.

    Returns
    -------
    OnTerms
        Each field has the broadcast shape.

    Notes
    -----
    Source: The Persian Rug, Appendix B; at 2 t sigma >= 1 the text's interval for the tail is empty.

    Examples
    --------
    >>> float(on_term_bounds(t=2.0, sigma=0.05).total.round(6))
    0.069301
    """
    t, sigma = moments.floats(t, sigma)
    mu = t * sigma
    noise, mean = sigma**2 + mu**2, (2 * mu) ** 3 / 3
    # Phi(-t) <= exp(-t^2 / 2) / 2 with the best constant; at 2 mu >= 1 the text's interval for the tail is empty
    tail = (1 - 2 * mu) * np.exp(-(t**2) / 2) / 2
    return OnTerms(noise + mean + tail, mean + tail, noise, mean, tail)


@checked(ranges.together("t", "sigma"), t=ranges.real(0, LARGEST), sigma=ranges.real(0, 1))
def cut_off_error(t: ArrayLike, sigma: ArrayLike) -> Floats:
    """Sharp form of E_r in Appendix B, sigma^3 E[ReLU(Z + t)^3] / 3, the integral of u^2 Phi(t - u / sigma) over u > 0.

    Notes
    -----
    Source: ours. The error of a cut-off feature reaches it up to exponentially small terms where sigma (t + 4) < 1;
    `on_terms` has the error itself.

    Examples
    --------
    >>> float(cut_off_error(t=2.0, sigma=0.05).round(6))
    0.000584
    """
    # reached up to exponentially small terms when sigma (t + 4) < 1; sigma^3 (t^3 + 3 t) / 3 for large t
    t, sigma = moments.floats(t, sigma)
    return sigma**3 * moments.moment(3, t, 1.0) / 3


@checked(
    separate, ranges.together("p", "t", "sigma"), p=ranges.probability, t=ranges.real(0, 30), sigma=ranges.real(0, 1),
)  # fmt: skip
def loss_upper_bound(p: ArrayLike, t: ArrayLike, sigma: ArrayLike) -> Floats:
    """Upper bound on the loss of a ReLU with gain 1 and bias -t sigma, for 2 t sigma < 1; the broadcast shape.

    Notes
    -----
    Source: The Persian Rug, Appendix B and eq. 11: (1 - p) sigma^2 exp(-t^2/2) / 2 + p times the total of
    `on_term_bounds`. Use `loss` instead for the loss itself.

    Examples
    --------
    >>> float(loss_upper_bound(p=0.001, t=3.0, sigma=0.05).round(8))
    5.176e-05
    """
    p, t, sigma = moments.floats(p, t, sigma)
    return (1 - p) * sigma**2 * np.exp(-(t**2) / 2) / 2 + p * on_term_bounds(t, sigma).total


@checked(sigma=spreads)
def mmse(sigma: ArrayLike) -> Floats:
    """Smallest mean squared error of u ~ U[0, 1] seen through Gaussian noise, E Var(u | u + nu); shape of sigma.

    Notes
    -----
    Source: The Persian Rug, eq. 23 and eq. 24. Use `bayes_loss` instead where the feature may be off.

    Examples
    --------
    >>> float(mmse(0.1).round(6))
    0.008194
    """
    return bayes.bayes_loss(1.0, sigma)


@cache
def mmse_slope() -> float:
    """The c in mmse = sigma^2 (1 - c sigma): 2 times the integral of phi(z)^2 / Phi(z).

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> round(mmse_slope(), 4)
    1.8064
    """
    # from mmse = sigma^2 - sigma^4 J with J the Fisher information of u + nu; it is what the ends of [0, 1] give away
    z, weights = moments.gauss_legendre(200)
    z = -15 + 30 * z
    return float(2 * 30 * np.sum(weights * np.exp(-(z**2) - log_ndtr(z)) / (2 * np.pi)))


@checked(ranges.together("p", "r"), p=rare, r=ranges.ratio)
def loss_lower_bound(p: ArrayLike, r: ArrayLike) -> Floats:
    """Lower bound p mmse(sigma) on the loss of any function of the pre-activation; the broadcast shape.

    Notes
    -----
    Source: The Persian Rug, eq. 31 with its best constant. Use `bayes_loss` instead for the least loss itself.

    Examples
    --------
    >>> float(loss_lower_bound(p=0.05, r=0.2).round(6))
    0.00175
    """
    return np.asarray(p, float) * mmse(meanfield.noise_std(p, r))


@checked(seen, y=biases, sigma=positive_spreads)
def posterior_mean(y: ArrayLike, sigma: ArrayLike) -> Floats:
    """Mean of u ~ U[0, 1] given u + nu = y, shape of the broadcast arguments.

    Notes
    -----
    Source: The Persian Rug, the f* of Appendix D. Use `bayes_decoder` instead where the feature may be off.

    Examples
    --------
    >>> float(posterior_mean(0.2, sigma=0.1).round(4))
    0.2055
    """
    return bayes.uniform_posterior(*moments.floats(y, sigma))[1]


@checked(seen, y=biases, sigma=positive_spreads)
def posterior_variance(y: ArrayLike, sigma: ArrayLike) -> Floats:
    """Variance of u ~ U[0, 1] given u + nu = y, shape of the broadcast arguments.

    Notes
    -----
    Source: The Persian Rug, eq. 26: the variance of a normal variable cut to [0, 1]. Use `bayes_decoder` instead where
    the feature may be off.

    Examples
    --------
    >>> float(posterior_variance(0.2, sigma=0.1).round(6))
    0.008865
    """
    return bayes.uniform_posterior(*moments.floats(y, sigma))[2]


@checked(ranges.together("y", "sigma"), y=ranges.real(0, 1), sigma=ranges.real(1e-30, 1))
def inside_probability(y: ArrayLike, sigma: ArrayLike) -> Floats:
    """Probability that u is within one sigma of y in [0, 1], given u + nu = y; shape of the broadcast arguments.

    Notes
    -----
    Source: The Persian Rug, P[R = 1] of eq. 27 and eq. 28; at least `INSIDE_FLOOR` for y in [sigma, 1 - sigma].

    Examples
    --------
    >>> float(inside_probability(0.5, sigma=0.1).round(4))
    0.6827
    """
    y, sigma = moments.floats(y, sigma)
    low, high = np.minimum(y / sigma, 1), np.minimum((1 - y) / sigma, 1)
    return (ndtr(high) - ndtr(-low)) / (ndtr((1 - y) / sigma) - ndtr(-y / sigma))


@checked(sigma=ranges.real(1e-30, 0.5))
def window_probability(sigma: ArrayLike) -> Floats:
    """Probability that y = u + nu falls into [sigma, 1 - sigma], for sigma up to 1/2; shape of sigma.

    Notes
    -----
    Source: The Persian Rug, eq. 30; the closed form is ours.

    Examples
    --------
    >>> float(window_probability(0.25).round(5))
    0.45853
    """
    sigma = np.asarray(sigma, float)

    def below(y):  # P(u + nu < y): the integral of Phi((y - u) / sigma)
        return moments.moment(1, y, sigma) - moments.moment(1, y - 1, sigma)

    return below(1 - sigma) - below(sigma)


@checked(sigma=ranges.real(1e-30, 0.5))
def window_constant(sigma: ArrayLike) -> Floats:
    """Best C in Var[u | y] >= C sigma^2 for y in [sigma, 1 - sigma], sigma up to 1/2; shape of sigma.

    Notes
    -----
    Source: The Persian Rug, eq. 29; its proof gives `PROOF_CONSTANT`.

    Examples
    --------
    >>> float(window_constant(0.25).round(4))
    0.6161
    """
    # reached at the ends of the window, where the posterior is cut off most
    return posterior_variance(sigma, sigma) / np.square(sigma)


def _integral(function, low, high, t, sigma) -> np.ndarray:
    """Integral over u from low to high, split where the integrand changes fast, within 12 sigma of t sigma."""
    nodes, weights = moments.gauss_legendre(80)
    marks = [low, *(np.clip((t + step) * sigma, low, high) for step in (-12, -4, 0, 4, 12)), high]
    total = 0.0
    for left, right in zip(marks[:-1], marks[1:], strict=True):
        width = (right - left)[..., None]
        total = total + np.sum(width * weights * function(left[..., None] + width * nodes), axis=-1)
    return total  # pyrefly: ignore[bad-return]: of arrays
