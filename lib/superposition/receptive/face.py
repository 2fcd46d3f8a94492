"""The functions that `superposition.receptive` hands out: each checks its arguments once, and calls what computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.receptive import (
    flat_field,
    gated_networks,
    landscape,
    landscape_descent,
    least_squares,
    nlgp,
    relu_flow,
    ring,
    single_pulses,
    tilings,
)
from superposition.receptive.tilings import Tile, Waves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxtyping import Float
    from numpy.typing import ArrayLike

GAINS = (1e-6, 1e6)
LARGEST = 1e100  # of moments: their products stay finite
STEEPEST = 1e50  # weight of a neuron: its variance stays finite


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

    Notes
    -----
    Source: the notes on localization, below eq. 61.

    Examples
    --------
    >>> kernel_row(6, 1.0).round(3)
    array([1.   , 0.368, 0.018, 0.   , 0.018, 0.368])
    """
    return ring.kernel_row(*_law(n, xi), _kernel(kernel))


def gaussian_covariance(n: int, xi: float, kernel: str = "periodic") -> Float[np.ndarray, "n n"]:
    """Covariance of the Gaussian process z, and of the NLGP in the limit of small gain.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    xi : float
        Correlation length in pixels, above 0 and up to 100 n.
    kernel : {"periodic", "wrapped"}
        "periodic" is the text's exp(-d^2 / xi^2) with d the shorter way round the ring. It has a kink at n / 2 and no
        longer is a covariance where that matters. "wrapped" sums exp(-d^2 / xi^2) over all ways round and divides by
        the sum at d = 0; it always is one.

    Returns
    -------
    numpy.ndarray, shape (n, n)
        A circulant matrix with unit diagonal.

    Raises
    ------
    ValueError
        If an argument is out of range; `NotACovariance` if the periodic kernel has an eigenvalue below -1e-12.

    Notes
    -----
    Source: the notes on localization, below eq. 61.

    Examples
    --------
    >>> gaussian_covariance(4, 1.0).round(3)
    array([[1.   , 0.368, 0.018, 0.368],
           [0.368, 1.   , 0.368, 0.018],
           [0.018, 0.368, 1.   , 0.368],
           [0.368, 0.018, 0.368, 1.   ]])
    """
    return ring.gaussian_covariance(*_law(n, xi), _kernel(kernel))


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
    ValueError
        If the matrix is no circulant symmetric one, or `samples` is below 1; `NotACovariance` if an eigenvalue is below
        -1e-12 times the largest entry.

    Notes
    -----
    Source: the notes on localization, section 1.

    Examples
    --------
    >>> gaussian_sample(gaussian_covariance(6, 1.0), 2, seed=0).shape
    (2, 6)
    """
    covariance, samples = _circulant("covariance", covariance), checks.whole("samples", samples, 1)
    return ring.gaussian_sample(covariance, samples, seed=checks.generator("seed", seed))


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
    >>> circulant([1.0, 0.5, 0.25, 0.5])
    array([[1.  , 0.5 , 0.25, 0.5 ],
           [0.5 , 1.  , 0.5 , 0.25],
           [0.25, 0.5 , 1.  , 0.5 ],
           [0.5 , 0.25, 0.5 , 1.  ]])
    """
    return ring.circulant(checks.array("row", row, "n"))


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
    >>> eigenvalues(circulant([1.0, 0.5, 0.25, 0.5]))
    array([2.25, 0.75, 0.25])
    """
    return ring.eigenvalues(_circulant("covariance", covariance))


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
    ValueError
        If the matrix is no circulant symmetric one; `NotACovariance` if an eigenvalue is below -1e-12 times the largest
        entry.

    Notes
    -----
    Source: the notes on localization, section 1; the eigenvalues are those of eq. 32.

    Examples
    --------
    >>> import numpy as np
    >>> C = gaussian_covariance(6, 1.0)
    >>> root = square_root(C)
    >>> np.allclose(root @ root, C)
    True
    """
    return ring.square_root(_circulant("covariance", covariance))


def fourier_basis(n: int) -> Float[np.ndarray, "n n"]:
    """Real orthogonal Fourier basis, columns sorted by frequency.

    Parameters
    ----------
    n : int
        Pixels of the ring, even and at least 4.

    Returns
    -------
    numpy.ndarray, shape (n, n)
        The constant column, then a cosine and a sine column for each frequency from 1 to n / 2 - 1, then the column of
        alternating signs.

    Raises
    ------
    ValueError
        If `n` is odd or below 4.

    Notes
    -----
    Source: the notes on localization, eq. 33 (v_j), eq. 34 (Re v_j is an eigenvector), eq. 35 (Re v_j = Re v_(n-j), so
    half of them are enough) and Figure 2. The text takes real and imaginary parts of unit vectors as they are; all but
    the first and the last column then lack a factor sqrt(2).

    Examples
    --------
    >>> fourier_basis(4).round(3) + 0.0
    array([[ 0.5  ,  0.707,  0.   ,  0.5  ],
           [ 0.5  ,  0.   ,  0.707, -0.5  ],
           [ 0.5  , -0.707,  0.   ,  0.5  ],
           [ 0.5  ,  0.   , -0.707, -0.5  ]])
    """
    n = checks.whole("n", n, 4)
    if n % 2:
        raise ValueError(f"n = {n} is odd; allowed: even numbers from 4")
    return ring.fourier_basis(n)


def normalization(gain: ArrayLike) -> np.ndarray:
    """Standard deviation Z of erf(gain z) for a standard normal z.

    Parameters
    ----------
    gain : array_like
        Gain, from 1e-6 to 1e6.

    Returns
    -------
    numpy.ndarray
        Z = sqrt((2 / pi) arcsin q) with q of `saturation`; dividing by it makes the variance 1.

    Raises
    ------
    ValueError
        If `gain` is out of range.

    Notes
    -----
    Source: the notes on localization, below eq. 61, where Z(g) is not given.

    Examples
    --------
    >>> print(f"{normalization(3.0):.4f}")
    0.8902
    """
    return nlgp.normalization(_gains(gain))


def saturation(gain: ArrayLike) -> np.ndarray:
    """How far the gain pushes a pixel into the flat part of erf: q = 2 gain^2 / (1 + 2 gain^2).

    Parameters
    ----------
    gain : array_like
        Gain, from 1e-6 to 1e6.

    Returns
    -------
    numpy.ndarray
        q, in (0, 1): 0 is Gaussian, 1 is a pixel of two values.

    Raises
    ------
    ValueError
        If `gain` is out of range.

    Notes
    -----
    Source: the notes on localization, section 1; the formula is ours.

    Examples
    --------
    >>> saturation([0.1, 1.0, 10.0]).round(4)
    array([0.0196, 0.6667, 0.995 ])
    """
    return nlgp.saturation(_gains(gain))


def nlgp_covariance(n: int, xi: float, gain: float, kernel: str = "periodic") -> Float[np.ndarray, "n n"]:
    """Covariance of the NLGP, arcsin(q r) / arcsin(q) with r that of the Gaussian process.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    xi : float
        Correlation length in pixels, above 0 and up to 100 n.
    gain : float
        Gain, from 1e-6 to 1e6; `gaussian_covariance` is the limit of small gain.
    kernel : {"periodic", "wrapped"}
        See `gaussian_covariance`.

    Returns
    -------
    numpy.ndarray, shape (n, n)
        A circulant matrix with unit diagonal.

    Raises
    ------
    ValueError
        If an argument is out of range; `NotACovariance` if z has no such covariance.

    Notes
    -----
    Source: the notes on localization, section 1, which names the NLGP and does not define it; the closed form is the
    arcsine law of the error function.

    Examples
    --------
    >>> nlgp_covariance(40, 2.0, 3.0)[0, :4].round(4)
    array([1.    , 0.6666, 0.286 , 0.0803])
    """
    return nlgp.nlgp_covariance(*_law(n, xi), _gain(gain), _kernel(kernel))


def nlgp_sample(
    n: int, xi: float, gain: float, samples: int, *, seed: int | np.random.Generator, kernel: str = "periodic"
) -> Float[np.ndarray, "samples n"]:
    """Draw from the NLGP: x = erf(gain z) / Z, with variance 1 in every pixel.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    xi : float
        Correlation length of z in pixels, above 0 and up to 100 n.
    gain : float
        Gain, from 1e-6 to 1e6; `gaussian_sample` is the limit of small gain.
    samples : int
        Number of vectors, at least 1.
    seed : int or numpy.random.Generator
        Where the numbers come from.
    kernel : {"periodic", "wrapped"}
        See `gaussian_covariance`.

    Returns
    -------
    numpy.ndarray, shape (samples, n)

    Raises
    ------
    ValueError
        If an argument is out of range; `NotACovariance` if z has no such covariance.

    Notes
    -----
    Source: the notes on localization, section 1 and below eq. 61.

    Examples
    --------
    >>> x = nlgp_sample(40, 2.0, 3.0, 1000, seed=0)
    >>> x.shape, round(float(x.var()), 1)
    ((1000, 40), 1.0)
    """
    samples, rng = checks.whole("samples", samples, 1), checks.generator("seed", seed)
    return nlgp.nlgp_sample(*_law(n, xi), _gain(gain), samples, seed=rng, kernel=_kernel(kernel))


def critical_gain(n: int, xi1: float, xi2: float, kernel: str = "periodic") -> float:
    """Gain above which the flat receptive field of one neuron is unstable, to first order in q.

    The growth rate of frequency k is lam1_k (r_0 - r_k + q (1 + r_0) (lam1_0 / 3 + lam1_k) / n) / 4 + O(q^2) with r =
    lam0 / lam1 of the Gaussian process and q = 2 gain^2 / (1 + 2 gain^2); the first frequency to grow decides.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0, in pixels, above 0.
    kernel : {"periodic", "wrapped"}
        See `gaussian_covariance`.

    Returns
    -------
    float
        The critical gain. Infinite where xi1 <= xi2: the flat field is then unstable or neutral already at small gain,
        and what replaces it oscillates. NaN where q would have to be above 0.3, as on small rings: the first order says
        nothing there, `measured_critical_gain` may.

    Raises
    ------
    ValueError
        If an argument is out of range; `NotACovariance` if the kernel is no covariance.

    Notes
    -----
    Source: completes the notes on localization, which say that the gain controls localization; the formula is ours.

    Examples
    --------
    >>> print(f"{critical_gain(40, 2.0, 1.0):.4f}")
    0.1685
    """
    return flat_field.critical_gain(*_laws(n, xi1, xi2), _kernel(kernel))


def flat_growth(
    n: int, xi1: float, xi2: float, gain: float, frequency: int = 1, *, samples: int = 100_000, seed: int = 0, kernel:
    str = "periodic",
) -> tuple[float, float]:  # fmt: skip
    """Growth rate of a wave on the flat receptive field at any gain, by conditional Monte Carlo.

    Given everything but its mean, a Gaussian vector z has exactly one mean at which the sum of erf(gain z_i) vanishes,
    so the delta function in the rate becomes an average without any smoothing. Gaussian data, where rate and averages
    are known, serve as control variate.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0, in pixels, above 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    frequency : int
        Frequency of the wave, from 1 to n // 2.
    samples : int
        Number of vectors, at least 100.
    seed : int
        Seed of the vectors; the same seed gives the same vectors at every gain.
    kernel : {"periodic", "wrapped"}
        See `gaussian_covariance`.

    Returns
    -------
    rate : float
        In units of 1 / tau.
    se : float
        Its standard error.

    Raises
    ------
    NotACovariance
        If the kernel is no covariance.
    FewVectors
        If few vectors carry the average, as at large gain; more of them help. It is a ValueError.
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: completes the notes on localization, which say that the gain controls localization; the formula is ours.

    Examples
    --------
    >>> rate, se = flat_growth(40, 2.0, 1.0, 0.1, samples=2000)
    >>> bool(rate < -4 * se)  # below the critical gain the flat field is stable
    True
    """
    n, xi1, xi2 = _laws(n, xi1, xi2, 3)
    frequency, samples, seed = _wave(n, frequency, samples, seed)
    options = {"samples": samples, "seed": seed, "kernel": _kernel(kernel)}
    return flat_field.flat_growth(n, xi1, xi2, _gain(gain), frequency, **options)


def measured_critical_gain(
    n: int, xi1: float, xi2: float, frequency: int = 1, *, samples: int = 100_000, seed: int = 0, kernel: str =
    "periodic",
) -> tuple[float, float]:  # fmt: skip
    """Gain at which `flat_growth` changes sign.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0, in pixels, xi1 > xi2 > 0.
    frequency : int
        Frequency of the wave, from 1 to n // 2.
    samples : int
        Number of vectors, at least 100.
    seed : int
        Seed of the vectors.
    kernel : {"periodic", "wrapped"}
        See `gaussian_covariance`.

    Returns
    -------
    gain : float
        To 0.1 %; infinite if the wave does not grow at gain 3 either, or, on small rings, at the largest gain below it
        at which `flat_growth` has an error.
    se : float
        Its standard error, from that of the rate and the slope of the rate.

    Raises
    ------
    ValueError
        If an argument is out of range, or the wave already grows at gain 0.001; `NotACovariance` if the kernel is no
        covariance.

    Notes
    -----
    Source: completes the notes on localization, which say that the gain controls localization; the formula is ours.

    Examples
    --------
    >>> gain, se = measured_critical_gain(40, 2.0, 1.0, samples=2000)
    >>> bool(abs(gain - critical_gain(40, 2.0, 1.0)) < 4 * se + 0.02)
    True
    """
    n, xi1, xi2 = _laws(n, xi1, xi2, 3)
    frequency, samples, seed = _wave(n, frequency, samples, seed)
    options = {"samples": samples, "seed": seed, "kernel": _kernel(kernel)}
    return flat_field.measured_critical_gain(n, xi1, xi2, frequency, **options)


def gdln_solution(A: ArrayLike, b: ArrayLike, w0: ArrayLike, t: ArrayLike) -> np.ndarray:
    """First-layer weights of a gated linear network with mean readout, at any time.

    The flow is ``K dw/dt = b - A w / K``, so ``w(t) = exp(-A t/K^2) w0 + (t/K) phi(A t/K^2) b`` with
    ``phi(z) = (1 - exp(-z))/z``. That needs no inverse of A; directions that A does not see keep their initial value.

    Parameters
    ----------
    A : array_like, shape (K n, K n)
        E[g_k g_l x x'], symmetric positive semi-definite; it may be singular.
    b : array_like, shape (K, n) or (K n,)
        E[g_k Y x].
    w0 : array_like, shape (K, n)
        Initial weights; gives K and n.
    t : array_like
        Times, 0 or more, in units of tau; ``inf`` gives the limit.

    Returns
    -------
    numpy.ndarray, shape (*t.shape, K, n)

    Raises
    ------
    ValueError
        If the shapes do not fit, A is not symmetric positive semi-definite, a time is negative, or b lies outside the
        range of A and a time is infinite.

    Notes
    -----
    Source: the localization notes. The network is eq. 39 with the weights of eq. 40 as rows. Its flow is eq. 41, in
    blocks eq. 44, and for gates that exclude each other eq. 50, each with the factor 1/K of the mean readout that they
    lack. The solution is eq. 47, eq. 48 and eq. 49, with that factor and without the constant e^C, which is complex for
    half of the modes.

    Examples
    --------
    >>> import numpy as np
    >>> A, b = np.diag([1.0, 0.1]), [[0.5, 0.5]]  # one gate, two pixels
    >>> gdln_solution(A, b, np.zeros((1, 2)), [1.0, np.inf])[:, 0].round(3)
    array([[0.316, 0.476],
           [0.5  , 5.   ]])
    """
    w0 = checks.array("w0", w0, "K n")
    A, b = checks.real("A", A, -LARGEST, LARGEST), checks.real("b", b, -LARGEST, LARGEST)
    size = w0.size
    if A.shape != (size, size) or b.size != size:
        raise ValueError(f"A and b have shapes {A.shape} and {b.shape}; allowed: ({size}, {size}) and {w0.shape}")
    if not np.allclose(A, A.T, rtol=1e-9, atol=1e-12 * np.abs(A).max()):
        raise ValueError("A is not symmetric; allowed: symmetric matrices")
    return gated_networks.gdln_solution(A, b, w0, checks.real("t", t, 0))


def one_neuron_score(w: ArrayLike, xi1: float, xi2: float, gain: float) -> tuple[float, np.ndarray]:
    """Score of one field, R = (E_1|<w, x>|)^2 / (w'(C0 + C1)w / 2), whose maximum is the best ReLU neuron.

    The least loss E(yhat - Y)^2 / 2 along the direction of w is 1/4 - R / 16.

    Parameters
    ----------
    w : array_like, shape (n,)
        Receptive field, not zero, on a ring of n pixels.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0, in pixels, above 0.
    gain : float
        Gain, from 1e-6 to 1e6.

    Returns
    -------
    score : float
    gradient : numpy.ndarray, shape (n,)

    Raises
    ------
    ValueError
        If an argument is out of range, or w is zero; `NotACovariance` if a length gives no covariance.

    Notes
    -----
    Source: completes the notes on localization, section 2, which stop at Gaussian data; the formula is ours.

    Examples
    --------
    >>> import numpy as np
    >>> flat, bump = np.ones(40), np.exp(-(np.arange(-20, 20.0) ** 2) / 80)
    >>> bool(one_neuron_score(bump, 2, 1, 0.3)[0] > one_neuron_score(flat, 2, 1, 0.3)[0])
    True
    >>> bool(one_neuron_score(bump, 2, 1, 0.1)[0] > one_neuron_score(flat, 2, 1, 0.1)[0])
    False
    """
    w = checks.array("w", w, "n")
    if not np.any(w):
        raise ValueError("w = 0 is no receptive field; allowed: fields with an entry that is not 0")
    _, xi1, xi2 = _laws(len(w), xi1, xi2)
    return landscape.one_neuron_score(w, xi1, xi2, _gain(gain))


def many_neuron_loss(W: ArrayLike, xi1: float, xi2: float, gain: float) -> tuple[float, np.ndarray]:
    """Loss E(yhat - Y)^2 / 2 of a ReLU network, yhat = (1/K) sum_k ReLU(<w_k, x>), to first order.

    Parameters
    ----------
    W : array_like, shape (K, n)
        Receptive fields, none zero, on a ring of n pixels.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0, in pixels, above 0.
    gain : float
        Gain, from 1e-6 to 1e6.

    Returns
    -------
    loss : float
    gradient : numpy.ndarray, shape (K, n)

    Raises
    ------
    ValueError
        If an argument is out of range, or a field is zero; `NotACovariance` if a length gives no covariance.

    Notes
    -----
    Source: completes the notes on localization, section 2, which stop at Gaussian data; the formula is ours.

    Examples
    --------
    >>> import numpy as np
    >>> W = np.eye(4, 40)
    >>> loss, gradient = many_neuron_loss(W, 2, 1, 1)
    >>> bool(many_neuron_loss(W - 0.1 * gradient, 2, 1, 1)[0] < loss)
    True
    """
    W = checks.array("W", W, "K n")
    if not np.all(np.any(W, axis=1)):
        raise ValueError("W has a row of zeros; allowed: fields with an entry that is not 0")
    _, xi1, xi2 = _laws(W.shape[1], xi1, xi2)
    return landscape.many_neuron_loss(W, xi1, xi2, _gain(gain))


def predicted_fields(
    n: int, xi1: float, xi2: float, gain: float, K: int, *, start: str = "random", steps: int = 2000, seed: int = 0
) -> np.ndarray:
    """Receptive fields of K ReLU neurons, predicted: a minimum of `many_neuron_loss`.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0, in pixels, above 0.
    gain : float
        Gain, from 1e-6 to 1e6. The first order is good for a single field up to 0.3; from 1 on, many neurons localize
        in training where it lets them spread: see `superposition.receptive.tilings`.
    K : int
        Neurons, at least 1.
    start : {"random", "tiled"}
        Descend from Xavier normal weights, or from K bumps evenly spread over the ring with random signs.
    steps : int
        At most so many steps of L-BFGS, at least 1.
    seed : int
        Seed of the start.

    Returns
    -------
    numpy.ndarray, shape (K, n)

    Raises
    ------
    ValueError
        If an argument is out of range; `NotACovariance` if a length gives no covariance.

    Notes
    -----
    Source: completes the notes on localization, section 3.2; the formulas are ours.

    Examples
    --------
    >>> from superposition.receptive.measures import ipr
    >>> bool((40 * ipr(predicted_fields(40, 2, 1, 0.05, 1)) < 1.1).all())  # below the critical gain: flat
    True
    """
    n, xi1, xi2 = _laws(n, xi1, xi2, 3)
    K, steps, seed = checks.whole("K", K, 1), checks.whole("steps", steps, 1), checks.whole("seed", seed, 0)
    options = {"start": checks.one_of("start", start, landscape_descent.STARTS), "steps": steps, "seed": seed}
    return landscape_descent.predicted_fields(n, xi1, xi2, _gain(gain), K, **options)


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
    Source: the localization notes. It is eq. 42 for this gate, eq. 59, and so eq. 60; x_i > 0 where z_i > 0 makes it
    eq. 61, and the result is eq. 67, with 1/(2 pi Z) for the printed 1/(sqrt(pi) Z).

    Examples
    --------
    >>> small_bump_covariance(40, 2.0, 3.0, 0)[:3].round(4)
    array([0.2394, 0.1538, 0.0655])
    """
    n, xi = _law(n, xi, 3)
    return least_squares.small_bump_covariance(n, xi, _gain(gain), checks.whole("i", i, 0, n - 1))


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
    >>> small_bump_field(40, 2.0, 1.0, 3.0, 0)[:4].round(3)
    array([ 0.375,  0.102,  0.025, -0.005])
    """
    n, xi1, xi2 = _laws(n, xi1, xi2, 3)
    return least_squares.small_bump_field(n, xi1, xi2, _gain(gain), checks.whole("i", i, 0, n - 1))


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
    Source: completes eq. 4 and eq. 5 of the notes on localization, with the factor 1/K that both lack, by eq. 12 and
    the corrected eq. 18. For K = 1 it is eq. 19 and eq. 20. `gaussian_loss` is the loss that it descends.

    Examples
    --------
    >>> import numpy as np
    >>> C1, C0 = (gaussian_covariance(10, xi) for xi in (1.0, 0.5))
    >>> gaussian_flow(np.eye(1, 10), C0, C1)[0, :3].round(4)
    array([-0.3005, -0.0232, -0.0009])
    """
    return relu_flow.gaussian_flow(*_network(W, C0, C1))


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
    >>> C1, C0 = (gaussian_covariance(10, xi) for xi in (1.0, 0.5))
    >>> round(gaussian_loss(1e-9 * np.eye(1, 10), C0, C1), 6)  # E Y^2 / 2: nothing is predicted
    0.25
    """
    return relu_flow.gaussian_loss(*_network(W, C0, C1))


def pulse_support(n: int, lengths: Sequence[int], version: str = "raw") -> Float[np.ndarray, "m n"]:
    """Every vector of the data set; all have the same probability.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    lengths : sequence of int
        Possible lengths of the pulse, each from 1 to n, all equally likely.
    version : {"raw", "complemented", "signed"}
        "raw": 1 in the pulse and 0 outside. "complemented": x, or 1 - x with probability 1/2. "signed": 2 x - 1, times
        a random sign.

    Returns
    -------
    numpy.ndarray, shape (m, n)
        m is n for each length, and twice that where a complement or a sign is drawn.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: the notes on localization, section 1, which name this data set and do not define it; the definition follows
    the public code of its authors.

    Examples
    --------
    >>> pulse_support(4, [2])
    array([[1., 1., 0., 0.],
           [0., 1., 1., 0.],
           [0., 0., 1., 1.],
           [1., 0., 0., 1.]])
    """
    n, lengths = _pulses(n, lengths)
    return single_pulses.pulse_support(n, lengths, checks.one_of("version", version, single_pulses.VERSIONS))


def pulse_moment(n: int, lengths: Sequence[int], pixels: Sequence[int]) -> float:
    """Probability that all the given pixels lie in the pulse: any moment of the raw data.

    The pulse covers them all if and only if its complement lies in one of the gaps between them, so the probability is
    the sum over gaps of max(gap + length - n, 0) / n. For two pixels at distance d and length below n / 2 it is
    max(length - d, 0) / n.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    lengths : sequence of int
        Possible lengths of the pulse, each from 1 to n, all equally likely.
    pixels : sequence of int
        One pixel or more, from 0 to n - 1; repetitions do not matter.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: the notes on localization, section 1, which name this data set and do not define it; the definition follows
    the public code of its authors.

    Examples
    --------
    >>> pulse_moment(10, [3], [0, 2])  # (length - distance) / n
    0.1
    """
    n, lengths = _pulses(n, lengths)
    pixels = checks.wholes("pixels", pixels, 0, n - 1)
    if not pixels:
        raise ValueError("pixels = () is empty; allowed: at least one pixel")
    return single_pulses.pulse_moment(n, lengths, pixels)


def pulse_second_moment(n: int, lengths: Sequence[int], version: str = "raw") -> Float[np.ndarray, "n n"]:
    """Second moments E[x_i x_j] in closed form; they are not centred.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    lengths : sequence of int
        Possible lengths of the pulse, each from 1 to n, all equally likely.
    version : {"raw", "complemented", "signed"}
        See `pulse_support`.

    Returns
    -------
    numpy.ndarray, shape (n, n)

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: the notes on localization, section 1, which name this data set and do not define it; the definition follows
    the public code of its authors.

    Examples
    --------
    >>> pulse_second_moment(5, [2])[0]
    array([0.4, 0.2, 0. , 0. , 0.2])
    """
    n, lengths = _pulses(n, lengths)
    return single_pulses.pulse_second_moment(n, lengths, checks.one_of("version", version, single_pulses.VERSIONS))


def sample_waves(n: int, xi1: float, xi2: float, gain: float, samples: int, *, seed: int = 0) -> Waves:
    """Draw NLGP data of both labels, in the form the functions below take.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0, in pixels, above 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    samples : int
        Vectors of each label, at least 100; every one counts with all its turns round the ring.
    seed : int
        Seed of the vectors.

    Returns
    -------
    Waves

    Raises
    ------
    ValueError
        If an argument is out of range; `NotACovariance` if a length gives no covariance.

    Notes
    -----
    Source: completes the notes on localization, which measure localized fields; the formulas are ours.

    Examples
    --------
    >>> data = sample_waves(40, 2, 1, 3, 100, seed=0)
    >>> data.label1.x.shape, data.n
    ((100, 21), 40)
    """
    n, xi1, xi2 = _laws(n, xi1, xi2, 3)
    samples, seed = checks.whole("samples", samples, 100), checks.whole("seed", seed, 0)
    return tilings.sample_waves(n, xi1, xi2, _gain(gain), samples, seed=seed)


def best_tile(data: Waves, *, tiled: bool, widths: tuple = (1.0, 3.0, 12.0)) -> Tile:
    """The best field of a single neuron, or the best one whose copies of either sign tile the ring.

    Parameters
    ----------
    data : Waves
        From `sample_waves`.
    tiled : bool
        Many neurons (True) or one (False).
    widths : tuple of float
        The search starts from Gaussian bumps of these widths, in pixels, and the best end counts.

    Returns
    -------
    Tile

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: completes the notes on localization, which measure localized fields; the formulas are ours.

    Examples
    --------
    >>> data = sample_waves(40, 2, 1, 3, 500, seed=0)
    >>> one, many = (best_tile(data, tiled=tiled) for tiled in (False, True))
    >>> bool(abs(one.field[2] / one.field[0]) < abs(many.field[2] / many.field[0]))  # many: wider
    True
    """
    if not isinstance(data, Waves):
        raise ValueError(f"data = {checks.shown(data)} is no sample; allowed: what sample_waves returns")
    starts = checks.array("widths", checks.real("widths", widths, 0, open_low=True, open_high=True), "k")
    return tilings.best_tile(data, tiled=checks.flag("tiled", tiled), widths=tuple(starts))


def _law(n, xi, least=2):
    n = checks.whole("n", n, least)
    return n, checks.number("xi", xi, 0, ring.WIDEST * n, open_low=True)


def _laws(n, xi1, xi2, least=2):
    n = checks.whole("n", n, least)
    return n, *ring.lengths(n, xi1, xi2)


def _kernel(kernel):
    return checks.one_of("kernel", kernel, ring.KERNELS)


def _gains(gain):
    array = checks.real("gain", gain)
    outside = ~((array >= GAINS[0]) & (array <= GAINS[1]))
    if np.any(outside):
        raise ValueError(
            f"gain = {array[outside].flat[0]:g} is out of range; allowed: [1e-06, 1e+06]; the limit of small gain has "
            "gaussian_covariance and gaussian_sample"
        )
    return array


def _gain(gain):
    return checks.number("gain", _gains(gain))


def _wave(n, frequency, samples, seed):
    frequency = checks.whole("frequency", frequency, 1, n // 2)
    return frequency, checks.whole("samples", samples, 100), checks.whole("seed", seed, 0)


def _circulant(name, matrix):
    matrix = checks.array(name, matrix, "n n")
    if matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise ValueError(f"{name} has shape {matrix.shape}; allowed: (n, n) with n of 2 or more")
    if not np.allclose(matrix, ring.circulant(matrix[0]), rtol=0, atol=ring.ROUNDING * np.abs(matrix[0]).max()):
        raise ValueError(f"{name} is not a symmetric circulant matrix; allowed: those that depend on distance alone")
    return matrix


def _network(W, C0, C1):
    W = checks.array("W", np.atleast_2d(checks.real("W", W, -STEEPEST, STEEPEST)), "K n")
    n = W.shape[1]
    return W, checks.array("C0", C0, (n, n)), checks.array("C1", C1, (n, n))


def _pulses(n, lengths):
    n = checks.whole("n", n, 2)
    found = checks.wholes("lengths", lengths, 1, n)
    if not found:
        raise ValueError("lengths = () is empty; allowed: at least one length")
    return n, found
