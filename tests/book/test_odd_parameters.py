"""Every parameter of every chapter: what no chapter can run with is refused in one sentence, and its ends are true."""

import re

import numpy as np
import pytest
from superposition import inputs
from superposition.book import parameters
from together import together

MODELS = parameters.Chapter.__subclasses__()
FIELDS = [
    pytest.param(model, name, id=f"{model.__name__}.{name}")
    for model in MODELS
    for name in model.model_fields
    if name != "quick"  # true or false: `test_parameters` has it
]
ODD = (
    None, True, [True], [None], {}, {"r": 0.1}, (), [], [[0.1, 0.2]], np.array([0.1, 0.2]), np.array([0.5]), 0.1j,
    object, float("nan"), float("inf"), -float("inf"), -1, [-1], 1e308, 10**400, "", " ", "a text", "1e999", "x" * 5000,
    [2.0] * 5000, "9" * 5000, range(2),
)  # fmt: skip


def check(model, **values):
    return parameters.check(model().model_dump() | values, model)


@together(("model", "name"), FIELDS)
def test_what_no_chapter_can_mean_is_refused_by_name_value_and_what_is_allowed(model, name):
    for odd in ODD:
        with pytest.raises(parameters.ParameterError) as refusal:
            check(model, **{name: odd})
        said, shown = str(refusal.value), re.escape(" ".join(repr(odd).split())[:55])
        assert re.match(rf"{name} = {shown}.*; allowed: .*\w", said) and len(said) < 250 and "\n" not in said


def ends(field):
    """The ends of what a sentence allows, and whether they are allowed themselves; words for another field are none."""
    said = inputs.allowed(field)
    low = re.search(r"(from|above) ([\d.e+-]+)", said)
    high = re.search(r"(to|below) ([\d.e+-]+)(,|$)", said)
    yield -1, float(low[2]), low[1] == "from"
    if high:
        yield 1, float(high[2]), high[1] == "to"


@together(("model", "name"), [case for case in FIELDS if case.values[1] != "device"])
def test_the_ends_that_a_refusal_names_are_the_ends(model, name):
    field = model.model_fields[name]
    whole = "whole" in inputs.allowed(field) or "even" in inputs.allowed(field)
    for side, end, closed in ends(field):
        beyond = end + side if whole else np.nextafter(end, side * np.inf)
        with pytest.raises(parameters.ParameterError, match=rf"^{name} = .* is not allowed; allowed: "):
            check(model, **{name: beyond if closed else end})
        inside = end if closed else float(np.nextafter(end, -side * np.inf))
        try:
            assert np.ravel(getattr(check(model, **{name: inside}), name)) == inside
        except parameters.ParameterError as other:  # an end that it sets for another, such as m up to n
            assert not str(other).startswith(f"{name} = ") and name in str(other).split("; allowed: ")[1]
