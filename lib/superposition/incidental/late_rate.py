"""How fast positive overlaps die out without an l1 term: exactly, from the negative ones that are left.

Without an l1 term the overlaps G = W W^T, shape (n, n), follow a flow of their own, whatever the neurons:

    dG/dt = 2 G - G_+ G - G G_+.

Late in it G = 1 - N + X, with frozen overlaps -N below zero and small ones X above it on all other pairs P:
dX/dt = -2 X + (X N + N X on P). This operator keeps X >= 0, so X decays at 2 minus its largest eigenvalue.
Source: ours, for Incidental Polysemanticity, section 2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


STEP = 0.2  # of the flow of overlaps, whose rates are of order 1


def overlap_flow(W: ArrayLike, times: ArrayLike) -> Float[np.ndarray, "k b n n"]:
    """Overlaps (k, b, n, n) at increasing times (k,) of encodings (b, n, m) with n <= m, without an l1 term."""
    W = np.asarray(W, float)
    V, t, found = np.linalg.cholesky(W @ W.swapaxes(1, 2)), 0.0, []  # n columns do for m
    for target in np.asarray(times, float):
        steps = max(1, round((target - t) / STEP))
        for _ in range(steps):
            V = _runge_kutta(V, (target - t) / steps)
        t = target
        found.append(V @ V.swapaxes(1, 2))
    return np.array(found)


def positive_overlaps(gram: ArrayLike) -> np.ndarray:
    """Mean over features of the sum of positive overlaps, of networks (..., n, n)."""
    positive = np.maximum(np.asarray(gram, float), 0)
    return (positive.sum(axis=(-2, -1)) - np.trace(positive, axis1=-2, axis2=-1)) / positive.shape[-1]


def late_rate(gram: ArrayLike) -> float:
    """Rate at which the positive overlaps of settled encodings (n, n) die out: 2 less a Perron eigenvalue. Ours."""
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


def mean_field(g: float) -> tuple[float, float]:
    """Shift of overlaps in units of 1 / sqrt(m), and late rate, for n and m to infinity at g = n / sqrt(m). Ours."""
    # Each pair is moved by a common force h(t): an overlap that started at z stands at z + H while negative, with
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
    a, H = solve_ivp(move, (0, 200), start, method="LSODA", rtol=1e-10, atol=1e-14).y[:, -1]
    return float(H), float(2 - 2 * g * negative(H) * ndtr(H))


def _runge_kutta(V, h):
    first = _speed(V)
    second = _speed(V + h / 2 * first)
    third = _speed(V + h / 2 * second)
    return V + h / 6 * (first + 2 * second + 2 * third + _speed(V + h * third))


def _speed(V):
    return V - np.maximum(V @ V.swapaxes(1, 2), 0) @ V
