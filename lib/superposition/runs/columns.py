"""The columns of the tables: units or ranges, and meanings, as their runs declare them.

Readers of the tables without the library find the same in ``columns.toml`` beside them.
"""

from __future__ import annotations

import json
import re

from superposition.runs import registry, tables
from superposition.runs.point import Meaning, Run

HEAD = """\
# What stands in the columns of the tables beside this file. Written by a command, make reference, from what the named
# runs say: a section names tables, apart by spaces; a line gives a column of them its unit or range, and its meaning.
#
# p is the probability that a feature is on, V = (4p - 3p^2)/12 the variance of a feature, sigma a standard deviation.
# "The rug's loss" is the mean-field optimum superposition.rug.optimum(p, r).loss. A column NAME_se is a standard error.
# n IPR is n sum(w^4) / sum(w^2)^2 of a receptive field w of n pixels: 1 for a flat field, n for a single pixel.
"""


def of(run: Run) -> dict[str, Meaning]:
    """Unit or range, and meaning, of all that a run's table may hold: the fields of a point, then the other columns."""
    said = {name: found for name, field in run.point.model_fields.items() for found in field.metadata}
    return {name: found for name, found in said.items() if isinstance(found, Meaning)} | run.columns


def meanings(name: str) -> dict[str, Meaning]:
    """Unit or range, and meaning, of every column of a stored table, in its order."""
    columns, known = tables.load(name, replay=False).columns, of(registry.find(name))
    missing = [column for column in columns if column not in known]
    if missing:
        raise ValueError(f"run {name} says nothing of its column {missing[0]}; allowed: a Meaning for each")
    return {column: known[column] for column in columns}


def dictionary() -> str:
    """The text of ``columns.toml``: tables whose columns have the same meanings are grouped."""
    sections: dict[tuple, list[str]] = {}
    for name, run in registry.RUNS.items():
        sections.setdefault(tuple(of(run).items()), []).append(name)
    return HEAD + "".join(_section(names, columns) for columns, names in sections.items())


def _section(names, columns):
    lines = [f"{_key(column)} = {json.dumps(meaning)}" for column, meaning in columns]
    return "\n".join([f'\n["{" ".join(names)}"]', *lines, ""])


def _key(column):
    return column if re.fullmatch(r"\w+", column) else json.dumps(column)
