"""Gradient flow of a ReLU network on Gaussian data, in closed form.

Source: the notes on localization, section 2. The network averages K neurons,
yhat = (1/K) sum_k ReLU(<w_k, x>); the label Y is 1 or 0 with probability 1/2 each; given Y = y
the data are centred Gaussian with covariance C_y; the loss is E(yhat - Y)^2 / 2. Time is in
units of tau.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.receptive.ranges import (
    ROUNDING,
    STEEPEST,
    circulant_matrix,
    covariance,
    neurons,
    one_ring,
    variance,
    variances,
)
from superposition.receptive.ring import eigenvalues

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def _rising_times(name, value):
    """Times from 0, increasing, in units of tau; times the largest eigenvalue at most 1e5."""
    times = checks.real(name, checks.array(name, value, "m"), 0, np.inf)
    if np.any(np.diff(times) <= 0):
        raise ValueError(f"{name} do not increase; allowed: increasing times")
    return times


def _times_fit(C0, C1, times):
    """Refuse times that would take more than seconds."""
    size = checks.number("largest eigenvalue", max(np.abs(C[0]).sum() for C in (C0, C1)), 1e-10, 1e10)
    checks.number("times", times[-1], 0, 1e5 / size)


def _inner_correlation(name, value):
    """Correlation in (-1, 1), not 0."""
    gamma = checks.number(name, value, -1, 1, open_low=True, open_high=True)
    checks.number(f"size of {name}", abs(gamma), 1e-100, 1)
    return gamma


def _known_by_both(C0, C1):
    _refuse_missing("C0 + C1", C0 + C1)


def _known_to_label_1(C1):
    _refuse_missing("C1", C1)


def _refuse_missing(name, C):
    """Refuse a covariance by which a frequency has no variance."""
    lowest = np.fft.rfft(C[0]).real.min()
    if lowest == 0 or lowest < -ROUNDING * np.abs(C[0]).max():
        raise ValueError(f"{name} has the eigenvalue {lowest:.2g}; allowed: above 0")


def _one_network(W, later):
    if W.shape != later.shape:
        raise ValueError(f"W and later have shapes {W.shape} and {later.shape}; allowed: one shape")


@checked(one_ring("w", "C"), w=ranges.array("n", -STEEPEST, STEEPEST), C=covariance)
def half_space_mean(w: ArrayLike, C: ArrayLike) -> Float[np.ndarray, " n"]:
    """E[1(<w, x> > 0) x] = C w / sqrt(2 pi w'Cw), of shape (n,), for x ~ N(0, C).

    Source: the notes on localization, eq. 6, 7, 8, 9, 10, 11 and 12.

    Examples
    --------
    >>> half_space_mean([1.0, 0.0], np.eye(2)).round(4)
    array([0.3989, 0.    ])
    """
    # The way there: the tower rule of eq. 6; x = A x + S v of eq. 7 with S = <w, x>, v = C w / w'Cw of eq. 8 and A = 1
    # - v w' of eq. 9, so that A x and S are independent and E[S; S > 0] = sqrt(w'Cw / 2 pi).
    w, C = np.asarray(w, float), np.asarray(C, float)
    forms = _forms(w[None], C)
    return C @ w / np.sqrt(2 * np.pi * forms[0, 0])


@checked(ranges.together("rho_11", "rho_kk", "gamma"), rho_11=variances, rho_kk=variances, gamma=ranges.real(-1, 1))
def two_neuron_coefficients(rho_11: ArrayLike, rho_kk: ArrayLike, gamma: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Alpha and beta of E[1(u > 0, v > 0) v x] = alpha C w_1 + beta C w_k for Gaussian x.

    Source: the notes on localization, eq. 13, 14, 15, 16, 17 and 18; corrects eq. 17 and 18.

    Parameters
    ----------
    rho_11, rho_kk : array_like
        Variances of u = <w_1, x> and v = <w_k, x>, from 1e-100 to 1e100.
    gamma : array_like
        Their correlation.

    Returns
    -------
    alpha, beta : numpy.ndarray

    Examples
    --------
    >>> alpha, beta = two_neuron_coefficients(1.0, 1.0, 0.0)
    >>> print(f"{alpha:.4f}, {beta:.2f}")
    0.1592, 0.25
    """
    # The expectation of eq. 16 of the notes, with the rho and gamma of eq. 15; corrects eq. 17 and eq. 18, and is the
    # coefficient that eq. 18 leaves open. At k = 1, where gamma = 1, it is eq. 13 and eq. 14: alpha = 0 and beta = 1/2.
    # By Stein's lemma the expectation is C E[gradient of 1(u > 0) ReLU(v)] with u = <w_1, x> and v = <w_k, x>, that is
    # C w_1 E[delta(u) ReLU(v)] + C w_k P(u > 0, v > 0).
    rho_11, rho_kk, gamma = (np.asarray(value, float) for value in (rho_11, rho_kk, gamma))
    alpha = np.sqrt(rho_kk * (1 - gamma**2) / rho_11) / (2 * np.pi)
    return alpha, (np.pi - np.arccos(gamma)) / (2 * np.pi)


@checked(rho_11=variance, rho_kk=variance, gamma=_inner_correlation)
def printed_coefficients(rho_11: float, rho_kk: float, gamma: float) -> tuple[float, float]:
    """The coefficients of eq. 17 as the text prints them, with 1 / gamma, kept as a control: they are wrong.

    Source: the notes on localization, eq. 17. Use `two_neuron_coefficients` instead.

    Parameters
    ----------
    gamma : float
        In (-1, 1) and not 0.

    Returns
    -------
    alpha, beta : float

    Examples
    --------
    >>> alpha, beta = printed_coefficients(1.0, 4.0, 0.5)
    >>> print(f"{alpha:.4f}, {beta:.4f}")
    2.0257, -0.1944
    """
    spread, ratio = (1 - gamma) * (1 + gamma), rho_kk / rho_11
    cross = 1 / np.sqrt(rho_11 * rho_kk)
    alpha = (ratio * np.arccos(-gamma) - gamma**2 * np.arcsin(gamma)) / (2 * np.pi * spread)
    beta = -gamma / (2 * np.pi * spread) * np.sqrt(1 / ratio) * (ratio * np.arccos(gamma) - np.arcsin(gamma))
    edge = 2 * np.pi * np.sqrt(spread)
    return alpha + (1 / (gamma * rho_11) - cross) / edge, beta + (1 / (gamma * rho_kk) - cross) / edge


@checked(one_ring("W", "C0", "C1"), W=neurons, C0=covariance, C1=covariance)
def gaussian_flow(W: ArrayLike, C0: ArrayLike, C1: ArrayLike) -> Float[np.ndarray, "K n"]:
    """Gradient flow tau dW/dt = -dL/dW of a ReLU network on Gaussian data, for any number of neurons.

    Source: completes eq. 4 and eq. 5 of the notes on localization, with the factor 1/K that both lack, by eq. 12 and
    the corrected eq. 18. For K = 1 it is eq. 19 and eq. 20. `gaussian_loss` is the loss that it descends. Use
    `single_neuron_flow` instead for the path of one neuron.

    Parameters
    ----------
    W : array_like, shape (K, n)
        Weights, one neuron a row. Every neuron needs some variance in both classes.

    Examples
    --------
    >>> from superposition import receptive
    >>> C1, C0 = (receptive.gaussian_covariance(10, xi) for xi in (1.0, 0.5))
    >>> gaussian_flow(np.eye(1, 10), C0, C1)[0, :3].round(4)
    array([-0.3005, -0.0232, -0.0009])
    """
    W, C0, C1 = np.atleast_2d(np.asarray(W, float)), np.asarray(C0, float), np.asarray(C1, float)
    K = len(W)
    rho = np.diag(_forms(W, C1))
    flow = W / np.sqrt(2 * np.pi * rho)[:, None] @ C1 / (2 * K)
    for C in (C0, C1):
        forms = _forms(W, C)
        variance = np.diag(forms)
        alpha, beta = two_neuron_coefficients.unchecked(variance[:, None], variance, _correlations(forms))
        flow -= ((alpha.sum(axis=1)[:, None] * W + beta @ W) @ C) / (2 * K**2)
    return flow


@checked(one_ring("W", "C0", "C1"), W=neurons, C0=covariance, C1=covariance)
def gaussian_loss(W: ArrayLike, C0: ArrayLike, C1: ArrayLike) -> float:
    """Loss E(yhat - Y)^2 / 2 of a ReLU network on Gaussian data.

    Source: eq. 3 of the notes on localization for the network of eq. 2, with the first-order arc-cosine kernel for
    E[ReLU(u) ReLU(v)]. Use `first_order_loss` instead on the NLGP.

    Parameters
    ----------
    W : array_like, shape (K, n)
        Weights, one neuron a row. Every neuron needs some variance in both classes.

    Examples
    --------
    >>> round(gaussian_loss(1e-9 * np.eye(1, 10), np.eye(10), np.eye(10)), 6)  # E Y^2 / 2: nothing is predicted
    0.25
    """
    W, C0, C1 = np.atleast_2d(np.asarray(W, float)), np.asarray(C0, float), np.asarray(C1, float)
    K = len(W)
    loss = 1 / 4 - np.sqrt(np.diag(_forms(W, C1)) / (2 * np.pi)).sum() / (2 * K)
    for C in (C0, C1):
        forms = _forms(W, C)
        gamma = _correlations(forms)
        scale = np.sqrt(np.outer(np.diag(forms), np.diag(forms))) / (2 * np.pi)
        loss += (scale * (np.sqrt(1 - gamma**2) + gamma * (np.pi - np.arccos(gamma)))).sum() / (4 * K**2)
    return float(loss)


@checked(
    one_ring("w0", "C0", "C1"), _times_fit, w0=ranges.array("n", -1e10, 1e10), C0=circulant_matrix,
    C1=circulant_matrix, times=_rising_times
)  # fmt: skip
def single_neuron_flow(w0: ArrayLike, C0: ArrayLike, C1: ArrayLike, times: ArrayLike) -> Float[np.ndarray, "m n"]:
    """Weights (m, n) of one ReLU neuron on Gaussian data at increasing times: n coupled equations become a scalar one.

    Every Fourier coefficient is u_k(t) = u_k(0) exp((lam1_k A(t) - (lam0_k + lam1_k) t) / 4) with one function A for
    all of them, dA/dt = sqrt(2/pi) / |u|_1 and |u|_1^2 = sum lam1_k u_k^2.

    Source: the notes on localization, eq. 20 and its Fourier form, eq. 21, of which they say that it cannot be solved
    exactly. Use `gaussian_flow` instead for several neurons.

    Examples
    --------
    >>> from superposition import receptive
    >>> C1, C0 = (receptive.gaussian_covariance(10, xi) for xi in (1.0, 0.5))
    >>> single_neuron_flow(np.eye(1, 10)[0], C0, C1, [0.0, 1.0])[:, 0].round(3)
    array([1.   , 0.765])
    """
    from scipy.integrate import solve_ivp

    times, w0 = np.asarray(times, float), np.asarray(w0, float)
    _forms(w0[None], np.asarray(C1, float))
    n = len(w0)
    u0 = np.fft.rfft(w0, norm="ortho")
    lam0, lam1 = eigenvalues(C0), eigenvalues(C1)
    twice = np.full(len(u0), 2.0)
    twice[0] = 1
    twice[n // 2 :] = 1 if n % 2 == 0 else 2
    weight = twice * lam1 * np.abs(u0) ** 2

    def speed(t, A):
        return np.sqrt(2 / np.pi / (weight @ np.exp((lam1 * A - (lam0 + lam1) * t) / 2)))

    # (lam1 A - (lam0 + lam1) t) / 4 reaches some tens, so 1e-12 on A is 1e-10 on the weights
    found = solve_ivp(speed, (0, times[-1] or 1.0), [0.0], "DOP853", t_eval=times, rtol=1e-12, atol=1e-12)
    growth = np.exp((lam1 * found.y[0][:, None] - (lam0 + lam1) * times[:, None]) / 4)
    return np.fft.irfft(u0 * growth, n=n, norm="ortho")


@checked(one_ring("C0", "C1"), _known_by_both, C0=circulant_matrix, C1=circulant_matrix)
def steady_energy(C0: ArrayLike, C1: ArrayLike) -> Float[np.ndarray, " frequencies"]:
    """Energy (n // 2 + 1,) of the steady states of one neuron, (2/pi) lam1 / (lam0 + lam1)^2, by frequency.

    Each state has a single frequency, whose cosine and sine share sum w^2 in any proportion.

    Source: the notes on localization, eq. 22, 23, 24, 25, 26, 27, 28, 29, 30 and 31; corrects eq. 25 to 31, where the
    norm |u_1|_Lambda1 = sqrt(sum lam1_k u_k^2) has lost its square root.

    Examples
    --------
    >>> steady_energy(np.eye(4), np.eye(4)).round(4)
    array([0.1592, 0.1592, 0.1592])
    """
    # Each state has a single frequency, whose cosine and sine share sum w^2 in any proportion. Eq. 22, eq. 23 and eq.
    # 24 with |u_1|_Lambda1 = sqrt(sum lam1_k u_k^2); corrects eq. 25, where that norm has lost its square root, and
    # with it the two frequencies of eq. 26, 27, 28, 29, 30 and 31: (lam0 / lam1 + 1)^2 times the sum of lam1_k u_k^2 is
    # 2 / pi for both.
    lam0, lam1 = eigenvalues(C0), eigenvalues(C1)
    return 2 / np.pi * lam1 / (lam0 + lam1) ** 2


@checked(one_ring("C0", "C1"), _known_to_label_1, C0=circulant_matrix, C1=circulant_matrix)
def transverse_rates(C0: ArrayLike, C1: ArrayLike) -> Float[np.ndarray, "frequencies frequencies"]:
    """Rates at which a steady state of one neuron is left, lam1_k (r_m - r_k) / 4 with r = lam0 / lam1.

    Source: completes the paragraph "Finding u_1" of the notes on localization; the formula is ours.

    Returns
    -------
    numpy.ndarray, shape (n // 2 + 1, n // 2 + 1)
        Entry (m, k): growth rate of frequency k in the steady state of frequency m, in units of 1 / tau. A state is
        stable if its row has no positive entry.

    Examples
    --------
    >>> transverse_rates(np.eye(2), np.eye(2))
    array([[0., 0.],
           [0., 0.]])
    """
    lam0, lam1 = eigenvalues(C0), eigenvalues(C1)
    ratio = lam0 / lam1
    return lam1 * (ratio[:, None] - ratio) / 4


@checked(one_ring("W", "later", "C0", "C1"), _one_network, W=neurons, later=neurons, C0=covariance, C1=covariance)
def flip_rate(W: ArrayLike, later: ArrayLike, C0: ArrayLike, C1: ArrayLike) -> Float[np.ndarray, " K"]:
    """Probability (K,) that the gate 1(<w, x> >= 0) differs between two times, for Gaussian data.

    It is the mean over the classes of arccos(correlation of the two pre-activations) / pi.

    Source: closed form of eq. 38 of the notes on localization. Use `gate_flips` instead to count on a sample.

    Parameters
    ----------
    W, later : array_like, shape (K, n)
        Weights at the two times.

    Examples
    --------
    >>> flip_rate([1.0, 0.0], [0.0, 1.0], np.eye(2), np.eye(2))
    array([0.5])
    """
    W, later = np.atleast_2d(np.asarray(W, float)), np.atleast_2d(np.asarray(later, float))
    K = len(W)
    both = [_correlations(_forms(np.concatenate([W, later]), np.asarray(C, float))) for C in (C0, C1)]
    return sum(np.arccos(np.diag(gamma[:K, K:])) for gamma in both) / (2 * np.pi)  # pyrefly: ignore[bad-return]: of arrays


def _forms(W, C):
    """Matrix w_i'C w_k, refused where a neuron has no variance."""
    forms = W @ C @ W.T
    dead = np.flatnonzero(np.diag(forms) <= 0)
    if len(dead):
        raise ValueError(f"neuron {dead[0]} has no variance: its gate never opens; allowed: rows with w'Cw above 0")
    return forms


def _correlations(forms):
    scale = np.sqrt(np.diag(forms))
    gamma = np.clip(forms / scale / scale[:, None], -1, 1)
    np.fill_diagonal(gamma, 1)
    return gamma
