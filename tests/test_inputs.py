"""Ranges stand once: the sentence of a refusal follows from the constraint."""

from fractions import Fraction
from typing import Annotated

import pytest
from pydantic import AfterValidator, BaseModel, Field, ValidationError
from superposition import inputs
from superposition.inputs import Count, Even, From, Real, UpTo


class Point(BaseModel):
    closed: Annotated[Count, Field(ge=2, le=16384)] = 2
    half: Annotated[Real, Field(gt=0, le=0.25)] = 0.1
    inside: Annotated[Real, Field(gt=0, lt=1)] = 0.1
    below: Annotated[Real, Field(ge=0, lt=1)] = 0.1
    low: Annotated[Real, Field(ge=1e-12)] = 0.1
    even: Annotated[Count, Field(ge=2, le=8), AfterValidator(Even("pairs are needed"))] = 2
    tied: Annotated[Real, Field(ge=0), AfterValidator(UpTo("even / 3", "even", Fraction(1, 3)))] = 0.1
    double: Annotated[Count, Field(ge=4), AfterValidator(From("2 closed", "closed", 2))] = 4
    several: Annotated[tuple[inputs.Ratio, ...], Field(min_length=1)] = (0.5,)
    said: Annotated[str, Field(description="a or b")] = "a"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("closed", "whole numbers from 2 to 16384"),
        ("half", "numbers above 0 and up to 0.25"),
        ("inside", "numbers above 0 and below 1"),
        ("below", "numbers from 0 up to below 1"),
        ("low", "numbers from 1e-12"),
        ("even", "even numbers from 2 to 8"),
        ("tied", "numbers from 0 to even / 3"),
        ("double", "whole numbers from 2 closed"),
        ("several", "at least one number above 0 and up to 1, separated by commas"),
        ("said", "a or b"),
    ],
)
def test_the_sentence_is_made_from_the_constraint(name, sentence):
    assert inputs.allowed(Point.model_fields[name]) == sentence


@pytest.mark.parametrize("values", [{"closed": True}, {"half": True}, {"half": float("nan")}, {"even": 3},
                                    {"tied": 0.7}, {"even": 4, "tied": 1.34}, {"closed": 5, "double": 9}])  # fmt: skip
def test_what_is_refused(values):
    with pytest.raises(ValidationError):
        Point(**values)


def test_an_end_set_by_another_field_is_itself_allowed():
    assert Point(even=6, tied=2).tied == 2 and Point(even=4, tied=4 / 3).tied == 4 / 3
    assert Point(closed=5, double=10).double == 10


def test_a_field_whose_other_end_was_refused_is_not_blamed():
    with pytest.raises(ValidationError) as caught:
        Point(even=3, tied=0.9)
    assert [error["loc"] for error in caught.value.errors()] == [("even",)]


def test_two_features_are_enough():
    class Sizes(BaseModel):
        n: inputs.Features = 2

    assert Sizes(n=2).n == 2
    with pytest.raises(ValidationError):
        Sizes(n=1)
