"""Runs on groups and on company: what their columns say of small networks."""

import numpy as np
import pytest
from superposition import rug
from superposition.experiments import correlated


def test_exclusive_pairs_end_opposite():
    found = correlated.trained_groups(groups=3, G=2, nd=3, p=0.2, s=0.0, steps=800, batch=256, lr=0.01, seed=0)
    assert found["loss"] < 0.2 * float(rug.optimum(0.2, 0.5).loss)
    assert found["live"] == 1 and found["partner_below"] > 0.5 and found["partner_mean"] < found["other_mean"]


def test_company_from_the_start_prevents_what_it_does_not_cure():
    point = {"networks": 6, "n": 10, "m": 8, "lambda_": 0.03, "kick": 0.0, "seed": 0}
    early = correlated.kept_company(**point, before=0.6, after=0.6)
    late = correlated.kept_company(**point, before=0.0, after=0.6)
    assert late["finally"] == late["settled"] > early["settled"]


def test_a_law_that_does_not_exist_is_refused():
    point = correlated.RUNS[0].point
    with pytest.raises(ValueError, match="G = 4 is too many features that exclude each other; allowed: G p up to 1"):
        point(groups=2, G=4, nd=2, p=0.5, s=0.1, steps=1, batch=1, lr=0.1, seed=0)
    for p, s in ((0.25, 0.1), (0.5, 0.5)):  # one of four is always on; no feature excludes another
        point(groups=2, G=4, nd=2, p=p, s=s, steps=1, batch=1, lr=0.1, seed=0)


@pytest.mark.thorough
def test_a_network_of_groups_starts_with_features_of_length_one():
    """The encoder as drawn, on which a rate of next to nothing leaves no trace."""
    from superposition.correlated import train_grouped

    model = train_grouped(200, 2, 100, 0.1, 0.0, steps=1, batch=1, lr=1e-12, seed=0)
    assert np.mean(model.W_in**2) * 100 == pytest.approx(1, abs=4 * np.sqrt(2 / model.W_in.size))
    np.testing.assert_allclose(model.W_out, model.W_in.T, atol=1e-6)
