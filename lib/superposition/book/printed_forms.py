"""Formulas as the texts print them, where a verdict of the book excludes the print: rivals, never results.

What stands here is wrong, or wrong under the conditions of the book's check. A slip of ours here would refute a text
that is right, so each formula has a test with a value computed by hand from its source.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def mean_terms(L: ArrayLike, p: float) -> float:
    """Loss of the toy model with means over sparsity patterns instead of sums, sum_k p^k (1 - p)^(n - k) L_k.

    Parameters
    ----------
    L : array_like, shape (n + 1,)
        Mean loss over the patterns with k features on, k = 0 to n.
    p : float
        Probability that a feature is on, 1 - S.

    Returns
    -------
    float

    Notes
    -----
    Source: Toy Models of Superposition, the expansion of L in powers of S and 1 - S.

    Examples
    --------
    >>> mean_terms([0.0, 1.0, 4.0], 0.5)
    1.25
    """
    L = np.asarray(L, dtype=np.float64)
    k = np.arange(len(L))
    return float(np.sum(p**k * (1 - p) ** k[::-1] * L))


def nothing_on(b: ArrayLike) -> float:
    """L_0 of the toy model without importances, sum_i ReLU(b_i)^2.

    Parameters
    ----------
    b : array_like, shape (n,)
        Bias.

    Returns
    -------
    float

    Notes
    -----
    Source: Toy Models of Superposition, the term L_0.

    Examples
    --------
    >>> nothing_on([3.0, -2.0])
    9.0
    """
    return float(np.sum(np.maximum(b, 0) ** 2))


def xor_matrix(ns: int) -> Array:
    """The Hadamard matrix with XOR in the place of AND: the parity of bin(i) XOR bin(j), as a sign.

    Parameters
    ----------
    ns : int
        Number of rows and columns.

    Returns
    -------
    numpy.ndarray, shape (ns, ns)

    Notes
    -----
    Source: The Persian Rug, section 4.3, the definition of H.

    Examples
    --------
    >>> xor_matrix(2)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    index = np.arange(ns)
    return (-1.0) ** (np.bitwise_count(index[:, None] ^ index) % 2)


def threshold(p: ArrayLike) -> Array:
    """The threshold mu / sigma of the rug at small p, sqrt(ln(1/p)).

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1).

    Returns
    -------
    numpy.ndarray

    Notes
    -----
    Source: The Persian Rug, eq. 12, with a factor of one for its "~".

    Examples
    --------
    >>> float(threshold(np.exp(-4.0)))
    2.0
    """
    return np.sqrt(np.log(1 / np.asarray(p)))


def fourth_moment_term(eta: float, sigma: float, mu_4: float, fourth_norm: float) -> float:
    """16 eta^2 E[(w . xi)^4] at |w| = 1 as summed up: 3 sigma^4 16 eta^2 (1 + |w|_4^4 (mu_4 - 3 sigma^4)).

    Parameters
    ----------
    eta : float
        Learning rate.
    sigma, mu_4 : float
        Standard deviation and fourth central moment of the noise.
    fourth_norm : float
        |w|_4^4.

    Returns
    -------
    float

    Notes
    -----
    Source: Incidental Polysemanticity, Appendix C, "in summary"; three lines before, the bracket closes elsewhere.

    Examples
    --------
    >>> fourth_moment_term(0.5, 1.0, 1.0, 0.25)
    6.0
    """
    return 16 * eta**2 * 3 * sigma**4 * (1 + fourth_norm * (mu_4 - 3 * sigma**4))


def first_flow(b: ArrayLike, pull: ArrayLike) -> Array:
    """Right-hand side of the gated flow without the inner 1/K: b_k - sum_l A_kl w_l.

    Parameters
    ----------
    b, pull : array_like
        E[g_k Y x] and sum_l A_kl w_l.

    Returns
    -------
    numpy.ndarray

    Notes
    -----
    Source: the notes on localization, eq. 44; divided by K, eq. 41.

    Examples
    --------
    >>> first_flow([3.0], [1.0])
    array([2.])
    """
    return np.asarray(b, dtype=np.float64) - np.asarray(pull, dtype=np.float64)


def gated_modes(t: float, values: ArrayLike, u0: ArrayLike, c: ArrayLike, K: int) -> Array:
    """Modes of the gated flow by the text's solution: e^(-lambda t / K) on the way to c / lambda.

    Parameters
    ----------
    t : float
        Time, in units of tau.
    values, u0, c : array_like, shape (n,)
        Eigenvalues of A, and modes of the first weights and of b.
    K : int
        Number of neurons.

    Returns
    -------
    numpy.ndarray, shape (n,)

    Notes
    -----
    Source: the notes on localization, eq. 47 and eq. 48, the constant e^C such that the flow starts at u0.

    Examples
    --------
    >>> gated_modes(np.inf, [2.0], [5.0], [1.0], 3)
    array([0.5])
    """
    lam, start, drive = (np.asarray(given, dtype=np.float64) for given in (values, u0, c))
    fade = np.exp(-lam * t / K)
    return fade * start + (1 - fade) * drive / lam


def half_line_mean(gain: float, r: float) -> float:
    """The half-line mean with 2 / sqrt(pi) for 1 / pi: 2 / sqrt(pi) arctan(r / sqrt(1 / (2 gain^2) + 1 - r^2)).

    Parameters
    ----------
    gain : float
        g, above 0.
    r : float
        Correlation of the two pixels, in (-1, 1).

    Returns
    -------
    float

    Notes
    -----
    Source: the notes on localization, eq. 66; eq. 65 is the same with sqrt(2) g r / sqrt(1 + 2 g^2 (1 - r^2)).

    Examples
    --------
    >>> round(half_line_mean(3.0, 0.7788), 4)
    0.9707
    """
    return float(2 / np.sqrt(np.pi) * np.arctan(r / np.sqrt(1 / (2 * gain**2) + 1 - r**2)))


def small_bump(gain: float, r: ArrayLike, Z: float) -> Array:
    """Covariance of the small bump with 1 / sqrt(pi) Z in front: arctan(r / sqrt(1/(2 g^2) + 1 - r^2)) / (sqrt(pi) Z).

    Parameters
    ----------
    gain : float
        g, above 0.
    r : array_like
        Correlations of the pixels with the one that the gate sees, in [-1, 1].
    Z : float
        Normalization of the inputs.

    Returns
    -------
    numpy.ndarray

    Notes
    -----
    Source: the notes on localization, eq. 67.

    Examples
    --------
    >>> round(float(small_bump(1.0, 1.0, 1.0)), 4)
    0.539
    """
    r = np.asarray(r, dtype=np.float64)
    return np.arctan(r / np.sqrt(1 / (2 * gain**2) + 1 - r**2)) / (np.sqrt(np.pi) * Z)


def steady_energy(values0: ArrayLike, values1: ArrayLike) -> Array:
    """Squared amplitude of a steady wave, sqrt(2 / pi) / (lambda_0 + lambda_1).

    Parameters
    ----------
    values0, values1 : array_like
        Eigenvalues of both covariances.

    Returns
    -------
    numpy.ndarray

    Notes
    -----
    Source: the notes on localization, eq. 25.

    Examples
    --------
    >>> round(float(steady_energy(0.5, 0.5)), 4)
    0.7979
    """
    return np.sqrt(2 / np.pi) / (np.asarray(values0) + values1)


def fourier_basis(n: int) -> Array:
    """Real and imaginary parts of the waves v_j as columns, without sqrt(2), for an even number of pixels.

    Parameters
    ----------
    n : int
        Number of pixels, even.

    Returns
    -------
    numpy.ndarray, shape (n, n)
        Real parts of j = 0 to n / 2, imaginary parts of j = 1 to n / 2 - 1.

    Notes
    -----
    Source: the notes on localization, the matrix F after eq. 35.

    Examples
    --------
    >>> fourier_basis(2).round(3)
    array([[ 0.707,  0.707],
           [ 0.707, -0.707]])
    """
    pixels = np.arange(n)
    waves = np.exp(-2j * np.pi * np.outer(pixels, pixels) / n) / n**0.5
    return np.column_stack([waves.real[:, : n // 2 + 1], waves.imag[:, 1 : n // 2]])
