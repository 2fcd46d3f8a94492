"""Refusals: one sentence that names the parameter, its value and what is allowed."""

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
    name: str,
    value: ArrayLike,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> np.ndarray:
    """Return ``value`` as a float64 array, or refuse it.

    Parameters
    ----------
    name : str
        The name to use in the message.
    value : array_like
        Numbers of any shape.
    low, high : float
        Ends of the allowed interval.
    open_low, open_high : bool
        Whether that end is itself forbidden.

    Returns
    -------
    numpy.ndarray
        ``value`` in float64, same shape.

    Raises
    ------
    ValueError
        If ``value`` holds no numbers, or one outside the interval.
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
    name: str,
    value: ArrayLike,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Return ``value`` as one float, or refuse it; parameters and errors as those of `real`.

    Parameters
    ----------
    name : str
        The name to use in the message.
    value : array_like
        One number; an array of no dimension is one.
    low, high : float
        Ends of the allowed interval.
    open_low, open_high : bool
        Whether that end is itself forbidden.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If ``value`` is not one number, or outside the interval.
    """
    array = real(name, value, low, high, open_low=open_low, open_high=open_high)
    if array.ndim:
        raise ValueError(f"{name} = {shown(value)} has shape {array.shape}; allowed: one number")
    return float(array)


def array(name: str, value: ArrayLike, axes: str | tuple[int | str, ...]) -> np.ndarray:
    """Return ``value`` as a float64 array of finite numbers with the right axes, or refuse it.

    Parameters
    ----------
    name : str
        The name to use in the message.
    value : array_like
        Finite numbers.
    axes : str or tuple of int or str
        An axis each, as in "n m" or (3, "m"), none of them empty: a number is its length, a word stands for any, the
        same wherever it is repeated; "... n" allows any number of axes before n.

    Returns
    -------
    numpy.ndarray
        ``value`` in float64, same shape.

    Raises
    ------
    ValueError
        If ``value`` holds anything but finite numbers, or has other axes or an empty one.

    Examples
    --------
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
    """Return ``value`` as an int, or refuse it.

    Parameters
    ----------
    name : str
        The name to use in the message.
    value : int
        A whole number (1000.0 is one, and so is an array of no dimension that holds it; 3.5 and True are not).
    low, high : int
        Smallest and largest allowed value; 2^53 if `high` is None.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If ``value`` is not a whole number within the bounds.
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
    """Return ``values`` as a list of ints, or refuse them.

    Parameters
    ----------
    name : str
        The name to use in the message.
    values : sequence of int
        Whole numbers.
    low, high : int
        See `whole`.

    Returns
    -------
    list of int

    Raises
    ------
    ValueError
        If ``values`` is no sequence, or one of them is not a whole number within the bounds.

    Examples
    --------
    >>> wholes("record", [0, 5], 0)
    [0, 5]
    """
    if not isinstance(values, Iterable):
        raise ValueError(f"{name} = {shown(values)} is no sequence; allowed: whole numbers in a list")
    return [whole(name, value, low, high) for value in values]


def one_of(name: str, value: Any, allowed: Sequence[Any]) -> Any:
    """Return ``value`` if it is one of ``allowed``, or refuse it.

    Parameters
    ----------
    name : str
        The name to use in the message.
    value : object
        What was given.
    allowed : sequence
        The choices.

    Returns
    -------
    object
        ``value`` itself; a number of numpy's as Python's own.

    Raises
    ------
    ValueError
        If ``value`` is not among the choices.
    """
    plain = _plain(value)
    if not isinstance(plain, Hashable) or plain not in allowed:
        raise ValueError(f"{name} = {shown(value)} is unknown; allowed: {', '.join(map(str, allowed))}")
    return plain


def flag(name: str, value: bool) -> bool:
    """Return ``value`` if it is True or False, or refuse it.

    Parameters
    ----------
    name : str
        The name to use in the message.
    value : bool
        What was given.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If ``value`` is neither.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} = {shown(value)} is neither; allowed: True, False")
    return bool(value)


def generator(name: str, seed: int | np.random.Generator) -> np.random.Generator:
    """Return a generator to draw from, or refuse the seed.

    Parameters
    ----------
    name : str
        The name to use in the message.
    seed : int or numpy.random.Generator
        A whole number from 0, or a generator, which is returned itself.

    Returns
    -------
    numpy.random.Generator

    Raises
    ------
    ValueError
        If ``seed`` is neither.
    """
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(whole(name, seed, 0))


def shown(value: object, most: int = 60) -> str:
    """Return how a refusal shows a value: on one line, and cut where it is long.

    Parameters
    ----------
    value : object
        What was given.
    most : int
        Characters to keep.

    Returns
    -------
    str

    Examples
    --------
    >>> shown([1, 2])
    '[1, 2]'
    >>> shown("x" * 5000, most=10)
    "'xxxxxxxxx…"
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= most else text[:most] + "…"


def printable(text: str) -> str:
    r"""Return a text of unknown origin without what a terminal would obey.

    Parameters
    ----------
    text : str
        Any.

    Returns
    -------
    str
        Whatever cannot be printed is written as Python escapes it.

    Examples
    --------
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
