"""Where the loss drops: the limit of the fans, the count against explicit codes, and its slow limit."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import rel_entr
from superposition.codes import fans, rare_features


def test_fans_reach_the_upper_limit():
    for kappa in (0.5, 1.0, 3.0):
        B = round(2 / (kappa * 1e-4))
        assert 3 * fans.fan_loss(1e-4, B) / 1e-4 == pytest.approx(rare_features.drop_bounds(2 / B / 1e-4)[1], rel=1e-3)


@pytest.mark.parametrize("p", [1e-2, 1e-4])
def test_no_code_is_below_the_count(p):
    for B in np.geomspace(4, 300 / p, 8).astype(int):
        assert 0 <= rare_features.counting_bound(p, 2 / B) <= fans.fan_loss(p, int(B)) <= p / 3


def test_the_count_is_monotone_and_bites():
    values = [rare_features.counting_bound(1e-6, kappa * 1e-6) / (1e-6 / 3) for kappa in (0.001, 0.01, 0.1, 0.5)]
    assert np.all(np.diff(values) < 0) and values[0] > 0.9
    assert rare_features.counting_bound(0.05, 0.4) == 0


def test_the_count_tends_to_the_limit_from_below():
    for kappa in (0.01, 0.1, 0.3):
        shares = [3 * rare_features.counting_bound(p, kappa * p) / p for p in (1e-4, 1e-16, 1e-60, 1e-200)]
        assert np.all(np.diff(shares) > 0) and shares[-1] <= rare_features.drop_bounds(kappa)[0] * (1 + 1e-3)


def test_patterns_of_outputs_are_few():
    """n outputs in d dimensions make at most sum_{k <= d} C(n, k) patterns above a threshold."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((200_000, 2)) * 3
    v, b = rng.standard_normal((2, 7)), rng.standard_normal(7)
    patterns = np.unique((z @ v + b > 0.1) @ 2 ** np.arange(7))
    assert 1 + 7 + 21 - 4 <= len(patterns) <= 1 + 7 + 21  # a few cells may be too small to hit


def test_refusals():
    with pytest.raises(ValueError, match="p = 1 is"):
        rare_features.counting_bound(1, 0.1)
    with pytest.raises(ValueError, match="kappa = 0"):
        rare_features.drop_bounds(0)


@pytest.mark.parametrize(("p", "r"), [(1e-2, 1e-5), (1e-3, 1e-5), (1e-6, 3e-7)])
def test_the_count_is_the_least_loss_that_its_patterns_allow(p, r):
    """At every share phi the largest eta by a root; the cells of the grid in phi lie a few per cent below."""

    def least(phi, tau):
        def spare(eta):
            pi = p * eta + (1 - p) * phi
            on, off = (rel_entr(s, pi) + rel_entr(1 - s, 1 - pi) for s in (eta, phi))
            return -r * np.log(r) - (1 - r) * np.log1p(-r) - p * on - (1 - p) * off

        eta = 1.0 if spare(1.0) >= 0 else brentq(spare, phi, 1.0)
        return (1 - p) * phi * tau**2 + p / 3 * max(0, 1 - eta - tau) ** 3

    best = max(min(least(phi, tau) for phi in np.geomspace(1e-9, 0.9, 400)) for tau in np.geomspace(1e-3, 0.9, 40))
    assert 0.9 * best < rare_features.counting_bound(p, r) <= best
