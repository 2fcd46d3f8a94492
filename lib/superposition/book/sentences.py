"""Every sentence of the texts, numbered in ``sentences.csv``: its role, and the claims that judge it."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from superposition import checks
from superposition.book.declarations import TEXTS, declared
from superposition.book.tables import Table, table

ROLES = {
    "asserts": "says something that could be wrong: of the mathematics, of a model or its data, or of a measurement; "
    "also as an equation on the way, or announced in full",
    "defines": "gives a name, a symbol or a notation",
    "asks": "is a question, or leaves one open",
    "motivates": "is background, a report on others, a hope or the plan of the text, "
    "or says in general what sentences beside it assert",
    "method": "says how something was or is computed, proved or drawn",
}
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


@dataclass(frozen=True)
class Reading:
    """One line of ``second_reading.csv`` or of ``third_reading.csv``: a sentence, classified before ours was seen.

    Where our class differed at that time, ``ours`` has it, ``settled`` the present class, and ``why`` the reason.
    """

    text: str
    number: int
    role: str
    reason: str
    ours: str
    settled: str
    why: str


@cache
def sentences() -> tuple[Sentence, ...]:
    """Every sentence, numbered through each text; a displayed formula belongs to the words that lead to it.

    Footnote 1 of The Persian Rug was missed at first, and has the last number of its text.

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
    found = tuple(_sentence(line) for line in _lines("sentences.csv"))
    for text in TEXTS:
        numbers = [sentence.number for sentence in found if sentence.text == text]
        if numbers != list(range(1, len(numbers) + 1)):
            raise ValueError(f"numbers of {text} = {checks.shown(numbers)}; allowed: 1, 2, 3 and so on")
    return found


@cache
def second_reading() -> tuple[Reading, ...]:
    """Sixty sentences of each text, or all, as somebody classified them from the text alone.

    Returns
    -------
    tuple of Reading
        In the order of `TEXTS` and of the text.

    Notes
    -----
    The numbers were drawn by ``random.Random(f"2611 {text}")``. The reader had the names of the classes and not the
    descriptions in `ROLES`, which were written when the differences were settled, and had seen the numbers of nine
    sentences that a review wanted among those that assert; three of them were drawn (Rug 25, 217 and 234).
    """
    return tuple(_reading(**line) for line in _lines("second_reading.csv"))


@cache
def third_reading() -> tuple[Reading, ...]:
    """Sixty of the sentences that the second reading left, as somebody classified them from the texts alone.

    Returns
    -------
    tuple of Reading
        In the order of `TEXTS` and of the text; Toy Models has none, as the second reading has all its sentences.

    Notes
    -----
    The sentences were drawn by ``random.Random("2611 fresh")`` from the 602 that were left. This reader had the
    descriptions in `ROLES`. Two of the sixty were not read blind: the reader had seen our class of Rug 40 in
    ``second_reading.csv``, and the number of Localization 112 among those that a review wanted to assert.
    Of the sentences that assert, the reasons also say whether they are true, as far as that can be judged by reading.
    """
    return tuple(_reading(**line) for line in _lines("third_reading.csv"))


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


def read_twice(readings: Sequence[Reading]) -> Table:
    """How often a reading agreed with ours before they were settled, and which of the two was changed."""
    rows = []
    for text, name in TEXTS.items():
        both = [reading for reading in readings if reading.text == text]
        if not both:
            continue
        differ = [reading for reading in both if reading.ours]
        other = [reading for reading in differ if "asserts" in (reading.ours, reading.role)]
        rows.append(
            {
                "text": name,
                "sentences read again": len(both),
                "asserts, by one reading only": len(other),
                "of these, ours was wrong": _ours_changed(other),
                "other classes differ": len(differ) - len(other),
                "of those, ours was wrong": _ours_changed(differ) - _ours_changed(other),
            }
        )
    return table(rows, exact=True)


def _reading(number, **line):
    return Reading(number=int(number), **line)


def _ours_changed(readings):
    return sum(reading.settled != reading.ours for reading in readings)


def _lines(name):
    lines = resources.files("superposition.book").joinpath(name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(lines))


def _sentence(line):
    where = f"{line['text']} {line['number']}"
    checks.one_of(f"text of sentence {where}", line["text"], tuple(TEXTS))
    checks.one_of(f"class of sentence {where}", line["class"], tuple(ROLES))
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
