"""Many small cases in one test: a test of its own for each, side by side, takes longer than the case."""

import functools
import inspect

import pytest


def together(names, cases, ids=None):
    """As `pytest.mark.parametrize`, but one test tries all cases, goes on after a failure, and names each that failed.

    Cases with a mark are in a test of their own, which has the mark. A fixture is made once for all cases.
    """
    names = names.replace(" ", "").split(",") if isinstance(names, str) else names
    parts = {}
    for number, case in enumerate(cases):
        one = case if isinstance(case, type(pytest.param())) else pytest.param(*(case if len(names) > 1 else [case]))
        said = ids(*one.values) if callable(ids) else ids[number] if ids else ", ".join(map(repr, one.values))[:120]
        marks = tuple(mark.name for mark in one.marks)
        parts.setdefault(marks, []).append((one.id or said, dict(zip(names, one.values, strict=True))))
    tests = [
        pytest.param(kept, id=" ".join(marks) or "all", marks=[getattr(pytest.mark, mark) for mark in marks])
        for marks, kept in parts.items()
    ]

    def of(test):
        @functools.wraps(test)
        def all_of(cases, **fixtures):
            failures = [failure for said, values in cases if (failure := failed(test, said, {**values, **fixtures}))]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(cases)} cases", failures)

        fixtures = [one for name, one in inspect.signature(test).parameters.items() if name not in names]
        cases = inspect.Parameter("cases", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        all_of.__signature__ = inspect.Signature([cases, *fixtures])
        return pytest.mark.parametrize("cases", tests)(all_of)

    return of


def failed(test, said, values):
    """The failure of one case, with its name; None if there is none."""
    try:
        test(**values)
    except (Exception, pytest.fail.Exception) as failure:
        failure.add_note(f"in the case {said}")
        return failure
    return None
