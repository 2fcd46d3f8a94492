"""Tail moments of a sum of noises."""

import pytest
from superposition.incidental import laws, tails


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tails.sums(laws.bipolar(1), 21), r"m = 21 gives 2\^21 = 2097152 combinations"),
        (lambda: tails.sums(laws.normal(1), 2), "law = normal cannot be enumerated"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
