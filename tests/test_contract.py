"""Odd input to every public function of the wings, each argument in turn."""

import importlib.util
from pathlib import Path

import contract
import pytest

HERE = Path(__file__).parent


def calls(path):
    """The valid calls that a wing's tests list; by path, as several wings have a file of that name."""
    spec = importlib.util.spec_from_file_location(f"{path.stem}_of_{path.parent.name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CALLS


CASES = [case for path in sorted(HERE.glob("*/*calls.py")) for case in contract.cases(calls(path))]


@pytest.mark.parametrize("kind", contract.KINDS)
@pytest.mark.parametrize("function", sorted({case[0] for case in CASES}, key=lambda f: (f.__module__, f.__name__)))
def test_odd_input_is_refused_by_name_or_gives_the_result(function, kind):
    found = {case[2]: contract.broken(*case) for case in CASES if case[0] is function and case[3] == kind}
    assert not {name: sentence for name, sentence in found.items() if sentence}


def test_every_function_of_a_face_is_listed():
    import superposition.rug

    face = {getattr(superposition.rug, name) for name in superposition.rug.__all__}
    results = {type(None)} | {thing for thing in face if isinstance(thing, type) and thing.__name__ != "Rug"}
    assert face - results <= {case[0] for case in CASES}


def test_the_machinery_sees_what_is_wrong():
    def careless(x):
        return x * 2.0 if isinstance(x, float) else float("nan") if x is None else "?"

    assert contract.broken(careless, {"x": 1.0}, "x", "None") == "is accepted"
    assert contract.broken(careless, {"x": 1.0}, "x", "NaN") == "is accepted"
    assert contract.broken(lambda x: x + None, {"x": 1.0}, "x", "huge").startswith("TypeError")
    assert contract.broken(lambda x: 0 * x, {"x": 1.0}, "x", "infinity") == "the result holds NaN"
    assert contract.broken(lambda x: x - 1.0 / x, {"x": 3.0}, "x", "negative") is None
