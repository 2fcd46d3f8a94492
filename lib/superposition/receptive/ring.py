"""A ring of pixels: circulant matrices, correlation kernels and stationary Gaussian processes.

Source: the notes on localization, section 1 and eq. 32 to 35. A covariance that depends on
distance alone is a circulant matrix; the Fourier transform of its first row holds its
eigenvalues.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import fft

from superposition import checks

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


KERNELS = ("periodic", "wrapped")
ROUNDING = 1e-12  # eigenvalues above minus this are zero up to rounding, at variance 1
BY_TRANSFORMS = 512  # pixels from which a Fourier transform is faster than a matrix
WIDEST = 100  # largest correlation length, in units of the ring


class NotACovariance(ValueError):  # noqa: N818 - a name that reads as a sentence
    """A kernel with a negative eigenvalue: no process has it as its covariance.

    Examples
    --------
    >>> from superposition import receptive
    >>> try:
    ...     receptive.gaussian_covariance(40, 8.0)
    ... except receptive.NotACovariance as refusal:
    ...     print(str(refusal).split(":")[0])
    xi = 8 is too large for n = 40
    """


def kernel_row(n: int, xi: float, kernel: str = "periodic") -> Float[np.ndarray, " n"]:
    """First row (n,) of a kernel on the ring, be it a covariance or not; xi above 0 and up to 100 n."""
    d = np.minimum(np.arange(n), n - np.arange(n))
    if kernel == "periodic":
        return np.exp(-((d / xi) ** 2))
    turns = n * np.arange(-int(7 * xi / n) - 2, int(7 * xi / n) + 3)  # beyond, exp(-49)
    row = np.exp(-(((d[:, None] + turns) / xi) ** 2)).sum(axis=1)
    return row / row[0]


def lengths(n: int, xi1: float, xi2: float) -> tuple[float, float]:
    """The correlation lengths of both classes, each refused under its own name."""
    n = checks.whole("n", n, 2)
    xi1 = checks.number("xi1", xi1, 0, WIDEST * n, open_low=True)
    return xi1, checks.number("xi2", xi2, 0, WIDEST * n, open_low=True)


def gaussian_covariance(n: int, xi: float, kernel: str = "periodic") -> Float[np.ndarray, "n n"]:
    """Covariance of the Gaussian process z (the notes, below eq. 61): circulant, with unit diagonal."""
    return circulant(covariance_row(n, xi, kernel))


def covariance_row(n: int, xi: float, kernel: str = "periodic") -> Float[np.ndarray, " n"]:
    """First row of `gaussian_covariance`, which says it all, or `NotACovariance`."""
    row = kernel_row(n, xi, kernel)
    lowest = np.fft.rfft(row).real.min()
    if lowest < -ROUNDING:
        raise NotACovariance(
            f"xi = {float(xi):g} is too large for n = {n}: the periodic kernel has the eigenvalue {lowest:.2g}; "
            "allowed: smaller xi, or kernel='wrapped'"
        )
    return row


def gaussian_sample(
    covariance: ArrayLike, samples: int, *, seed: int | np.random.Generator
) -> Float[np.ndarray, "samples n"]:
    """Draw from the centred Gaussian with a circulant covariance: the limit of small gain, or a clone."""
    return stationary_sample(np.asarray(covariance, dtype=np.float64)[0], samples, seed=seed)


def stationary_sample(
    row: ArrayLike, samples: int, *, seed: int | np.random.Generator
) -> Float[np.ndarray, "samples n"]:
    """Standard normal vectors times the square root of the circulant matrix with this first row."""
    row = np.asarray(row, dtype=np.float64)
    n, gains = len(row), np.sqrt(_nonnegative(np.fft.rfft(row).real, np.abs(row).max()))
    z = np.random.default_rng(seed).standard_normal((samples, n))
    if n < BY_TRANSFORMS:
        return z @ circulant(np.fft.irfft(gains, n=n))
    return fft.irfft(fft.rfft(z, axis=1) * gains, n=n, axis=1, overwrite_x=True)


def circulant(row: ArrayLike) -> Float[np.ndarray, "n n"]:
    """The symmetric circulant matrix with a given first row (the notes on localization, eq. 32)."""
    row = np.asarray(row, dtype=np.float64)
    index = np.arange(len(row))
    return row[(index[:, None] - index) % len(row)]


def eigenvalues(covariance: ArrayLike) -> Float[np.ndarray, " frequencies"]:
    """Eigenvalues (n // 2 + 1,) of a symmetric circulant matrix, by frequency (eq. 32; vectors: eq. 33 and 34)."""
    return np.fft.rfft(np.asarray(covariance, dtype=np.float64)[0]).real


def square_root(covariance: ArrayLike) -> Float[np.ndarray, "n n"]:
    """Symmetric square root of a circulant covariance; eigenvalues that are zero up to rounding become 0."""
    values = _nonnegative(eigenvalues(covariance), np.abs(covariance).max())
    return circulant(np.fft.irfft(np.sqrt(values), n=len(covariance)))  # pyrefly: ignore[bad-argument-type]: a matrix


def fourier_basis(n: int) -> Float[np.ndarray, "n n"]:
    """Real orthogonal Fourier basis for even n, columns sorted by frequency (the notes on localization, Figure 2)."""
    # Eq. 33 (v_j), eq. 34 (Re v_j is an eigenvector) and eq. 35 (Re v_j = Re v_(n-j), so half of them are enough); the
    # text takes parts of unit vectors as they are, and all but the first and the last column lack a factor sqrt(2).
    angle = 2 * np.pi * np.outer(np.arange(n), np.arange(1, n // 2)) / n
    pairs = np.stack([np.cos(angle), np.sin(angle)], axis=2).reshape(n, -1) * np.sqrt(2)
    alternating = 1.0 - 2.0 * (np.arange(n) % 2)
    return np.column_stack([np.ones(n), pairs, alternating]) / np.sqrt(n)


def _nonnegative(values, scale):
    """Eigenvalues with what is negative by rounding set to 0."""
    if values.min() < -ROUNDING * scale:
        raise NotACovariance(f"covariance has the eigenvalue {values.min():.2g}; allowed: none below 0")
    return np.maximum(values, 0)
