"""Errata are made of the declared claims: each that goes against the text stands there once, with its evidence."""

import pytest
from superposition.book import claims, declarations, errata


def test_every_claim_that_a_text_should_change_is_in_one_chapter_and_one_letter(tmp_path):
    wrong = [
        c for c in declarations.declared().values() if c.verdict in (*declarations.AGAINST_THE_TEXT, errata.CONDITION)
    ]
    pages = {claim.chapter for claim in declarations.declared().values()}
    assert sum(len(errata.of_chapter(page).rows) for page in pages) == len(wrong)
    assert sum(len(errata.of_text(text, {}).entries) for text in declarations.TEXTS) == len(wrong)


def test_errors_come_before_conditions():
    kinds = ["condition" in row[0] for row in errata.of_chapter("ch2").rows]
    assert kinds == sorted(kinds) and True in kinds and False in kinds


def test_a_letter_shows_the_number_that_decides(monkeypatch):
    row = claims.check("rug.hadamard", 64, 64, printed=1, label="rank")
    monkeypatch.setattr(errata.ledger, "records", lambda path: [row])
    shown = errata.of_text("rug", {"ch2": "ch2.ipynb"})._repr_mimebundle_()
    (card,) = [card for card in shown["text/markdown"].split('<div class="erratum"') if 'id="rug.hadamard"' in card]
    assert 'data-verdict="misprint"' in card and "[ch2](ch2.ipynb)" in card
    said = "64, as our form gives, the text's own form gives 1 (rank) · <b>misprint</b> · 1 check"
    assert said in card.replace("&#x27;", "'")
    assert "64" not in shown["text/plain"] and "rug.hadamard: misprint" in shown["text/plain"]


def test_a_page_without_claims_is_refused():
    with pytest.raises(ValueError, match="pages = 'ch0'"):
        errata.of_chapter("ch0")


def test_the_cards_of_a_letter_are_counted_from_one():
    entries = errata.of_text("rug", {}).entries
    cards = errata.Cards(entries)._repr_mimebundle_()["text/markdown"].split('<div class="erratum"')[1:]
    numbers = [card.split("**")[1].split(".")[0] for card in cards]
    assert numbers == [str(k + 1) for k in range(len(entries))] and len(numbers) > 2
