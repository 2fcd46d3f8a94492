"""Appendix C against sympy, enumeration and draws; the printed forms excluded."""

import numpy as np
import pytest
import sympy
from superposition import incidental

ETA, SIGMA, MU4 = sympy.symbols("eta sigma mu4", positive=True)
X = sympy.symbols("x1:4")
W = sympy.symbols("w1:4")
P = sum(w * x for w, x in zip(W, X, strict=True))
NOISE2 = sum(x**2 for x in X)


def mean(expression):
    """Expectation over three independent noises with moments 0, sigma^2, 0, mu4 (up to the fourth)."""
    moments = {0: 1, 2: SIGMA**2, 4: MU4}
    polynomial = sympy.Poly(sympy.expand(expression), *X)
    assert max(map(max, polynomial.monoms())) <= 5
    return sum(
        coefficient * sympy.prod(moments.get(power, 0) for power in powers)
        for powers, coefficient in polynomial.terms()
    )


def on_the_sphere(expression):
    return sympy.simplify(sympy.expand(expression).subs(W[2], sympy.sqrt(1 - W[0] ** 2 - W[1] ** 2)))


def row(m, seed=0):
    w = np.random.default_rng(seed).standard_normal(m)
    return w / np.linalg.norm(w)


def test_gradient_of_one_input():
    error = sum(w * (w + x) for w, x in zip(W, X, strict=True)) - 1
    gradient = [sympy.diff(error**2, w) for w in W]
    xi, w = np.array([0.1, -0.2, 0.05]), row(3)
    values = dict(zip((*W, *X), (*w, *xi), strict=True))
    stepped = w - 0.01 * np.array([float(g.subs(values)) for g in gradient])
    np.testing.assert_allclose(incidental.noisy_step(w, xi, 0.01), stepped, rtol=1e-13)
    np.testing.assert_allclose(incidental.noisy_step(w, xi, 0.01), w - 0.02 * (w @ xi) * (2 * w + xi), rtol=1e-13)


def test_fourth_moment_has_three_and_not_six():
    ordered = sum(W[i] ** 2 * W[j] ** 2 for i in range(3) for j in range(3) if i != j)
    fourth = mean(P**4)
    assert sympy.expand(fourth - MU4 * sum(w**4 for w in W) - 3 * SIGMA**4 * ordered) == 0
    assert sympy.expand(fourth - MU4 * sum(w**4 for w in W) - 6 * SIGMA**4 * ordered) != 0


def test_length_of_the_next_row():
    after = sum((w - 2 * ETA * P * (2 * w + x)) ** 2 for w, x in zip(W, X, strict=True))
    printed = 1 - 4 * ETA * P * (2 + P) + 4 * ETA**2 * P**2 * (4 + 4 * P + NOISE2)
    assert on_the_sphere(after - printed) == 0
    expected = 1 - 4 * ETA * (1 - 4 * ETA) * SIGMA**2 + 4 * ETA**2 * (MU4 + 2 * SIGMA**4)
    assert on_the_sphere(mean(printed) - expected) == 0
    first = sympy.series(printed - 1, ETA, 0, 2).removeO()
    assert sympy.expand(first + 4 * ETA * (2 * P + P**2)) == 0
    assert sympy.expand(first + 4 * ETA * (2 * P + ETA * P**2)) != 0


def test_numbers_are_those_of_sympy():
    w, law, eta = row(3, seed=1), incidental.discrete(0.4, 1.0), 0.03
    values = {**dict(zip(W, w, strict=True)), SIGMA: 0.4, MU4: law.mu4, ETA: eta}
    moments = incidental.step_moments(w, law, eta)
    length2 = 1 - 4 * ETA * P * (2 + P) + 4 * ETA**2 * P**2 * (4 + 4 * P + NOISE2)
    for found, expression in [
        (moments.projection2, P**2), (moments.projection4, P**4), (moments.projection2_noise, P**2 * NOISE2),
        (moments.length2, length2), (moments.error2, 16 * ETA**2 * P**2 * (2 + P) ** 2),
    ]:  # fmt: skip
        assert found == pytest.approx(float(mean(expression).subs(values)), rel=1e-12, abs=0)


@pytest.mark.parametrize("k", [-2, -1, 0, 2])
def test_moments_are_those_of_enumeration(k):
    w, law, eta = row(7, seed=2), incidental.discrete(0.2, k), 1e-4

    values, p = incidental.noise_sums(law, 7)
    after = incidental.noisy_step(w, 0.2 * values, eta)
    length2 = np.sum(after**2, axis=1)
    moments = incidental.step_moments(w, law, eta)
    assert p @ length2 == pytest.approx(moments.length2, rel=1e-13, abs=0)
    # the next order is -32 eta^3 (12 E p^4 + E p^4 |xi|^2): below 1e-3 of it here
    assert p @ (length2 - 1) ** 2 == pytest.approx(moments.error2, rel=1e-3, abs=0)


@pytest.mark.parametrize("k", [-2, -1, 0, 3])
@pytest.mark.parametrize("m", [6, 9])
def test_drift_is_that_of_enumeration(k, m):
    law, eta = incidental.discrete(0.1, k), 1e-4
    for seed in range(3):
        w = row(m, seed)
        fourth, direction = incidental.enumerated_drift(w, law, eta)
        # corrections are of relative order 8 eta of each term, and the two terms may cancel
        size = 8 * eta**2 * law.variance**2 * (3 + (m + 2) * np.sum(w**4))
        assert fourth == pytest.approx(incidental.fourth_norm_drift(w, law, eta), abs=0.02 * size)
        expected = incidental.direction_drift(w, law, eta)
        np.testing.assert_allclose(direction, expected, rtol=0, atol=0.005 * abs(expected).max() + 1e-14)


def test_bipolar_noise_pushes_a_dense_row_away_from_the_axes():
    w = np.ones(16) / 4 + 0.05 * np.random.default_rng(0).standard_normal(16)
    w /= np.linalg.norm(w)
    with_kurtosis, without = (
        incidental.fourth_norm_drift(w, law, 0.01) for law in (incidental.bipolar(0.1), incidental.normal(0.1))
    )
    assert with_kurtosis < without
    # on an axis the kurtosis does nothing, and diffusion leads away
    axis = np.eye(16)[0]
    assert (
        incidental.fourth_norm_drift(axis, incidental.bipolar(0.1), 0.01)
        == incidental.fourth_norm_drift(axis, incidental.normal(0.1), 0.01)
        < 0
    )


def test_stationary_value_balances_the_drift_over_random_directions():
    rng = np.random.default_rng(0)
    w = rng.standard_normal((200_000, 16))
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    f, s6 = np.sum(w**4, axis=1), np.sum(w**6, axis=1)
    term = f + 3 * f**2 - 4 * s6
    for k in (-2.0, 3.0):
        expected = (3 + 2 * k * term.mean()) / 18
        se = 2 * abs(k) * term.std() / np.sqrt(len(w)) / 18
        assert incidental.stationary_fourth_norm(16, k) == pytest.approx(expected, abs=4 * se)
    assert incidental.stationary_fourth_norm(16, 0) == pytest.approx(3 / 18)


def test_bipolar_reach_is_the_maximum():

    W = np.random.default_rng(0).standard_normal((3, 6))
    values = 0.2 * incidental.noise_sums(incidental.bipolar(1), 6)[0]
    np.testing.assert_allclose(incidental.bipolar_reach(W, 0.2), (W @ values.T).max(axis=1))


def test_too_many_combinations_are_not_enumerated():
    with pytest.raises(ValueError, match=r"2\^21 = 2097152 combinations"):
        incidental.enumerated_drift(row(21), incidental.bipolar(1), 0.1)
