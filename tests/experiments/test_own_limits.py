"""What a run's function takes when it is called itself, its points take too: an end that is open there is open here."""

import ast
import inspect
import textwrap
from importlib import import_module

import pytest
from pydantic import TypeAdapter, ValidationError
from superposition import checks, runs

pytest.importorskip("torch")
CHECKS = {"checks.number": checks.number, "checks.whole": checks.whole}
WIDER = {("toy:trained_on", "n", 1)}  # one feature can be trained, which no point asks for


def own_checks(function):
    """Each check of an argument under its own name in a function's body: the name, the check, its limits, open ends."""
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in CHECKS:
            named, value, *limits = node.args
            said = [ast.unparse(limit) for limit in limits]
            known = all(one.isdigit() or one in function.__globals__ for one in said)
            if known and ast.unparse(named) == repr(ast.unparse(value)):
                ends = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
                yield (
                    ast.unparse(value),
                    ast.unparse(node.func),
                    [eval(one, function.__globals__) for one in said],
                    ends,
                )


def cases():
    """Each limit of such a check in the functions of the runs."""
    for where in sorted({run.function for run in runs.RUNS.values()}):
        module, function = where.split(":")
        called = getattr(import_module(module), function)
        for name, check, limits, ends in own_checks(called):
            kind = eval(called.__annotations__[name], called.__globals__)
            for limit in limits:
                yield where.removeprefix("superposition.experiments."), name, limit, check, limits, ends, kind


def takes(call, *arguments, **names):
    """Whether a call refuses nothing."""
    try:
        call(*arguments, **names)
    except (ValueError, ValidationError):
        return False
    return True


def test_a_limit_that_points_refuse_is_refused_by_the_function():
    found = list(cases())
    assert len(found) > 40
    wider = set()
    for where, name, limit, check, limits, ends, kind in found:
        if takes(CHECKS[check], name, limit, *limits, **ends) and not takes(TypeAdapter(kind).validate_python, limit):
            wider.add((where, name, limit))
    assert wider == WIDER
