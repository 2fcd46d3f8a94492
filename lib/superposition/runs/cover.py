"""Which points of a table are replayed: together they meet every block and every value of its grid, others come along.

A fault that is tied to a value of a field, to a range of it or to a text is met where a point with such a value is
replayed. So the cheapest points are taken that show all there is; and some others at each signing, so that more and
more of the table has been replayed.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

import numpy as np

from superposition.runs import registry
from superposition.runs.point import Point, Run
from superposition.runs.tables import Table

LONG = 60.0  # seconds that a point may have cost to be replayed each time
SHARE = 0.25  # of what the needed points cost, for others


@dataclass(frozen=True)
class Choice:
    """Rows to replay: ``needed`` before the table is signed, ``more`` if there is time; and what none of them meets.

    ``rule`` is "cover", "blocks" or, where every point costs more than `LONG`, "cheapest".
    """

    rule: str
    needed: tuple[int, ...]
    more: tuple[int, ...]
    unreached: tuple[str, ...]


def choose(run: Run, table: Table, *, blocks_only: bool = False) -> Choice:
    """Choose the points of a table to replay; one a block if it will soon be made again, two where that is all."""
    seconds = _seconds_here(table)
    shown = [_shown(run, point) for point in points(run, table)]
    ordered = sorted(range(len(shown)), key=seconds.__getitem__)
    cheap = [row for row in ordered if seconds[row] <= LONG]
    if not cheap:
        rule, needed, more = "cheapest", ordered[:1], []
    elif blocks_only:
        rule, needed, more = "blocks", _one_a_block(cheap, shown), []
    else:
        rule, needed = "cover", _covering(cheap, shown, seconds)
        more = _others(run, table, [row for row in cheap if row not in needed], sum(seconds[row] for row in needed))
    met = set().union(*(shown[row] for row in needed))
    wanted = dict.fromkeys(one for point in registry.points(run, "full") for one in _shown(run, point))
    asked = "block " if rule == "blocks" else ""
    unreached = tuple(one for one in wanted if one not in met and one.startswith(asked))
    return Choice(rule, tuple(needed), tuple(more), unreached)


def points(run: Run, table: Table) -> list[Point]:
    """The points of a table, in the order of its rows."""
    columns = {name: table.columns[name] for name in run.point.model_fields}
    rows = range(len(table.provenance["seconds"]))
    return [run.point(**{name: column[row].item() for name, column in columns.items()}) for row in rows]


def _seconds_here(table: Table) -> list[float]:
    """What each point cost on a CPU, where replays are made; at an accelerator's points more than any of these."""
    seconds = table.provenance["seconds"]
    devices = table.columns.get("device", np.full(len(seconds), "cpu"))
    more = max(LONG, *seconds)
    return [cost if device == "cpu" else more + cost for cost, device in zip(seconds, devices, strict=True)]


def _shown(run: Run, point: Point) -> list[str]:
    """What a fault may be tied to that a replay of a point would meet: its blocks, and its fields' values."""
    fields = dict(point)
    blocks = [i for i, block in enumerate(run.full, 1) if all(fields[name] in block[name] for name in block)]
    return [*(f"block {i} of {len(run.full)}" for i in blocks), *(f"{name}={value}" for name, value in point)]


def _one_a_block(cheap: list[int], shown: list[list[str]]) -> list[int]:
    """The cheapest row of each block; a second one where there is but one block."""
    first = {}
    for row in cheap:
        for one in shown[row]:
            if one.startswith("block "):
                first.setdefault(one, row)
    rows = list(dict.fromkeys(first.values())) or cheap[:1]
    return rows if len(rows) > 1 else cheap[:2]


def _covering(cheap: list[int], shown: list[list[str]], seconds: list[float]) -> list[int]:
    """Rows that show all that any of them shows: always the one that shows most new for its time."""
    rows, seen = [], set()
    while left := [row for row in cheap if set(shown[row]) - seen]:
        rows.append(min(left, key=lambda row: seconds[row] / len(set(shown[row]) - seen)))
        seen.update(shown[rows[-1]])
    return rows


def _others(run: Run, table: Table, rows: list[int], cost: float) -> list[int]:
    """Rows drawn by lot, another lot at each signing, those never replayed first; for a share of a cost."""
    entries = table.provenance.get("certified", [])
    before = {json.dumps(point, sort_keys=True) for entry in entries for point in entry["points"]}
    said = [json.dumps(point.model_dump(mode="json"), sort_keys=True) for point in points(run, table)]
    drawn = random.Random(f"{run.name} {len(entries)}").sample(rows, len(rows))
    drawn.sort(key=lambda row: said[row] in before)
    seconds, taken, room = _seconds_here(table), [], SHARE * cost
    for row in drawn:
        if seconds[row] <= room:
            taken.append(row)
            room -= seconds[row]
    fresh = [row for row in drawn if said[row] not in before] or drawn
    return taken or sorted(fresh, key=seconds.__getitem__)[:1]
