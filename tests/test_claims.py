"""The ledger's machinery: what raises, what is shown, what is compared, what is read back."""

import json
from pathlib import Path

import nbformat
import pytest
from superposition import claims

BOOK = Path(__file__).resolve().parent.parent / "book"
CHAPTERS = {path.stem: path for path in BOOK.glob("ch*.ipynb")}


def test_declarations_are_complete():
    for claim in claims.declared().values():
        assert claim.statement and claim.place and claim.chapter.startswith("ch")
        if claim.verdict in (*claims.AGAINST_THE_TEXT, "completed", "holds with conditions"):
            assert claim.right, f"{claim.id}: the right form is missing"


def test_every_claim_is_checked_in_its_chapter_and_every_check_is_declared():
    assert claims.coverage(CHAPTERS) == []


def test_coverage_sees_what_is_missing(tmp_path):
    empty = tmp_path / "ch3.ipynb"
    empty.write_text(json.dumps({"cells": []}))
    assert any("rug.eq5 is declared for ch3 and not checked" in problem for problem in claims.coverage({"ch3": empty}))
    problems = claims.coverage({"ch9": CHAPTERS["ch3"]})
    assert "rug.eq5 is checked in ch9 and declared for ch3" in problems


def test_stored_rows_are_confirmed_at_the_defaults():
    rows = [row for path in CHAPTERS.values() for row in claims.records(path)]
    assert len(rows) > 20 and {row["outcome"] for row in rows} == {"confirmed"}


@pytest.mark.parametrize(
    ("relation", "measured", "agrees"),
    [
        ("equals", 1.05, True),
        ("equals", 1.3, False),
        ("below", 0.8, True),
        ("below", 0.95, False),
        ("below", 1.3, False),
        ("above", 1.2, True),
        ("above", 1.05, False),
    ],
)
def test_relations(relation, measured, agrees):
    def run(**kwargs):
        return claims.check("rug.eq5", 1.0, measured, se=0.025, relation=relation, **kwargs)  # 4 se = 0.1

    if agrees:
        assert run().outcome == "confirmed"
    else:
        with pytest.raises(claims.ClaimError, match="rug.eq5 .*the measurement does not agree"):
            run()
        assert run(may_be_undecided=True).outcome == "undecided"


def test_one_bad_value_of_many_is_enough():
    claims.check("rug.eq4", [1, 2, 3], [1, 2, 3])
    with pytest.raises(claims.ClaimError):
        claims.check("rug.eq4", [1, 2, 3], [1, 2, 3.1], rtol=0.01)
    with pytest.raises(claims.ClaimError):
        claims.check("rug.eq4", 1.0, float("nan"), atol=1e9)


def test_controls_must_bite():
    assert claims.check("rug.projector", 6.4, 6.4, printed=1.0, rtol=1e-9).outcome == "confirmed"
    with pytest.raises(claims.ClaimError, match="the printed form is not excluded"):
        claims.check("rug.projector", 6.4, 6.4, printed=6.3, atol=0.2)  # a tolerance so wide that nothing is told apart
    with pytest.raises(ValueError, match="printed = None is not enough for rug.projector"):
        claims.check("rug.projector", 6.4, 6.4)


def test_tolerance_is_the_sum_of_its_parts():
    row = claims.check("rug.eq5", [10.0, -10.0], [10.0, -10.0], atol=1, rtol=0.1, se=[0.5, 0.25], z=2)
    assert row.tolerance == (3.0, 2.5)


def test_plain_text_holds_no_measured_digit():
    first, second = (
        claims.check("rug.eq5", 0.5, m, se=0.1, label="case")._repr_mimebundle_() for m in (0.51, 0.4987654)
    )
    assert first["text/plain"] == second["text/plain"] == "rug.eq5 [case]: completed; = 0.5; confirmed"
    assert "0.498765" in second["text/html"] and "0.498765" not in second["text/plain"]


def test_plain_text_of_a_one_sided_claim_holds_no_digit_of_its_control():
    texts = {
        claims.check("rug.eq5", bound, 0.1, relation="below")._repr_mimebundle_()["text/plain"] for bound in (0.5, 0.49)
    }
    assert texts == {"rug.eq5: completed; < bound; confirmed"}


def test_html_escapes_and_shows_the_excluded_form():
    bundle = claims.check("rug.projector", 6.4, 6.4, printed=1.0, rtol=1e-9, label="<i>")._repr_mimebundle_()
    assert "<i>" not in bundle["text/html"] and "1\u00a0✗" in bundle["text/html"]


def test_a_number_that_repeats_is_written_once():
    bundle = claims.check("rug.eq5", 1.0, [1.0, 1.25], atol=1)._repr_mimebundle_()
    assert bundle["text/plain"] == "rug.eq5: completed; = 1 (2 values); confirmed"
    assert "1, 1.25" in bundle["text/html"]


def test_records_come_back_from_a_notebook(tmp_path):
    row = claims.check("rug.eq5", 0.5, 0.51, se=0.1)
    output = nbformat.v4.new_output("display_data", data=claims.table(row, row)._repr_mimebundle_())
    path = tmp_path / "out.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=[output])]), path)
    found = claims.records(path)
    assert len(found) == 2 and found[0]["measured"] == [0.51] and found[0]["outcome"] == "confirmed"


def test_ledger_shows_every_claim_with_its_evidence():
    shown = "".join(claims.ledger(CHAPTERS, text)._repr_mimebundle_()["text/markdown"] for text in claims.TEXTS)
    for claim in claims.declared().values():
        assert f"`{claim.id}`" in shown and claim.statement in shown
    assert sum(sum(counts.values()) for counts in claims.verdicts().values()) == len(claims.declared())
    bundle = claims.ledger(CHAPTERS, "rug")._repr_mimebundle_()
    measured = claims.records(CHAPTERS["ch3"])[0]["measured"][0]
    assert f"{measured:.6g}" in bundle["text/markdown"] and f"{measured:.6g}" not in bundle["text/plain"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: claims.check("rug.eq55", 1, 1), "claim_id = 'rug.eq55' is not declared; nearest: rug.eq5"),
        (lambda: claims.check("rug.eq5", 1, 1, relation="near"), "relation = 'near' is unknown"),
        (lambda: claims.check("rug.eq5", 1, 1, rtol=-1), "rtol = -1 is out of range"),
        (lambda: claims.check("rug.eq5", 1, 1, se=float("nan")), "se = nan is out of range"),
        (lambda: claims.check("rug.eq5", [], []), r"measured = \[\] is empty"),
        (lambda: claims.check("rug.eq5", 0, [0] * 1001), "measured has 1001 numbers for rug.eq5; allowed: up to 1000"),
        (lambda: claims.ledger({}, "rugs"), "text = 'rugs' is unknown"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
