"""Noise laws: moments against quadrature, draws against both."""

import numpy as np
import pytest
from incidental.laws import DENSITIES, KURTOSES, LAWS, NAMES
from scipy.integrate import quad
from superposition import incidental


@pytest.mark.parametrize(("law", "kurtosis"), list(zip(LAWS, KURTOSES, strict=True)), ids=NAMES)
def test_moments_are_exact(law, kurtosis):
    assert law.excess_kurtosis == pytest.approx(kurtosis, abs=1e-14)
    assert law.mu4 == pytest.approx((kurtosis + 3) * 0.3**4, rel=1e-13)
    assert law.kappa4 == pytest.approx(kurtosis * 0.3**4, abs=1e-15)
    assert law.variance == pytest.approx(0.09) and law.moment(0) == 1 and law.moment(3) == 0
    if law.points:
        assert sum(law.probabilities) == pytest.approx(1, abs=1e-15)
        return
    for order in (2, 4, 6, 8):
        expected = 2 * quad(lambda x: x**order * DENSITIES[law.name](x), 0, 3**0.5)[0]  # noqa: B023
        expected += 2 * quad(lambda x: x**order * DENSITIES[law.name](x), 3**0.5, 60)[0]  # noqa: B023
        assert law.moment(order) == pytest.approx(0.3**order * expected, rel=1e-9)


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_draws_have_the_moments_and_the_characteristic_function(law):
    xi = law.sample((200_000,), np.random.default_rng(1))
    for order in (1, 2, 4):
        se = np.sqrt(max(law.moment(2 * order) - law.moment(order) ** 2, 0) / len(xi))
        assert np.mean(xi**order) == pytest.approx(law.moment(order), abs=4 * se + 1e-15)
    t = np.array([0.0, 1.0, 5.0, 20.0])
    np.testing.assert_allclose(law.characteristic(t), np.cos(np.outer(t, xi)).mean(axis=1), atol=4 / np.sqrt(2e5))
    assert abs(np.corrcoef(xi[:-1], xi[1:])[0, 1]) < 4 / np.sqrt(2e5)


def test_laws_are_small_frozen_objects():
    assert incidental.bipolar(0.1) == incidental.bipolar(0.1) != incidental.bipolar(0.2)
    assert len({incidental.normal(0.1), incidental.normal(0.1), incidental.laplace(0.1)}) == 2
    with pytest.raises(AttributeError):
        incidental.normal(0.1).sigma = 2.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: incidental.bipolar(-0.1), r"sigma = -0.1 is out of range; allowed: \[0, 1e\+30\]"),
        (lambda: incidental.laplace(np.nan), "sigma = nan is out of range"),
        (lambda: incidental.discrete(0.1, -2.5), r"kurtosis = -2.5 is out of range; allowed: \[-2, 1e\+49\]"),
        (lambda: incidental.discrete(-1, 0), "sigma = -1 is out of range"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("k", "kappa6"), [(-1, 4), (-1, 28), (-0.3, 36), (0.3, -8.6), (2, 100), (-1.99, 20)])
def test_four_points_have_the_cumulants_that_were_asked_for(k, kappa6):
    law = incidental.four_point(k, kappa6, 0.2)
    assert law.excess_kurtosis == pytest.approx(k, abs=1e-12)
    assert law.sixth_cumulant == pytest.approx(kappa6, rel=1e-9, abs=1e-9)
    assert law.variance == pytest.approx(0.04) and sum(law.probabilities) == pytest.approx(1)
    assert min(law.probabilities) >= 0 and law.points == tuple(sorted(law.points))
    xi = law.sample((100_000,), np.random.default_rng(0))
    se = np.sqrt((law.moment(8) - law.mu4**2) / len(xi))
    assert np.mean(xi**4) == pytest.approx(law.mu4, abs=4 * se)


def test_the_smallest_sixth_cumulant_is_the_law_on_three_points():
    for k in (-1.5, 0.0, 3.0):
        lowest = incidental.four_point(k, k**2 - 9 * k - 6, 0.3)
        assert lowest.points[1] == pytest.approx(0, abs=1e-7)
        assert incidental.discrete(0.3, k).sixth_cumulant == pytest.approx(lowest.sixth_cumulant, abs=1e-9)
    assert incidental.normal(2.0).sixth_cumulant == 0 and incidental.bipolar(1.0).sixth_cumulant == 16
    for k, kappa6, message in [
        (-1, 3.9, r"kappa6 = 3.9 is out of range; allowed: \[4, 1e\+100\]"),
        (-2, 16, r"kurtosis = -2 is out of range; allowed: \(-2, 1e\+49\]"),
        (0, np.inf, "kappa6 = inf is out of range"),
    ]:
        with pytest.raises(ValueError, match=message):
            incidental.four_point(k, kappa6, 0.1)


def test_the_smallest_kurtosis_is_two_points():
    assert incidental.discrete(0.1, -2).points == incidental.bipolar(0.1).points == (-1.0, 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cauchy", 0.1), "name = 'cauchy' is unknown"),
        (("two", 0.1, (-1.0, 2.0), (0.5, 0.5)), "points = .* are not symmetric"),
        (("two", 0.1, (-1.0, 1.0), (0.4, 0.6)), "points = .* are not symmetric"),
        (("two", 0.1, (-1.0, 1.0), (0.4, 0.4)), "probabilities = .* are not"),
        (("two", np.nan, (-1.0, 1.0), (0.5, 0.5)), "sigma = nan is out of range"),
    ],
)
def test_a_law_of_ones_own_is_symmetric_and_has_probabilities(arguments, message):
    assert incidental.Law("two", 0.1, (-1.0, 1.0), (0.5, 0.5)).excess_kurtosis == -2
    with pytest.raises(ValueError, match=message):
        incidental.Law(*arguments)
