"""Ranges and relations of this wing: weights of networks, noise laws, times, and sizes that fit into memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from superposition import checks, ranges

MOST = 2**27  # numbers of one array: a gigabyte
LONGEST = 1e6  # time of a flow
MOST_FEATURES = 4096
MOST_NEURONS = 10**6
SHORTEST = 1e-100  # length of a row that has a direction

features = ranges.whole(1, MOST_FEATURES)
several = ranges.whole(2, MOST_FEATURES)
neurons = ranges.whole(1, MOST_NEURONS)
time = ranges.number(0, LONGEST)


def strength(name: str, value: Any) -> float:
    """Strength of the l1 term, 0 or more."""
    return checks.number(name, value, 0, ranges.LARGEST)


def positive_strength(name: str, value: Any) -> float:
    """Strength of the l1 term, above 0: at least 1e-30."""
    return checks.number(name, value, ranges.SMALLEST, ranges.LARGEST)


def strengths(name: str, value: Any) -> np.ndarray:
    """Strengths of the l1 term, 0 or more, one or an array."""
    return checks.real(name, value, 0, ranges.LARGEST)


def share(name: str, value: Any) -> float:
    """Size from which a weight counts, in (0, 1]: at the end of a flow sizes are 0 or close to 1."""
    return checks.number(name, value, 0, 1, open_low=True)


def deviation(name: str, value: Any) -> float:
    """Standard deviation, 0 or more."""
    return checks.number(name, value, 0, ranges.LARGEST)


def time_step(name: str, value: Any) -> float:
    """Time step of a flow, from 1e-7 to 0.5."""
    return checks.number(name, value, 1e-7, 0.5)


def rate(name: str, value: Any) -> float:
    """Learning rate of descent on the expected loss, from 1e-6 to 0.25, where lengths no longer settle."""
    return checks.number(name, value, 1e-6, 0.25, open_high=True)


def times(name: str, value: Any) -> np.ndarray:
    """Increasing times of a flow, shape (k,), from 0 to a million."""
    found = checks.real(name, checks.array(name, value, "k"), 0, LONGEST)
    if np.any(np.diff(found) < 0):
        raise ValueError(f"{name} = {checks.shown(value)} fall; allowed: increasing times")
    return found


def any_times(name: str, value: Any) -> np.ndarray:
    """Times, one or shape (k,), 0 or more, in any order."""
    found = np.atleast_1d(checks.real(name, value, 0, open_high=True))
    if found.ndim != 1 or not found.size:
        raise ValueError(f"{name} of shape {found.shape} are not allowed; allowed: at least one")
    return found


def kept(axes: str) -> Callable[[str, Any], np.ndarray]:
    """Make the range of arrays with these axes that stay in float32 where they are."""
    array = ranges.array(axes)

    def taken(name: str, value: Any) -> np.ndarray:
        found, given = array(name, value), np.asarray(value)
        return given if given.dtype == np.float32 else found

    taken.__doc__ = f"Finite numbers of shape ({axes.replace(' ', ', ')}), in float32 or float64."
    return taken


def rows(axes: str) -> Callable[[str, Any], np.ndarray]:
    """Make the range of arrays with these axes none of whose rows, along the last axis, is zero."""
    array = ranges.array(axes)

    def taken(name: str, value: Any) -> np.ndarray:
        found = array(name, value)
        if np.any(np.abs(found).max(axis=-1) < SHORTEST):
            raise ValueError(f"{name} has a row of zeros; allowed: rows that have a direction")
        return found

    taken.__doc__ = f"Finite numbers of shape ({axes.replace(' ', ', ')}), no row zero."
    return taken


def networks_of_several(name: str, value: Any) -> np.ndarray:
    """Networks of shape (b, n, m), with at least two features and two neurons."""
    found = ranges.array("b n m")(name, value)
    if min(found.shape[1:]) < 2:
        raise ValueError(f"{name} has shape {found.shape}; allowed: (b, n, m), at least two features and two neurons")
    return found


def unit_row(name: str, value: Any) -> np.ndarray:
    """Row of length 1, shape (m,)."""
    found = ranges.array("m")(name, value)
    if abs(np.linalg.norm(found) - 1) > 1e-6:
        raise ValueError(f"{name} has the length {np.linalg.norm(found):g}; allowed: 1")
    return found


def overlaps(name: str, value: Any) -> np.ndarray:
    """Overlaps W W^T of up to 1024 encodings, shape (n, n), symmetric."""
    found = ranges.array("n n")(name, value)
    if len(found) > 1024 or not np.allclose(found, found.T, atol=1e-9 * np.abs(found).max()):
        raise ValueError(f"{name} has shape {found.shape}; allowed: symmetric, up to (1024, 1024)")
    return found


def device(name: str, value: Any) -> str:
    """Where training runs: "auto", "cpu", "cuda" or "cuda:N"."""
    from superposition.devices import resolve_device

    resolve_device(value)
    return value


def fits(n: int = 1, m: int = 1, networks: int = 1, instances: int = 1, draws: int = 1, rows: int = 1) -> None:
    """Refuse arrays that are larger than memory."""
    count = n * m * networks * instances * draws * rows
    if count > MOST:
        raise ValueError(f"n, m = {n}, {m} and the rest make {count} numbers; allowed: up to {MOST}")


def step_settles(w0: np.ndarray, step: float) -> None:
    """Refuse rows that are so long that a step of the flow would make them longer."""
    longest = float((np.asarray(w0, float) ** 2).sum(axis=-1).max())
    if longest > 1 + 2 / step:
        raise ValueError(f"w0 has a row of squared length {longest:g}; allowed: up to {1 + 2 / step:g}, 1 + 2 / step")


def descent_settles(W: np.ndarray, eta: float) -> None:
    """Refuse rows that are so long that a step of descent would make them longer."""
    longest = float((W**2).sum(axis=-1).max())
    if longest > 1 + 0.5 / eta:
        raise ValueError(f"W has a row of squared length {longest:g}; allowed: up to {1 + 0.5 / eta:g}, 1 + 1 / 2 eta")


def recorded(record: list[int], steps: int) -> None:
    """Refuse records of steps that are never made."""
    if record and max(record) > steps:
        raise ValueError(f"record = {checks.shown(record)} goes beyond the steps; allowed: up to {steps}")
