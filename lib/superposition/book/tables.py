"""Tables of numbers in chapters: columns in, Markdown out, and a text form that holds no measured digit."""

import numbers
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from superposition import checks
from superposition.book import forms


@dataclass(frozen=True)
class Table:
    """Headings and rows of finished cells; displays itself as Markdown, so that formulas in headings are set.

    ``before`` and ``after`` are paragraphs around it. The text form, which is compared between
    machines, names the headings, and holds the cells only if ``exact``.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    before: str = ""
    after: str = ""
    exact: bool = False

    @property
    def markdown(self) -> str:
        """The table with its paragraphs."""
        lines = [map(_unbarred, self.headings), ["---"] * len(self.headings), *self.rows]
        grid = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return "\n\n".join(filter(None, [self.before, grid if self.rows else "Nothing to show here.", self.after]))

    def _repr_mimebundle_(self, **kwargs):
        lines = [self.headings, *(self.rows if self.exact else ())]
        return {"text/plain": "\n".join(" | ".join(line) for line in lines), "text/markdown": self.markdown}


def table(
    content: Mapping[str, Sequence] | Sequence[Mapping[str, object]], formats: Mapping[str, str] | None = None, *,
    before: str = "", after: str = "", exact: bool = False,
) -> Table:  # fmt: skip
    """Make a table of columns or of rows.

    Parameters
    ----------
    content : mapping of str to sequence, or sequence of mapping
        Columns by heading, or one mapping of heading to cell a row. A cell is a text in Markdown, a number, a pair
        ``(value, error)``, a list of numbers, or None.
    formats : mapping of str to str, optional
        Heading to a format for its numbers, such as ".4f" or "{:.1f} %"; else three significant digits.
    before, after : str
        Paragraphs in Markdown around the table.
    exact : bool
        Whether the cells are the same on every machine, so that the text form may hold them.

    Raises
    ------
    ValueError
        If columns have different lengths, rows different headings, or a format no column.

    Examples
    --------
    >>> shown = table({"$r$": [0.1, 0.25], "loss": [(0.012345, 0.0002), None]}, {"loss": ".4f"})
    >>> print(shown.markdown)
    | $r$ | loss |
    | --- | --- |
    | 0.1 | 0.0123 ± 0.0002 |
    | 0.25 | – |
    """
    columns = dict(content) if isinstance(content, Mapping) else _transposed(list(content))
    lengths = {heading: len(column) for heading, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns have {checks.shown(lengths)} cells; allowed: one length")
    formats = dict(formats or {})
    for heading in formats:
        checks.one_of("formats", heading, tuple(columns) or (heading,))
    cells = [[cell(value, formats.get(heading, "")) for value in column] for heading, column in columns.items()]
    return Table(tuple(columns), tuple(zip(*cells, strict=True)), before, after, exact)


def _transposed(rows):
    headings = list(rows[0]) if rows else []
    for i, row in enumerate(rows):
        if list(row) != headings:
            raise ValueError(f"row {i} has the headings {checks.shown(list(row))}; allowed: {checks.shown(headings)}")
    return {heading: [row[heading] for row in rows] for heading in headings}


def cell(value: object, form: str = "") -> str:
    """One cell of a `table` as text."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return _unbarred(value)
    if isinstance(value, tuple):
        return " ± ".join(cell(one, form) for one in value)
    if isinstance(value, (list, np.ndarray)) and np.ndim(value):
        return ", ".join(cell(one, form) for one in value)
    return forms.MINUS.sub("\u2212", _number(value, form))


def _unbarred(text):
    """Replace bars, which would end the cell: by another TeX name in a formula, elsewhere by an escape."""
    parts = re.split(r"(\$[^$]*\$)", text.replace("\n", " "))
    return "".join(_formula(part) if part.startswith("$") else re.sub(r"(?<!\\)\|", r"\\|", part) for part in parts)


def _formula(text):
    return text.replace(r"\|", r"\Vert ").replace("|", r"\vert ")


def _number(value, form):
    if form:
        return form.format(value) if "{" in form else format(value, form)
    if isinstance(value, numbers.Integral):
        return str(value)
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"
