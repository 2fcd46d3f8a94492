"""The contract on input, for every call in the tables of the parts."""

import pytest
from contract import breaches, title
from contract_calls import CALLS as GROUND
from incidental import contract_calls as incidental
from receptive import contract_calls as receptive
from rug import contract_calls as rug
from toy import contract_calls as toy

# Where a docstring promises nan: the formula of the critical gain does not hold for q above 0.3.
NAN = incidental.NAN | {"critical_gain": ["xi2 = tiny"]}
CALLS = [*GROUND, *toy.CALLS, *incidental.CALLS, *receptive.CALLS, *rug.CALLS]


@pytest.mark.parametrize(("function", "call"), CALLS, ids=[title(function) for function, _ in CALLS])
def test_odd_input_is_refused_or_gives_the_float64_result(function, call):
    name = title(function).split(".")[-1]
    assert list(breaches(function, call, nan_at=NAN.get(name, ()))) == []
