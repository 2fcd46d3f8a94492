"""Errata against the texts, made of the ledger's claims: one table a chapter, one list a text for its authors."""

import os
from collections.abc import Mapping

from superposition import checks
from superposition.book import ledger, rows
from superposition.book.declarations import AGAINST_THE_TEXT, CONDITION, TEXTS, Claim, declared
from superposition.book.tables import Table, table


def of_chapter(*pages: str) -> Table:
    """What the text should say instead, for the claims of one chapter: errors first, then missing conditions.

    Parameters
    ----------
    *pages : str
        Pages of the chapter, "ch2" say.

    Returns
    -------
    superposition.book.tables.Table

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


def of_text(text: str, notebooks: Mapping[str, str | os.PathLike]) -> Table:
    """Errata of one text, with the number that decides each.

    Parameters
    ----------
    text : str
        One of `superposition.book.declarations.TEXTS`: "toy", "rug", "incidental" or "gdln".
    notebooks : dict of str to path
        Chapter name to its executed .ipynb file.

    Returns
    -------
    superposition.book.tables.Table
        Its text form holds no measured digit.

    Raises
    ------
    ValueError
        If there is no such text.
    """
    checks.one_of("text", text, tuple(TEXTS))
    evidence = {page: ledger.records(path) for page, path in notebooks.items()}
    found = _sorted(claim for claim in declared().values() if claim.text == text)
    return table(
        [
            {
                "": str(number),
                "place": _place(claim),
                "the text": claim.statement,
                "it should say": claim.right,
                "evidence": _evidence(claim, [row for row in evidence.get(claim.chapter, []) if row.id == claim.id]),
            }
            for number, claim in enumerate(found, 1)
        ]
    )


def _sorted(claims):
    """Claims that the text should change, in the order of their verdicts."""
    order = (*AGAINST_THE_TEXT, CONDITION)
    return sorted((claim for claim in claims if claim.verdict in order), key=lambda claim: order.index(claim.verdict))


def _place(claim):
    what = "condition" if claim.verdict == CONDITION else claim.verdict
    return f"{claim.place.removeprefix(TEXTS[claim.text] + ', ')} *({what})*"


def _evidence(claim: Claim, checked):
    where = f"[{claim.chapter}]({claim.chapter}.ipynb)"
    return f"{rows.decisive(checked)} {where}" if checked else where
