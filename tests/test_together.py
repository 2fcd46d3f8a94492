"""Many cases in one test: all are tried, and each that fails is named."""

import inspect

import pytest
from together import together


def test_all_cases_are_tried_and_each_that_fails_is_named():
    tried = []

    @together("number", [1, 2, pytest.param(3, id="three"), pytest.param(4, marks=pytest.mark.thorough)])
    def case(number, fixture):
        tried.append((number, fixture))
        with pytest.raises(ValueError):
            int("one" if number == 2 else number)

    (mark,) = case.pytestmark
    _, (plain, thorough) = mark.args
    assert [plain.id, thorough.id, thorough.marks[0].name] == ["all", "thorough", "thorough"]
    assert list(inspect.signature(case).parameters) == ["cases", "fixture"]
    with pytest.raises(BaseExceptionGroup, match="2 of 3 cases") as found:
        case(plain.values[0], fixture=5)
    assert tried == [(1, 5), (2, 5), (3, 5)]
    assert [one.__notes__ for one in found.value.exceptions] == [["in the case 1"], ["in the case three"]]


def test_a_case_of_several_values_has_all_of_them():
    @together("a, b", [(1, 2), (2, 1)], ids=["up", "down"])
    def case(a, b):
        assert a < b

    ((_, (part,)),) = (mark.args for mark in case.pytestmark)
    with pytest.raises(ExceptionGroup, match="1 of 2 cases") as found:
        case(part.values[0])
    assert found.value.exceptions[0].__notes__ == ["in the case down"]
