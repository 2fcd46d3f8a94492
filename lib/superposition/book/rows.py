"""Outcomes of checks and how they are shown: plain text for machines, HTML for people, JSON to be read back."""

import html
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from superposition.book import forms

RECORD_TYPE = "application/vnd.superposition.claim+json"
MARKS = {"confirmed": "✓ confirmed", "undecided": "? undecided"}
CELL = "padding:0.15em 0.7em"
GLUED = re.compile("(?<=[=<>±✓?]) | (?=[±✗])")  # spaces at which no line may break


@dataclass(frozen=True)
class Row:
    """The outcome of one check, "confirmed" or "undecided"; displays itself as a `Table` of one.

    ``resolution`` is a part of ``unit``, see `superposition.book.resolution`. ``spared`` are the
    values at which the text's own form need not be excluded.
    """

    id: str
    label: str
    verdict: str
    relation: str
    predicted: tuple[float, ...]
    measured: tuple[float, ...]
    tolerance: tuple[float, ...]
    printed: tuple[float, ...]
    outcome: str
    resolution: float | None = None
    unit: str = ""
    spared: tuple[int, ...] = ()
    spared_because: str = ""

    def _repr_mimebundle_(self, **kwargs):
        return Table((self,))._repr_mimebundle_()


@dataclass(frozen=True)
class Table:
    """Several rows shown as one table."""

    rows: tuple[Row, ...]

    def _repr_mimebundle_(self, **kwargs):
        return {
            "text/plain": "\n".join(map(_plain, self.rows)),
            "text/html": _html(self.rows),
            RECORD_TYPE: {"rows": [asdict(row) for row in self.rows]},
        }


def _plain(row: Row) -> str:
    """The form that is the same on every machine: prediction and verdict, never a measured digit."""
    label = f" [{row.label}]" if row.label else ""
    # What a one-sided claim is compared with may itself be measured, a control say: its digits are the machine's.
    shown = forms.numbers(row.predicted) if row.relation == "equals" else "bound"
    return f"{row.id}{label}: {row.verdict}; {forms.RELATIONS[row.relation]} {shown}; {row.outcome}"


def _html(rows: Sequence[Row]) -> str:
    """The form for people: one table, its rows grouped by claim, each with its anchor."""
    printed = any(row.printed for row in rows)
    heads = ["case", "prediction", "measured", *(["text's own form"] if printed else []), "outcome"]
    lines = [_line("th", heads)]
    for name in dict.fromkeys(row.id for row in rows):
        same = [row for row in rows if row.id == name]
        title = f"<b>{name}</b> · {same[0].verdict}"
        lines.append(f'<tr><td colspan="{len(heads)}" style="text-align:left;{CELL}">{title}</td></tr>')
        lines += [_row(row, printed) for row in same]
    return f'<div style="overflow-x:auto"><table>{"".join(lines)}</table></div>'


def _row(row, printed):
    cells = [row.label or "–", f"{forms.RELATIONS[row.relation]} {forms.numbers(row.predicted)}", _measured(row)]
    cells += [excluded(row)] if printed else []
    return _line("td", [*cells, MARKS[row.outcome]], forms.anchor(row.id, row.label))


def _line(tag, cells, name=""):
    """One row: room for the words of the case; other cells may wrap between numbers, never within one."""
    style = f"text-align:left;vertical-align:top;{CELL}"
    first, *others = (html.escape(forms.MINUS.sub("\u2212", GLUED.sub("\u00a0", cell))) for cell in cells)
    rest = "".join(f'<{tag} style="{style}">{cell}</{tag}>' for cell in others)
    start = f'<tr id="{name}">' if name else "<tr>"
    return f'{start}<{tag} style="{style};min-width:9em">{first}</{tag}>{rest}</tr>'


def _measured(row):
    spread = f" ± {max(row.tolerance):.2g}" if max(row.tolerance) else ""
    return forms.numbers(row.measured) + spread


def excluded(row: Row) -> str:
    """The text's own form, crossed out where the check excluded it, with the values that were left out and why.

    Parameters
    ----------
    row : superposition.book.rows.Row
        The outcome of a check.

    Returns
    -------
    str
    """
    if not row.printed or row.outcome != "confirmed":
        return forms.numbers(row.printed)
    left = f" but at {len(row.spared)} of {len(row.printed)}: {row.spared_because}" if row.spared else ""
    return f"{forms.numbers(row.printed)} ✗{left}"
