"""What stands in the columns of the stored tables: units or ranges, and meanings.

They are kept beside the tables, in ``columns.toml``, which goes with the library as the tables do.
"""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from typing import NamedTuple

from superposition.runs import store, tables


class Meaning(NamedTuple):
    """The ``unit`` or range of a column, and its ``meaning`` in one sentence."""

    unit: str
    meaning: str


def meanings(name: str) -> dict[str, Meaning]:
    """Unit or range, and meaning, of every column of a stored table, in the table's order; all must be described."""
    columns = tables.load(name, replay=False).columns
    known = {column: meaning for pattern, column, meaning in lines() if applies(pattern, name)}
    missing = [column for column in columns if column not in known]
    if missing:
        raise ValueError(
            f"columns.toml has no line for column {missing[0]} of table {name}; allowed: one line for each"
        )
    return {column: known[column] for column in columns}


def lines() -> list[tuple[str, str, Meaning]]:
    """Every line of the dictionary: names of tables, with ``*`` for any letters; a column; and what it means."""
    path = tables.folder() / "columns.toml"
    try:
        sections = tomllib.loads(store.text_of(path))
        return [(names, column, Meaning(*line)) for names, found in sections.items() for column, line in found.items()]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise tables.TableError(f"{path} is damaged: {error}; to have it back: git checkout {path.name}") from None


def applies(pattern: str, name: str) -> bool:
    """Whether a line is about a table: one of its patterns, apart by spaces, fits the name."""
    return any(fnmatchcase(name, one) for one in pattern.split())
