"""The rug at small p, against the closed form of the mean-field loss."""

import numpy as np
import pytest
from superposition.codes import fans, partners, small_p
from superposition.rug import meanfield


@pytest.mark.parametrize("r", [0.05, 0.1, 0.2, 0.4, 0.8])
def test_two_terms_against_the_closed_form(r):
    # what is left out is of relative order 1 / z^2, z^2 near 45; 2 % at 1e-8, less at 1e-12
    misses = [float(small_p.rug_at_small_p(p, r) / meanfield.optimum(p, r).loss) - 1 for p in (1e-8, 1e-12)]
    assert np.abs(misses[0]) < 0.025 and np.abs(misses[1]) < np.abs(misses[0])


def test_the_constant_is_the_limit():
    p = np.array([1e-12, 1e-25, 1e-50, 1e-100, 1e-150])
    shares = small_p.rug_at_small_p(p, 0.2) / (p**2 * np.log(1 / p))
    assert np.all(np.diff(shares) > 0) and shares[-1] < small_p.rug_constant(0.2)
    assert shares[-1] == pytest.approx(
        float(small_p.rug_constant(0.2)), rel=0.03
    )  # falls short by 3 ln ln(1/p) / ln(1/p)


@pytest.mark.parametrize("r", [0.1, 0.2, 0.4])
def test_the_antipodal_constant(r):
    """Per factor e of p the loss over p^2 grows by c / (1 + 3 / z^2): z^2 + 6 ln z, not z^2, is 2 ln(1/p)."""
    p = np.array([1e-11, 1e-12])
    growth = np.diff(partners.antipodal_optimum(p, r).loss / p**2)[0] / np.log(10)
    slowed = growth * (1 + 3 / 44.7)  # z^2 at 1e-12
    assert slowed == pytest.approx(float(small_p.antipodal_constant(r)), rel=0.01)
    assert abs(slowed / small_p.rug_constant(r) - 1) > 0.1


def test_rug_over_fan_diverges():
    p = np.array([1e-2, 1e-4, 1e-8, 1e-12])
    share = meanfield.optimum(p, 0.2).loss / fans.fan_loss(p, 10)
    assert np.all(np.diff(share) > 0.9) and share[-1] > 14


def test_the_threshold_solves_its_equation():
    p, r = 1e-6, 0.2
    low, high = 2.0, 10.0  # phi(z) - p z^3 / 4 falls
    for _ in range(100):
        z = (low + high) / 2
        low, high = (z, high) if np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) > p * z**3 / 4 else (low, z)
    assert small_p.rug_at_small_p(p, r) == pytest.approx(p * p / 3 * (1 / r - 1) * (3 / 2 + z**2 / 4), rel=1e-10, abs=0)
