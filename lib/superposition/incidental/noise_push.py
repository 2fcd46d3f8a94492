"""The effect of noise on the sparsity of a row: exactly, by cumulants, and where its sign changes.

Row u, of length 1, writes an output that should stay at 0: its input is -b sigma + u . xi, with
overlap -b sigma and noise xi of standard deviation sigma on each neuron. Its expected loss is
E ReLU(-b sigma + u . xi)^2. Descent turns u at fixed overlaps; this module has the effect on the
fourth norm f = sum u_k^4. With s_q = sum |u_k|^q, kappa_2r the cumulants of xi and p the density
of u . xi,

    df/d(eta t) = -8 sum_k (u_k^3 - f u_k) E[xi_k ReLU(u . xi - b sigma)]
                = 8 sum_(r >= 2) kappa_2r / (2r - 1)! (s_(2r+2) - f s_2r) p^(2r-3)(b sigma):

all even cumulants count, each with a derivative of the density at b. The output that should be 1 is clipped at 0 as
well, which matters only for noise larger than the squared length of its row: `open_push`. Source: ours, for Incidental
Polysemanticity, section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.incidental import ranges as own
from superposition.incidental.noise_laws import one_law
from superposition.incidental.tail_moments import along, gaussian_moments, tails

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.incidental.noise_laws import Law


_variances = ranges.array("k", ranges.SMALLEST, ranges.LARGEST)
_sixth = ranges.real(-ranges.LARGEST, ranges.LARGEST)


def mixture_exists(u: np.ndarray, variances: np.ndarray, shares: np.ndarray) -> None:
    """Refuse shares that do not belong to the variances, and more combinations than fit into memory."""
    if shares.shape != variances.shape or abs(shares.sum() - 1) > 1e-9:
        raise ValueError(f"shares = {shares} do not fit; allowed: one for each variance, 1 in all")
    if len(shares) ** len(u) > 2**20:
        raise ValueError(f"u has {len(u)} weights, {len(shares) ** len(u)} combinations; allowed: up to {2**20}")


@checked(u=own.rows("m"), b=ranges.real(), law=one_law)
def row_push(u: ArrayLike, b: ArrayLike, law: Law) -> np.ndarray:
    """Rate df/d(eta t) at which one shut output changes the fourth norm of its row u (m,), exactly.

    The length of u does not matter; `b` are depths -W_i . u / (sigma |u|) of the output below zero. Positive: sparser.
    Rates of several outputs add. Source: ours, for section 3. Use `mixture_row_push` for scale mixtures of Gaussians.

    Returns
    -------
    numpy.ndarray, as `b`

    Examples
    --------
    >>> from superposition.incidental import bipolar, laplace
    >>> u = [0.8, 0.4, 0.3, 0.2]
    >>> [bool(row_push(u, 1.5, law) > 0) for law in (bipolar(0.1), laplace(0.1))]
    [True, False]
    """
    u, b = _unit(u), np.asarray(b, float)
    return -8 * along(-law.sigma * b.ravel(), u, u**3 - np.sum(u**4) * u, law).reshape(b.shape)


@checked(u=own.rows("m"), b=ranges.real(), law=one_law)
def row_push_series(u: ArrayLike, b: ArrayLike, law: Law) -> Float[np.ndarray, "3 ..."]:
    """The first three terms (3, ...) of `row_push` for a dense row, of orders k, kappa6 / m and k^2 / m over m^2.

    Source: ours, for section 3. Use `row_push` for sparse rows.

    Examples
    --------
    >>> from superposition.incidental import bipolar
    >>> row_push_series([0.8, 0.4, 0.3, 0.2], 1.5, bipolar(0.1)).round(6)
    array([3.49e-04, 8.50e-05, 3.60e-05])
    """
    # With k and kappa6 in units of sigma, and phi the normal density: -(4/3) k sigma^2 b phi(b) (s6 - f^2), -(1/15)
    # kappa6 sigma^2 b (b^2 - 3) phi(b) (s8 - f s6), and -(1/18) k^2 sigma^2 b (b^4 - 10 b^2 + 15) phi(b) f (s6 - f^2).
    # The loss behind the first two is sigma^2 k b phi(b) f / 12 and sigma^2 kappa6 b (b^2 - 3) phi(b) s6 / 360.
    u, b = _unit(u), np.asarray(b, float)
    f, s6, s8 = (np.sum(u**q) for q in (4, 6, 8))
    k, kappa6 = law.excess_kurtosis, law.sixth_cumulant
    front = -(law.sigma**2) * b * np.exp(-(b**2) / 2) / np.sqrt(2 * np.pi)
    return front * np.array([
        4 / 3 * k * (s6 - f**2) + 0 * b,
        kappa6 / 15 * (b**2 - 3) * (s8 - f * s6),
        k**2 / 18 * (b**4 - 10 * b**2 + 15) * f * (s6 - f**2),
    ])  # fmt: skip


@checked(own.fits, m=own.features, b=ranges.real(), law=one_law, rows=ranges.whole(2), seed=ranges.seed)
def mean_row_push(m: int, b: ArrayLike, law: Law, *, rows: int = 32, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Mean of `row_push` over random directions, where rows start, and its standard error.

    Source: ours, for section 3.

    Examples
    --------
    >>> from superposition.incidental import bipolar
    >>> mean, se = mean_row_push(8, [1.0, 2.0], bipolar(0.1))
    >>> mean.round(5), se.round(5)
    (array([2.7e-04, 3.0e-05]), array([4.e-05, 0.e+00]))
    """
    directions = np.random.default_rng(seed).standard_normal((rows, m))
    found = np.array([row_push(u, b, law) for u in directions])
    return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(rows)


@checked(mixture_exists, u=own.rows("m"), b=ranges.real(), variances=_variances, shares=ranges.array("k", 0, 1))
def mixture_row_push(u: ArrayLike, b: ArrayLike, variances: ArrayLike, shares: ArrayLike) -> np.ndarray:
    """`row_push` in units of sigma^2 where each noise is Gaussian with a variance (k,) drawn with shares (k,).

    Every law whose density is a mixture of Gaussians about 0 is one, as far as wanted: Laplace, Student, two scales.
    Source: ours, for section 3. The cost is k^m: use `row_push` for many neurons.

    Examples
    --------
    >>> round(float(mixture_row_push([0.8, 0.6], 1.0, [0.5, 2.0], [0.5, 0.5])), 5)
    -0.00634
    """
    # Every law whose density is a mixture of Gaussians about 0 is one, as far as wanted: Laplace, Student, two scales.
    # Given the variances V, E[xi_k ReLU] = V_k u_k P(u . xi > b sigma).
    from scipy.special import ndtr

    u, b = _unit(u), np.asarray(b, float)
    variances, shares = np.asarray(variances, float), np.asarray(shares, float)
    picks = np.indices((len(shares),) * len(u)).reshape(len(u), -1)
    V = variances[picks] / (shares @ variances)
    opened = ndtr(-b.ravel()[:, None] / np.sqrt(u**2 @ V))
    mixed = (opened * np.prod(shares[picks], axis=0)) @ V.T * u
    return (-8 * mixed @ (u**3 - np.sum(u**4) * u)).reshape(b.shape)


@checked(w=own.rows("m"), law=one_law)
def open_push(w: ArrayLike, law: Law) -> float:
    """Rate df/d(eta t) at which the output that should be 1 changes the fourth norm of its row w (m,), exactly.

    The derivative is at fixed overlaps and lengths. It is 0 as long as no noise shuts the output. Rates of the shut
    outputs, from `row_push`, add. Source: ours, for section 3. Use `fourth_norm_slope` for all outputs together.

    Examples
    --------
    >>> from superposition.incidental import laplace, uniform
    >>> w = [0.8, 0.4, 0.3, 0.2]
    >>> [bool(open_push(w, law) > 0) for law in (laplace(0.4), uniform(0.4))]  # the reverse of a shut output
    [True, False]
    """
    # With y = |w|^2 + w . xi the loss is E (ReLU(y) - 1)^2; its derivative by w_k at a fixed |w|^2 is
    # 2 E[xi_k (y - 1) 1(y > 0)].
    w = np.asarray(w, float)
    mixed, u = tails(np.array([w @ w]), w, law).mixed[:, 0], _unit(w)
    return float(-8 / np.linalg.norm(w) * (u**3 - np.sum(u**4) * u) @ (mixed[1] - mixed[0]))


_noise = ranges.real(ranges.SMALLEST, 10)


@checked(ranges.together("sigma", "length"), n=ranges.whole(2, 4096), sigma=_noise, length=ranges.real(1e-6, 10))
def push_share(n: int, sigma: ArrayLike, length: ArrayLike) -> np.ndarray:
    """Push of all outputs of a simplex divided by the push of its shut outputs, to leading order in the kurtosis.

    Below 0 the noise does the reverse of what it does through shut outputs. The simplex has n rows of the squared
    length S given as `length`. Source: ours, for section 3. Use `open_push` and `row_push` for the exact pushes.

    Returns
    -------
    numpy.ndarray, as `sigma` and `length` broadcast

    Examples
    --------
    >>> [round(float(push_share(n, 0.4, 0.9)), 2) for n in (2, 3, 8)]
    [-5.14, 0.26, 0.61]
    """
    # 1 - (1 + (t - 1) / S) exp(-a t) with t = S / sigma^2 and a = (1 - 1 / (n - 1)^2) / 2
    length = np.asarray(length, float)
    t, a = length / np.square(sigma), (1 - 1 / (n - 1) ** 2) / 2
    return 1 - (1 + (t - 1) / length) * np.exp(-a * t)


@checked(n=ranges.whole(2, 4096), sigma=ranges.number(1e-6, 10))
def simplex_length(n: int, sigma: float) -> float:
    """Squared length of the rows at which a simplex has the least expected loss under Gaussian noise.

    Source: ours, for section 3.

    Examples
    --------
    >>> [round(simplex_length(n, 0.4), 3) for n in (2, 8)]
    [0.916, 0.797]
    """
    from scipy.optimize import minimize_scalar  # slow to import

    def loss(S):
        shut, own_output = gaussian_moments(np.array([-S / (n - 1), S]), sigma * np.sqrt(S)).T
        return (n - 1) * shut[2] + own_output[2] - 2 * own_output[1]

    return float(minimize_scalar(loss, bounds=(1e-3, 1.2), method="bounded").x)


@checked(m=own.neurons, kurtosis=ranges.real(-2), kappa6=_sixth)
def turning_depth(m: int, kurtosis: ArrayLike, kappa6: ArrayLike) -> np.ndarray:
    """Depth b at which the first two orders of the mean push over random directions vanish: a guide.

    Nan where the first term dominates everywhere. Source: ours, for section 3. Use `mean_row_push` for the exact push.

    Examples
    --------
    >>> round(float(turning_depth(8, -1, 28)), 4)
    2.0354
    """
    # Nan where the first term wins everywhere: the square root of 3 - 2 (m + 8) k / kappa6, where the mean of the first
    # two terms of `row_push_series` over the sphere vanishes: the means of s6 - f^2 and s8 - f s6 have the ratio (m +
    # 8) / 10. Below it the noise pushes to the axes if kappa6 > 0, above it if kappa6 < 0.
    square = 3 - 2 * (m + 8) * np.asarray(kurtosis, float) / np.asarray(kappa6, float)
    return np.sqrt(np.where(square >= 0, square, np.nan))


def _unit(u):
    u = np.asarray(u, float)
    return u / np.linalg.norm(u)
