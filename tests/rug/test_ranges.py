"""The ends of the ranges of the rug's arguments: allowed values, refused ones, and the reason for the ends."""

import numpy as np
import pytest
from superposition.rug import ranges

END = 1e30


@pytest.mark.parametrize(
    ("taken", "inside", "outside"),
    [
        (ranges.gains, [1 / END, END], [0.0, 0.999 / END, 1.001 * END, -1.0]),
        (ranges.biases, [-END, END], [-1.001 * END, 1.001 * END]),
        (ranges.spreads, [0.0, END], [-1e-300, 1.001 * END]),
        (ranges.positive_spreads, [1 / END, END], [0.0, 1.001 * END]),
        (ranges.rare, [1e-280, 1.0], [0.0, 1e-281, 1.001]),
        (ranges.not_all, [1e-150, 0.999], [1e-151, 1.0]),
        (ranges.off_diagonal, [-END, END], [-1.001 * END, 1.001 * END]),
    ],
)
def test_each_end_is_allowed_and_values_beyond_are_not(taken, inside, outside):
    np.testing.assert_array_equal(taken("x", inside), inside)
    for value in [*outside, np.nan]:
        with pytest.raises(ValueError, match=r"^x = .* is out of range; allowed: "):
            taken("x", [inside[0], value])


def test_a_spread_whose_inverse_would_overflow_counts_as_zero():
    assert ranges.flush_underflow(np.array([0.999 / END, 1 / END, 0.1])).tolist() == [0, 1 / END, 0.1]


def test_the_ends_leave_fourth_powers_of_products_finite():
    assert np.isfinite((ranges.gains("a", END) * ranges.biases("b", END)) ** 4)
    assert np.isfinite(1 / ranges.gains("a", 1 / END))


def test_one_gain_is_one_number():
    assert ranges.one_gain("a", 1) == 1.0
    with pytest.raises(ValueError, match=r"^a = .* has shape \(1,\); allowed: one number$"):
        ranges.one_gain("a", [1.0])


def test_arguments_that_do_not_fit_are_refused():
    for relation, arguments in [
        (ranges.rank, {"ns": 3, "nd": 4}),
        (ranges.rank_without_constant_row, {"ns": 8, "nd": 5, "antipodal": True}),
        (ranges.rank_without_constant_row, {"ns": 9, "nd": 2, "antipodal": True}),
        (ranges.seen, {"y": 4.1, "sigma": 0.1}),
        (ranges.seen, {"y": -3.1, "sigma": 0.1}),
        (ranges.separate, {"t": 5.0, "sigma": 0.1}),
        (ranges.numbers_of_a_batch, {"ns": 16384, "batch": 2**20}),
        (ranges.fitting_cumulants, {"cumulants": np.ones((3, 2)), "a": np.ones(3), "b": 0.0, "p": 0.1}),
    ]:
        with pytest.raises(ValueError, match="; allowed: "):
            relation(**arguments)
    ranges.seen(y=3.9, sigma=0.1)
    ranges.separate(t=4.9, sigma=0.1)
    ranges.rank(ns=3, nd=3)
