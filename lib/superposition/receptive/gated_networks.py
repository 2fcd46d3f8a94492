"""Gated deep linear networks with one layer: moments, solution in time, limit and loss.

The network predicts ``yhat = (1/K) sum_k g_k(x) w_k . x`` with gates g_k that do not change. All
of its learning is in the moments ``A_kl = E[g_k g_l x x']``, shape (K n, K n), and
``b_k = E[g_k Y x]``, shape (K, n). Losses here are ``E(yhat - Y)^2``, as in eq. 53; eq. 3 has
half of that. Time is in units of tau.

Source: the localization notes, section 4 and 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.receptive.ranges import LARGEST, MOST_PIXELS, STEEPEST, gated_means, moments, sample

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def _sample_is_gated(gates, x, y):
    if len(gates) != len(x) or np.shape(y) != (len(x),):
        shapes = f"{gates.shape}, {x.shape} and {np.shape(y)}"
        raise ValueError(f"gates, x and y have shapes {shapes}; allowed: (N, K), (N, n) and (N,)")
    checks.whole("number of weights, K n,", gates.shape[1] * x.shape[1], 1, MOST_PIXELS)


def _start_fits(A, b, w0):
    _refuse_other_moments(A, b, w0.shape)


def _moments_fit(A, b):
    _refuse_other_moments(A, b, b.shape)


def _weights_fit(A, b, w):
    _refuse_other_moments(A, b, w.shape[-2:])


def _refuse_other_moments(A, b, shape):
    """Refuse moments that are not those of K gates and n pixels, or not symmetric."""
    size = shape[0] * shape[1]
    if np.shape(A) != (size, size) or np.size(b) != size:
        shapes = f"{np.shape(A)} and {np.shape(b)}"
        raise ValueError(f"A and b have shapes {shapes}; allowed: ({size}, {size}) and {shape}")
    if not np.allclose(A, A.T, rtol=1e-9, atol=1e-12 * np.abs(A).max()):
        raise ValueError("A is not symmetric; allowed: symmetric matrices")


@checked(_sample_is_gated, gates=ranges.array("N K"), x=sample, y=moments)
def gated_moments(
    gates: ArrayLike, x: ArrayLike, y: ArrayLike
) -> tuple[Float[np.ndarray, "Kn Kn"], Float[np.ndarray, "K n"]]:
    """Moments A and b over gates (N, K), open where above 0, inputs (N, n) and labels (N,).

    Source: the notes on localization, eq. 42, 43, 45, 46 and 52. Use `gaussian_second_moment` instead for Gaussian
    inputs.

    Returns
    -------
    A : numpy.ndarray, shape (K n, K n)
        E[g_k g_l x x'].
    b : numpy.ndarray, shape (K, n)
        E[g_k Y x].

    Examples
    --------
    >>> A, b = gated_moments([[1], [0]], [[1.0, 2.0], [3.0, 4.0]], [1, 0])
    >>> A, b
    (array([[0.5, 1. ],
           [1. , 2. ]]), array([[0.5, 1. ]]))
    """
    # b_k is Sigma^yx(p_k) of eq. 42, the block A_kl is Sigma^xx(p_k, p_l) of eq. 43, and A as a whole the Gram matrix
    # of eq. 46, with the gates of eq. 45 as one vector g; g times x, gate by gate, is the x tilde of eq. 52.
    gates, x, y = np.asarray(gates) > 0, np.asarray(x, float), np.asarray(y, float)
    count, n = x.shape
    K = gates.shape[1]
    A = np.empty((K, n, K, n))
    for k in range(K):
        opened = x[gates[:, k]]
        others = gates[gates[:, k]]
        for m in range(k, K):
            both = opened[others[:, m]]
            A[k, :, m] = both.T @ both / count
            A[m, :, k] = A[k, :, m].T
    return A.reshape(K * n, K * n), (gates * y[:, None]).T @ x / count


@checked(_start_fits, A=moments, b=moments, w0=ranges.array("K n"), t=ranges.real(0, np.inf))
def gdln_solution(A: ArrayLike, b: ArrayLike, w0: ArrayLike, t: ArrayLike) -> np.ndarray:
    """First-layer weights of a gated linear network with mean readout, at any time.

    The flow is ``K dw/dt = b - A w / K``, so ``w(t) = exp(-A t/K^2) w0 + (t/K) phi(A t/K^2) b`` with
    ``phi(z) = (1 - exp(-z))/z``. That needs no inverse of A; null directions of A keep their initial value.

    Source: the notes on localization. The network is eq. 39 with the weights of eq. 40 as rows. Its flow is eq. 41, in
    blocks eq. 44, and for gates that exclude each other eq. 50, each with the factor 1/K of the mean readout that they
    lack. The solution is eq. 47, eq. 48 and eq. 49, with that factor and without the constant e^C, which is complex for
    half of the modes.

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

    Raises
    ------
    ValueError
        If an argument is outside of its range, A is not symmetric positive semi-definite, or b lies outside the range
        of A and a time is infinite.

    Examples
    --------
    >>> A, b = np.diag([1.0, 0.1]), [[0.5, 0.5]]  # one gate, two pixels
    >>> gdln_solution(A, b, np.zeros((1, 2)), [1.0, np.inf])[:, 0].round(3)
    array([[0.316, 0.476],
           [0.5  , 5.   ]])
    """
    w0, times = np.asarray(w0, float), np.asarray(t, float)
    A, b = _symmetric(A), np.ravel(np.asarray(b, float))
    K = len(w0)
    values, vectors = _spectrum(A)
    start, pull = w0.ravel() @ vectors, b @ vectors
    z = np.multiply.outer(np.where(np.isinf(times), 0, times), values) / K**2
    u = np.exp(-z) * start + np.asarray(np.where(np.isinf(times), 0, times))[..., None] / K * _phi(z) * pull
    if np.isinf(times).any():
        u = np.where(np.isinf(times)[..., None], _limit(values, start, pull, K), u)
    return (u @ vectors.T).reshape(*times.shape, *w0.shape)


@checked(_moments_fit, A=moments, b=gated_means)
def limiting_weights(A: ArrayLike, b: ArrayLike) -> Float[np.ndarray, "K n"]:
    """Weights (K, n) of least norm that minimise the loss, K A^+ b.

    Source: the notes on localization, eq. 51 and section 4.1.2, which lack the factor K. Use `gdln_solution` instead
    for other initial weights.

    Examples
    --------
    >>> limiting_weights(np.diag([1.0, 0.1]), [[0.5, 0.5]])
    array([[0.5, 5. ]])
    """
    return gdln_solution(A, b, np.zeros(np.shape(b)), np.inf)


@checked(_moments_fit, A=moments, b=gated_means)
def limiting_loss(A: ArrayLike, b: ArrayLike) -> float:
    """Smallest E(yhat - Y)^2 with these gates, 1/2 - b' A^+ b.

    Source: the notes on localization, eq. 53, 54, 55, 56, 57 and 58.

    Examples
    --------
    >>> limiting_loss(np.eye(2), [[0.5, 0.0]])
    0.25
    """
    # The readout does not matter. Over gates g in {0, 1}^K, eq. 57, it is smallest where 2 b' A^+ b, the objective of
    # eq. 58, is largest.
    return float(gated_loss(A, b, limiting_weights(A, b)))


@checked(
    _weights_fit, A=moments, b=moments, w=ranges.array("... K n", -STEEPEST, STEEPEST),
    target=ranges.number(-LARGEST, LARGEST)
)  # fmt: skip
def gated_loss(A: ArrayLike, b: ArrayLike, w: ArrayLike, *, target: float = 0.5) -> np.ndarray:
    """Loss E(yhat - Y)^2, of shape (...), of weights (..., K, n).

    Source: the notes on localization, eq. 53; eq. 3 has half of it.

    Parameters
    ----------
    target : float
        E[Y^2]; 1/2 for two equally likely labels 0 and 1.

    Examples
    --------
    >>> print(gated_loss(np.eye(2), [[0.5, 0.0]], [[0.5, 0.0]]))
    0.25
    """
    w, b = np.asarray(w, float), np.ravel(np.asarray(b, float))
    K, n = w.shape[-2:]
    flat = w.reshape(*w.shape[:-2], K * n)
    return target - 2 / K * flat @ b + np.sum((flat @ _symmetric(A)) * flat, axis=-1) / K**2


@checked(b=gated_means)
def initial_speed(b: ArrayLike) -> float:
    """How fast E(yhat - Y)^2 falls at time 0 from zero weights: 2 |b|^2 / K^2, whatever the eigenvalues of A.

    Source: ours; the notes on localization, section 4.1.2, compare eigenvalues.

    Examples
    --------
    >>> initial_speed([[0.5, 0.0]])
    0.5
    """
    b = np.asarray(b, float)
    return float(2 * np.sum(b**2) / len(b) ** 2)


def _limit(values, start, pull, K):
    seen = values > _rounding(values)
    # a moment pulls in a null direction of A by at most sqrt(E[Y^2] eigenvalue): beyond, b is no moment
    slack = np.sqrt(_rounding(values)) + np.sqrt(np.finfo(float).eps) * np.linalg.norm(pull)
    if np.any(np.abs(pull[~seen]) > slack):
        raise ValueError("b lies outside the range of A: the weights grow for ever; allowed: moments of one law")
    return np.where(seen, K * pull / np.where(seen, values, 1), start)


def _phi(z):
    """(1 - exp(-z)) / z, 1 at 0."""
    safe = np.where(z == 0, 1, z)
    return np.where(z == 0, 1, -np.expm1(-safe) / safe)


def _spectrum(A):
    values, vectors = np.linalg.eigh(A)
    if values[0] < -_rounding(values):
        raise ValueError(f"A has the eigenvalue {values[0]:.3g}; allowed: positive semi-definite matrices")
    return np.maximum(values, 0), vectors


def _rounding(values):
    """Eigenvalues up to this size are zero except for rounding."""
    return 8 * len(values) * np.finfo(float).eps * np.abs(values).max()


def _symmetric(A):
    """The symmetric part of A, which differs from A by rounding."""
    A = np.asarray(A, float)
    return (A + A.T) / 2
