"""Limits and sharp constants of the loss against mpmath, and against the loss itself on the way to the limit."""

import mpmath as mp
import numpy as np
import pytest
from scipy import optimize
from superposition import features
from superposition.rug import bayes, meanfield, scaling


def partial(k, t):
    """E[ReLU(Z - t)^k] by the textbook form in 150 digits, where its cancellation does not matter."""
    with mp.workdps(150):
        t = mp.mpf(t)
        tail, density = mp.erfc(t / mp.sqrt(2)) / 2, mp.npdf(t)
        return density - t * tail if k == 1 else (1 + t**2) * tail - t * density


def test_reference_is_the_integral():
    with mp.workdps(30):
        for k in (1, 2):
            assert abs(partial(k, 2) / mp.quad(lambda z, k=k: z**k * mp.npdf(z + 2), [0, 1, 3, 8, 20]) - 1) < 1e-20


@pytest.mark.parametrize("t", [-3, 0, 0.5, 2, 6.7, 20])
def test_off_moment(t):
    assert abs(float(mp.mpf(float(scaling.off_moment(t))) / partial(2, t) - 1)) < 1e-11


@pytest.mark.parametrize("p", [0.5, 0.05, 1e-4, 1e-12])
@pytest.mark.parametrize("cost", [0.25, 1.0])
def test_threshold_minimises_what_the_factor_says(p, cost):
    with mp.workdps(40):

        def slope(t):
            return (1 - mp.mpf(p)) / p * partial(1, t) - cost * t

        t = mp.findroot(slope, [float(scaling.small_noise_threshold(p, cost)) * f for f in (0.99, 1.01)], tol=1e-30)
        lowest = (1 - mp.mpf(p)) * partial(2, t) + p * (1 + cost * t**2)
    assert scaling.small_noise_threshold(p, cost) == pytest.approx(float(t), rel=1e-11)
    assert scaling.small_noise_factor(p, cost) == pytest.approx(float(lowest), rel=1e-11, abs=0)


def test_features_that_are_always_on_need_no_threshold():
    assert scaling.small_noise_threshold(1.0) == 0 and scaling.small_noise_factor(1.0) == 1


@pytest.mark.parametrize("p", [0.3, 0.05, 1e-3, 1e-9])
def test_small_noise_factor_is_the_limit_of_the_loss(p):
    c = scaling.small_noise_factor(p)
    away = [
        abs(meanfield.optimum(p, 1 - gap).loss / meanfield.noise_std(p, 1 - gap) ** 2 / c - 1) for gap in (1e-4, 1e-8)
    ]
    assert away[1] < 3e-4 and away[1] < 0.05 * away[0]  # of order sigma times a logarithm: 100 times smaller


@pytest.mark.parametrize("p", [0.3, 1e-3, 1e-9])
def test_gain_1_costs_what_its_factor_says(p):
    sigma, z = 1e-7, np.linspace(0, 8, 4001)
    lowest = meanfield.loss(1.0, -z * sigma, sigma, p).min() / sigma**2
    assert lowest == pytest.approx(float(scaling.small_noise_factor(p, 1.0)), rel=1e-5, abs=0)


def test_leading_constants_for_rare_features():
    p = 10.0 ** -np.array([12, 50, 200])
    half = scaling.small_noise_factor(p) / (p * np.log(1 / p))
    # 1/4 t^2 / ln(1/p) with t^2 = 2 ln(1/p) - 3 ln ln(1/p) + O(1)
    assert np.all(np.diff(np.abs(half - 0.5)) < 0) and abs(half[-1] - 0.5) < 0.02
    assert np.all(np.diff(scaling.small_noise_threshold(p) / np.sqrt(2 * np.log(1 / p))) > 0)
    four = scaling.small_noise_factor(p, 1.0) / scaling.small_noise_factor(p)
    assert np.all(np.diff(four) > 0) and 3.8 < four[-1] < 4


@pytest.mark.parametrize("kappa", [0.3, 0.9, 1.244, 3.0, 40.0])
def test_drop_is_the_noiseless_problem_with_a_threshold(kappa):
    with mp.workdps(30):
        mu = min(mp.mpf(1), mp.sqrt(2 / (3 * mp.mpf(kappa))))

        def error(a):
            return mu**3 / 3 + mp.quad(lambda u: (u - a * (u - mu)) ** 2, [mu, 1])

        relu = error((2 + mu) / (2 * (1 - mu))) if mu < 1 else mp.mpf(1) / 3
        assert mu == 1 or all(error((2 + mu) / (2 * (1 - mu)) + d) > relu for d in (-0.01, 0.01))
    assert scaling.drop_loss(kappa) == pytest.approx(float(relu), rel=1e-12)


def test_loss_approaches_the_drop_function():
    """In 1/ln(1/p): the largest deviation over the drop, at p from 1e-6 to 1e-100."""
    kappa = np.array([0.9, 1.5, 3.0])
    worst = []
    for p in (1e-6, 1e-12, 1e-100):
        found = scaling.loss_in_the_drop(p, kappa)
        worst.append(np.max(np.abs(found - scaling.drop_loss(kappa))))
    assert worst[0] > worst[1] > worst[2] and worst[2] < 0.01


def test_bayes_approaches_its_drop_function_and_not_that_of_relu():
    kappa = np.array([0.9, 1.5, 3.0])
    limit, away = scaling.drop_threshold(kappa) ** 3 / 3, []  # strengths below mu are lost, the others known
    for p in (1e-12, 1e-24, 1e-48, 1e-100):  # in 1 / ln(1/p), like the ReLU
        away.append(bayes.bayes_loss(p, meanfield.noise_std(p, scaling.drop_ratio(p, kappa))) / p - limit)
    assert np.all(np.diff(away, axis=0) < 0) and np.all(away[-1] > 0) and np.all(away[-1] < 0.005)
    assert np.all(scaling.drop_loss(kappa) - limit > 0.018)


def test_short_search_finds_the_optimum():
    kappa = np.array([0.2, 0.6, 0.9, 1.5, 4.0])
    for p in (0.1, 1e-3, 1e-9):
        long = meanfield.optimum(p, scaling.drop_ratio(p, kappa)).loss / p
        assert scaling.loss_in_the_drop(p, kappa) == pytest.approx(long, rel=1e-10)


def test_loss_in_the_drop_of_very_rare_features():
    """At p = 1e-100 in 300 digits: at the best gain and threshold no neighbour is lower, and the value is right."""
    p, kappa = mp.mpf(10) ** -100, mp.mpf("1.5")
    with mp.workdps(300):
        sigma = mp.sqrt((p / 3 - p**2 / 4) * (1 / (kappa * p * mp.log(1 / p)) - 1))

        def loss(t, a):
            def moments(m):
                z = m / s
                cdf, density = mp.erfc(-z / mp.sqrt(2)) / 2, mp.npdf(z)
                second = (m**2 + s**2) * cdf + m * s * density
                return second, (m**3 + 3 * m * s**2) * cdf + (m**2 * s + 2 * s**3) * density

            s, b = a * sigma, -t * a * sigma
            (off, b3), (top2, top3) = moments(b), moments(a + b)
            return ((1 - p) * off + p * (mp.mpf(1) / 3 - top2 / a + (1 + a) / (3 * a**2) * (top3 - b3))) / p

        start = np.array([float(mp.sqrt(2 * mp.log(1 / p))), 3.0])
        found = optimize.minimize(
            lambda v: float(loss(mp.mpf(v[0]), mp.mpf(v[1]))), start, method="Nelder-Mead", options={"xatol": 1e-6}
        )
    assert scaling.loss_in_the_drop(1e-100, 1.5) == pytest.approx(found.fun, rel=1e-8)


def test_half_of_the_loss_is_gone_at_the_half_ratio():
    for p in (0.9, 0.05, 1e-12):
        assert meanfield.optimum(p, scaling.half_ratio(p)).loss == pytest.approx(
            features.variance(p) / 2, rel=1e-9, abs=0
        )
    assert scaling.drop_loss(scaling.HALF_DROP) == pytest.approx(1 / 6, rel=1e-14)
    assert scaling.half_ratio(1e-100) / scaling.drop_ratio(1e-100, 1.0) == pytest.approx(scaling.HALF_DROP, rel=5e-3)


def test_largest_ratio_of_relu_to_bayes_at_one_p():
    p, r = np.array([0.5, 0.05, 1e-3])[:, None], np.array([0.02, 0.1, 0.3, 0.6, 0.9, 0.99, 1 - 1e-6])
    best = meanfield.optimum(p, r)
    ratio = best.loss / bayes.bayes_loss(p, best.sigma)
    limit = (scaling.small_noise_factor(p) / p)[:, 0]
    assert np.all(np.diff(ratio, axis=1) > 0) and np.all(ratio < limit[:, None])
    assert ratio[:, -1] == pytest.approx(limit, rel=0.01)


def test_shapes():
    assert scaling.small_noise_threshold(np.full((2, 1), 0.1)).shape == (2, 1)
    assert scaling.drop_ratio(np.full((2, 1), 1e-3), [1.0, 2.0]).shape == (2, 2)


def test_a_ratio_above_one_is_named():
    with pytest.raises(ValueError, match=r"r = kappa p ln\(1/p\) = 1\.38629 is out of range"):
        scaling.drop_ratio(0.5, 4)
