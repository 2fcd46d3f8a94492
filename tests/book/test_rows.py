"""How the outcome of a check is shown: which columns, which digits, which number is the decisive one."""

import html
import re
from dataclasses import replace

import pytest
from superposition.book import rows

AGREES = rows.Row("rug.eq5", "p = 0.1", "holds", "equals", (1.0,), (1.02,), (0.1,), (), "confirmed", 0.1)
AGAINST = replace(AGREES, label="p = 0.2", verdict="misprint", printed=(1.23456,))
OPEN = replace(AGREES, label="p = 0.3", outcome="undecided")


def cells(*some):
    """The text of each line of the table for people."""
    shown = rows.Table(some)._repr_mimebundle_()["text/markdown"].replace("\u00a0", " ")
    lines = re.findall("<tr.*?</tr>", shown)
    return [[html.unescape(cell) for cell in re.findall("<t[hd]>(.*?)</t[hd]>", line)] for line in lines]


@pytest.mark.parametrize(
    ("some", "more"),
    [
        ((AGREES,), ["resolution"]),
        ((AGREES, AGAINST), ["text's own form", "resolution"]),
        ((AGREES, OPEN), ["resolution", "outcome"]),
        ((AGAINST, OPEN), ["text's own form", "resolution", "outcome"]),
    ],
)
def test_a_column_is_there_where_it_says_something(some, more):
    heads, *lines = cells(*some)
    assert heads == ["case", "prediction", "measured", "tolerance", *more]
    assert [len(line) for line in lines] == [len(heads)] * len(some)


def test_a_line_says_what_was_predicted_measured_and_found():
    assert cells(AGREES, AGAINST, OPEN)[1:] == [
        ["p = 0.1", "= 1", "1.02", "0.1", "–", "10 %", "✓ confirmed"],
        ["p = 0.2", "= 1", "1.02", "0.1", "1.23 ✗", "10 %", "✓ confirmed"],
        ["p = 0.3", "= 1", "1.02", "0.1", "–", "10 %", "? undecided"],
    ]
    exact = replace(AGREES, label="", relation="below", tolerance=(0.0,))
    assert cells(exact)[1] == ["–", "< 1", "1.02", "–", "10 %"]


def test_what_the_text_prints_is_crossed_out_only_where_it_was_excluded():
    assert rows.excluded(AGREES) == "–" and rows.excluded(AGAINST) == "1.23 ✗"
    assert rows.excluded(replace(AGAINST, outcome="undecided")) == "1.23"
    some = replace(AGAINST, printed=(1.23456, 1.0), spared=(1,), spared_because="they agree there")
    assert rows.excluded(some) == "1.23, 1 ✗ but at 1 of 2: they agree there"


def test_a_verdict_stands_on_the_widest_gap_to_what_the_text_prints():
    assert rows.decisive([AGREES, OPEN]) == "measured 1.02, predicted 1"
    both = replace(AGAINST, predicted=(1.0, 5.0), measured=(1.02, 5.01), tolerance=(0.1, 0.0), printed=(1.5, 8.0))
    assert rows.decisive([AGREES, both]) == "measured 5.01, our form gives 5, the text's own form gives 8"
    wide = replace(both, predicted=(1.0, 7.9), measured=(1.02, 7.9), printed=(3.0, 8.0))  # 3 is farther off than 8
    assert rows.decisive([wide]) == "measured 1.02, our form gives 1, the text's own form gives 3"
    assert rows.decisive([replace(AGREES, relation="above")]) == "1.02, above the limit 1"
    assert rows.decisive([replace(AGREES, relation="below", measured=(0.149,), tolerance=(0.0076,))]) == (
        "0.149, below the limit 1"
    )
    near = replace(AGREES, relation="above", predicted=(1.23456709,), measured=(1.23456782,))
    assert rows.decisive([near]) == "1.23457, above the limit 1.23457"  # six digits at most


def test_an_identity_says_how_well_its_sides_agree():
    sides = replace(AGREES, predicted=(0.3,), measured=(0.3 + 2e-13,), tolerance=(3e-13,))
    assert rows.decisive([replace(sides, resolution=9e-13)]) == "both sides agree to 1e-12"
    assert rows.decisive([replace(sides, resolution=2e-12)]) == "both sides agree to 1e-11"
    assert "agree" not in rows.decisive([replace(sides, resolution=0.002)])
    whole = replace(AGREES, measured=(3.0,), predicted=(3.0,), tolerance=(0.0,), resolution=0.0)
    assert rows.decisive([whole]) == "exactly 3"
    assert rows.decisive([replace(whole, measured=(3.0, 4.0), predicted=(3.0, 4.0))]) == "both sides agree exactly"


def test_an_identity_agrees_to_a_ten_thousandth_of_its_unit():
    sides = replace(AGREES, resolution=1e-4, unit="span")
    assert rows.decisive([sides]) == "both sides agree to 1e-04"
    assert rows.decisive([replace(sides, resolution=1.005e-4)]) == "measured 1.02, predicted 1"
    nothing = replace(sides, predicted=(0.0,), measured=(0.0,))
    assert rows.decisive([nothing]) == "zero, to 1e-04 of span"
    assert rows.decisive([replace(nothing, unit="")]) == "zero, to 1e-04"
    for tolerance, zero in ((4.9e-4, True), (5.1e-4, False)):
        against = replace(AGAINST, predicted=(0.0,), measured=(0.0,), tolerance=(tolerance,), printed=(-5.0,))
        assert rows.decisive([against]).startswith("zero to 5e-04, the text's own form gives -5") is zero


def test_what_is_right_is_said_above_the_checks_of_a_claim_that_has_it(monkeypatch):
    for right, said in (("It falls.", "\n\n*Ours:* It falls.\n\n"), ("", "\n")):
        known = replace(rows.declared()["rug.eq5"], right=right, statement="It rises.")
        monkeypatch.setitem(rows.declared(), "rug.eq5", known)
        shown = rows.Table((AGREES,))._repr_mimebundle_()["text/markdown"]
        summary = f"<summary>{rows.headline([AGREES])}</summary>"
        assert shown == f"{known.heading} It rises.\n\n<details>{summary}{said}{rows._html([AGREES])}\n</details>"


def test_a_misprint_shows_digits_that_differ():
    near = replace(AGAINST, predicted=(0.99927,), measured=(0.99927,), tolerance=(1e-12,), printed=(0.99926,))
    assert rows.decisive([near]) == "0.99927, as our form gives, the text's own form gives 0.99926"
    zero = replace(near, predicted=(0.0,), measured=(2e-17,), tolerance=(1e-12,), printed=(0.5,))
    assert rows.decisive([zero]) == "zero to 1e-12, the text's own form gives 0.5"


def test_the_headline_is_what_how_much_verdict_and_number():
    finding = rows.declared()["rug.eq5"].finding
    said = f"{finding}: measured 1.02, predicted 1 (p = 0.1) · <b>completed</b> · 2 checks"
    assert html.unescape(rows.headline([AGREES, AGREES])).replace("\u00a0", " ") == said
    assert "(" not in rows.headline([replace(AGREES, label="")], "eq. 5").removeprefix(finding)
    assert "<b>undecided in this run (1 of 2)</b>" in rows.headline([AGREES, OPEN])


def test_in_text_a_measured_digit_is_never_shown():
    plain = rows.Table((AGREES, replace(OPEN, label="", relation="below")))._repr_mimebundle_()["text/plain"]
    assert plain == "rug.eq5 [p = 0.1]: holds; = 1; confirmed\nrug.eq5: holds; < bound; undecided"


def test_a_text_is_named_in_bold_only_over_what_it_prints():
    for name, claim in rows.declared().items():
        head = rows.Table((replace(AGREES, id=name),))._repr_mimebundle_()["text/markdown"].split("<details>")[0]
        bold = re.findall(r"\*\*(.*?)\*\*", head.split(claim.statement)[0])
        text = rows.declared()[name].place.split(",")[0]
        assert len(bold) == 1 and (text in bold[0]) == (claim.whose == "printed"), name
        assert claim.place in head
