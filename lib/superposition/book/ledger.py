"""The ledger: every claim of a text with our verdict and the evidence that the executed chapters hold."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from superposition import checks
from superposition.book import forms, sentences
from superposition.book.declarations import TEXTS, VERDICTS, Claim, declared
from superposition.book.rows import Row, excluded, restored
from superposition.book.tables import table

OURS = "Ours, with their status: no verdict on the text, and no part of the errata."


def records(notebook: str | os.PathLike) -> list[Row]:
    """The rows of an executed notebook, papermill's included, in the order of the page."""
    cells = json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]
    return [row for cell in cells for output in cell.get("outputs", []) for row in restored(output)]


def reference(code: str) -> str:
    """Where the reference describes a function.

    Parameters
    ----------
    code : str
        "module:function", as in ``claims.toml``.

    Returns
    -------
    str
        Address relative to a page of the book.

    Examples
    --------
    >>> reference("superposition.rug.meanfield:loss")
    'reference/rug.html#superposition.rug.meanfield.loss'
    >>> reference("superposition.features:sample")
    'reference/ground.html#superposition.features.sample'
    """
    module, name = code.split(":")
    _, *wing, _ = module.split(".")
    return f"reference/{wing[0] if wing else 'ground'}.html#{module}.{name}"


def page(notebooks: Mapping[str, str | os.PathLike], text: str) -> Page:
    """Every declared claim of one of `TEXTS` with its verdict and, from executed notebooks, its evidence; then ours."""
    checks.one_of("text", text, tuple(TEXTS))
    found = [entry for entry in _entries(notebooks) if entry[0].text == text]
    return Page(tuple(sorted(found, key=lambda entry: entry[0].whose == "ours")))


def sharpness(notebooks: Mapping[str, str | os.PathLike]) -> Sharpness:
    """All claims with checks in executed notebooks, the least sharp first."""
    return Sharpness(tuple(sorted((entry for entry in _entries(notebooks) if entry[1]), key=_bluntness)))


def verdicts() -> dict[str, dict[str, int]]:
    """Numbers of declared claims by name of the text and by verdict, without ours, in the order of both lists."""
    counts = {name: dict.fromkeys(VERDICTS, 0) for name in TEXTS.values()}
    for claim in declared().values():
        counts[TEXTS[claim.text]][claim.verdict] += claim.whose != "ours"
    return counts


@dataclass(frozen=True)
class Page:
    """Claims with the rows of their checks; displays itself as one folded block per claim, ours apart.

    The blocks carry the keys by which the script of the page filters, sorts and exports; it sorts ours separately.
    """

    entries: tuple[tuple[Claim, tuple[Row, ...]], ...]

    def _repr_mimebundle_(self, **kwargs):
        plain = [f"{claim.id}: {claim.judged}; {len(rows)} checks" for claim, rows in self.entries]
        blocks = [_block(claim, rows) for claim, rows in self.entries if claim.whose != "ours"]
        ours = [_block(claim, rows) for claim, rows in self.entries if claim.whose == "ours"]
        blocks += [f'<div class="ours">\n\n{OURS}', *ours, "</div>"] if ours else []
        return {"text/plain": "\n".join(plain), "text/markdown": "\n\n".join(blocks)}


@dataclass(frozen=True)
class Sharpness:
    """Claims with the rows of their checks; displays itself as one table in the order given."""

    entries: tuple[tuple[Claim, tuple[Row, ...]], ...]

    def _repr_mimebundle_(self, **kwargs):
        rows = [
            {
                "claim": _link(claim),
                "verdict": claim.judged,
                "resolution": _resolution(rows),
                "in units of": ", ".join(dict.fromkeys(row.unit for row in rows if row.unit)) or None,
                "remark": claim.coarse,
            }
            for claim, rows in self.entries
        ]
        folded = f"<details><summary>{len(rows)} claims</summary>\n\n{table(rows).markdown}\n\n</details>"
        return {"text/plain": f"{len(rows)} claims by resolution", "text/markdown": folded}


def _entries(notebooks):
    found = {chapter: records(path) for chapter, path in notebooks.items()}
    for claim in declared().values():
        yield claim, tuple(row for row in found.get(claim.chapter, []) if row.id == claim.id)


def _bluntness(entry):
    """Order of the sharpness table: unknown, then coarse to fine."""
    known = _bluntest(entry[1])
    return (0, 0.0) if known is None else (1, -known)


def _bluntest(rows):
    """The least sharp check of a claim, which represents it; None if the sharpness of one of them is unknown."""
    known = [row.resolution for row in rows]
    return None if None in known or not known else max(known)


def _resolution(rows):
    return forms.percent(_bluntest(rows))


def _link(claim):
    return f'<a href="#{claim.id}">`{claim.id}`</a>'


def _block(claim, rows):
    facts = {
        "id": claim.id,
        "text": TEXTS[claim.text],
        "chapter": claim.chapter,
        "place": claim.place,
        "kind": claim.kind,
        "whose": claim.whose,
        "verdict": claim.judged,
        "checks": len(rows),
        "resolution": _bluntest(rows),
        "statement": claim.statement,
        "quote": claim.quote,
        "sentences": _sentences(claim),
        "ours": claim.right,
        "code": claim.code or claim.symbol,
    }
    data = " ".join(f'data-{name}="{html.escape(_fact(value))}"' for name, value in facts.items())
    place = claim.place.removeprefix(f"{TEXTS[claim.text]}, ")
    head = f"<code>{claim.id}</code> {place} · <b>{claim.judged}</b> · {_resolution(rows)}"
    start = f'<details class="claim" id="{claim.id}" {data}><summary>'
    block = [start, f"{head}<br>{claim.statement}", "</summary>"]
    if claim.quote:
        block.append(f"*The text,* sentence {_sentences(claim)}: {claim.quote}")
    if claim.right:
        block.append(f"*Ours:* {claim.right}")
    if claim.coarse:
        block.append(f"*Why no sharper:* {claim.coarse}")
    if claim.attack and claim.attack.rival:
        block.append(f"*Attacked with:* {claim.attack.rival}. {claim.attack.effort}. {claim.attack.result}")
    proof = f' · <a href="{claim.chapter}.html#{claim.proof}">proof</a>' if claim.proof else ""
    block.append(f"{claim.kind} · [{claim.chapter}]({claim.chapter}.ipynb){proof} · {_code(claim)}")
    return "\n\n".join([*block, *([_evidence(claim, rows)] if rows else []), "</details>"])


def _sentences(claim):
    return ", ".join(map(str, sentences.naming(claim.id)))


def _fact(value):
    return "" if value is None else str(value)


def _code(claim):
    if not claim.code:
        return claim.symbol
    return f'<a href="{reference(claim.code)}">`{claim.code.removeprefix("superposition.").replace(":", ".")}`</a>'


def _evidence(claim, rows):
    return table([_checked(claim.chapter, row) for row in rows]).markdown


def _checked(chapter, row):
    place = f"{chapter}.html#{forms.anchor(row.id, row.label)}"
    return {
        "case": f'<a href="{place}">{html.escape(row.label or "the check")}</a>',
        "prediction": f"{forms.RELATIONS[row.relation]} {forms.numbers(row.predicted)}",
        "measured": forms.numbers(row.measured),
        "text's own form": excluded(row),
        "resolution": forms.percent(row.resolution),
        "outcome": row.outcome,
    }
