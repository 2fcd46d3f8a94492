"""The bounds of the rug's arguments: what is let through at each end, and why they lie where they do."""

import numpy as np
import pytest
from superposition.rug import ranges

END = 1e30


@pytest.mark.parametrize(
    ("check", "inside", "outside"),
    [
        (ranges.gains, [1 / END, END], [0.0, 0.999 / END, 1.001 * END, -1.0]),
        (ranges.biases, [-END, END], [-1.001 * END, 1.001 * END]),
        (ranges.spreads, [0.0, END], [-1e-300, 1.001 * END]),
        (ranges.ratios, [1e-300, 1.0], [0.0, 1.001]),
        (ranges.off_diagonal, [-END, END], [-1.001 * END, 1.001 * END]),
    ],
)
def test_each_end_is_allowed_and_what_is_beyond_is_not(check, inside, outside):
    np.testing.assert_array_equal(check(inside), inside)
    for value in [*outside, np.nan]:
        with pytest.raises(ValueError, match=r"is out of range; allowed: "):
            check([inside[0], value])


def test_a_rate_is_one_number_above_zero():
    assert ranges.rate(END) == END and ranges.rate(1e-300) == 1e-300
    for value in (0, 1.001 * END, [1.0]):
        with pytest.raises(ValueError, match="^lr = "):
            ranges.rate(value)


def test_a_spread_whose_inverse_would_overflow_is_none():
    assert ranges.spreads([0.999 / END, 1 / END, 0.1]).tolist() == [0, 1 / END, 0.1]


def test_the_bound_leaves_fourth_powers_of_products_finite():
    assert np.isfinite((ranges.gains(END) * ranges.biases(END)) ** 4) and np.isfinite(1 / ranges.gains(1 / END))


def test_one_output_is_three_numbers():
    assert ranges.one_output(1, -0.5, 0.25) == (1.0, -0.5, 0.25)
    with pytest.raises(ValueError, match=r"^a = .* has shape \(1,\); allowed: one number$"):
        ranges.one_output([1.0], 0.0, 0.5)
