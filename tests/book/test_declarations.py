"""The declarations are read once, and are the same for every page."""

from dataclasses import FrozenInstanceError, fields

import pytest
from superposition.book import declarations


def test_a_claim_cannot_be_changed_by_the_page_that_reads_it():
    claim = declarations.declared()["rug.eq5"]
    assert claim is declarations.declared()["rug.eq5"]
    for field in fields(claim):
        with pytest.raises(FrozenInstanceError):
            setattr(claim, field.name, "holds")


def test_a_claim_knows_its_text():
    texts = {claim.text for claim in declarations.declared().values()}
    assert texts == {*declarations.TEXTS} and declarations.declared()["rug.eq5"].text == "rug"


@pytest.mark.parametrize(
    ("name", "kind", "verdict", "said"),
    [
        ("rugs.eq5", "equation", "holds", "text of rugs.eq5 = 'rugs' is unknown; allowed: toy, rug"),
        ("rug.eq5", "theorem", "holds", "kind of rug.eq5 = 'theorem' is unknown; allowed: equation"),
        ("rug.eq5", "equation", "true", "verdict of rug.eq5 = 'true' is unknown; allowed: holds"),
    ],
)
def test_an_unknown_word_is_refused(monkeypatch, tmp_path, name, kind, verdict, said):
    entry = {"place": "here", "statement": "so", "kind": kind, "verdict": verdict, "chapter": "ch3"}
    lines = [f'["{name}"]', *(f'{field} = "{value}"' for field, value in entry.items())]
    (tmp_path / "claims.toml").write_text("\n".join(lines))
    monkeypatch.setattr(declarations.resources, "files", lambda package: tmp_path)
    with pytest.raises(ValueError, match=said):
        declarations.declared.__wrapped__()
