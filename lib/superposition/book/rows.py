"""Outcomes of checks and how they are shown: plain text for machines, a sentence for people, JSON to be read back.

The sentence says what is claimed, where, and the decisive number. The rows unfold below it.
"""

import html
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from superposition.book import forms
from superposition.book.declarations import declared

RECORD_TYPE = "application/vnd.superposition.claim+json"
MARKS = {"confirmed": "✓ confirmed", "undecided": "? undecided"}
IDENTITY = 1e-4  # of the prediction: what agrees so well was computed twice, not measured
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
    """Several rows, shown by claim."""

    rows: tuple[Row, ...]

    def _repr_mimebundle_(self, **kwargs):
        names = dict.fromkeys(row.id for row in self.rows)
        blocks = [_block(name, [row for row in self.rows if row.id == name]) for name in names]
        return {
            "text/plain": "\n".join(map(_plain, self.rows)),
            "text/markdown": "\n\n".join(blocks),
            RECORD_TYPE: {"rows": [asdict(row) for row in self.rows]},
        }


def restored(output: Mapping[str, Any]) -> list[Row]:
    """The rows of an output of an executed notebook, as stored there; none where it holds no checks."""
    stored = output.get("data", {}).get(RECORD_TYPE, {"rows": []})["rows"]
    return [Row(**_with_tuples(row)) for row in stored]


def _with_tuples(row) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}


def _plain(row: Row) -> str:
    """The form that is the same on every machine: prediction and verdict, never a measured digit."""
    label = f" [{row.label}]" if row.label else ""
    # What a one-sided claim is compared with may itself be measured, a control say: its digits are the machine's.
    shown = forms.numbers(row.predicted) if row.relation == "equals" else "bound"
    return f"{row.id}{label}: {row.verdict}; {forms.RELATIONS[row.relation]} {shown}; {row.outcome}"


def _block(name: str, rows: Sequence[Row]) -> str:
    """The form for people: place and statement, then the verdict and its decisive number, which unfold the rows."""
    claim = declared()[name]
    ours = f"\n\n*Ours:* {claim.right}\n" if claim.right else ""
    summary = f"<summary>{headline(rows)}</summary>"
    return f"{claim.heading} {claim.statement}\n\n<details>{summary}{ours}\n{_html(rows)}\n</details>"


def headline(rows: Sequence[Row], unnamed: str = "") -> str:
    """One line of HTML: the finding in words, its numbers, the verdict, and the number of checks.

    A claim without a finding whose check has no label is shown as ``unnamed``.
    """
    count = f"{len(rows)} check{'s' if len(rows) > 1 else ''}"
    finding, case = declared()[rows[0].id].finding, _deciding(rows).label
    found = f"{finding or case or unnamed}: {decisive(rows)}".removeprefix(": ")
    found += f" ({case})" if finding and case else ""
    return f"{_text(found)} · <b>{_verdict(rows)}</b> · {count}"


def _verdict(rows):
    """The verdict on the text, or the status of what is ours; or that this run was too short to decide."""
    if rows[0].verdict == "open":
        return "open"
    undecided = sum(row.outcome == "undecided" for row in rows)
    return f"undecided in this run ({undecided} of {len(rows)})" if undecided else declared()[rows[0].id].judged


def decisive(rows: Sequence[Row]) -> str:
    """The number on which a verdict rests: where the text's own form is excluded, the widest gap; else the first.

    Measured and predicted, in words; of an identity, to how many digits its sides agree.
    """
    row = _deciding(rows)
    gaps = [abs(printed - measured) for printed, measured in zip(row.printed, row.measured, strict=False)] or [0.0]
    i = gaps.index(max(gaps))
    if row.relation != "equals":
        digits = min(6, forms.apart(row.measured[i], row.predicted[i]))
        return f"{row.measured[i]:.{digits}g}, {row.relation} the limit {row.predicted[i]:.{digits}g}"
    if row.printed:
        return _against(row.measured[i], row.tolerance[i], row.predicted[i], row.printed[i])
    if row.resolution is not None and row.resolution <= IDENTITY:
        return _agreement(row)
    return f"measured {forms.as_sure(row.measured[i], row.tolerance[i])}, predicted {row.predicted[i]:.3g}"


def _deciding(rows):
    return next((row for row in rows if row.printed), rows[0])


def _agreement(row):
    if row.resolution:
        to = f"{10.0 ** math.ceil(math.log10(row.resolution) - 0.05):.0e}"
        return (
            f"both sides agree to {to}"
            if any(row.predicted)
            else f"zero, to {to}" + (f" of {row.unit}" if row.unit else "")
        )
    return f"exactly {row.measured[0]:.6g}" if len(row.measured) == 1 else "both sides agree exactly"


def _against(measured, tolerance, ours, printed):
    """Measurement, our form and the text's, with enough digits to show the difference."""
    if ours == 0 and tolerance < IDENTITY * abs(printed):
        return f"zero to {tolerance:.0e}, the text's own form gives {printed:.3g}"
    digits = forms.apart(measured, printed)
    shown, said = forms.as_sure(measured, tolerance, digits), f"{ours:.{digits}g}"
    found = f"{shown}, as our form gives" if float(shown) == float(said) else f"measured {shown}, our form gives {said}"
    return f"{found}, the text's own form gives {printed:.{digits}g}"


def _html(rows):
    """A table of the checks of one claim, each with its anchor; empty columns are left out."""
    printed = any(row.printed for row in rows)
    decided = all(row.outcome == "confirmed" for row in rows)
    heads = ["case", "prediction", "measured", "tolerance", *(["text's own form"] if printed else []), "resolution"]
    lines = [_line("th", heads if decided else [*heads, "outcome"]), *(_row(row, printed, decided) for row in rows)]
    return f'<div style="overflow-x:auto"><table class="checks">{"".join(lines)}</table></div>'


def _row(row, printed, decided):
    cells = [row.label or "–", f"{forms.RELATIONS[row.relation]} {forms.numbers(row.predicted, 3)}"]
    cells += [forms.numbers(row.measured, 3), f"{max(row.tolerance):.2g}" if max(row.tolerance) else "–"]
    cells += [excluded(row)] if printed else []
    cells += [forms.percent(row.resolution)]
    return _line("td", cells if decided else [*cells, MARKS[row.outcome]], forms.anchor(row.id, row.label))


def _text(words):
    """Words as HTML: escaped, numbers with a minus sign, no break where none may be."""
    return html.escape(forms.MINUS.sub("\u2212", GLUED.sub("\u00a0", forms.powers(words))))


def _line(tag, cells, name=""):
    start = f'<tr id="{name}">' if name else "<tr>"
    return start + "".join(f"<{tag}>{_text(cell)}</{tag}>" for cell in cells) + "</tr>"


def excluded(row: Row) -> str:
    """The text's own form, crossed out where the check excludes it, with the values left out and the reason."""
    if not row.printed or row.outcome != "confirmed":
        return forms.numbers(row.printed, 3)
    left = f" but at {len(row.spared)} of {len(row.printed)}: {row.spared_because}" if row.spared else ""
    return f"{forms.numbers(row.printed, 3)} ✗{left}"
