"""Ranges of arguments: each in one place, with its description.

A range takes the name of a parameter, for the sentence, and its value. It returns the value in the form in which the
library computes, or refuses it with a ValueError that says what is allowed. Its docstring becomes the documentation of
the parameter. Ranges that have ends of their own are made: ``whole(1)``, ``real(0, 1)``. `superposition.checked` puts
them before a function.

>>> probability("p", 1.5)
Traceback (most recent call last):
ValueError: p = 1.5 is out of range; allowed: (0, 1]
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from superposition import checks

SMALLEST = 1e-30  # of probabilities: squares of what is computed from them are still far above the least float
MOST_NUMBERS = 2**31  # of one array: 16 GB
LARGEST = 1e30  # of gains, biases and noise: fourth powers of their products are still finite


def probability(name: str, value: Any) -> np.ndarray:
    """Probability that a feature is on, in (0, 1], one or an array; not below 1e-30."""
    return _probable(name, value, checks.real(name, value, 0, 1, open_low=True))


def chance(name: str, value: Any) -> np.ndarray:
    """Probability that a feature is on, in (0, 1], one or an array, however small."""
    return checks.real(name, value, 0, 1, open_low=True)


def one_probability(name: str, value: Any) -> float:
    """Probability that a feature is on, one number in (0, 1]; not below 1e-30."""
    return checks.number(name, probability(name, value))


def sparse_probability(name: str, value: Any) -> float:
    """Probability that a feature is on, one number in (0, 1), as not all are on; not below 1e-30."""
    return checks.number(name, _probable(name, value, checks.real(name, value, 0, 1, open_low=True, open_high=True)))


def probabilities(name: str, value: Any) -> np.ndarray:
    """Probabilities that each feature is on, shape (ns,), in (0, 1]; not below 1e-30."""
    return probability(name, checks.array(name, value, "ns"))


def ratio(name: str, value: Any) -> np.ndarray:
    """Compression ratio, dimensions over features, in (0, 1], one or an array."""
    return checks.real(name, value, 0, 1, open_low=True)


def one_ratio(name: str, value: Any) -> float:
    """Compression ratio, dimensions over features, one number in (0, 1]."""
    return checks.number(name, value, 0, 1, open_low=True)


def seed(name: str, value: Any) -> int | np.random.Generator:
    """What to draw from: a whole number from 0, or a generator of numpy's."""
    return value if isinstance(value, np.random.Generator) else checks.whole(name, value, 0)


def draws(name: str, value: Any) -> np.ndarray:
    """Independent draws: finite numbers, at least two."""
    found = checks.real(name, value, open_low=True, open_high=True)
    if found.size < 2:
        raise ValueError(f"{name} has shape {found.shape}; allowed: at least two numbers")
    return found


def samples(name: str, value: Any) -> int:
    """How many are drawn, at least 1."""
    return checks.whole(name, value, 1)


def steps(name: str, value: Any) -> int:
    """Training steps, from 1 to a million."""
    return checks.whole(name, value, 1, checks.MOST_STEPS)


def rate(name: str, value: Any) -> float:
    """Learning rate, above 0."""
    return checks.number(name, value, 0, LARGEST, open_low=True)


def flag(name: str, value: Any) -> bool:
    """True or False."""
    return checks.flag(name, value)


def function(name: str, value: Any) -> Callable:
    """A function."""
    if not callable(value):
        raise ValueError(f"{name} = {checks.shown(value)} is not a function; allowed: a function")
    return value


def batch_fits(batch: int, ns: int = 1, p: Any = 0.0, layout: str = "dense") -> None:
    """Refuse a batch of feature vectors that is larger than memory; the sparse layout keeps only what is on."""
    features = max(ns, np.size(p))
    kept = batch * features * (np.mean(p) if layout == "csr" else 1)
    if kept > MOST_NUMBERS or batch * features > checks.LARGEST_WHOLE:
        raise ValueError(
            f"batch = {batch} of {features} features is too large; allowed: {MOST_NUMBERS:g} numbers in all"
        )


def places_fit(batch: int, ns: int, p: float) -> None:
    """Refuse a batch whose nonzero entries alone are larger than memory."""
    batch_fits(batch, ns, p, "csr")


def group_exists(groups: int, G: int, p: float, s: float, batch: int) -> None:
    """Refuse groups that no distribution has, or that are larger than memory."""
    if s < p and s == 0 and G * p > 1:
        raise ValueError(
            f"p = {p:g} is out of range; allowed: up to 1 / {G}, as {G} exclusive features are never on together"
        )
    batch_fits(batch, groups * G)


def whole(low: int, high: int | None = None) -> Callable[[str, Any], int]:
    """Make the range of whole numbers with these ends."""
    return _worded(lambda name, value: checks.whole(name, value, low, high), f"Whole number from {low}{_to(high)}.")


def wholes(low: int, high: int | None = None) -> Callable[[str, Any], list[int]]:
    """Make the range of lists of whole numbers with these ends."""
    return _worded(lambda name, value: checks.wholes(name, value, low, high), f"Whole numbers from {low}{_to(high)}.")


def real(low: float = -LARGEST, high: float = LARGEST, **open_ends: bool) -> Callable[[str, Any], np.ndarray]:
    """Make the range of real numbers of any shape with these ends, ``open_low`` or ``open_high`` as in `checks`."""
    words = f"Real numbers, one or an array, in {_interval(low, high, **open_ends)}."
    return _worded(lambda name, value: checks.real(name, value, low, high, **open_ends), words)


def number(low: float = -LARGEST, high: float = LARGEST, **open_ends: bool) -> Callable[[str, Any], float]:
    """Make the range of one real number with these ends, ``open_low`` or ``open_high`` as in `checks`."""
    words = f"A real number in {_interval(low, high, **open_ends)}."
    return _worded(lambda name, value: checks.number(name, value, low, high, **open_ends), words)


def array(axes: str, low: float = -LARGEST, high: float = LARGEST) -> Callable[[str, Any], np.ndarray]:
    """Make the range of arrays of finite numbers, from ``low`` to ``high``, with axes as in `checks.array`."""

    def taken(name: str, value: Any) -> np.ndarray:
        return checks.real(name, checks.array(name, value, axes), low, high)

    return _worded(taken, f"Finite numbers of shape ({axes.replace(' ', ', ')}).")


def one_of(*choices: Any) -> Callable[[str, Any], Any]:
    """Make the range that consists of these values."""
    return _worded(lambda name, value: checks.one_of(name, value, choices), f"One of {', '.join(map(repr, choices))}.")


def instance(*kinds: type) -> Callable[[str, Any], Any]:
    """Make the range of instances of these classes."""
    words = " or ".join(kind.__name__ for kind in kinds)

    def taken(name: str, value: Any) -> Any:
        if not isinstance(value, kinds):
            raise ValueError(f"{name} = {checks.shown(value)} is of another kind; allowed: {words}")
        return value

    return _worded(taken, f"{words}.")


def fit_together(**given: Any) -> None:
    """Refuse values whose shapes do not broadcast, by their names."""
    shapes = [np.shape(value) for value in given.values()]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        shown = ", ".join(map(str, shapes))
        raise ValueError(f"{', '.join(given)} have shapes {shown}; allowed: shapes that broadcast") from None


def together(*names: str) -> Callable[..., None]:
    """Make the relation that arguments with these names have shapes that broadcast."""
    return of_parameters(lambda **given: fit_together(**given), *names)


def of_parameters(relation: Callable[..., None], *names: str) -> Callable[..., None]:
    """Give a relation that takes any keywords the parameters of these names."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    vars(relation)["__signature__"] = inspect.Signature([inspect.Parameter(name, keyword) for name in names])
    return relation


def _probable(name, value, found):
    if np.any(found < SMALLEST):
        raise ValueError(f"{name} = {checks.shown(value)} is out of range; allowed: from {SMALLEST:g} on, in (0, 1]")
    return found


def _worded(taken, words):
    taken.__doc__ = words
    return taken


def _to(high):
    return "" if high is None else f" to {high}"


def _interval(low, high, open_low=False, open_high=False):
    return f"{'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
