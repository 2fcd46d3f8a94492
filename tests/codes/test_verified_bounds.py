"""What the certificates in ball arithmetic are made of, each against the same in floating-point numbers."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad
from superposition.codes import frequency_programs, pair_credits, verified_bounds

flint = pytest.importorskip("flint")
SPREAD = 1.6


@pytest.mark.parametrize(("p", "tau"), [(0.05, 0.7), (0.3, 2.9), (0.3, 5.5), (0.8, 1.7)])
def test_a_rival_blurs_a_frequency_by_its_characteristic_function(p, tau):
    blurred = 1 - p + p * (np.exp(1j * tau) - 1) / (1j * tau)
    assert frequency_programs.blur(p, np.array([tau]))[0] == pytest.approx(-np.log(abs(blurred)), rel=1e-12)


@pytest.mark.parametrize(("alpha", "beta"), [(0.3, 0.2), (0.9, 0.4), (0.2, 1.1), (0.1, 2.5), (0.0, 0.7), (1.4, 0.0)])
def test_the_share_of_a_pair_is_one_less_a_mean_over_strengths(alpha, beta):
    def kept(t):
        return (1 - ((alpha * np.exp(t) + beta * np.exp(-t)) / 2) ** 2) * (SPREAD - abs(t)) / SPREAD**2

    root = np.sqrt(1 - alpha * beta)
    low = max(-SPREAD, np.log(beta / (1 + root))) if beta else -SPREAD
    high = min(SPREAD, np.log((1 + root) / alpha)) if alpha else SPREAD
    mean = quad(kept, low, high, points=[min(max(0.0, low), high)])[0]
    assert float(verified_bounds._share(alpha, beta)) == pytest.approx(1 - mean, abs=1e-9)


def test_a_pair_that_excludes_each_other_has_all_of_its_share():
    assert verified_bounds._share(2.0, 0.5) == 1 and verified_bounds._share(9.0, 0.1) == 1


@pytest.mark.parametrize("alpha", [0.4, 1.0, 2.5])
def test_the_cost_of_a_conflict_is_the_mean_square_of_the_weaker(alpha):
    def inner(v):  # the mean over u of the square of the smaller of u and alpha v
        a = min(alpha * v, 1)
        return a**3 / 3 + a**2 * (1 - a)

    expected = quad(inner, 0, 1, points=[min(1, 1 / alpha)])[0]
    assert float(verified_bounds._cost(alpha)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("p", "harmonic", "level", "j"), [(0.05, 1, 0, 0), (0.05, 3, 2, 9), (0.2, 6, 3, 17)])
def test_rates_are_below_the_blur_over_the_credit_and_close_to_it(p, harmonic, level, j):
    u, v = verified_bounds._interval(level, j)
    w = np.linspace(u, v, 50)
    theta = 2 * np.pi * harmonic / frequency_programs.PERIOD
    rates = frequency_programs.blur(p, theta * w) / np.array([float(pair_credits.credit(one)) for one in w])
    found = float(verified_bounds._rate(p, harmonic, level, j))
    assert 0.5 * rates.min() <= found <= rates.min() + 1e-12


def uncovered(phi, *cells, p=0.2):
    return list(verified_bounds._uncovered(p, [SimpleNamespace(gain=gain, gap=gap) for gain, gap in cells], phi))


def test_gains_are_covered_up_to_the_constants_at_their_ends():
    cells = [(0.75, 0.25), (1.0, 0.25), (1.25, 0.25), (1.5, 0.25)]
    low, high = 0.25**2 * (1 / 3 - 0.05), (0.5 / 2.5) ** 2 / 3  # 0.0177 and 0.0133
    assert uncovered(high - 1e-9, *cells) == []
    assert uncovered(high + 1e-9, *cells) == ["gains above 1.5 are not covered"]
    above = [*cells, (1.75, 0.25)]
    assert uncovered(low - 1e-9, *above) == []
    assert uncovered(low + 1e-9, *above) == ["gains below 0.75 are not covered"]
    assert uncovered(0.01, cells[0], (1.0, 0.2), *cells[2:]) == [
        "gains from 0.75 to 1 are not covered",
        "gains from 1 to 1.25 are not covered",
    ]
    assert uncovered(0.01, *cells[:2], cells[1], *cells[2:]) == ["gains from 1 to 1 are not covered"]
    # beyond 1 the constants prove nothing, though their squares are as large
    assert uncovered(0.01, (1.25, 0.25), (1.5, 0.25)) == ["gains below 1.25 are not covered"]
    assert uncovered(0.001, (0.5, 0.25), (0.75, 0.25)) == ["gains above 0.75 are not covered"]
