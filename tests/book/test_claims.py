"""The ledger's machinery: what raises, what is shown, what is compared, what is read back."""

import importlib.util
import json
from dataclasses import replace

import numpy as np
import pytest
from superposition.book import claims, declarations, rows
from together import together


def test_declarations_are_complete():
    for claim in declarations.declared().values():
        here = f"{declarations.FILE}: {{}} of {claim.id}".format
        assert claim.statement and claim.place, here("statement or place")
        assert claim.chapter.startswith("ch"), here("chapter")
        named = bool(claim.code) != bool(claim.symbol and claim.kind == "definition")
        assert named, f"{here('code')} is missing; a definition that no function computes has a symbol instead"
        if claim.verdict in (*declarations.AGAINST_THE_TEXT, "completed", "holds with conditions"):
            assert claim.right, f"{here('right')} is missing: what the text should say, or the answer or condition"


def test_the_code_of_every_claim_exists():
    for claim in declarations.declared().values():
        if claim.code:
            module, name = claim.code.split(":")
            code = f"{declarations.FILE}: code of {claim.id}"
            assert importlib.util.find_spec(module), f"{code}: there is no module {module}"
            found = getattr(importlib.import_module(module), name, None)
            assert callable(found) and not name.startswith("_"), f"{code}: there is no public function {name} in it"


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


def test_controls_must_bite():
    assert claims.check("rug.projector", 6.4, 6.4, printed=1.0, rtol=1e-9).outcome == "confirmed"
    with pytest.raises(claims.ClaimError, match="the printed form is not excluded"):
        claims.check("rug.projector", 6.4, 6.4, printed=6.3, atol=0.2)  # a tolerance so wide that nothing is told apart
    with pytest.raises(ValueError, match="printed = None is not enough for rug.projector"):
        claims.check("rug.projector", 6.4, 6.4)


def test_a_claim_that_fails_says_all_its_numbers():
    for name, verdict, label, printed in (
        ("rug.projector", "misprint", "a case", 1.5),
        ("rug.eq5", "completed", "", None),
    ):
        with pytest.raises(claims.ClaimError) as failed:
            claims.check(name, 1.0, 2.0, atol=0.25, label=label, printed=printed)
        assert str(failed.value) == (
            f"{name} {label}: declared '{verdict}', but the measurement does not agree: predicted = 1, measured 2, "
            f"tolerance 0.25{', printed 1.5' if printed else ''}"
        )


def test_the_printed_form_is_excluded_at_every_value():
    ours, text = [1.0, 2.0, 3.0], [1.0, 2.5, 4.0]
    with pytest.raises(claims.ClaimError, match="the printed form is not excluded at value 0"):
        claims.check("rug.projector", ours, ours, printed=text)
    assert claims.check("rug.projector", ours, ours, printed=text, may_be_undecided=True).outcome == "undecided"
    for where in ([0], np.array([True, False, False])):
        row = claims.check("rug.projector", ours, ours, printed=text, printed_agrees=(where, "one row has no square"))
        assert row.outcome == "confirmed" and row.spared == (0,)
        assert "✗ but at 1 of 3: one row has no square" in row._repr_mimebundle_()["text/markdown"]


def test_a_value_may_be_spared_up_to_two_tolerances_from_the_printed_form():
    def run(printed):
        agrees = ([0], "near")
        return claims.check(
            "rug.eq5", [1.0, 2.0], [1.0, 2.0], atol=0.125, printed=[printed, 3.0], printed_agrees=agrees
        )

    assert run(1.25).spared == (0,) and run(0.75).spared_because == "near"
    for printed in (1.2501, 0.7499):
        with pytest.raises(ValueError, match="names value 0, where the two forms can be told apart"):
            run(printed)


@pytest.mark.parametrize(
    ("printed", "agrees", "message"),
    [
        ([1.0, 2.5], ([1], "why not"), "printed_agrees names value 1, where the two forms can be told apart"),
        ([1.0, 2.0], ([0, 1], "why not"), "printed_agrees leaves no control or gives no reason"),
        ([1.0, 2.5], ([0], ""), "printed_agrees leaves no control or gives no reason"),
        ([1.0, 2.5], ([2], "why not"), "printed_agrees = 2 is out of range"),
        ([1.0, 2.5], ([0.5], "why not"), "printed_agrees = 0.5 is out of range"),
        (None, ([0], "why not"), "printed_agrees is given without printed"),
    ],
)
def test_an_exception_from_the_control_is_itself_checked(printed, agrees, message):
    with pytest.raises(ValueError, match=message):
        claims.check("rug.eq5", [1.0, 2.0], [1.0, 2.0], printed=printed, printed_agrees=agrees)


def test_a_rival_must_be_excluded():
    def run(rival, relation="equals"):
        return claims.check("rug.eq5", 0.5, 0.3 if relation == "below" else 0.5, atol=0.1, relation=relation,
                            rival=("random directions", rival))  # fmt: skip

    assert run(0.7).resolution == pytest.approx(0.1 / 0.2) and run(0.7).unit == "random directions"
    assert run(0.8, "below").resolution == pytest.approx(0.2 / 0.5)
    for rival, relation in ((0.55, "equals"), (0.35, "below")):
        with pytest.raises(claims.ClaimError, match=r"the rival \(random directions\) is not excluded"):
            run(rival, relation)


def test_a_check_that_would_not_notice_a_half_is_undecided():
    assert claims.check("rug.eq5", 1.0, 1.0, atol=0.5).outcome == "confirmed"
    assert claims.check("rug.eq5", 1.0, 1.0, atol=0.51).outcome == "undecided"
    assert claims.check("rug.eq5", [1.0, 0.1], [1.0, 0.1], atol=0.09).outcome == "undecided"  # the second cannot fail
    assert claims.check("rug.eq5", 1.0, 1.0, rtol=0.85).outcome == "undecided"
    assert claims.check("rug.eq5", 1.0, 1.25, atol=0.25).outcome == "confirmed"
    assert claims.check("rug.eq5", 1.0, 1.3125, atol=0.3125).outcome == "undecided"  # it lies far off already
    assert claims.check("rug.eq5", 1.0, 1.0, atol=0.51, scale=("range of the data", 10)).outcome == "confirmed"
    assert claims.check("rug.eq5", 1.0, 1.0, atol=0.125, scale=("a quarter", 0.25)).resolution == 0.5


def test_the_record_holds_the_resolution():
    bundle = claims.check("rug.eq5", 1.0, 1.125, atol=0.125)._repr_mimebundle_()
    stored = json.loads(json.dumps(bundle[rows.RECORD_TYPE], allow_nan=False))["rows"][0]
    assert (stored["resolution"], stored["unit"]) == (0.25, "prediction")


def test_every_row_can_be_linked_to():
    shown = claims.table(claims.check("rug.eq5", 1, 1), claims.check("rug.eq5", 2, 2, label="p=1"))
    assert '<tr id="claim-rug-eq5">' in shown._repr_mimebundle_()["text/markdown"]
    assert shown._repr_mimebundle_()["text/markdown"].count('<tr id="claim-rug-eq5-') == 1


@pytest.mark.parametrize("relation", ["equals", "below", "above"])
def test_a_prediction_of_nothing_needs_a_size(relation):
    measured = {"equals": 0.0, "below": -1.0, "above": 1.0}[relation]
    for predicted in (0, [0.0, 0.0]):
        with pytest.raises(ValueError, match="predicted = 0 has no size for rug.eq5; allowed: with a rival"):
            claims.check("rug.eq5", predicted, measured, relation=relation)
    for unit in ({"scale": ("all of them", 5)}, {"rival": ("as many as before", 5 - 10 * (relation == "above"))}):
        assert claims.check("rug.eq5", 0, measured, relation=relation, **unit).unit == next(iter(unit.values()))[0]
    assert claims.check("rug.eq5", [0, 1], [0, 1]).resolution == 0


def test_an_open_claim_decides_nothing_however_near_it_comes(monkeypatch):
    monkeypatch.setitem(declarations.declared(), "rug.eq5", replace(declarations.declared()["rug.eq5"], verdict="open"))
    far, near = (claims.check("rug.eq5", 9, m, atol=4)._repr_mimebundle_() for m in (11.5, 9.1))
    assert far["text/plain"] == near["text/plain"] == "rug.eq5: open; = 9; undecided"
    assert "<b>open</b>" in far["text/markdown"] and "in this run" not in far["text/markdown"]
    with pytest.raises(claims.ClaimError, match="declared 'open', but the measurement does not agree"):
        claims.check("rug.eq5", 9, 14, atol=4)


def test_a_thousand_numbers_are_one_check():
    assert len(claims.check("rug.eq5", 1, [1] * 1000).measured) == 1000


def test_tolerance_is_the_sum_of_its_parts():
    row = claims.check("rug.eq5", [10.0, -10.0], [10.0, -10.0], atol=1, rtol=0.1, se=[0.5, 0.25], z=2)
    assert row.tolerance == (3.0, 2.5)


def test_plain_text_holds_no_measured_digit():
    first, second = (
        claims.check("rug.eq5", 0.5, m, se=0.01, label="case")._repr_mimebundle_() for m in (0.51, 0.4987654)
    )
    assert first["text/plain"] == second["text/plain"] == "rug.eq5 [case]: completed; = 0.5; confirmed"
    assert "0.499" in second["text/markdown"] and "0.498765" not in second["text/plain"]


def test_plain_text_of_a_one_sided_claim_holds_no_digit_of_its_control():
    texts = {
        claims.check("rug.eq5", bound, 0.1, relation="below")._repr_mimebundle_()["text/plain"] for bound in (0.5, 0.49)
    }
    assert texts == {"rug.eq5: completed; < bound; confirmed"}


def test_html_escapes_and_shows_the_excluded_form():
    bundle = claims.check("rug.projector", 6.4, 6.4, printed=1.0, rtol=1e-9, label="<i>")._repr_mimebundle_()
    assert "<i>" not in bundle["text/markdown"] and "1\u00a0✗" in bundle["text/markdown"]


def test_a_number_that_repeats_is_written_once():
    bundle = claims.check("rug.eq5", 1.0, [1.0, 1.25], atol=0.25)._repr_mimebundle_()
    assert bundle["text/plain"] == "rug.eq5: completed; = 1 (2 values); confirmed"
    assert "1, 1.25" in bundle["text/markdown"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: claims.check("rug.eq55", 1, 1), "claim_id = 'rug.eq55' is not declared; nearest: rug.eq5"),
        (lambda: claims.check("rug.eq5", 1, 1, relation="near"), "relation = 'near' is unknown"),
        (lambda: claims.check("rug.eq5", 1, 1, rtol=-1), "rtol = -1 is out of range"),
        (lambda: claims.check("rug.eq5", 1, 1, se=float("nan")), "se = nan is not finite"),
        (lambda: claims.check("rug.eq5", [], []), r"measured = \[\] is empty"),
        (lambda: claims.check("rug.eq5", [], 1), r"predicted = \[\] is empty"),
        (lambda: claims.check("rug.eq5", 0, [0] * 1001), "measured has 1001 numbers for rug.eq5; allowed: up to 1000"),
        (lambda: claims.check("rug.eq5", [0] * 1001, 0), "measured has 1001 numbers for rug.eq5; allowed: up to 1000"),
        (lambda: claims.check("rug.eq5", 1, 1, scale=("unit", 0)), "scale = 0 is out of range"),
        (lambda: claims.check("rug.eq5", 1e308, 1, rtol=10), "tolerance = inf is not finite"),
        (
            lambda: claims.check("rug.eq5", 1, [1, 2], printed=[1, 2, 3]),
            r"printed has shape \(3,\); allowed: .* \(2,\)",
        ),
        (lambda: claims.check("rug.eq5", [1, 2, 3], [[1], [2], [3]]), r"predicted has shape \(3,\)"),
        (lambda: claims.check("rug.eq5", [1, 2], [1, 2, 3]), r"predicted has shape \(2,\); allowed: .* \(3,\)"),
        (lambda: claims.check("rug.eq5", 1, [1, 2], se=[1, 2, 3]), r"se has shape \(3,\)"),
        (lambda: claims.check("rug.eq5", 1, [[1, 2], [3]]), "measured = .* is not made of real numbers"),
        (lambda: claims.check("rug.eq5", 1, "x" * 5000), r"^measured = 'x{50,60}… is not made of real numbers.{,60}$"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


NOT_FINITE = (float("inf"), -float("inf"), float("nan"), 1 + 1j, None, "1", [1.0, float("inf")])


@together("value", NOT_FINITE, ids=str)
@pytest.mark.parametrize("name", ["predicted", "measured", "se", "rtol", "atol", "z", "printed", "rival", "scale"])
@pytest.mark.parametrize("relation", ["equals", "below", "above"])
def test_nothing_infinite_complex_or_missing_is_confirmed(name, value, relation):
    if name == "printed" and value is None:
        return  # no printed form is given
    call = {"predicted": 1.0, "measured": 1.0, "rtol": 0.01, "relation": relation}
    call[name] = ("name", value) if name in ("rival", "scale") else value
    with pytest.raises(ValueError, match=f"{name} = .* is not (finite|made of real numbers); allowed: finite real"):
        claims.check("rug.eq5", **call, may_be_undecided=True)
