"""Refusals: one sentence that names the parameter, its value and what is allowed.

Each check takes the ``name`` of a parameter, for the sentence, and its ``value``, and returns the value in one form.
Anything else, or a value outside of ``low`` to ``high`` (both allowed, if not open), raises ValueError.

>>> real("p", 1.5, 0, 1)
Traceback (most recent call last):
ValueError: p = 1.5 is out of range; allowed: [0, 1]
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Floats: TypeAlias = "np.ndarray | np.float64"  # a float64 array, or one number where all arguments are numbers


LARGEST_WHOLE = 2**53  # beyond, float64 counts no longer
LARGEST_SEED = 2**32 - 1
MOST_FEATURES = 16384  # of a trained autoencoder: beyond, W alone is over a gigabyte
MOST_STEPS = 10**6


def real(
    name: str, value: ArrayLike, low: float = -np.inf, high: float = np.inf, *, open_low: bool = False,
    open_high: bool = False,
) -> np.ndarray:  # fmt: skip
    """Return ``value``, of any shape, in float64; allowed is an interval, each end of which may be open.

    >>> real("p", [0, 0.5], 0, 1, open_high=True)
    array([0. , 0.5])
    """
    allowed = f"{'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
    array = _numbers(value)
    if array is None:
        raise ValueError(f"{name} = {shown(value)} is not a number; allowed: {allowed}")
    inside = np.isfinite(array) if open_low and open_high and low == -np.inf and high == np.inf else None
    if inside is None:
        inside = (array > low if open_low else array >= low) & (array < high if open_high else array <= high)
    if not np.all(inside):
        first = array[~inside].flat[0]
        raise ValueError(f"{name} = {first:g} is out of range; allowed: {allowed}")
    return array


def number(
    name: str, value: ArrayLike, low: float = -np.inf, high: float = np.inf, *, open_low: bool = False,
    open_high: bool = False,
) -> float:  # fmt: skip
    """Return ``value`` as one float, as `real` does for any shape; an array of no dimension is one number.

    >>> number("p", 1, 0, 1)
    1.0
    """
    array = real(name, value, low, high, open_low=open_low, open_high=open_high)
    if array.ndim:
        raise ValueError(f"{name} = {shown(value)} has shape {array.shape}; allowed: one number")
    return float(array)


def array(name: str, value: ArrayLike, axes: str | tuple[int | str, ...]) -> np.ndarray:
    """Return ``value`` as finite numbers in float64 that have these axes, none of them empty.

    An axis of "n m" or (3, "m") is a number, its length, or a word: any, the same wherever it is repeated.
    "... n" allows any number of axes before n.

    >>> array("W", [[1, 0]], "n m")
    array([[1., 0.]])
    """
    found = real(name, value, open_low=True, open_high=True)
    wanted = tuple(axes.split()) if isinstance(axes, str) else axes
    named = wanted[1:] if wanted[:1] == ("...",) else wanted
    lengths: dict[int | str, int] = {length: length for length in named if isinstance(length, int)}
    fits = found.ndim >= len(named) if named != wanted else found.ndim == len(named)
    shape = found.shape[found.ndim - len(named) :]
    if not fits or not found.size or any(lengths.setdefault(w, n) != n for w, n in zip(named, shape, strict=True)):
        allowed = f"({', '.join(map(str, wanted))}{',' if len(wanted) == 1 else ''})"
        raise ValueError(f"{name} has shape {found.shape}; allowed: {allowed}, no axis empty")
    return found


def whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return ``value`` as an int: 1000.0 is whole, also in an array of no dimension; 3.5 and True are not.

    >>> whole("steps", 1000.0, 1)
    1000
    """
    allowed = f"whole numbers from {low}" + ("" if high is None else f" to {high}")
    top = LARGEST_WHOLE if high is None else high
    plain = _plain(value)
    try:
        number = int(plain) if isinstance(plain, float) and plain.is_integer() else operator.index(plain)
    except TypeError:
        number = None
    if number is None or isinstance(plain, (bool, np.bool_)) or not low <= number <= top:
        raise ValueError(f"{name} = {shown(value)} is out of range; allowed: {allowed}")
    return number


def wholes(name: str, values: Iterable[int], low: int, high: int | None = None) -> list[int]:
    """Return a sequence of whole numbers as a list.

    >>> wholes("record", [0, 5], 0)
    [0, 5]
    """
    if not isinstance(values, Iterable):
        raise ValueError(f"{name} = {shown(values)} is no sequence; allowed: whole numbers in a list")
    return [whole(name, value, low, high) for value in values]


def one_of(name: str, value: Any, allowed: Sequence[Any]) -> Any:
    """Return ``value``, a number of numpy's as Python's own, if it is one of those.

    >>> one_of("grid", "small", ("small", "full"))
    'small'
    """
    plain = _plain(value)
    if not isinstance(plain, Hashable) or plain not in allowed:
        raise ValueError(f"{name} = {shown(value)} is unknown; allowed: {', '.join(map(str, allowed))}")
    return plain


def flag(name: str, value: bool) -> bool:
    """Return ``value`` if it is True or False, Python's or NumPy's.

    >>> flag("tied", True)
    True
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} = {shown(value)} is neither; allowed: True, False")
    return bool(value)


def generator(name: str, seed: int | np.random.Generator) -> np.random.Generator:
    """Return what to draw from: a generator itself, or a new one for a seed, a whole number from 0.

    >>> int(generator("seed", 0).integers(100))
    85
    """
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(whole(name, seed, 0))


def shown(value: object, most: int = 60) -> str:
    """Show any value in a refusal: on one line, and cut where it is long.

    >>> shown("x" * 5000, most=10)
    "'xxxxxxxxx…"
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= most else text[:most] + "…"


def plainly_written(number: str) -> bool:
    """Whether a number is written without separators and with the digits 0 to 9 only, as Python does not require.

    >>> [plainly_written(text) for text in ("1e3", "1_000", "١٢")]
    [True, False, False]
    """
    return number.isascii() and "_" not in number


def printable(text: str) -> str:
    r"""Return a text of unknown origin in which all that a terminal would obey is escaped, as Python escapes it.

    >>> print(printable("é\x1b]0;gone\x07"))
    é\x1b]0;gone\x07
    """
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def _plain(value):
    """A number of numpy's, or an array of no dimension that holds one, as Python's own; anything else as it is."""
    is_number = isinstance(value, (np.ndarray, np.generic)) and value.ndim == 0 and value.dtype.kind in "iuf"
    return value.item() if is_number and not np.ma.is_masked(value) else value


def _numbers(value):
    """A float64 array of real numbers; None for anything else: truth values, text, complex, ragged, masked numbers."""
    if np.ma.is_masked(value):  # its mask would be lost
        return None
    try:
        array = np.asarray(value)
        if array.dtype == object and not all(isinstance(part, numbers.Real) for part in array.flat):
            return None
        kinds = "biufO" if array.ndim else "iufO"  # an array of truth values is a mask
        return array.astype(np.float64, copy=False) if array.dtype.kind in kinds else None
    except (TypeError, ValueError, OverflowError):
        return None
