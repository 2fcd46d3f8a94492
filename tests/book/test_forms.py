"""Numbers and places as text: where one form ends and the next begins."""

import pytest
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


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (0.149, 0.0076, "0.149"),
        (0.206, 0.0121, "0.206"),
        (10300, 412, "10300"),
        (-5.57e-10, 2.8e-11, "-5.57e-10"),
        (0.5, 1e-6, "0.5"),
        (0.0, 0.04, "0.00"),
    ],
)
def test_a_number_has_the_digits_that_its_error_allows(value, error, shown):
    assert forms.as_sure(value, error) == shown


def test_two_numbers_are_told_apart_by_as_few_digits_as_it_takes():
    assert forms.apart(0.99927, 0.99926) == 5 and forms.apart(1, 2) == 3 and forms.apart(1, 1) == 15


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("to 1e-06, at most 6e-10", "to 10⁻⁶, at most 6·10⁻¹⁰"),
        ("3.2e5 and 1e+22", "3.2·10⁵ and 10²²"),
        ("0x1e4, a1e5, rug-1e5x, 2.5", "0x1e4, a1e5, rug-1e5x, 2.5"),
    ],
)
def test_powers_of_ten_are_set_as_such(text, shown):
    assert forms.powers(text) == shown
