"""Appendix C of Incidental Polysemanticity, corrected: moments of one noisy step, and the drift they cause.

One row w of unit length, with its own output on and all others off (the text's two assumptions). With
p = w . xi a step of gradient descent is w' = w - 2 eta p (2 w + xi). k is the excess kurtosis,
kappa4 = k sigma^4 the fourth cumulant, f = ||w||_4^4 and s6 = ||w||_6^6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.incidental import ranges as own
from superposition.incidental.noise_laws import one_law
from superposition.incidental.tail_moments import noise_sums

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.incidental.noise_laws import Law


@dataclass(frozen=True)
class StepMoments:
    """Moments of one step, averaged over the noise.

    ``projection2`` = E p^2, ``projection4`` = E p^4, ``projection2_noise`` = E p^2 |xi|^2,
    ``length2`` = E |w'|^2 and ``error2`` = E (|w'|^2 - 1)^2, ``error2`` to second order in eta,
    the others exactly.
    """

    projection2: float
    projection4: float
    projection2_noise: float
    length2: float
    error2: float


def step_fits(w: np.ndarray, xi: np.ndarray) -> None:
    """Refuse rows and noises of shapes that do not fit."""
    try:
        np.broadcast_shapes(w.shape, xi.shape)
    except ValueError:
        raise ValueError(f"xi has shape {xi.shape}; allowed: one that fits {w.shape}, that of w") from None


@checked(step_fits, w=ranges.array("... m"), xi=ranges.array("... m"), eta=own.deviation)
def noisy_step(w: ArrayLike, xi: ArrayLike, eta: float) -> Float[np.ndarray, "... m"]:
    """One step of gradient descent of rows (..., m) without interference (Appendix C.1, which has |w| = 1).

    ``xi`` is the noise, of a shape that fits. Use `train_with_noise` for whole networks.

    Examples
    --------
    >>> noisy_step([1.0, 0.0], [0.1, -0.1], 0.02).round(4)
    array([9.916e-01, 4.000e-04])
    """
    w, xi = np.asarray(w, float), np.asarray(xi, float)
    error = np.sum(w * (w + xi), axis=-1, keepdims=True) - 1
    return w - 2 * eta * error * (2 * w + xi)


@checked(w=own.unit_row, law=one_law, eta=own.deviation)
def step_moments(w: ArrayLike, law: Law, eta: float) -> StepMoments:
    """Moments of Appendix C.1 for a unit row w (m,), with three misprints corrected.

    Examples
    --------
    >>> from superposition.incidental import bipolar
    >>> round(step_moments([0.6, 0.8], bipolar(0.1), 0.01).projection4, 8)
    0.00019216
    """
    # 3 for 6 in front of the sum over ordered pairs j != j', + for +- in front of 4 eta^2, and 2 p + p^2 for 2 p + eta
    # p^2.
    w = np.asarray(w, float)
    f = np.sum(w**4)
    p2, p4 = law.variance, 3 * law.variance**2 + law.kappa4 * f
    p2_noise = law.mu4 + (len(w) - 1) * law.variance**2
    length2 = 1 - 4 * eta * (1 - 4 * eta) * p2 + 4 * eta**2 * p2_noise
    return StepMoments(*map(float, (p2, p4, p2_noise, length2, 16 * eta**2 * (4 * p2 + p4))))


@checked(w=own.unit_row, law=one_law, eta=own.deviation)
def fourth_norm_drift(w: ArrayLike, law: Law, eta: float) -> float:
    """Expected change of the directional fourth norm ||w / |w| ||_4^4 of a unit row in one step, to order eta^2.

    Source: ours, under the assumptions of Appendix C. Use `enumerated_drift` for all orders of a discrete law,
    `row_push` where noise opens other outputs.

    Examples
    --------
    >>> from superposition.incidental import bipolar
    >>> round(fourth_norm_drift([0.6, 0.8], bipolar(0.1), 0.01) * 1e9, 4)
    11.0688
    """
    # Ours: 8 eta^2 sigma^4 [3 - (m + 2) f] + 16 eta^2 kappa4 [f + 3 f^2 - 4 s6], under the assumptions of Appendix C:
    # diffusion on the sphere, and the contribution of the kurtosis. The raw norm ||w||_4^4 changes mostly through the
    # length.
    w = np.asarray(w, float)
    f, s6 = np.sum(w**4), np.sum(w**6)
    spread = 3 - (len(w) + 2) * f
    return float(8 * eta**2 * (law.variance**2 * spread + 2 * law.kappa4 * (f + 3 * f**2 - 4 * s6)))


@checked(w=own.unit_row, law=one_law, eta=own.deviation)
def direction_drift(w: ArrayLike, law: Law, eta: float) -> Float[np.ndarray, " m"]:
    """Expected change (m,) of the direction w / |w| across a unit row w in one step, to order eta^2.

    Source: ours, under the assumptions of Appendix C.

    Examples
    --------
    >>> from superposition.incidental import bipolar
    >>> direction_drift([0.6, 0.8], bipolar(0.1), 0.01) * 1e9
    array([-8.6016,  6.4512])
    """
    # It is the descent of eta kappa4 f at the rate eta, not of the text's 16 eta^2 kappa4 f.
    w = np.asarray(w, float)
    return -4 * eta**2 * law.kappa4 * (w**3 - np.sum(w**4) * w)


@checked(w=own.unit_row, law=one_law, eta=own.deviation)
def enumerated_drift(w: ArrayLike, law: Law, eta: float) -> tuple[float, Float[np.ndarray, " m"]]:
    """Expected change of the directional fourth norm and of the direction (m,), enumerated for a discrete law.

    Source: ours. Use `fourth_norm_drift` for other laws and for many neurons.

    Examples
    --------
    >>> from superposition.incidental import bipolar
    >>> round(enumerated_drift([0.6, 0.8], bipolar(0.1), 0.01)[0] * 1e9, 4)
    11.5365
    """
    w = np.asarray(w, float)
    values, probabilities = noise_sums(law, len(w))
    after = noisy_step(w, law.sigma * values, eta)
    after /= np.linalg.norm(after, axis=1, keepdims=True)
    change = probabilities @ after - w
    return float(probabilities @ (np.sum(after**4, axis=1) - np.sum(w**4))), change - (change @ w) * w


@checked(m=own.neurons, kurtosis=ranges.real(-2))
def stationary_fourth_norm(m: int, kurtosis: ArrayLike) -> np.ndarray:
    """Long-run mean of the directional fourth norm under the assumptions of Appendix C, to first order in k.

    Source: ours.

    Examples
    --------
    >>> stationary_fourth_norm(16, [-2, 0]).round(4)  # 3 / (m + 2) for normal noise
    array([0.1465, 0.1667])
    """
    # 3 / (m + 2), that of a random direction, plus 2 k / (m + 2) times the mean of f + 3 f^2 - 4 s6 over random
    # directions: the balance of `fourth_norm_drift`. Small eta and sigma; at k = -2 and m = 16 the second order in k is
    # a few per cent.
    k = np.asarray(kurtosis, float)
    f = 3 / (m + 2)
    f_squared = (9 * m + 96) / ((m + 2) * (m + 4) * (m + 6))
    s6 = 15 / ((m + 2) * (m + 4))
    return f + 2 * k / (m + 2) * (f + 3 * f_squared - 4 * s6)


@checked(w=ranges.array("... m"), sigma=own.deviation)
def bipolar_reach(w: ArrayLike, sigma: float) -> np.ndarray:
    """Largest value of w·xi under bipolar noise: sigma times the l1 norm of rows (..., m).

    Source: ours, for the second assumption of Appendix C.

    Examples
    --------
    >>> round(float(bipolar_reach([0.6, -0.8], 0.1)), 4)
    0.14
    """
    # The ReLU of output j stays off on input i for every noise if and only if W_i . W_j <= -sigma ||W_j||_1: what
    # assumption 2 of Appendix C needs.
    return sigma * np.sum(np.abs(np.asarray(w, float)), axis=-1)
