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

from superposition import checks
from superposition.receptive import gates
from superposition.receptive.nlgp import nlgp_covariance, normalization, saturation
from superposition.receptive.ring import eigenvalues, gaussian_covariance, lengths

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Float
    from numpy.typing import ArrayLike


def half_line_mean(gain: float, r: ArrayLike) -> np.ndarray:
    """``E[1(z_i > 0) erf(gain z_j)]`` for two standard normals of correlation r.

    Parameters
    ----------
    gain : float
        Gain, from 1e-6 to 1e6.
    r : array_like
        Correlation, from -1 to 1.

    Returns
    -------
    numpy.ndarray
        ``(1/pi) arcsin(sqrt(q) r)``, with q from `superposition.receptive.nlgp.saturation`; at most 1/2.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: the localization notes, eq. 36 (left blank; it is r = 1, over Z), by way of the conditional mean
    of eq. 62 and eq. 63, and eq. 64. The prefactor printed in eq. 65 and eq. 66 is 2/sqrt(pi); the
    right one is 1/pi.

    Examples
    --------
    >>> print(f"{half_line_mean(3.0, 0.7788):.4f}")
    0.2738
    """
    gain = checks.number("gain", gain, open_low=True, open_high=True)
    return np.arcsin(np.sqrt(saturation(gain)) * checks.real("r", r, -1, 1)) / np.pi


def small_bump_covariance(n: int, xi: float, gain: float, i: int) -> Float[np.ndarray, " n"]:
    """Input-output covariance ``E[1(x_i > 0) Y x]`` of the gate of pixel i (Figure 4).

    Parameters
    ----------
    n : int
        Number of pixels, at least 3.
    xi : float
        Correlation length of class Y = 1, above 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    i : int
        The gate's pixel, 0 to n - 1.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Entries of at most 1/4.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: the localization notes. It is eq. 42 for this gate, eq. 59, and so eq. 60; x_i > 0 where
    z_i > 0 makes it eq. 61, and the result is eq. 67, with 1/(2 pi Z) for the printed 1/(sqrt(pi) Z).

    Examples
    --------
    >>> from superposition import receptive
    >>> receptive.small_bump_covariance(40, 2.0, 3.0, 0)[:3].round(4)
    array([0.2394, 0.1538, 0.0655])
    """
    n = checks.whole("n", n, 3)
    i = checks.whole("i", i, 0, n - 1)
    r = gaussian_covariance(n, xi)[i]
    return half_line_mean(gain, r) / (2 * normalization(gain))


def small_bump_field(n: int, xi1: float, xi2: float, gain: float, i: int) -> Float[np.ndarray, " n"]:
    """Receptive field that a network with the gate of pixel i converges to, K = 1.

    Parameters
    ----------
    n : int
        Number of pixels, at least 3.
    xi1, xi2 : float
        Correlation lengths of the classes Y = 1 and Y = 0, above 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    i : int
        The gate's pixel, 0 to n - 1.

    Returns
    -------
    numpy.ndarray, shape (n,)
        ``(2/(pi Z)) (C0 + C1)^{-1} arcsin(sqrt(q) r_i)``.

    Raises
    ------
    ValueError
        If an argument is out of range, or a correlation length gives no covariance.

    Notes
    -----
    Source: the localization notes, section 4.2, "TODO: finish!"; the formula is ours.

    Examples
    --------
    >>> from superposition import receptive
    >>> receptive.small_bump_field(40, 2.0, 1.0, 3.0, 0)[:4].round(3)
    array([ 0.375,  0.102,  0.025, -0.005])
    """
    xi1, xi2 = lengths(n, xi1, xi2)
    T = 4 * small_bump_covariance(n, xi1, gain, i)
    return ols_field(T, nlgp_covariance(n, xi2, gain), nlgp_covariance(n, xi1, gain))


def ols_field(T: ArrayLike, C0: ArrayLike, C1: ArrayLike) -> Float[np.ndarray, "... n"]:
    """Field of any half-space gate: ``(C0 + C1)^{-1} T``.

    Parameters
    ----------
    T : array_like, shape (..., n)
        E[sign(a . x) x | Y = 1].
    C0, C1 : array_like, shape (n, n)
        Covariances of the classes Y = 0 and Y = 1, circulant.

    Returns
    -------
    numpy.ndarray, shape (..., n)

    Raises
    ------
    ValueError
        If the shapes do not fit, a matrix is not circulant, or C0 + C1 is singular.

    Notes
    -----
    Source: the localization notes, eq. 51 for one half-space gate.
    """
    T, values = _ring(T, C0, C1)
    return np.fft.irfft(np.fft.rfft(T, axis=-1) / values, n=T.shape[-1], axis=-1)


def ols_loss(T: ArrayLike, C0: ArrayLike, C1: ArrayLike) -> np.ndarray:
    """Limiting loss ``E(yhat - Y)^2`` of any half-space gate.

    Parameters
    ----------
    T : array_like, shape (..., n)
        E[sign(a . x) x | Y = 1].
    C0, C1 : array_like, shape (n, n)
        Covariances of the classes Y = 0 and Y = 1, circulant.

    Returns
    -------
    numpy.ndarray, shape (...)

    Raises
    ------
    ValueError
        If the shapes do not fit, a matrix is not circulant, or C0 + C1 is singular.

    Notes
    -----
    Source: the localization notes, eq. 56.
    """
    return 0.5 - np.sum(checks.real("T", T) * ols_field(T, C0, C1), axis=-1) / 4


def relu_loss(w: ArrayLike, T: ArrayLike, C0: ArrayLike, C1: ArrayLike) -> np.ndarray:
    """Loss ``E(yhat - Y)^2`` of one ReLU neuron with weights w, given T at a = w.

    Parameters
    ----------
    w : array_like, shape (..., n)
        Weights.
    T : array_like, shape (..., n)
        E[sign(w . x) x | Y = 1].
    C0, C1 : array_like, shape (n, n)
        Covariances of the classes Y = 0 and Y = 1.

    Returns
    -------
    numpy.ndarray, shape (...)
        ``1/2 - w.T/2 + w'(C0 + C1)w/4``; holds for any data with x and -x equally likely.

    Raises
    ------
    ValueError
        If the shapes do not fit or a number is not finite.
    """
    w, T = checks.array("w", w, "... n"), checks.array("T", T, "... n")
    C0, C1 = checks.array("C0", C0, "n n"), checks.array("C1", C1, "n n")
    if not w.shape[-1:] * 2 == T.shape[-1:] * 2 == C0.shape == C1.shape:
        shapes = f"{w.shape}, {T.shape}, {C0.shape} and {C1.shape}"
        raise ValueError(f"w, T, C0 and C1 have shapes {shapes}; allowed: (..., n) twice and (n, n) twice")
    return 0.5 - np.sum(w * T, axis=-1) / 2 + np.sum((w @ (C0 + C1)) * w, axis=-1) / 4


def signed_mean(a: ArrayLike, x: ArrayLike) -> tuple[Float[np.ndarray, "K n"], Float[np.ndarray, "K n"]]:
    """``T(a) = E[sign(a·x) x]`` over a sample, with its standard error.

    Parameters
    ----------
    a : array_like, shape (K, n)
        Directions, none of them zero.
    x : array_like, shape (N, n)
        Inputs of class Y = 1, at least 2.

    Returns
    -------
    mean, se : numpy.ndarray, shape (K, n)

    Raises
    ------
    ValueError
        If a direction is zero.
    """
    a = checks.real("a", a, -1e100, 1e100)
    mean, x = _signed_mean(a, x), checks.array("x", x, "N n")
    if len(x) < 2:
        raise ValueError("x holds one input; allowed: two or more, for a standard error")
    return mean, np.sqrt((np.mean(x**2, axis=0) - mean**2) / (len(x) - 1))


def turned_signed_mean(a: ArrayLike, x: ArrayLike) -> Float[np.ndarray, "K n"]:
    """``T(a)`` over a sample and all its turns round the ring, for a translation-invariant law.

    Parameters
    ----------
    a : array_like, shape (K, n)
        Directions, none of them zero.
    x : array_like, shape (N, n)
        Inputs of class Y = 1.

    Returns
    -------
    numpy.ndarray, shape (K, n)
        Directions that differ by a turn get what differs by the same turn.

    Raises
    ------
    ValueError
        If a direction is zero.
    """
    a, x = np.atleast_2d(checks.real("a", a, -1e100, 1e100)), checks.array("x", x, "N n")
    gates.opened(a, x)  # refuses zero vectors and other lengths
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
    """Improve half-space gates: each round, a gate's own field becomes the next gate.

    The loss cannot rise: ``w.T(a) <= E|w.x|`` with equality at a = w. A gate that repeats itself is
    a stationary point of the ReLU neuron, so this climbs the landscape of that neuron.

    Parameters
    ----------
    starts : array_like, shape (K, n)
        Directions to start from.
    x : array_like, shape (N, n)
        Inputs of class Y = 1.
    C0, C1 : array_like, shape (n, n)
        Covariances of the classes Y = 0 and Y = 1, circulant.
    rounds : int
        Number of rounds, at least 1; stops earlier if no gate's loss changes any more.
    progress : callable, optional
        Called as ``progress(done, total)`` after each round.

    Returns
    -------
    fields : numpy.ndarray, shape (K, n)
        The last fields.
    losses : numpy.ndarray, shape (rounds done, K)
        Limiting loss of each gate in each round.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    rounds = checks.whole("rounds", rounds, 1)
    fields, losses = checks.array("starts", np.atleast_2d(checks.real("starts", starts, -1e100, 1e100)), "K n"), []
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
    """Largest ``|cos|`` between fields and all shifts of a template on the ring.

    Parameters
    ----------
    w : array_like, shape (..., n)
        Fields, none of them zero.
    template : array_like, shape (n,)
        What to compare with.

    Returns
    -------
    numpy.ndarray, shape (...)
        From 0 to 1.

    Raises
    ------
    ValueError
        If a field or the template is zero, or they differ in length.

    Examples
    --------
    >>> print(round(float(best_shift_cosine([0.0, 3.0, 0.0], [1.0, 0.0, 0.0])), 6))
    1.0
    """
    w, template = checks.array("w", w, "... n"), checks.array("template", template, "n")
    if w.shape[-1] != len(template):
        raise ValueError(f"template has {len(template)} pixels, w has {w.shape[-1]}; allowed: the same number")
    norm = np.linalg.norm(w, axis=-1) * np.linalg.norm(template)
    if not np.all(norm > 0):
        raise ValueError("w or template is zero; allowed: vectors other than zero")
    n = w.shape[-1]
    overlap = np.fft.irfft(np.fft.rfft(w, axis=-1) * np.conj(np.fft.rfft(template)), n=n, axis=-1)
    return np.abs(overlap).max(axis=-1) / norm


def _signed_mean(a, x):
    return (2.0 * gates.opened(a, x) - 1).T @ np.asarray(x) / len(x)


def _ring(T, C0, C1):
    T, C0, C1 = checks.array("T", T, "... n"), checks.array("C0", C0, "n n"), checks.array("C1", C1, "n n")
    if C0.shape != C1.shape:
        raise ValueError(f"C0 and C1 have shapes {C0.shape} and {C1.shape}; allowed: the same")
    values = eigenvalues(C0 + C1)
    if T.shape[-1] != len(C0):
        raise ValueError(f"T has shape {T.shape}; allowed: (..., {len(C0)})")
    if values.min() <= 1e-12 * values.max():
        raise ValueError(f"C0 + C1 has the eigenvalue {values.min():.2g}; allowed: above 0")
    return T, values
