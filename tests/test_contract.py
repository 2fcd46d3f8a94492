"""The contract on input, for every call in the tables of the parts."""

import pytest
from contract import breaches, title
from contract_calls import CALLS as GROUND
from incidental import contract_calls as incidental
from receptive import contract_calls as receptive
from rug import contract_calls as rug
from toy import contract_calls as toy

NAN_IS_AN_ANSWER = {*incidental.NAN_IS_AN_ANSWER, "critical_gain"}  # nan where the formula does not hold
CALLS = [*GROUND, *toy.CALLS, *incidental.CALLS, *receptive.CALLS, *rug.CALLS]


@pytest.mark.parametrize(("function", "call"), CALLS, ids=[title(function) for function, _ in CALLS])
def test_odd_input_is_refused_or_gives_the_float64_result(function, call):
    name = title(function).split(".")[-1]
    assert list(breaches(function, call, nan_is_an_answer=name in NAN_IS_AN_ANSWER)) == []
