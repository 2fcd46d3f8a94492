"""A ring of pixels: circulant matrices, correlation kernels and stationary Gaussian processes.

Source: the notes on localization, section 1 and eq. 32 to 35. A covariance that depends on
distance alone is a circulant matrix; the Fourier transform of its first row holds its
eigenvalues.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import fft

from superposition import checks, ranges
from superposition.checked import checked
from superposition.receptive.ranges import (
    ROUNDING,
    WIDEST,
    circulant_matrix,
    covariance_sample_fits,
    even_pixels,
    kernel,
    length,
    length0,
    length1,
    one_length,
    pixels,
    row,
)

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


BY_TRANSFORMS = 512  # pixels from which a Fourier transform is faster than a matrix


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


@checked(one_length, n=pixels, xi=length, kernel=kernel)
def kernel_row(n: int, xi: float, kernel: str = "periodic") -> Float[np.ndarray, " n"]:
    """First row of a kernel on the ring, whether it is a covariance or not.

    Source: the notes on localization, below eq. 61. Use `gaussian_covariance` instead where it has to be a covariance.

    Examples
    --------
    >>> kernel_row(6, 1.0).round(3)
    array([1.   , 0.368, 0.018, 0.   , 0.018, 0.368])
    """
    d = np.minimum(np.arange(n), n - np.arange(n))
    if kernel == "periodic":
        return np.exp(-((d / xi) ** 2))
    turns = n * np.arange(-int(7 * xi / n) - 2, int(7 * xi / n) + 3)  # beyond, exp(-49)
    row = np.exp(-(((d[:, None] + turns) / xi) ** 2)).sum(axis=1)
    return row / row[0]


@checked(n=pixels, xi1=length1, xi2=length0)
def correlation_lengths(n: int, xi1: float, xi2: float) -> tuple[float, float]:
    """Correlation lengths of both classes, each refused under its own name where it is too long for the ring.

    Source: ours.

    Examples
    --------
    >>> correlation_lengths(40, 2, 1)
    (2.0, 1.0)
    """
    n = checks.whole("n", n, 2)
    xi1 = checks.number("xi1", xi1, 0, WIDEST * n, open_low=True)
    return xi1, checks.number("xi2", xi2, 0, WIDEST * n, open_low=True)


@checked(one_length, n=pixels, xi=length, kernel=kernel)
def gaussian_covariance(n: int, xi: float, kernel: str = "periodic") -> Float[np.ndarray, "n n"]:
    """Covariance of the Gaussian process z, and of the NLGP in the limit of small gain.

    Source: the notes on localization, below eq. 61. Use `nlgp_covariance` instead at any other gain.

    Parameters
    ----------
    kernel : {"periodic", "wrapped"}
        "periodic" is the text's exp(-d^2 / xi^2) with d the shorter way round the ring. It has a kink at n / 2 and is
        not a covariance where that matters. "wrapped" sums exp(-d^2 / xi^2) over all ways round and divides by the sum
        at d = 0; it always is one.

    Returns
    -------
    numpy.ndarray, shape (n, n)
        A circulant matrix with unit diagonal.

    Raises
    ------
    NotACovariance
        If the periodic kernel has an eigenvalue below -1e-12. It is a ValueError.

    Examples
    --------
    >>> gaussian_covariance(4, 1.0).round(3)
    array([[1.   , 0.368, 0.018, 0.368],
           [0.368, 1.   , 0.368, 0.018],
           [0.018, 0.368, 1.   , 0.368],
           [0.368, 0.018, 0.368, 1.   ]])
    """
    return circulant(covariance_row(n, xi, kernel))


def covariance_row(n: int, xi: float, kernel: str = "periodic") -> Float[np.ndarray, " n"]:
    """First row of `gaussian_covariance`, which determines all other rows, or `NotACovariance`."""
    row = kernel_row(n, xi, kernel)
    lowest = np.fft.rfft(row).real.min()
    if lowest < -ROUNDING:
        raise NotACovariance(
            f"xi = {float(xi):g} is too large for n = {n}: the periodic kernel has the eigenvalue {lowest:.2g}; "
            "allowed: smaller xi, or kernel='wrapped'"
        )
    return row


@checked(covariance_sample_fits, covariance=circulant_matrix, samples=ranges.samples, seed=ranges.seed)
def gaussian_sample(
    covariance: ArrayLike, samples: int, *, seed: int | np.random.Generator
) -> Float[np.ndarray, "samples n"]:
    """Draw from the centred Gaussian with a circulant covariance: the limit of small gain, or a clone.

    Source: the notes on localization, section 1. Use `nlgp_sample` instead for any other gain.

    Raises
    ------
    NotACovariance
        If an eigenvalue is below -1e-12 times the largest entry.

    Examples
    --------
    >>> gaussian_sample(gaussian_covariance(6, 1.0), 2, seed=0).shape
    (2, 6)
    """
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


@checked(row=row)
def circulant(row: ArrayLike) -> Float[np.ndarray, "n n"]:
    """The symmetric circulant matrix with a given first row.

    Source: the notes on localization, eq. 32.

    Parameters
    ----------
    row : array_like, shape (n,)
        Entry d is the value at distance d; row[d] = row[n - d]. At most 4096 entries.

    Examples
    --------
    >>> circulant([1.0, 0.5, 0.25, 0.5])[1]
    array([0.5 , 1.  , 0.5 , 0.25])
    """
    row = np.asarray(row, dtype=np.float64)
    index = np.arange(len(row))
    return row[(index[:, None] - index) % len(row)]


@checked(covariance=circulant_matrix)
def eigenvalues(covariance: ArrayLike) -> Float[np.ndarray, " frequencies"]:
    """Eigenvalues of a symmetric circulant matrix, by frequency.

    Source: the notes on localization, eq. 32; the eigenvectors are those of eq. 33 and eq. 34.

    Returns
    -------
    numpy.ndarray, shape (n // 2 + 1,)
        Entry k belongs to the cosine and the sine of frequency k.

    Examples
    --------
    >>> eigenvalues(circulant([1.0, 0.5, 0.25, 0.5]))
    array([2.25, 0.75, 0.25])
    """
    return np.fft.rfft(np.asarray(covariance, dtype=np.float64)[0]).real


@checked(covariance=circulant_matrix)
def square_root(covariance: ArrayLike) -> Float[np.ndarray, "n n"]:
    """Symmetric square root of a circulant covariance.

    Source: the notes on localization, section 1; the eigenvalues are those of eq. 32.

    Returns
    -------
    numpy.ndarray, shape (n, n)
        Its product with itself is the covariance; eigenvalues that are zero up to rounding become 0.

    Raises
    ------
    NotACovariance
        If an eigenvalue is below -1e-12 times the largest entry.

    Examples
    --------
    >>> C = gaussian_covariance(6, 1.0)
    >>> root = square_root(C)
    >>> np.allclose(root @ root, C)
    True
    """
    values = _nonnegative(eigenvalues(covariance), np.abs(covariance).max())
    return circulant(np.fft.irfft(np.sqrt(values), n=len(covariance)))  # pyrefly: ignore[bad-argument-type]: a matrix


@checked(n=even_pixels)
def fourier_basis(n: int) -> Float[np.ndarray, "n n"]:
    """Real orthogonal Fourier basis, columns sorted by frequency.

    Source: the notes on localization, eq. 33 (v_j), eq. 34 (Re v_j is an eigenvector), eq. 35 (Re v_j = Re v_(n-j), so
    half of them are enough) and Figure 2. The text takes real and imaginary parts of unit vectors as they are; all but
    the first and the last column then lack a factor sqrt(2).

    Returns
    -------
    numpy.ndarray, shape (n, n)
        The constant column, then a cosine and a sine column for each frequency from 1 to n / 2 - 1, then the column of
        alternating signs.

    Examples
    --------
    >>> fourier_basis(4).round(3)[1] + 0.0
    array([ 0.5  ,  0.   ,  0.707, -0.5  ])
    """
    angle = 2 * np.pi * np.outer(np.arange(n), np.arange(1, n // 2)) / n
    pairs = np.stack([np.cos(angle), np.sin(angle)], axis=2).reshape(n, -1) * np.sqrt(2)
    alternating = 1.0 - 2.0 * (np.arange(n) % 2)
    return np.column_stack([np.ones(n), pairs, alternating]) / np.sqrt(n)


def _nonnegative(values, scale):
    """Eigenvalues, with 0 for those that are negative by rounding."""
    if values.min() < -ROUNDING * scale:
        raise NotACovariance(f"covariance has the eigenvalue {values.min():.2g}; allowed: none below 0")
    return np.maximum(values, 0)
