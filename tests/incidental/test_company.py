"""Company: the gradient, the settled pair, and the weight that parts it."""

import numpy as np
import pytest
from superposition import incidental


def test_without_company_it_is_the_text():
    W = np.random.default_rng(1).standard_normal((1, 5, 6)) / 6**0.5
    ours = incidental.company_flow(W.copy(), 1.0, 0.0, 0.02, 30.0)
    theirs = incidental.gradient_flow_each(W, 0.02, 30.0, step=0.05)
    assert np.abs(ours - theirs).max() < 0.02  # steps of another size


def pair(q, lambda_, z=0.0, t=200.0, n=8):
    W = np.zeros((1, n, n))
    W[0, np.arange(n), np.arange(n)] = 1 - lambda_ / 2
    W[0, 1] = 0
    W[0, 1, 0], W[0, 1, 1] = -0.98, z
    return incidental.company_flow(W, *incidental.company_rates(q, n), lambda_, t)[0]


@pytest.mark.parametrize("q", [0.1, 0.5])
def test_a_settled_pair_rests_where_two_equations_say(q):
    W, (alone, both) = pair(q, 0.02), incidental.company_rates(q, 8)
    assert sorted(abs(W[:2, 0]), reverse=True) == pytest.approx(
        incidental.settled_pair(alone + 6 * both, both, 0.02), abs=1e-4
    )


@pytest.mark.parametrize(("share", "end"), [(0.5, 0.0), (2.0, 1.0)])
def test_a_weight_parts_the_pair_above_the_threshold_and_dies_below(share, end):
    start = share * incidental.curing_weight(incidental.company_rates(0.2, 8)[1], 0.005)
    assert abs(pair(0.2, 0.005, start)[1, 1]) == pytest.approx(end, abs=0.05)


def test_two_features_that_never_come_alone_do_not_settle_at_one_neuron():
    with pytest.raises(ValueError, match="alone, both, lambda_ = 0, 2, 0.02 have no settled pair"):
        incidental.settled_pair(0.0, 2.0, 0.02)
