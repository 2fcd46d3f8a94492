"""The points of a table to replay: the cheapest that cover each block and pair of values of its grid, and others.

A fault that is tied to a value of a field, to a range of values, to a text or to a combination of two values is found
if a replayed point has them. Points are therefore taken until each pair of values that any cheap point has is covered,
always the point that adds most pairs for its time. A table whose cheap points cost less than a minute in all is
replayed whole. Where all pairs would cost more than an hour, each block and each value is covered first, then the
cheapest pairs. Some other points are drawn at each signing, so that more and more of the table has been replayed.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from superposition.runs import registry
from superposition.runs.point import Point, Run
from superposition.runs.tables import Table

LONG = 60.0  # seconds that a point may have cost to be replayed each time
WHOLE = 60.0  # seconds that all such points may have cost for a table to be replayed whole
PAIRS = 3600.0  # seconds that all points of a table may cost for its pairs; its blocks and values are covered anyway
SHARE = 0.25  # of the cost of the needed points, for others


@dataclass(frozen=True)
class Choice:
    """Rows to replay: ``needed`` before the table is signed, ``more`` if there is time; and what none of them covers.

    ``rule`` is "whole", "pairs", "blocks" or, where every point costs more than `LONG`, "cheapest". Tables that were
    signed before pairs were covered have the rule "cover": each block and each value.
    """

    rule: str
    needed: tuple[int, ...]
    more: tuple[int, ...]
    unreached: tuple[str, ...]


def choose(run: Run, table: Table, *, blocks_only: bool = False) -> Choice:
    """Choose the points of a table to replay; if it will soon be remade, one per block, or two of a single block."""
    seconds, present = _seconds_here(table), points(run, table)
    cheap = [row for row in sorted(range(len(present)), key=seconds.__getitem__) if seconds[row] <= LONG]
    more = []
    if not cheap:
        rule, needed = "cheapest", [min(range(len(present)), key=seconds.__getitem__)]
    elif blocks_only:
        rule, needed = "blocks", _one_a_block(cheap, [_singles(run, point) for point in present])
    elif sum(seconds[row] for row in cheap) <= WHOLE:
        rule, needed = "whole", cheap
    else:
        rule, needed = "pairs", _covering(run, present, cheap, seconds)
        more = _others(run, table, [row for row in cheap if row not in needed], sum(seconds[row] for row in needed))
    unreached = _unreached(run, [present[row] for row in needed], rule)
    return Choice(rule, tuple(needed), tuple(more), unreached)


def points(run: Run, table: Table) -> list[Point]:
    """The points of a table, in the order of its rows."""
    columns = {name: table.columns[name] for name in run.point.model_fields}
    rows = range(len(table.provenance["seconds"]))
    return [run.point(**{name: column[row].item() for name, column in columns.items()}) for row in rows]


def _seconds_here(table: Table) -> list[float]:
    """The seconds of each point on a CPU, where replays are made; an accelerator's points come after all others."""
    seconds = table.provenance["seconds"]
    devices = table.columns.get("device", np.full(len(seconds), "cpu"))
    more = max(LONG, *seconds)
    return [cost if device == "cpu" else more + cost for cost, device in zip(seconds, devices, strict=True)]


def _singles(run: Run, point: Point) -> list[str]:
    """The blocks that a point is in, and the values of its fields."""
    fields = dict(point)
    blocks = [i for i, block in enumerate(run.full, 1) if all(fields[name] in block[name] for name in block)]
    return [*(f"block {i} of {len(run.full)}" for i in blocks), *(f"{name}={value}" for name, value in point)]


def _pairs(point: Point) -> Iterable[tuple]:
    """All pairs of values of two fields that a point has."""
    return itertools.combinations(point, 2)


def _one_a_block(cheap: list[int], singles: list[list[str]]) -> list[int]:
    """The cheapest row of each block, and a second row if there is only one block."""
    first = {}
    for row in cheap:
        for one in singles[row]:
            if one.startswith("block "):
                first.setdefault(one, row)
    rows = list(dict.fromkeys(first.values())) or cheap[:1]
    return rows if len(rows) > 1 else cheap[:2]


def _covering(run: Run, present: list[Point], cheap: list[int], seconds: list[float]) -> list[int]:
    """Rows that cover all pairs of values; if these cost more than `PAIRS`, all blocks and values, then cheap pairs."""
    singles = {row: set(_singles(run, present[row])) for row in cheap}
    both = {row: {*singles[row], *_pairs(present[row])} for row in cheap}
    rows = _greedy([], both, seconds)
    if sum(seconds[row] for row in rows) <= PAIRS:
        return rows
    rows = _greedy([], singles, seconds)
    return _greedy(rows, both, seconds, PAIRS - sum(seconds[row] for row in rows))


def _greedy(rows: list[int], shown: dict[int, set], seconds: list[float], room: float = np.inf) -> list[int]:
    """Rows that cover all that is given, within a limit of time: always the row that adds most for its time."""
    rows, left = [*rows], set().union(*shown.values()).difference(*(shown[row] for row in rows))
    while fitting := [row for row in shown if shown[row] & left and seconds[row] <= room]:
        rows.append(min(fitting, key=lambda row: seconds[row] / len(shown[row] & left)))
        left -= shown[rows[-1]]
        room -= seconds[rows[-1]]
    return rows


def _unreached(run: Run, met: list[Point], rule: str) -> tuple[str, ...]:
    """Blocks and values of the grid that no replayed point has; then, by fields, how many pairs of the others."""
    grid, asked = registry.points(run, "full"), "block " if rule == "blocks" else ""
    seen = {one for point in met for one in _singles(run, point)}
    wanted = dict.fromkeys(one for point in grid for one in _singles(run, point) if one.startswith(asked))
    lacking = [one for one in wanted if one not in seen]
    if rule in ("whole", "pairs"):
        values, pairs = ({each for point in met for each in some(point)} for some in (iter, _pairs))
        known = {pair for point in grid for pair in _pairs(point) if values.issuperset(pair)}
        fields = Counter((one, other) for (one, _), (other, _) in known)
        missing = Counter((one, other) for (one, _), (other, _) in known - pairs)
        lacking += [f"{missing[both]} of {fields[both]} pairs of {' and '.join(both)}" for both in sorted(missing)]
    return tuple(lacking)


def _others(run: Run, table: Table, rows: list[int], cost: float) -> list[int]:
    """Random rows for a share of a cost, different ones at each signing; no row again before all were replayed."""
    entries = table.provenance.get("certified", [])
    before = table.rows(entries)
    fresh = [row for row in rows if row not in before] or rows
    seconds, taken, room = _seconds_here(table), [], SHARE * cost
    for row in random.Random(f"{run.name} {len(entries)}").sample(fresh, len(fresh)):
        if seconds[row] <= room:
            taken.append(row)
            room -= seconds[row]
    return taken or sorted(fresh, key=seconds.__getitem__)[:1]
