"""Marginal laws: the Hermite ratio against quadrature and closed forms."""

import numpy as np
import pytest
from superposition import receptive
from superposition.receptive import marginals


@pytest.mark.parametrize(
    ("law", "strength"),
    [("erf", 0.5), ("tanh", 1.0), ("sine", 0.7), ("sinh", 0.5), ("power", 2.0), ("shrink", 0.7), ("cubic", -0.02)],
)
def test_hermite_ratio_against_quadrature(law, strength):
    from scipy.integrate import quad

    def moment(h):
        return quad(lambda z: np.exp(-(z**2) / 2) * marginals.LAWS[law](z, strength) * h(z), -12, 12, points=[0.0])[0]

    expected = moment(lambda z: z**3 - 3 * z) / 6 / moment(lambda z: z)
    assert receptive.hermite_ratio(law, strength) == pytest.approx(expected, rel=1e-5)


def test_hermite_ratio_in_closed_form():
    gain = 0.8
    q = 2 * gain**2 / (1 + 2 * gain**2)
    assert receptive.hermite_ratio("erf", gain) == pytest.approx(-q / 6, rel=1e-8)  # exact at any gain
    assert receptive.hermite_ratio("cubic", 0.03) == pytest.approx(0.03, rel=1e-8)
    assert receptive.hermite_ratio("elliptical", 1.0) == 0


def test_laws_have_unit_variance_and_the_right_sign_of_kurtosis():
    for law, strength, sign in [("erf", 3, -1), ("power", 2, 1), ("elliptical", 1, -1), ("elliptical", -1, 1)]:
        x = receptive.draw_marginal(law, strength, 40, 2.0, 5000, seed=0)
        assert np.mean(x**2) == pytest.approx(1) and sign * (np.mean(x**4) - 3) > 0.1
    z = receptive.gaussian_sample(receptive.gaussian_covariance(40, 2.0), 5, seed=3)
    np.testing.assert_allclose(receptive.draw_marginal("power", 1.0, 40, 2.0, 5, seed=3), z / np.sqrt(np.mean(z**2)))


def test_shrinking_silences_what_is_small():
    x = receptive.draw_marginal("shrink", 2.0, 40, 1.0, 200, seed=0)  # two thirds of a normal lie within one deviation
    assert np.mean(x == 0) > 0.9


@pytest.mark.parametrize(("a", "gain"), [(0.3, 0.5), (-0.8, 3.0)])
def test_amplifier_against_quadrature(a, gain):
    from scipy.integrate import quad
    from scipy.special import erf

    def pixel(z):
        return erf(gain * z) / receptive.normalization(gain)

    def weighed(z):
        return np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * pixel(z) * erf(pixel(z) * a / np.sqrt(2 * (1 - a**2)))

    assert marginals._amplifier(a, gain) == pytest.approx(quad(weighed, -9, 9, points=[0.0])[0], rel=1e-6)
