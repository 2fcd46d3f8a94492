"""Fields that the first-order landscape predicts: descend the loss, or climb the score of one neuron.

Source: completes the notes on localization, section 3.2; the landscape is that of `superposition.receptive.landscape`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from superposition import checks
from superposition.receptive.landscape import Task, network_loss, nlgp_task, score

STARTS = ("random", "tiled")


def best_field(starts: ArrayLike, task: Task) -> np.ndarray:
    """The field with the largest `score` that L-BFGS finds from several starts.

    Parameters
    ----------
    starts : array_like, shape (m, n)
        Fields to climb from, none zero.
    task : Task
        The data.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Of norm 1.
    """

    def objective(w):
        value, gradient = score(w, task)
        return -value, -gradient

    unit = np.asarray(starts) / np.linalg.norm(starts, axis=1, keepdims=True)
    options = {"maxiter": 3000, "ftol": 1e-14, "gtol": 1e-9}
    ends = [minimize(objective, w, jac=True, method="L-BFGS-B", options=options) for w in unit]
    best = min(ends, key=lambda end: end.fun).x
    return best / np.linalg.norm(best)


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
        Gain, from 1e-6 to 1e6. The first order is good for a single field up to 0.3; from 1 on, many neurons
        localize in training where it lets them spread: see `superposition.receptive.tilings`.
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
    superposition.receptive.ring.NotACovariance
        If a length gives no covariance.
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from superposition.receptive.measures import ipr
    >>> bool((40 * ipr(predicted_fields(40, 2, 1, 0.05, 1)) < 1.1).all())  # below the critical gain: flat
    True
    """
    n, K = checks.whole("n", n, 3), checks.whole("K", K, 1)
    task = nlgp_task(n, xi1, xi2, checks.number("gain", gain, 1e-6, 1e6))
    return descend(starting_fields(n, K, start, seed), task, steps=steps)


def starting_fields(n: int, K: int, start: str, seed: int) -> np.ndarray:
    """Where `predicted_fields` starts.

    Parameters
    ----------
    n, K : int
        Pixels and neurons.
    start : {"random", "tiled"}
        Xavier normal weights, or bumps evenly spread over the ring, of width 2 pixels and random sign.
    seed : int
        Seed of the weights or of the signs.

    Returns
    -------
    numpy.ndarray, shape (K, n)

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    rng = np.random.default_rng(checks.whole("seed", seed, 0))
    if checks.one_of("start", start, STARTS) == "random":
        return np.sqrt(2 / (K + n)) * rng.standard_normal((K, n))
    away = (np.arange(n) - np.arange(K)[:, None] * n / K + n / 2) % n - n / 2
    signs = rng.choice((-1.0, 1.0), (K, 1))
    return signs * np.exp(-((away / 2) ** 2))


def descend(W: ArrayLike, task: Task, *, steps: int = 2000) -> np.ndarray:
    """Follow `network_loss` downhill to a minimum, by L-BFGS.

    Parameters
    ----------
    W : array_like, shape (K, n)
        Where to start.
    task : Task
        The data.
    steps : int
        At most so many steps, at least 1.

    Returns
    -------
    numpy.ndarray, shape (K, n)
    """
    W = np.asarray(W, dtype=np.float64)

    def objective(flat):
        value, gradient = network_loss(flat.reshape(W.shape), task)
        return value, gradient.ravel()

    options = {"maxiter": checks.whole("steps", steps, 1), "maxfun": 2 * steps, "gtol": 1e-9, "ftol": 1e-15}
    return minimize(objective, W.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(W.shape)
