"""Every sentence of the texts, numbered in ``sentences.csv``: what it does, and the claims that judge it."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from superposition import checks
from superposition.book.declarations import TEXTS, declared
from superposition.book.tables import Table, table

ROLES = ("asserts", "defines", "asks", "motivates", "method")
MOST_WORDS = 8  # of a text that is not ours


@dataclass(frozen=True)
class Sentence:
    """One line of ``sentences.csv``: its number in the text, and a ``reason`` if it does not assert."""

    text: str
    number: int
    role: str
    first: str
    claims: tuple[str, ...]
    reason: str


@cache
def sentences() -> tuple[Sentence, ...]:
    """Every sentence, numbered through each text; a displayed formula belongs to the words that lead to it.

    Returns
    -------
    tuple of Sentence
        In the order of `TEXTS` and of the text.

    Raises
    ------
    ValueError
        If a number is out of order, a word unknown, a claim not declared, of another text or ours, too much of the text
        is quoted, or a sentence that asserts has a reason, or one that does not has none.
    """
    lines = resources.files("superposition.book").joinpath("sentences.csv").read_text(encoding="utf-8").splitlines()
    found = tuple(_sentence(line) for line in csv.DictReader(lines))
    for text in TEXTS:
        numbers = [sentence.number for sentence in found if sentence.text == text]
        if numbers != list(range(1, len(numbers) + 1)):
            raise ValueError(f"numbers of {text} = {checks.shown(numbers)}; allowed: 1, 2, 3 and so on")
    return found


def without_row(text: str) -> list[Sentence]:
    """The sentences of a text that assert something and are not in the ledger yet.

    Parameters
    ----------
    text : str
        One of `TEXTS`: "toy", "rug", "incidental" or "gdln".

    Raises
    ------
    ValueError
        If there is no such text.
    """
    return [sentence for sentence in _asserting(text) if not sentence.claims]


def naming(claim_id: str) -> tuple[int, ...]:
    """The numbers of the sentences that name a claim.

    Parameters
    ----------
    claim_id : str
        A claim of ``claims.toml``; one of ours has no sentence.
    """
    return tuple(sentence.number for sentence in sentences() if claim_id in sentence.claims)


def counted() -> Table:
    """How many sentences each text has, how many assert something, and how many of these have a row in the ledger."""
    rows = [
        {
            "text": name,
            "sentences": sum(sentence.text == text for sentence in sentences()),
            "asserting": len(_asserting(text)),
            "with a row": len(_asserting(text)) - len(without_row(text)),
            "without a row: their numbers": _listed(without_row(text)),
        }
        for text, name in TEXTS.items()
    ]
    return table(rows, exact=True)


def _sentence(line):
    where = f"{line['text']} {line['number']}"
    checks.one_of(f"text of sentence {where}", line["text"], tuple(TEXTS))
    checks.one_of(f"class of sentence {where}", line["class"], ROLES)
    names = tuple(line["claims"].split())
    for name in names:
        _check_claim(where, line["text"], name)
    if len(line["first"].split()) > MOST_WORDS:
        raise ValueError(f"first of sentence {where} = {line['first']!r}; allowed: up to {MOST_WORDS} words")
    if bool(line["reason"]) == (line["class"] == "asserts"):
        raise ValueError(f"reason of sentence {where} = {line['reason']!r}; allowed: one unless it asserts")
    return Sentence(line["text"], int(line["number"]), line["class"], line["first"], names, line["reason"])


def _check_claim(where, text, name):
    claim = declared()[checks.one_of(f"claims of sentence {where}", name, tuple(declared()))]
    if claim.text != text or claim.whose == "ours":
        raise ValueError(
            f"claims of sentence {where} = {name} is of {claim.text}, {claim.whose}; allowed: its text's own"
        )


def _asserting(text):
    checks.one_of("text", text, tuple(TEXTS))
    return [sentence for sentence in sentences() if sentence.text == text and sentence.role == "asserts"]


def _listed(found: Sequence[Sentence]) -> str:
    return ", ".join(str(sentence.number) for sentence in found) or "–"
