"""A named run: a function, the configurations it takes, two grids of them, and the meanings of its columns."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, create_model

Columns = dict[str, np.ndarray]  # of a table, by name, one entry a row


class Meaning(NamedTuple):
    """The ``unit`` or range of a column, and its ``meaning`` in one sentence."""

    unit: str
    meaning: str


class Point(BaseModel):
    """A configuration: no unknown names, no changes afterwards, numbers within their ranges; a `Meaning` each."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def __str__(self) -> str:
        """Name the fields and their values, as in "ns=128, p=0.05"."""
        return ", ".join(f"{name}={value}" for name, value in self)


BESIDE = ("device", "progress")  # what functions of runs take that is no part of a point


@dataclass(frozen=True)
class Run:
    """A named run.

    ``feeds`` says which figure or claim it is for; ``computes`` is a function at the top of its module, which takes
    the fields of a point, and ``device`` if it can use one, as keywords and returns a dict of numbers and texts.
    The annotations of its parameters are the fields of the point: a type with its range and its `Meaning`. Where a
    field depends on others in a way that no annotation can state, ``checked_point`` is a class for them. ``small``
    and ``full`` are grids: tuples of blocks, each a dict from field to values, of which the product is taken.
    ``hours`` has the expected hours of both. ``columns`` says what each column means that is no field of the point.
    ``predicted`` are functions of the columns that give further ones: they are called when a table is read, so that
    sharper theory makes no measurement stale.
    """

    name: str
    feeds: str
    computes: Callable[..., dict]
    small: tuple[dict, ...]
    full: tuple[dict, ...]
    hours: dict[str, float]
    hardware: str = "one CPU core"
    checked_point: type[Point] | None = None
    columns: dict[str, Meaning] = field(default_factory=dict)
    predicted: tuple[Callable[[Columns], Columns], ...] = ()

    @property
    def function(self) -> str:
        """Name of the function that computes a point, with its module before a colon."""
        return f"{self.computes.__module__}:{self.computes.__name__}"

    @property
    def takes_device(self) -> bool:
        """Whether the function uses its device; functions that do not compute in numpy, on the CPU."""
        if getattr(self.computes, "placed", False):
            return True
        used = ast.walk(ast.parse(inspect.getsource(self.computes)))
        return any(isinstance(node, ast.Name) and node.id == "device" for node in used)

    @property
    def point(self) -> type[Point]:
        """The class of the points of this run."""
        return self.checked_point or point_of(self.computes)


def computed(call: Callable[..., dict], fields: dict, device: str) -> dict:
    """Compute the values of a point; a function that has no device runs on the CPU in any case."""
    takes = "device" in inspect.signature(call).parameters
    return call(**fields, **({"device": device} if takes else {}))


@cache
def point_of(function: Callable) -> type[Point]:
    """Make the class of the points that a function takes, from the annotations of its parameters."""
    wanted = {name: said for name, said in function.__annotations__.items() if name not in (*BESIDE, "return")}
    taken = {name: eval(said, function.__globals__) if isinstance(said, str) else said for name, said in wanted.items()}
    fields: Any = {name: (kind, ...) for name, kind in taken.items()}
    return create_model(f"{function.__name__}_point", __base__=Point, **fields)
