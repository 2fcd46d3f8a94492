"""The loss that trained networks of this probability, ratio and size reach, interpolated in the table rug-grid.

Source: ours. The table has networks of 128, 256 and 512 features after 2000 steps with falling rate. What is
interpolated, linearly in the logarithm of p, in r and in the logarithm of ns, is the logarithm of their loss divided by
the rug's, which varies slowly.
"""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from superposition.rug import meanfield

TABLE = "rug-grid.csv"
BEYOND = 2.0  # of the sizes in the table: as far as their trend is drawn on, to 64 and 1024 features


class Finished(NamedTuple):
    """The final ``loss`` per feature of a training, and its relative ``error``, from seeds and interpolation."""

    loss: float
    error: float


def finished(p: float, nd: int, ns: int) -> Finished | None:
    """The final loss of a training; None outside of the table's range."""
    grid = _grid()
    if grid is None:
        return None
    axes, values, seeds = grid
    at = (np.log(ns), np.log(p), nd / ns)
    low = np.array([axis[0] for axis in axes]) - [np.log(BEYOND) + 1e-9, 1e-9, 0.01]  # 6 of 128 is its ratio 0.05
    high = np.array([axis[-1] for axis in axes]) + [np.log(BEYOND) + 1e-9, 1e-9, 0.01]
    if np.any(at < low) or np.any(at > high):
        return None
    value, error = values, seeds**2
    for axis, x in zip(axes, at, strict=True):
        value, missed = _along(axis, value, x)
        error = error + missed**2
    return Finished(float(np.exp(value) * meanfield.optimum(p, nd / ns).loss), float(np.sqrt(error)))


def _along(axis, values, x):
    """Values between two points of the first axis, and the possible error of a straight line there."""
    i = int(np.clip(np.searchsorted(axis, x) - 1, 0, len(axis) - 2))
    w = (x - axis[i]) / (axis[i + 1] - axis[i])
    inside = np.clip(np.arange(i, i + 2), 1, len(axis) - 2)
    bends = [_bend(axis, values, j) for j in inside]
    return (1 - w) * values[i] + w * values[i + 1], float(np.nanmax(np.abs(bends) * abs(w * (1 - w))))


def _bend(axis, values, j):
    """By how much a straight line between its neighbours misses a point."""
    w = (axis[j] - axis[j - 1]) / (axis[j + 1] - axis[j - 1])
    return np.median(np.abs(values[j] - (1 - w) * values[j - 1] - w * values[j + 1]))


@lru_cache(maxsize=1)
def _grid() -> tuple[tuple[NDArray, ...], NDArray, float] | None:
    """Axes, logarithms of loss / rug's loss, and the spread over seeds; None in an installation without tables."""
    path = resources.files("superposition") / "data" / TABLE
    if not path.is_file():
        return None
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    ns, p, nd, r, loss = (np.array([float(row[name]) for row in rows]) for name in ("ns", "p", "nd", "r", "loss"))
    found: dict[tuple[float, ...], list[float]] = {}
    for place, over in zip(zip(ns, p, r, strict=True), np.log(loss / meanfield.optimum(p, nd / ns).loss), strict=True):
        found.setdefault(place, []).append(over)
    ns, p, r = (np.array(sorted({place[k] for place in found})) for k in range(3))
    places = [[[(n, one, ratio) for ratio in r] for one in p] for n in ns]
    values = np.array([[[np.mean(found.get(place, np.nan)) for place in row] for row in plane] for plane in places])
    for k in range(1, len(ns)):  # two corners of the largest size were not run: they are those of the size below
        values[k] = np.where(np.isnan(values[k]), values[k - 1], values[k])
    spread = np.median([np.std(several, ddof=1) for several in found.values() if len(several) > 1])
    return (np.log(ns), np.log(p), r), values, float(spread)
