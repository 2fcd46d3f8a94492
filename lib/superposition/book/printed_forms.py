"""Formulas as the texts print them, where a verdict excludes the printed form: alternatives, never results.

These formulas are wrong, or wrong under the conditions of the book's check. A slip of ours here would refute a text
that is right, so each formula has a test with a value computed by hand from its source.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def mean_terms(L: ArrayLike, p: float) -> float:
    """Toy Models, L in powers of S: sum_k p^k (1 - p)^(n - k) L_k, of means over patterns with k features on."""
    L = np.asarray(L, dtype=np.float64)
    k = np.arange(len(L))
    return float(np.sum(p**k * (1 - p) ** k[::-1] * L))


def nothing_on(b: ArrayLike) -> float:
    """Toy Models, L_0 without importances: sum_i ReLU(b_i)^2."""
    return float(np.sum(np.maximum(b, 0) ** 2))


def xor_matrix(ns: int) -> Array:
    """The Persian Rug, section 4.3, H with XOR in the place of AND: the parity of bin(i) XOR bin(j), as a sign."""
    index = np.arange(ns)
    return (-1.0) ** (np.bitwise_count(index[:, None] ^ index) % 2)


def fourth_moment_term(eta: float, sigma: float, mu_4: float, fourth_norm: float) -> float:
    """Incidental Polysemanticity, App. C, "in summary": 3 sigma^4 16 eta^2 (1 + |w|_4^4 (mu_4 - 3 sigma^4))."""
    # three lines before "in summary", the bracket closes elsewhere
    return 16 * eta**2 * 3 * sigma**4 * (1 + fourth_norm * (mu_4 - 3 * sigma**4))


def first_flow(b: ArrayLike, pull: ArrayLike) -> Array:
    """Notes on localization, eq. 44 (eq. 41, divided by K): b_k - sum_l A_kl w_l, of which ``pull`` is the sum."""
    return np.asarray(b, dtype=np.float64) - np.asarray(pull, dtype=np.float64)


def gated_modes(t: float, values: ArrayLike, u0: ArrayLike, c: ArrayLike, K: int) -> Array:
    """Notes on localization, eq. 47 and 48: on the way from u0 to c / lambda, of which e^(-lambda t / K) is left."""
    lam, start, drive = (np.asarray(given, dtype=np.float64) for given in (values, u0, c))
    fade = np.exp(-lam * t / K)
    return fade * start + (1 - fade) * drive / lam


def half_line_mean(gain: float, r: float) -> float:
    """Notes on localization, eq. 65 and 66: 2 / sqrt(pi) arctan(r / sqrt(1 / (2 gain^2) + 1 - r^2)), not 1 / pi."""
    return float(2 / np.sqrt(np.pi) * np.arctan(r / np.sqrt(1 / (2 * gain**2) + 1 - r**2)))


def small_bump(gain: float, r: ArrayLike, Z: float) -> Array:
    """Notes on localization, eq. 67: arctan(r / sqrt(1 / (2 gain^2) + 1 - r^2)) / (sqrt(pi) Z)."""
    r = np.asarray(r, dtype=np.float64)
    return np.arctan(r / np.sqrt(1 / (2 * gain**2) + 1 - r**2)) / (np.sqrt(np.pi) * Z)


def steady_energy(values0: ArrayLike, values1: ArrayLike) -> Array:
    """Notes on localization, eq. 25, squared amplitude of a steady wave: sqrt(2 / pi) / (lambda_0 + lambda_1)."""
    return np.sqrt(2 / np.pi) / (np.asarray(values0) + values1)


def fourier_basis(n: int) -> Array:
    """Notes on localization, F after eq. 35, n even: Re of v_0 to v_(n/2), Im of v_1 to v_(n/2-1), without sqrt(2)."""
    pixels = np.arange(n)
    waves = np.exp(-2j * np.pi * np.outer(pixels, pixels) / n) / n**0.5
    return np.column_stack([waves.real[:, : n // 2 + 1], waves.imag[:, 1 : n // 2]])
