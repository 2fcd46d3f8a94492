"""The claims of the texts, declared once in ``claims.toml``: statement, place and verdict."""

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
NO_CHECK_NEEDED = ("definition", "open question")
# The first part of an id says which text the claim is from.
TEXTS = {
    "toy": "Toy Models", "rug": "The Persian Rug", "incidental": "Incidental Polysemanticity", "gdln": "Localization",
}  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """One entry of ``claims.toml``.

    ``code`` names the function that computes it, "module:function"; a definition that no function
    computes has a ``symbol`` instead. ``coarse`` is the reason why its checks are no sharper than
    a tenth, where they are not.
    """

    id: str
    place: str
    statement: str
    kind: str
    verdict: str
    chapter: str
    right: str = ""
    code: str = ""
    symbol: str = ""
    coarse: str = ""

    @property
    def text(self) -> str:
        """Which of `TEXTS` it is from."""
        return self.id.split(".")[0]

    @property
    def undecided(self) -> bool:
        """Whether its checks are shown and decide nothing: it is open, and is no question that others asked."""
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
        If an entry has an unknown text, kind or verdict.
    """
    text = resources.files("superposition.book").joinpath("claims.toml").read_text(encoding="utf-8")
    claims = {name: Claim(id=name, **entry) for name, entry in tomllib.loads(text).items()}
    for claim in claims.values():
        checks.one_of(f"text of {claim.id}", claim.text, tuple(TEXTS))
        checks.one_of(f"kind of {claim.id}", claim.kind, KINDS)
        checks.one_of(f"verdict of {claim.id}", claim.verdict, VERDICTS)
    return claims
