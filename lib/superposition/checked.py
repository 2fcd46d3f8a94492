"""Checks of arguments: a public function refuses, where it computes, arguments that it cannot take.

`checked` gives each argument to its range, a function of the parameter's name and its value that returns the value in
the form in which the library computes, or refuses it in one sentence (`superposition.ranges`). The docstring of a range
says what is allowed; where a function's own docstring does not, it stands there.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar

import numpy as np
from defprint import transparent

Range = Callable[[str, Any], Any]
P = ParamSpec("P")
T_co = TypeVar("T_co", covariant=True)
ORDER = ("Parameters", "Returns", "Yields", "Raises")  # what numpydoc has before all other sections
_SECTION = re.compile(r"^(\w+)\n-+$", re.M)


class Checked(Protocol[P, T_co]):
    """A function that checks its arguments; ``unchecked`` is the same without, for loops that have checked theirs."""

    unchecked: Callable[P, T_co]
    __name__: str
    __module__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T_co:
        """Check the arguments, then compute."""
        ...


@transparent
def checked(*relations: Callable[..., None], **ranges: Range) -> Callable[[Callable[P, T_co]], Checked[P, T_co]]:
    """Decorate a function, or a class by its constructor, so that it refuses arguments outside of their ranges.

    An argument that is as the library has it (a float, an array in float64) is passed on as it is, one of another kind
    (a list, a whole number for a real one) is converted. A None that is the default is not checked.

    Parameters
    ----------
    *relations : callable
        Each takes some arguments by their names, where the function has them, and refuses those that do not fit
        together.
    **ranges : callable
        For each parameter, the function that takes its name and value.

    Returns
    -------
    callable
        The decorator.

    Examples
    --------
    >>> from superposition import ranges
    >>> @checked(p=ranges.probability)
    ... def mean(p):
    ...     return p / 2
    >>> mean(1.5)
    Traceback (most recent call last):
    ValueError: p = 1.5 is out of range; allowed: (0, 1]
    """

    def decorate(function: Any) -> Any:
        if isinstance(function, type):
            function.__init__ = decorate(function.__init__)
            return function
        parameters = inspect.signature(function).parameters
        if unknown := ranges.keys() - parameters.keys():
            raise TypeError(f"{function.__qualname__} has no parameter {min(unknown)}")
        wanted = [
            (one, [name for name in inspect.signature(one).parameters if name in parameters]) for one in relations
        ]
        prepared = functools.partial(_prepared, parameters, ranges, wanted)

        def guarded(*args, **kwargs):
            args, kwargs = prepared(args, kwargs)
            return function(*args, **kwargs)

        done = at_home(guarded, function)
        done.unchecked = function
        done.__doc__ = _documented(function, ranges)
        return done

    return decorate


def at_home(made: Any, function: Any) -> Any:
    """Give what a decorator made of a function the globals of the function's module, in which doctest looks for it."""
    # Unwrapped, as a checker of annotations may have decorated either.
    made, home = inspect.unwrap(made), inspect.unwrap(function).__globals__
    moved = types.FunctionType(made.__code__, home, closure=made.__closure__)
    moved.__kwdefaults__ = made.__kwdefaults__
    return functools.update_wrapper(moved, function)


def _prepared(parameters, ranges, relations, args, kwargs):
    """The arguments of a call in the form in which the library computes; or the refusal of one, or of several."""
    places = [name for name, one in parameters.items() if one.kind is not one.KEYWORD_ONLY]
    placed = [_taken(ranges, parameters, name, value) for name, value in zip(places, args, strict=False)]
    named = {name: _taken(ranges, parameters, name, value) for name, value in kwargs.items()}
    given = {name: one.default for name, one in parameters.items()} | dict(zip(places, placed, strict=False)) | named
    for relation, names in relations:
        if all(given[name] is not inspect.Parameter.empty for name in names):  # else Python says which one is missing
            relation(**{name: given[name] for name in names})
    return [*placed, *args[len(placed) :]], named


def _taken(ranges, parameters, name, value):
    """One argument; a None that is the default says that there is none, and a float stays one."""
    if name not in ranges or (value is None and parameters[name].default is None):
        return value
    found = ranges[name](name, value)
    if isinstance(found, np.ndarray) and not found.ndim and not isinstance(value, np.ndarray):
        return value if isinstance(value, float) else float(found)
    return found


def _documented(function, ranges):
    """The docstring of a function with the words of its ranges, where it has none of its own for a parameter."""
    head, *parts = _SECTION.split(inspect.getdoc(function) or "")
    said = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    own = said.get("Parameters", "")
    entries = [
        f"{name}\n    {inspect.getdoc(ranges[name])}"
        for name in ranges
        if not re.search(rf"^(.*, )?\**{name}\b.* : |^{name}$", own, re.M)
    ]
    said["Parameters"] = "\n".join([*filter(None, [own]), *entries])
    said.setdefault("Raises", "ValueError\n    If an argument is outside of its range.")
    names = [name for name in (*ORDER, *said) if name in said]
    sections = [f"{name}\n{'-' * len(name)}\n{said[name]}" for name in dict.fromkeys(names) if said[name]]
    return "\n\n".join([head.strip(), *sections]) + "\n"
