"""The agreement of values computed again with those of a stored table: by their bits, else by their distance.

Another processor or another number of threads rounds in another way, so equal bits are not required. A distance is
relative: it is divided by the largest number of the column, or by the stored value itself where a column of one sign
spans more than a decade, since 1e-5 of the largest loss may be all of the smallest. Rounding may cause distances up to
`BOUND`; words, truth values and whole numbers have to be equal. Numbers in a text are compared as numbers, less the
last digit that was printed. Chaotic training magnifies rounding. The bound is then measured by pairs of replays whose
start was moved by one rounding (`superposition.runs.moved`), up to three where the first moves too little. A word, such
as the name of the start that won a search, may differ if one of these replays gives the stored one; its distance counts
as `FARTHEST`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from superposition import weights

BOUND = 1e-5  # twenty times the largest distance seen between two processors, 5e-7
FACTOR = 10.0  # of the moved distance: chaos alone exceeds it once in two hundred times, half of it once in fifty
FARTHEST = 2.0  # in units of the column's largest: two numbers of a column are not farther apart; chaos neither
DECADE = 10.0  # a column that spans more is judged by each value: within a decade BOUND is at most 1e-4 of any value
FLOOR = 2.0**-23  # of the column's largest: a smaller value may be nothing but its rounding in single precision
PAIRS = 3  # of moved replays at most: a table has hundreds of values, and one pair shows little of the chaos
Replay = Callable[[int], dict]  # the values of the point, with its start moved up (1) or down (-1)


@dataclass(frozen=True)
class Agreement:
    """The agreement of the values of one point.

    ``distances`` has the columns whose bits differ, ``bounds`` those with more than `BOUND`; ``differs`` describes what
    is wrong, and is empty if nothing is.
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
        f"distance {distance:.2g}, bound {bounds.get(name, _bound(columns[name])):.2g}"
        for name, distance in found.items()
        if distance > bounds.get(name, BOUND)
    ]
    return Agreement({name: one for name, one in found.items() if one}, bounds, "; ".join(said))


def distances(columns: dict[str, np.ndarray], row: int, values: dict) -> dict[str, float]:
    """The relative distance of each value from that of a row; infinite where it must be equal."""
    return {
        name: _apart(columns[name][row].item(), value, columns[name], row) if name in columns else inf
        for name, value in values.items()
    }


def _apart(one: float | str, other: float | str, column: np.ndarray, row: int) -> float:
    """The distance of two values, in the unit of a column at a row."""
    if one == other:
        return 0.0
    if isinstance(one, str) and isinstance(other, str):
        return _texts_apart(one, other, column, row)
    if isinstance(one, str) or isinstance(other, str) or _bound(column) == 0 or not isfinite(other):
        return inf
    unit = _unit(column, row)
    return float(abs(other - one) / unit) if unit else inf


def _texts_apart(one: str, other: str, column: np.ndarray, row: int) -> float:
    """The same for numbers in a text, less the last digit that was printed; the farthest for words."""
    numbers, others = _numbers(one), _numbers(other)
    if numbers is None or others is None:
        return FARTHEST
    if numbers.shape != others.shape:
        return inf
    apart = np.maximum(np.abs(others[0] - numbers[0]) - np.maximum(numbers[1], others[1]), 0).max()
    return float(apart / _unit(_sizes(column), row))


def _unit(column: np.ndarray, row: int) -> float:
    """The number by which distances are divided: the column's largest, or the stored value if they span decades."""
    largest, positive = np.abs(column).max(), column[column > 0]
    spans = len(positive) and column.min() >= 0 and largest > DECADE * positive.min()
    return max(column[row], FLOOR * largest) if spans else largest


def _sizes(column: np.ndarray) -> np.ndarray:
    """The largest number in each text of a column; 0 for words."""
    numbers = [_numbers(text) for text in column.tolist()]
    return np.array([0.0 if found is None else np.abs(found[0]).max() for found in numbers])


def _farthest(column: np.ndarray, row: int) -> float:
    """The largest distance that chaos may explain, in the unit of a column at a row."""
    numbers = column if column.dtype.kind == "f" else _sizes(column)
    return FARTHEST * np.abs(numbers).max() / unit if (unit := _unit(numbers, row)) else FARTHEST


def _numbers(text: str) -> np.ndarray | None:
    """Numbers of a text and a unit of the last digit of each, or packed weights with units of 0; None for words."""
    try:
        packed = weights.unpacked(text)
        return np.array([(x, 0.0) for name in sorted(packed) for x in packed[name].flat]).T
    except ValueError:
        pass
    try:
        return np.array([(float(word), _last_digit(word)) for word in text.split()]).T
    except ValueError:
        return None


def _last_digit(word: str) -> float:
    mantissa, _, exponent = word.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def _bound(column: np.ndarray) -> float:
    return BOUND if column.dtype.kind in "fU" else 0.0


def _bounds(
    columns: dict[str, np.ndarray], row: int, values: dict, wide: dict[str, float], replay: Replay
) -> dict[str, float]:
    """The bounds above `BOUND` of columns with wide distances, by what moving the start does to them."""
    moved, spreads = [], dict.fromkeys(wide, 0.0)
    for pair in range(1, PAIRS + 1):
        moved += [replay(-pair), replay(pair)]
        spreads = {name: _spread(columns[name], row, values[name], [side[name] for side in moved]) for name in wide}
        if all(distance <= FACTOR * spreads[name] for name, distance in wide.items()):
            break
    return {
        name: min(FACTOR * spread, _farthest(columns[name], row))
        for name, spread in spreads.items()
        if BOUND < FACTOR * spread < inf
    }


def _spread(column: np.ndarray, row: int, value: float | str, moved: list) -> float:
    """The largest distance that moved starts cause; a word has to become the stored one."""
    if isinstance(value, str) and _numbers(value) is None:
        return FARTHEST * (column[row].item() in moved)
    return max(_apart(value, side, column, row) for side in moved)
