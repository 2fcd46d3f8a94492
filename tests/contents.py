"""Everything that a result holds, as arrays of numbers: words by their letters, drawn batches, and what objects say."""

import dataclasses
import functools
import inspect
import itertools
import warnings

import numpy as np
from scipy import sparse

BATCHES = 2  # of a generator that never ends


def contents(value):
    """All arrays of a result; of an object of the library also its private fields, and what it computes unasked."""
    if isinstance(value, str):
        return [np.array([ord(letter) for letter in value], float)]
    if value is None or isinstance(value, np.random.Generator):
        return [np.array([-3.0])]
    if hasattr(value, "detach"):
        return [value.detach().cpu().numpy().astype(float)]
    if sparse.issparse(value):
        return [value.toarray()]
    if isinstance(value, dict):
        return [array for key, one in value.items() for array in [*contents(key), *contents(one)]]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [getattr(value, field.name) for field in dataclasses.fields(value)]
        return [array for one in [*fields, *unasked(value)] for array in contents(one)]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [array for one in value for array in contents(one)]
    if inspect.isgenerator(value):
        return contents(list(itertools.islice(value, BATCHES)))
    if callable(value) or not isinstance(value, (bool, int, float, complex, np.ndarray, np.generic)):
        return []
    found = np.asarray(value)
    if found.dtype.kind == "c":
        return [np.stack([found.real, found.imag])]
    return contents(found.ravel().tolist()) if found.dtype.kind in "UO" else [found.astype(float)]


def unasked(value):
    """What the properties of an object say, and its methods that ask for nothing."""
    for name, member in inspect.getmembers_static(type(value)):
        if name.startswith("_"):
            continue
        if isinstance(member, (property, functools.cached_property)):
            yield getattr(value, name)
        elif inspect.isfunction(member) and len(inspect.signature(member).parameters) == 1:
            with warnings.catch_warnings(action="ignore"):
                yield getattr(value, name)()
