"""The engine of the named runs behind the figures: what is computed, on which grid, and what is finished.

`registry` finds the runs that the modules of `superposition.experiments` declare. `sweep` computes their points on
`executors`, `store` keeps them on disk, and `tables` makes the tables in ``book/data``. The package `defprint` gives
the fingerprint of the code that a result belongs to, and `provenance` has the versions and the machine. `certify`
replays points of stored tables, as `cover` chooses and `agreement` judges them, with starts `moved` where they must be.
`account` describes a run for people.
"""

from superposition.runs import registry
from superposition.runs.point import Meaning, Point, Run
from superposition.runs.registry import GRIDS, Status, find, key, points, status

__all__ = ["GRIDS", "RUNS", "Meaning", "Point", "Run", "Status", "find", "key", "points", "status"]  # noqa: F822 - RUNS, below


def __getattr__(name: str) -> dict[str, Run]:
    """Return ``RUNS`` when it is first used."""
    if name != "RUNS":
        raise AttributeError(f"module 'superposition.runs' has no attribute {name!r}")
    return registry.RUNS
