"""Overlaps without an l1 term: their flow against that of the weights, the late rate, and its limit."""

import numpy as np
import pytest
from superposition import incidental


def weights(networks, n, m, seed):
    return 0.9 / np.sqrt(m) * np.random.default_rng(seed).standard_normal((networks, n, m))


def test_overlaps_follow_those_of_the_gradient_flow():
    W = weights(2, 6, 30, 0)
    found = incidental.overlap_flow(W, [1.0, 4.0])
    for k, w in enumerate(W):
        flow = incidental.gradient_flow(w, 1e-14, [1.0, 4.0], step=0.002)
        np.testing.assert_allclose(found[:, k], flow @ flow.swapaxes(1, 2), atol=2e-3)  # Euler's, of order one step


@pytest.mark.parametrize(("n", "m", "seed"), [(12, 40, 0), (20, 90, 1), (32, 64, 2)])
def test_overlaps_die_out_at_the_rate_of_those_that_are_left(n, m, seed):
    ends = incidental.overlap_flow(weights(5, n, m, seed), [16.0, 20.0])
    first, last = np.log(incidental.positive_overlaps(ends))
    rates = np.array([incidental.late_decay_rate(end) for end in ends[-1]])
    np.testing.assert_allclose((first - last) / 4, rates, rtol=0.01)  # slower modes still die out
    assert np.ptp(rates) > 0.02  # each network has its own


def test_the_rate_is_two_less_a_perron_eigenvalue():
    W = incidental.overlap_flow(weights(1, 7, 20, 3), [20.0])[0, 0]
    N, P = np.maximum(-W, 0), (W > 0) & ~np.eye(7, dtype=bool)
    matrix = np.array([((X @ N + N @ X) * P).ravel() for X in np.eye(49).reshape(49, 7, 7)])
    assert incidental.late_decay_rate(W) == pytest.approx(2 - np.abs(np.linalg.eigvals(matrix)).max(), rel=1e-9)
    least = 2 * np.linalg.eigvalsh(np.eye(7) - N)[0]
    assert least - 1e-9 <= incidental.late_decay_rate(W) <= 2


def test_a_pair_alone_dies_out_at_the_rate_two():
    assert incidental.late_decay_rate([[1.0, 1e-9], [1e-9, 1.0]]) == 2
    assert incidental.positive_overlaps([[1.0, 0.2, -1], [0.2, 1, 0.1], [-1, 0.1, 1]]) == pytest.approx(0.2)


def test_the_limit_of_many_features():
    assert incidental.mean_field_overlaps(0.0) == pytest.approx((0, 2))
    shift, rate = incidental.mean_field_overlaps(0.01)
    assert shift == pytest.approx(0.01 / (4 * np.pi), rel=0.01) and 2 - rate == pytest.approx(0.00399, rel=0.02)
    rates = [incidental.mean_field_overlaps(g)[1] for g in (1, 4, 16, 64)]
    assert np.all(np.diff(rates) < 0) and rates[-1] == pytest.approx(2 * 0.03887, rel=0.01)  # 2 Phi(-H)
    trained = incidental.overlap_flow(weights(1, 64, 1024, 4), [16.0])[0, 0]  # n / m is 1/16
    assert incidental.late_decay_rate(trained) == pytest.approx(incidental.mean_field_overlaps(2.0)[1], rel=0.05)
