"""The ledger: what the texts claim, what was predicted, what was measured.

Claims are declared once, in ``claims.toml``. `check` compares a prediction with a measurement
and returns a row that displays itself: HTML for people, a plain text for machines that never
holds a measured digit (it is the same on every machine), and a JSON record, so that every
executed notebook can be read back with `records`.
"""

import html
import json
import re
import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np

from superposition import checks

RECORD_TYPE = "application/vnd.superposition.claim+json"
KINDS = ("equation", "definition", "figure", "claim", "open question")
VERDICTS = (
    "holds", "holds with conditions", "misprint", "corrected", "refuted", "completed", "open", "not reproduced",
)  # fmt: skip
AGAINST_THE_TEXT = ("misprint", "corrected", "refuted")
NO_CHECK_NEEDED = ("definition", "open question")
RELATIONS = {"equals": "=", "below": "<", "above": ">"}
# The first part of an id says which text the claim is from.
TEXTS = {
    "toy": "Toy Models", "rug": "The Persian Rug", "incidental": "Incidental Polysemanticity", "gdln": "Localization",
}  # fmt: skip
MOST_NUMBERS = 1000  # every number of a check is stored in the notebook


class ClaimError(AssertionError):
    """A check whose outcome differs from the declared verdict."""


@dataclass(frozen=True)
class Claim:
    """One entry of ``claims.toml``."""

    id: str
    place: str
    statement: str
    kind: str
    verdict: str
    chapter: str
    right: str = ""


@dataclass(frozen=True)
class Row:
    """The outcome of one check, "confirmed" or "undecided"; displays itself as a `Table` of one."""

    id: str
    label: str
    verdict: str
    relation: str
    predicted: tuple
    measured: tuple
    tolerance: tuple
    printed: tuple
    outcome: str

    def _repr_mimebundle_(self, **kwargs):
        return table(self)._repr_mimebundle_()


@dataclass(frozen=True)
class Table:
    """Several rows shown as one table."""

    rows: tuple

    def _repr_mimebundle_(self, **kwargs):
        return {
            "text/plain": "\n".join(map(_plain, self.rows)),
            "text/html": _html(self.rows),
            RECORD_TYPE: {"rows": [asdict(row) for row in self.rows]},
        }


@cache
def declared():
    """Every claim of the ledger.

    Returns
    -------
    dict of str to Claim
        In the order of ``claims.toml``.

    Raises
    ------
    ValueError
        If an entry has an unknown text, kind or verdict.
    """
    text = resources.files("superposition").joinpath("claims.toml").read_text(encoding="utf-8")
    claims = {name: Claim(id=name, **entry) for name, entry in tomllib.loads(text).items()}
    for claim in claims.values():
        checks.one_of(f"text of {claim.id}", _text(claim), tuple(TEXTS))
        checks.one_of(f"kind of {claim.id}", claim.kind, KINDS)
        checks.one_of(f"verdict of {claim.id}", claim.verdict, VERDICTS)
    return claims


def check(
    claim_id,
    predicted,
    measured,
    *,
    se=0.0,
    rtol=0.0,
    atol=0.0,
    z=4.0,
    relation="equals",
    printed=None,
    label="",
    may_be_undecided=False,
):
    """Compare a prediction with a measurement and give the row for the ledger.

    The tolerance is ``atol + rtol |predicted| + z se``. With ``relation="equals"`` every
    measured value lies within it of its prediction; with "below" or "above" every one lies
    beyond it on that side.

    Parameters
    ----------
    claim_id : str
        A claim declared in ``claims.toml``.
    predicted, measured : array_like
        Real numbers that broadcast to one shape.
    se : array_like
        Standard error of the difference, 0 or more.
    rtol, atol : float
        Tolerance relative to the prediction, and absolute, 0 or more.
    z : float
        Standard errors allowed. 4 makes a false alarm once in 16000 checks.
    relation : {"equals", "below", "above"}
        Where the measurement is to lie.
    printed : array_like, optional
        What the text's own form predicts: it must be excluded, that is at least one measured
        value lies beyond the tolerance from it. Needed where the verdict goes against the text,
        unless the relation itself does.
    label : str
        Which case this is, when a claim is checked more than once.
    may_be_undecided : bool
        True if the run may be too short for this comparison: then a failure is a row that says
        "undecided".

    Returns
    -------
    Row

    Raises
    ------
    ClaimError
        If the outcome differs from the declared verdict and it may not be undecided.
    ValueError
        If the claim is unknown, an argument is out of range, or a control is missing.
    """
    claim = _lookup(claim_id)
    checks.one_of("relation", relation, tuple(RELATIONS))
    if claim.verdict in AGAINST_THE_TEXT and printed is None and relation == "equals":
        raise ValueError(f"printed = None is not enough for {claim_id} ({claim.verdict}); allowed: the text's value")
    for name, value in (("se", se), ("rtol", rtol), ("atol", atol), ("z", z)):
        checks.real(name, value, 0, open_high=True)
    predicted, measured, se = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (predicted, measured, se)))
    if measured.size == 0:
        raise ValueError(f"measured = [] is empty for {claim_id}; allowed: at least one number")
    if measured.size > MOST_NUMBERS:
        raise ValueError(f"measured has {measured.size} numbers for {claim_id}; allowed: up to {MOST_NUMBERS}")
    tolerance = atol + rtol * np.abs(predicted) + z * se
    agrees = {
        "equals": np.abs(measured - predicted) <= tolerance,
        "below": measured < predicted - tolerance,
        "above": measured > predicted + tolerance,
    }[relation].all()
    excluded = printed is None or bool(np.any(np.abs(measured - np.asarray(printed, dtype=np.float64)) > tolerance))
    row = Row(
        claim_id,
        label,
        claim.verdict,
        relation,
        _tuple(predicted),
        _tuple(measured),
        _tuple(tolerance),
        () if printed is None else _tuple(np.broadcast_to(printed, measured.shape)),
        "confirmed" if agrees and excluded else "undecided",
    )
    if row.outcome == "undecided" and not may_be_undecided:
        reason = "the measurement does not agree" if not agrees else "the printed form is not excluded"
        raise ClaimError(
            f"{claim_id} {label}: declared '{claim.verdict}', but {reason}: predicted {RELATIONS[relation]} "
            f"{_numbers(row.predicted)}, measured {_numbers(row.measured)}, tolerance {_numbers(row.tolerance)}"
            + ("" if printed is None else f", printed {_numbers(row.printed)}")
        )
    return row


def table(*rows):
    """Show several rows as one table.

    Parameters
    ----------
    *rows : Row
        What `check` returned.

    Returns
    -------
    Table
    """
    return Table(rows)


def records(notebook):
    """Read the rows back from an executed notebook, papermill's included.

    Parameters
    ----------
    notebook : str or os.PathLike
        An .ipynb file.

    Returns
    -------
    list of dict
        One for each row, with the fields of `Row`.
    """
    cells = json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]
    bundles = (output.get("data", {}) for cell in cells for output in cell.get("outputs", []))
    return [row for bundle in bundles if RECORD_TYPE in bundle for row in bundle[RECORD_TYPE]["rows"]]


def coverage(notebooks):
    """What the executed chapters leave open.

    Parameters
    ----------
    notebooks : dict of str to path
        Chapter name to its .ipynb file.

    Returns
    -------
    list of str
        One sentence a problem: a declared claim of these chapters without a check, a check in
        another chapter than the declared one, or a check of an undeclared claim. Empty if none.
    """
    checked = {(row["id"], chapter) for chapter, path in notebooks.items() for row in records(path)}
    problems = []
    for claim in declared().values():
        if (
            claim.chapter in notebooks
            and claim.kind not in NO_CHECK_NEEDED
            and (claim.id, claim.chapter) not in checked
        ):
            problems.append(f"{claim.id} is declared for {claim.chapter} and not checked there")
    for name, chapter in sorted(checked):
        if name not in declared():
            problems.append(f"{name} is checked in {chapter} and not declared")
        elif declared()[name].chapter != chapter:
            problems.append(f"{name} is checked in {chapter} and declared for {declared()[name].chapter}")
    return problems


def ledger(notebooks, text):
    """Every declared claim of a text with its verdict and, from the executed chapters, its evidence.

    Parameters
    ----------
    notebooks : dict of str to path
        Chapter name to its .ipynb file.
    text : str
        One of `TEXTS`: "toy", "rug", "incidental" or "gdln".

    Returns
    -------
    Ledger

    Raises
    ------
    ValueError
        If there is no such text.
    """
    checks.one_of("text", text, tuple(TEXTS))
    found = {chapter: records(path) for chapter, path in notebooks.items()}
    claims = [claim for claim in declared().values() if _text(claim) == text]
    return Ledger(
        tuple((claim, tuple(row for row in found.get(claim.chapter, []) if row["id"] == claim.id)) for claim in claims)
    )


def verdicts():
    """Count the declared claims of each text by verdict.

    Returns
    -------
    dict of str to dict of str to int
        Name of the text to verdict to number, both in the order of `TEXTS` and `VERDICTS`.
    """
    counts = {name: dict.fromkeys(VERDICTS, 0) for name in TEXTS.values()}
    for claim in declared().values():
        counts[TEXTS[_text(claim)]][claim.verdict] += 1
    return counts


@dataclass(frozen=True)
class Ledger:
    """Claims with the records of their checks; displays itself as an overview and one block a claim."""

    entries: tuple

    def _repr_mimebundle_(self, **kwargs):
        plain = [f"{claim.id}: {claim.verdict}; {len(rows)} checks" for claim, rows in self.entries]
        blocks = [_overview(self.entries), *(_entry(claim, rows) for claim, rows in self.entries)]
        return {"text/plain": "\n".join(plain), "text/markdown": "\n\n".join(blocks)}


def _text(claim):
    return claim.id.split(".")[0]


def _overview(entries):
    lines = ["| claim | where | verdict | checks |", "|---|---|---|---|"]
    lines += [
        f'| <a href="#{claim.id}">`{claim.id}`</a> | {claim.place} | **{claim.verdict}** | {len(rows) or "–"} |'
        for claim, rows in entries
    ]
    return "\n".join(lines)


def _entry(claim, rows):
    block = [
        f'<a id="{claim.id}"></a>**{claim.place}** · `{claim.id}` · {claim.kind} · **{claim.verdict}** · '
        f"[{claim.chapter}]({claim.chapter}.ipynb)",
        f"> {claim.statement}",
    ]
    if claim.right:
        block.append(f"*Ours:* {claim.right}")
    if rows:
        lines = ["| case | prediction | measured | text's own form | outcome |", "|---|---|---|---|---|"]
        for row in rows:
            case = row["label"].replace("|", "\\|") or "–"
            predicted = f"{RELATIONS[row['relation']]} {_numbers(row['predicted'])}"
            printed = f"{_numbers(row['printed'])} ✗" if row["printed"] else "–"
            lines.append(f"| {case} | {predicted} | {_numbers(row['measured'])} | {printed} | {row['outcome']} |")
        summary = f"<summary>{len(rows)} {'check' if len(rows) == 1 else 'checks'}</summary>"
        block += [f"<details>{summary}", "\n".join(lines), "</details>"]
    return "\n\n".join(block)


def _lookup(claim_id):
    import difflib

    if claim_id not in declared():
        near = difflib.get_close_matches(claim_id, declared(), n=1, cutoff=0)
        raise ValueError(f"claim_id = {claim_id!r} is not declared; nearest: {near[0]}")
    return declared()[claim_id]


def _tuple(array):
    return tuple(float(value) for value in np.ravel(array))


def _numbers(values):
    if not values:
        return "–"
    low, high = f"{min(values):.6g}", f"{max(values):.6g}"
    if len(values) > 1 and low == high:
        return f"{low} ({len(values)} values)"
    if len(values) > 6:
        return f"{len(values)} values from {low} to {high}"
    return ", ".join(f"{value:.6g}" for value in values)


def _plain(row):
    label = f" [{row.label}]" if row.label else ""
    # What a one-sided claim is compared with may itself be measured, a control say: its digits are the machine's.
    predicted = f"= {_numbers(row.predicted)}" if row.relation == "equals" else f"{RELATIONS[row.relation]} bound"
    return f"{row.id}{label}: {row.verdict}; {predicted}; {row.outcome}"


def _html(rows):
    mark = {"confirmed": "✓ confirmed", "undecided": "? undecided"}
    printed = any(row.printed for row in rows)
    lines = [_line("th", ["case", "prediction", "measured", *(["text's own form"] if printed else []), "outcome"])]
    for name in dict.fromkeys(row.id for row in rows):
        same = [row for row in rows if row.id == name]
        title = f"<b>{name}</b> · {same[0].verdict}"
        lines.append(f'<tr><td colspan="{4 + printed}" style="text-align:left;{_CELL}">{title}</td></tr>')
        for row in same:
            cells = [row.label or "–", f"{RELATIONS[row.relation]} {_numbers(row.predicted)}", _measured(row)]
            cells += [_excluded(row)] if printed else []
            lines.append(_line("td", [*cells, mark[row.outcome]]))
    return f'<div style="overflow-x:auto"><table>{"".join(lines)}</table></div>'


_CELL = "padding:0.15em 0.7em"
_GLUED = re.compile("(?<=[=<>±✓?]) | (?=[±✗])")  # spaces at which no line may break
_MINUS = re.compile(r"(?<![\w.])-(?=\d)|(?<=\de)-(?=\d)")  # a hyphen is a place to break, a minus sign is not


def _line(tag, cells):
    """One row: room for the words of the case; other cells may wrap between numbers, never within one."""
    style = f"text-align:left;vertical-align:top;{_CELL}"
    first, *others = (html.escape(_MINUS.sub("\u2212", _GLUED.sub("\u00a0", cell))) for cell in cells)
    rest = "".join(f'<{tag} style="{style}">{cell}</{tag}>' for cell in others)
    return f'<tr><{tag} style="{style};min-width:9em">{first}</{tag}>{rest}</tr>'


def _measured(row):
    return f"{_numbers(row.measured)} ± {max(row.tolerance):.2g}" if max(row.tolerance) else _numbers(row.measured)


def _excluded(row):
    return f"{_numbers(row.printed)} ✗" if row.printed and row.outcome == "confirmed" else _numbers(row.printed)
