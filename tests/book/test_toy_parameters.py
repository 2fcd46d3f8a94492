"""The parameters of the toy chapter: its defaults, and what it refuses."""

import pytest
from superposition.book import parameters


def parameter_cell(**values):
    cell = {
        "n": 5, "m": 2, "sparsities": "0, 0.5, 0.7, 0.8, 0.9, 0.97", "decay": 0.9, "instances": 12, "steps": 1500,
        "seed": 0, "device": "auto", "quick": False,
    }  # fmt: skip
    return parameters.check(cell | values, parameters.ToyModels)


def test_parameters_of_the_chapter():
    assert parameter_cell() == parameters.ToyModels() and parameter_cell().at_defaults
    assert parameter_cell(n=2, m=2, sparsities=0).sparsities == (0.0,)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"m": 6}, "m = 6 is not allowed; allowed: whole numbers from 1 to n"),
        ({"n": 1}, "m = 2 is not allowed; allowed: whole numbers from 1 to n"),
        ({"n": 7}, "n = 7 is not allowed; allowed: whole numbers from 1 to 6"),
        ({"sparsities": "0.5, 1"}, "sparsities = '0.5, 1' is not allowed; allowed: at least one number from 0"),
        ({"decay": 0}, "decay = 0 is not allowed; allowed: numbers above 0"),
        ({"instances": 0}, "instances = 0 is not allowed"),
    ],
)
def test_parameters_that_the_chapter_refuses(values, sentence):
    with pytest.raises(parameters.ParameterError, match=sentence):
        parameter_cell(**values)
