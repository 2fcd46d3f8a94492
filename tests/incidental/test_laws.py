"""Noise laws: moments against quadrature, draws against both."""

import numpy as np
import pytest
from scipy.integrate import quad
from superposition.incidental import laws

LAWS = [
    laws.bipolar(0.3), laws.uniform(0.3), laws.normal(0.3), laws.laplace(0.3),
    laws.discrete(0.3, -1.5), laws.discrete(0.3, 0), laws.discrete(0.3, 3), laws.discrete(0.3, -2),
]  # fmt: skip


KURTOSES = [-2, -1.2, 0, 3, -1.5, 0, 3, -2]


NAMES = [f"{law.name} {k}" for law, k in zip(LAWS, KURTOSES, strict=True)]


DENSITIES = {
    "uniform": lambda x: (abs(x) <= 3**0.5) / 12**0.5,
    "normal": lambda x: np.exp(-(x**2) / 2) / (2 * np.pi) ** 0.5,
    "laplace": lambda x: np.exp(-(2**0.5) * abs(x)) / 2**0.5,
}


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
    assert laws.bipolar(0.1) == laws.bipolar(0.1) != laws.bipolar(0.2)
    assert len({laws.normal(0.1), laws.normal(0.1), laws.laplace(0.1)}) == 2
    with pytest.raises(AttributeError):
        laws.normal(0.1).sigma = 2.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: laws.bipolar(-0.1), r"sigma = -0.1 is out of range; allowed: \[0, inf\)"),
        (lambda: laws.laplace(np.nan), "sigma = nan is out of range"),
        (lambda: laws.discrete(0.1, -2.5), r"kurtosis = -2.5 is out of range; allowed: \[-2, inf\)"),
        (lambda: laws.discrete(-1, 0), "sigma = -1 is out of range"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
