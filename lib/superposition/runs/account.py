"""What there is of a run, in lines for people: its stored table, and its results on disk."""

from __future__ import annotations

from pathlib import Path

from superposition.runs import provenance, registry, tables
from superposition.runs.point import Run


def of_table(run: Run) -> list[str]:
    """Whether a run has a stored table, whether it is current, and what it was made with that differs from today.

    Parameters
    ----------
    run : superposition.runs.Run
        The run.

    Returns
    -------
    list of str
        The first line names the run.

    Raises
    ------
    superposition.runs.tables.TableError
        If the table is damaged.
    """
    try:
        table = tables.load(run.name, run=run, replay=False)
    except FileNotFoundError:
        return [f"{run.name} has no stored table"]
    state = f"is not current: {table.note}" if table.note else "is what the run would give now"
    today = provenance.versions()
    others = tables.other_versions(table, today)
    return [
        f"The stored table of {run.name} has {len(table.provenance['seconds'])} points and {state}",
        *(f"It was made with {name} {', '.join(was)}, here is {today[name]}" for name, was in others.items()),
    ]


def of_results(run: Run, grid: str, folder: Path) -> list[str]:
    """How many points of a grid are finished, and which of them are damaged.

    Parameters
    ----------
    run : superposition.runs.Run
        The run.
    grid : {"small", "full"}
        Which of its grids.
    folder : pathlib.Path
        The run's results folder; it may be missing.

    Returns
    -------
    list of str
        The first line has the numbers.

    Raises
    ------
    ValueError
        If the grid is empty.
    superposition.runs.store.ResultError
        If the folder was written by another version, or holds something else.
    """
    found = registry.status(run, grid, folder)
    total = len(found.done) + len(found.missing) + len(found.damaged)
    done = f"{run.name}, {grid} grid: results of {len(found.done)} of {total} points in {folder}"
    others = [f"{found.others} more files are of another grid or of other library code"] if found.others else []
    damaged = [f"damaged: {point}: {reason}" for point, reason in found.damaged.items()]
    return [f"{done}, {len(damaged)} damaged", *damaged, *others]
