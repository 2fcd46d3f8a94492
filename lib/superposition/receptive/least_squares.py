"""Receptive fields of a gated network in closed form, and the race of half-space gates.

A gate open where ``a . x > 0``, on data of two symmetric classes, turns learning into least
squares: the field is ``w = (C0 + C1)^{-1} T(a)`` with ``T(a) = E[sign(a . x) x | Y = 1]`` and its
loss ``E(yhat - Y)^2`` is ``1/2 - T' (C0 + C1)^{-1} T / 4``. Only T depends on the gate. For the gate of a
single pixel on the nonlinear Gaussian process T is known, and with it everything else.

Source: the localization notes, section 4.2 (eq. 59 to 67) and its "TODO: finish!".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.receptive import gates
from superposition.receptive.nlgp import nlgp_covariance, normalization, saturation
from superposition.receptive.ranges import (
    LARGEST,
    circulant_matrix,
    covariance,
    field,
    length,
    length0,
    length1,
    neurons,
    nonzero_fields,
    on_the_ring,
    one_gain,
    one_length,
    one_ring,
    pixel,
    sample,
    three_pixels,
    two_lengths,
    two_vectors,
)
from superposition.receptive.ring import eigenvalues, gaussian_covariance

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Float
    from numpy.typing import ArrayLike


@checked(gain=one_gain, r=ranges.real(-1, 1))
def half_line_mean(gain: float, r: ArrayLike) -> np.ndarray:
    """E[1(z_i > 0) erf(gain z_j)] = (1/pi) arcsin(sqrt(q) r) for z_i and z_j of correlation r.

    Source: the notes on localization, eq. 36, 62, 63, 64, 65 and 66. Eq. 65 and 66 print 2/sqrt(pi) for 1/pi.

    Examples
    --------
    >>> print(f"{half_line_mean(3.0, 0.5):.4f}")
    0.1618
    """
    # Eq. 36 (left blank; it is r = 1, over Z), by way of the conditional mean of eq. 62 and eq. 63, and eq. 64. The
    # prefactor printed in eq. 65 and eq. 66 is 2/sqrt(pi); the right one is 1/pi.
    return np.arcsin(np.sqrt(saturation(gain)) * np.asarray(r, float)) / np.pi


@checked(one_length, on_the_ring, n=three_pixels, xi=length, gain=one_gain, i=pixel)
def small_bump_covariance(n: int, xi: float, gain: float, i: int) -> Float[np.ndarray, " n"]:
    """Input-output covariance ``E[1(x_i > 0) Y x]`` of the gate of pixel i (Figure 4).

    Source: the notes on localization. It is eq. 42 for this gate, eq. 59, and so eq. 60; x_i > 0 where z_i > 0 makes it
    eq. 61, and the result is eq. 67, with 1/(2 pi Z) for the printed 1/(sqrt(pi) Z).

    Returns
    -------
    numpy.ndarray, shape (n,)
        Entries of at most 1/4.

    Examples
    --------
    >>> small_bump_covariance(40, 2.0, 3.0, 0)[:3].round(4)
    array([0.2394, 0.1538, 0.0655])
    """
    r = gaussian_covariance(n, xi)[i]
    return half_line_mean(gain, r) / (2 * normalization(gain))


@checked(two_lengths, on_the_ring, n=three_pixels, xi1=length1, xi2=length0, gain=one_gain, i=pixel)
def small_bump_field(n: int, xi1: float, xi2: float, gain: float, i: int) -> Float[np.ndarray, " n"]:
    """Receptive field that a network with the gate of pixel i converges to, K = 1.

    Source: the notes on localization, section 4.2, "TODO: finish!"; the formula is ours. Use `ols_field` instead for
    other gates.

    Returns
    -------
    numpy.ndarray, shape (n,)
        ``(2/(pi Z)) (C0 + C1)^{-1} arcsin(sqrt(q) r_i)``.

    Examples
    --------
    >>> small_bump_field(40, 2.0, 1.0, 3.0, 0)[:4].round(3)
    array([ 0.375,  0.102,  0.025, -0.005])
    """
    T = 4 * small_bump_covariance(n, xi1, gain, i)
    return ols_field(T, nlgp_covariance(n, xi2, gain), nlgp_covariance(n, xi1, gain))


@checked(
    one_ring("T", "C0", "C1"), T=ranges.array("... n", -LARGEST, LARGEST), C0=circulant_matrix, C1=circulant_matrix
)
def ols_field(T: ArrayLike, C0: ArrayLike, C1: ArrayLike) -> Float[np.ndarray, "... n"]:
    """Field (..., n) of any half-space gate, (C0 + C1)^{-1} T, for circulant covariances.

    Source: the notes on localization, eq. 51. Use `limiting_weights` instead for several gates, or other covariances.

    Parameters
    ----------
    T : array_like, shape (..., n)
        E[sign(a·x) x | Y = 1], as `signed_mean` measures it.

    Examples
    --------
    >>> ols_field([1.0, 0.0, 0.0], np.eye(3), np.eye(3))
    array([0.5, 0. , 0. ])
    """
    T, values = _ring(T, C0, C1)
    return np.fft.irfft(np.fft.rfft(T, axis=-1) / values, n=T.shape[-1], axis=-1)


@checked(
    one_ring("T", "C0", "C1"), T=ranges.array("... n", -LARGEST, LARGEST), C0=circulant_matrix, C1=circulant_matrix
)
def ols_loss(T: ArrayLike, C0: ArrayLike, C1: ArrayLike) -> np.ndarray:
    """Limiting loss E(yhat - Y)^2 of any half-space gate, of shape (...), with T and covariances as in `ols_field`.

    Source: the notes on localization, eq. 56.

    Examples
    --------
    >>> print(ols_loss([1.0, 0.0, 0.0], np.eye(3), np.eye(3)))
    0.375
    """
    return 0.5 - np.sum(np.asarray(T, float) * ols_field(T, C0, C1), axis=-1) / 4


@checked(
    one_ring("w", "T", "C0", "C1"), ranges.together("w", "T"), w=ranges.array("... n", -LARGEST, LARGEST),
    T=ranges.array("... n", -LARGEST, LARGEST), C0=covariance, C1=covariance
)  # fmt: skip
def relu_neuron_loss(w: ArrayLike, T: ArrayLike, C0: ArrayLike, C1: ArrayLike) -> np.ndarray:
    """E(yhat - Y)^2 of one ReLU neuron, 1/2 - w.T/2 + w'(C0 + C1)w/4, for x and -x equally likely, of shape (...).

    Source: ours. Use `gaussian_loss` instead for Gaussian data and any number of neurons.

    Parameters
    ----------
    T : array_like, shape (..., n)
        E[sign(w·x) x | Y = 1].

    Examples
    --------
    >>> print(relu_neuron_loss([1.0, 0.0], [1.0, 0.0], np.eye(2), np.eye(2)))
    0.5
    """
    w, T, C0, C1 = (np.asarray(value, float) for value in (w, T, C0, C1))
    return 0.5 - np.sum(w * T, axis=-1) / 2 + np.sum((w @ (C0 + C1)) * w, axis=-1) / 4


@checked(one_ring("a", "x"), a=neurons, x=two_vectors)
def signed_mean(a: ArrayLike, x: ArrayLike) -> tuple[Float[np.ndarray, "K n"], Float[np.ndarray, "K n"]]:
    """T(a) = E[sign(a·x) x] over a sample (N, n) of class Y = 1, for gates (K, n), with its standard error.

    Source: ours. Use `turned_signed_mean` instead for a translation-invariant law: it uses all turns of the sample.

    Examples
    --------
    >>> mean, se = signed_mean([1.0, 0.0], [[2.0, 1.0], [-2.0, 1.0]])
    >>> mean, se
    (array([[2., 0.]]), array([[0., 1.]]))
    """
    mean, x = _signed_mean(a, x), np.asarray(x, float)
    return mean, np.sqrt((np.mean(x**2, axis=0) - mean**2) / (len(x) - 1))


@checked(one_ring("a", "x"), a=neurons, x=sample)
def turned_signed_mean(a: ArrayLike, x: ArrayLike) -> Float[np.ndarray, "K n"]:
    """T(a) (K, n) over a sample (N, n) and all its turns round the ring, for a translation-invariant law.

    Source: ours. Use `signed_mean` instead for any other law, and for a standard error.

    Examples
    --------
    >>> turned_signed_mean([1.0, 0.0], [[2.0, 1.0], [-2.0, 1.0]])
    array([[1.5, 0. ]])
    """
    a, x = np.atleast_2d(np.asarray(a, float)), np.asarray(x, float)
    n, waves = x.shape[1], np.fft.rfft(x, axis=1)
    means = []
    for row in a:
        signs = np.sign(np.fft.irfft(np.conj(waves) * np.fft.rfft(row), n=n, axis=1))
        means.append(np.fft.irfft(np.mean(np.fft.rfft(signs, axis=1) * waves, axis=0), n=n) / n)
    return np.array(means)


@checked(
    one_ring("starts", "x", "C0", "C1"), starts=neurons, x=sample, C0=circulant_matrix, C1=circulant_matrix,
    rounds=ranges.whole(1, 10**6), progress=ranges.function
)  # fmt: skip
def gate_race(
    starts: ArrayLike, x: ArrayLike, C0: ArrayLike, C1: ArrayLike, *, rounds: int = 200,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[Float[np.ndarray, "K n"], Float[np.ndarray, "rounds K"]]:  # fmt: skip
    """Improve half-space gates (K, n) by taking the field of each gate as the next gate.

    The loss cannot rise: w.T(a) <= E|w.x| with equality at a = w. A gate that repeats itself is a stationary point of
    the ReLU neuron, so this climbs the landscape of that neuron.

    Source: ours.

    Returns
    -------
    fields : numpy.ndarray, shape (K, n)
    losses : numpy.ndarray, shape (rounds, K)
        Fewer rounds where no loss changes by 1e-12.

    Examples
    --------
    >>> from superposition import receptive
    >>> x = receptive.nlgp_sample(12, 1.0, 3.0, 200, seed=0)
    >>> C1, C0 = (receptive.nlgp_covariance(12, xi, 3.0) for xi in (1.0, 0.5))
    >>> fields, losses = gate_race(np.eye(1, 12), x, C0, C1, rounds=3)
    >>> bool((np.diff(losses[:, 0]) <= 0).all())
    True
    """
    fields, losses = np.atleast_2d(np.asarray(starts, float)), []
    for done in range(rounds):
        T = _signed_mean(fields, x)
        fields = ols_field.unchecked(T, C0, C1)
        losses.append(np.sum(T * fields, axis=-1) / -4 + 0.5)
        if progress is not None:
            progress(done + 1, rounds)
        if done and np.abs(losses[-1] - losses[-2]).max() < 1e-12:
            break
    return fields, np.array(losses)


@checked(one_ring("w", "template"), w=nonzero_fields, template=field)
def best_shift_cosine(w: ArrayLike, template: ArrayLike) -> np.ndarray:
    """Largest |cos|, of shape (...), between fields (..., n) and all shifts of a template (n,) on the ring.

    Source: ours.

    Examples
    --------
    >>> print(best_shift_cosine([0.0, 0.0, -2.0], [1.0, 0.0, 0.0]).round(6))
    1.0
    """
    w, template = np.asarray(w, float), np.asarray(template, float)
    norm = np.linalg.norm(w, axis=-1) * np.linalg.norm(template)
    n = w.shape[-1]
    overlap = np.fft.irfft(np.fft.rfft(w, axis=-1) * np.conj(np.fft.rfft(template)), n=n, axis=-1)
    return np.abs(overlap).max(axis=-1) / norm


def _signed_mean(a, x):
    return (2.0 * gates.opened_gates.unchecked(a, x) - 1).T @ np.asarray(x, float) / len(x)


def _ring(T, C0, C1):
    T, values = np.asarray(T, float), eigenvalues(np.asarray(C0, float) + np.asarray(C1, float))
    if values.min() <= 1e-12 * values.max():
        raise ValueError(f"C0 + C1 has the eigenvalue {values.min():.2g}; allowed: above 0")
    return T, values
