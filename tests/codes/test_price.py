"""What budgets take from loud and quiet codes."""

import numpy as np
import pytest
from superposition.codes import exact_losses, fans, price


def test_weights_stay_within_the_bound():
    for B, largest in ((5, 30.0), (10, price.HALF_PRECISION), (20, 1e9)):
        code = fans.priority_fan(B, price.ratio_within(B, largest))
        even = price.balanced(code)
        biggest = max(np.abs(code.W_in).max(), np.abs(code.W_out).max())
        assert 0.2 * largest * np.sin(np.pi / (B - 2)) < biggest < 1.01 * largest
        np.testing.assert_allclose(even.W, code.W, atol=1e-9 * np.abs(code.W).max())


def test_a_bounded_fan_is_worth_its_bound():
    """With more room the loss falls, from that of single digons to that of the fan without a bound."""
    found = [price.bounded_fan(0.1, 5, largest) for largest in (2.0, 30.0, 1e6)]
    assert [one.loss for one in found] == sorted((one.loss for one in found), reverse=True)
    assert all(one.costs <= largest for one, largest in zip(found, (2.0, 30.0, 1e6), strict=True))
    assert found[-1].loss == pytest.approx(fans.fan_loss(0.1, 5), rel=2e-3)


def test_norm_cost_is_the_least_sum_of_squares():
    rng = np.random.default_rng(0)
    W_out, W_in = rng.standard_normal((6, 2)), rng.standard_normal((2, 6))
    least = price.norm_cost(W_out @ W_in)
    left, values, right = np.linalg.svd(W_out @ W_in)
    root = np.sqrt(values[:2])
    assert ((left[:, :2] * root) ** 2).sum() / 6 + ((root[:, None] * right[:2]) ** 2).sum() / 6 == pytest.approx(least)
    for _ in range(50):
        mix = rng.standard_normal((2, 2))
        parts = W_out @ mix, np.linalg.solve(mix, W_in)
        assert sum((part**2).sum() for part in parts) / 6 >= least * (1 - 1e-9)


def test_noise_without_noise_is_the_loss():
    code = fans.priority_fan(6, 30)
    found = price.noisy_loss(code, 0.1, 0.0, samples=100_000, seed=0)
    assert found.mean == pytest.approx(exact_losses.code_loss(code.W, code.b, 0.1), abs=4 * found.se)
    assert found.se < 0.05 * found.mean


def test_noise_silences_the_quiet():
    """Ratio 10 hides its quietest feature at a noise of 10^-5; far below it nothing is lost."""
    code = fans.priority_fan(6, 10)
    clean, little, much = (price.noisy_loss(code, 0.1, s, samples=50_000, seed=0) for s in (0, 1e-8, 1e-2))
    assert little.mean == pytest.approx(clean.mean, rel=0.01)
    assert much.mean > 3 * clean.mean
    assert much.mean < 0.1 / 3 * 1.05  # a drowned feature costs no more than a dropped one


def test_decay_prefers_small_ratios():
    found = [price.decayed(0.1, 5, "fan", lambda_) for lambda_ in (0, 1e-6, 1e-4, 1e-2)]
    assert np.all(np.diff([one.ratio for one in found]) <= 0) and found[0].ratio > found[-1].ratio
    assert np.all(np.diff([one.loss for one in found]) >= 0)
