"""The law of the interference: cumulants by quadrature, counts by brute force, the expansion against the exact loss."""

import itertools

import numpy as np
import pytest
from sampled import sampled
from scipy import integrate, stats
from superposition import features
from superposition.rug import interference, meanfield, rugs


def central(p, k):
    """Central moment of a feature, from its definition."""
    m = p / 2
    on = integrate.quad(lambda u: (u - m) ** k, 0, 1)[0]
    return (1 - p) * (-m) ** k + p * on


@pytest.mark.parametrize("p", [0.01, 0.05, 0.4, 1.0])
def test_feature_cumulants_by_quadrature(p):
    variance, third, fourth = central(p, 2), central(p, 3), central(p, 4)
    expected = [variance, third, fourth - 3 * variance**2]
    np.testing.assert_allclose(interference.feature_cumulants(p), expected, rtol=1e-10, atol=1e-15)
    absolute = (1 - p) * (p / 2) ** 3 + p * integrate.quad(lambda u: abs(u - p / 2) ** 3, 0, 1, points=[p / 2])[0]
    assert interference.absolute_third_moment(p) == pytest.approx(absolute / variance**1.5, rel=1e-9, abs=0)


def test_limits_for_rare_features():
    p = 1e-8
    assert interference.absolute_third_moment(p) * np.sqrt(p) == pytest.approx(3**1.5 / 4, rel=1e-6, abs=0)  # 1.30
    _, third, fourth = interference.feature_cumulants(p) / p
    assert third == pytest.approx(1 / 4, rel=1e-6, abs=0) and fourth == pytest.approx(1 / 5, rel=1e-6, abs=0)


def test_row_cumulants_against_samples():
    rug, p = rugs.Rug(32, 8, seed=1), 0.2
    x = features.sample(32, p, 400_000, seed=1)[:, 1:] @ rug.row()[1:]
    parts = x.reshape(40, -1)
    for order, expected in zip((2, 3, 4), interference.row_cumulants(rug.power_sums(), p), strict=True):
        found = [stats.kstat(part, order) for part in parts]  # unbiased
        se = np.std(found, ddof=1) / np.sqrt(len(found))
        assert abs(np.mean(found) - expected) < 4 * se and se < 0.1 * abs(expected) + 0.002


@pytest.mark.parametrize(("ns", "nd", "antipodal"), [(32, 9, False), (32, 9, True), (31, 8, False), (30, 7, True)])
def test_power_sums_count_tuples_that_sum_to_zero(ns, nd, antipodal):
    rug = rugs.Rug(ns, nd, seed=2, antipodal=antipodal)
    S = rug.indices.tolist()

    def total(ks):
        return np.bitwise_xor.reduce(ks) if ns == 32 else sum(ks) % ns

    for order in (1, 2, 3, 4):
        count = sum(total(ks) == 0 for ks in itertools.product(S, repeat=order))
        assert rug.power_sums()[order - 1] + 1 == pytest.approx(ns * count / nd**order, abs=1e-10)
        if order == 3:
            assert interference.zero_sum_triples(rug) == count
            assert not antipodal or count == 0


@pytest.mark.parametrize("antipodal", [False, True])
def test_mean_power_sums_over_every_index_set(antipodal):
    pool = range(4, 8) if antipodal else range(1, 8)
    for nd in (1, 2, 3, 4):
        every = [rugs.Rug(8, nd, indices=S).power_sums() for S in itertools.combinations(pool, nd)]
        mean = interference.mean_power_sums(8, nd, antipodal=antipodal)
        np.testing.assert_allclose(mean, np.mean(every, axis=0), atol=1e-12)


@pytest.mark.parametrize(("ns", "nd", "antipodal"), [(256, 51, False), (256, 51, True), (128, 90, False)])
def test_mean_power_sums_over_random_index_sets(ns, nd, antipodal):
    found = np.array([rugs.Rug(ns, nd, seed=s, antipodal=antipodal).power_sums() for s in range(400)])
    se = found.std(axis=0) / np.sqrt(len(found))
    mean = interference.mean_power_sums(ns, nd, antipodal=antipodal)
    assert np.all(np.abs(found.mean(axis=0) - mean) < 4 * se + 1e-10)


POINTS = [(1.2, -0.35, 0.25, 0.05), (1.3, -0.2, 0.06, 0.3), (0.3, 0.1, 0.5, 0.8), (1.0, 0.0, 0.3, 1.0)]


@pytest.mark.parametrize(("a", "b", "sigma", "p"), POINTS)
def test_excess_is_made_of_derivatives_of_the_loss(a, b, sigma, p):
    def loss(b, square):
        return meanfield.loss(a, b, np.sqrt(square), p)

    v, h, step = sigma**2, 2e-3 * sigma**2, 1e-3 * sigma
    curvature = (loss(b, v + h) - 2 * loss(b, v) + loss(b, v - h)) / h**2
    mixed = loss(b + step, v + h) - loss(b - step, v + h) - loss(b + step, v - h) + loss(b - step, v - h)
    found = interference.edgeworth_excess([v, 1.0, 1.0], a, b, p)
    assert found.kurtosis == pytest.approx(curvature / 6, rel=1e-4, abs=1e-6)
    assert found.skewness == pytest.approx(a / 3 * mixed / (4 * h * step), rel=1e-4, abs=1e-6)
    assert found.total == found.kurtosis + found.skewness


@pytest.mark.parametrize("antipodal", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_expansion_is_right_to_second_order(antipodal, seed):
    # halving the cumulants (four times the features) divides what is left out by four and more
    left = []
    for ns in (512, 2048):
        rug, best = rugs.Rug(ns, ns // 5 // 2 * 2, seed=seed), meanfield.optimum(0.1, ns // 5 // 2 * 2 / ns)
        law = interference.row_cumulants(rug.power_sums(), 0.1)
        exact = interference.exact_excess(rug.row()[1:], best.a, best.b, 0.1)
        parts = interference.edgeworth_excess(law, best.a, best.b, 0.1)
        left.append(abs(exact - parts.total) / best.loss)
        assert left[-1] < 2 * ((abs(parts.kurtosis) + abs(parts.skewness)) / best.loss) ** 2
        assert abs(exact) > 5 * abs(exact - parts.total)
    assert left[1] < left[0] / 4


def test_a_gaussian_row_has_no_excess():
    weights = np.resize([1e-3, -1e-3], 200_000)  # no skewness, and a kurtosis of 1e-5
    assert interference.exact_excess(weights, 1.2, -0.3, 0.5) == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("weight", [-1.0, -0.4, 0.0, 0.7, 1.0])
def test_partner_loss_against_quadrature_and_a_rug(weight):
    a, b, p, r = 1.2, -0.35, 0.05, 0.25
    sigma = np.sqrt(features.variance(p) * (3 - weight**2))

    def shifted(u):
        return meanfield.loss(a, b + a * weight * (u - p / 2), sigma, p)

    expected = (1 - p) * shifted(0) + p * integrate.quad(shifted, 0, 1)[0]
    assert interference.partner_loss(weight, a, b, p, r) == pytest.approx(expected, rel=1e-9, abs=0)


def test_antipodal_and_duplicated_rugs_approach_the_partner_loss():
    a, b, p, ns = 1.2, -0.35, 0.1, 8192
    for indices, weight in [(np.arange(4096, 8192), -1), (np.arange(4096), 1)]:
        S = np.random.default_rng(0).choice(indices, 2048, replace=False)
        exact = rugs.row_loss(rugs.Rug(ns, 2048, indices=S).row()[1:], a, b, p)
        assert exact == pytest.approx(interference.partner_loss(weight, a, b, p, 0.25), rel=3e-3, abs=0)
        assert abs(exact / meanfield.loss(a, b, meanfield.noise_std(p, 0.25), p) - 1) > 0.05


@pytest.mark.parametrize(("ns", "nd"), sampled([(2048, 410), (2048, 1024), (1000, 200)]))
@pytest.mark.parametrize("antipodal", [False, True])
def test_rug_loss_against_the_exact_law(ns, nd, antipodal):
    rug, best = rugs.Rug(ns, nd, seed=5, antipodal=antipodal), meanfield.optimum(0.05, nd / ns)
    exact = rugs.row_loss(rug.row()[1:], best.a, best.b, 0.05)
    # left out: the second order, and p times the first
    first = 16.1 / ns
    tolerance = 2 * first**2 + 0.05 * first
    assert interference.rug_loss(rug, best.a, best.b, 0.05) == pytest.approx(exact, rel=tolerance, abs=0)
    assert abs(exact / best.loss - 1) > (0.1 if antipodal else 2 * tolerance)


def test_rug_loss_without_interference_is_that_of_no_noise():
    rug = rugs.Rug(16, 16)
    expected = meanfield.loss(1.1, -0.1, 0, 0.2)
    assert interference.rug_loss(rug, 1.1, -0.1, 0.2) == pytest.approx(expected, rel=1e-9, abs=0)


def test_lyapunov():
    assert interference.lyapunov_ratio([0, -2, 0]) == 1
    assert interference.lyapunov_ratio(np.full(100, -0.3)) == pytest.approx(0.1, rel=1e-12, abs=0)
    row = rugs.Rug(65536, 9000, seed=0).row()[1:]
    # the sum of |Z|^3 of n Gaussian numbers with given sum of squares has variance n
    assert interference.lyapunov_ratio(row) * 256 == pytest.approx(2 * np.sqrt(2 / np.pi), abs=4 / 256)


def test_a_row_without_other_weights_has_no_lyapunov_ratio():
    with pytest.raises(ValueError, match="off_diagonal = 0 everywhere"):
        interference.lyapunov_ratio([0, 0])


@pytest.mark.parametrize(("ns", "nd"), [(8, 3), (8, 5), (16, 4)])
def test_the_spread_of_the_skewness_over_all_index_sets(ns, nd):
    sums = [rugs.Rug(ns, nd, indices=np.array(S)).power_sums()[2] for S in itertools.combinations(range(1, ns), nd)]
    assert interference.skewness_spread(ns, nd) == pytest.approx(np.std(sums), rel=1e-9)


@pytest.mark.parametrize(("nd", "ratio"), [(51, 0.199), (128, 0.5), (205, 0.8)])
def test_the_spread_of_the_skewness_between_random_rugs(nd, ratio):
    ns, count = 256, 400
    sums = np.array([rugs.Rug(ns, nd, seed=s).power_sums()[2] for s in range(count)])
    exact = interference.skewness_spread(ns, nd)
    # the standard deviation of 400 values is known to 1 / sqrt(800) = 3.5 %, more where their law has tails
    assert sums.std(ddof=1) == pytest.approx(exact, rel=0.15)
    assert exact == pytest.approx(6**0.5 * (1 / ratio - 1) ** 1.5 / ns, rel=0.05)
    assert abs(sums.mean() - interference.mean_power_sums(ns, nd)[2]) < 4 * exact / count**0.5
