"""What a point refuses because of another of its fields: no function is called with it."""

import pytest
from pydantic import ValidationError
from superposition import runs

CHANGES = (
    ("rug-tiles", {"kept": 65}, "starts is 64"),
    ("rug-tiles", {"m": 3, "B": 5}, "2 m is 6 at m = 3"),
    ("rug-levels", {"m": 3, "n": 5}, "2 m is 6 at m = 3"),
    ("rug-levels", {"m": 2, "n": 7}, "3 m is 6 at m = 2"),
    ("rug-crystal", {"ns": 40, "nd": 41}, "ns is 40"),
    ("rug-frequencies-signs", {"ns": 40, "nd": 41}, "ns is 40"),
    ("toy-finite", {"n": 20, "m": 21}, "n is 20"),
    ("field-pulses", {"n": 20, "long_high": 21}, "n is 20"),
    ("field-pulses", {"short_low": 9, "short_high": 8}, "short_low is 9"),
)


@pytest.mark.parametrize(
    ("name", "change", "sentence"), CHANGES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_point_whose_fields_do_not_fit_is_refused(name, change, sentence):
    good = dict(runs.points(runs.find(name), "full")[0])
    with pytest.raises(ValidationError, match=sentence) as caught:
        runs.find(name).point(**{**good, **change})
    assert list(change)[-1] in {error["loc"][0] for error in caught.value.errors()}
