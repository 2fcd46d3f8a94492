"""Numbers and places as text: where one form ends and the next begins."""

from superposition.book import forms


def test_few_numbers_stand_one_by_one_and_many_between_their_ends():
    assert forms.numbers([3, 1, 2, 6, 5, 4]) == "3, 1, 2, 6, 5, 4"
    assert forms.numbers([3, 1, 2, 6, 5, 4, 7]) == "7 values from 1 to 7"
    assert forms.numbers([2.0]) == "2" and forms.numbers([2.0] * 9) == "2 (9 values)"
    assert forms.numbers([0.1234567]) == "0.123457" and forms.numbers([1.0, 1.0000001]) == "1 (2 values)"


def test_percent_at_the_ends_of_its_forms():
    shown = {1.0: "1e+02 %", 1.001: "> 100 %", 1e-5: "0.001 %", 0.99e-5: "< 0.001 %", 0.5: "50 %", 0.0: "exact"}
    assert {value: forms.percent(value) for value in shown} == shown


def test_an_anchor_is_a_name_that_html_allows():
    assert forms.anchor("Rug.sec3_2.x") == "claim-rug-sec3-2-x"
    assert forms.anchor("a", "one") != forms.anchor("a", "two") != forms.anchor("a")
    assert len(forms.anchor("a", "one")) == len("claim-a-") + 8
