"""Swept fans: signs, exact zeros, pairs, and the closed form against enumeration and simulation."""

import numpy as np
import pytest
from superposition import codes
from superposition.codes import lower_bound, swept


@pytest.mark.parametrize("growth", [None, 50.0])
@pytest.mark.parametrize("B", [5, 6, 7, 8, 13, 24])
def test_signs_and_free_pairs(B, growth):
    W = codes.swept_fan(B, 30, 3.0, growth).W
    below = np.tril(W, -1)
    assert below.max() <= 0 and np.count_nonzero(below) == B * (B - 3) // 2
    np.testing.assert_allclose(np.diag(W), 1, rtol=0, atol=1e-7)


def test_zeros_hold_in_any_order_of_summation():
    for B in (6, 9):
        W_in, W_out, _ = codes.swept_fan(B, 37.0)
        for t, s in np.argwhere(np.tril(W_out @ W_in, -1) == 0):
            if s < t:
                exact = [int(2.0**300 * W_out[t, k]) * int(2.0**300 * W_in[k, s]) for k in (0, 1)]
                assert exact[0] == -exact[1]  # the products themselves, before any rounding


@pytest.mark.parametrize(("B", "growth"), [(6, None), (8, None), (9, 4.0), (10, 3.0)])
def test_pairs_have_the_product_of_their_angles(B, growth):
    W = codes.swept_fan(B, 20, 2.0, growth).W
    x = np.abs(swept.fan_layout(B, growth)[0][1 : 2 * swept._pairs(B) : 2])
    before = np.r_[0, x[:-1]]
    expected = (np.sin(x + before) / np.sin(x - before)) ** 2
    found = [W[t, t + 1] * W[t + 1, t] for t in range(1, 2 * swept._pairs(B), 2)]
    np.testing.assert_allclose(found, expected, rtol=2e-3)  # angles are rounded to twelve bits
    assert found[0] == pytest.approx(1, abs=1e-6) and min(found) > 1 - 1e-6


@pytest.mark.parametrize(("p", "B"), [(0.3, 5), (0.01, 6), (0.07, 7), (0.15, 8), (1.0, 5)])
def test_closed_form_against_enumeration(p, B):
    code = codes.swept_fan(B, 1e7, 3.0, 1e4 if B > 6 else None)
    exact = codes.code_loss(code.W, code.b, p, rtol=0)
    assert exact == pytest.approx(codes.swept_loss(p, B), rel=3e-5)  # what steep angles and ratios leave
    assert abs(exact / codes.fan_loss(p, B) - 1) > 5e-3


def test_closed_form_hider_by_hider():
    p = np.array([1e-9, 1e-3, 0.2, 0.9])
    for B in (5, 6, 11, 40):
        J, q = swept._pairs(B), 1 - p[:, None]
        hiders = np.r_[0, np.repeat(2 * np.arange(J), 2), [B - 3] * (1 + B % 2)]
        loss = p / 3 * -np.expm1(hiders * np.log1p(-p[:, None])).sum(axis=1)
        loss += p**2 * 25 / 81 * (q ** (2 * np.arange(J))).sum(axis=1)
        np.testing.assert_allclose(codes.swept_loss(p, B), loss / B, rtol=1e-10)


def test_simulated():
    code = codes.swept_fan(16, 1e5, 3.0, 100.0)
    found = codes.simulated_code_loss(code.W, code.b, 0.03, samples=100_000, seed=2)
    assert abs(found.mean - codes.swept_loss(0.03, 16)) < 4 * found.se


def test_limit_and_theorem_a():
    for B in (5, 6, 9):
        assert codes.swept_loss(1e-9, B) / 1e-18 == pytest.approx(codes.best_known_constant(2 / B), rel=1e-6)
        assert lower_bound.KAPPA * (B / 2 - 1) < codes.best_known_constant(2 / B) < (B - 3) / 6


def test_refusals():
    with pytest.raises(ValueError, match="growth = 1"):
        codes.swept_fan(8, 3, growth=1)
    with pytest.raises(ValueError, match="B = 3"):
        codes.swept_loss(0.1, 3)
    with pytest.raises(ValueError, match="ratio = 1e\\+60"):
        codes.swept_fan(12, 1e60)


def test_the_largest_ratio_covers_the_whole_reach():
    for B in (6, 9):
        pairs, steps = (B - 2) // 2, B - 1 - (B - 2) // 2
        covered = swept.largest_ratio(B, inner=5.0, growth=2.0, reach=1e9) ** steps * (5.0 * 2.0) ** pairs
        assert covered == pytest.approx(1e9, rel=1e-12)
