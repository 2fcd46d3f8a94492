"""Appendix C of Incidental Polysemanticity, corrected: moments of one noisy step, and the drift they cause.

One row w of unit length, its own output on, all others off (the text's two assumptions). With
p = w . xi a step of gradient descent is w' = w - 2 eta p (2 w + xi). k is the excess kurtosis,
kappa4 = k sigma^4 the fourth cumulant, f = ||w||_4^4 and s6 = ||w||_6^6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.incidental.noise_laws import bipolar
from superposition.incidental.tail_moments import sums

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.incidental.noise_laws import Law


LARGEST = 1e9  # learning rate
UNIT = 1e-9  # how far the squared length may be from 1


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


def step(w: ArrayLike, xi: ArrayLike, eta: float) -> Float[np.ndarray, "... m"]:
    """One step of gradient descent of a row that nobody disturbs.

    Parameters
    ----------
    w : array_like, shape (..., m)
        The row, of any length.
    xi : array_like, shape (..., m)
        Noise of the step.
    eta : float
        Learning rate, 0 or more.

    Returns
    -------
    numpy.ndarray, shape (..., m)

    Raises
    ------
    ValueError
        If an argument is not finite or `eta` is negative.

    Notes
    -----
    Source: Incidental Polysemanticity, Appendix C.1, which has the case |w| = 1.
    """
    w, xi, eta = checks.array("w", w, "... m"), checks.array("xi", xi, "... m"), _eta(eta)
    if w.shape[-1] != xi.shape[-1]:
        raise ValueError(f"w and xi have shapes {w.shape} and {xi.shape}; allowed: (..., m), with one m")
    error = np.sum(w * (w + xi), axis=-1, keepdims=True) - 1
    return w - 2 * eta * error * (2 * w + xi)


def step_moments(w: ArrayLike, law: Law, eta: float) -> StepMoments:
    """Moments of Appendix C for a unit row.

    Parameters
    ----------
    w : array_like, shape (m,)
        A row of unit length.
    law : superposition.incidental.noise_laws.Law
        Law of the noise.
    eta : float
        Learning rate, 0 or more.

    Returns
    -------
    StepMoments

    Raises
    ------
    ValueError
        If `w` is no vector of unit length or `eta` is negative or not finite.

    Notes
    -----
    Source: Incidental Polysemanticity, Appendix C.1, with 3 for 6 in front of the sum over
    ordered pairs j != j', + for +- in front of 4 eta^2, and 2 p + p^2 for 2 p + eta p^2.
    """
    w, eta = _unit(w), _eta(eta)
    f = np.sum(w**4)
    p2, p4 = law.variance, 3 * law.variance**2 + law.kappa4 * f
    p2_noise = law.mu4 + (len(w) - 1) * law.variance**2
    length2 = 1 - 4 * eta * (1 - 4 * eta) * p2 + 4 * eta**2 * p2_noise
    return StepMoments(*map(float, (p2, p4, p2_noise, length2, 16 * eta**2 * (4 * p2 + p4))))


def drift(w: ArrayLike, law: Law, eta: float) -> float:
    """Expected change of the directional fourth norm ||w / |w| ||_4^4 in one step, to order eta^2.

    Parameters
    ----------
    w : array_like, shape (m,)
        A row of unit length.
    law : superposition.incidental.noise_laws.Law
        Law of the noise.
    eta : float
        Learning rate, 0 or more.

    Returns
    -------
    float
        8 eta^2 sigma^4 [3 - (m + 2) f] + 16 eta^2 kappa4 [f + 3 f^2 - 4 s6]: diffusion on the
        sphere, and what the kurtosis adds.

    Raises
    ------
    ValueError
        If `w` is no vector of unit length or `eta` is negative or not finite.

    Notes
    -----
    Source: ours, under the assumptions of Incidental Polysemanticity, Appendix C. The raw norm
    ||w||_4^4 changes mostly through the length.
    """
    w, eta = _unit(w), _eta(eta)
    f, s6 = np.sum(w**4), np.sum(w**6)
    spread = 3 - (len(w) + 2) * f
    return float(8 * eta**2 * (law.variance**2 * spread + 2 * law.kappa4 * (f + 3 * f**2 - 4 * s6)))


def direction_drift(w: ArrayLike, law: Law, eta: float) -> Float[np.ndarray, " m"]:
    """Expected change of the direction w / |w| across w in one step, to order eta^2.

    Parameters
    ----------
    w : array_like, shape (m,)
        A row of unit length.
    law : superposition.incidental.noise_laws.Law
        Law of the noise.
    eta : float
        Learning rate, 0 or more.

    Returns
    -------
    numpy.ndarray, shape (m,)
        -4 eta^2 kappa4 (w^3 - f w), orthogonal to w.

    Raises
    ------
    ValueError
        If `w` is no vector of unit length or `eta` is negative or not finite.

    Notes
    -----
    Source: ours, under the assumptions of Incidental Polysemanticity, Appendix C. It is the
    descent of eta kappa4 f at the rate eta, not of the text's 16 eta^2 kappa4 f.
    """
    w, eta = _unit(w), _eta(eta)
    return -4 * eta**2 * law.kappa4 * (w**3 - np.sum(w**4) * w)


def enumerated_drift(w: ArrayLike, law: Law, eta: float) -> tuple[float, Float[np.ndarray, " m"]]:
    """Expected change of the directional fourth norm and of the direction in one step, by enumeration.

    Parameters
    ----------
    w : array_like, shape (m,)
        A row of unit length.
    law : superposition.incidental.noise_laws.Law
        A discrete law.
    eta : float
        Learning rate, 0 or more.

    Returns
    -------
    fourth_norm : float
        Mean change of ||w / |w| ||_4^4.
    direction : numpy.ndarray, shape (m,)
        Mean change of w / |w|, its part along w taken out.

    Raises
    ------
    ValueError
        If `w` is no vector of unit length, `eta` is negative or not finite, or there are more than 2^20
        combinations of noise; the message has the count.

    Notes
    -----
    Source: ours, exact under the assumptions of Incidental Polysemanticity, Appendix C.
    """
    w, eta = _unit(w), _eta(eta)
    values, probabilities = sums(law, len(w))
    after = step(w, law.sigma * values, eta)
    after /= np.linalg.norm(after, axis=1, keepdims=True)
    change = probabilities @ after - w
    return float(probabilities @ (np.sum(after**4, axis=1) - np.sum(w**4))), change - (change @ w) * w


def stationary_fourth_norm(m: int, kurtosis: ArrayLike) -> np.ndarray:
    """Long-run mean of the directional fourth norm under the text's assumptions, to first order in k.

    Parameters
    ----------
    m : int
        Neurons, at least 1.
    kurtosis : array_like
        Excess kurtosis k, -2 or more.

    Returns
    -------
    numpy.ndarray
        3 / (m + 2), that of a random direction, plus 2 k / (m + 2) times the mean of
        f + 3 f^2 - 4 s6 over random directions: the balance of `drift`.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: ours. Small eta and sigma; at k = -2 and m = 16 the second order in k is a few per cent.
    """
    m = checks.whole("m", m, 1)
    k = checks.real("kurtosis", kurtosis, -2, open_high=True)
    f = 3 / (m + 2)
    f_squared = (9 * m + 96) / ((m + 2) * (m + 4) * (m + 6))
    s6 = 15 / ((m + 2) * (m + 4))
    return f + 2 * k / (m + 2) * (f + 3 * f_squared - 4 * s6)


def bipolar_reach(w: ArrayLike, sigma: float) -> np.ndarray:
    """Largest value of w·xi under bipolar noise, which is sigma times the l1 norm.

    Parameters
    ----------
    w : array_like, shape (..., m)
        Rows.
    sigma : float
        Standard deviation, 0 or more.

    Returns
    -------
    numpy.ndarray, shape (...)

    Raises
    ------
    ValueError
        If `sigma` is negative, or `w` holds anything but finite numbers.

    Notes
    -----
    Source: ours. The ReLU of output j stays off on input i for every noise if and only if
    W_i . W_j <= -sigma ||W_j||_1: what assumption 2 of Appendix C needs.
    """
    return bipolar(sigma).sigma * np.sum(np.abs(checks.array("w", w, "... m")), axis=-1)


def _unit(w):
    w = checks.real("w", w, open_low=True, open_high=True)
    if w.ndim != 1 or abs(np.sum(w**2) - 1) > UNIT:
        raise ValueError(f"w has shape {w.shape} and squared length {np.sum(w**2):.6g}; allowed: (m,) and 1")
    return w


def _eta(eta):
    return checks.number("eta", eta, 0, LARGEST)
