"""The linear toy model W^T W x + b: two forces, what they select, and how fast it is learned.

Conventions are those of `superposition.toy.face`. V is the variance of a feature and m_1 its mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import features
from superposition.toy import geometry, loss

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def two_force_loss(W: ArrayLike, importance: ArrayLike) -> np.ndarray:
    """Feature benefit and interference, sum_i I_i (1 - |W_i|^2)^2 + sum_{i != j} I_j (W_i·W_j)^2 (first display)."""
    W, _, importance = loss.shaped(W, 0.0, importance)
    residual = np.eye(W.shape[-1]) - geometry.gram(W)  # row: output j, column: feature i
    return (importance * (residual**2).sum(axis=-1)).sum(axis=-1)


def linear_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike, p: float) -> np.ndarray:
    """Expected loss of the linear model: V times the two forces, plus sum_j I_j (m_1 (1 - sum_i W_i . W_j) - b_j)^2."""
    # Source: Toy Models, the first display, completed by the term of the mean.
    W, b, importance = loss.shaped(W, b, importance)
    offset = best_bias(W, p) - b
    return features.variance(p) * two_force_loss(W, importance) + (importance * offset**2).sum(axis=-1)


def best_bias(W: ArrayLike, p: float) -> Float[np.ndarray, "... n"]:
    """Bias that removes the term of the mean, b_j = m_1 (1 - sum_i W_i·W_j)."""
    return features.mean(p) * (1 - geometry.gram(W).sum(axis=-1))


def optimum(importance: ArrayLike, m: int) -> float:
    """Smallest value of the two forces: the importance of all but the m most important features."""
    # Source: Toy Models, "never worthwhile for the linear model to represent more features than
    # it has dimensions". The proof is that of Eckart and Young, applied to sqrt(I) (1 - W^T W).
    importance = np.sort(np.asarray(importance, float))
    return float(importance[: importance.size - m].sum())


def flow(
    W: ArrayLike, importance: ArrayLike, p: float, times: ArrayLike, *, rtol: float = 1e-8
) -> Float[np.ndarray, "t m n"]:
    """Gradient flow dW/dt = -grad L of the linear model with the best bias at every time, at rising times (t,) from 0.

    Source: Toy Models, "the Saxe results". The gradient is -2 V W (A R + R A) with
    A = diag(I) and R = 1 - W^T W.

    Returns
    -------
    numpy.ndarray, shape (t, m, n)

    Examples
    --------
    >>> import numpy as np
    >>> path = flow(0.1 * np.eye(2), [1.0, 0.5], 0.1, [0.0, 50.0, 400.0])
    >>> (path**2).sum(axis=1).round(3)  # strengths: the more important feature is learned first
    array([[0.01 , 0.01 ],
           [1.   , 0.828],
           [1.   , 1.   ]])
    """
    from scipy.integrate import solve_ivp  # slow to import

    W, _, importance = loss.shaped(W, 0.0, importance)
    times = np.asarray(times, float)
    weights = importance[:, None] + importance[None, :]
    rate = 2 * float(features.variance(p))

    def velocity(_, flat):
        now = flat.reshape(W.shape)
        return rate * (now @ (weights * (np.eye(W.shape[1]) - geometry.gram(now)))).ravel()

    if times[-1] == 0:
        return W[None].copy()
    done = solve_ivp(velocity, (0, times[-1]), W.ravel(), t_eval=times, rtol=rtol, atol=1e-12, method="DOP853")
    return done.y.T.reshape(len(times), *W.shape)


def sigmoid(start: ArrayLike, importance: ArrayLike, p: float, times: ArrayLike) -> np.ndarray:
    """Strength |W_i|^2 of a feature that is learned undisturbed, 1 / (1 + (1 / s_0 - 1) exp(-8 V I t))."""
    # Source: Toy Models, "the Saxe results", quoted without the formula, which solves ds/dt = 8 V I s (1 - s).
    start, importance, times = (np.asarray(value, float) for value in (start, importance, times))
    return 1 / (1 + (1 / start - 1) * np.exp(-8 * features.variance(p) * importance * times))


def free_start(W: ArrayLike, importance: ArrayLike) -> Float[np.ndarray, " n"]:
    """Strength that each feature starts from once the more important ones have taken their directions. Ours."""
    # The most important feature grows along its first direction. The next one is pushed out of
    # that direction, so what counts is its part orthogonal to it, and so on; 0 beyond the first m.
    # Equal importances count in the order of their features.
    W, _, importance = loss.shaped(W, 0.0, importance)
    m = W.shape[0]
    order = np.argsort(-importance, kind="stable")[:m]
    start = np.zeros(W.shape[1])
    start[order] = np.diag(np.linalg.qr(W[:, order])[1]) ** 2  # Gram and Schmidt
    return start


def descend(
    W: ArrayLike, importance: ArrayLike, p: float, *, rate: float, steps: int, batch: int, seed: int
) -> Float[np.ndarray, "steps n"]:
    """Strengths |W_i|^2 after each step of stochastic gradient descent on sampled features, with the best bias."""
    # Source: Toy Models, "the Saxe results": what `flow` predicts, one step being a time `rate` of it.
    W, _, importance = loss.shaped(W, 0.0, importance)
    rng, strengths = np.random.default_rng(seed), np.empty((steps, W.shape[1]))
    for step in range(steps):
        x = features.sample(W.shape[1], p, batch, seed=rng) - features.mean(p)
        weighted = importance * (x - x @ W.T @ W)
        W = W + 2 * rate / batch * (W @ x.T @ weighted + W @ weighted.T @ x)
        strengths[step] = (W**2).sum(axis=0)
    if not np.isfinite(strengths).all():
        raise FloatingPointError(f"the weights grew without bound at rate = {rate:g}; use a smaller one")
    return strengths
