"""Certify: replayed points prove that today's code still gives the values of a stored table.

A fingerprint shows that code changed, not that it computes the same. Points that cover the grid of a table, pairs of
values included (`superposition.runs.cover`), are therefore computed again by today's code, on one thread; unfinished
replays are resumed the next time. A point agrees

- if its values have the bits of the table, or
- if they are as near to the table as rounding allows (`superposition.runs.agreement`), and the code of a commit at
  which the table was valid gives the same bits here as today's. That code is replayed at points of at most `QUICK`
  seconds, and wherever the distance alone does not decide. A table that is valid needs no such commit.

If all agree, the table is signed with today's fingerprint, and its provenance records the replayed rows, the rule and
the distances. Columns that the code no longer returns are removed then; new ones are refused.
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
from dataclasses import dataclass, field, replace
from functools import cache, partial
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from defprint import fingerprint

import superposition
from superposition import checks
from superposition.runs import agreement, cover, provenance, replay, tables
from superposition.runs.agreement import Agreement
from superposition.runs.point import Point, Run

QUICK = 5.0  # seconds that a point may have cost for older code to compute it too
THREADS = 1  # of the maths libraries in a replay: more may add in another order each time
# Relative: a quotient of the mean for a mean of quotients. The spread of five losses, a hundredth of each, for that of
# five quotients moved by up to 2.3e-14 in 2000 tries; 1e-15, the limit before, was for means alone.
QUOTIENT = 1e-13
LIBRARY = Path(superposition.__file__).parents[1]

Ask = Callable[[str, dict | None, int], dict]  # a run's name, a point or None for its fingerprint, how it is moved


@dataclass(frozen=True)
class _Work:
    run: Run
    table: tables.Table
    choice: cover.Choice

    @property
    def rows(self) -> tuple[int, ...]:
        return self.choice.needed + self.choice.more


@dataclass
class Report:
    """The replay of a table.

    ``replayed`` has the agreement of each point, ``left`` the needed points for which time ran out, ``unreached`` the
    parts of the grid that no replay covers, ``dropped`` the columns that were removed. ``commit`` is the one whose code
    was replayed too, empty where that was not needed; ``ever`` counts the points of ``total`` that were confirmed for
    the code that the table is signed with. ``refused`` is the reason why nothing could be replayed.
    """

    run: str
    valid: bool = False
    rule: str = ""
    commit: str = ""
    replayed: dict[Point, Agreement] = field(default_factory=dict)
    left: list[Point] = field(default_factory=list)
    unreached: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    ever: int = 0
    total: int = 0
    refused: str = ""

    @property
    def differing(self) -> dict[Point, str]:
        """The points that do not agree, each with the differences."""
        return {point: found.differs for point, found in self.replayed.items() if found.differs}

    @property
    def as_stored(self) -> int:
        """How many points have the bits of the table."""
        return sum(not found.distances and not found.differs for found in self.replayed.values())

    @property
    def distances(self) -> dict[str, float]:
        """The largest distance in each column whose bits differ."""
        return _largest(found.distances for found in self.replayed.values())

    @property
    def signed(self) -> bool:
        """True if the table was signed, as all replayed points agree, and none is left if the table was not valid."""
        return bool(self.replayed) and not self.differing and (self.valid or not self.left)

    @property
    def exit_code(self) -> int:
        """0 if all needed points agree, 1 if time ran out, 2 if nothing could be replayed, 3 if a point differs."""
        return 2 if self.refused else 3 if self.differing else int(bool(self.left))

    def __str__(self) -> str:
        """Describe the replayed points, their agreement, and whether the table was signed."""
        if self.refused:
            return f"Error: {self.refused}"
        worst = max(self.distances, key=self.distances.__getitem__, default="")
        off = f", relative distance at most {self.distances[worst]:.2g} ({worst})" if worst else ""
        beside = (
            f", and {self.commit[:7]} gives the bits of today's code where it was replayed"
            if self.commit and self.signed
            else ""
        )
        state = ("" if self.signed else "NOT ") + ("confirmed" if self.valid else "signed")
        state += " in part" if self.signed and self.left else ""
        return "\n    ".join(
            [
                f"{self.run}: replayed {len(self.replayed)} now, {self.ever} ever of {self.total} points; "
                f"{self.as_stored} have the bits of the table{off}{beside}; {state}",
                *(["each point costs more than a minute: the cheapest, once a release"] * (self.rule == "cheapest")),
                *(f"differs: {point}: {difference}" for point, difference in self.differing.items()),
                *(f"no time for: {point}" for point in self.left),
                *(f"no longer computed, taken out when signed: {name}" for name in self.dropped),
            ]
        )


def certify(
    runs: Iterable[Run], *, minutes: float = 60.0, blocks_only: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Iterator[Report]:  # fmt: skip
    """Replay the needed points of stored tables, while there are minutes left, and sign the tables that agree."""
    deadline = time.monotonic() + 60 * float(checks.real("minutes", minutes, 0, open_low=True))
    prepared = [_prepared(run, blocks_only) for run in runs]
    total, done = sum(len(work.rows) for work in prepared if isinstance(work, _Work)), 0
    with _codes() as ask:
        for work in prepared:
            if isinstance(work, Report):
                yield work
            else:
                yield _done(work, ask, deadline, partial(_told, progress, done, total))
                done += len(work.rows)


def _told(progress: Callable[[int, int], object] | None, before: int, total: int, done: int) -> None:
    if progress is not None:
        progress(before + done, total)


def _prepared(run: Run, blocks_only: bool) -> _Work | Report:
    """The points of a table to replay; a report with the reason if nothing can be replayed."""
    try:
        table = tables.read(run)
        choice, begun = cover.choose(run, table, blocks_only=blocks_only), set() if table.note else table.begun
        left = tuple(row for row in choice.needed if row not in begun)
        return _Work(run, table, replace(choice, needed=left or choice.needed))
    except (ValueError, OSError) as error:
        return Report(run.name, refused=str(error))


def _done(work: _Work, ask: Callable, deadline: float, tell: Callable) -> Report:
    """Replay the chosen points of a table, and sign it if they agree."""
    run, table, seconds = work.run, work.table, work.table.provenance["seconds"]
    valid = fingerprint.of(run.function) == table.provenance["library_digest"]
    report = Report(run.name, valid, work.choice.rule, unreached=work.choice.unreached, total=len(seconds))
    points, old = cover.points(run, table), cache(partial(_valid_at, run, table, ask))
    try:
        for number, row in enumerate(work.rows, 1):
            if time.monotonic() + seconds[row] * (1 if valid else 2) <= deadline:
                report.replayed[points[row]] = _agreement(report, work, row, points[row], ask, old)
            elif row in work.choice.needed:
                report.left.append(points[row])
            tell(number)
    except (ValueError, OSError) as error:  # no older code is known, or a process is gone
        return Report(run.name, refused=str(error))
    if report.signed:
        _sign(run, table, report)
    report.ever = tables.read(run).replayed
    return report


def _agreement(report: Report, work: _Work, row: int, point: Point, ask: Callable, old: Callable[[], str]) -> Agreement:
    """The agreement of one point with the table, with older code as the witness where bits differ."""
    run, table, fields = work.run, work.table, point.model_dump(mode="json")
    answer = ask(None, run.name, fields)
    if "error" in answer:
        return Agreement({}, {}, f"today's code: {answer['error']}")
    values = answer["values"]
    off = max(agreement.distances(table.columns, row, values).values(), default=0.0)
    if off and not report.valid and (off > agreement.BOUND or table.provenance["seconds"][row] <= QUICK):
        report.commit = old()
        if difference := _difference(ask(report.commit, run.name, fields), values, _joined(run, fields, values)):
            return Agreement(agreement.distances(table.columns, row, values), {}, difference)
    report.dropped = tuple(name for name in table.stored if name not in {**fields, **values})
    return agreement.of(
        table.columns, row, values, lambda side: ask(None, run.name, fields, side).get("values", values)
    )


def _difference(old: dict, now: dict, predicted: dict) -> str:
    """Differences between the old code's results and today's values, and today's predictions for these."""
    if "error" in old:
        return f"old code: {old['error']}"
    before = old["values"]
    said = [name for name, value in now.items() if name in before and json.dumps(before[name]) != json.dumps(value)]
    # older code returned predictions; a quotient that is taken when a table is read rounds once more
    said += [name for name, value in predicted.items() if name in before and not _as_near(before[name], value)]
    if not before.keys() & (now | predicted).keys():
        return "the old code returned nothing of what there is today"
    return ", ".join(f"{name}: {before[name]} is {(now | predicted)[name]}" for name in said)


def _joined(run: Run, fields: dict, values: dict) -> dict:
    """The predictions that a reader of the table would get with these values."""
    row = {name: np.array([value]) for name, value in {**fields, **values}.items()}
    with np.errstate(all="ignore"):  # of values that are wrong
        beside = tables.with_predictions(run, row)
    return {name: column[0].item() for name, column in beside.items() if name not in row}


def _as_near(old: float | str, now: float | str) -> bool:
    return old == now or (isinstance(old, float) and isinstance(now, float) and isclose(old, now, rel_tol=QUOTIENT))


def _valid_at(run: Run, table: tables.Table, ask: Callable) -> str:
    """A commit in HEAD whose code has the fingerprint that the table was signed with, computed there."""
    wanted = table.provenance["library_digest"]
    here, name = tables.folder(), f"{run.name}.json"
    named = [provenance.git(here, "log", "-1", "--format=%H", "--", "*.json")]
    named += provenance.git(here, "log", "-5", "--format=%H %P", "--", name).split()  # a commit may change both
    named += [str(commit) for commit in reversed(table.provenance["commits"])]
    known = [commit for commit in dict.fromkeys(named) if provenance.is_in_head(here, commit)]
    for commit in known:
        if ask(commit, run.name, None).get("digest") == wanted:
            return commit
    raise ValueError(
        f"run = {run.name}: no commit is known whose code has the fingerprint {wanted} of its table "
        f"(tried: {', '.join(commit[:7] for commit in known) or 'none'}; only code that HEAD contains is run); "
        f"allowed: to make it again, superposition runs start {run.name}"
    )


def _sign(run: Run, table: tables.Table, report: Report) -> None:
    """Write today's fingerprint into the provenance, with the replay that supports it."""
    today = fingerprint.of(run.function)
    entry = {
        "from": {"commit": report.commit, "library_digest": table.provenance["library_digest"]},
        "to": {"commit": provenance.commit(fingerprint.sources(run.function)), "library_digest": today},
        "rule": "part" if report.left else report.rule,
        "rows": [row for row, point in enumerate(cover.points(run, table)) if point in report.replayed],
        "as_stored": report.as_stored,
        "distances": report.distances,
        "moved_bounds": _largest(found.bounds for found in report.replayed.values()),
        "unreached": report.unreached,
        "dropped": report.dropped,
        **provenance.machine(),
        "threads": THREADS,
    }
    said = {**table.provenance, "function": run.function, "library_digest": today}
    tables.sign({**said, "certified": [*said.get("certified", []), entry]}, report.dropped)


def _largest(found: Iterable[dict[str, float]]) -> dict[str, float]:
    """The largest value of each name."""
    largest: dict[str, float] = {}
    for one in found:
        largest |= {name: max(value, largest.get(name, 0.0)) for name, value in one.items()}
    return largest


# Two codes side by side


@contextmanager
def _codes() -> Iterator[Callable[..., dict]]:
    """A function that runs the code of a commit, or today's (None), each in a process with its own library."""
    with ExitStack() as opened:

        @cache
        def process(commit: str | None) -> Ask:
            library = LIBRARY if commit is None else opened.enter_context(_library_at(commit))
            return opened.enter_context(_process(library))

        yield lambda commit, name, fields, side=0: process(commit)(name, fields, side)


@contextmanager
def _library_at(commit: str) -> Iterator[Path]:
    """The folder of the library as it was at a commit, with the data that it reads."""
    top = Path(provenance.git(LIBRARY, "rev-parse", "--show-toplevel"))
    inside, data = (path.resolve().relative_to(top.resolve()) for path in (LIBRARY, tables.folder()))
    parts = [str(part) for part in (inside, data) if provenance.git(top, "cat-file", "-t", f"{commit}:{part}")]
    done = subprocess.run(["git", "archive", commit, *parts], cwd=top, capture_output=True)
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
    command = [sys.executable, "-P", replay.__file__, str(THREADS)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        try:
            yield partial(_answer, process, library)
        finally:
            process.kill()


def _answer(process: subprocess.Popen, library: Path, name: str, fields: dict | None, side: int) -> dict:
    assert process.stdin and process.stdout  # both are pipes
    process.stdin.write(json.dumps({"run": name, "point": fields, "side": side}) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        return {"error": f"its process ended with exit code {process.wait()}"}
    answer = json.loads(line)
    if not Path(answer.get("from", library)).is_relative_to(library):
        raise RuntimeError(f"{library} was not used, but {answer['from']}")
    return answer
