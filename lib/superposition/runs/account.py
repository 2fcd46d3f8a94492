"""A description of a run in lines for people: its stored table, and its results on disk."""

from __future__ import annotations

from pathlib import Path

from superposition.runs import provenance, registry, tables
from superposition.runs.point import Run


def of_table(run: Run) -> list[str]:
    """Whether a run has a table, whether it is current, and the versions that differ from today's."""
    try:
        table = tables.read(run)
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
    """How many points of a grid are finished in a folder, which may be missing, and which of them are damaged."""
    found = registry.status(run, grid, folder)
    total = len(found.done) + len(found.missing) + len(found.damaged)
    done = f"{run.name}, {grid} grid: results of {len(found.done)} of {total} points in {folder}"
    others = [f"{found.others} more files are of another grid or of other library code"] if found.others else []
    damaged = [f"damaged: {point}: {reason}" for point, reason in found.damaged.items()]
    return [f"{done}, {len(damaged)} damaged", *damaged, *others]
