"""When does training stop? The text's protocol, and what its stopping rule leaves undone.

Source: The Persian Rug, section 2: "training continues as long as the average loss over the past
100 batches is lower than the average loss over the 100 batches prior to that one".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition.rug import training

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def first_pause(history: ArrayLike, window: int = training.WINDOW) -> int:
    """Step at which the text's rule, looked at after every batch, stops; ``len(history)`` also if it never fires."""
    # `superposition.rug.training.train` looks every 100 batches
    means = _window_means(history, window)
    fired = np.flatnonzero(means[window:] >= means[:-window])
    return int(fired[0]) + 2 * window if len(fired) else len(history)  # pyrefly: ignore[bad-argument-type]: it is a vector


def first_below(history: ArrayLike, level: float, window: int = training.WINDOW) -> int:
    """Step at which the mean of the last batches first lies at or below a level; 0 if it never happens."""
    below = np.flatnonzero(_window_means(history, window) <= level)
    return int(below[0]) + window if len(below) else 0


def _window_means(history, window):
    total = np.cumsum(np.concatenate([[0.0], np.asarray(history, float)]))
    return (total[window:] - total[:-window]) / window if len(total) > window else np.empty(0)
