"""How rows of the ledger are shown: plain text for machines, HTML for people, an anchor for links."""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from superposition.book.claims import Row

RELATIONS = {"equals": "=", "below": "<", "above": ">"}
MARKS = {"confirmed": "✓ confirmed", "undecided": "? undecided"}
CELL = "padding:0.15em 0.7em"
GLUED = re.compile("(?<=[=<>±✓?]) | (?=[±✗])")  # spaces at which no line may break
MINUS = re.compile(r"(?<![\w.])-(?=\d)|(?<=\de)-(?=\d)")  # a hyphen is a place to break, a minus sign is not


def numbers(values: Sequence[float]) -> str:
    """Several numbers in few words.

    Parameters
    ----------
    values : sequence of float
        Any number of them.

    Returns
    -------
    str

    Examples
    --------
    >>> numbers([1.0, 2.5]), numbers([1.0, 1.0]), numbers([])
    ('1, 2.5', '1 (2 values)', '–')
    """
    if not len(values):
        return "–"
    low, high = f"{min(values):.6g}", f"{max(values):.6g}"
    if len(values) > 1 and low == high:
        return f"{low} ({len(values)} values)"
    if len(values) > 6:
        return f"{len(values)} values from {low} to {high}"
    return ", ".join(f"{value:.6g}" for value in values)


def anchor(claim_id: str, label: str = "") -> str:
    """Name the place on a page where a claim is checked.

    Parameters
    ----------
    claim_id, label : str
        What was given to `superposition.book.claims.check`.

    Returns
    -------
    str
        The ``id`` of the row in the HTML form of its table.

    Examples
    --------
    >>> anchor("rug.eq9"), anchor("rug.eq9", "p=0.05")
    ('claim-rug-eq9', 'claim-rug-eq9-a85cb1ce')
    """
    slug = re.sub("[^a-z0-9]+", "-", f"claim-{claim_id}".lower())
    return f"{slug}-{zlib.crc32(label.encode()):08x}" if label else slug


def percent(resolution: float | None) -> str:
    """A resolution as people read it.

    Parameters
    ----------
    resolution : float or None
        A ratio; None where it is not known.

    Returns
    -------
    str

    Examples
    --------
    >>> percent(0.0123), percent(0.0), percent(1e-12), percent(None)
    ('1.2 %', 'exact', '< 0.001 %', '–')
    """
    if resolution is None:
        return "–"
    if resolution == 0:
        return "exact"
    return f"{100 * resolution:.2g} %" if resolution >= 1e-5 else "< 0.001 %"


def plain(row: Row) -> str:
    """The form that is the same on every machine: prediction and verdict, never a measured digit.

    Parameters
    ----------
    row : superposition.book.claims.Row
        The outcome of a check.

    Returns
    -------
    str
    """
    label = f" [{row.label}]" if row.label else ""
    # What a one-sided claim is compared with may itself be measured, a control say: its digits are the machine's.
    predicted = f"= {numbers(row.predicted)}" if row.relation == "equals" else f"{RELATIONS[row.relation]} bound"
    return f"{row.id}{label}: {row.verdict}; {predicted}; {row.outcome}"


def as_html(rows: Sequence[Row]) -> str:
    """The form for people: one table, its rows grouped by claim, each with its `anchor`.

    Parameters
    ----------
    rows : sequence of superposition.book.claims.Row
        Outcomes of checks.

    Returns
    -------
    str
    """
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
    cells = [row.label or "–", f"{RELATIONS[row.relation]} {numbers(row.predicted)}", _measured(row)]
    cells += [excluded(row)] if printed else []
    return _line("td", [*cells, MARKS[row.outcome]], anchor(row.id, row.label))


def _line(tag, cells, name=""):
    """One row: room for the words of the case; other cells may wrap between numbers, never within one."""
    style = f"text-align:left;vertical-align:top;{CELL}"
    first, *others = (html.escape(MINUS.sub("\u2212", GLUED.sub("\u00a0", cell))) for cell in cells)
    rest = "".join(f'<{tag} style="{style}">{cell}</{tag}>' for cell in others)
    start = f'<tr id="{name}">' if name else "<tr>"
    return f'{start}<{tag} style="{style};min-width:9em">{first}</{tag}>{rest}</tr>'


def _measured(row):
    return f"{numbers(row.measured)} ± {max(row.tolerance):.2g}" if max(row.tolerance) else numbers(row.measured)


def excluded(row: Row) -> str:
    """The text's own form, crossed out where the check excluded it, with the values that were left out and why.

    Parameters
    ----------
    row : superposition.book.claims.Row
        The outcome of a check.

    Returns
    -------
    str
    """
    if not row.printed or row.outcome != "confirmed":
        return numbers(row.printed)
    left = f" but at {len(row.spared)} of {len(row.printed)}: {row.spared_because}" if row.spared else ""
    return f"{numbers(row.printed)} ✗{left}"
