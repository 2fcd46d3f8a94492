"""How far a computation is: what every function with ``progress`` reports, call by call, as it was stored.

Numbers of steps are compared exactly, others as results are. Where two whole numbers are reported, the last is done of
all. After a change that was meant: ``python tests/test_progress.py`` stores anew, and names what is other.
"""

import inspect
import json
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from contents import contents
from contract import title

pytest.importorskip("torch")
from superposition.runs.agreement import BOUND  # noqa: E402
from test_call_values import LEFT_OUT, copied  # noqa: E402
from test_contract import CALLS as GROUND  # noqa: E402

STORED = Path(__file__).with_name("progress.json")
MEND = "run `python tests/test_progress.py` if that was meant"
MOST = 12  # reports that are stored of a call, from its beginning, and the last


def calls():
    """Every call of the contract whose function takes ``progress``."""
    found, count = {}, Counter()
    for function, call in GROUND:
        count[title(function)] += 1
        if "progress" in inspect.signature(function).parameters and title(function) not in LEFT_OUT:
            found[f"{title(function)} {count[title(function)]}"] = function, call
    return found


CALLS = calls()


def reports(name):
    """The numbers of each report of a call."""
    function, call = CALLS[name]
    told = []

    def progress(*places, **names):
        told.append([round(float(x), 12) for part in contents([*places, names]) for x in part.ravel()[:4]])

    with warnings.catch_warnings(action="ignore"):
        function(**copied(call) | {"progress": progress})
    return [len(told), *told[:MOST], *told[-1:]]


def marks(name):
    return pytest.mark.thorough if name.startswith("autoencoder.diagnose") else ()  # each takes half a second


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in CALLS])
def test_reports_are_those_that_are_stored(name):
    (count, *found), (number, *stored) = reports(name), json.loads(STORED.read_text())[name]
    assert count == number, MEND
    for now, was in zip(found, stored, strict=True):
        np.testing.assert_allclose(now, was, rtol=BOUND, err_msg=MEND)


def test_the_last_report_is_of_all_that_is_to_do():
    last = {name: told[-1] for name, (_, *told) in json.loads(STORED.read_text()).items() if told}
    ends = {name: one for name, one in last.items() if len(one) == 2 and one[1] >= 1 and float(one[1]).is_integer()}
    assert len(ends) > 9
    # of three steps, which it reports by the thousand, only the first
    assert {name for name, one in ends.items() if one[0] != one[1]} == {"many_features.descend_encodings 1"}


def main():
    """Store what is reported today, and name the calls where it is other."""
    before = json.loads(STORED.read_text()) if STORED.exists() else {}
    found = {name: reports(name) for name in CALLS}
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print("\n".join(name for name in found if found[name] != before.get(name)))


if __name__ == "__main__":
    main()
