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
    "asks": "is a question, calls for further work, leaves open which of several possibilities holds, or is wholly a "
    "doubt of the authors, who do not know how or whether. “Which eigenvalues will be nonzero” is not known "
    "(Localization 98)",
    "asserts": "says something about the mathematics, or about the models, data, training or figures of the text, "
    "that a calculation, a measurement or a look at the figure could show to be false; the sentence may be general, "
    "hedged, repeated or unproved. The model has “a much quicker reduction in loss” (Rug 50)",
    "defines": "gives or recalls a name, a symbol or a notation, says what a quantity stands for, or introduces a "
    "model, its data, its output or its loss. “It receives an input” (Localization 2)",
    "method": "says what is done, how, or to what end: how something is trained, measured, computed, proved or drawn, "
    "with which settings and assumptions, or which step comes next. “Learning rate of 0.01, batch size of 10,000” "
    "(Localization 81)",
    "motivates": "does none of these: background, what others did or found on other systems, hopes, wishes, "
    "judgements of worth, why a topic or a model was chosen, how the text is arranged, where something is found, "
    "thanks. “This is due to the phenomena of superposition” (Rug 16)",
}
ORDER = (
    "The classes are tried in this order. The first that fits a main statement of the sentence is its class. "
    "A displayed formula belongs to the words that lead to it."
)
RULES = {
    "hedges": "“Seems”, “might”, “tends to”, “I think” and “we hypothesize” do not count: what they hedge asserts "
    "(Incidental 98, inner products “will tend to decrease exponentially”). An expectation of something outside the "
    "text, such as data of the world or later use of the work, motivates (Rug 229, “we expect real world data to”).",
    "announcements, summaries": "“We show, prove, find, confirm that” asserts if the result can be read from the "
    "sentence (Rug 39, “we show empirically that large models display” a symmetry). So do an announced construction "
    "with a property, “a network that is optimal”, and a claim on how far the text gets, such as that its account is "
    "whole or that it excludes something. A sentence that only names what is studied, discussed or derived is a "
    "signpost.",
    "signposts": "How the text or a section is arranged motivates (Rug 38, “In section 2 we review the model”). The "
    "next step of a calculation, a proof or an experiment is method, also with its aim, “to show that” (Rug 274, “we "
    "will show a more general lower bound”).",
    "what the authors do": "How they compute, train or test, or would do it, is method (Localization 209, “we would "
    "answer the former by looking at”); when the text will come to it motivates (Localization 152, “Later on, we’ll "
    "try”).",
    "repetitions": "A statement that is made again, in an abstract, a summary, a caption or a footnote, has the class "
    "that it had the first time; Toy Models 25, “ReLU makes negative interference free”, asserts as before.",
    "equations": "A displayed equation asserts, also as a step on the way or an approximation (Incidental 94, “We "
    "have”). One whose left side is a new symbol, or the output or loss of a model when first written down, defines "
    "(Incidental 121, “The output is computed as”). One that does both asserts (Localization 150, the gate of "
    "equation 37).",
    "figures": "What is plotted, and with which settings, is method (Rug 81, “We plot the mean-square fluctuation”); "
    "what is seen in the figure, or follows from it, asserts (Rug 98, “all noise variables have identical "
    "variances”).",
    "reports on others": "Mathematics, and the model that the text itself studies, assert whoever showed it (Rug 48, "
    "“It is known that for the linear model”). History, comparisons with other work, and what was found on other "
    "systems, motivate (Rug 213, “These features are highly interpretable”), unless the sentence itself draws a "
    "conclusion for this text.",
    "likenesses, judgements": "“Similar to”, “analogous to”, “easier” or “nice” that do not say in which "
    "respect motivate (Toy Models 21, “vaguely similar to the famous Thomson problem”); where the sentence says in "
    "which respect, it asserts (Toy Models 22).",
    "reasons, consequences": "A reason or a consequence (“since”, “because”, “so that”) that is given for the first "
    "time and could be false makes the sentence assert, whatever its main clause does (Localization 215, “since they "
    "will decay the slowest”). One that was said before does not (Incidental 78 is method, “we seek to determine the "
    "range”).",
    "assumptions": "An assumption that is made, or a case that is chosen, is method (Incidental 198, the second "
    "assumption of appendix C). That a result needs an assumption asserts (Localization 104, “we need to assume”).",
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


READINGS = ("second", "third", "fourth")


@dataclass(frozen=True)
class Reading:
    """One line of a file ``*_reading.csv``: a sentence, classified before ours was seen.

    Where our class differed at that time, ``ours`` has it, ``settled`` the present class, and ``why`` the reason.
    """

    text: str
    number: int
    role: str
    reason: str
    ours: str
    settled: str
    why: str


@dataclass(frozen=True)
class Change:
    """One line of ``sharpened.csv``: a sentence that changed its class, and ``why``."""

    text: str
    number: int
    was: str
    now: str
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
def reading(which: str) -> tuple[Reading, ...]:
    """Sentences as somebody classified them from the texts alone, in the "second", "third" or "fourth" reading.

    Parameters
    ----------
    which : str
        Sixty sentences of each text, or all ("second"), and sixty of those that were left then ("third", "fourth").

    Returns
    -------
    tuple of Reading
        In the order of `TEXTS` and of the text; only the second reading has sentences of Toy Models, all of them.

    Raises
    ------
    ValueError
        If there is no such reading.

    Notes
    -----
    *Second.* The numbers were drawn by ``random.Random(f"2611 {text}")``. The reader had the names of the classes and
    no description: descriptions were written when the differences were settled, and `RULES` later. The reader had seen
    the numbers of nine sentences that a review wanted among those that assert; three of them were drawn (Rug 25, 217
    and 234).

    *Third.* Drawn by ``random.Random("2611 fresh")`` from the 602 that were left. This reader had a description of each
    class, one line long, and no `RULES`. Two of the sixty were not read blind: the reader had seen our class of Rug 40
    in ``second_reading.csv``, and the number of Localization 112 among those that a review wanted to assert. Of the
    sentences that assert, the reasons also say whether they are true, as far as that can be judged by reading.

    *Fourth.* Drawn by ``random.Random("2611 fourth")`` from the 542 that were left; the reader had `ROLES` and `RULES`,
    which quote none of these.
    """
    checks.one_of("which", which, READINGS)
    return tuple(_reading(**line) for line in _lines(f"{which}_reading.csv"))


@cache
def sharpened() -> tuple[Change, ...]:
    """Sentences that changed their class when `ROLES` and `RULES` were sharpened and all sentences read through again.

    In the order of `TEXTS` and of the text. The six that a reading has are settled there.
    """
    return tuple(_change(**line) for line in _lines("sharpened.csv"))


def defined() -> Table:
    """What each class means, in the order in which the classes are tried, with an example from the texts."""
    rows = [{"class": role, "a sentence that": said} for role, said in ROLES.items()]
    return table(rows, before=ORDER, exact=True)


def decided() -> Table:
    """How the cases are decided in which two readers differed, or could."""
    return table([{"case": case, "its class": said} for case, said in RULES.items()], exact=True)


def without_row(text: str) -> list[Sentence]:
    """The sentences of one of `TEXTS` that assert something and are not in the ledger yet."""
    return [sentence for sentence in _asserting(text) if not sentence.claims]


def naming(claim_id: str) -> tuple[int, ...]:
    """The numbers of the sentences that name a claim of ``claims.toml``; one of ours has no sentence."""
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


def changed() -> Table:
    """How many sentences of each text changed their class, by the old and the new class."""
    rows = []
    for text, name in TEXTS.items():
        of_text = [change for change in sharpened() if change.text == text]
        asserting = sum(change.now == "asserts" for change in of_text)
        no_more = sum(change.was == "asserts" for change in of_text)
        other = len(of_text) - asserting - no_more
        rows.append({"text": name, "asserts now": asserting, "asserts no more": no_more, "other classes": other})
    return table(rows, exact=True)


def _reading(number, **line):
    return Reading(number=int(number), **line)


def _change(number, **line):
    return Change(number=int(number), **line)


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
