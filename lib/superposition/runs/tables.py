"""The small tables behind the figures: CSV with one row per point, and a JSON with their provenance.

They are ``book/data`` in a source checkout and go with the library when it is installed, so they
are found whatever the working directory is.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

import numpy as np

from superposition.runs import fingerprint, registry, store
from superposition.runs.point import Columns, Point, Run


@dataclass(frozen=True)
class Table:
    """A stored table: ``columns`` by name, one entry per point, ``provenance``, and the ``note`` for its figure.

    The note is empty if the table is what its run would give now, and says otherwise what differs. ``stored`` names
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
        state = f"**Not current:** {self.note}" if self.note else "It matches the current configuration of its run."
        versions = ", ".join(f"{name} {version}" for name, version in said["versions"][-1].items())
        return (
            f"Table `{said['run']}`: {len(said['seconds'])} points, {said['seconds_total'] / 3600:.2g} hours of work, "
            f"on {', '.join(said['devices'])}, with {versions}. {state}"
        )

    def where(self, **values: object) -> Table:
        """Rows in which each named column has the given value; all of them without a name.

        Parameters
        ----------
        **values
            Column and value.

        Returns
        -------
        Table
        """
        matches = [self.columns[name] == value for name, value in values.items()]
        chosen = np.logical_and.reduce(matches) if matches else slice(None)
        return replace(self, columns={name: column[chosen] for name, column in self.columns.items()})

    def pivot(self, value: str, *, down: str, across: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """One column against two others, averaged over all the rest.

        Parameters
        ----------
        value, down, across : str
            Columns.

        Returns
        -------
        rows : numpy.ndarray, shape (m,)
            The different values of ``down``, increasing.
        columns : numpy.ndarray, shape (n,)
            The different values of ``across``, increasing.
        mean : numpy.ndarray, shape (m, n)
            Means of ``value``, nan where there is no row.
        """
        rows, i = np.unique(self.columns[down], return_inverse=True)
        columns, j = np.unique(self.columns[across], return_inverse=True)
        total, count = np.zeros((2, len(rows), len(columns)))
        np.add.at(total, (i, j), self.columns[value])
        np.add.at(count, (i, j), 1)
        return rows, columns, np.where(count > 0, total / np.maximum(count, 1), np.nan)


def folder() -> Path:
    """Where the tables are: ``book/data`` in a source checkout, a copy of it otherwise.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    FileNotFoundError
        If they did not come with the installation.
    """
    found = Path(str(resources.files("superposition") / "data"))
    if not found.is_dir():
        raise FileNotFoundError(
            f"{found} is no folder: this installation came without the tables of book/data; "
            "install from a checkout in which lib/superposition/data is a link to book/data"
        )
    return found.resolve()


def load(name: str, *, run: Run | None = None, where: str | Path | None = None) -> Table:
    """Read a stored table, compare it with the current configuration of its run, and join what theory predicts.

    Parameters
    ----------
    name : str
        The run's name.
    run : superposition.runs.Run, optional
        The run to compare with; the registered one if not given.
    where : str or os.PathLike, optional
        The folder; `folder` if not given.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        If there is no such run.
    FileNotFoundError
        If the run has no table yet.
    """
    run = run or registry.find(name)
    path = (Path(where) if where else folder()) / f"{name}.csv"
    if not path.exists() or not path.with_suffix(".json").exists():
        raise FileNotFoundError(f"{path} is not there; to make it: superposition runs collect {name}")
    text = path.read_bytes().decode("utf-8")
    provenance = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    header, *rows = csv.reader(io.StringIO(text))
    columns = {name: _column(values) for name, values in zip(header, zip(*rows, strict=True), strict=True)}
    note = " ".join(_differences(run, columns, provenance, text))
    return Table(with_predictions(run, columns), provenance, note, tuple(columns))


def with_predictions(run: Run, columns: Columns) -> Columns:
    """The columns that a run measured, and those that theory has beside them today."""
    for predicted in run.predicted:
        columns = columns | predicted(columns)
    return columns


def is_stored(name: str) -> bool:
    """Whether a run has a table.

    Parameters
    ----------
    name : str
        The run's name.

    Returns
    -------
    bool
    """
    return (folder() / f"{name}.csv").exists()


def collect(run: Run, grid: str, source: str | Path, target: str | Path) -> Path:
    """Write the table of a finished run and its provenance.

    Parameters
    ----------
    run : superposition.runs.Run
        The run.
    grid : {"small", "full"}
        Which of its grids; the table of a small one is called ``NAME-small``.
    source : str or os.PathLike
        The run's results folder.
    target : str or os.PathLike
        Where to write.

    Returns
    -------
    pathlib.Path
        The CSV file.

    Raises
    ------
    ValueError
        If points are missing or damaged, or the grid is empty.
    superposition.runs.store.StorageError
        If the disk takes no more.
    """
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
    store.replace(path.with_suffix(".json"), json.dumps(_provenance(run, grid, records, text), indent=1) + "\n")
    return path


def other_versions(table: Table, today: dict[str, str]) -> dict[str, list[str]]:
    """Versions that a table was made with, where they are not today's alone.

    Parameters
    ----------
    table : Table
        The table.
    today : dict of str to str
        Versions by name, as `superposition.runs.provenance.versions` has them.

    Returns
    -------
    dict of str to list of str
        By name, only what differs.
    """
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
        "table_sha256": _sha256(text),
        "commits": _distinct(record["commit"] for record in records),
        "versions": _distinct(record["versions"] for record in records),
        "cpus": _distinct(record["cpu"] for record in records),
        "threads": _distinct(record["threads"] for record in records),
        "devices": dict(Counter(record["values"].get("device", "cpu") for record in records)),
        "seconds_total": round(sum(record["seconds"] for record in records), 1),
        "seconds": [round(record["seconds"], 2) for record in records],
    }


def _distinct(values: Iterable[object]) -> list:
    return [json.loads(text) for text in sorted({json.dumps(value) for value in values})]


def _differences(run: Run, columns: dict[str, np.ndarray], provenance: dict, text: str) -> Iterator[str]:
    """What a table lacks or has beyond the current configuration of its run, in sentences."""
    if provenance["table_sha256"] != _sha256(text):
        yield "The table was changed after it was collected."
    if provenance["library_digest"] != fingerprint.of(run.function):
        yield "The table is older than the current library code."
    wanted = Counter(json.dumps(point.model_dump(mode="json")) for point in registry.points(run, "full"))
    fields = list(run.point.model_fields)
    stored = Counter(
        json.dumps(dict(zip(fields, (value.item() for value in row), strict=True)))
        for row in zip(*(columns[field] for field in fields), strict=True)
    )
    if wanted != stored:
        yield (
            f"The grid of the run has changed since: {(wanted - stored).total()} points are not in the table, "
            f"{(stored - wanted).total()} are no longer in the grid."
        )


def _column(values: Sequence[str]) -> np.ndarray:
    if set(values) <= {"True", "False"}:
        return np.array([value == "True" for value in values])
    for kind in (int, float):
        try:
            return np.array([kind(value) for value in values])
        except ValueError:
            pass
    return np.array(values)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
