"""How many neurons end up with two features: what the named runs compute at one point."""

import numpy as np
import pytest
from superposition.experiments import counts
from superposition.incidental import collisions, many_features


def test_the_end_of_the_flow_is_a_solution_of_the_text():
    """One weight a row, no pair with the same sign, nobody dead, whatever the threshold."""
    for seed in range(3):
        end = many_features.flow(many_features.start(48, 64, seed=seed), 0.01, [700.0])[0]
        found = counts.describe(end)
        assert found["same_sign"] == found["dead"] == found["crowded"] == 0 and found["unfinished"] <= 1
        assert found["at_low"] - found["at_high"] <= 1 and found["polysemantic"] > 0


def test_collision_counts_of_the_run_are_those_of_its_pieces():
    found = counts.by_flow(n=16, m=16, lambda_=0.01, step=0.2, seed=3)
    w0 = many_features.start(16, 16, seed=3)
    assert found["pairs_0"] == collisions.opposite_tops(w0)
    assert found["pairs_1"] >= found["polysemantic"] - 1
    assert 0 < found["first_wins"] < 1
    trained = counts.by_descent(n=8, m=16, lambda_=0.01, method="adamw", lr=0.01, steps=1500, seed=3)
    assert trained["dead"] == 0 and set(counts.describe(w0)) <= set(trained)


@pytest.mark.parametrize("strength", [0, np.inf])
def test_a_strength_that_gives_no_time_is_refused_before_it_divides(strength):
    with pytest.raises(ValueError, match=rf"^lambda_ = {strength} is out of range; allowed: \(0, inf\)"):
        counts.by_flow(n=2, m=2, lambda_=strength, step=0.2, seed=0)


def test_known_weights_are_counted_one_by_one():
    W = np.array(
        [[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0], [0.5, 0.2, 0.0], [0.0, 0.2, 0.1], [0.0, 0.0, -0.8], [0.0, 0.0, 0.8]]
    )
    assert counts.describe(W) == {
        "polysemantic": 2, "at_low": 3, "at_high": 1, "crowded": 1, "same_sign": 1, "unfinished": 1, "dead": 1,
    }  # fmt: skip
