"""The exact rate at which positive overlaps decay without an l1 term, from the negative ones that remain.

Without an l1 term the overlaps G = W W^T, shape (n, n), follow a flow that does not depend on the neurons:

    dG/dt = 2 G - G_+ G - G G_+.

Late in it G = 1 - N + X, with frozen overlaps -N below zero and small ones X above it on all other pairs P:
dX/dt = -2 X + (X N + N X on P). This operator keeps X >= 0, so X decays at 2 minus its largest eigenvalue.
Source: ours, for Incidental Polysemanticity, section 2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.incidental import ranges as own

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


DENSEST = 10**4  # n / sqrt(m) up to which the overlaps have settled by the time 1e6; from 200 on not by 200
STEP = 0.2  # of the flow of overlaps, whose rates are of order 1


def overlaps_settle(W: np.ndarray) -> None:
    """Refuse encodings whose overlaps would not settle at steps of STEP, or that outnumber the neurons."""
    if W.shape[1] > W.shape[2]:
        raise ValueError(f"W has shape {W.shape}; allowed: (b, n, m) with n <= m")
    largest = float(np.maximum(W @ W.swapaxes(1, 2), 0).sum(axis=2).max())
    if largest > 2 / STEP:
        raise ValueError(f"W has positive overlaps with a sum of {largest:g} in a row; allowed: up to {2 / STEP:g}")


@checked(own.fits, overlaps_settle, W=ranges.array("b n m"), times=own.times)
def overlap_flow(W: ArrayLike, times: ArrayLike) -> Float[np.ndarray, "k b n n"]:
    """Overlaps (k, b, n, n) at increasing times (k,) of encodings (b, n, m) with n <= m, without an l1 term.

    Source: ours, for section 2.1. Use `gradient_flow` for the weights, and with an l1 term.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or rows depend on each other.

    Examples
    --------
    >>> overlap_flow([[[0.5, 0.5], [0.1, 0.9]]], [20.0]).round(3)[0, 0]
    array([[1., 0.],
           [0., 1.]])
    """
    try:
        V = np.linalg.cholesky(np.asarray(W) @ np.asarray(W).swapaxes(1, 2))  # n columns suffice for m
    except np.linalg.LinAlgError:
        raise ValueError("W has rows that depend on each other; allowed: independent rows") from None
    t, found = 0.0, []
    for target in np.asarray(times, float):
        steps = max(1, round((target - t) / STEP))
        for _ in range(steps):
            V = _runge_kutta(V, (target - t) / steps)
        t = target
        found.append(V @ V.swapaxes(1, 2))
    return np.array(found)


@checked(gram=ranges.array("... n n"))
def positive_overlaps(gram: ArrayLike) -> np.ndarray:
    """Mean over features of the sum of positive overlaps, of networks (..., n, n). Source: ours.

    Examples
    --------
    >>> float(positive_overlaps([[1.0, 0.2], [0.2, 1.0]]))
    0.19999999999999996
    """
    positive = np.maximum(np.asarray(gram, float), 0)
    return (positive.sum(axis=(-2, -1)) - np.trace(positive, axis1=-2, axis2=-1)) / positive.shape[-1]


@checked(gram=own.overlaps)
def late_decay_rate(gram: ArrayLike) -> float:
    """Rate at which the positive overlaps of settled encodings (n, n) decay: 2 minus a Perron eigenvalue.

    Source: ours, for section 2.1. Use `mean_field_overlaps` for many features at random.

    Examples
    --------
    >>> round(late_decay_rate([[1.0, -0.5, 0.0], [-0.5, 1.0, 1e-9], [0.0, 1e-9, 1.0]]), 4)
    2.0
    """
    # Between 2 lambda_min of the overlaps that are left and 2: X -> X N + N X on all pairs has the eigenvalues of N
    # summed in pairs, and a compression of it has none beyond.
    from scipy.sparse.linalg import LinearOperator, eigsh

    G = np.asarray(gram, float)
    N, pairs = np.maximum(-G, 0), (G > 0) & ~np.eye(len(G), dtype=bool)

    def move(x):
        half = x.reshape(G.shape) @ N  # x and N are symmetric
        return ((half + half.T) * pairs).ravel()

    start = pairs.ravel().astype(float)
    if not move(start).any():
        return 2.0
    operator = LinearOperator((G.size, G.size), matvec=move, dtype=float)
    return 2 - float(eigsh(operator, 1, which="LA", v0=start, return_eigenvectors=False)[0])


@checked(g=ranges.number(0, DENSEST))
def mean_field_overlaps(g: float) -> tuple[float, float]:
    """Shift of overlaps in units of 1 / sqrt(m), and late rate, for n and m to infinity at g = n / sqrt(m).

    Source: ours, for section 2.1. Use `late_decay_rate` for a given network.

    Raises
    ------
    ValueError
        If an argument is outside of its range.
    RuntimeError
        If the equations are not solved.

    Examples
    --------
    >>> [round(found, 4) for found in mean_field_overlaps(1.0)]
    [0.0851, 1.6179]
    """
    # Each pair is moved by a common force h(t): an overlap that started at z is z + H while negative, with
    # H' = h. With a and b the means of the positive and of the negative part: a' = -2 a + h Phi(H), h = 2 g a (b - a),
    # b = phi(H) - H Phi(-H).
    from scipy.integrate import solve_ivp
    from scipy.special import ndtr

    def negative(H):
        return np.exp(-(H**2) / 2) / np.sqrt(2 * np.pi) - H * ndtr(-H)

    def move(_, state):
        a, H = state
        force = 2 * g * a * (negative(H) - a)
        return [-2 * a + force * ndtr(H), force]

    start = [negative(0.0), 0.0]
    found = solve_ivp(move, (0, 1e6), start, method="LSODA", rtol=1e-10, atol=1e-14)
    if not found.success:
        raise RuntimeError(f"the mean field of g = {g:g} was not solved: {found.message}")
    H = found.y[1, -1]
    return float(H), float(2 - 2 * g * negative(H) * ndtr(H))


def _runge_kutta(V, h):
    first = _speed(V)
    second = _speed(V + h / 2 * first)
    third = _speed(V + h / 2 * second)
    return V + h / 6 * (first + 2 * second + 2 * third + _speed(V + h * third))


def _speed(V):
    return V - np.maximum(V @ V.swapaxes(1, 2), 0) @ V
