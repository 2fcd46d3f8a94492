"""Refusals: one sentence that names the parameter, its value and what is allowed."""

from __future__ import annotations

import operator
from typing import TypeAlias

import numpy as np

Floats: TypeAlias = "np.ndarray | np.float64"  # a float64 array, or one number where all arguments are numbers


def real(name, value, low=-np.inf, high=np.inf, *, open_low=False, open_high=False):
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
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} = {value!r} is not a number; allowed: {allowed}") from None
    above = array > low if open_low else array >= low
    below = array < high if open_high else array <= high
    if not np.all(above & below):
        first = array[~(above & below)].flat[0]
        raise ValueError(f"{name} = {first:g} is out of range; allowed: {allowed}")
    return array


def whole(name, value, low, high=None):
    """Return ``value`` as an int, or refuse it.

    Parameters
    ----------
    name : str
        The name to use in the message.
    value : int
        A whole number (1000.0 is one, 3.5 and True are not).
    low, high : int
        Smallest and largest allowed value; no largest if `high` is None.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If ``value`` is not a whole number within the bounds.
    """
    allowed = f"whole numbers from {low}" + ("" if high is None else f" to {high}")
    try:
        number = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < low or (high is not None and number > high):
        raise ValueError(f"{name} = {value!r} is out of range; allowed: {allowed}")
    return number


def one_of(name, value, allowed):
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
        ``value`` itself.

    Raises
    ------
    ValueError
        If ``value`` is not among the choices.
    """
    if value not in allowed:
        raise ValueError(f"{name} = {value!r} is unknown; allowed: {', '.join(map(str, allowed))}")
    return value
