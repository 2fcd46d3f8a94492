"""The named runs behind the figures: their functions, their grids, and the points that are finished.

A run names a function, which does not depend on the run, and two grids of points. A point is a frozen
and closed configuration; its key is a hash of the run's name and the configuration together with the fingerprint of the
library code that the function depends on, so a result is never taken for another one, nor for
that of an older library.
"""

from __future__ import annotations

import difflib
import hashlib
import itertools
import json
import pkgutil
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

from defprint import fingerprint
from pydantic import BaseModel, ValidationError

from superposition import checks
from superposition.runs import store
from superposition.runs.point import Point, Run

GRIDS = ("small", "full")
KINDS = {bool: "truth value", str: "text", int: "number", float: "number"}
ROOM = "superposition.experiments"  # each module of it may declare RUNS


@dataclass(frozen=True)
class Status:
    """The points of a grid, sorted by what is on disk; ``damaged`` maps points to what is wrong.

    ``others`` counts files of other grids or of other library code in the same folder; ``columns`` are those of most
    results, as `columns` has them, none without a result.
    """

    done: tuple[Point, ...]
    missing: tuple[Point, ...]
    damaged: dict[Point, str]
    others: int
    columns: frozenset[tuple[str, str]] = field(default=frozenset(), compare=False)


class _Record(BaseModel):
    """A result, as a table needs it."""

    point: dict[str, object]
    values: dict[str, bool | int | float | str]
    seconds: float
    commit: str | None
    versions: dict[str, str]
    cpu: str
    threads: int


def __getattr__(name: str) -> dict[str, Run]:
    """Find the runs when they are first used: experiments import this package, so it cannot import them."""
    if name == "RUNS":
        return _declared()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _declared() -> dict[str, Run]:
    modules = [import_module(f"{ROOM}.{found.name}") for found in pkgutil.iter_modules(import_module(ROOM).__path__)]
    return {run.name: run for module in modules for run in getattr(module, "RUNS", ())}


def find(name: str) -> Run:
    """Look up a run; for an unknown name, the refusal has the nearest one."""
    known = _declared()
    if name not in known:
        nearest = difflib.get_close_matches(name, known, n=1, cutoff=0)[0]
        raise ValueError(f"run = {checks.shown(name)} is unknown; nearest: {nearest}; all: superposition runs list")
    return known[name]


def points(run: Run, grid: str) -> tuple[Point, ...]:
    """All points of a grid, "small" or "full", each once, in the order of the blocks."""
    checks.one_of("grid", grid, GRIDS)
    products = (itertools.product(*block.values()) for block in getattr(run, grid))
    found = dict.fromkeys(
        run.point(**dict(zip(block, values, strict=True)))
        for block, product in zip(getattr(run, grid), products, strict=True)
        for values in product
    )
    if not found:
        raise ValueError(f"grid = {grid!r} of run {run.name} is empty; allowed: at least one point")
    return tuple(found)


def key(run: Run, point: Point) -> str:
    """The name of the result of a point: 32 hexadecimal digits, a hash of run, configuration and library code."""
    text = json.dumps([run.name, point.model_dump(mode="json"), fingerprint.of(run.function)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read(run: Run, point: Point, folder: str | Path) -> dict | None:
    """Read the result of a point: None if there is none yet, a `ResultError` if it is not whole."""
    name = key(run, point)
    record = store.read(folder, name)
    if record is None:
        return None
    try:
        said = _Record.model_validate(record, strict=True)
    except ValidationError as error:
        place = checks.printable(".".join(map(str, error.errors()[0]["loc"])))
        raise store.ResultError(f"{name}.json is damaged: {place}: {error.errors()[0]['msg']}") from None
    if said.point != point.model_dump(mode="json"):
        raise store.ResultError(f"{name}.json is damaged: it holds the result of another point")
    return record


def columns(record: dict) -> frozenset[tuple[str, str]]:
    """What a result gives to a table: name and kind of each value, "number", "text" or "truth value"."""
    return frozenset((name, KINDS[type(value)]) for name, value in record["values"].items())


def status(run: Run, grid: str, folder: str | Path) -> Status:
    """Which points of a grid, "small" or "full", are finished in a results folder, which may be missing."""
    wanted = {point: key(run, point) for point in points(run, grid)}
    present = store.keys(folder)
    found, missing, damaged = {}, [], {}
    for point, name in wanted.items():
        try:
            record = read(run, point, folder) if name in present else None
        except store.ResultError as error:
            damaged[point] = str(error)
        else:
            found.update({point: columns(record)} if record else {})
            missing.extend([] if record else [point])
    usual = Counter(found.values()).most_common(1)[0][0] if found else frozenset()
    damaged |= {point: _odd(wanted[point], has, usual) for point, has in found.items() if has != usual}
    done = tuple(point for point in found if point not in damaged)
    return Status(done, tuple(missing), damaged, len(present - set(wanted.values())), usual)


def _odd(name: str, has: frozenset[tuple[str, str]], usual: frozenset[tuple[str, str]]) -> str:
    """The differences of a result whose columns are not those of most results."""
    parts = [
        f"{verb} the {kind} {checks.printable(column)}"
        for verb, some in (("lacks", usual - has), ("has", has - usual))
        for column, kind in sorted(some)
    ]
    return f"{name}.json is damaged: unlike most results it {', '.join(parts)}"
