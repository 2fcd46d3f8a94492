"""The law of sparsification: against exact trajectories, quadrature, sampling, and its own limits."""

import mpmath
import numpy as np
import pytest
from scipy import stats
from superposition import incidental


def gaussian(m, seed, scale=0.9):
    return scale / np.sqrt(m) * np.random.default_rng(seed).standard_normal(m)


def test_balance_and_its_error():
    """The error is lambda l1 R / 2 to first order: 3 % of itself, once the start is forgotten."""
    w0, lambda_ = gaussian(50_000, 0), 1e-5
    found = incidental.trajectory(w0, lambda_, [20.0, 300.0, 3000.0])
    for k, t in enumerate(found.times):
        S, l1 = found.norm_squared[k], found.l1_norm[k]
        error = (1 - S) * S / (lambda_ * l1) - 1
        assert error == pytest.approx(
            incidental.balance_error(l1, lambda_, incidental.relative_variance(found.weights(t))), rel=0.03
        )
        assert incidental.balanced_norm(l1, lambda_) == pytest.approx(S, abs=2 * error * lambda_ * l1)
    S = incidental.balanced_norm([0.0, 1.0, 3.0], 0.1)
    np.testing.assert_allclose(S * (1 - S), [0, 0.1, np.nan], atol=1e-15)


def test_chain_of_appendix_b_against_a_difference_quotient():
    w0, lambda_ = gaussian(3000, 1), 1e-3
    found = incidental.trajectory(w0, lambda_, [59.999, 60.0, 60.001])
    chain = incidental.l1_decay(found.weights(60.0), lambda_)
    slope = -(found.l1_norm[2] - found.l1_norm[0]) / 0.002
    assert chain.exact == pytest.approx(slope, rel=1e-5)  # 1e-11 / 0.002, if nothing dies just then
    assert chain.balance == pytest.approx(chain.variance, rel=1e-10)
    error = incidental.balance_error(found.l1_norm[1], lambda_, incidental.relative_variance(found.weights(60.0)))
    assert chain.balance == pytest.approx(chain.exact, rel=3 * error)
    assert abs(chain.printed) < 1e-10 * chain.exact


def test_continuum_against_mpmath_and_a_large_encoding():
    x = np.array([0.0, 0.5, 2.0, 5.0, 12.0])
    found = incidental.continuum(x)
    for k, cut in enumerate(map(mpmath.mpf, x)):
        with mpmath.workdps(30):
            mean = mpmath.quad(lambda y, c=cut: y * mpmath.exp(-c * y - y**2 / 2), mpmath.linspace(0, 12, 25))
            square = mpmath.quad(lambda y, c=cut: y**2 * mpmath.exp(-c * y - y**2 / 2), mpmath.linspace(0, 12, 25))
            left, front = mpmath.erfc(cut / mpmath.sqrt(2)), 2 * mpmath.npdf(cut)
            l1, R = mpmath.sqrt(front / square) * mean, square * left / mean**2 / front - 1
        assert found.l1_norm[k] == pytest.approx(float(l1), rel=1e-10, abs=0)
        assert found.survivors[k] == pytest.approx(float(left), rel=1e-11, abs=0)
        assert found.relative_variance[k] == pytest.approx(float(R), rel=1e-9, abs=0)
    m, lambda_ = 400_000, 1e-6
    exact = incidental.trajectory(gaussian(m, 2), lambda_, found.T[1:3] / lambda_ / np.sqrt(m))
    np.testing.assert_allclose(exact.l1_norm / np.sqrt(m), found.l1_norm[1:3], rtol=5e-3)  # 1 / sqrt(m'), and t ~ 1
    np.testing.assert_allclose(exact.survivors / m, found.survivors[1:3], rtol=3e-2)


def test_the_law_tends_to_one_and_two():
    """Late, the continuum approaches the constants from above, as slowly as 1 / x^2 makes it."""
    found = incidental.continuum(np.array([5.0, 10.0, 20.0, 30.0]))
    l1, left = found.l1_norm * found.T, found.survivors * found.T**2
    assert np.all(np.diff(l1) < 0) and np.all(l1 > 1) and l1[-1] == pytest.approx(1, abs=3e-3)
    assert np.all(np.diff(left) < 0) and np.all(left > 2) and left[-1] == pytest.approx(2, abs=8e-3)
    assert incidental.tail_law(0) == incidental.TailLaw(1.0, 2.0, 1.0)


@pytest.mark.parametrize(
    ("xi", "draw"),
    [
        (-1.0, lambda rng, m: rng.uniform(size=m)),
        (-0.5, lambda rng, m: 1 - np.sqrt(rng.uniform(size=m))),
        (0.0, lambda rng, m: rng.exponential(size=m)),
    ],
)
def test_tail_index(xi, draw):
    """m' = 1000 of 100000: l1 lambda t has a scatter of about 1 / sqrt(m'), and corrections of order 1 / sqrt(m')."""
    law = incidental.tail_law(xi)
    for seed in range(2):
        size = np.sort(draw(np.random.default_rng(seed), 100_000))[::-1]
        rest = size[:1000] - size[1000]
        found = incidental.relative_variance(rest)
        # standard error of a relative variance: below 3 / sqrt(m') for these laws
        assert found == pytest.approx(law.relative_variance, abs=4 * 3 / np.sqrt(1000) * law.relative_variance)
        w0 = size / np.linalg.norm(size)
        exact = incidental.trajectory(w0, 1e-6, np.geomspace(1e3, 1e6, 40))
        k = np.argmin(np.abs(np.log(exact.survivors / 1000)))
        assert exact.l1_norm[k] * 1e-6 * exact.times[k] == pytest.approx(law.l1_norm, rel=0.12)


def test_end_time_is_the_limit_of_the_exact_one():
    for seed in range(3):
        w0 = gaussian(800, seed)
        limit = incidental.end_time(w0)
        errors = [incidental.trajectory(w0, lam, [8 / lam]).single * lam - limit for lam in (1e-2, 1e-3, 1e-4)]
        assert abs(errors[2]) < 1e-3 and abs(errors[2]) < abs(errors[1]) < abs(errors[0])
    assert incidental.end_time([0.5, 0.3]) == pytest.approx((np.arcsinh(4) - np.arcsinh(1)) / np.sqrt(2))
    assert incidental.end_time([0.5, 0.5, 0.1]) == np.inf


def test_universal_end():
    """Against ends of exponential weights drawn as such; and the part left out is its expectation."""
    ends = incidental.random_end_times(4000, seed=1)
    rng = np.random.default_rng(2)
    direct = [incidental.end_time(rng.exponential(size=20_000)) for _ in range(500)]
    late = 1.03 * np.sqrt(2 / 20_000) + 0.01  # what weights below the smallest of 20000 would add: about 0.01
    assert stats.ks_2samp(ends - late / 2, direct).pvalue > 1e-4
    assert ends.mean() == pytest.approx(np.mean(direct), abs=4 * np.std(direct) / np.sqrt(500) + late)
    assert stats.ks_2samp(ends, 1.1 * ends).pvalue < 1e-4  # 10 % would be seen


def test_relative_variance_stays_within_its_bounds():
    for seed in range(3):
        w0 = gaussian(3000, seed)
        bounds = incidental.relative_variance_bounds(w0)
        found = incidental.trajectory(w0, 1e-4, np.geomspace(1, 2e4, 60))
        for t, left in zip(found.times, found.survivors, strict=True):
            if 2 <= left < 3000:
                R = incidental.relative_variance(found.weights(t))
                assert bounds.low[left - 1] * (1 - 1e-9) <= R <= bounds.high[left - 1] * (1 + 1e-9)


def test_bounds_by_hand():
    bounds = incidental.relative_variance_bounds([0.1, -0.5, 0.4])
    np.testing.assert_array_equal(bounds.survivors, [1, 2])
    np.testing.assert_allclose(bounds.low, [0, (0.05 / 0.35) ** 2], atol=1e-12)
    assert np.isnan(bounds.high[0]) and bounds.high[1] == pytest.approx(1)


def test_percentiles_are_those_of_half_normal():
    np.testing.assert_allclose(
        incidental.gaussian_percentiles(4), stats.halfnorm.ppf([0.875, 0.625, 0.375, 0.125]), rtol=1e-12
    )


def test_chain_of_appendix_b_by_hand():
    """Sizes 3 and 1: m' = 2, l1 = 4, S = 10, variance 1; the printed sum of deviations without a square is 0."""
    found = incidental.l1_decay([3.0, 0.0, -1.0], 0.1)
    assert found.exact == pytest.approx(0.1 * 2 - (1 - 10) * 4, rel=1e-14)
    assert found.balance == found.variance == pytest.approx(0.1 / 10 * (2 * 10 - 16), rel=1e-13)
    assert found.printed == pytest.approx(0.0, abs=1e-16)


def test_laws_of_scale():
    w = np.random.default_rng(3).standard_normal(50)
    assert incidental.relative_variance(7 * w) == pytest.approx(incidental.relative_variance(w))
    assert incidental.end_time(-w) == incidental.end_time(w[::-1])
    balance = incidental.balanced_norm(np.linspace(0, 2.5, 30), 0.1)
    assert balance[0] == 1 and balance[-1] == pytest.approx(0.5) and np.all(np.diff(balance) < 0)
    np.testing.assert_allclose(1 - balance, 0.1 * np.linspace(0, 2.5, 30) / balance, atol=1e-14)


def test_the_mean_by_arbitrary_precision():
    def left(s):
        x = 1 / (2 * mpmath.sqrt(s))
        return 1 - mpmath.sqrt(mpmath.pi) * x * mpmath.exp(x * x) * mpmath.erfc(x)

    def part(y):
        return mpmath.exp(y / 2) * (-mpmath.log(left(mpmath.exp(y))) - 1 + left(mpmath.exp(y)))

    with mpmath.workdps(40):
        expected = mpmath.quad(part, range(-32, 60, 4)) / mpmath.sqrt(mpmath.pi)  # below, exp(-16)
    assert incidental.mean_end() == pytest.approx(float(expected), abs=2e-5)


@pytest.mark.parametrize(("m", "draws"), [(2, 4000), (30, 4000)])
def test_the_mean_of_gaussian_weights_by_draws(m, draws):
    rng = np.random.default_rng(m)
    ends = [incidental.end_time(rng.standard_normal(m)) for _ in range(draws)]
    assert np.mean(ends) == pytest.approx(incidental.mean_end_gaussian(m), abs=4 * np.std(ends) / draws**0.5)


def test_gaussian_weights_tend_to_the_law_from_above():
    means = [incidental.mean_end_gaussian(m) for m in (100, 1000, 10**4, 10**6)]
    assert np.argmax(means) == 1 and min(means) > incidental.mean_end()
    assert np.mean(incidental.random_end_times(3000, seed=3)) == pytest.approx(incidental.mean_end(), abs=0.06)
