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
    """First row of a kernel on the ring, be it a covariance or not.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    xi : float
        Correlation length in pixels, above 0 and up to 100 n.
    kernel : {"periodic", "wrapped"}
        See `gaussian_covariance`.

    Returns
    -------
    numpy.ndarray, shape (n,)

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from superposition import receptive
    >>> receptive.kernel_row(6, 1.0).round(3)
    array([1.   , 0.368, 0.018, 0.   , 0.018, 0.368])
    """
    n = checks.whole("n", n, 2)
    xi = checks.number("xi", xi, 0, WIDEST * n, open_low=True)
    d = np.minimum(np.arange(n), n - np.arange(n))
    if checks.one_of("kernel", kernel, KERNELS) == "periodic":
        return np.exp(-((d / xi) ** 2))
    turns = n * np.arange(-int(7 * xi / n) - 2, int(7 * xi / n) + 3)  # beyond, exp(-49)
    row = np.exp(-(((d[:, None] + turns) / xi) ** 2)).sum(axis=1)
    return row / row[0]


def lengths(n: int, xi1: float, xi2: float) -> tuple[float, float]:
    """The correlation lengths of both classes, each refused under its own name.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    xi1, xi2 : float
        As `kernel_row` has one.

    Returns
    -------
    tuple of float

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    n = checks.whole("n", n, 2)
    xi1 = checks.number("xi1", xi1, 0, WIDEST * n, open_low=True)
    return xi1, checks.number("xi2", xi2, 0, WIDEST * n, open_low=True)


def gaussian_covariance(n: int, xi: float, kernel: str = "periodic") -> Float[np.ndarray, "n n"]:
    """Covariance of the Gaussian process z, and of the NLGP in the limit of small gain.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    xi : float
        Correlation length in pixels, above 0 and up to 100 n.
    kernel : {"periodic", "wrapped"}
        "periodic" is the text's exp(-d^2 / xi^2) with d the shorter way round the ring. It has
        a kink at n / 2 and no longer is a covariance where that matters. "wrapped" sums
        exp(-d^2 / xi^2) over all ways round and divides by the sum at d = 0; it always is one.

    Returns
    -------
    numpy.ndarray, shape (n, n)
        A circulant matrix with unit diagonal.

    Raises
    ------
    NotACovariance
        If the periodic kernel has an eigenvalue below -1e-12.
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: the notes on localization, below eq. 61.

    Examples
    --------
    >>> from superposition import receptive
    >>> receptive.gaussian_covariance(4, 1.0).round(3)
    array([[1.   , 0.368, 0.018, 0.368],
           [0.368, 1.   , 0.368, 0.018],
           [0.018, 0.368, 1.   , 0.368],
           [0.368, 0.018, 0.368, 1.   ]])
    """
    return circulant(covariance_row(n, xi, kernel))


def covariance_row(n: int, xi: float, kernel: str = "periodic") -> Float[np.ndarray, " n"]:
    """First row of `gaussian_covariance`, which says it all.

    Parameters
    ----------
    n, xi, kernel : int, float, str
        See `gaussian_covariance`.

    Returns
    -------
    numpy.ndarray, shape (n,)

    Raises
    ------
    NotACovariance
        If the periodic kernel has an eigenvalue below -1e-12.
    """
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
    """Draw from the centred Gaussian with a circulant covariance: the limit of small gain, or a clone.

    Parameters
    ----------
    covariance : array_like, shape (n, n)
        A circulant covariance, as `gaussian_covariance` and `nlgp_covariance` return it.
    samples : int
        Number of vectors, at least 1.
    seed : int or numpy.random.Generator
        Where the numbers come from.

    Returns
    -------
    numpy.ndarray, shape (samples, n)

    Raises
    ------
    NotACovariance
        If an eigenvalue is below -1e-12 times the largest entry.
    ValueError
        If the matrix is no circulant symmetric one, or `samples` is below 1.

    Examples
    --------
    >>> from superposition import receptive
    >>> receptive.gaussian_sample(receptive.gaussian_covariance(6, 1.0), 2, seed=0).shape
    (2, 6)
    """
    eigenvalues(covariance)  # refuses what is no circulant matrix
    return stationary_sample(np.asarray(covariance, dtype=np.float64)[0], samples, seed=seed)


def stationary_sample(
    row: ArrayLike, samples: int, *, seed: int | np.random.Generator
) -> Float[np.ndarray, "samples n"]:
    """Draw from the centred Gaussian whose circulant covariance has a given first row.

    Parameters
    ----------
    row : array_like, shape (n,)
        Entry d is the covariance at distance d, on either side.
    samples : int
        Number of vectors, at least 1.
    seed : int or numpy.random.Generator
        Where the numbers come from.

    Returns
    -------
    numpy.ndarray, shape (samples, n)
        Standard normal vectors times the square root of the matrix; from n = 512 on by Fourier transforms.

    Raises
    ------
    NotACovariance
        If an eigenvalue is below -1e-12 times the largest entry.
    ValueError
        If `row` is not the same in both directions, or `samples` is below 1.
    """
    samples, row = checks.whole("samples", samples, 1), checks.array("row", row, "n")
    if not np.allclose(row[1:], row[:0:-1], rtol=0, atol=ROUNDING * np.abs(row).max()):
        raise ValueError("row is not the same in both directions; allowed: those that depend on distance alone")
    n, gains = len(row), np.sqrt(_nonnegative(np.fft.rfft(row).real, np.abs(row).max()))
    z = checks.generator("seed", seed).standard_normal((samples, n))
    if n < BY_TRANSFORMS:
        return z @ circulant(np.fft.irfft(gains, n=n))
    return fft.irfft(fft.rfft(z, axis=1) * gains, n=n, axis=1, overwrite_x=True)


def circulant(row: ArrayLike) -> Float[np.ndarray, "n n"]:
    """The symmetric circulant matrix with a given first row.

    Parameters
    ----------
    row : array_like, shape (n,)
        Entry d is that at distance d; row[d] = row[n - d].

    Returns
    -------
    numpy.ndarray, shape (n, n)

    Raises
    ------
    ValueError
        If `row` holds anything but finite numbers.

    Notes
    -----
    Source: the notes on localization, eq. 32.

    Examples
    --------
    >>> from superposition import receptive
    >>> receptive.circulant([1.0, 0.5, 0.25, 0.5])
    array([[1.  , 0.5 , 0.25, 0.5 ],
           [0.5 , 1.  , 0.5 , 0.25],
           [0.25, 0.5 , 1.  , 0.5 ],
           [0.5 , 0.25, 0.5 , 1.  ]])
    """
    row = checks.array("row", row, "n")
    index = np.arange(len(row))
    return row[(index[:, None] - index) % len(row)]


def eigenvalues(covariance: ArrayLike) -> Float[np.ndarray, " frequencies"]:
    """Eigenvalues of a symmetric circulant matrix, by frequency.

    Parameters
    ----------
    covariance : array_like, shape (n, n)
        A symmetric circulant matrix.

    Returns
    -------
    numpy.ndarray, shape (n // 2 + 1,)
        Entry k belongs to the cosine and the sine of frequency k.

    Raises
    ------
    ValueError
        If the matrix is no circulant symmetric one.

    Notes
    -----
    Source: the notes on localization, eq. 32; the eigenvectors are those of eq. 33 and eq. 34.

    Examples
    --------
    >>> from superposition import receptive
    >>> receptive.eigenvalues(receptive.circulant([1.0, 0.5, 0.25, 0.5]))
    array([2.25, 0.75, 0.25])
    """
    return spectrum("covariance", covariance)


def spectrum(name: str, matrix: ArrayLike) -> Float[np.ndarray, " frequencies"]:
    """`eigenvalues` of what the caller calls by another name.

    Parameters
    ----------
    name : str
        The name to use in refusals.
    matrix : array_like, shape (n, n)
        A symmetric circulant matrix.

    Returns
    -------
    numpy.ndarray, shape (n // 2 + 1,)

    Raises
    ------
    ValueError
        If the matrix is no circulant symmetric one.
    """
    matrix = checks.array(name, matrix, "n n")
    if matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise ValueError(f"{name} has shape {matrix.shape}; allowed: (n, n) with n of 2 or more")
    row = matrix[0]
    if not np.allclose(matrix, circulant(row), rtol=0, atol=ROUNDING * np.abs(row).max()):
        raise ValueError(f"{name} is not a symmetric circulant matrix; allowed: those that depend on distance alone")
    return np.fft.rfft(row).real


def square_root(covariance: ArrayLike) -> Float[np.ndarray, "n n"]:
    """Symmetric square root of a circulant covariance.

    Parameters
    ----------
    covariance : array_like, shape (n, n)
        A symmetric circulant matrix.

    Returns
    -------
    numpy.ndarray, shape (n, n)
        Its product with itself is the covariance; eigenvalues that are zero up to rounding become 0.

    Raises
    ------
    NotACovariance
        If an eigenvalue is below -1e-12 times the largest entry.
    ValueError
        If the matrix is no circulant symmetric one.

    Examples
    --------
    >>> import numpy as np
    >>> from superposition import receptive
    >>> C = receptive.gaussian_covariance(6, 1.0)
    >>> root = receptive.square_root(C)
    >>> np.allclose(root @ root, C)
    True
    """
    values = _nonnegative(eigenvalues(covariance), np.abs(covariance).max())
    return circulant(np.fft.irfft(np.sqrt(values), n=len(covariance)))  # pyrefly: ignore[bad-argument-type]: a matrix


def fourier_basis(n: int) -> Float[np.ndarray, "n n"]:
    """Real orthogonal Fourier basis, columns sorted by frequency.

    Parameters
    ----------
    n : int
        Pixels of the ring, even and at least 4.

    Returns
    -------
    numpy.ndarray, shape (n, n)
        The constant column, then a cosine and a sine column for each frequency from 1 to
        n / 2 - 1, then the column of alternating signs.

    Raises
    ------
    ValueError
        If `n` is odd or below 4.

    Notes
    -----
    Source: the notes on localization, eq. 33 (v_j), eq. 34 (Re v_j is an eigenvector), eq. 35
    (Re v_j = Re v_(n-j), so half of them are enough) and Figure 2. The text takes real and
    imaginary parts of unit vectors as they are; all but the first and the last column then lack
    a factor sqrt(2).

    Examples
    --------
    >>> from superposition import receptive
    >>> receptive.fourier_basis(4).round(3) + 0.0
    array([[ 0.5  ,  0.707,  0.   ,  0.5  ],
           [ 0.5  ,  0.   ,  0.707, -0.5  ],
           [ 0.5  , -0.707,  0.   ,  0.5  ],
           [ 0.5  ,  0.   , -0.707, -0.5  ]])
    """
    n = checks.whole("n", n, 4)
    if n % 2:
        raise ValueError(f"n = {n} is odd; allowed: even numbers from 4")
    angle = 2 * np.pi * np.outer(np.arange(n), np.arange(1, n // 2)) / n
    pairs = np.stack([np.cos(angle), np.sin(angle)], axis=2).reshape(n, -1) * np.sqrt(2)
    alternating = 1.0 - 2.0 * (np.arange(n) % 2)
    return np.column_stack([np.ones(n), pairs, alternating]) / np.sqrt(n)


def _nonnegative(values, scale):
    """Eigenvalues with what is negative by rounding set to 0."""
    if values.min() < -ROUNDING * scale:
        raise NotACovariance(f"covariance has the eigenvalue {values.min():.2g}; allowed: none below 0")
    return np.maximum(values, 0)
