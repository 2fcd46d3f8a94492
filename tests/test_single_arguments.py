"""Values of every public function with one of its arguments at a time changed: each argument counts, by so much.

The calls are those of the contract, and some more where these give 0 or the same for many arguments. A number gets a
factor, a whole one is one larger, a switch is turned, a word is each of the others, each entry of an array gets a
factor; what a function takes where nothing is given is changed too. Values are a snapshot, as in ``test_call_values``.
After a change that was meant: ``python tests/test_single_arguments.py`` stores anew, and names what is other, and
which arguments change nothing there.
"""

import inspect
import json
import re
import time
import warnings
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from contents import contents
from contract import title
from further_calls import CALLS as FURTHER

pytest.importorskip("torch")
from test_call_values import LEFT_OUT, SEED, copied, look, other, tilted  # noqa: E402
from test_contract import CALLS as GROUND  # noqa: E402

STORED = Path(__file__).with_name("single_arguments.json")
MEND = "run `python tests/test_single_arguments.py` if that was meant"
FACTOR = 0.93
QUICK, LONGEST = 0.008, 0.3  # seconds of a call that `make test` makes, and of one that is made at all
APART = {"device", "progress", "workers", "path", "name"}  # arguments that are no numbers of a computation


def words(function):
    """The words that each argument may be."""
    checked = inspect.unwrap(function, stop=lambda one: hasattr(one, "unchecked") and not hasattr(one, "placed"))
    held = inspect.getclosurevars(checked).nonlocals if inspect.isfunction(checked) else {}
    ranges = held["prepared"].args[1] if "prepared" in held else {}
    said = {name: getattr(one, "__doc__", None) or "" for name, one in ranges.items()}
    return {name: re.findall(r"'([^']*)'", text) for name, text in said.items() if text.startswith("One of '")}


def changed(value, choices):
    """Other values of one argument."""
    if isinstance(value, str):
        return [word for word in choices if word != value]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1]
    if isinstance(value, float):
        return [FACTOR * value if value else 0.1]
    moved = tilted(value)
    return [] if moved is value else [moved]


@cache
def calls():
    """Every call by its name, with its function."""
    found, count = {}, Counter()
    for function, call in [*GROUND, *FURTHER]:
        name = title(function)
        count[name] += 1
        if name in LEFT_OUT:
            continue
        if count[name] > len([one for one, _ in GROUND if title(one) == name]):
            found[f"{name} {count[name]}"] = function, call, None, None
        choices, call = words(function), call | ({"seed": SEED} if call.get("seed") == 0 else {})
        defaults = {one.name: one.default for one in inspect.signature(function).parameters.values()}
        for key, value in {**defaults, **call}.items():
            if key not in APART and value is not inspect.Parameter.empty:
                for one in changed(value, choices.get(key, ())):
                    which = f" {one}" if isinstance(one, str) else ""
                    found[f"{name} {count[name]} {key}{which}"] = function, call, key, one
    return found


def changed_call(call, key, value):
    """A call with one argument changed, or as it is."""
    return call if key is None else call | {key: value}


def looks(function, call):
    """Each array that a call gives; or what it refuses."""
    try:
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            return [look(array) for array in contents(function(**copied(call)))]
    except (ValueError, FloatingPointError, RuntimeError) as refusal:
        return str(refusal)


@cache
def stored():
    return json.loads(STORED.read_text())


def cases():
    """Every stored call, those that take longer for `make test-more`."""
    known = stored() if STORED.exists() else {}
    slow = set(known.get("slow", ()))
    return [pytest.param(name, marks=[pytest.mark.thorough] * (name in slow)) for name in known.get("values", ())]


@pytest.mark.parametrize("name", cases())
def test_one_argument_changes_a_value_by_as_much_as_is_stored(name):
    function, call, key, value = calls()[name]
    was, found = stored()["values"][name], looks(function, changed_call(call, key, value))
    assert not other(found, was), f"{found} was {was}; {MEND}"


def main():
    """Store what calls give, and name those that gave something else, and those that change nothing."""
    before = stored() if STORED.exists() else {"values": {}, "slow": []}
    values, slow, base, idle = {}, [], {}, []
    for name, (function, call, key, value) in calls().items():
        begun = time.process_time()
        number = " ".join(name.split()[:2])
        if number not in base:
            base[number] = looks(function, call), time.process_time() - begun
        if base[number][1] > LONGEST:
            continue
        begun = time.process_time()
        found = looks(function, changed_call(call, key, value))
        seconds = time.process_time() - begun
        if found != looks(function, changed_call(call, key, value)):
            continue  # it has no order, or depends on a clock
        if seconds > QUICK:
            slow.append(name)
        known = before["values"].get(name)
        values[name] = known if known is not None and not other(found, known) else found
        if key and not isinstance(found, str) and not other(found, base[number][0]):
            idle.append(name)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items())
    STORED.write_text(f'{{"slow": {json.dumps(slow)}, "values": {{\n{lines}\n}}}}\n')
    print("\n".join(name for name in values if values[name] != before["values"].get(name)))
    print("change nothing:", *idle, sep="\n")


if __name__ == "__main__":
    main()
