"""The claims of the texts, declared once in ``claims.toml``: whose statement, its place and our verdict."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from superposition import checks

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


@dataclass(frozen=True)
class Claim:
    """One entry of ``claims.toml``.

    ``whose`` says who states it: the text prints it or asks it, and has a ``quote``; we complete what the text leaves
    open; or it is ours, and has a ``status``. ``code`` names the function that computes it, "module:function"; a
    definition that no function computes has a ``symbol`` instead. ``coarse`` is the reason why its checks are no
    sharper than a tenth, where they are not.
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
    coarse: str = ""

    @property
    def text(self) -> str:
        """Which of `TEXTS` it is from."""
        return self.id.split(".")[0]

    @property
    def judged(self) -> str:
        """The verdict on the text, or the status of what is ours."""
        return f"ours, {self.status}" if self.status else self.verdict

    @property
    def undecided(self) -> bool:
        """Whether its checks are shown and decide nothing, as it is open and no question that others asked."""
        return self.verdict == "open" and self.kind not in NO_CHECK_NEEDED


@cache
def declared() -> dict[str, Claim]:
    """Every claim of the ledger.

    Returns
    -------
    dict of str to Claim
        In the order of ``claims.toml``.

    Raises
    ------
    ValueError
        If an entry has an unknown text, kind, verdict, ``whose`` or status, a verdict that is not for its ``whose``,
        or a quote or status that is missing or too much.
    """
    text = resources.files("superposition.book").joinpath("claims.toml").read_text(encoding="utf-8")
    claims = {name: Claim(id=name, **entry) for name, entry in tomllib.loads(text).items()}
    for claim in claims.values():
        checks.one_of(f"text of {claim.id}", claim.text, tuple(TEXTS))
        checks.one_of(f"kind of {claim.id}", claim.kind, KINDS)
        checks.one_of(f"verdict of {claim.id}", claim.verdict, VERDICTS)
        _check_whose(claim)
    return claims


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
