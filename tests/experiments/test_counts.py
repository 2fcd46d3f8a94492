"""How many neurons end up with two features: what the named runs compute at one point."""

import numpy as np
import pytest
from superposition import incidental
from superposition.experiments import counts


def test_the_end_of_the_flow_is_a_solution_of_the_text():
    """One weight a row, no pair with the same sign, nobody dead, whatever the threshold."""
    for seed in range(3):
        end = incidental.gradient_flow(incidental.random_encodings(48, 64, seed=seed), 0.01, [700.0])[0]
        found = counts.describe(end)
        assert found["same_sign"] == found["dead"] == found["crowded"] == 0 and found["unfinished"] <= 1
        assert found["at_low"] - found["at_high"] <= 1 and found["polysemantic"] > 0


def test_collision_counts_of_the_run_are_those_of_its_pieces():
    found = counts.by_flow(n=16, m=16, lambda_=0.01, step=0.2, seed=3)
    w0 = incidental.random_encodings(16, 16, seed=3)
    assert found["pairs_0"] == incidental.opposite_tops(w0)
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


def test_the_run_is_what_the_flow_does():
    found = counts.measured(n=3, m=8, networks=200, lambda_=0.02, step=0.4, seed=4)
    early = incidental.gradient_flow_each(incidental.random_networks(200, 3, 8, seed=4), 0.02, 5.0, step=0.05)
    end = incidental.gradient_flow_each(early, 0.02, 295.0)
    assert found["plain"] == pytest.approx(incidental.count_polysemantic_each(end).mean() / (6 / 8))
    assert found["constant_se"] < found["plain_se"]
    assert found["slow"] == pytest.approx(found["constant"] - found["fast"])
    assert found["overlap"] < 0


@pytest.mark.parametrize(("name", "value"), [("n", 1), ("lambda_", 0)])
def test_what_no_networks_can_be_measured_with_is_refused(name, value):
    point = {"n": 2, "m": 4, "networks": 3, "lambda_": 0.1, "step": 0.4, "seed": 0}
    with pytest.raises(ValueError, match=f"{name} = {value} is out of range"):
        counts.measured(**{**point, name: value})
