"""The linear toy model W^T W x + b: its two forces, the features that they select, and how fast these are learned.

Conventions are those of `superposition.toy`. V is the variance of a feature and m_1 its mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import features, ranges
from superposition.checked import checked
from superposition.toy import geometry, loss
from superposition.toy.ranges import (
    biases,
    curves,
    drawn,
    fits,
    importances,
    kept,
    model,
    of_one,
    one_model,
    ordered_importances,
    rising_times,
    short_columns,
    short_path,
    weights,
)

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


@checked(fits, W=weights, importance=importances)
def two_force_loss(W: ArrayLike, importance: ArrayLike) -> np.ndarray:
    """Feature benefit and interference, sum_i I_i (1 - |W_i|^2)^2 + sum_{i != j} I_j (W_i·W_j)^2.

    Parameters
    ----------
    importance : array_like, shape (..., n) or scalar
        Positive factors of the squared errors.

    Returns
    -------
    numpy.ndarray, shape (...)
        In units of E[x^2] for features with mean zero, of V with the best bias.

    Notes
    -----
    Source: Toy Models, the first display.

    Examples
    --------
    >>> float(two_force_loss([[1.0, 0.0]], [1.0, 0.5]))  # the second feature is dropped
    0.5
    """
    W, _, importance = loss.shaped(W, 0.0, importance)
    residual = np.eye(W.shape[-1]) - geometry.gram(W)  # row: output j, column: feature i
    return (importance * (residual**2).sum(axis=-1)).sum(axis=-1)


@checked(model, W=weights, b=biases, importance=importances, p=ranges.one_probability)
def linear_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike, p: float) -> np.ndarray:
    """Expected loss of the linear model, with the term of the mean that the text leaves out.

    V times the two forces, plus sum_j I_j (m_1 (1 - sum_i W_i . W_j) - b_j)^2.

    Parameters
    ----------
    b, importance : array_like, shape (..., n) or scalar
        Biases, and positive factors of the squared errors.

    Notes
    -----
    Source: Toy Models, the first display, completed. Use `population_loss` instead for the model with a ReLU.

    Examples
    --------
    >>> print(f"{linear_loss([[1.0, 0.0]], [0.0, 0.05], 1.0, 0.1):.5f}")
    0.03083
    """
    W, b, importance = loss.shaped(W, b, importance)
    offset = best_linear_bias(W, p) - b
    return features.variance(p) * two_force_loss(W, importance) + (importance * offset**2).sum(axis=-1)


@checked(W=weights, p=ranges.one_probability)
def best_linear_bias(W: ArrayLike, p: float) -> Float[np.ndarray, "... n"]:
    """Bias of the linear model that removes the term of the mean, b_j = m_1 (1 - sum_i W_i·W_j).

    Examples
    --------
    >>> best_linear_bias([[1.0, 0.0]], 0.1)
    array([0.  , 0.05])
    """
    return features.mean(p) * (1 - geometry.gram(W).sum(axis=-1))


@checked(kept, importance=ordered_importances, m=ranges.whole(1))
def two_force_optimum(importance: ArrayLike, m: int) -> float:
    """Smallest value of the two forces in m dimensions: the importance of all but the m most important features.

    Notes
    -----
    Source: Toy Models, "never worthwhile for the linear model to represent more features than it has dimensions". The
    proof is that of Eckart and Young, applied to sqrt(I) (1 - W^T W).

    Examples
    --------
    >>> two_force_optimum([1.0, 0.5, 0.25], 2)
    0.25
    """
    importance = np.sort(np.asarray(importance, float))
    return float(importance[: importance.size - m].sum())


@checked(
    of_one, short_path, W=short_columns, importance=importances, p=ranges.one_probability, times=rising_times,
    rtol=ranges.number(1e-13, 0.1),
)  # fmt: skip
def linear_flow(
    W: ArrayLike, importance: ArrayLike, p: float, times: ArrayLike, *, rtol: float = 1e-8
) -> Float[np.ndarray, "t m n"]:
    """Gradient flow dW/dt = -grad L of the linear model, with the best bias at every time.

    Parameters
    ----------
    W : array_like, shape (m, n)
        Weights at time 0, from -100 to 100.
    times : array_like, shape (t,)
        Increasing times of 0 or more; importance times time is 1e5 at most.
    rtol : float
        Relative tolerance of the integration.

    Raises
    ------
    FloatingPointError
        If the integration fails.

    Notes
    -----
    Source: Toy Models, "the Saxe results". The gradient is -2 V W (A R + R A) with A = diag(I) and R = 1 - W^T W. Use
    `strength_curve` instead where no feature disturbs another.

    Examples
    --------
    >>> path = linear_flow(0.1 * np.eye(2), [1.0, 0.5], 0.1, [0.0, 50.0, 400.0])
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
        return rate * (now @ (weights * (np.eye(W.shape[1]) - geometry.gram.unchecked(now)))).ravel()

    if times[-1] == 0:
        return W[None].copy()
    done = solve_ivp(velocity, (0, times[-1]), W.ravel(), t_eval=times, rtol=rtol, atol=1e-12, method="DOP853")
    if not done.success:
        raise FloatingPointError(f"the flow stopped at time {done.t[-1] if len(done.t) else 0:g}: {done.message}")
    return done.y.T.reshape(len(times), *W.shape)


@checked(
    curves, start=ranges.real(1e-30, 100), importance=importances, p=ranges.probability,
    times=ranges.real(0, ranges.LARGEST),
)  # fmt: skip
def strength_curve(start: ArrayLike, importance: ArrayLike, p: ArrayLike, times: ArrayLike) -> np.ndarray:
    """Strength |W_i|^2 of a feature that is learned undisturbed, 1 / (1 + (1 / s_0 - 1) exp(-8 V I t)).

    Parameters
    ----------
    start : array_like
        Strength s_0 at time 0, from 1e-30 to 100.

    Returns
    -------
    numpy.ndarray
        Of the shape to which the arguments broadcast.

    Notes
    -----
    Source: Toy Models, "the Saxe results", quoted without the formula, which solves ds/dt = 8 V I s (1 - s).

    Examples
    --------
    >>> strength_curve(0.01, 1.0, 0.1, [0, 50.0, 400.0]).round(3)
    array([0.01, 1.  , 1.  ])
    """
    start, importance, times = (np.asarray(value, float) for value in (start, importance, times))
    return 1 / (1 + (1 / start - 1) * np.exp(-8 * features.variance(p) * importance * times))


@checked(of_one, W=one_model, importance=importances)
def free_start(W: ArrayLike, importance: ArrayLike) -> Float[np.ndarray, " n"]:
    """Strength from which each feature starts once the more important ones have taken their directions.

    Returns
    -------
    numpy.ndarray, shape (n,)
        0 beyond the m most important features; features of equal importance are taken in their order.

    Notes
    -----
    Source: ours, for the starts of `strength_curve`.

    Examples
    --------
    >>> free_start([[1.0, 3.0, 0.0], [1.0, 0.0, 2.0]], [0.5, 1.0, 0.1]).round(6)
    array([1., 9., 0.])
    """
    # The most important feature grows along its first direction. The next one is pushed out of
    # that direction, so that its part orthogonal to it is its start, and so on.
    W, _, importance = loss.shaped(W, 0.0, importance)
    m = W.shape[0]
    order = np.argsort(-importance, kind="stable")[:m]
    start = np.zeros(W.shape[1])
    start[order] = np.diag(np.linalg.qr(W[:, order])[1]) ** 2  # Gram and Schmidt
    return start


@checked(
    of_one, drawn, W=one_model, importance=importances, p=ranges.one_probability, rate=ranges.rate, steps=ranges.steps,
    batch=ranges.whole(1), seed=ranges.seed,
)  # fmt: skip
def descend_linear(
    W: ArrayLike, importance: ArrayLike, p: float, *, rate: float, steps: int, batch: int, seed: int
) -> Float[np.ndarray, "steps n"]:
    """Strengths |W_i|^2 of the linear model under stochastic gradient descent, with the best bias.

    Parameters
    ----------
    batch : int
        Feature vectors of a step, from 1; batch times n is 2^26 at most.

    Returns
    -------
    numpy.ndarray, shape (steps, n)
        After each step.

    Raises
    ------
    FloatingPointError
        If the weights grow without bound.

    Notes
    -----
    Source: Toy Models, "the Saxe results". `linear_flow` predicts it; a step is a time `rate` of the flow.

    Examples
    --------
    >>> descend_linear([[0.2, 0.1]], 1.0, 0.3, rate=0.05, steps=100, batch=1000, seed=0)[-1].round(2)
    array([0.43, 0.11])
    """
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
