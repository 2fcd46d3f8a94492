"""Values of functions and methods of the wings, most of which no face shows, at calls near those that they get.

Calls of the contract and small points of the named runs are made, and examples are run; arguments that each function
gets there are kept, and changed (`changed_calls`). Which calls are stored, `scripts/sieve.py` has found: those that see
a fault which no other stored call of the function sees. Nothing here says that a value is right. What another rounding
would move is not stored, nor what depends on a clock or takes long.
After a change that was meant, ``python tests/test_inner_values.py`` stores anew, and names what is other.
"""

import dataclasses
import doctest
import functools
import inspect
import itertools
import json
import os
import re
import sys
import tempfile
import time
import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch")
from changed_calls import changed  # noqa: E402
from experiments import test_small_points as points  # noqa: E402
from recorded_calls import APART, NESTED, as_it_is, kept, like, own_functions, place, tilted  # noqa: E402
from superposition.runs import moved  # noqa: E402
from superposition.runs.agreement import BOUND  # noqa: E402
from superposition.runs.point import point_of  # noqa: E402
from test_call_values import CALLS, copied  # noqa: E402
from test_settings import modules  # noqa: E402

pytestmark = pytest.mark.thorough
STORED = Path(__file__).with_name("inner_values.json")
MEND = "run `python tests/test_inner_values.py` if that was meant"
LOOKS, APIECE, BATCHES = 2, 4, 2  # numbers of a part beside its length; parts that are looked at alone; of a generator
LONG, LONGEST = 0.03, 0.4  # seconds of a call that is not stored, and of one that is not made to find others
FIRST_WAYS = ("given", "near", "mixed 0", "mixed 1")  # of a function that is new
EXAMPLES = "examples of "


def parts(value):
    """All numbers of a result, as flat arrays; letters count as numbers, and what has none by its type."""
    if isinstance(value, torch.Tensor):
        own = value.detach().numpy().astype(float).ravel()
        return [own] if not value.is_leaf or value.grad is None else [own, *parts(value.grad)]
    if sparse.issparse(value):
        return parts(value.toarray())
    if inspect.isgenerator(value):
        value = list(itertools.islice(value, BATCHES))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif type(value).__module__.startswith("superposition.") and hasattr(value, "__dict__") and not callable(value):
        value = vars(value)
    if inspect.isfunction(value) and (call := NESTED.get(place(inspect.unwrap(value).__code__))):
        places, names, _ = like(call, as_it_is)
        return parts([value(*places, **names), places, list(names.values())])
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [part for one in value for part in parts(one)]
    found = np.asarray(value)
    if found.dtype.kind == "c":
        return [found.real.ravel(), found.imag.ravel()]
    if found.dtype.kind in "fiub":
        return [found.astype(float).ravel()]
    return [np.array([ord(letter) for letter in (value if isinstance(value, str) else type(value).__name__)], float)]


def look(value):
    """What is stored of a result: of each part, or of all where they are many, how many numbers, and their shadows."""
    found = parts(value)
    return [shadows(part) for part in (found if len(found) <= APIECE else [np.concatenate(found)])]


@functools.cache
def directions(size):
    return np.random.default_rng(size).standard_normal((LOOKS, size))


def shadows(flat):
    """How many numbers there are, their length, and their shadows on drawn directions."""
    flat = np.nan_to_num(flat, nan=-7e7, posinf=8e7, neginf=-9e7)
    return [flat.size, *(float(f"{number:.9g}") for number in (np.linalg.norm(flat), *directions(flat.size) @ flat))]


def given(function, arguments, change):
    """What a call gives, and what it makes of its arguments; or the type of its error."""
    torch.manual_seed(0)
    uncached(function)
    try:
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            places, names, graded = change(arguments)
            before = parts([places, names])
            with torch.set_grad_enabled(graded):
                found = look(function(*places, **names))
            after = parts([places, names])
            moved_ones = [one for one, was in zip(after, before, strict=False) if not np.array_equal(one, was, True)]
            return found + look(moved_ones) if moved_ones else found
    except Exception as error:
        return type(error).__name__


def uncached(value):
    """Empty the caches around a function."""
    while value is not None and callable(value) and not isinstance(value, type):
        if isinstance(value, functools._lru_cache_wrapper) and value is not point_of:
            value.cache_clear()
        value = getattr(value, "__wrapped__", None)


def make(driver):
    """Make a call of the contract, compute a small point, or run the examples of a module."""
    if driver in CALLS:
        function, call = CALLS[driver]
        try:
            function(**copied(call))
        except ValueError:
            pass
    elif driver.startswith(EXAMPLES):
        runner = doctest.DocTestRunner(verbose=False)
        for test in doctest.DocTestFinder(exclude_empty=True).find(sys.modules[driver.removeprefix(EXAMPLES)]):
            runner.run(test, out=len)
    else:
        name, change = next(case for case in points.CASES if points.title(case) == driver)
        points.values(name, points.point(name, change))


def forget():
    """Empty every cache, so that no function is left out because its results are known.

    Classes of points stay: other tests hold points, which are equal to those of the same class alone.
    """
    for _, module in modules():
        for value in vars(module).values():
            uncached(value)


def arguments(drivers, side=0, wanted=None):
    """Arguments of every function that the drivers reach; and the seconds of each driver, and how many it gave."""
    forget()
    calls, costs = {}, {}
    with kept(calls, wanted), warnings.catch_warnings(action="ignore"), moved.draws(side) if side else nullcontext():
        for driver in drivers:
            begun, before = time.process_time(), sum(map(len, calls.values()))
            make(driver)
            costs[driver] = time.process_time() - begun, sum(map(len, calls.values())) - before
    return calls, costs


def split(name):
    """The title of a function, which of its calls it is, and how that is changed."""
    title, count, way = name.split(maxsplit=2)
    return title, int(count), way


def wanted(names):
    """Which calls of each function are asked for."""
    found = {}
    for title, count, way in map(split, names):
        other_one = re.fullmatch(r"\d+ of (\d+)", way)
        found.setdefault(title, set()).update({count, *([int(other_one[1])] if other_one else [])})
    return found


def ways(calls, names=None):
    """Every stored call with its name, its function and how its arguments are changed."""
    functions = {title: value for title, value, _ in own_functions()}
    for name in json.loads(STORED.read_text())["values"] if names is None else names:
        title, count, way = split(name)
        got = calls.get(title, [])
        if title in functions and count < len(got) and got[count] is not None:
            yield name, functions[title], got[count], functools.partial(changed, way=way, got=got)


def other(found, stored):
    """Whether a call gives something else than it gave: beyond what the processor's rounding does."""
    if isinstance(found, str) or isinstance(stored, str) or [one[0] for one in found] != [one[0] for one in stored]:
        return found != stored
    return any(
        abs(now - was) > BOUND * before[1]
        for after, before in zip(found, stored, strict=True)
        for now, was in zip(after[1:], before[1:], strict=True)
    )


def test_inner_values_are_those_that_are_stored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where a changed call writes what it was told to write
    stored = json.loads(STORED.read_text())
    calls, _ = arguments(stored["drivers"], wanted=wanted(stored["values"]))
    found = {name: given(*call) for name, *call in ways(calls)}
    missing = stored["values"].keys() - found.keys()
    assert not missing, f"{sorted(missing)} are not called any more; {MEND}"
    odd = {name: (found[name], was) for name, was in stored["values"].items() if other(found[name], was)}
    assert not odd, f"{odd}; {MEND}"


def steady(function, one, change):
    """What a call gives, if it is the same again, and from arguments that rounding moved; else nothing."""
    found = given(function, one, change)
    near = [tilted(seed, 1e-9) for seed in (7, 8)]
    sides = [given(function, one, lambda call, by=by: change(like(call, by))) for by in near]
    sides = [side for side in sides if side != "ValueError"]  # of what has to be symmetric, or to add up to 1
    return None if any(other(side, found) for side in [given(function, one, change), *sides]) else found


def possible_drivers():
    """Calls of the contract, small points, and the modules whose examples are run."""
    yield from (name for name in CALLS if len(name.split()) == 2)
    yield from (points.title(case) for case in points.CASES)
    yield from (EXAMPLES + name for name, _ in modules() if not name.startswith(APART))


def drivers_of(before):
    """The drivers of today: those there were, and calls, points and examples that reach what none of these reach."""
    reached, new = set(arguments(before)[0]), []
    for driver in possible_drivers():
        if driver not in before:
            calls, costs = arguments([driver])
            if costs[driver][0] < LONGEST and calls.keys() - reached:
                new.append(driver)
                reached |= calls.keys()
    return [*before, *new]


def main():
    """Store what is given today, and name what is other; of functions that are new, a few calls."""
    before = json.loads(STORED.read_text())
    os.chdir(tempfile.mkdtemp())
    drivers = drivers_of(before["drivers"])
    calls, _ = arguments(drivers)
    known = {split(name)[0] for name in before["values"]}
    new = [
        f"{title} {count} {way}"
        for title, got in calls.items()
        if title not in known
        for count in range(min(2, len(got)))
        for way in FIRST_WAYS
    ]
    values = {}
    for name, *call in ways(calls, [*before["values"], *new]):
        begun = time.process_time()
        found = given(*call) if name in before["values"] else steady(*call)
        if name in before["values"] or (found is not None and time.process_time() - begun < 4 * LONG):
            was = before["values"].get(name)
            values[name] = found if was is None or other(found, was) else was
    store(drivers, values)
    print("\n".join(name for name in values if values[name] != before["values"].get(name)))
    print("not called any more:", *sorted(before["values"].keys() - values.keys()), sep="\n")


def store(drivers, values):
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items())
    STORED.write_text(f'{{"drivers": {json.dumps(drivers)}, "values": {{\n{lines}\n}}}}\n')


if __name__ == "__main__":
    main()
