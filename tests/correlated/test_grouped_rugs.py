"""The grouped rug: its parts, its special cases, and the losses of finite ones."""

import numpy as np
import pytest
from scipy import stats
from superposition import codes, correlated, rug
from superposition.correlated import finite_rugs, grouped_rugs


@pytest.mark.parametrize(("p", "G", "s"), [(0.05, 4, 0.5), (0.1, 5, 0.02), (0.2, 2, 0.2), (0.3, 3, 1.0)])
def test_partners_add_up_to_the_law(p, G, s):
    on, off = grouped_rugs._partners_on(p, G, s)
    assert (on.sum(), off.sum()) == pytest.approx((p, 1 - p), abs=1e-12)
    assert on @ np.arange(G) == pytest.approx(p * s * (G - 1), abs=1e-12)


@pytest.mark.parametrize("s", [0.0, 0.06, 0.1, 0.4, 1.0])
def test_the_noise_of_a_finite_group_has_one_factor_for_each_partner(s):
    p, G, loud, quiet = 0.1, 5, 0.7 + 0.1j, 0.9 - 0.2j
    each = loud ** np.arange(G) * quiet ** np.arange(G)[::-1]
    on, off = (chances @ each for chances in grouped_rugs._partners_on(p, G, s))
    assert finite_rugs._partners(loud, quiet, p, G, s) == pytest.approx((on / p, off / (1 - p)), abs=1e-12)


def test_at_independence_partners_are_binomial():
    on, off = grouped_rugs._partners_on(0.1, 4, 0.1)
    binomial = stats.binom.pmf(np.arange(4), 3, 0.1)
    assert on == pytest.approx(0.1 * binomial) and off == pytest.approx(0.9 * binomial)


@pytest.mark.parametrize("slope", [-1 / 3, -0.1, 0.2, 0.8])
def test_the_least_noise_is_least(slope):
    p, r, G, s = 0.05, 0.25, 4, 0.3
    noise, ratios = correlated.rug_ratios(p, r, G, s, slope)
    assert ratios[0] / G + ratios[1] * (1 - 1 / G) == pytest.approx(r)
    gains = np.array([1 + (G - 1) * slope, 1 - slope])
    levels = np.array(grouped_rugs.moments.levels(p, G, s))
    first = np.linspace(1e-6, min(1, r * G) - 1e-6, 2000)
    tried = np.stack([first, (r - first / G) / (1 - 1 / G)])
    power = np.array([1 / G, 1 - 1 / G]) @ ((gains**2 * levels)[:, None] * (1 / tried - 1))
    assert noise**2 <= power.min() * (1 + 1e-12) and noise**2 == pytest.approx(power.min(), rel=1e-3)


@pytest.mark.parametrize(("p", "r"), [(0.05, 0.2), (0.02, 0.1), (0.1, 0.3)])
def test_pairs_apart_at_independence_are_the_antipodal_rug(p, r):
    apart = correlated.grouped_rug(p, r, 2, p, phase="apart").loss
    assert apart == pytest.approx(float(codes.antipodal_optimum(p, r).loss), rel=1e-9)


@pytest.mark.parametrize(("p", "r", "G", "s"), [(0.05, 0.25, 4, 0.5), (0.1, 0.4, 3, 0.0), (0.05, 0.6, 2, 1.0)])
def test_it_loses_no_more_than_the_rug_and_the_linear_code(p, r, G, s):
    found = correlated.grouped_rug(p, r, G, s)
    assert found.loss <= float(rug.optimum(p, r).loss) * (1 + 1e-9)
    assert found.loss <= correlated.linear_loss(p, r, G, s)
    scan = [grouped_rugs._made(p, r, G, s, slope).loss for slope in np.linspace(-2 / (G - 1), 1.5, 36)]
    assert found.loss <= min(scan) * (1 + 1e-9)


def test_an_exclusive_digon_loses_nothing():
    assert correlated.grouped_rug(0.05, 0.5, 2, 0.0).loss == pytest.approx(0, abs=1e-15)


def test_a_simulation_agrees():
    found = correlated.grouped_rug(0.1, 0.3, 3, 0.4)
    seen = correlated.simulated_grouped_loss(found, 0.1, 3, 0.4, groups=512, samples=400, seed=0)
    # of order 1 / (512 p): the noise is not quite Gaussian and swells with what is on
    assert abs(seen.mean - found.loss) < 4 * seen.se + 0.03 * found.loss
    assert abs(seen.mean - float(rug.optimum(0.1, 0.3).loss)) > 8 * seen.se


@pytest.mark.parametrize("s", [0.02, 0.5])
def test_sums_of_squares_have_their_law(s):
    from superposition import features

    on, off = finite_rugs._squares(256, 0.05, 4, s)
    x = features.grouped(64, 4, 0.05, s, 20_000, seed=3)
    rest = ((x - 0.025) ** 2).sum(axis=1) - (x[:, 0] - 0.025) ** 2
    for law, chosen in ((on, x[:, 0] > 0), (off, x[:, 0] == 0)):
        se = rest[chosen].std() / np.sqrt(chosen.sum())
        assert law.mean() == pytest.approx(rest[chosen].mean(), abs=4.5 * se)


def test_correlation_costs_a_finite_rug_something_and_a_large_one_little():
    limit = float(rug.optimum(0.05, 0.25).loss)
    excess = [correlated.rug_loss(n, 0.05, 0.25, 4, 1.0).loss / limit - 1 for n in (256, 1024, 4096)]
    assert excess[0] > 0.1 and np.allclose(np.divide(excess[:2], excess[1:]), 4, rtol=0.2)


def test_a_partner_s_weight_may_be_its_own():
    """Few dimensions for groups that are mostly on together: one weight for a group, where the search ends."""
    rug = correlated.grouped_rug(0.3, 0.1, 3, 0.9, phase="together")
    assert rug.partner == pytest.approx(rug.own)
    assert rug.loss < correlated.grouped_rug(0.3, 0.1, 3, 0.9, phase="apart").loss
