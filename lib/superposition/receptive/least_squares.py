"""Receptive fields of a gated network in closed form, and the race of half-space gates.

A gate open where ``a . x > 0``, on data of two symmetric classes, turns learning into least
squares: the field is ``w = (C0 + C1)^{-1} T(a)`` with ``T(a) = E[sign(a . x) x | Y = 1]`` and its
loss ``E(yhat - Y)^2`` is ``1/2 - T' (C0 + C1)^{-1} T / 4``. Only T knows the gate. For the gate of a
single pixel on the nonlinear Gaussian process T is known, and with it everything else.

Source: the localization notes, section 4.2 (eq. 59 to 67) and its "TODO: finish!".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition.receptive import gates
from superposition.receptive.nlgp import nlgp_covariance, normalization, saturation
from superposition.receptive.ring import eigenvalues, gaussian_covariance

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Float
    from numpy.typing import ArrayLike


def half_line_mean(gain: float, r: ArrayLike) -> np.ndarray:
    """E[1(z_i > 0) erf(gain z_j)] = (1/pi) arcsin(sqrt(q) r) for correlation r (eq. 36, 62, 63, 64, 65 and 66)."""
    # Eq. 36 (left blank; it is r = 1, over Z), by way of the conditional mean of eq. 62 and eq. 63, and eq. 64. The
    # prefactor printed in eq. 65 and eq. 66 is 2/sqrt(pi); the right one is 1/pi.
    return np.arcsin(np.sqrt(saturation(gain)) * np.asarray(r, float)) / np.pi


def small_bump_covariance(n: int, xi: float, gain: float, i: int) -> Float[np.ndarray, " n"]:
    """Input-output covariance E[1(x_i > 0) Y x] (n,) of the gate of pixel i: eq. 67 with 1/(2 pi Z) as its factor."""
    r = gaussian_covariance(n, xi)[i]
    return half_line_mean(gain, r) / (2 * normalization(gain))


def small_bump_field(n: int, xi1: float, xi2: float, gain: float, i: int) -> Float[np.ndarray, " n"]:
    """Receptive field (2/(pi Z)) (C0 + C1)^{-1} arcsin(sqrt(q) r_i) that the gate of pixel i converges to, K = 1."""
    T = 4 * small_bump_covariance(n, xi1, gain, i)
    return ols_field(T, nlgp_covariance(n, xi2, gain), nlgp_covariance(n, xi1, gain))


def ols_field(T: ArrayLike, C0: ArrayLike, C1: ArrayLike) -> Float[np.ndarray, "... n"]:
    """Field (..., n) of any half-space gate: (C0 + C1)^{-1} T (eq. 51), for circulant covariances."""
    T, values = _ring(T, C0, C1)
    return np.fft.irfft(np.fft.rfft(T, axis=-1) / values, n=T.shape[-1], axis=-1)


def ols_loss(T: ArrayLike, C0: ArrayLike, C1: ArrayLike) -> np.ndarray:
    """Limiting loss E(yhat - Y)^2 of any half-space gate (the localization notes, eq. 56)."""
    return 0.5 - np.sum(np.asarray(T, float) * ols_field(T, C0, C1), axis=-1) / 4


def relu_loss(w: ArrayLike, T: ArrayLike, C0: ArrayLike, C1: ArrayLike) -> np.ndarray:
    """E(yhat - Y)^2 of one ReLU neuron, 1/2 - w.T/2 + w'(C0 + C1)w/4, given T at a = w, for x and -x equally likely."""
    w, T, C0, C1 = (np.asarray(value, float) for value in (w, T, C0, C1))
    return 0.5 - np.sum(w * T, axis=-1) / 2 + np.sum((w @ (C0 + C1)) * w, axis=-1) / 4


def signed_mean(a: ArrayLike, x: ArrayLike) -> tuple[Float[np.ndarray, "K n"], Float[np.ndarray, "K n"]]:
    """T(a) = E[sign(a·x) x] (K, n) over a sample (N, n) of class Y = 1, with its standard error."""
    mean, x = _signed_mean(a, x), np.asarray(x, float)
    return mean, np.sqrt((np.mean(x**2, axis=0) - mean**2) / (len(x) - 1))


def turned_signed_mean(a: ArrayLike, x: ArrayLike) -> Float[np.ndarray, "K n"]:
    """T(a) (K, n) over a sample and all its turns round the ring, for a translation-invariant law."""
    a, x = np.atleast_2d(np.asarray(a, float)), np.asarray(x, float)
    n, waves = x.shape[1], np.fft.rfft(x, axis=1)
    means = []
    for row in a:
        signs = np.sign(np.fft.irfft(np.conj(waves) * np.fft.rfft(row), n=n, axis=1))
        means.append(np.fft.irfft(np.mean(np.fft.rfft(signs, axis=1) * waves, axis=0), n=n) / n)
    return np.array(means)


def race(
    starts: ArrayLike,
    x: ArrayLike,
    C0: ArrayLike,
    C1: ArrayLike,
    *,
    rounds: int = 200,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[Float[np.ndarray, "K n"], Float[np.ndarray, "rounds K"]]:
    """Improve half-space gates: a gate's own field becomes the next gate; fields (K, n) and losses (rounds, K)."""
    # The loss cannot rise: w.T(a) <= E|w.x| with equality at a = w. A gate that repeats itself is a stationary point of
    # the ReLU neuron, so this climbs the landscape of that neuron.
    fields, losses = np.atleast_2d(np.asarray(starts, float)), []
    for done in range(rounds):
        T = _signed_mean(fields, x)
        fields = ols_field(T, C0, C1)
        losses.append(np.sum(T * fields, axis=-1) / -4 + 0.5)
        if progress is not None:
            progress(done + 1, rounds)
        if done and np.abs(losses[-1] - losses[-2]).max() < 1e-12:
            break
    return fields, np.array(losses)


def best_shift_cosine(w: ArrayLike, template: ArrayLike) -> np.ndarray:
    """Largest |cos| between fields (..., n) and all shifts of a template (n,) on the ring."""
    w, template = np.asarray(w, float), np.asarray(template, float)
    norm = np.linalg.norm(w, axis=-1) * np.linalg.norm(template)
    n = w.shape[-1]
    overlap = np.fft.irfft(np.fft.rfft(w, axis=-1) * np.conj(np.fft.rfft(template)), n=n, axis=-1)
    return np.abs(overlap).max(axis=-1) / norm


def _signed_mean(a, x):
    return (2.0 * gates.opened(a, x) - 1).T @ np.asarray(x, float) / len(x)


def _ring(T, C0, C1):
    T, values = np.asarray(T, float), eigenvalues(np.asarray(C0, float) + np.asarray(C1, float))
    if values.min() <= 1e-12 * values.max():
        raise ValueError(f"C0 + C1 has the eigenvalue {values.min():.2g}; allowed: above 0")
    return T, values
