"""Fields that the first-order landscape predicts: descend the loss, or climb the score of one neuron.

Source: completes the notes on localization, section 3.2; the landscape is that of `superposition.receptive.landscape`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from superposition.receptive.landscape import Task, network_loss, nlgp_task, score

STARTS = ("random", "tiled")


def best_field(starts: ArrayLike, task: Task) -> np.ndarray:
    """The field, of norm 1, with the largest `score` that L-BFGS finds from several starts (m, n)."""
    from scipy.optimize import minimize

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
    """Receptive fields (K, n) of K ReLU neurons, predicted: a minimum of `network_loss`."""
    return descend(starting_fields(n, K, start, seed), nlgp_task(n, xi1, xi2, gain), steps=steps)


def starting_fields(n: int, K: int, start: str, seed: int) -> np.ndarray:
    """Xavier normal weights (K, n), or bumps evenly spread over the ring, of width 2 pixels and random sign."""
    rng = np.random.default_rng(seed)
    if start == "random":
        return np.sqrt(2 / (K + n)) * rng.standard_normal((K, n))
    away = (np.arange(n) - np.arange(K)[:, None] * n / K + n / 2) % n - n / 2
    signs = rng.choice((-1.0, 1.0), (K, 1))
    return signs * np.exp(-((away / 2) ** 2))


def descend(W: ArrayLike, task: Task, *, steps: int = 2000) -> np.ndarray:
    """Follow `network_loss` downhill to a minimum (K, n), by at most so many steps of L-BFGS."""
    from scipy.optimize import minimize

    W = np.asarray(W, dtype=np.float64)

    def objective(flat):
        value, gradient = network_loss(flat.reshape(W.shape), task)
        return value, gradient.ravel()

    options = {"maxiter": steps, "maxfun": 2 * steps, "gtol": 1e-9, "ftol": 1e-15}
    return minimize(objective, W.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(W.shape)
