"""Whether values computed again are those of a stored table: by their bits, else by how far they lie from them.

A processor or a number of threads of its own rounds in another way, so equal bits are not asked for. A distance
is one in units of the largest number of its column, and `BOUND` is what rounding may do; words, truths and whole
numbers have to be equal. Numbers in a text are compared as numbers, less the last digit that was printed. Where a
training is chaotic, rounding does more. How much, pairs of replays tell whose start was moved by one rounding
(`superposition.runs.moved`), up to three where the first is too quiet. A word, such as the name of
the start that won a search, may be another one if one of these replays gives the stored one; its distance counts as
`FARTHEST`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from superposition import weights

BOUND = 1e-5  # twenty times the largest distance seen between two processors, 5e-7
FACTOR = 10.0  # of what moving did: chaos alone goes beyond it once in two hundred times, beyond half of it in fifty
FARTHEST = 2.0  # what two numbers of a column can lie apart; what goes beyond it is no chaos
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
    known = {name: columns[name] for name in values if name in columns}
    return {name: _apart(known[name][row].item(), value, known[name]) if name in known else inf
            for name, value in values.items()}  # fmt: skip


def _apart(one: float | str, other: float | str, column: np.ndarray) -> float:
    """The distance of two values of a column, in units of the largest number in it."""
    if one == other:
        return 0.0
    if isinstance(one, str) and isinstance(other, str):
        return _texts_apart(one, other, column)
    if isinstance(one, str) or isinstance(other, str) or _bound(column) == 0 or not isfinite(other):
        return inf
    largest = np.abs(column).max()
    return float(abs(other - one) / largest) if largest else inf


def _texts_apart(one: str, other: str, column: np.ndarray) -> float:
    """The same for numbers in a text, less the last digit that was printed; the farthest for words."""
    numbers, others = _numbers(one), _numbers(other)
    if numbers is None or others is None:
        return FARTHEST
    if numbers.shape != others.shape:
        return inf
    largest = max(np.abs(said[0]).max() for text in column.tolist() if (said := _numbers(text)) is not None)
    return float(np.maximum(np.abs(others[0] - numbers[0]) - np.maximum(numbers[1], others[1]), 0).max() / largest)


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
    return {name: min(FACTOR * spread, FARTHEST) for name, spread in spreads.items() if BOUND < FACTOR * spread < inf}


def _spread(column: np.ndarray, row: int, value: float | str, moved: list) -> float:
    """How far moved starts carry a value; a word has to be carried to the stored one."""
    if isinstance(value, str) and _numbers(value) is None:
        return FARTHEST * (column[row].item() in moved)
    return max(_apart(value, side, column) for side in moved)
