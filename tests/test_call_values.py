"""Values of every public function at the calls of the contract: a snapshot, which detects change and not correctness.

No default, no factor and no setting changes unasked. After a change that was meant,
``python tests/test_call_values.py`` stores the values anew and names the calls that differ.
"""

import importlib
import json
import warnings
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import superposition
from contract import DEAR, numbers, title
from contract_calls import CALLS as GROUND
from superposition.runs.agreement import BOUND
from together import together

pytest.importorskip("torch")
STORED = Path(__file__).with_name("call_values.json")
MEND = "run `python tests/test_call_values.py` if that was meant"
SEED = 3  # a default is 0
LEFT_OUT = ("correlated.rug_loss", "weights.unpacked")  # one takes seconds, what the other gives has no order
LOOKS = 3  # numbers by which an array is known, beside its length
# Shares and probabilities of a call nearer to 0 and to 1: other branches, other ends of grids
SIDES = {"low": lambda share: 0.6 * share, "high": lambda share: 1 - 0.6 * (1 - share)}
# Whole numbers one larger, the way that was not taken, and arrays of numbers that are not alike
OTHER = {
    "more": lambda value: value + 1 if isinstance(value, int) and not isinstance(value, bool) else value,
    "unlike": lambda value: not value if isinstance(value, bool) else tilted(value),
}


def tilted(value):
    """An array of which each number has a factor of its own; all else as it is."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    return value * np.linspace(0.8, 1.1, value.size).reshape(value.shape)


def calls():
    """Every call of the contract by a name of its own, with a seed that is no default."""
    wings = [importlib.import_module(f"{wing}.contract_calls") for wing in superposition.WINGS]
    found, count = {}, Counter()
    for function, call in [*GROUND, *(one for wing in wings for one in wing.CALLS)]:
        name = title(function)
        count[name] += 1
        if name not in LEFT_OUT:
            found[f"{name} {count[name]}"] = function, call | ({"seed": SEED} if call.get("seed") == 0 else {})
            shares = {key: value for key, value in call.items() if isinstance(value, float) and 0 < value < 1}
            for side in SIDES if shares else ():
                moved = {key: SIDES[side](value) for key, value in shares.items()}
                found[f"{name} {count[name]} {side}"] = function, call | moved
            for way, change in OTHER.items():
                moved = {key: change(value) for key, value in call.items() if key != "seed"}
                if any(moved[key] is not call[key] for key in moved):
                    found[f"{name} {count[name]} {way}"] = function, call | moved
    return found


CALLS = calls()


def looks(name):
    """Each array that a call gives: its shape, its length, its shadows on drawn directions; or what it refuses."""
    function, call = CALLS[name]
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # of a penalty under which all weights die
            return [look(as_numbers(found)) for found in numbers(function(**copied(call)))]
    except ValueError as refusal:
        return str(refusal)


@cache
def stored():
    return json.loads(STORED.read_text())


def copied(call):
    """The arguments, each a copy where it can be changed."""
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in call.items()}


def as_numbers(array):
    """Complex numbers by their parts, words by their letters."""
    array = np.asarray(array)
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag])
    return np.array([sum(map(ord, word)) for word in array.flat] if array.dtype.kind == "U" else array, float)


def look(array):
    """The look of one array; what is not finite counts as a number that no result has."""
    known = np.nan_to_num(array, nan=-7e7, posinf=8e7, neginf=-9e7).ravel()
    directions = np.random.default_rng(1).standard_normal((LOOKS, known.size))
    return [list(array.shape), float(np.linalg.norm(known)), *(directions @ known).tolist()]


def marks(name):
    function, _, *way = name.split()
    return pytest.mark.thorough if way or function in DEAR else ()


def other(found, stored):
    """Whether a call gives something else than it gave: beyond what the processor's rounding does."""
    if isinstance(found, str) or isinstance(stored, str) or len(found) != len(stored):
        return found != stored
    return any(
        shape != was or not np.allclose(now, before, rtol=0, atol=BOUND * before[0])
        for (shape, *now), (was, *before) in zip(found, stored, strict=True)
    )


@together("name", [pytest.param(name, marks=marks(name)) for name in CALLS])
def test_values_are_those_that_are_stored(name):
    was, found = stored()[name], looks(name)
    assert not other(found, was), f"{found} was {was}; {MEND}"


def test_every_call_has_its_values():
    assert CALLS.keys() == json.loads(STORED.read_text()).keys(), MEND


def main():
    """Store what calls give today that gave something else before, and name them."""
    before = json.loads(STORED.read_text()) if STORED.exists() else {}
    found = {name: looks(name) for name in CALLS}
    changed = [name for name in found if name not in before or other(found[name], before[name])]
    kept = {name: (found if name in changed else before)[name] for name in found}
    lines = [f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in kept]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print("\n".join(changed))


if __name__ == "__main__":
    main()
