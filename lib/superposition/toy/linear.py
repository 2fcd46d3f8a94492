"""The linear toy model W^T W x + b: two forces, what they select, and how fast it is learned.

Conventions are those of `superposition.toy.loss`. V is the variance of a feature and m_1 its mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, features
from superposition.toy import geometry, loss

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def two_force_loss(W: ArrayLike, importance: ArrayLike) -> np.ndarray:
    """Feature benefit and interference, sum_i I_i (1 - |W_i|^2)^2 + sum_{i != j} I_j (W_i·W_j)^2.

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights, m <= n.
    importance : array_like, shape (..., n) or scalar
        Positive factors of the squared errors.

    Returns
    -------
    numpy.ndarray, shape (...)
        In units of E[x^2] for features with mean zero, of V with the best bias.

    Raises
    ------
    ValueError
        If the model is not allowed (see `superposition.toy.loss.model`).

    Notes
    -----
    Source: Toy Models, the first display.

    Examples
    --------
    >>> from superposition import toy
    >>> float(toy.two_force_loss([[1.0, 0.0]], [1.0, 0.5]))  # the second feature is dropped
    0.5
    """
    W, _, importance = loss.model(W, 0.0, importance)
    residual = np.eye(W.shape[-1]) - geometry.gram(W)  # row: output j, column: feature i
    return (importance * (residual**2).sum(axis=-1)).sum(axis=-1)


def linear_loss(W: ArrayLike, b: ArrayLike, importance: ArrayLike, p: float) -> np.ndarray:
    """Expected loss of the linear model, with the term of the mean that the text leaves out.

    V times the two forces, plus sum_j I_j (m_1 (1 - sum_i W_i . W_j) - b_j)^2.

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights, m <= n.
    b : array_like, shape (..., n) or scalar
        Biases.
    importance : array_like, shape (..., n) or scalar
        Positive factors of the squared errors.
    p : float
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    numpy.ndarray, shape (...)

    Raises
    ------
    ValueError
        If `p` is outside (0, 1] or the model is not allowed (see `superposition.toy.loss.model`).

    Notes
    -----
    Source: Toy Models, the first display, completed.

    Examples
    --------
    >>> from superposition import toy
    >>> print(f"{toy.linear_loss([[1.0, 0.0]], [0.0, 0.05], 1.0, 0.1):.5f}")
    0.03083
    """
    W, b, importance = loss.model(W, b, importance)
    p = checks.number("p", p, 0, 1, open_low=True)
    offset = best_bias(W, p) - b
    return features.variance(p) * two_force_loss(W, importance) + (importance * offset**2).sum(axis=-1)


def best_bias(W: ArrayLike, p: float) -> Float[np.ndarray, "... n"]:
    """Bias that removes the term of the mean, b_j = m_1 (1 - sum_i W_i·W_j).

    Parameters
    ----------
    W : array_like, shape (..., m, n)
        Weights, m <= n.
    p : float
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    numpy.ndarray, shape (..., n)

    Raises
    ------
    ValueError
        If `p` is outside (0, 1] or m > n.

    Examples
    --------
    >>> best_bias([[1.0, 0.0]], 0.1)
    array([0.  , 0.05])
    """
    W = loss.model(W, 0.0)[0]
    return features.mean(checks.number("p", p, 0, 1, open_low=True)) * (1 - geometry.gram(W).sum(axis=-1))


def optimum(importance: ArrayLike, m: int) -> float:
    """Smallest value of the two forces: the importance of all but the m most important features.

    Parameters
    ----------
    importance : array_like, shape (n,)
        Positive factors of the squared errors.
    m : int
        Number of hidden dimensions, from 1 to n.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `m` is not within 1 and n, or an importance is not positive.

    Notes
    -----
    Source: Toy Models, "never worthwhile for the linear model to represent more features than
    it has dimensions". The proof is that of Eckart and Young, applied to sqrt(I) (1 - W^T W).

    Examples
    --------
    >>> optimum([0.2, 1.0, 0.6], 2)
    0.2
    """
    importance = np.atleast_1d(checks.real("importance", importance, 0, open_low=True, open_high=True))
    _, m = loss.sizes(len(importance), m)
    return float(np.sort(importance)[: len(importance) - m].sum())


def flow(
    W: ArrayLike, importance: ArrayLike, p: float, times: ArrayLike, *, rtol: float = 1e-8
) -> Float[np.ndarray, "t m n"]:
    """Gradient flow dW/dt = -grad L of the linear model with the best bias at every time.

    Parameters
    ----------
    W : array_like, shape (m, n)
        Weights at time 0, m <= n.
    importance : array_like, shape (n,) or scalar
        Positive factors of the squared errors.
    p : float
        Probability that a feature is on, in (0, 1].
    times : array_like, shape (t,)
        Times to report, at least one, rising from 0 or later.
    rtol : float
        Relative tolerance of the integrator, in (0, 1).

    Returns
    -------
    numpy.ndarray, shape (t, m, n)

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Toy Models, "the Saxe results". The gradient is -2 V W (A R + R A) with
    A = diag(I) and R = 1 - W^T W.

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

    W, _, importance = loss.model(W, 0.0, importance)
    times = checks.real("times", times, 0, open_high=True)
    if times.ndim != 1 or not times.size or np.any(np.diff(times) <= 0):
        raise ValueError(f"times = {times.tolist()} is not allowed; allowed: a list of at least one time, rising")
    rtol = checks.number("rtol", rtol, 0, 1, open_low=True, open_high=True)
    weights = importance[:, None] + importance[None, :]
    rate = 2 * float(features.variance(checks.number("p", p, 0, 1, open_low=True)))

    def velocity(_, flat):
        now = flat.reshape(W.shape)
        return rate * (now @ (weights * (np.eye(W.shape[1]) - geometry.gram(now)))).ravel()

    if times[-1] == 0:
        return W[None].copy()
    done = solve_ivp(velocity, (0, times[-1]), W.ravel(), t_eval=times, rtol=rtol, atol=1e-12, method="DOP853")
    return done.y.T.reshape(len(times), *W.shape)


def sigmoid(start: ArrayLike, importance: ArrayLike, p: float, times: ArrayLike) -> np.ndarray:
    """Strength |W_i|^2 of a feature that is learned undisturbed, under gradient flow.

    s(t) = 1 / (1 + (1 / s_0 - 1) exp(-8 V I t)), the solution of ds/dt = 8 V I s (1 - s).

    Parameters
    ----------
    start : array_like
        Strength s_0 at time 0, in (0, 1].
    importance : array_like
        Importance of the feature, positive.
    p : float
        Probability that a feature is on, in (0, 1].
    times : array_like
        Times, 0 or later. All arguments broadcast.

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Toy Models, "the Saxe results", which it quotes without the formula.

    Examples
    --------
    >>> sigmoid(0.01, [1.0, 0.5], 0.1, 50.0).round(3)
    array([1.   , 0.828])
    """
    start = checks.real("start", start, 0, 1, open_low=True)
    importance = checks.real("importance", importance, 0, open_low=True, open_high=True)
    times = checks.real("times", times, 0, open_high=True)
    return 1 / (1 + (1 / start - 1) * np.exp(-8 * features.variance(features.probability(p)) * importance * times))


def free_start(W: ArrayLike, importance: ArrayLike) -> Float[np.ndarray, " n"]:
    """Strength that each feature starts from once the more important ones have taken their directions.

    The most important feature grows along its first direction. The next one is pushed out of
    that direction, so what counts is its part orthogonal to it, and so on.

    Parameters
    ----------
    W : array_like, shape (m, n)
        Small weights at time 0, m <= n.
    importance : array_like, shape (n,)
        Positive and all different.

    Returns
    -------
    numpy.ndarray, shape (n,)
        0 for all but the m most important features.

    Raises
    ------
    ValueError
        If the model is not allowed (see `superposition.toy.loss.model`).

    Notes
    -----
    Ours: it turns `sigmoid` into a prediction for random first weights.

    Examples
    --------
    >>> free_start([[1.0, 3.0, 0.0], [1.0, 0.0, 2.0]], [0.5, 1.0, 0.1]).round(6)
    array([1., 9., 0.])
    """
    W, _, importance = loss.model(W, 0.0, importance)
    m = W.shape[0]
    order = np.argsort(-importance, kind="stable")[:m]
    start = np.zeros(W.shape[1])
    start[order] = np.diag(np.linalg.qr(W[:, order])[1]) ** 2  # Gram and Schmidt
    return start


def descend(
    W: ArrayLike, importance: ArrayLike, p: float, *, rate: float, steps: int, batch: int, seed: int
) -> Float[np.ndarray, "steps n"]:
    """Stochastic gradient descent of the linear model on sampled features, with the best bias.

    Parameters
    ----------
    W : array_like, shape (m, n)
        Weights at the start, m <= n.
    importance : array_like, shape (n,) or scalar
        Positive factors of the squared errors.
    p : float
        Probability that a feature is on, in (0, 1].
    rate : float
        Learning rate, above 0: one step is a time `rate` of `flow`.
    steps, batch : int
        Number of steps and of feature vectors a step, at least 1.
    seed : int
        Seed of the features.

    Returns
    -------
    numpy.ndarray, shape (steps, n)
        Strengths |W_i|^2 after each step.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    FloatingPointError
        If the descent diverges.

    Notes
    -----
    Source: Toy Models, "the Saxe results": the simulation of what `flow` and `sigmoid` predict.
    """
    W, _, importance = loss.model(W, 0.0, importance)
    rate = checks.number("rate", rate, 0, open_low=True, open_high=True)
    steps, batch, p = checks.whole("steps", steps, 1), checks.whole("batch", batch, 1), features.one_probability(p)
    rng, strengths = checks.generator("seed", seed), np.empty((steps, W.shape[1]))
    for step in range(steps):
        x = features.sample(W.shape[1], p, batch, seed=rng) - features.mean(p)
        weighted = importance * (x - x @ W.T @ W)
        W = W + 2 * rate / batch * (W @ x.T @ weighted + W @ weighted.T @ x)
        strengths[step] = (W**2).sum(axis=0)
    if not np.isfinite(strengths).all():
        raise FloatingPointError(f"the weights grew without bound at rate = {rate:g}; use a smaller one")
    return strengths
