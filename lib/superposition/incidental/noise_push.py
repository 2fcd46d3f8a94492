"""Which way the noise pushes the sparsity of a row: exactly, by cumulants, and where it turns round.

Row u, of length 1, writes an output that should stay at 0: its input is -b sigma + u . xi, with
overlap -b sigma and noise xi of standard deviation sigma on each neuron. Its expected loss is
E ReLU(-b sigma + u . xi)^2. Descent turns u at fixed overlaps; here is what that does to the
fourth norm f = sum u_k^4. With s_q = sum |u_k|^q, kappa_2r the cumulants of xi and p the density
of u . xi,

    df/d(eta t) = -8 sum_k (u_k^3 - f u_k) E[xi_k ReLU(u . xi - b sigma)]
                = 8 sum_(r >= 2) kappa_2r / (2r - 1)! (s_(2r+2) - f s_2r) p^(2r-3)(b sigma):

all even cumulants count, each with a derivative of the density at b.
Source: ours, for Incidental Polysemanticity, section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.incidental.tail_moments import tails

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.incidental.noise_laws import Law


def push(u: ArrayLike, b: ArrayLike, law: Law) -> np.ndarray:
    """Rate df/d(eta t) at which one shut output changes the fourth norm of its row, exactly.

    Parameters
    ----------
    u : array_like, shape (m,)
        The row; its length does not matter, but may not be 0.
    b : array_like
        Depths -W_i . u / (sigma |u|) of the output below zero, in standard deviations of its noise.
    law : superposition.incidental.Law
        Law of the noise.

    Returns
    -------
    numpy.ndarray
        As `b`. Positive: sparser. Rates of several outputs add.

    Raises
    ------
    ValueError
        If `u` is zero or not finite, `b` is not finite, or a discrete law has too many sums.

    Notes
    -----
    Source: ours, for Incidental Polysemanticity, section 3; exact for discrete laws, see
    `superposition.incidental.tail_moments.tails`.

    Examples
    --------
    >>> from superposition import incidental
    >>> u = [0.8, 0.4, 0.3, 0.2]
    >>> [bool(push(u, 1.5, law) > 0) for law in (incidental.bipolar(0.1), incidental.laplace(0.1))]
    [True, False]
    """
    u, b = _unit(u), checks.real("b", b, open_low=True, open_high=True)
    mixed = tails(-law.sigma * b.ravel(), u, law).mixed[1]
    return (-8 * mixed @ (u**3 - np.sum(u**4) * u)).reshape(b.shape)


def push_series(u: ArrayLike, b: ArrayLike, law: Law) -> Float[np.ndarray, "3 ..."]:
    """The first three terms of `push` for a dense row: of the orders k / m, kappa6 / m^2 and k^2 / m^2, times 1 / m.

    Parameters
    ----------
    u : array_like, shape (m,)
        The row; its length does not matter, but may not be 0.
    b : array_like
        Depths, see `push`.
    law : superposition.incidental.Law
        Law of the noise.

    Returns
    -------
    numpy.ndarray, shape (3, ...)
        With k and kappa6 in units of sigma, and phi the normal density:
        -(4/3) k sigma^2 b phi(b) (s6 - f^2),
        -(1/15) kappa6 sigma^2 b (b^2 - 3) phi(b) (s8 - f s6), and
        -(1/18) k^2 sigma^2 b (b^4 - 10 b^2 + 15) phi(b) f (s6 - f^2).

    Raises
    ------
    ValueError
        If `u` is zero or not finite, or `b` is not finite.

    Notes
    -----
    Source: ours. The loss behind the first two is sigma^2 k b phi(b) f / 12 and
    sigma^2 kappa6 b (b^2 - 3) phi(b) s6 / 360.
    """
    u, b = _unit(u), checks.real("b", b, -1e50, 1e50)
    f, s6, s8 = (np.sum(u**q) for q in (4, 6, 8))
    k, kappa6 = law.excess_kurtosis, law.sixth_cumulant
    front = -(law.sigma**2) * b * np.exp(-(b**2) / 2) / np.sqrt(2 * np.pi)
    return front * np.array([
        4 / 3 * k * (s6 - f**2) + 0 * b,
        kappa6 / 15 * (b**2 - 3) * (s8 - f * s6),
        k**2 / 18 * (b**4 - 10 * b**2 + 15) * f * (s6 - f**2),
    ])  # fmt: skip


def mean_push(m: int, b: ArrayLike, law: Law, *, rows: int = 32, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Mean of `push` over random directions, where rows start.

    Parameters
    ----------
    m : int
        Neurons, at least 2.
    b : array_like
        Depths, see `push`.
    law : superposition.incidental.Law
        Law of the noise.
    rows : int
        Random directions, at least 2.
    seed : int
        Their seed.

    Returns
    -------
    mean, se : numpy.ndarray
        Mean and its standard error, as `b`.

    Raises
    ------
    ValueError
        If an argument is out of range, or a discrete law has too many sums.

    Notes
    -----
    Source: ours, for Incidental Polysemanticity, section 3.
    """
    shape = (checks.whole("rows", rows, 2), checks.whole("m", m, 2))
    directions = np.random.default_rng(checks.whole("seed", seed, 0)).standard_normal(shape)
    found = np.array([push(u, b, law) for u in directions])
    return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(rows)


def turning_depth(m: int, kurtosis: ArrayLike, kappa6: ArrayLike) -> np.ndarray:
    """Depth b at which the noise stops pushing random directions either way.

    Parameters
    ----------
    m : int
        Neurons, at least 2.
    kurtosis : array_like
        Excess kurtosis k, -2 or more.
    kappa6 : array_like
        Sixth cumulant in units of sigma^6, not 0.

    Returns
    -------
    numpy.ndarray
        The square root of 3 - 2 (m + 8) k / kappa6, where the mean of the first two terms of
        `push_series` over the sphere vanishes; nan where that is negative and the first term
        wins everywhere. Below it the noise pushes to the axes if kappa6 > 0, above it if kappa6 < 0.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: ours. The means of s6 - f^2 and s8 - f s6 over the sphere have the ratio (m + 8) / 10.

    Examples
    --------
    >>> round(float(turning_depth(16, -1, 28)), 3)
    2.171
    """
    m = checks.whole("m", m, 2)
    k = checks.real("kurtosis", kurtosis, -2, open_high=True)
    kappa6 = checks.real("kappa6", kappa6, open_low=True, open_high=True)
    if np.any(kappa6 == 0):
        raise ValueError("kappa6 = 0 is not allowed; allowed: other numbers, as at 0 nothing turns")
    square = 3 - 2 * (m + 8) * k / kappa6
    return np.sqrt(np.where(square >= 0, square, np.nan))


def _unit(u):
    u = checks.real("u", u, open_low=True, open_high=True)
    if u.ndim != 1 or not u.any():
        raise ValueError(f"u has shape {u.shape}; allowed: (m,), not zero everywhere")
    return u / np.linalg.norm(u)
