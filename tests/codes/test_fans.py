"""Fans and cones: the closed form against simulation and enumeration, exact zeros, and the limits of small p."""

import itertools

import numpy as np
import pytest
from superposition import codes
from superposition.codes import exact_losses


def hiders(B):
    """How many louder features hide each feature of a fan."""
    return np.r_[0, np.arange(B - 2), B - 3]


@pytest.mark.parametrize("B", [4, 5, 7, 12, 50, 200])
def test_signs_of_the_fan(B):
    fan = codes.priority_fan(B, min(1000, 10 ** (249 / (B - 1))))
    below = np.tril(fan.W, -1)
    assert below.max() <= 0 and np.array_equal((below < 0).sum(axis=1), hiders(B))
    np.testing.assert_allclose(np.diag(fan.W), 1, rtol=0, atol=1e-7 * B)  # 22 bits, times 1 / sin of the step


def test_the_fan_lies_in_a_plane():
    assert np.linalg.matrix_rank(codes.priority_fan(9, 1).W, tol=1e-9) == 2


def test_zeros_of_the_fan_hold_in_any_order_of_summation():
    W_in, W_out, _ = codes.priority_fan(9, 37.0)
    for t in range(1, 9):
        terms = W_out[t] * W_in[:, t - 1]
        assert terms[0] == -terms[1]
        exact = [int(2.0**200 * W_out[t, k]) * int(2.0**200 * W_in[k, t - 1]) for k in (0, 1)]
        assert exact[0] == -exact[1]  # the products themselves, before any rounding


EXACT = [(0.1, 4, 1e6), (0.1, 6, 1e4), (0.03, 12, 1e4), (0.3, 8, 1e5), (1.0, 5, 1e6)]


@pytest.mark.parametrize(("p", "B", "ratio"), EXACT)
def test_closed_form_against_enumeration(p, B, ratio):
    fan = codes.priority_fan(B, ratio)
    exact = codes.code_loss(fan.W, fan.b, p, rtol=0)
    # at ratio s what is left of the quieter is of order 1 / s, the gain is 1 to 1e-7 B
    assert exact == pytest.approx(codes.fan_loss(p, B), rel=10 / ratio)
    rival = codes.fan_loss(p, B + 1)  # one feature more in the same plane
    assert abs(exact - rival) > 50 / ratio * exact


@pytest.mark.parametrize(("p", "B"), [(0.1, 40), (0.01, 100), (0.003, 20)])
def test_closed_form_against_simulation(p, B):
    fan = codes.priority_fan(B, min(1e4, 10 ** (249 / (B - 1))))
    found = codes.simulated_code_loss(fan.W, fan.b, p, samples=300_000, seed=B)
    # at ratio 300 or more the quieter leave less than a percent of the loss
    assert found.mean == pytest.approx(codes.fan_loss(p, B), abs=4 * found.se + 0.01 * found.mean)
    assert found.se < 0.1 * found.mean


@pytest.mark.parametrize("B", [4, 5, 12, 300, 20_000])
def test_the_sum_over_hiders(B):
    p = np.r_[np.geomspace(1e-12, 1 - 1e-3, 60), 0.05 / (B - 2) * np.array([1 - 1e-9, 1 + 1e-9])]
    one_by_one = p / 3 * np.mean(-np.expm1(hiders(B) * np.log1p(-p)[:, None]), axis=1)
    assert codes.fan_loss(p, B) == pytest.approx(one_by_one, rel=2e-14)  # rounding, on either side of the series
    assert codes.fan_loss(1.0, B) == pytest.approx(np.mean(hiders(B) > 0) / 3, rel=1e-15)


def test_small_p():
    for B in (4, 10, 37):
        assert codes.fan_loss(1e-9, B) / 1e-18 == pytest.approx((B - 3) / 6, rel=1e-6)


def test_finite_ratios_below_the_limit():
    """Four features are digons of weight 3; five that are nearly always on lose less at equal loudness."""
    for size, p, ratio, share in ((4, 0.05, 3**0.5, 25 / 27), (5, 0.95, 1.05, 0.954)):
        fan = codes.priority_fan(size, ratio)
        assert codes.code_loss(fan.W, fan.b, p) / codes.fan_loss(p, size) == pytest.approx(share, rel=2e-3)
    fan = codes.priority_fan(5, 1.05)
    assert codes.code_loss(fan.W, fan.b, 0.05) > 1.2 * codes.fan_loss(0.05, 5)


def test_four_are_two_digons():
    assert codes.fan_loss(0.07, 4) == pytest.approx(0.07**2 / 6)
    assert codes.code_loss([[1, -1], [-1, 1]], [0, 0], 0.07, rtol=0) == pytest.approx(0.07**2 / 6)


def test_no_output_answers_falsely():
    """An off feature stays silent beyond what quieter ones leave: at most the sum of their loudness."""
    fan = codes.priority_fan(10, 100)
    rng = np.random.default_rng(0)
    x = rng.random((20000, 10)) * (rng.random((20000, 10)) < 0.3)
    out = np.maximum(x @ fan.W.T, 0)
    quieter = np.maximum(np.triu(fan.W, 1), 0).sum(axis=1)
    assert np.all(out * (x == 0) <= quieter) and quieter.max() < 0.1


def test_cone():
    W = codes.cone(9).W
    off = W - np.diag(np.diag(W))
    np.testing.assert_allclose(np.diag(W), 1)
    assert off.max() < 1e-14 and np.linalg.matrix_rank(W) == 3
    assert np.array_equal((off < -1e-9).sum(axis=1), np.full(9, 6))
    loud = codes.cone(7, 30)
    assert codes.code_loss(loud.W, loud.b, 0.1) == pytest.approx(codes.fan_loss(0.1, 7), rel=0.1)


def test_code_loss_against_simulation_of_a_random_code():
    rng = np.random.default_rng(5)
    W, b = np.eye(6) + 0.6 * rng.standard_normal((6, 6)), 0.1 * rng.standard_normal(6)
    W[2, 3] = -1e12
    exact = codes.code_loss(W, b, 0.3, rtol=0)
    found = codes.simulated_code_loss(W, b, 0.3, samples=400_000, seed=1)
    assert found.mean == pytest.approx(exact, abs=4 * found.se)
    assert found.se < 0.005 * exact
    assert codes.code_loss(W, b, 0.02) == pytest.approx(codes.code_loss(W, b, 0.02, rtol=0), rel=1e-4)


def test_huge_negative_weights_only_silence():
    """Up to the largest weights of a fan the loss is that of the limit, and a silenced output hears nobody."""
    for ratio in (1e6, 1e16, 1e27):
        fan = codes.priority_fan(10, ratio)
        rest = 10 / ratio  # neighbours answer each other by 1 / ratio
        assert codes.code_loss(fan.W, fan.b, 0.05, rtol=0) == pytest.approx(codes.fan_loss(0.05, 10), rel=rest + 1e-9)
    heard = 0.1 * 0.9 / 3  # E x^2 while the one with the huge weight is off
    for weight in (1e30, 1e60, 1e99, 1e300):
        assert codes.output_moments([-weight, 0.0], 1.0, 0.0, 0.1, rtol=0) == pytest.approx((heard, heard), rel=1e-12)


@pytest.mark.parametrize("weight", [1e10, 1e40, 1e75])
def test_huge_positive_weights(weight):
    overlap, power = codes.output_moments([weight], 1.0, 0.0, 0.1, rtol=0)
    assert overlap == pytest.approx(0.1 * 0.1 * weight / 4, rel=1e-8)  # E u E u' / 4, and terms of order 1
    assert power == pytest.approx(0.1 * weight**2 / 3, rel=1e-8)


def test_code_loss_against_a_grid():
    W, b = np.array([[1.1, -2.0], [-0.3, 0.9]]), np.array([-0.05, 0.02])
    u = (np.arange(2000) + 0.5) / 2000
    total = 0.0
    for on in itertools.product([0, 1], repeat=2):
        x = np.stack(np.meshgrid(on[0] * u, on[1] * u, indexing="ij"), axis=-1)
        error = np.mean((x - np.maximum(x @ W.T + b, 0)) ** 2)
        total += error * np.prod([0.2 if active else 0.8 for active in on])
    assert codes.code_loss(W, b, 0.2, rtol=0) == pytest.approx(total, rel=1e-6)  # midpoint rule, h^2


@pytest.mark.parametrize("p", [0.05, 0.4])
def test_the_best_shift_by_the_law_of_the_interference_is_that_of_the_sets(p):
    best = codes.best_decoder([[1, -0.8, 0.3], [-0.8, 1, 0.3], [0.3, -0.8, 1]], p, rtol=0)
    gain, shift, loss = exact_losses.best_shift_by_law(np.array([-0.8, 0.3]), p)
    mean = (-0.8 + 0.3) * p / 2  # of the interference, which belongs to an effective bias
    assert gain == pytest.approx(best.gain[0], rel=1e-3)
    assert gain * (shift - mean) == pytest.approx(best.b[0], abs=1e-3)
    assert loss == pytest.approx(best.loss, rel=1e-3)


def test_best_decoder_cannot_be_improved():
    W = codes.priority_fan(6, 8).W
    best = codes.best_decoder(W, 0.1, rtol=0)
    at = codes.code_loss(best.gain[:, None] * W, best.b, 0.1, rtol=0)
    assert at == pytest.approx(best.loss, rel=1e-9)
    for db, dg in itertools.product((-0.02, 0, 0.02), repeat=2):
        if db or dg:
            assert codes.code_loss((best.gain + dg)[:, None] * W, best.b + db, 0.1, rtol=0) > at


REFUSED = [
    (lambda: codes.priority_fan(3, 10), "B = 3"),
    (lambda: codes.priority_fan(10, 0.5), "ratio = 0.5"),
    (lambda: codes.cone(30, 100), "ratio = 100"),
    (lambda: codes.code_loss(np.ones((2, 3)), np.zeros(2), 0.1), r"W has shape \(2, 3\); allowed: \(B, B\)"),
    (lambda: codes.code_loss(np.ones((60, 60)), np.zeros(60), 0.5), "allowed: 3000000"),
    (lambda: codes.fan_loss(0, 10), "p = 0"),
    (lambda: codes.code_loss([[1e80]], [0], 0.1), "W = .*e.80 is out of range"),
]


@pytest.mark.parametrize(("call", "word"), REFUSED)
def test_refusals(call, word):
    with pytest.raises(ValueError, match=word):
        call()
