"""The lowest minimum of a function of one variable that may have several valleys, for many functions at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
from defprint import transparent

NEAR = 1.1  # local minima above this multiple of the grid minimum are skipped: refining lowers ours by 1.6 % at most
ROUNDING = 1e-14  # a dip below both neighbours by less of itself is no valley
# Where the search for a root ends, relative to it: two neighbouring numbers on either side. Any closer no float64 can
# be, and a loss is flat at its minimum, so that it is off by the square of this: far below its own rounding.
ROOT = 4 * np.finfo(np.float64).eps
MISSED = 1e-4  # a value that is lower by more of itself is a missed minimum; far out, losses are rounded to 1e-5
PROBES = np.array([0.5, 0.25, 0.1, 0.03, 0.01, 0.003])  # of the way to the next points of the grid


@transparent
def _refuses_missed_minima(search):
    """Decorate `lowest`: where it ends at a grid point, as when a refinement fails, no value nearby is lower."""

    @functools.wraps(search)
    def guarded(value, grid, args, slope=None):
        z, found = search(value, grid, args, slope)
        index = np.clip(np.searchsorted(grid, z.ravel()), 1, grid.size - 2)
        kept = np.flatnonzero(grid[index] == z.ravel())
        if kept.size:
            low, middle, high = (grid[index[kept] + step] for step in (-1, 0, 1))
            near = np.stack([middle + share * (end - middle) for end in (low, high) for share in PROBES])
            lower = value(near, *(x.ravel()[kept] for x in args)).min(axis=0)
            missed = np.flatnonzero(lower < found.ravel()[kept] * (1 - MISSED))
            if missed.size:
                k = missed[0]
                raise RuntimeError(
                    f"the search ended at {found.ravel()[kept[k]]:g}, but {lower[k]:g} is reached between {low[k]:g} "
                    f"and {high[k]:g}"
                )
        return z, found

    return guarded


@_refuses_missed_minima
def lowest(
    value: Callable[..., np.ndarray],
    grid: np.ndarray,
    args: Sequence[np.ndarray],
    slope: Callable[..., np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Where positive functions of one variable are lowest: a grid, then each valley that may be lowest is refined."""
    # ``value(z, *args)`` goes element by element over broadcast arrays, ``slope(z, *args)`` has the sign of its
    # derivative: a root is sharper than a minimum, which rounding leaves uncertain by the square root of the precision.
    # The grid increases, so close that each valley shows; ``args`` are arrays of one shape, which z and the minima
    # share.
    shape, args = args[0].shape, [x.ravel() for x in args]
    on_grid = value(grid, *(x[:, None] for x in args))
    which, index = np.nonzero(_valleys(on_grid))
    index = np.clip(index, 1, grid.size - 2)
    brackets, chosen = [grid[index + step] for step in (-1, 0, 1)], [x[which] for x in args]
    z, found = _refined(value, slope, brackets, chosen)
    order = np.lexsort((found, which))
    best = order[np.unique(which[order], return_index=True)[1]]
    return z[best].reshape(shape), found[best].reshape(shape)


def _valleys(on_grid):
    """Mask of the lowest point of each line, and of the dips that may be lower once refined."""
    left, inner, right = on_grid[:, :-2], on_grid[:, 1:-1], on_grid[:, 2:]
    level = on_grid.min(axis=1, keepdims=True)
    dip = inner * (1 + ROUNDING) < np.minimum(left, right)
    valleys = np.zeros(on_grid.shape, dtype=bool)
    valleys[:, 1:-1] = dip & (inner <= NEAR * level)
    valleys[np.arange(len(on_grid)), on_grid.argmin(axis=1)] = True
    return valleys


def _refined(value, slope, brackets, args):
    """The minimum within each bracket; the middle of the bracket where no other value is lower."""
    from scipy.optimize.elementwise import find_minimum, find_root

    if slope is None:
        found = find_minimum(value, tuple(brackets), args=tuple(args))
    else:
        found = find_root(slope, (brackets[0], brackets[2]), args=tuple(args), tolerances={"xrtol": ROOT})
    z = np.where(found.success, found.x, brackets[1])
    return z, value(z, *args)
