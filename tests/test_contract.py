"""The contract on input: every name on a face, and every point of a named run, with odd values and in other clothes."""

import ast
import importlib
import inspect
from pathlib import Path

import defprint
import pytest
import superposition
from contract import DEAR, ODD, breaches, title
from contract_calls import CALLS as GROUND
from sampled import sampled

WINGS = {wing: importlib.import_module(f"{wing}.contract_calls") for wing in superposition.WINGS}
CALLS = [*GROUND, *(call for wing in WINGS.values() for call in wing.CALLS)]
# Where a docstring promises nan
NAN = {name: odd for wing in WINGS.values() for name, odd in getattr(wing, "NAN", {}).items()}


def of_call(function, call):
    """A case of a function, left to `make test-more` where it is dear; `test_ranges` has what it says of no number."""
    marks = [pytest.mark.thorough] if title(function) in DEAR else []
    return pytest.param(function, call, id=title(function), marks=marks)


@pytest.mark.parametrize("wing", WINGS)
def test_every_function_on_a_face_has_a_call(wing):
    face = importlib.import_module(f"superposition.{wing}")
    functions = {name for name in face.__all__ if inspect.isfunction(getattr(face, name))}
    functions -= {name for name in functions if getattr(face, name).__name__ == "<lambda>"}  # a constant
    takes = {name for name in functions if inspect.signature(getattr(face, name)).parameters}
    assert takes - {inspect.unwrap(function).__name__ for function, _ in WINGS[wing].CALLS} == set()


@pytest.mark.parametrize("drawn", sampled([True, False]), ids=["drawn", "others"])
@pytest.mark.parametrize(("function", "call"), [of_call(*one) for one in CALLS])
def test_odd_input_is_refused_or_gives_the_float64_result(function, call, drawn):
    name = title(function).split(".")[-1]
    assert list(breaches(function, call, drawn=drawn, nan_at=NAN.get(name, ()))) == []


def runs():
    return pytest.importorskip("superposition.runs", reason="needs the named runs").RUNS.values()


def test_odd_fields_of_points_are_refused_by_name():
    """What is neither refused nor taken as it stands: nothing."""
    for run in runs():
        good = {name: values[0] for name, values in run.small[0].items()}
        for name, (what, odd) in ((name, pair) for name in good for pair in ODD.items()):
            try:
                point = run.point(**{**good, name: odd})
            except ValueError as refusal:
                assert name in str(refusal), f"{run.name}: {name} = {what}"
            else:
                taken = getattr(point, name)
                assert taken == odd or f"{taken}" == f"{odd}", f"{run.name}: {name} = {what}"


def test_unknown_fields_of_points_are_refused():
    for run in runs():
        good = {name: values[0] for name, values in run.small[0].items()}
        with pytest.raises(ValueError, match="nonsense"):
            run.point(**good, nonsense=1)


def test_what_the_library_gives_cannot_be_changed():
    """Only the report of a replay grows, point by point."""
    loose = set()
    for path in (path for package in (superposition, defprint) for path in Path(package.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            marks = [ast.unparse(mark) for mark in getattr(node, "decorator_list", [])]
            if any(mark.startswith("dataclass") and "frozen=True" not in mark for mark in marks):
                loose.add(f"{path.stem}.{node.name}")
    assert loose == {"certify.Report"}
