"""Rates of the flat field for odd Hermite coefficients, and where an average is refused."""

import numpy as np
import pytest
from superposition import receptive
from superposition.receptive import hermite


@pytest.mark.parametrize(("order", "ratio"), [(3, 0.0005), (3, -0.0005), (5, 0.0005), (5, -0.0005)])
def test_rates_against_conditional_monte_carlo(order, ratio):
    rate, se = receptive.hermite_growth(40, 2, 1, {order: ratio}, samples=20_000, seed=5)
    still, change = (receptive.hermite_rates(40, 2, 1, ratios)[0] for ratios in ({}, {order: ratio}))
    change -= still
    second = 60 * abs(ratio)  # c3 c5 and c5^2 enter with factors of that size, beside the first order
    assert abs(rate - still - change) < 4 * se + second * abs(change)
    assert abs(rate - still + change) > 4 * se + second * abs(change)  # the sign is not free
    double = abs(rate - still - 2 * change)
    assert double > 4 * se + second * abs(change)


def test_erf_is_the_third_order():
    q = float(receptive.saturation(0.03))
    measured, se = receptive.flat_growth(40, 2, 1, 0.03, samples=20_000)
    still, found = (receptive.hermite_rates(40, 2, 1, ratios)[0] for ratios in ({}, {3: -q / 6}))
    assert abs(measured - found) < 4 * se + 3 * q * (found - still)
    assert 4 * se < (found - still) / 3
    gc = receptive.critical_gain(40, 2, 1)
    at = receptive.hermite_rates(40, 2, 1, {3: -float(receptive.saturation(gc)) / 6})
    assert at[0] == pytest.approx(0, abs=1e-12)
    assert np.all(at[1:] < 0)


def test_a_quintic_coefficient_undoes_what_the_third_does():
    """Twice and three times the critical drive, flat all the same: the sign of the rate is that of the measures."""
    for third in (-0.018, -0.027):
        alone, se = receptive.hermite_growth(40, 2, 1, {3: third}, samples=20_000)
        both, se_both = receptive.hermite_growth(40, 2, 1, {3: third, 5: -0.012}, samples=20_000)
        assert alone > 3 * se
        assert both < -3 * se_both


def test_averages_of_few_vectors_are_refused():
    with pytest.raises(receptive.FewVectors, match="few vectors carry the average"):
        receptive.flat_growth(4, 2, 1, 3, kernel="wrapped", samples=20_000)
    with pytest.raises(ValueError, match="few vectors carry the average"):
        receptive.flat_growth(6, 2, 1, 3, kernel="wrapped", samples=20_000)


@pytest.mark.parametrize(("xi1", "xi2"), [(1.2, 0.3), (1.2, 0.6), (0.9, 0.5), (1.2, 1.0)])
def test_critical_gain_is_nan_exactly_where_no_wave_grows_up_to_the_largest_q(xi1, xi2):
    found = []
    for n in (4, 6, 10, 20, 40):
        lam1, lam0 = (np.fft.rfft(receptive.gaussian_covariance(n, xi, "wrapped")[0]).real for xi in (xi1, xi2))
        r = lam0 / lam1
        rate = lam1 * (r[0] - r + 0.3 * (1 + r[0]) * (lam1[0] / 3 + lam1) / n)  # at q = 0.3, as the docstring has it
        gain = receptive.critical_gain(n, xi1, xi2, "wrapped")
        assert np.isnan(gain) == (rate[1:].max() < 0)
        found.append(np.isnan(gain))
    assert found[0] and not found[-1]


def test_no_critical_gain_beyond_the_first_order():
    assert np.isnan(receptive.critical_gain(4, 1.2, 0.3, "wrapped"))
    assert np.isnan(receptive.critical_gain(4, 1.2, 0.6, "wrapped"))  # the formula's 1.56 would be twice too large
    gain, se = receptive.measured_critical_gain(4, 1.2, 0.3, kernel="wrapped", samples=20_000)
    assert gain == pytest.approx(0.91, abs=4 * se)  # .910 in an earlier measurement


def test_growth_of_a_series_is_that_of_its_own_covariance(monkeypatch):
    """The eigenvalues that the rate is made of, against moments of pairs of pixels by quadrature."""
    monkeypatch.setattr(hermite, "growth", lambda C1, S, *_: (S, 0.0))
    S, _ = receptive.hermite_growth(12, 2, 1, {3: 0.05})
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    x, y = np.meshgrid(nodes, nodes)
    both = np.outer(weights, weights) / weights.sum() ** 2

    def pixel(z):
        return z + 0.05 * (z**3 - 3 * z)

    def moment(c):
        return np.sum(both * pixel(x) * pixel(c * x + np.sqrt(1 - c**2) * y))

    C1, C0 = (receptive.gaussian_covariance(12, xi)[0] for xi in (2, 1))
    row = [(moment(one) + moment(other)) / moment(1.0) for one, other in zip(C1, C0, strict=True)]
    np.testing.assert_allclose(S, np.fft.rfft(row).real, rtol=1e-10)
