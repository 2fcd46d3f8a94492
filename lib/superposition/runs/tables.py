"""The small tables behind the figures: CSV with one row per point, and a JSON with their provenance.

They are in ``book/data`` in a source checkout, and are installed with the library, so that they are found whatever the
working directory is.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import resources
from pathlib import Path

import numpy as np
from defprint import fingerprint

from superposition.runs import agreement, executors, moved, registry, store, table_files
from superposition.runs.point import Columns, Point, Run

QUICK = 1.0  # seconds that the cheapest point may have cost to be computed again when a table is loaded
SHARED = ("rug-price",)  # its points share work that the first of them does: their seconds are not the cost of one


@dataclass(frozen=True)
class Table:
    """A stored table: ``columns`` by name, one entry per point, ``provenance``, and the ``note`` for its figure.

    The note is empty if the run would give the same table now; otherwise it says what differs. ``stored`` names
    the columns that the file has; the others are predictions, joined when it was read.
    """

    columns: dict[str, np.ndarray]
    provenance: dict
    note: str
    stored: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The line beside a figure in Markdown, with what the table holds and whether it is older than its run."""
        said = self.provenance
        matches = f"It matches the current configuration of its run; {self._coverage}."
        state = f"**Not current:** {self.note}" if self.note else matches
        versions = ", ".join(f"{name} {version}" for name, version in said["versions"][-1].items())
        return (
            f"Table `{said['run']}`: {len(said['seconds'])} points, {said['seconds_total'] / 3600:.2g} hours of work, "
            f"on {', '.join(said['devices'])}, with {versions}. {state}"
        )

    @property
    def replayed(self) -> int:
        """Number of points that were computed again, and agreed, for code with the table's fingerprint."""
        return len(self.rows(self._signings))

    @property
    def begun(self) -> set[int]:
        """The rows of replays that ran out of time since the last one that did not."""
        ended = [i for i, entry in enumerate(self._signings, 1) if entry.get("rule") != "part"]
        return self.rows(self._signings[max(ended, default=0) :])

    def rows(self, entries: Iterable[dict]) -> set[int]:
        """The rows that were replayed for some signings; older ones hold the points themselves."""
        found = set()
        for entry in entries:
            found.update(entry.get("rows", ()))
            found.update(row for point in entry.get("points", ()) for row in np.flatnonzero(self._has(point)).tolist())
        return found

    def _has(self, point: dict) -> np.ndarray:
        """Where the table has a point."""
        return np.logical_and.reduce([self.columns[name] == value for name, value in point.items()])

    @property
    def _signings(self) -> list[dict]:
        """The signings with the table's fingerprint; older ones are of other code."""
        code, entries = self.provenance["library_digest"], self.provenance.get("certified", [])
        return [entry for entry in entries if entry["to"]["library_digest"] == code]

    @property
    def _coverage(self) -> str:
        why = {
            "whole": "",
            "pairs": "",
            "cover": "",
            "cheapest": ", once a release, as each costs more than a minute",
            "blocks": ", one a block",
            "part": ", not all that it needs",
        }
        rules = {entry.get("rule") for entry in self._signings}
        said = next((why[rule] for rule in why if rule in rules), "")
        return f"replayed {self.replayed} of {len(self.provenance['seconds'])}{said}"

    def where(self, **values: object) -> Table:
        """Rows in which each named column has the given value; all of them without a name."""
        matches = [self.columns[name] == value for name, value in values.items()]
        chosen = np.logical_and.reduce(matches) if matches else slice(None)
        return replace(self, columns={name: column[chosen] for name, column in self.columns.items()})

    def pivot(self, value: str, *, down: str, across: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values of ``down`` and of ``across``, increasing, and means of ``value`` at each pair, nan without rows."""
        rows, i = np.unique(self.columns[down], return_inverse=True)
        columns, j = np.unique(self.columns[across], return_inverse=True)
        total, count = np.zeros((2, len(rows), len(columns)))
        np.add.at(total, (i, j), self.columns[value])
        np.add.at(count, (i, j), 1)
        return rows, columns, np.where(count > 0, total / np.maximum(count, 1), np.nan)


def folder() -> Path:
    """Where the tables are: ``book/data`` in a source checkout, a copy of it otherwise."""
    found = Path(str(resources.files("superposition") / "data"))
    if not found.is_dir():
        raise FileNotFoundError(
            f"{found} is no folder: this installation came without the tables of book/data; "
            "install from a checkout in which lib/superposition/data is a link to book/data"
        )
    return found.resolve()


def load(name: str, *, run: Run | None = None, where: str | Path | None = None, replay: bool = True) -> Table:
    """Read a run's table, compute its cheapest point again, compare it with the run, and join the predictions."""
    run = run or registry.find(name)
    table = read(run, where)
    if replay:
        _replay_cheapest(run, table)
    return replace(table, columns=with_predictions(run, table.columns))


def _replay_cheapest(run: Run, table: Table) -> None:
    """Refuse a table whose cheapest point has other values today: pages show tables whose points cost minutes."""
    seconds = table.provenance["seconds"]
    row = int(np.argmin(seconds))
    if run.name in SHARED or seconds[row] > QUICK or not run.point.model_fields.keys() <= table.columns.keys():
        return
    point = run.point(**{name: table.columns[name][row].item() for name in run.point.model_fields})
    replay = partial(_computed, run.function, fingerprint.of(run.function), point.model_dump_json())
    try:
        values = replay()
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("superposition"):
            raise
        return
    if differs := agreement.of(table.columns, row, values, replay).differs:
        raise ValueError(
            f"run = {run.name}: its code gives other values than its table holds, at {point}: {differs}; "
            f"to replay more points: superposition runs certify {run.name}"
        )


@cache
def _computed(function: str, code: str, fields: str, side: int = 0) -> dict:
    with moved.draws(side) if side else nullcontext():
        return executors.compute(function, json.loads(fields), "cpu", code)["values"]


def read(run: Run, where: str | Path | None = None) -> Table:
    """Read what a run measured, and compare it with the run."""
    path = (Path(where) if where else folder()) / f"{run.name}.csv"
    if not _are_there(path):
        raise FileNotFoundError(f"{path} is not there; to make it: superposition runs collect {run.name}")
    provenance = table_files.provenance_at(path.with_suffix(".json"), run.name)
    columns = table_files.columns_at(path, provenance)
    return Table(columns, provenance, " ".join(_differences(run, columns, provenance)), tuple(columns))


def write_provenance(path: Path, said: dict) -> None:
    """Write the provenance of a table, with a new checksum of its contents."""
    store.replace(path, json.dumps(table_files.sealed(said), indent=1) + "\n")


def with_predictions(run: Run, columns: Columns) -> Columns:
    """The columns that a run measured, and today's predictions for them."""
    for predicted in run.predicted:
        columns = columns | predicted(columns)
    return columns


def is_stored(name: str) -> bool:
    """Whether a run has a table, whole or damaged."""
    return _are_there(folder() / f"{name}.csv")


def collect(run: Run, grid: str, source: str | Path, target: str | Path) -> Path:
    """Write the table of a finished run and its provenance, as NAME or NAME-small; return the path of the CSV file."""
    found = registry.status(run, grid, source)
    if found.missing or found.damaged:
        raise ValueError(
            f"{run.name} is not finished: {len(found.missing)} of {len(registry.points(run, grid))} points are "
            f"missing, {len(found.damaged)} damaged; to finish: superposition runs start {run.name} --grid {grid}"
        )
    records = [_record(run, point, source) for point in found.done]
    text = _text(records)
    path = Path(target) / f"{run.name}{'' if grid == 'full' else '-small'}.csv"
    store.replace(path, text)
    write_provenance(path.with_suffix(".json"), _provenance(run, grid, records, text))
    return path


def sign(said: dict, dropped: Sequence[str]) -> None:
    """Write the provenance of a table in `folder` again, and the table without the columns that are dropped."""
    path = folder() / f"{said['run']}.csv"
    header, *rows = csv.reader(io.StringIO(path.read_text(encoding="utf-8")))
    kept = [index for index, name in enumerate(header) if name not in dropped]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([row[index] for index in kept] for row in (header, *rows))
    if dropped:
        store.replace(path, out.getvalue())
        said = {**said, "table_sha256": table_files.sha256(out.getvalue())}
    write_provenance(path.with_suffix(".json"), said)


def other_versions(table: Table, today: dict[str, str]) -> dict[str, list[str]]:
    """Versions by name that a table was made with, where they are not today's alone."""
    made = {name: sorted({versions.get(name, "?") for versions in table.provenance["versions"]}) for name in today}
    return {name: found for name, found in made.items() if found != [today[name]]}


def _record(run: Run, point: Point, source: str | Path) -> dict:
    record = registry.read(run, point, source)
    if record is None:
        raise ValueError(f"{run.name}: the result of {point} was removed while the table was made")
    return record


def _text(records: Sequence[dict]) -> str:
    """The table as CSV: the fields of the point, then its values, each number with all its digits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    rows = [{**record["point"], **record["values"]} for record in records]
    writer.writerow(rows[0])
    writer.writerows([row[name] for name in rows[0]] for row in rows)
    return out.getvalue()


def _provenance(run: Run, grid: str, records: Sequence[dict], text: str) -> dict:
    return {
        "run": run.name,
        "feeds": run.feeds,
        "function": run.function,
        "grid": {"name": grid, "blocks": list(getattr(run, grid))},
        "library_digest": fingerprint.of(run.function),
        "table_sha256": table_files.sha256(text),
        "commits": _distinct(record["commit"] for record in records),
        "versions": _distinct(record["versions"] for record in records),
        "cpus": _distinct(record["cpu"] for record in records),
        "threads": _distinct(record["threads"] for record in records),
        "devices": dict(Counter(record.get("device", record["values"].get("device", "cpu")) for record in records)),
        "seconds_total": round(sum(record["seconds"] for record in records), 1),
        "seconds": [round(record["seconds"], 2) for record in records],
    }


def _distinct(values: Iterable[object]) -> list:
    return [json.loads(text) for text in sorted({json.dumps(value) for value in values})]


def _are_there(path: Path) -> bool:
    """Whether a table has one of its two files, or something in the place of one."""
    return any(map(os.path.lexists, (path, path.with_suffix(".json"))))


def _differences(run: Run, columns: dict[str, np.ndarray], provenance: dict) -> Iterator[str]:
    """The differences of a table from the current configuration of its run, in sentences."""
    if provenance["library_digest"] != fingerprint.of(run.function):
        yield "The table is older than the current library code."
    wanted = Counter(json.dumps(point.model_dump(mode="json")) for point in registry.points(run, "full"))
    fields = list(run.point.model_fields)
    if lacking := [field for field in fields if field not in columns]:
        yield f"The run has fields that the table has not: {', '.join(lacking)}."
        return
    stored = Counter(
        json.dumps(dict(zip(fields, row, strict=True)))
        for row in zip(*(columns[field].tolist() for field in fields), strict=True)
    )
    if wanted != stored:
        yield (
            f"The grid of the run has changed since: {(wanted - stored).total()} points are not in the table, "
            f"{(stored - wanted).total()} are no longer in the grid."
        )
