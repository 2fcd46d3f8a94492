"""When does training stop? The text's protocol, and what its stopping rule leaves undone.

Source: The Persian Rug, section 2: "training continues as long as the average loss over the past
100 batches is lower than the average loss over the 100 batches prior to that one".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.rug import training

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def first_pause(history: ArrayLike, window: int = training.WINDOW) -> int:
    """Step at which the text's rule, looked at after every batch, stops.

    Parameters
    ----------
    history : array_like, shape (steps,)
        One batch loss a step.
    window : int
        Batches in each of the two windows that are compared.

    Returns
    -------
    int
        Number of steps done, or ``len(history)`` if the rule never fires.

    Raises
    ------
    ValueError
        If `history` is no list of finite numbers or `window` is below 1.

    Notes
    -----
    Source: The Persian Rug, section 2. `superposition.rug.training.train` looks every 100 batches.
    """
    window, means = checks.whole("window", window, 1), _window_means(history, window)
    fired = np.flatnonzero(means[window:] >= means[:-window])
    return int(fired[0]) + 2 * window if len(fired) else len(history)  # pyrefly: ignore  # it was read as a list


def first_below(history: ArrayLike, level: float, window: int = training.WINDOW) -> int:
    """Step at which the mean of the last batches first lies at or below a level.

    Parameters
    ----------
    history : array_like, shape (steps,)
        One batch loss a step.
    level : float
        The level.
    window : int
        Batches in the mean.

    Returns
    -------
    int
        Number of steps done; 0 if it never happens.

    Raises
    ------
    ValueError
        If `history` is no list of finite numbers or `window` is below 1.
    """
    below = np.flatnonzero(_window_means(history, window) <= checks.number("level", level))
    return int(below[0]) + window if len(below) else 0


def _window_means(history, window):
    window = checks.whole("window", window, 1)
    total = np.cumsum(np.concatenate([[0.0], checks.of_shape("history", history, ("steps",))]))
    return (total[window:] - total[:-window]) / window if len(total) > window else np.empty(0)
