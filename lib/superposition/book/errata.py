"""Errata of the texts, made from the ledger's claims: one table per chapter, and for the authors one card per entry."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from superposition import checks
from superposition.book import ledger, rows
from superposition.book.declarations import AGAINST_THE_TEXT, CONDITION, TEXTS, Claim, declared
from superposition.book.tables import Table, table


def of_chapter(*pages: str) -> Table:
    """What the text should say instead, for the claims of one chapter: errors first, then missing conditions.

    Parameters
    ----------
    *pages : str
        Pages of the chapter, such as "ch2".

    Raises
    ------
    ValueError
        If no claim is declared for a page.

    Examples
    --------
    >>> of_chapter("ch2").headings
    ('place', 'the text', 'it should say')
    >>> len(of_chapter("ch2").rows)
    5
    """
    known = tuple(dict.fromkeys(claim.chapter for claim in declared().values()))
    for page in pages:
        checks.one_of("pages", page, known)
    found = _sorted(claim for claim in declared().values() if claim.chapter in pages)
    return table([{"place": _place(c), "the text": c.statement, "it should say": c.right} for c in found], exact=True)


@dataclass(frozen=True)
class Cards:
    """Entries of a text with the number that decides each; displays itself as one card per entry.

    A card carries its verdict, by which the script of the page filters. The text form holds no measured digit.
    """

    entries: tuple[tuple[Claim, str], ...]

    def _repr_mimebundle_(self, **kwargs):
        plain = [f"{claim.id}: {claim.verdict}" for claim, _ in self.entries]
        cards = [_card(number, *entry) for number, entry in enumerate(self.entries, 1)]
        return {"text/plain": "\n".join(plain), "text/markdown": "\n\n".join(cards)}


def of_text(text: str, notebooks: Mapping[str, str | os.PathLike]) -> Cards:
    """Errata of one of `TEXTS`, with the number that decides each, from executed notebooks by chapter."""
    checks.one_of("text", text, tuple(TEXTS))
    evidence = {page: ledger.records(path) for page, path in notebooks.items()}
    found = _sorted(claim for claim in declared().values() if claim.text == text)
    return Cards(
        tuple(
            (claim, _evidence([row for row in evidence.get(claim.chapter, []) if row.id == claim.id]))
            for claim in found
        )
    )


def _sorted(claims):
    """Claims that the text should change, in the order of their verdicts."""
    order = (*AGAINST_THE_TEXT, CONDITION)
    return sorted((claim for claim in claims if claim.verdict in order), key=lambda claim: order.index(claim.verdict))


def _kind(claim):
    return "condition" if claim.verdict == CONDITION else claim.verdict


def _where(claim):
    return claim.place.removeprefix(TEXTS[claim.text] + ", ")


def _place(claim):
    return f"{_where(claim)} *({_kind(claim)})*"


def _evidence(checked):
    return rows.headline(checked) if checked else ""


def _card(number, claim, evidence):
    parts = [
        f'<div class="erratum" id="{claim.id}" data-verdict="{_kind(claim)}">',
        f"**{number}. {_where(claim)}** · *{_kind(claim)}* · [{claim.chapter}]({claim.chapter}.ipynb)",
        f"*The text:* {claim.statement}",
        f"*It should say:* {claim.right}",
        f"*Evidence:* {evidence}" if evidence else "",
        "</div>",
    ]
    return "\n\n".join(filter(None, parts))
