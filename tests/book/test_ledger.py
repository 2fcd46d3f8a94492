"""The ledger page: what it shows, what the stored chapters leave open, and how sharp their checks are."""

import json
import re
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from superposition.book import claims, declarations, forms, ledger, resolution

BOOK = Path(__file__).resolve().parents[2] / "book"
CHAPTERS = {path.stem: path for path in BOOK.glob("ch*.ipynb")}
NEEDS_REASON = 0.1  # what would go unnoticed, of the prediction, without a reason in the claims file


def coverage(notebooks):
    """What executed chapters leave open, one sentence each: claims without a check, checks in another chapter."""
    checked = {(row.id, chapter) for chapter, path in notebooks.items() for row in ledger.records(path)}
    known = declarations.declared()
    wanted = {
        (claim.id, claim.chapter)
        for claim in known.values()
        if claim.chapter in notebooks and claim.kind not in declarations.NO_CHECK_NEEDED
    }
    missing = [f"{name} is declared for {chapter} and not checked there" for name, chapter in sorted(wanted - checked)]
    unknown = [f"{name} is checked in {chapter} and not declared" for name, chapter in checked if name not in known]
    return (
        missing
        + unknown
        + [
            f"{name} is checked in {chapter} and declared for {known[name].chapter}"
            for name, chapter in sorted(checked)
            if name in known and known[name].chapter != chapter
        ]
    )


def problem(value, coarse, undecided):
    """What is missing for a check that is too coarse, or whose sharpness nobody knows."""
    if value is None:
        return "names no scale or rival"
    unnoticed = f"would not notice a change of {forms.percent(value)}"
    if value > resolution.DECIDES_NOTHING and not undecided:
        return unnoticed
    return f"{unnoticed}, and gives no reason" if value > NEEDS_REASON and not coarse else ""


def blunt(notebooks):
    rows = [row for path in notebooks.values() for row in ledger.records(path)]
    pairs = [(row, declarations.declared()[row.id]) for row in rows]
    missing = [(row.id, row.label, problem(row.resolution, claim.coarse, claim.undecided)) for row, claim in pairs]
    return [found for found in missing if found[2]]


def test_every_claim_is_checked_in_its_chapter_and_every_check_is_declared():
    assert coverage(CHAPTERS) == [], "chapter or coarse in claims.toml, or the checks of a page and `make refresh`"


def test_coverage_sees_what_is_missing(tmp_path):
    empty = tmp_path / "ch3.ipynb"
    empty.write_text(json.dumps({"cells": []}))
    assert any("rug.eq5 is declared for ch3 and not checked" in problem for problem in coverage({"ch3": empty}))
    problems = coverage({"ch0": CHAPTERS["ch3"]})
    assert "rug.eq5 is checked in ch0 and declared for ch3" in problems


def test_stored_rows_are_confirmed_at_the_defaults():
    rows = [row for path in CHAPTERS.values() for row in ledger.records(path)]
    assert len(rows) > 20
    for row in rows:
        expected = "undecided" if declarations.declared()[row.id].undecided else "confirmed"
        assert row.outcome == expected, (row.id, row.label)


def test_stored_resolutions_are_those_of_their_numbers():
    rows = [row for path in CHAPTERS.values() for row in ledger.records(path) if row.unit == "prediction"]
    assert len(rows) > 300
    for row in rows:
        found = resolution.of(row.relation, row.predicted, row.measured, row.tolerance)
        assert row.resolution == pytest.approx(found, rel=1e-9), (row.id, row.label)


@pytest.mark.parametrize(
    ("value", "coarse", "undecided", "missing"),
    [
        (0.1, "", False, ""),
        (0.11, "", False, "would not notice a change of 11 %, and gives no reason"),
        (0.11, "five seeds", False, ""),
        (0.51, "five seeds", False, "would not notice a change of 51 %"),
        (0.51, "five seeds", True, ""),
        (0.51, "", True, "would not notice a change of 51 %, and gives no reason"),
        (None, "five seeds", True, "names no scale or rival"),
    ],
)
def test_limits(value, coarse, undecided, missing):
    assert problem(value, coarse, undecided) == missing


def test_a_blunt_row_is_found_unless_its_claim_is_open(tmp_path, monkeypatch):
    known = declarations.declared()
    monkeypatch.setitem(known, "rug.eq6", replace(known["rug.eq6"], verdict="open", coarse="what would decide it"))
    rows = [claims.check(name, 9, 11.5, atol=4) for name in ("rug.eq5", "rug.eq6")]
    output = nbformat.v4.new_output("display_data", data=claims.table(*rows)._repr_mimebundle_())
    path = tmp_path / "out.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=[output])]), path)
    assert blunt({"ch5": path}) == [("rug.eq5", "", "would not notice a change of 72 %")]


def test_records_come_back_from_a_notebook(tmp_path):
    row = claims.check("rug.eq5", 0.5, 0.51, se=0.1)
    output = nbformat.v4.new_output("display_data", data=claims.table(row, row)._repr_mimebundle_())
    path = tmp_path / "out.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=[output])]), path)
    found = ledger.records(path)
    assert len(found) == 2 and found == [row, row]


def test_ledger_shows_every_claim_with_its_evidence():
    shown = "".join(ledger.page(CHAPTERS, text)._repr_mimebundle_()["text/markdown"] for text in declarations.TEXTS)
    for claim in declarations.declared().values():
        assert f"<code>{claim.id}</code>" in shown and claim.statement in shown
    of_texts = [claim for claim in declarations.declared().values() if claim.whose != "ours"]
    assert sum(sum(counts.values()) for counts in ledger.verdicts().values()) == len(of_texts)
    bundle = ledger.page(CHAPTERS, "rug")._repr_mimebundle_()
    measured = ledger.records(CHAPTERS["ch3"])[0].measured[0]
    assert f"{measured:.6g}" in bundle["text/markdown"] and f"{measured:.6g}" not in bundle["text/plain"]


def test_ours_stand_by_themselves_with_their_status():
    declared = declarations.declared()
    shown = ledger.Page(tuple((declared[name], ()) for name in ("rug.best.lemma", "rug.eq6")))._repr_mimebundle_()
    texts, ours = shown["text/markdown"].split('<div class="ours">')
    assert "<code>rug.eq6</code>" in texts and re.search(r"\*The text,\* sentence [\d, ]+: eq\. 6", texts)
    assert "<code>rug.best.lemma</code>" in ours and "<b>ours, proved</b>" in ours and "<b>completed</b>" not in ours
    assert shown["text/plain"].startswith("rug.best.lemma: ours, proved")
    order = [claim.whose == "ours" for claim, _ in ledger.page({}, "rug").entries]
    assert order == sorted(order) and any(order)


def test_text_of_another_name_is_refused():
    with pytest.raises(ValueError, match="text = 'rugs' is unknown"):
        ledger.page({}, "rugs")


def test_rows_link_to_the_cell_that_checks_them_and_to_the_code():
    row = claims.check("rug.eq5", 1.0, 1.0, label="p = 0.05 | r = 0.2")
    shown = ledger.Page(((declarations.declared()["rug.eq5"], (row,)),))._repr_mimebundle_()["text/markdown"]
    target = re.search(r'href="ch3\.html#(claim-rug-eq5-[0-9a-f]{8})">p = 0\.05 \\\| r = 0\.2</a>', shown)[1]
    assert f'<tr id="{target}">' in row._repr_mimebundle_()["text/markdown"]
    assert f'href="{ledger.reference(declarations.declared()["rug.eq5"].code)}"' in shown


def test_resolution_is_shown_and_sorted_by():
    claim, sharp = declarations.declared()["rug.eq5"], declarations.declared()["rug.eq4"]
    none = declarations.declared()["rug.better"]
    entries = (
        (claim, (claims.check("rug.eq5", 1, 1, rtol=0.25), claims.check("rug.eq5", 1, 1, rtol=0.01))),
        (sharp, (claims.check("rug.eq4", 1, 1, rtol=0.02),)),
        (none, (claims.check("rug.better", 1, 2, relation="above"),)),
    )
    start, head, end, *_ = ledger.Page(entries)._repr_mimebundle_()["text/markdown"].split("\n\n")
    assert 'id="rug.eq5"' in start and end == "</summary>"
    assert "· 25 %<br>" in head and head.endswith(claim.statement)  # what is claimed is seen without unfolding
    ordered = ledger.Sharpness(tuple(sorted(entries, key=ledger._bluntness)))._repr_mimebundle_()["text/markdown"]
    assert re.findall(r"\| (–|[\d.]+ %) \|", ordered) == ["–", "25 %", "2 %"]


def test_sharpness_lists_every_claim_that_has_checks():
    shown = ledger.sharpness(CHAPTERS)
    assert len(shown.entries) == len({row.id for path in CHAPTERS.values() for row in ledger.records(path)})
    assert not re.search(r"\d\.\d", shown._repr_mimebundle_()["text/plain"])


def test_every_check_is_sharp_enough_or_says_why_not():
    assert blunt(CHAPTERS) == []


def test_every_reason_for_a_coarse_check_is_still_needed():
    rows = [row for path in CHAPTERS.values() for row in ledger.records(path)]
    coarse = {row.id for row in rows if row.resolution is not None and row.resolution > NEEDS_REASON}
    assert {claim.id for claim in declarations.declared().values() if claim.coarse} == coarse


def test_a_figure_of_the_rug_is_not_reproduced_only_where_the_text_s_own_rule_was_followed():
    named = {
        name for name, one in declarations.declared().items() if name[:4] == "rug." and one.verdict == "not reproduced"
    }
    labels = {name: "" for name in named}
    for notebook in CHAPTERS.values():
        for row in ledger.records(notebook):
            if row.id in named:
                labels[row.id] += row.label
    assert [name for name, said in labels.items() if "text's rule" not in said] == []
