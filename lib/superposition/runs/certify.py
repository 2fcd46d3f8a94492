"""Certify: a table stays valid where a computation was only rearranged, and points replayed with both codes prove it.

A fingerprint sees that code is another, not that it computes the same. So points of the table are
computed again, with the code of a commit at which the table was valid and with today's, on one
machine with the same threads; if all bits agree, the table is signed with today's fingerprint, and
its provenance says what was replayed.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import superposition
from superposition import checks
from superposition.runs import bridge, fingerprint, provenance, tables
from superposition.runs.point import Point, Run

THREADS = 1  # of the maths libraries in a replay: more may add in another order each time
LIBRARY = Path(superposition.__file__).parents[1]

Ask = Callable[[str, dict | None], dict]  # the name of a run and a point, or None for its fingerprint


@dataclass(frozen=True)
class Report:
    """What was replayed of a table: points whose bits agree, points that differ (and how), points without time.

    ``as_stored`` counts the replayed points that also have the bits of the table; ``commit`` is
    the one whose code was compared with today's, empty where the table was valid already.
    """

    run: str
    commit: str
    same: tuple[Point, ...]
    differing: dict[Point, str]
    left: tuple[Point, ...]
    as_stored: int

    @property
    def signed(self) -> bool:
        """Whether the table was signed."""
        return bool(self.same) and not self.differing


def certify(
    runs: Iterable[Run],
    *,
    points: int = 3,
    minutes: float = 60.0,
    progress: Callable[[int, int], object] | None = None,
) -> Iterator[Report]:
    """Replay points of stored tables with the code that made them and with today's, and sign what agrees.

    Parameters
    ----------
    runs : iterable of superposition.runs.Run
        Runs with a stored table.
    points : int
        Points to replay of each, at least 1; the cheapest, after one for each value of a text field.
    minutes : float
        No point is begun that would end later, by what it took when the table was made.
    progress : callable, optional
        Called as ``progress(done, total)`` after each point.

    Yields
    ------
    Report
        One for each run; the tables of those that are ``signed`` have been signed.

    Raises
    ------
    ValueError
        If an argument is out of range, the library is in no git checkout, or no commit is known at
        which a table was valid.
    FileNotFoundError
        If a run has no table.
    """
    points = checks.whole("points", points, 1)
    deadline = time.monotonic() + 60 * float(checks.real("minutes", minutes, 0, open_low=True))
    stored = [(run, tables.load(run.name, run=run)) for run in runs]
    chosen = [_chosen(run, table, points) for run, table in stored]
    total, done = sum(map(len, chosen)), 0
    with _codes() as ask:
        for (run, table), rows in zip(stored, chosen, strict=True):
            told = partial(_told, progress, done, total)
            report = _replayed(run, table, rows, ask, deadline, told)
            done += len(rows)
            if report.signed:
                _sign(run, table, report)
            yield report


def _told(progress: Callable[[int, int], object] | None, before: int, total: int, done: int) -> None:
    if progress is not None:
        progress(before + done, total)


def _chosen(run: Run, table: tables.Table, number: int) -> list[int]:
    """Rows to replay: the cheapest, but first those that show a value of a text field not seen before."""
    seconds = table.provenance["seconds"]
    texts = [name for name in run.point.model_fields if table.columns[name].dtype.kind == "U"]
    seen, new, others = set(), [], []
    for row in sorted(range(len(seconds)), key=seconds.__getitem__):
        shows = {(name, table.columns[name][row]) for name in texts}
        (new if shows - seen else others).append(row)
        seen |= shows
    return (new + others)[:number]


def _replayed(run: Run, table: tables.Table, rows: list[int], ask: Callable, deadline: float, tell: Callable) -> Report:
    """Compare the codes on some rows of a table."""
    if fingerprint.of(run.function) == table.provenance["library_digest"]:
        return Report(run.name, "", (), {}, (), 0)
    commit = _valid_at(run, table, ask)
    same, differing, left, as_stored = [], {}, [], 0
    for number, row in enumerate(rows, 1):
        point = run.point(**{name: table.columns[name][row].item() for name in run.point.model_fields})
        if time.monotonic() + 2 * table.provenance["seconds"][row] > deadline:
            left.append(point)
        else:
            old, new = (ask(code, run.name, point.model_dump(mode="json")) for code in (commit, None))
            if difference := _difference(old, new):
                differing[point] = difference
            else:
                same.append(point)
                as_stored += all(table.columns[name][row] == value for name, value in new["values"].items())
        tell(number)
    return Report(run.name, commit, tuple(same), differing, tuple(left), as_stored)


def _difference(old: dict, new: dict) -> str:
    """How two answers differ; nothing where all bits agree."""
    for code, answer in (("old", old), ("today's", new)):
        if "error" in answer:
            return f"{code} code: {answer['error']}"
    before, now = old["values"], new["values"]
    if json.dumps(before) == json.dumps(now):
        return ""
    names = dict.fromkeys([*before, *now])
    return ", ".join(f"{n}: {before.get(n)} is {now.get(n)}" for n in names if before.get(n) != now.get(n)) or "order"


def _valid_at(run: Run, table: tables.Table, ask: Callable) -> str:
    """A commit whose code has the fingerprint that the table was signed with, computed there."""
    wanted = table.provenance["library_digest"]
    here, name = tables.folder(), f"{run.name}.json"
    known = [provenance.git(here, "log", "-1", "--format=%H", "--", file) for file in ("*.json", name)]
    known += [commit for commit in reversed(table.provenance["commits"]) if commit and "+" not in commit]
    known = [commit for commit in dict.fromkeys(known) if commit and provenance.git(here, "cat-file", "-t", commit)]
    for commit in known:
        if ask(commit, run.name, None).get("digest") == wanted:
            return commit
    raise ValueError(
        f"run = {run.name}: no commit is known whose code has the fingerprint {wanted} of its table "
        f"(tried: {', '.join(commit[:7] for commit in known) or 'none, this is no git checkout'}); "
        f"allowed: to make it again, superposition runs start {run.name}"
    )


def _sign(run: Run, table: tables.Table, report: Report) -> None:
    """Write today's fingerprint into the provenance, and what it rests on."""
    entry = {
        "from": {"commit": report.commit, "library_digest": table.provenance["library_digest"]},
        "to": {
            "commit": provenance.commit(fingerprint.sources(run.function)),
            "library_digest": fingerprint.of(run.function),
        },
        "points": [point.model_dump(mode="json") for point in report.same],
        "as_stored": report.as_stored,
        **provenance.machine(),
        "threads": THREADS,
    }
    said = {**table.provenance, "function": run.function, "library_digest": fingerprint.of(run.function)}
    said["certified"] = [*said.get("certified", []), entry]
    tables.write_provenance(tables.folder() / f"{run.name}.json", said)


# Two codes side by side


@contextmanager
def _codes() -> Iterator[Callable[[str | None, str, dict | None], dict]]:
    """A function that asks the code of a commit, or today's (None): each is a process with its own library."""
    with ExitStack() as opened:

        @cache
        def process(commit: str | None) -> Ask:
            library = LIBRARY if commit is None else opened.enter_context(_library_at(commit))
            return opened.enter_context(_process(library))

        yield lambda commit, name, fields: process(commit)(name, fields)


@contextmanager
def _library_at(commit: str) -> Iterator[Path]:
    """The folder of the library as it was at a commit."""
    top = Path(provenance.git(LIBRARY, "rev-parse", "--show-toplevel"))
    inside = LIBRARY.resolve().relative_to(top.resolve())
    done = subprocess.run(["git", "archive", commit, str(inside)], cwd=top, capture_output=True)
    if done.returncode:
        raise ValueError(f"commit = {commit} is not in this checkout: {done.stderr.decode().strip()}")
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder) / inside


@contextmanager
def _process(library: Path) -> Iterator[Ask]:
    """A process that replays points with one library."""
    limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(THREADS))
    environment = {**os.environ, **limits, "PYTHONPATH": str(library)}
    command = [sys.executable, "-P", bridge.__file__, str(THREADS)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        try:
            yield partial(_answer, process, library)
        finally:
            process.kill()


def _answer(process: subprocess.Popen, library: Path, name: str, fields: dict | None) -> dict:
    assert process.stdin and process.stdout  # both are pipes
    process.stdin.write(json.dumps({"run": name, "point": fields}) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        return {"error": f"its process ended with exit code {process.wait()}"}
    answer = json.loads(line)
    if not Path(answer.get("from", library)).is_relative_to(library):
        raise RuntimeError(f"{library} was not used, but {answer['from']}")
    return answer
