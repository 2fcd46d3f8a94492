"""The ranges that are said: of every argument of a face, every field of a named run, every parameter of a chapter.

They are what was stored, and so are all limits that the call of a contract meets, those of several arguments together
too. Whether they are right, the other tests say; this one says that no limit has moved unasked.
After a change that was meant: ``python tests/test_ranges.py`` stores anew, and names what is other.
"""

import inspect
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from contract import title

pytest.importorskip("pydantic")
from superposition import checks, ranges, runs
from superposition.book import parameters
from test_contract import CALLS

STORED = Path(__file__).with_name("ranges.json")
MEND = "run `python tests/test_ranges.py` if that was meant, or if a run or a function is new"


def refusals():
    """What each function says of an argument that is no number."""
    count = Counter()
    for function, call in CALLS:
        count[title(function)] += 1
        for name, value in call.items():
            if isinstance(value, (int, float, np.ndarray)) and not isinstance(value, bool):
                try:
                    function(**call | {name: np.nan})
                except ValueError as refusal:
                    yield f"{title(function)} {count[title(function)]} {name}", str(refusal)


def limits():
    """Every limit that the arguments of a call meet before it computes, by the name that a refusal would give."""
    count, met = Counter(), set()

    def noted(check):
        def noting(name, value, *ends, **how):
            met.add(" ".join([name, *(f"{end:.6g}" for end in ends if end is not None), *filter(how.get, how)]))
            return check(name, value, *ends, **how)

        return noting

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "real", noted(checks.real))
        patch.setattr(checks, "whole", noted(checks.whole))
        for function, call in CALLS:
            count[title(function)] += 1
            checked = inspect.unwrap(function, stop=lambda one: not hasattr(one, "placed"))
            held = inspect.getclosurevars(checked).nonlocals if inspect.isfunction(checked) else {}
            if "prepared" in held:  # all that is checked, and nothing is computed
                met.clear()
                held["prepared"]((), call)
            elif hasattr(function, "__post_init__"):
                met.clear()
                function(**call)
            if "prepared" in held or hasattr(function, "__post_init__"):
                yield f"{title(function)} {count[title(function)]} limits", ", ".join(sorted(met))


def fields():
    """What each field of a run's points and each parameter of a chapter takes, with its default."""
    models = {name: run.point for name, run in runs.RUNS.items()}
    models |= {name: model for name, model in vars(parameters).items() if hasattr(model, "model_fields")}
    for name, model in models.items():
        for field, taken in model.model_json_schema().get("properties", {}).items():
            yield f"{name} {field}", taken


def today():
    return {**dict(refusals()), **dict(limits()), **dict(fields())}


def test_ranges_are_those_that_are_stored():
    assert today() == json.loads(STORED.read_text()), MEND


def test_a_range_that_is_made_says_its_ends():
    made = {
        ranges.whole(2): "Whole number from 2.",
        ranges.whole(2, 5): "Whole number from 2 to 5.",
        ranges.wholes(2): "Whole numbers from 2.",
        ranges.wholes(2, 5): "Whole numbers from 2 to 5.",
        ranges.real(): "Real numbers, one or an array, in [-1e+30, 1e+30].",
        ranges.real(0, 1, open_low=True): "Real numbers, one or an array, in (0, 1].",
        ranges.number(): "A real number in [-1e+30, 1e+30].",
        ranges.number(0, 1, open_high=True): "A real number in [0, 1).",
        ranges.array("n m"): "Finite numbers of shape (n, m).",
        ranges.one_of("a", 2): "One of 'a', 2.",
        ranges.instance(int, str): "int or str.",
    }
    assert [inspect.getdoc(taken) for taken in made] == list(made.values())


def main():
    """Store the ranges of today, and name those that were other."""
    before, found = json.loads(STORED.read_text()) if STORED.exists() else {}, today()
    lines = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in found]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print("\n".join(name for name in found if found[name] != before.get(name)))


if __name__ == "__main__":
    main()
