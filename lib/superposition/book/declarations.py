"""The claims of the texts, declared once in ``claims.toml``: whose statement, its place and our verdict."""

import re
import tomllib
from dataclasses import MISSING, dataclass, fields
from functools import cache
from importlib import resources

from superposition import checks

FILE = "claims.toml"  # in this package
KINDS = ("equation", "definition", "figure", "claim", "open question")
VERDICTS = (
    "holds", "holds with conditions", "misprint", "corrected", "refuted", "completed", "open", "not reproduced",
)  # fmt: skip
AGAINST_THE_TEXT = ("misprint", "corrected", "refuted")
CONDITION = "holds with conditions"
# Whose sentence it is, and the verdicts that it may have: only what is printed can be wrong, and ours is no erratum.
WHOSE = {
    "printed": VERDICTS,
    "completion": ("holds", CONDITION, "completed", "open"),
    "question": ("completed", "open"),
    "ours": ("holds", "completed", "open"),
}
STATUSES = ("proved", "cited", "numerical", "conjecture")
NO_CHECK_NEEDED = ("definition", "open question")
# The first part of an id says which text the claim is from.
TEXTS = {
    "toy": "Toy Models", "rug": "The Persian Rug", "incidental": "Incidental Polysemanticity", "gdln": "Localization",
}  # fmt: skip

# Words by which a sentence says that something is nowhere, or everywhere: somebody has to have tried to break it.
SWEEPING = re.compile(r"\b(no|none|nothing|nobody|never|cannot|only|always|wins?|misses|whatever)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Attack:
    """An attempt, by somebody who knew only the statement, to break it; or the reason why it needs no attack.

    ``rival`` is the strongest counterexample that was tried, ``code`` what looks for it, "module:function" or the name
    of a run, ``effort`` how long and how often, ``result`` the best that it reached, and ``test`` the test that runs
    its smallest case, "tests/….py::test_…". Or only ``needless``, the reason.
    """

    rival: str = ""
    code: str = ""
    effort: str = ""
    result: str = ""
    test: str = ""
    needless: str = ""


@dataclass(frozen=True)
class Claim:
    """One entry of ``claims.toml``.

    ``whose`` says who states it: the text prints it or asks it, and has a ``quote``; we complete what the text leaves
    open; or it is ours, and has a ``status``. ``code`` names the function that computes it, "module:function"; a
    definition that no function computes has a ``symbol`` instead. ``proof`` is the label of the theorem that states a
    claim that is proved. ``coarse`` is the reason why its checks are no sharper than a tenth, where they are not.
    ``finding`` says in words what its checks found, without the number, which a page puts after it. ``attack`` is there
    if the sentence is `sweeping`.
    """

    id: str
    place: str
    statement: str
    whose: str
    kind: str
    verdict: str
    chapter: str
    quote: str = ""
    status: str = ""
    right: str = ""
    code: str = ""
    symbol: str = ""
    proof: str = ""
    coarse: str = ""
    finding: str = ""
    attack: Attack | None = None

    @property
    def heading(self) -> str:
        """The words over its checks, with a text's name in bold only where the text prints the sentence."""
        if self.whose == "printed":
            return f"**{self.place}.**"
        if self.whose == "question":
            return f"**A question** of {self.place}."
        return f"**{'Ours' if self.whose == 'ours' else 'Completed by us'}**, on {self.place}."

    @property
    def text(self) -> str:
        """Which of `TEXTS` it is from."""
        return self.id.split(".")[0]

    @property
    def judged(self) -> str:
        """The verdict on the text, or the status of what is ours."""
        return f"ours, {self.status}" if self.status else self.verdict

    @property
    def sweeping(self) -> bool:
        """Whether our own words, which no proof or source supports, say that something is nowhere or everywhere."""
        own = f"{self.statement} {self.right}" if self.whose == "ours" else self.right
        return self.status not in ("proved", "cited") and bool(SWEEPING.search(own))

    @property
    def undecided(self) -> bool:
        """Whether its checks are shown but decide nothing, because it is open and not a question that others asked."""
        return self.verdict == "open" and self.kind not in NO_CHECK_NEEDED


@cache
def declared() -> dict[str, Claim]:
    """Every claim, in the order of ``claims.toml``; a wrong entry is refused, and the sentence begins with the file."""
    text = resources.files("superposition.book").joinpath(FILE).read_text(encoding="utf-8")
    try:
        return {name: _claim(name, entry) for name, entry in tomllib.loads(text).items()}
    except ValueError as error:
        raise ValueError(f"{FILE}: {error}") from None


def _claim(name, entry):
    needed = {field.name: field.default is MISSING for field in fields(Claim) if field.name != "id"}
    for field in entry:
        checks.one_of(f"field of {name}", field, tuple(needed))
    for field in needed:
        if needed[field] and field not in entry:
            raise ValueError(f"{field} of {name} is missing")
        if field != "attack" and not isinstance(entry.get(field, ""), str):
            raise ValueError(f"{field} of {name} = {checks.shown(entry[field])}; allowed: a text")
    claim = Claim(id=name, **entry | {"attack": _attack(name, entry.get("attack"))})
    checks.one_of(f"text of {name}", claim.text, tuple(TEXTS))
    checks.one_of(f"kind of {name}", claim.kind, KINDS)
    checks.one_of(f"verdict of {name}", claim.verdict, VERDICTS)
    _check_whose(claim)
    return claim


def _check_whose(claim):
    checks.one_of(f"whose of {claim.id}", claim.whose, tuple(WHOSE))
    if claim.verdict not in WHOSE[claim.whose]:
        raise ValueError(
            f"verdict of {claim.id} = {claim.verdict!r} is none for whose = {claim.whose!r}; "
            f"allowed: {', '.join(WHOSE[claim.whose])}"
        )
    if bool(claim.quote) != (claim.whose in ("printed", "question")):
        raise ValueError(f"quote of {claim.id} = {claim.quote!r}; allowed: one if printed or asked, else none")
    if claim.whose == "ours":
        checks.one_of(f"status of {claim.id}", claim.status, STATUSES)
    elif claim.status:
        raise ValueError(f"status of {claim.id} = {claim.status!r}; allowed: none, it is not ours")
    if bool(claim.proof) != (claim.status == "proved"):
        raise ValueError(f"proof of {claim.id} = {claim.proof!r}; allowed: the label of a theorem if proved, else none")


def _attack(name, entry):
    if entry is None:
        return None
    *needed, needless = (field.name for field in fields(Attack))
    if not (isinstance(entry, dict) and all(isinstance(text, str) and text for text in entry.values())) or (
        set(entry) not in (set(needed), {needless})
    ):
        raise ValueError(f"attack of {name} = {checks.shown(entry)}; allowed: texts {', '.join(needed)}; or {needless}")
    return Attack(**entry)
