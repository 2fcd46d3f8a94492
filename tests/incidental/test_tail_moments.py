"""Tail moments of a sum of noises."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from superposition import incidental
from superposition.incidental import tail_moments


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: incidental.noise_sums(incidental.bipolar(1), 21), r"m = 21 gives 2\^21 = 2097152 combinations"),
        (lambda: incidental.noise_sums(incidental.normal(1), 2), "law = normal cannot be enumerated"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("law", [incidental.laplace(0.3), incidental.uniform(0.3)], ids=["laplace", "uniform"])
@pytest.mark.parametrize("m", [1, 2, 16, 64])
def test_frequencies_left_out_change_nothing(law, m, monkeypatch):
    """Against all frequencies up to the far end, as before; the moments alone are those of the whole."""
    rng = np.random.default_rng(m)
    c, w = rng.standard_normal(7), rng.standard_normal(m) / np.sqrt(m)
    short, alone = tail_moments.tails(c, w, law), incidental.relu_moments(c, w, law)
    monkeypatch.setattr(tail_moments, "NOTHING", np.inf)
    full = tail_moments.tails(c, w, law)
    np.testing.assert_allclose(short.T, full.T, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(short.mixed, full.mixed, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(alone, full.T, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("s", [1e-3, 0.3, 7.0])
def test_gaussian_moments_by_quadrature(s):
    for c in s * np.array([-6.0, -1.0, 0.0, 0.4, 5.0]):
        for q, found in enumerate(tail_moments.gaussian_moments(c, s)):
            expected = quad(lambda z, q=q, c=c: (c + s * z) ** q * norm.pdf(z), -c / s, 12, epsabs=1e-14)[0]
            assert found == pytest.approx(expected, rel=1e-8, abs=1e-13 * s**q)


@pytest.mark.parametrize(
    "law", [incidental.bipolar(0.3), incidental.normal(0.3), incidental.laplace(0.3), incidental.uniform(0.3)]
)
def test_symmetry_and_derivatives(law):
    """u and -u have one law: T_q(c) + (-1)^q T_q(-c) = E (c + u)^q; and T_2' = 2 T_1."""
    rng = np.random.default_rng(2)
    c, w = rng.standard_normal(5), rng.standard_normal(6) / 2
    up, down = incidental.relu_moments(c, w, law), incidental.relu_moments(-c, w, law)
    variance = law.variance * (w @ w)
    whole = np.array([np.ones(5), c, c**2 + variance])
    np.testing.assert_allclose(up + down * np.array([[1], [-1], [1]]), whole, atol=1e-9)
    h = 1e-5
    slope = (incidental.relu_moments(c + h, w, law)[2] - incidental.relu_moments(c - h, w, law)[2]) / (2 * h)
    np.testing.assert_allclose(slope, 2 * up[1], atol=1e-7)
