"""The named runs behind the figures: what is computed, on which grid, and what is there already.

`registry` knows the runs that `catalogue` declares. `sweep` computes their points on `executors`,
`store` keeps them on disk, and `tables` makes the tables in ``book/data``. `fingerprint` says
which code a result belongs to, and `provenance` what it was made with. `certify` replays points of
stored tables, as `cover` chooses and `agreement` judges them, with starts `moved` where they must be;
`spot` does it with one point of each table that is loaded. `account` tells people what there is of a run.
"""

from superposition.runs.point import Point, Run
from superposition.runs.registry import GRIDS, RUNS, Status, find, key, points, status

__all__ = ["GRIDS", "RUNS", "Point", "Run", "Status", "find", "key", "points", "status"]
