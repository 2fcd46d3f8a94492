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

from superposition import checks

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def moments(
    gates: ArrayLike, x: ArrayLike, y: ArrayLike
) -> tuple[Float[np.ndarray, "K*n K*n"], Float[np.ndarray, "K n"]]:
    """Moments A and b of a gated network over a sample.

    Parameters
    ----------
    gates : array_like of bool, shape (N, K)
        Which gates are open for each input.
    x : array_like, shape (N, n)
        Inputs.
    y : array_like, shape (N,)
        Labels.

    Returns
    -------
    A : numpy.ndarray, shape (K n, K n)
        E[g_k g_l x x'], in blocks.
    b : numpy.ndarray, shape (K, n)
        E[g_k Y x].

    Raises
    ------
    ValueError
        If the shapes do not fit or a gate never opens.

    Notes
    -----
    Source: the localization notes. b_k is Sigma^yx(p_k) of eq. 42, the block A_kl is
    Sigma^xx(p_k, p_l) of eq. 43, and A as a whole the Gram matrix of eq. 46, with the gates of eq. 45
    as one vector g; g times x, gate by gate, is the x tilde of eq. 52.
    """
    gates, x, y = _sample(gates, x, y)
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


def gdln_solution(A: ArrayLike, b: ArrayLike, w0: ArrayLike, t: ArrayLike) -> np.ndarray:
    """First-layer weights of a gated linear network with mean readout, at any time.

    The flow is ``K dw/dt = b - A w / K``, so
    ``w(t) = exp(-A t/K^2) w0 + (t/K) phi(A t/K^2) b`` with ``phi(z) = (1 - exp(-z))/z``. That
    needs no inverse of A; directions that A does not see keep their initial value.

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
        If the shapes do not fit, A is not symmetric positive semi-definite, a time is
        negative, or b lies outside the range of A and a time is infinite.

    Notes
    -----
    Source: the localization notes. The network is eq. 39 with the weights of eq. 40 as rows. Its flow
    is eq. 41, in blocks eq. 44, and for gates that exclude each other eq. 50, each with the factor
    1/K of the mean readout that they lack. The solution is eq. 47, eq. 48 and eq. 49, with that
    factor and without the constant e^C, which is complex for half of the modes.

    Examples
    --------
    >>> import numpy as np
    >>> from superposition import receptive
    >>> A, b = np.diag([1.0, 0.1]), [[0.5, 0.5]]  # one gate, two pixels
    >>> receptive.gdln_solution(A, b, np.zeros((1, 2)), [1.0, np.inf])[:, 0].round(3)
    array([[0.316, 0.476],
           [0.5  , 5.   ]])
    """
    w0 = _weights("w0", w0)
    A, b = _fitting(A, b, w0.size)
    times = checks.real("t", t, 0)
    K = len(w0)
    values, vectors = _spectrum(A)
    start, pull = w0.ravel() @ vectors, b @ vectors
    z = np.multiply.outer(np.where(np.isinf(times), 0, times), values) / K**2
    u = np.exp(-z) * start + np.asarray(np.where(np.isinf(times), 0, times))[..., None] / K * _phi(z) * pull
    if np.isinf(times).any():
        u = np.where(np.isinf(times)[..., None], _limit(values, start, pull, K), u)
    return (u @ vectors.T).reshape(*times.shape, *w0.shape)


def limiting_weights(A: ArrayLike, b: ArrayLike) -> Float[np.ndarray, "K n"]:
    """Weights of least norm that minimise the loss: ``K A^+ b``.

    Parameters
    ----------
    A : array_like, shape (K n, K n)
        E[g_k g_l x x'], symmetric positive semi-definite.
    b : array_like, shape (K, n)
        E[g_k Y x]; gives K and n.

    Returns
    -------
    numpy.ndarray, shape (K, n)

    Raises
    ------
    ValueError
        See `gdln_solution`.

    Notes
    -----
    Source: the localization notes, eq. 51 and section 4.1.2, where the factor K is missing.
    """
    return gdln_solution(A, b, np.zeros_like(_weights("b", b)), np.inf)


def limiting_loss(A: ArrayLike, b: ArrayLike) -> float:
    """Smallest ``E(yhat - Y)^2`` with these gates: ``1/2 - b' A^+ b``.

    Parameters
    ----------
    A : array_like, shape (K n, K n)
        E[g_k g_l x x'], symmetric positive semi-definite.
    b : array_like, shape (K, n)
        E[g_k Y x]; gives K and n.

    Returns
    -------
    float
        From 0 to 1/2 if A and b are moments of one law with labels 0 and 1, equally likely.

    Raises
    ------
    ValueError
        See `gdln_solution`.

    Notes
    -----
    Source: the localization notes, eq. 53, 54, 55 and 56. The readout does not matter here. Over gates
    g in {0, 1}^K, eq. 57, it is smallest where 2 b' A^+ b, the objective of eq. 58, is largest.

    Examples
    --------
    >>> limiting_loss([[1.0]], [[0.5]])
    0.25
    """
    return float(loss(A, b, limiting_weights(A, b)))


def loss(A: ArrayLike, b: ArrayLike, w: ArrayLike, *, target: float = 0.5) -> np.ndarray:
    """Loss ``E(yhat - Y)^2`` of given weights.

    Parameters
    ----------
    A : array_like, shape (K n, K n)
        E[g_k g_l x x'].
    b : array_like, shape (K, n) or (K n,)
        E[g_k Y x].
    w : array_like, shape (..., K, n)
        Weights.
    target : float
        E[Y^2]; 1/2 for two equally likely labels 0 and 1.

    Returns
    -------
    numpy.ndarray, shape (...)

    Raises
    ------
    ValueError
        If the shapes do not fit.
    """
    w = checks.real("w", w)
    if w.ndim < 2:
        raise ValueError(f"w has shape {w.shape}; allowed: (..., K, n)")
    K, n = w.shape[-2:]
    A, b = _fitting(A, b, K * n)
    flat = w.reshape(*w.shape[:-2], K * n)
    return target - 2 / K * flat @ b + np.sum((flat @ A) * flat, axis=-1) / K**2


def initial_speed(b: ArrayLike) -> float:
    """How fast the loss of a gated network falls at time 0 from zero weights: ``2 |b|^2 / K^2``.

    Parameters
    ----------
    b : array_like, shape (K, n)
        E[g_k Y x].

    Returns
    -------
    float
        Minus the derivative of ``E(yhat - Y)^2``; the eigenvalues of A do not enter.

    Raises
    ------
    ValueError
        If b does not have two axes.

    Examples
    --------
    >>> initial_speed([[0.5, 0.5]])
    1.0
    """
    b = _weights("b", b)
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
    """Eigenvalues up to here are zero but for rounding."""
    return 8 * len(values) * np.finfo(float).eps * np.abs(values).max()


def _weights(name, value):
    array = checks.real(name, value)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}; allowed: (K, n) with K and n from 1")
    return array


def _fitting(A, b, size):
    A, b = checks.real("A", A), checks.real("b", b).ravel()
    if A.shape != (size, size) or b.shape != (size,):
        raise ValueError(f"A and b have shapes {A.shape} and {b.shape}; allowed: ({size}, {size}) and ({size},)")
    if not np.allclose(A, A.T, rtol=1e-9, atol=1e-12 * np.abs(A).max()):
        raise ValueError("A is not symmetric; allowed: symmetric matrices")
    return (A + A.T) / 2, b


def _sample(gates, x, y):
    gates, x, y = np.asarray(gates, dtype=bool), checks.real("x", x), checks.real("y", y)
    if gates.ndim != 2 or x.ndim != 2 or y.ndim != 1 or not len(gates) == len(x) == len(y) > 0:
        raise ValueError(
            f"gates, x and y have shapes {gates.shape}, {x.shape}, {y.shape}; allowed: (N, K), (N, n) and (N,)"
        )
    never = np.flatnonzero(~gates.any(axis=0))
    if gates.shape[1] == 0 or never.size:
        which = f"gate {never[0]} never opens" if never.size else "K = 0 gates"
        raise ValueError(f"{which}; allowed: at least one gate, each open for at least one input")
    return gates, x, y
