"""The flow of many networks: to the bit that of each alone, and that of one network by the other module."""

import numpy as np
import pytest
from sampled import sampled
from superposition import incidental
from superposition.incidental import many_networks


@pytest.mark.parametrize(("n", "m"), sampled([(4, 16), (2, 8), (5, 40), (9, 12)]))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_batch_is_its_networks_one_by_one_to_the_bit(n, m, dtype):
    w0 = incidental.random_networks(24, n, m, seed=3).astype(dtype)
    together = incidental.gradient_flow_each(w0, 0.02, 150.0)
    assert together.dtype == dtype
    for i in range(24):
        np.testing.assert_array_equal(incidental.gradient_flow_each(w0[i : i + 1], 0.02, 150.0)[0], together[i])
    shuffled = incidental.gradient_flow_each(w0[::-1], 0.02, 150.0)[::-1]
    np.testing.assert_array_equal(shuffled, together)


@pytest.mark.parametrize(("n", "m"), [(2, 8), (6, 24), (12, 12)])
@pytest.mark.parametrize("t", [3.0, 40.0, 400.0])
def test_the_same_flow_as_one_network_at_a_time(n, m, t):
    w0 = incidental.random_networks(5, n, m, seed=1).astype(float)
    many = incidental.gradient_flow_each(w0, 0.01, t)
    for one, w in zip(w0, many, strict=True):
        # both stop at rest to SETTLED = 1e-4, which a weight can move in the rest of its time
        np.testing.assert_allclose(w, incidental.gradient_flow(one, 0.01, [t])[0], atol=3e-4 if t > 100 else 1e-10)


def test_without_l1_two_overlapping_rows_end_at_their_polar_factor():
    w0 = incidental.random_networks(40, 2, 6, seed=0).astype(float)
    end = incidental.gradient_flow_each(w0, 0.0, 60.0, step=0.05)
    for before, after in zip(w0, end, strict=True):
        u, _, vt = np.linalg.svd(before, full_matrices=False)
        lengths = np.linalg.norm(before, axis=1, keepdims=True)
        np.testing.assert_allclose(after, u @ vt if before[0] @ before[1] > 0 else before / lengths, atol=2e-4)


def test_counts_are_those_of_one_network():
    W = incidental.gradient_flow_each(incidental.random_networks(30, 6, 8, seed=5), 0.05, 120.0)
    assert incidental.count_polysemantic_each(W).tolist() == [incidental.count_polysemantic(w) for w in W]
    assert incidental.opposite_tops_each(W).tolist() == [incidental.opposite_tops(w) for w in W]
    assert incidental.count_polysemantic_each(W).sum() > 0


def test_networks_at_rest_are_no_longer_moved(monkeypatch):
    steps, advance = [], many_networks._advance
    monkeypatch.setattr(many_networks, "_advance", lambda *args: steps.append(1) or advance(*args))
    rest = float(incidental.resting_weight(0.05))
    incidental.gradient_flow_each([[[rest, 0.0, 0.0], [-rest, 0.0, 0.0]]], 0.05, 1e4)
    assert len(steps) == many_networks.LOOK


def test_progress_and_no_time_at_all():
    w0, seen = incidental.random_networks(3, 2, 4, seed=0), []
    np.testing.assert_array_equal(
        incidental.gradient_flow_each(w0, 0.01, 0.0, progress=lambda *now: seen.append(now)), w0
    )
    assert seen == [(3, 3)]
