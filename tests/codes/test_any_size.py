"""The bound at every size: its parts against brute force, its limit, and codes that it may not exceed."""

import numpy as np
import pytest
from superposition import codes
from superposition.codes import any_size, lower_bound


def test_least_answer_against_two_point_laws():
    """No law of two values that spends the error does less, and one does as little."""
    low, high, chance = (
        value.ravel() for value in np.meshgrid(np.linspace(0, 1, 81), np.linspace(0, 1, 81), np.linspace(0, 1, 81))
    )
    for rival, own, error in ((0.3, 0.8, 0.02), (0.7, 0.8, 0.02), (0.9, 0.8, 0.05), (0.2, 0.9, 0.1), (0.5, 0.6, 0.3)):
        spent = chance * (own - low) ** 2 + (1 - chance) * (own - high) ** 2
        done = chance * np.minimum(low, rival) + (1 - chance) * np.minimum(high, rival)
        least = done[spent <= error].min()
        assert least - 0.02 < any_size._least_answer(rival, own, error) <= least + 1e-12


def test_shares_fall_from_nearly_one():
    shares = any_size.shares()
    assert np.all(np.diff(shares) <= 1e-12) and 0.9 < shares[0] <= 1 and shares[-1] >= 0


def test_a_share_is_below_that_of_any_way_to_spend():
    """Ways to spend the error, drawn: each leaves more of a conflict's cost than the bound says."""
    rng = np.random.default_rng(0)
    u, v = (np.arange(200) + 0.5) / 200, (np.arange(100) + 0.5) / 100
    for _ in range(20):
        a, mean = np.exp(rng.uniform(-3, 3)), 10 ** rng.uniform(-5, -1.5)
        spent = rng.random(200) ** rng.integers(1, 12) * (u < rng.uniform(0.1, 1))
        spent *= mean / max(spent.mean(), 1e-12)
        left = np.mean(any_size._least_answer(a * v, u[:, None], spent[:, None]) ** 2) / codes.conflict_cost(a)
        assert left >= np.interp(mean, any_size.ERRORS, any_size.shares()) - 1e-3


@pytest.mark.parametrize("r", [0.05, 0.2, 0.5])
def test_limit_is_theorem_a(r):
    ratio = codes.bound_at_any_size(1e-10, r) / 1e-20 / (lower_bound.KAPPA * (1 / r - 1))
    assert 0.85 < ratio <= 1


def test_no_code_is_below():
    rng = np.random.default_rng(3)
    for p, B in zip(np.exp(rng.uniform(np.log(1e-6), np.log(0.6), 200)), rng.integers(5, 120, 200), strict=True):
        assert 0 < codes.bound_at_any_size(p, 2 / B) <= codes.swept_loss(p, int(B))
    assert codes.bound_at_any_size(0.3, 0.9) <= codes.best_known(0.3, 0.9).loss
    assert codes.bound_at_any_size(0.05, 0.2) == codes.bound_at_any_size(0.05, 0.2)


def test_order_of_the_loss():
    """Both bounds are of order min(p, p^2 / r), within factors that do not depend on the place."""
    for p in (0.4, 1e-2, 1e-5):
        for r in (p / 30, p, min(0.5, 20 * p)):
            assert codes.bound_at_any_size(p, r) > 3e-4 * min(p, p * p / r)


@pytest.mark.parametrize(("p", "r"), [(0.05, 0.2), (0.3, 0.1)])
def test_bound_is_the_best_limit_against_the_best_share_of_features(p, r):
    """Shares by brute force: some features cost the limit, the others obey the Lemma."""
    g = np.linspace(r, 1, 20_001)
    best = 0.0
    for error, share in zip(any_size.ERRORS, any_size.shares(), strict=True):
        limit = (1 - p) * error
        cost = p * (1 - p) * share * max(0, 1 - np.sqrt(12 * min(limit, 1 / 12))) ** 2 * lower_bound.KAPPA
        best = max(best, p * np.min((1 - g) * limit + cost * (g**2 / r - g)))
    assert codes.bound_at_any_size(p, r) == pytest.approx(best, rel=1e-6)
