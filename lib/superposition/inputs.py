"""Types for what a user may set, and the sentence that says what is allowed, made from the type itself."""

import typing
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationInfo
from pydantic.fields import FieldInfo

from superposition.checks import LARGEST_SEED, MOST_FEATURES, MOST_STEPS, plainly_written, shown


def _refuse_others(value):
    """Refuse truth values, and texts that Python takes for numbers although they are written in another way."""
    if isinstance(value, bool):
        raise ValueError("true and false are not numbers")
    if isinstance(value, str) and not plainly_written(value):
        raise ValueError("numbers are written with the digits 0 to 9, without separators")
    return value


def _whole(value):
    """A text such as 1e4, which YAML leaves as a text, as the whole number that it denotes."""
    if isinstance(_refuse_others(value), str):
        try:
            number = float(value)
        except ValueError:
            return value
        return int(number) if number.is_integer() and abs(number) < EXACT else value
    return value


EXACT = 2.0**53  # below, a double holds every whole number
Count = Annotated[int, BeforeValidator(_whole)]
Real = Annotated[float, BeforeValidator(_refuse_others), Field(allow_inf_nan=False)]

Features = Annotated[Count, Field(ge=2, le=MOST_FEATURES)]
Steps = Annotated[Count, Field(ge=1, le=MOST_STEPS)]
Seed = Annotated[Count, Field(ge=0, le=LARGEST_SEED)]
Ratio = Annotated[Real, Field(gt=0, le=1)]


@dataclass(frozen=True)
class UpTo:
    """An upper end that another field sets, ``factor`` times its value; for `pydantic.AfterValidator`.

    ``words`` name it in refusals: "n / 11".
    """

    words: str
    other: str
    factor: Fraction = Fraction(1)

    def __call__(self, value: float, info: ValidationInfo) -> float:
        """Return ``value``, or refuse it; nothing is compared with a field that was refused itself."""
        if self.other in info.data and value > self.factor * info.data[self.other]:
            given = info.data[self.other]
            raise ValueError(f"{self.words} is {float(self.factor * given):.4g} at {self.other} = {given:g}")
        return value


@dataclass(frozen=True)
class From:
    """A lower end that another field sets, ``factor`` times its value; for `pydantic.AfterValidator`."""

    words: str
    other: str
    factor: int = 1

    def __call__(self, value: float, info: ValidationInfo) -> float:
        """Return ``value``, or refuse it; nothing is compared with a field that was refused itself."""
        if self.other in info.data and value < self.factor * info.data[self.other]:
            given = info.data[self.other]
            raise ValueError(f"{self.words} is {shown(self.factor * given)} at {self.other} = {shown(given)}")
        return value


@dataclass(frozen=True)
class Even:
    """Even numbers only; for `pydantic.AfterValidator`. ``because`` says in refusals why."""

    because: str

    def __call__(self, value: int) -> int:
        """Return ``value``, or refuse it."""
        if value % 2:
            raise ValueError(self.because)
        return value


def allowed(field: FieldInfo) -> str:
    """The values that a field takes, in words made from its constraints.

    Parameters
    ----------
    field : pydantic.fields.FieldInfo
        A field of a model. Its description, where it has one, is used as it stands.

    Examples
    --------
    >>> from pydantic import BaseModel
    >>> class Point(BaseModel):
    ...     r: Ratio
    ...     seeds: Annotated[tuple[Seed, ...], Field(min_length=1)]
    >>> allowed(Point.model_fields["r"])
    'numbers above 0 and up to 1'
    >>> allowed(Point.model_fields["seeds"])
    'at least one whole number from 0 to 4294967295, separated by commas'
    """
    if field.description:
        return field.description
    parts = typing.get_args(field.annotation)
    if not parts:
        return _range(field.annotation, field.metadata, "s")
    kind, *rest = typing.get_args(parts[0])
    constraints = [one for entry in rest for one in getattr(entry, "metadata", [entry])]
    return f"at least one {_range(kind, constraints, '')}, separated by commas"


def _range(kind, constraints, plural):
    ends = {}
    noun = "whole number" if kind is int else "number"
    for one in constraints:
        ends |= {name: f"{getattr(one, name):.10g}" for name in ("ge", "gt", "le", "lt") if hasattr(one, name)}
        validator = getattr(one, "func", None)
        if isinstance(validator, UpTo):
            ends["le"] = validator.words
        if isinstance(validator, From):
            ends["ge"] = validator.words
        if isinstance(validator, Even):
            noun = "even number"
    return noun + plural + _ends(**ends)


def _ends(ge=None, gt=None, le=None, lt=None):
    low = f" from {ge}" if ge else f" above {gt}" if gt else ""
    to = " to" if ge else " and up to" if gt else " up to"
    below = " up to below" if ge else " and below" if gt else " below"
    return low + (f"{to} {le}" if le else f"{below} {lt}" if lt else "")
