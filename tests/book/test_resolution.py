"""The smallest change of a prediction that a check would notice."""

import numpy as np
import pytest
from superposition.book import claims, resolution


def noticed(change, **kwargs):
    """Whether every value of a check notices that the prediction is changed by this share."""
    predicted = np.array([0.5, 2.0, -4.0])
    rows = [claims.check("rug.eq5", p * (1 + change), p, may_be_undecided=True, **kwargs) for p in predicted]
    return all(row.outcome == "undecided" for row in rows)


@pytest.mark.parametrize("kwargs", [{"atol": 0.02}, {"rtol": 0.03}, {"se": 0.005, "z": 2}])
def test_it_is_the_smallest_change_that_every_value_notices(kwargs):
    predicted = np.array([0.5, 2.0, -4.0])
    sharp = claims.check("rug.eq5", predicted, predicted, **kwargs).resolution
    assert noticed(1.1 * sharp, **kwargs) and not noticed(0.9 * sharp, **kwargs)


@pytest.mark.parametrize(
    ("relation", "predicted", "measured", "tolerance", "unit", "expected"),
    [
        ("equals", [2.0], [2.0], [0.0], None, 0.0),
        ("equals", [0.0], [0.0], [0.0], None, 0.0),
        ("equals", [0.0], [0.0], [1e-12], None, None),
        ("equals", [0.0, 4.0], [0.0, 4.0], [0.2, 0.2], None, 0.05),
        ("equals", [0.0], [0.01], [0.02], [0.5], 0.04),
        ("equals", [1.0, 0.1], [1.0, 0.1], [0.05, 0.05], None, 0.5),
        ("below", [0.05, 0.05], [0.01, 0.04], [0.0, 0.0], [0.5, 0.5], 0.02),
        ("above", [0.0], [3.0], [0.0], None, None),
        ("equals", [5e-324], [0.0], [1.0], None, None),
    ],
)
def test_values(relation, predicted, measured, tolerance, unit, expected):
    found = resolution.of(relation, predicted, measured, tolerance, unit)
    assert found == expected if expected is None else found == pytest.approx(expected)


def test_the_printed_form_is_a_rival_where_the_prediction_has_no_size():
    assert claims.check("rug.projector", 0.0, 0.0, atol=0.1, printed=2.0).resolution == pytest.approx(0.05)
    assert claims.check("rug.projector", 1.0, 0.6, printed=4.6, relation="below").resolution == pytest.approx(0.1)
    assert claims.check("rug.projector", 1.0, 1.0, atol=0.1, printed=2.0).resolution == pytest.approx(0.1)


def test_a_scale_is_the_unit_whatever_the_prediction_is():
    for relation in ("equals", "below", "above"):
        unit, name = resolution.unit(relation, [0.0, 3.0], [1.0, 2.0], scale=("range of the data", 7.0))
        assert unit.tolist() == [7.0, 7.0] and name == "range of the data"


@pytest.mark.parametrize(
    ("value", "coarse", "missing"),
    [
        (0.1, "", ""),
        (0.11, "", "would not notice a change of 11 %, and gives no reason"),
        (0.11, "five seeds", ""),
        (0.51, "five seeds", "would not notice a change of 51 %"),
        (None, "five seeds", "names no scale or rival"),
    ],
)
def test_limits(value, coarse, missing):
    assert resolution.problem(value, coarse) == missing
