"""Fields that the first-order landscape predicts: descend the loss, or climb the score of one neuron.

Source: ours, as a complement to the notes on localization, section 3.2; the landscape is that of
`superposition.receptive.landscape`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from superposition import checks, ranges
from superposition.checked import checked
from superposition.receptive.landscape import (
    Task,
    data_task,
    field_score,
    first_order_loss,
    nlgp_task,
    refuse_no_variance,
)
from superposition.receptive.ranges import length0, length1, one_gain, rows_of_fields, three_pixels, two_lengths

STARTS = ("random", "tiled")


def _starts_fit(starts, task):
    checks.array("starts", starts, ("m", len(task.C1)))
    refuse_no_variance("starts", starts, task.C1)


@checked(_starts_fit, starts=rows_of_fields, task=data_task)
def best_field(starts: ArrayLike, task: Task) -> np.ndarray:
    """The field (n,), of norm 1, with the largest `field_score` that L-BFGS finds from several starts (m, n).

    Source: ours, as a complement to the notes on localization, section 3.2. Use `best_tile` instead at gains above 0.3.

    Examples
    --------
    >>> from superposition import receptive
    >>> best_field(np.eye(1, 12) + 0.1, receptive.nlgp_task(12, 1, 0.5, 0.3)).shape
    (12,)
    """
    from scipy.optimize import minimize

    def objective(w):
        value, gradient = field_score.unchecked(w, task)
        return -value, -gradient

    unit = np.asarray(starts) / np.linalg.norm(starts, axis=1, keepdims=True)
    options = {"maxiter": 3000, "ftol": 1e-14, "gtol": 1e-9}
    ends = [minimize(objective, w, jac=True, method="L-BFGS-B", options=options) for w in unit]
    best = min(ends, key=lambda end: end.fun).x
    return best / np.linalg.norm(best)


@checked(
    two_lengths, n=three_pixels, xi1=length1, xi2=length0, gain=one_gain, K=ranges.whole(1, 4096),
    start=ranges.one_of(*STARTS), steps=ranges.steps, seed=ranges.whole(0)
)  # fmt: skip
def predicted_fields(
    n: int, xi1: float, xi2: float, gain: float, K: int, *, start: str = "random", steps: int = 2000, seed: int = 0
) -> np.ndarray:
    """Receptive fields of K ReLU neurons, predicted: a minimum of `first_order_loss`.

    Source: ours, as a complement to the notes on localization, section 3.2. Use `best_tile` instead for many neurons at
    gains of 1 and more.

    Parameters
    ----------
    gain : float
        Gain, from 1e-6 to 1e6. The first order is good for a single field up to 0.3; at gains of 1 and more, many
        neurons localize in training where the first order predicts that they spread.
    start : {"random", "tiled"}
        Descend from Xavier normal weights, or from K bumps evenly spread over the ring with random signs.
    steps : int
        Largest number of steps of L-BFGS.

    Examples
    --------
    >>> from superposition import receptive
    >>> bool((40 * receptive.ipr(predicted_fields(40, 2, 1, 0.05, 1)) < 1.1).all())  # below the critical gain: flat
    True
    """
    return _descend(starting_fields(n, K, start, seed), nlgp_task(n, xi1, xi2, gain), steps=steps)


@checked(n=three_pixels, K=ranges.whole(1, 4096), start=ranges.one_of(*STARTS), seed=ranges.seed)
def starting_fields(n: int, K: int, start: str, seed: int) -> np.ndarray:
    """Xavier normal weights (K, n), or bumps evenly spread over the ring, of width 2 pixels and random sign.

    Source: ours. Use `initial_weights` instead for several networks.

    Parameters
    ----------
    start : {"random", "tiled"}
        Which of the two.

    Examples
    --------
    >>> starting_fields(40, 3, "tiled", 0).shape
    (3, 40)
    """
    rng = np.random.default_rng(seed)
    if start == "random":
        return np.sqrt(2 / (K + n)) * rng.standard_normal((K, n))
    away = (np.arange(n) - np.arange(K)[:, None] * n / K + n / 2) % n - n / 2
    signs = rng.choice((-1.0, 1.0), (K, 1))
    return signs * np.exp(-((away / 2) ** 2))


def _descend(W: ArrayLike, task: Task, *, steps: int = 2000) -> np.ndarray:
    """Follow `first_order_loss` downhill to a minimum (K, n), with at most this number of steps of L-BFGS."""
    from scipy.optimize import minimize

    W = np.asarray(W, dtype=np.float64)

    def objective(flat):
        value, gradient = first_order_loss.unchecked(flat.reshape(W.shape), task)
        return value, gradient.ravel()

    options = {"maxiter": steps, "maxfun": 2 * steps, "gtol": 1e-9, "ftol": 1e-15}
    return minimize(objective, W.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(W.shape)
