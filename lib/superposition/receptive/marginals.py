"""Inputs on a ring with other marginals than erf's: pixel-wise transforms, and elliptical laws.

Which marginal makes a neuron localise? For x = f(z) pixel by pixel, f odd and nearly linear, the
third Hermite coefficient decides: erf has c3/c1 = -q/6, and everything that the theory of
the critical gain states about q holds for -6 c3/c1. Elliptical laws (a Gaussian vector times a random
length) never localise, whatever their kurtosis.

The published theory of one neuron needs only covariances and the marginal of the data: given a pixel, it takes the
pre-activation to be Gaussian. Under this assumption `_amplifier` is E_1[sign(<w, x>) x_i], and `amplified_field` is the
steady field.

Source: the localization notes, the empty section 6.1, with a prediction of ours; Lufkin, Saxe and Grant (2024).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.receptive.nlgp import nlgp_covariance, normalization
from superposition.receptive.ranges import (
    length,
    length0,
    length1,
    one_gain,
    one_length,
    pixels,
    sample_fits,
    two_lengths,
)
from superposition.receptive.ring import gaussian_covariance, gaussian_sample, kernel_row

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


LAWS = {
    "erf": lambda z, s: _erf(s * z),
    "tanh": lambda z, s: np.tanh(s * z),
    "sine": lambda z, s: np.sin(s * z),
    "sinh": lambda z, s: np.sinh(s * z),
    "power": lambda z, s: np.sign(z) * np.abs(z) ** s,
    "shrink": lambda z, s: np.sign(z) * np.maximum(np.abs(z) - s, 0),
    "cubic": lambda z, s: z + s * (z**3 - 3 * z),
}
ELLIPTICAL = "elliptical"


def _strength_fits(law, strength):
    if law == "shrink":
        checks.number("strength", strength, -5, 2)
    elif law not in ("cubic", ELLIPTICAL):
        checks.number("strength", strength, 0, 5, open_low=True)


@checked(
    one_length, sample_fits, _strength_fits, law=ranges.one_of(*LAWS, ELLIPTICAL), strength=ranges.number(-5, 5),
    n=pixels, xi=length, samples=ranges.samples, seed=ranges.seed
)  # fmt: skip
def draw_marginal(
    law: str, strength: float, n: int, xi: float, samples: int, *, seed: int | np.random.Generator
) -> Float[np.ndarray, "samples n"]:
    """Draw inputs (samples, n) whose marginals have a given law, divided by the root mean square of all entries.

    Source: ours, for the empty section 6.1 of the notes on localization. Use `nlgp_sample` instead for "erf".

    Parameters
    ----------
    law : str
        "erf", "tanh", "sine" and "sinh" of strength z; "power", sign(z) |z|^strength; "shrink", z moved towards 0 by
        strength (NaN where nothing is left); "cubic", z + strength (z^3 - 3 z); or "elliptical", the whole vector z
        times (|z|/sqrt(n))^(-strength), so that 1 is the uniform law on an ellipsoid.
    strength : float
        From -5 to 5; above 0 where it multiplies z or is an exponent, up to 2 for "shrink".

    Examples
    --------
    >>> draw_marginal("tanh", 1.0, 40, 2.0, 100, seed=0).shape
    (100, 40)
    """
    z = gaussian_sample(gaussian_covariance(n, xi), samples, seed=seed)
    if law == ELLIPTICAL:
        x = z * np.sqrt(np.mean(z**2, axis=1, keepdims=True)) ** -strength
    else:
        x = LAWS[law](z, strength)
    return x / np.sqrt(np.mean(x**2))


@checked(_strength_fits, law=ranges.one_of(*LAWS, ELLIPTICAL), strength=ranges.number(-5, 5))
def hermite_ratio(law: str, strength: float) -> float:
    """Third over first Hermite coefficient of a marginal of `draw_marginal`, E[f(z)(z^3 - 3z)] / 6 E[f(z) z].

    It is 0 for elliptical laws.

    Source: ours, for the empty section 6.1 of the notes on localization.

    Examples
    --------
    >>> print(f"{hermite_ratio('cubic', -0.02):.3f}")
    -0.020
    """
    if law == ELLIPTICAL:
        return 0.0
    z = np.linspace(-12, 12, 240_001)  # a trapezoid rule with a Gaussian weight; f may have a kink
    weight = np.exp(-(z**2) / 2) * LAWS[law](z, strength)
    return float(np.sum(weight * (z**3 - 3 * z)) / (6 * np.sum(weight * z)))


def _amplifier(a: ArrayLike, gain: float) -> np.ndarray:
    """E[x erf(x a / sqrt(2 (1 - a^2)))] of an NLGP pixel x, a from -1 to 1 its correlation with the pre-activation."""
    # It is E[x sign(s)] for s that is Gaussian with mean a x and variance 1 - a^2 given x (Lufkin, Saxe and Grant).
    a = np.clip(np.asarray(a, dtype=np.float64), -1 + 1e-9, 1 - 1e-9)
    z = np.linspace(-8, 8, 1001)  # a trapezoid rule with a Gaussian weight
    weight, x = np.exp(-(z**2) / 2), _erf(gain * z) / normalization(gain)
    return _erf(np.multiply.outer(a / np.sqrt(2 * (1 - a**2)), x)) @ (weight * x) / weight.sum()


@checked(two_lengths, n=ranges.whole(3, 512), xi1=length1, xi2=length0, gain=one_gain, rounds=ranges.whole(1, 10**6))
def amplified_field(n: int, xi1: float, xi2: float, gain: float, *, rounds: int = 4000) -> Float[np.ndarray, " n"]:
    """Steady field (n,) of one neuron under the published theory, from a bump of the width of label 1.

    Source: Lufkin, Saxe and Grant (2024), who take the pre-activation to be Gaussian, given a pixel; the fixed point is
    ours. Use `best_field` or `best_tile` instead for theories that agree with training.

    Parameters
    ----------
    rounds : int
        Largest number of rounds; fewer if a round changes the field by less than 1e-8 of its norm.

    Examples
    --------
    >>> amplified_field(12, 1.0, 0.5, 3.0, rounds=5).shape
    (12,)
    """
    C1, C0 = (nlgp_covariance(n, xi, gain) for xi in (xi1, xi2))
    filtered, w = np.linalg.inv(C1 + C0), kernel_row(n, xi1) + 0.02
    for _ in range(rounds):
        seen = C1 @ w
        after = filtered @ _amplifier(seen / np.sqrt(w @ seen), gain)
        if np.linalg.norm(after - w) < 1e-8 * np.linalg.norm(w):
            break
        w = (w + after) / 2
    return w


def _erf(z):
    from scipy.special import erf

    return erf(z)
