"""A named run: a function, the configurations it takes, two grids of them, and the meanings of its columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

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


@dataclass(frozen=True)
class Run:
    """A named run.

    ``feeds`` says which figure or claim it is for; ``function``, as "module:name", takes the
    fields of a ``point`` (a subclass of `Point`) and ``device`` as keywords and returns a dict of
    numbers and texts. ``small`` and ``full`` are grids: tuples of blocks, each a dict from field to
    values, of which the product is taken. ``hours`` has the expected hours of both. ``columns`` says
    what each column means that is no field of the point. ``predicted`` are functions of the columns
    that give further ones: they are called when a table is read, so that sharper theory makes no
    measurement stale.
    """

    name: str
    feeds: str
    function: str
    point: type[Point]
    small: tuple[dict, ...]
    full: tuple[dict, ...]
    hours: dict[str, float]
    hardware: str = "one CPU core"
    columns: dict[str, Meaning] = field(default_factory=dict)
    predicted: tuple[Callable[[Columns], Columns], ...] = ()
