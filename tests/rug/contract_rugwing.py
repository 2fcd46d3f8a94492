"""What every public function owes odd input: the float64 result, or a ValueError that names the argument.

A wing lists one valid call for each of its functions; `cases` makes of it one case for each argument
and each kind of odd value, and `broken` says in a sentence what was wrong, or nothing.
"""

import dataclasses
import inspect
import re
import warnings

import numpy as np

REFUSED = {  # no number, whatever the function
    "NaN": lambda value: np.full(np.shape(value), np.nan)[()],
    "complex": lambda value: np.asarray(value) + 1j,
    "None": lambda value: None,
    "text": lambda value: "odd",
    "truth": lambda value: True,
    "object": lambda value: object(),
    "list of None": lambda value: [None, None],
    "ragged": lambda value: [[1.0], [1.0, 2.0]],
}
NOT_REFUSED = {  # may be refused; otherwise the result is made of numbers, in float64
    "infinity": lambda value: np.full(np.shape(value), np.inf)[()],
    "huge": lambda value: np.full(np.shape(value), 1e300)[()] if isinstance(value, (float, np.ndarray)) else 10**30,
    "negative": lambda value: -1.0 * np.asarray(value)[()] - 1 if not isinstance(value, int) else -1,
    "empty": lambda value: [],
    "wrong shape": lambda value: np.ones((2, 3, 1)),
}
SAME = {  # another form of the same value: the same result, or a refusal
    "float32": lambda value: np.float32(value) if np.ndim(value) == 0 else np.asarray(value, np.float32),
    "list": lambda value: np.asarray(value).tolist() if np.ndim(value) else [value],
    "no dimension": lambda value: np.asarray(value),
}
KINDS = {**REFUSED, **NOT_REFUSED, **SAME}
OTHER_FORMS = 1e-5  # relative: a float32 argument is rounded to 6e-8, which slopes of up to 100 enlarge


def cases(calls):
    """Triples (function, arguments, argument, kind) for a list of pairs (function, valid arguments)."""
    return [
        (function, arguments, name, kind)
        for function, arguments in calls
        for name, value in arguments.items()
        for kind in KINDS
        if isinstance(value, (int, float, np.ndarray, str)) and not _is_legal(function, name, value, kind)
    ]


def broken(function, arguments, name, kind):
    """What the function does wrong with one odd argument; None if nothing."""
    value = KINDS[kind](arguments[name] if not isinstance(arguments[name], str) else 0.5)
    try:
        result = _call(function, {**arguments, name: value})
    except ValueError as refusal:
        text = str(refusal)
        if not re.search(rf"(^|\W){re.escape(name)}(\W|$)", text):
            return f"the refusal does not name {name}: {text}"
        return f"the refusal is {len(text)} characters long" if len(text) > 300 else None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if kind in REFUSED:
        return "is accepted"
    if any(array.dtype.kind not in "fiub" or array.dtype == np.float32 for array in result):
        return "the result is not in float64"
    if any(np.isnan(array).any() for array in result if array.dtype.kind == "f"):
        return "the result holds NaN"
    return _differs(function, arguments, result) if kind in SAME else None


def _is_legal(function, name, value, kind):
    """What is odd elsewhere and not here: truth values for a flag, text for a choice, None where it is the default."""
    if kind == "None" and inspect.signature(function).parameters[name].default is None:
        return True
    return (isinstance(value, bool) and kind in ("truth", *SAME)) or (isinstance(value, str) and kind in SAME)


def _differs(function, arguments, result):
    for array, expected in zip(result, _call(function, arguments), strict=True):
        if array.size != expected.size:
            return f"the result has shape {array.shape} for {expected.shape}"
        if not np.allclose(array.reshape(expected.shape), expected, rtol=OTHER_FORMS, atol=1e-12):
            return "the result differs from that of the same number in float64"
    return None


def _call(function, arguments):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _numbers(function(**arguments))


def _numbers(result):
    """All arrays and numbers of a result, in order."""
    if dataclasses.is_dataclass(result):
        return [part for field in dataclasses.fields(result) for part in _numbers(getattr(result, field.name))]
    if isinstance(result, (tuple, list)):
        return [part for item in result for part in _numbers(item)]
    if isinstance(result, dict):
        return [part for item in result.values() for part in _numbers(item)]
    return [np.asarray(result)] if isinstance(result, (int, float, np.ndarray, np.generic)) else []
