"""A point is what was asked for and stays so."""

from dataclasses import FrozenInstanceError, fields

import pytest
from fast_runs import FAST
from pydantic import ValidationError
from superposition import runs
from superposition.runs.point import computed


def test_a_point_names_its_fields():
    assert str(FAST.point(x=0.5, seed=1)) == "x=0.5, seed=1"


def test_a_point_takes_no_other_name_and_no_change():
    with pytest.raises(ValidationError, match="y\n  Extra inputs are not permitted"):
        FAST.point(x=0.5, seed=1, y=2)
    with pytest.raises(ValidationError, match="Instance is frozen"):
        FAST.point(x=0.5, seed=1).x = 1.0
    assert len({FAST.point(x=0.5, seed=1), FAST.point(x=0.5, seed=1), FAST.point(x=0.5, seed=2)}) == 2


def test_a_run_takes_no_change():
    for field in fields(FAST):
        with pytest.raises(FrozenInstanceError):
            setattr(FAST, field.name, None)


def test_a_run_uses_the_device_that_it_takes_or_has_none():
    assert runs.find("rug-grid").takes_device and not runs.find("field-frozen").takes_device
    assert computed(lambda *, x: {"value": x}, {"x": 2}, "cuda:9") == {"value": 2}
    assert computed(lambda *, x, device: {"value": device}, {"x": 2}, "cuda:9") == {"value": "cuda:9"}
