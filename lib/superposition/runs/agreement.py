"""Whether values computed again are those of a stored table: by their bits, else by how far they lie from them.

A processor or a number of threads of its own rounds in another way, so equal bits are not asked for. A distance
is one in units of the largest number of its column, and `BOUND` is what rounding may do; texts, truths and whole
numbers have to be equal. Where a training is chaotic, rounding does more. How much, pairs of replays tell whose
start was moved by one rounding (`superposition.runs.moved`), up to three where the first is too quiet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

BOUND = 1e-5  # twenty times the largest distance seen between two processors, 5e-7
FACTOR = 10.0  # of what moving did: chaos alone goes beyond it once in two hundred times, beyond half of it in fifty
PAIRS = 3  # of moved replays at most: a table has hundreds of values, and one pair says little of how far chaos goes
Replay = Callable[[int], dict]  # the values of the point, with its start moved up (1) or down (-1)


@dataclass(frozen=True)
class Agreement:
    """How values lie to stored ones.

    ``distances`` has the columns whose bits differ, ``bounds`` those with more than `BOUND`, ``differs`` says what
    is wrong, and is empty where all is well.
    """

    distances: dict[str, float]
    bounds: dict[str, float]
    differs: str


def of(columns: dict[str, np.ndarray], row: int, values: dict, replay: Replay) -> Agreement:
    """Judge one point's values of today by those in a row of a table; ``replay`` is only asked for a wider bound."""
    found = distances(columns, row, values)
    if not found:
        return Agreement({}, {}, "no column of the table is computed any more")
    unknown = [name for name in values if name not in columns]
    if unknown:
        return Agreement(found, {}, f"{unknown[0]} is no column of the table")
    wide = {name: found[name] for name in found if found[name] > BOUND}
    bounds = _bounds(columns, row, values, wide, replay) if wide and inf not in wide.values() else {}
    said = [
        f"{name}: {columns[name][row].item()!r} is stored, {values[name]!r} is computed, "
        f"distance {distance:.2g} of the column's largest, bound {bounds.get(name, _bound(columns[name])):.2g}"
        for name, distance in found.items()
        if distance > bounds.get(name, BOUND)
    ]
    return Agreement({name: one for name, one in found.items() if one}, bounds, "; ".join(said))


def distances(columns: dict[str, np.ndarray], row: int, values: dict) -> dict[str, float]:
    """How far each value lies from a row's, in units of its column's largest; infinite where it must be equal."""
    return {name: _distance(columns[name], row, value) if name in columns else inf for name, value in values.items()}


def _distance(column: np.ndarray, row: int, value: float | str) -> float:
    stored = column[row].item()
    if stored == value:
        return 0.0
    if _bound(column) == 0 or isinstance(value, str) or not isfinite(value):
        return inf
    largest = np.abs(column).max()
    return float(abs(value - stored) / largest) if largest else inf


def _bound(column: np.ndarray) -> float:
    return BOUND if column.dtype.kind == "f" else 0.0


def _bounds(
    columns: dict[str, np.ndarray], row: int, values: dict, wide: dict[str, float], replay: Replay
) -> dict[str, float]:
    """The bounds above `BOUND` of columns with wide distances, by what moving the start does to them."""
    today = {name: _with(columns[name], row, values[name]) for name in wide}
    moved, spreads = [], dict.fromkeys(wide, 0.0)
    for pair in range(1, PAIRS + 1):
        moved += [replay(-pair), replay(pair)]
        spreads = {name: max(_distance(today[name], row, side[name]) for side in moved) for name in wide}
        if all(distance <= FACTOR * spreads[name] for name, distance in wide.items()):
            break
    return {name: FACTOR * spread for name, spread in spreads.items() if BOUND < FACTOR * spread < inf}


def _with(column: np.ndarray, row: int, value: float) -> np.ndarray:
    """A column with another value in one row."""
    changed = column.copy()
    changed[row] = value
    return changed
