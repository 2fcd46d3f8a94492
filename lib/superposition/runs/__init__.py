"""The named runs behind the figures: what is computed, on which grid, and what is there already.

`registry` knows the runs that `catalogue` declares. `sweep` computes their points on `executors`,
`store` keeps them on disk, and `tables` makes the tables in ``book/data``. `fingerprint` says
which code a result belongs to, `certify` proves that a computation was only rearranged, and
`provenance` records what a result was made with. `account` tells people what there is of a run.
"""

from superposition.runs.point import Point, Run
from superposition.runs.registry import GRIDS, RUNS, Status, find, key, points, status

__all__ = ["GRIDS", "RUNS", "Point", "Run", "Status", "find", "key", "points", "status"]
