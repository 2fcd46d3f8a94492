"""Ranges of the arguments of this wing, in addition to `superposition.ranges`."""

from __future__ import annotations

from typing import Any

import numpy as np

from superposition import checks, ranges

RAREST = 1e-250  # probability: limits for p -> 0 are reached slowly, as 1 / ln(1/p)
LOUDEST = 1e60  # p over r: fourth powers of the interference are still finite
MOST_BITS = 4096  # whose pairs are 8 million
MOST_ENTRIES = 2**28  # numbers of an array: two gigabytes


def rare_probability(name: str, value: Any) -> np.ndarray:
    """Probability that a feature is on, in [1e-250, 1], one or an array."""
    return checks.real(name, value, RAREST, 1)


def one_rare_probability(name: str, value: Any) -> float:
    """Probability that a feature is on, one number in [1e-250, 1]."""
    return checks.number(name, value, RAREST, 1)


def rare_ratio(name: str, value: Any) -> np.ndarray:
    """Compression ratio, dimensions over features, in [1e-250, 1] and at least p / 1e60, one or an array."""
    return checks.real(name, value, RAREST, 1)


def one_rare_ratio(name: str, value: Any) -> float:
    """Compression ratio, dimensions over features, one number in [1e-250, 1] and at least p / 1e60."""
    return checks.number(name, value, RAREST, 1)


def finite_interference(p: Any, r: Any) -> None:
    """Refuse shapes that do not fit, and ratios at which fourth powers of the interference would overflow."""
    p, r = same_shape(p=p, r=r)
    if np.any(wrong := p > LOUDEST * r):
        raise ValueError(f"r = {r[wrong].flat[0]:g} is out of range; allowed: from p / {LOUDEST:g} on")


def same_shape(**values: Any) -> list[np.ndarray]:
    """Refuse arrays that cannot be broadcast, or would be too large together; return them in one shape."""
    shapes = [np.shape(value) for value in values.values()]
    try:
        size = np.prod(np.broadcast_shapes(*shapes), dtype=float)
    except ValueError:
        size = np.inf
    if size > MOST_ENTRIES:
        names = ", ".join(values)
        raise ValueError(f"{names} have shapes {', '.join(map(str, shapes))}; allowed: shapes that can be broadcast")
    return list(np.broadcast_arrays(*values.values()))


def broadcast(p: Any, r: Any) -> None:
    """Refuse probabilities and ratios whose shapes do not fit."""
    same_shape(p=p, r=r)


def of_the_rug(readout: np.ndarray, rug: Any) -> None:
    """Refuse readouts with a different number of features."""
    shaped("readout", readout, "batch", rug.ns)


def iterations(name: str, value: Any) -> int:
    """Number of iterations, from 1 to 100,000; the first is the element-wise decoder."""
    return checks.whole(name, value, 1, 100_000)


def price(name: str, value: Any) -> float:
    """Price of a unit of activity, in [0, 1e6]."""
    return checks.number(name, value, 0, 1e6)


def bit_probability(name: str, value: Any) -> float:
    """Probability that a bit is on, one number in [1e-6, 1]."""
    return checks.number(name, value, 1e-6, 1)


def bits(name: str, value: Any) -> np.ndarray:
    """Bits, or other finite numbers, of shape (..., m), m from 2 to 4096."""
    found = finite("... m")(name, value)
    if not 2 <= found.shape[-1] <= MOST_BITS:
        raise ValueError(f"{name} has shape {found.shape}; allowed: (..., m) with m from 2 to {MOST_BITS}")
    return found


def truth(name: str, value: Any) -> Any:
    """A dictionary whose directions are known, or any object with its directions, p and activations."""
    if not all(hasattr(value, part) for part in ("directions", "p", "activations")):
        raise ValueError(f"{name} = {checks.shown(value)} is not a dictionary; allowed: an object of `dictionary`")
    return value


def finite(axes: str) -> Any:
    """Make the range of arrays with these axes whose numbers are at most 1e30 in size."""
    return ranges.array(axes, -ranges.LARGEST, ranges.LARGEST)


def shaped(name: str, value: np.ndarray | None, *allowed: int | str) -> None:
    """Refuse an array with a different shape; a word is an axis of any length, and None is not an array."""
    if value is None:
        return
    lengths = zip(allowed, value.shape, strict=False)
    if value.ndim != len(allowed) or any(isinstance(one, int) and one != length for one, length in lengths):
        words = f"({', '.join(map(str, allowed))}{',' if len(allowed) == 1 else ''})"
        raise ValueError(f"{name} has shape {value.shape}; allowed: {words}")
