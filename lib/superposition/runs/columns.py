"""What stands in the columns of the stored tables: units or ranges, and meanings.

They are kept beside the tables, in ``columns.toml``, which goes with the library as the tables do.
"""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from typing import NamedTuple

from superposition.runs import tables


class Meaning(NamedTuple):
    """The ``unit`` or range of a column, and its ``meaning`` in one sentence."""

    unit: str
    meaning: str


def meanings(name: str) -> dict[str, Meaning]:
    """Unit or range, and meaning, of every column of a stored table.

    Parameters
    ----------
    name : str
        The table, called as its run.

    Returns
    -------
    dict of str to Meaning
        By column, in the table's order.

    Raises
    ------
    ValueError
        If there is no such run, or a column that nobody has described.
    FileNotFoundError
        If the run has no table yet.

    Examples
    --------
    >>> meanings("rug-grid")["dead"].unit
    'features'
    """
    columns = tables.load(name, replay=False).columns
    known = {column: meaning for pattern, column, meaning in lines() if applies(pattern, name)}
    missing = [column for column in columns if column not in known]
    if missing:
        raise ValueError(
            f"columns.toml has no line for column {missing[0]} of table {name}; allowed: one line for each"
        )
    return {column: known[column] for column in columns}


def lines() -> list[tuple[str, str, Meaning]]:
    """Every line of the dictionary.

    Returns
    -------
    list of tuple
        The tables it is about, as names with ``*`` for any letters, apart by spaces; the column; and its `Meaning`.
    """
    sections = tomllib.loads((tables.folder() / "columns.toml").read_text(encoding="utf-8"))
    return [(names, column, Meaning(*line)) for names, found in sections.items() for column, line in found.items()]


def applies(pattern: str, name: str) -> bool:
    """Whether a line is about a table.

    Parameters
    ----------
    pattern : str
        The line's tables, see `lines`.
    name : str
        The table.

    Returns
    -------
    bool

    Examples
    --------
    >>> applies("noise-* constant-size", "noise-eta"), applies("noise-eta", "noise-rate")
    (True, False)
    """
    return any(fnmatchcase(name, one) for one in pattern.split())
