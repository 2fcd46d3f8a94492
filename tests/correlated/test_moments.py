"""The law of groups, its correlation, and the linear code: against samples and eigenvalues."""

import numpy as np
import pytest
from superposition import correlated, features

LAWS = [(0.05, 0.0, 5), (0.05, 0.02, 5), (0.1, 0.1, 2), (0.1, 0.3, 4), (0.05, 1.0, 3), (0.2, 0.0, 5)]


@pytest.mark.parametrize(("p", "s", "G"), LAWS)
def test_a_group_is_drawn_by_its_law(p, s, G):
    x = features.grouped(6, G, p, s, 40_000, seed=1).reshape(-1, 6, G)
    on = x > 0
    own, pair = on.mean(), (on[:, :, 0] & on[:, :, 1]).mean()
    # features of a group that comes as one are one draw: five standard errors of 240,000 of these
    assert own == pytest.approx(p, abs=5 * np.sqrt(p / 240_000))
    assert pair == pytest.approx(p * s, abs=5 * np.sqrt(max(p * s, 1e-9) / 240_000) + 1e-12)
    strangers = (on[:, 0, 0] & on[:, 1, 0]).mean()
    assert strangers == pytest.approx(p**2, abs=5 * p / np.sqrt(40_000))
    assert x[on].mean() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(("p", "s", "G"), LAWS)
def test_the_linear_code_keeps_the_largest_eigenvalues(p, s, G):
    rho = float(correlated.partner_correlation(p, s))
    values = np.sort(np.linalg.eigvalsh((1 - rho) * np.eye(G) + rho))[::-1] * features.variance(p)
    left = [values[k:].sum() / G for k in range(1, G + 1)]
    found = [correlated.linear_loss(p, k / G, G, s) for k in range(1, G + 1)]
    assert found == pytest.approx(left, abs=1e-15)


@pytest.mark.parametrize(("r", "G"), [(0.25, 4), (0.1, 4), (0.5, 2)])
def test_at_the_border_both_lose_the_same(r, G):
    loss = 0.8 * correlated.linear_loss(0.05, r, G, 0.05)
    rho = float(correlated.linear_border(0.05, r, G, loss))
    s = 0.05 + rho * (4 / 3 - 0.05)
    if s <= 1:
        assert correlated.linear_loss(0.05, r, G, s) == pytest.approx(loss, rel=1e-12)


def test_exclusive_groups_must_fit():
    with pytest.raises(ValueError, match=r"s = 0.1 is too small for 6 features with p = 0.2; allowed: p to 1"):
        correlated.linear_loss(0.2, 0.5, 6, 0.1)


def test_each_of_many_features_has_a_border_of_its_own():
    p, r, loss = np.array([0.05, 0.1]), np.array([0.1, 0.5]), np.array([0.006, 0.004])
    each = [correlated.linear_border(*one[:2], 4, one[2]) for one in zip(p, r, loss, strict=True)]
    assert correlated.linear_border(p, r, 4, loss).tolist() == pytest.approx(each)
    assert correlated.partner_correlation(p, r).tolist() == [
        correlated.partner_correlation(*one) for one in zip(p, r, strict=True)
    ]
