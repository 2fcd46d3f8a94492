"""Refusals: one sentence that names the parameter, its value and what is allowed."""

import operator
from collections.abc import Hashable

import numpy as np

LARGEST = 2**53  # whole numbers from here on are not told apart as floats


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
        array = np.asarray(value)
        array = array.astype(np.float64, copy=False) if array.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        raise ValueError(f"{name} = {shown(value)} is not a number; allowed: {allowed}")
    above = array > low if open_low else array >= low
    below = array < high if open_high else array <= high
    if not np.all(above & below):
        first = array[~(above & below)].flat[0]
        raise ValueError(f"{name} = {first:g} is out of range; allowed: {allowed}")
    return array


def number(name, value, low=-np.inf, high=np.inf, *, open_low=False, open_high=False):
    """Return ``value`` as a float, or refuse it.

    Parameters
    ----------
    name : str
        The name to use in the message.
    value : float
        One number, or an array without axes.
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
        If ``value`` is not one number in the interval.

    Examples
    --------
    >>> number("p", 1, 0, 1)
    1.0
    """
    array = real(name, value, low, high, open_low=open_low, open_high=open_high)
    if array.ndim:
        raise ValueError(f"{name} has shape {array.shape}; allowed: one number")
    return float(array)


def array(name, value, axes):
    """Return ``value`` as a float64 array of finite numbers with the right axes, or refuse it.

    Parameters
    ----------
    name : str
        The name to use in the message.
    value : array_like
        Finite numbers.
    axes : str
        Names of the axes, such as "n m", none of them empty; "... n" allows any number before n.

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
    found, names = real(name, value, open_low=True, open_high=True), axes.split()
    fits = found.ndim >= len(names) - 1 if names[0] == "..." else found.ndim == len(names)
    if not fits or not found.size:
        allowed = f"({', '.join(names)}{',' if len(names) == 1 else ''})"
        raise ValueError(f"{name} has shape {found.shape}; allowed: {allowed}, no axis empty")
    return found


def whole(name, value, low, high=None):
    """Return ``value`` as an int, or refuse it.

    Parameters
    ----------
    name : str
        The name to use in the message.
    value : int
        A whole number (1000.0 is one, 3.5 and True are not).
    low, high : int
        Smallest and largest allowed value; the largest is 2^53 if `high` is None.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If ``value`` is not a whole number within the bounds.
    """
    allowed = f"whole numbers from {low}" + ("" if high is None else f" to {high}")
    high = LARGEST if high is None else high
    try:
        number = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, (bool, np.bool_)) or not low <= number <= high:
        raise ValueError(f"{name} = {shown(value)} is out of range; allowed: {allowed}")
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
    if not isinstance(value, Hashable) or value not in allowed:
        raise ValueError(f"{name} = {shown(value)} is unknown; allowed: {', '.join(map(str, allowed))}")
    return value


def shown(value, most=60):
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
