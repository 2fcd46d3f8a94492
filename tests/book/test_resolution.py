"""The smallest change of a prediction that a check would notice."""

import numpy as np
import pytest
from superposition.book import claims, resolution

PREDICTED = np.array([0.5, 0.6, -0.55])


def noticed(change, measured, **kwargs):
    """Whether every value of a check notices that the prediction is changed by this share, up as well as down."""
    changed = [(p * factor, m) for p, m in zip(PREDICTED, measured, strict=True) for factor in (1 + change, 1 - change)]
    rows = [claims.check("rug.eq5", p, m, may_be_undecided=True, **kwargs) for p, m in changed]
    return all(row.outcome == "undecided" for row in rows)


@pytest.mark.parametrize("off", [0.0, 0.015, -0.015])
@pytest.mark.parametrize("kwargs", [{"atol": 0.02}, {"rtol": 0.03}, {"se": 0.005, "z": 2}])
def test_it_is_the_smallest_change_that_every_value_notices(kwargs, off):
    measured = PREDICTED * (1 + off)
    sharp = claims.check("rug.eq5", PREDICTED, measured, **kwargs).resolution
    assert noticed(1.1 * sharp, measured, **kwargs) and not noticed(0.9 * sharp, measured, **kwargs)


@pytest.mark.parametrize(
    ("relation", "predicted", "measured", "tolerance", "unit", "expected"),
    [
        ("equals", [2.0], [2.0], [0.0], None, 0.0),
        ("equals", [0.0], [0.0], [0.0], None, 0.0),
        ("equals", [0.0], [0.0], [1e-12], None, None),
        ("equals", [0.0, 4.0], [0.0, 4.0], [0.2, 0.2], None, 0.05),
        ("equals", [0.0], [0.01], [0.02], [0.5], 0.06),
        ("equals", [9.0], [11.5], [4.0], None, 6.5 / 9),
        ("equals", [0.1, 0.1], [0.1, 0.07], [0.025, 0.025], None, 0.55),
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
    ("predicted", "rival", "size", "name"),
    [
        (1.0, 1.5, 0.5, "silence"),
        (1.0, 4.0, 1.0, "prediction"),
        (-1.0, 4.0, 1.0, "prediction"),
        (0.0, 4.0, 4.0, "silence"),
    ],
)
def test_a_rival_far_away_does_not_flatter(predicted, rival, size, name):
    unit, found = resolution.unit("equals", [predicted], [predicted], rival=("silence", [rival]))
    assert unit.tolist() == [size] and found == name
