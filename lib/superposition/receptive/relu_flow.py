"""Gradient flow of a ReLU network on Gaussian data, in closed form.

Source: the notes on localization, section 2. The network averages K neurons,
yhat = (1/K) sum_k ReLU(<w_k, x>); the label Y is 1 or 0 with probability 1/2 each; given Y = y
the data are centred Gaussian with covariance C_y; the loss is E(yhat - Y)^2 / 2. Time is in
units of tau.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.receptive.ring import spectrum

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


LARGEST = 1e100  # of variances


def half_space_mean(w: ArrayLike, C: ArrayLike) -> Float[np.ndarray, " n"]:
    """E[1(<w, x> > 0) x] for x ~ N(0, C): C w / sqrt(2 pi w'Cw).

    Parameters
    ----------
    w : array_like, shape (n,)
        Normal of the half space.
    C : array_like, shape (n, n)
        Covariance.

    Returns
    -------
    numpy.ndarray, shape (n,)

    Raises
    ------
    ValueError
        If <w, x> has no variance.

    Notes
    -----
    Source: the notes on localization, eq. 10, 11 and 12, for Gaussian x. The way there: the tower
    rule of eq. 6; x = A x + S v of eq. 7 with S = <w, x>, v = C w / w'Cw of eq. 8 and
    A = 1 - v w' of eq. 9, so that A x and S are independent and E[S; S > 0] = sqrt(w'Cw / 2 pi).

    Examples
    --------
    >>> import numpy as np
    >>> half_space_mean([1.0, 0.0], np.eye(2)).round(4)  # 1 / sqrt(2 pi)
    array([0.3989, 0.    ])
    """
    w = checks.array("w", w, "n")
    forms = _forms(w[None], C, "C")
    return np.asarray(C, dtype=np.float64) @ w / np.sqrt(2 * np.pi * forms[0, 0])


def two_neuron_coefficients(rho_11: ArrayLike, rho_kk: ArrayLike, gamma: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients alpha and beta of E[1(<w_1,x> > 0, <w_k,x> > 0) <w_k,x> x] = alpha C w_1 + beta C w_k.

    Parameters
    ----------
    rho_11, rho_kk : array_like
        Variances of <w_1, x> and <w_k, x>, above 0.
    gamma : array_like
        Their correlation, in [-1, 1].

    Returns
    -------
    alpha, beta : numpy.ndarray
        sqrt(rho_kk (1 - gamma^2) / rho_11) / (2 pi), and (pi - arccos gamma) / (2 pi).

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: the expectation of eq. 16 of the notes on localization, with the rho and gamma of eq. 15;
    corrects eq. 17 and eq. 18, and is the coefficient that eq. 18 leaves open. At k = 1, where
    gamma = 1, it is eq. 13 and eq. 14: alpha = 0 and beta = 1/2.
    By Stein's lemma the expectation is C E[gradient of 1(u > 0) ReLU(v)] with u = <w_1, x> and
    v = <w_k, x>, that is C w_1 E[delta(u) ReLU(v)] + C w_k P(u > 0, v > 0).

    Examples
    --------
    >>> alpha, beta = two_neuron_coefficients(1.0, 1.0, 0.0)
    >>> print(f"{alpha:.4f} {beta:.4f}")
    0.1592 0.2500
    """
    rho_11 = checks.real("rho_11", rho_11, 0, LARGEST, open_low=True)
    rho_kk = checks.real("rho_kk", rho_kk, 0, LARGEST, open_low=True)
    gamma = checks.real("gamma", gamma, -1, 1)
    alpha = np.sqrt(rho_kk * (1 - gamma**2) / rho_11) / (2 * np.pi)
    return alpha, (np.pi - np.arccos(gamma)) / (2 * np.pi)


def printed_coefficients(rho_11: float, rho_kk: float, gamma: float) -> tuple[float, float]:
    """The coefficients of eq. 17 as the text prints them, kept as a control: they are wrong.

    Parameters
    ----------
    rho_11, rho_kk : float
        Variances of <w_1, x> and <w_k, x>, above 0.
    gamma : float
        Their correlation, in (-1, 1) and not 0.

    Returns
    -------
    alpha, beta : float

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: the notes on localization, eq. 17.
    """
    rho_11 = checks.number("rho_11", rho_11, 1 / LARGEST, LARGEST)
    rho_kk = checks.number("rho_kk", rho_kk, 1 / LARGEST, LARGEST)
    gamma = checks.number("gamma", gamma, -1, 1, open_low=True, open_high=True)
    if gamma == 0:
        raise ValueError("gamma = 0 is out of range; allowed: (-1, 1) without 0, where the printed form has 1 / gamma")
    spread, ratio = 1 - gamma**2, rho_kk / rho_11
    cross = 1 / np.sqrt(rho_11 * rho_kk)
    alpha = (ratio * np.arccos(-gamma) - gamma**2 * np.arcsin(gamma)) / (2 * np.pi * spread)
    beta = -gamma / (2 * np.pi * spread) * np.sqrt(1 / ratio) * (ratio * np.arccos(gamma) - np.arcsin(gamma))
    edge = 2 * np.pi * np.sqrt(spread)
    return alpha + (1 / (gamma * rho_11) - cross) / edge, beta + (1 / (gamma * rho_kk) - cross) / edge


def gaussian_flow(W: ArrayLike, C0: ArrayLike, C1: ArrayLike) -> Float[np.ndarray, "K n"]:
    """Gradient flow tau dW/dt = -dL/dW of a ReLU network on Gaussian data, for any number of neurons.

    Parameters
    ----------
    W : array_like, shape (K, n)
        Weights, one neuron a row. Every neuron needs some variance in both classes.
    C0, C1 : array_like, shape (n, n)
        Covariances of the data with label 0 and 1.

    Returns
    -------
    numpy.ndarray, shape (K, n)

    Raises
    ------
    ValueError
        If shapes do not fit or a neuron has no variance.

    Notes
    -----
    Source: completes eq. 4 and eq. 5 of the notes on localization, with the factor 1/K that both
    lack, by eq. 12 and the corrected eq. 18. For K = 1 it is eq. 19 and eq. 20. `gaussian_loss` is
    the loss that it descends.

    Examples
    --------
    >>> import numpy as np
    >>> from superposition import receptive
    >>> C1, C0 = (receptive.gaussian_covariance(10, xi) for xi in (1.0, 0.5))
    >>> receptive.gaussian_flow(np.eye(1, 10), C0, C1)[0, :3].round(4)
    array([-0.3005, -0.0232, -0.0009])
    """
    W = checks.array("W", np.atleast_2d(checks.real("W", W, -1e50, 1e50)), "K n")
    K = len(W)
    rho = np.diag(_forms(W, C1, "C1"))
    flow = W / np.sqrt(2 * np.pi * rho)[:, None] @ np.asarray(C1) / (2 * K)
    for name, C in (("C0", C0), ("C1", C1)):
        forms = _forms(W, C, name)
        variance = np.diag(forms)
        alpha, beta = two_neuron_coefficients(variance[:, None], variance, _correlations(forms))
        flow -= ((alpha.sum(axis=1)[:, None] * W + beta @ W) @ C) / (2 * K**2)
    return flow


def gaussian_loss(W: ArrayLike, C0: ArrayLike, C1: ArrayLike) -> float:
    """Loss E(yhat - Y)^2 / 2 of a ReLU network on Gaussian data.

    Parameters
    ----------
    W : array_like, shape (K, n)
        Weights, one neuron a row. Every neuron needs some variance in both classes.
    C0, C1 : array_like, shape (n, n)
        Covariances of the data with label 0 and 1.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If shapes do not fit or a neuron has no variance.

    Notes
    -----
    Source: eq. 3 of the notes on localization for the network of eq. 2, with the first-order arc-cosine kernel for
    E[ReLU(u) ReLU(v)].

    Examples
    --------
    >>> import numpy as np
    >>> from superposition import receptive
    >>> C1, C0 = (receptive.gaussian_covariance(10, xi) for xi in (1.0, 0.5))
    >>> round(receptive.gaussian_loss(1e-9 * np.eye(1, 10), C0, C1), 6)  # E Y^2 / 2: nothing is predicted
    0.25
    """
    W = checks.array("W", np.atleast_2d(checks.real("W", W, -1e50, 1e50)), "K n")
    K = len(W)
    loss = 1 / 4 - np.sqrt(np.diag(_forms(W, C1, "C1")) / (2 * np.pi)).sum() / (2 * K)
    for name, C in (("C0", C0), ("C1", C1)):
        forms = _forms(W, C, name)
        gamma = _correlations(forms)
        scale = np.sqrt(np.outer(np.diag(forms), np.diag(forms))) / (2 * np.pi)
        loss += (scale * (np.sqrt(1 - gamma**2) + gamma * (np.pi - np.arccos(gamma)))).sum() / (4 * K**2)
    return float(loss)


def single_neuron(w0: ArrayLike, C0: ArrayLike, C1: ArrayLike, times: ArrayLike) -> Float[np.ndarray, "m n"]:
    """Solve the flow of one neuron: n coupled equations become a single scalar one.

    Every Fourier coefficient is u_k(t) = u_k(0) exp((lam1_k A(t) - (lam0_k + lam1_k) t) / 4) with
    one function A for all of them, dA/dt = sqrt(2/pi) / |u|_1 and |u|_1^2 = sum lam1_k u_k^2.

    Parameters
    ----------
    w0 : array_like, shape (n,)
        Weights at time 0, with some variance in class 1.
    C0, C1 : array_like, shape (n, n)
        Circulant covariances of the data with label 0 and 1.
    times : array_like, shape (m,)
        Increasing times, in units of tau, 0 or later.

    Returns
    -------
    numpy.ndarray, shape (m, n)
        Weights at these times.

    Raises
    ------
    ValueError
        If shapes do not fit, the neuron has no variance, or the times do not increase from 0 on.

    Notes
    -----
    Source: the notes on localization, eq. 20 and its Fourier form, eq. 21, of which they say that it
    cannot be solved exactly.
    """
    from scipy.integrate import solve_ivp

    times = checks.real("times", times, 0, open_high=True)
    if times.ndim != 1 or not times.size or np.any(np.diff(times) <= 0):
        raise ValueError("times is not an increasing sequence; allowed: numbers from 0 on, each above the one before")
    w0 = checks.array("w0", w0, "n")
    _forms(w0[None], C1, "C1")
    n = len(w0)
    u0 = np.fft.rfft(w0, norm="ortho")
    lam0, lam1 = _both(C0, C1)
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


def steady_energy(C0: ArrayLike, C1: ArrayLike) -> Float[np.ndarray, " frequencies"]:
    """Energy sum w^2 of the steady states of one neuron, each with a single frequency.

    Parameters
    ----------
    C0, C1 : array_like, shape (n, n)
        Circulant covariances of the data with label 0 and 1.

    Returns
    -------
    numpy.ndarray, shape (n // 2 + 1,)
        (2 / pi) lam1 / (lam0 + lam1)^2 at each frequency, shared by cosine and sine in any
        proportion.

    Notes
    -----
    Source: the notes on localization, eq. 22, eq. 23 and eq. 24 with |u_1|_Lambda1 =
    sqrt(sum lam1_k u_k^2); corrects eq. 25, where that norm has lost its square root, and with it
    the two frequencies of eq. 26, 27, 28, 29, 30 and 31: (lam0 / lam1 + 1)^2 times the sum of
    lam1_k u_k^2 is 2 / pi for both.
    """
    lam0, lam1 = _both(C0, C1)
    return 2 / np.pi * lam1 / (lam0 + lam1) ** 2


def transverse_rates(C0: ArrayLike, C1: ArrayLike) -> Float[np.ndarray, "frequencies frequencies"]:
    """Rates at which a steady state of one neuron is left: lam1_k (r_m - r_k) / 4 with r = lam0 / lam1.

    Parameters
    ----------
    C0, C1 : array_like, shape (n, n)
        Circulant covariances of the data with label 0 and 1.

    Returns
    -------
    numpy.ndarray, shape (n // 2 + 1, n // 2 + 1)
        Entry (m, k): growth rate of frequency k in the steady state of frequency m, in units of
        1 / tau. A state is stable if its row has no positive entry.

    Notes
    -----
    Source: completes the paragraph "Finding u_1" of the notes on localization.
    """
    lam0, lam1 = _both(C0, C1)
    ratio = lam0 / lam1
    return lam1 * (ratio[:, None] - ratio) / 4


def flip_rate(W: ArrayLike, later: ArrayLike, C0: ArrayLike, C1: ArrayLike) -> Float[np.ndarray, " K"]:
    """Probability that the gate 1(<w, x> >= 0) differs between two times, for Gaussian data.

    Parameters
    ----------
    W, later : array_like, shape (K, n)
        Weights at the two times.
    C0, C1 : array_like, shape (n, n)
        Covariances of the data with label 0 and 1.

    Returns
    -------
    numpy.ndarray, shape (K,)
        Mean over the classes of arccos(correlation of the two pre-activations) / pi.

    Raises
    ------
    ValueError
        If shapes do not fit or a neuron has no variance.

    Notes
    -----
    Source: closed form of eq. 38 of the notes on localization.
    """
    W, later = (np.atleast_2d(checks.real(name, w, -1e50, 1e50)) for name, w in (("W", W), ("later", later)))
    if W.shape != later.shape:
        raise ValueError(f"later has shape {later.shape}; allowed: {W.shape}, that of W")
    K = len(W)
    both = [_correlations(_forms(np.concatenate([W, later]), C, name)) for name, C in (("C0", C0), ("C1", C1))]
    return sum(np.arccos(np.diag(gamma[:K, K:])) for gamma in both) / (2 * np.pi)  # pyrefly: ignore[bad-return]: of arrays


def _both(C0, C1):
    """Eigenvalues of both covariances, refused where they differ in size."""
    lam0, lam1 = spectrum("C0", C0), spectrum("C1", C1)
    if len(C0) != len(C1):
        raise ValueError(f"C0 and C1 have {len(C0)} and {len(C1)} rows; allowed: the same number")
    return lam0, lam1


def _forms(W: np.ndarray, C: ArrayLike, name: str) -> np.ndarray:
    """Matrix w_i'C w_k, refused where a neuron has no variance."""
    C = checks.real(name, C, open_low=True, open_high=True)
    if C.ndim != 2 or C.shape[0] != C.shape[1] or C.shape[0] != np.shape(W)[-1]:
        raise ValueError(f"{name} has shape {C.shape}; allowed: {(np.shape(W)[-1],) * 2}, one row a pixel")
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
