"""What the functions of a package give back while something is made: of each, how often, and three sums.

A profile sees every function, those inside of others, methods and properties too. Of what is given back, the numbers
count (words by their letters) with their length, their shadow on a drawn direction, and how many they are.
"""

import dataclasses
import sys
from functools import cache
from pathlib import PurePath

import numpy as np
from scipy import sparse

DEEP = 5  # layers of lists and objects that are looked into
NOTHING = 1e-12  # a length that rounding may give
COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")  # functions in some versions of Python alone


def given_back(make, folder):
    """Make something; by the names of the functions in a folder's files, the number of their ends and three sums."""
    found, folder = {}, str(folder)

    def watch(frame, event, arg):
        code = frame.f_code
        if event == "return" and code.co_filename.startswith(folder) and code.co_name not in COMPREHENSIONS:
            sums = found.setdefault(f"{frame.f_globals['__name__']}.{code.co_qualname}", np.zeros(4))
            sums[1:] += (1.5 + np.sin(sums[0])) * look(arg)  # another weight each time: their order counts
            sums[0] += 1

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        make()
    finally:
        sys.setprofile(before)
    return {name: [int(sums[0]), *(float(f"{one:.8g}") for one in sums[1:])] for name, sums in sorted(found.items())}


def look(value):
    """The logarithm of the length of all numbers, their shadow on a direction in this unit, and how many they are."""
    flat = np.concatenate([np.zeros(0), *(np.ravel(part) for part in parts(value, DEEP))])
    flat = np.nan_to_num(flat, nan=-7e7, posinf=8e7, neginf=-9e7)
    length = np.linalg.norm(flat)
    if not NOTHING < length < np.inf:
        return np.array([0.0, 0.0, len(flat)])
    return np.array([np.log(length), direction(len(flat)) @ flat / length, len(flat)])


@cache
def direction(size):
    return np.random.default_rng(size).standard_normal(size)


def parts(value, deep):
    """All numbers of a value, as arrays."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    if sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, PurePath):
        value = value.name
    if isinstance(value, str):
        return [np.array([ord(letter) for letter in value], float)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=str)
    if isinstance(value, (list, tuple)):
        return [part for one in value for part in parts(one, deep - 1)] if deep else []
    if isinstance(value, (bool, int, float, complex, np.ndarray, np.generic)):
        found = np.asarray(value)
        if found.dtype.kind in "fiub":
            return [found.astype(float)]
        if found.dtype.kind == "c":
            return [found.real, found.imag]
        return parts(found.ravel().tolist(), deep - 1) if deep else []
    return [np.array([float(len(type(value).__name__))])]
