"""Values of the functions that no face shows, at arguments near those that the library gives them.

Calls of the contract and small points of the named runs are made, and the first arguments that each inner function gets
are kept. Then the function is called with these, and with the same after each number has a factor of its own: what all
calls share, or what a sum, a comparison or a later step hides, is seen so. Nothing here says that a value is right.
What another rounding would move is not stored, nor what depends on a clock or takes long.
After a change that was meant, ``python tests/test_inner_values.py`` stores anew, and names what is other.
"""

import copy
import dataclasses
import functools
import json
import time
import types
import warnings
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch")
from experiments import test_small_points as points  # noqa: E402
from superposition.runs import moved  # noqa: E402
from superposition.runs.agreement import BOUND  # noqa: E402
from superposition.runs.point import point_of  # noqa: E402
from test_call_values import CALLS, copied  # noqa: E402
from test_settings import modules  # noqa: E402

pytestmark = pytest.mark.thorough
STORED = Path(__file__).with_name("inner_values.json")
MEND = "run `python tests/test_inner_values.py` if that was meant"
APART = ("superposition.book", "superposition.runs", "superposition.cli", "superposition.devices", "defprint")
KEPT, LOOKS = 2, 2  # calls of each function, and numbers by which a result is known beside its length
LONG, LONGEST = 0.03, 0.4  # seconds of a call that is not stored, and of one that is not made to find others


def inner():
    """Every function that has no range, with the module that calls it by its name."""
    for name, module in modules():
        for key, value in list(vars(module).items()):
            own = isinstance(value, types.FunctionType) and value.__module__ == name and key != "__getattr__"
            if own and not hasattr(value, "unchecked") and not name.startswith(APART):
                yield module, key, value


def like(value, change):
    """A copy, in which arrays and numbers that are no whole ones are changed."""
    if isinstance(value, torch.Tensor):
        changed = change(value.detach().numpy()) if value.is_floating_point() else value.detach().numpy().copy()
        return torch.from_numpy(np.asarray(changed)).to(value.dtype).requires_grad_(value.requires_grad)
    if isinstance(value, np.ndarray):
        return change(value) if value.dtype.kind in "fc" else value.copy()
    if isinstance(value, float):
        return type(value)(change(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(like(one, change) for one in value))
    if isinstance(value, (list, tuple)):
        return type(value)(like(one, change) for one in value)
    if isinstance(value, dict):
        return {key: like(one, change) for key, one in value.items()}
    return value if callable(value) else copy.deepcopy(value)


def as_it_is(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def tilted(seed, by):
    """A change of each number by a factor of its own; what is a share stays one."""

    def change(value):
        factors = np.random.default_rng(seed).uniform(1 - by, 1, np.shape(value))
        return (value * factors).astype(value.dtype) if isinstance(value, np.ndarray) else float(value * factors)

    return change


def parts(value):
    """All numbers of a result, as flat arrays; letters count as numbers, and what has none by its type."""
    if isinstance(value, torch.Tensor):
        return [value.detach().numpy().astype(float).ravel()]
    if sparse.issparse(value):
        return parts(value.toarray())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
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
    """What is stored of a result: how many numbers, their length, and their shadows on drawn directions."""
    flat = np.nan_to_num(np.concatenate([np.zeros(0), *parts(value)]), nan=-7e7, posinf=8e7, neginf=-9e7)
    shadows = np.random.default_rng(flat.size).standard_normal((LOOKS, flat.size)) @ flat
    return [flat.size, *(float(f"{number:.9g}") for number in (np.linalg.norm(flat), *shadows))]


def given(function, arguments, change):
    """What a call gives, and what it makes of its arguments; or the type of its error."""
    places, names = like(arguments, change)
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            return look([function(*places, **names), places, list(names.values())])
    except Exception as error:
        return type(error).__name__


@contextmanager
def kept(calls):
    """Keep the first arguments of every inner function that is called within."""

    def keeping(title, function):
        @functools.wraps(function)
        def call(*places, **names):
            got = calls.setdefault(title, [])
            if len(got) < KEPT:
                try:
                    got.append(like((places, names), as_it_is))
                except Exception:  # an argument of which there is no copy
                    got.append(None)
            return function(*places, **names)

        return call

    found = list(inner())
    for module, key, value in found:
        setattr(module, key, keeping(f"{module.__name__}.{key}", value))
    try:
        yield
    finally:
        for module, key, value in found:
            setattr(module, key, value)


def make(driver):
    """Make a call of the contract, or compute a small point."""
    if driver in CALLS:
        function, call = CALLS[driver]
        try:
            function(**copied(call))
        except ValueError:
            pass
    else:
        name, change = next(case for case in points.CASES if points.title(case) == driver)
        points.values(name, points.point(name, change))


def forget():
    """Empty every cache, so that no function is left out because its results are known.

    Classes of points stay: other tests hold points, which are equal to those of the same class alone.
    """
    for _, module in modules():
        for value in vars(module).values():
            while value is not None and callable(value) and not isinstance(value, type):
                if isinstance(value, functools._lru_cache_wrapper) and value is not point_of:
                    value.cache_clear()
                value = getattr(value, "__wrapped__", None)


def arguments(drivers, side=0):
    """The first arguments of every inner function; and the seconds of each driver, and how many it gave."""
    forget()
    calls, costs = {}, {}
    with kept(calls), warnings.catch_warnings(action="ignore"), moved.draws(side) if side else nullcontext():
        for driver in drivers:
            begun, before = time.process_time(), sum(map(len, calls.values()))
            make(driver)
            costs[driver] = time.process_time() - begun, sum(map(len, calls.values())) - before
    return calls, costs


def ways(calls, by=0.3):
    """Every call with its name, its function and how its arguments are changed."""
    functions = {f"{module.__name__}.{key}": value for module, key, value in inner()}
    for title, got in calls.items():
        for count, one in enumerate(got):
            for way, change in (("given", as_it_is), ("near", tilted(count + 1, by))):
                if one is not None:
                    yield f"{title} {count} {way}", functions[title], one, change


def other(found, stored):
    """Whether a call gives something else than it gave: beyond what the processor's rounding does."""
    if isinstance(found, str) or isinstance(stored, str) or found[0] != stored[0]:
        return found != stored
    return not np.allclose(found[1:], stored[1:], rtol=0, atol=BOUND * stored[1])


def test_inner_values_are_those_that_are_stored():
    stored = json.loads(STORED.read_text())
    calls, _ = arguments(stored["drivers"])
    found = {
        name: given(function, one, change) for name, function, one, change in ways(calls) if name in stored["values"]
    }
    missing = stored["values"].keys() - found.keys()
    assert not missing, f"{sorted(missing)} are not called any more; {MEND}"
    odd = {name: (found[name], was) for name, was in stored["values"].items() if other(found[name], was)}
    assert not odd, f"{odd}; {MEND}"


def steady(name, function, one, change, aside):
    """What a call gives, if it is quick and the same from arguments that rounding moved; else nothing."""
    begun = time.process_time()
    found = given(function, one, change)
    if time.process_time() - begun > LONG or name not in aside:
        return None
    near = tilted(7, 1e-9)
    sides = [given(function, one, lambda value: near(change(value))), *aside[name]]
    return None if any(other(side, found) for side in sides) else found


def main():
    """Store what is given today, and name what is other."""
    before = json.loads(STORED.read_text()) if STORED.exists() else {"drivers": [], "values": {}}
    drivers = [name for name in CALLS if len(name.split()) == 2] + [points.title(case) for case in points.CASES]
    _, costs = arguments(drivers)
    drivers = [name for name, (seconds, gave) in costs.items() if seconds < LONGEST]
    _, costs = arguments(drivers)
    drivers = [name for name in drivers if costs[name][1]]
    again, *sides = [
        {name: given(function, one, change) for name, function, one, change in ways(arguments(drivers, side)[0])}
        for side in (0, -1, 1)
    ]
    aside = {name: [side[name] for side in sides] for name in sides[0].keys() & sides[1].keys()}
    found = {call[0]: steady(*call, aside) for call in ways(arguments(drivers)[0])}
    values = {name: value for name, value in found.items() if value is not None and value == again.get(name)}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items())
    STORED.write_text(f'{{"drivers": {json.dumps(drivers)}, "values": {{\n{lines}\n}}}}\n')
    print("\n".join(name for name in values if values[name] != before["values"].get(name)))


if __name__ == "__main__":
    main()
