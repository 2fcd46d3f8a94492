"""Moments of a rectified normal number far below its threshold, against integrals of fifty digits."""

import mpmath
import numpy as np
import pytest
from superposition import moments


def exact(k, z):
    """E[ReLU(Z + z)^k] for a standard normal Z."""
    with mpmath.workdps(50):
        t = -mpmath.mpf(z)
        return mpmath.quad(lambda x: (x - t) ** k * mpmath.npdf(x), [t, t + 1, t + 2, t + 4, t + 8, t + 20])


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("z", [-2.5, -2.6, -3.0, -5.0, -10.0])
def test_the_tail_loses_no_digits_where_its_fraction_begins(k, z):
    found = moments.moment_tail(k, *np.array([[z * 0.3], [0.3], [z]]))[0]  # what it promises: 3e-14
    assert float(abs(found / (mpmath.mpf(0.3) ** k * exact(k, z)) - 1)) < 3e-14


@pytest.mark.parametrize(
    ("function", "taken", "refused", "said"),
    [
        (moments.gauss_legendre, (1,), (0,), "n = 0 is out of range; allowed: whole numbers from 1 to 1024"),
        (moments.gauss_legendre, (1024,), (1025,), "n = 1025"),
        (moments.moment, (-1, 0.5, 1.0), (-2, 0.5, 1.0), "k = -2 is out of range; allowed: whole numbers from -1 to 3"),
        (moments.moment, (3, 0.5, 1.0), (4, 0.5, 1.0), "k = 4"),
        (moments.moment, (3, -1e75, 1e75), (3, -1.005e75, 1.0), r"m = -1.005e\+75 is out of range"),
        (moments.moment, (3, 1e75, 0.0), (3, 1.005e75, 1.0), r"m = 1.005e\+75 is out of range"),
        (moments.moment, (3, 0.5, 1e75), (3, 0.5, 1.005e75), r"s = 1.005e\+75 is out of range"),
        (moments.moment, (3, 0.5, 0), (3, 0.5, -1e-9), "s = -1e-09 is out of range"),
        (moments.moment, (1, [0, 1], 1.0), (1, [0, 1], [1.0, 2.0, 3.0]), "m, s have shapes"),
        (moments.ramp_moment, (0, 2, 0.1, 1, 1), (0, 3, 0.1, 1, 1), "j = 0 is out of range"),
        (moments.ramp_moment, (0, -1, 0.1, 1, 1), (0, -2, 0.1, 1, 1), "k = -2"),
        (moments.ramp_moment, (3, -1, 0.1, 1, 1), (4, -1, 0.1, 1, 1), "j = 4"),
        (moments.ramp_moment, (1, 1, 0.1, 1, 1), (2, 1, 0.1, 1, 1), "j = 2 is out of range; allowed: .* from 0 to 1"),
        (
            moments.ramp_moment,
            (0, 1, 0, 1e-30, 0),
            (0, 1, 0, 9e-31, 0),
            "slope = 9e-31 is out of range; allowed: slope or",
        ),
        (
            moments.ramp_moment,
            (0, 1, 0, 0, 1e-30),
            (0, 1, 0, 0, 9e-31),
            "slope = 0.0 is out of range; allowed: slope or s",
        ),
        (
            moments.ramp_moment,
            (0, 1, 1e4, -1, 1),
            (0, 1, 1.01e4, -1, 1),
            "m = 10100.0 is out of range; allowed: up to 10000",
        ),
        (
            moments.ramp_moment,
            (1, 1, 1e3, 1, 1),
            (1, 1, 1.01e3, 1, 1),
            "m = 1010.0 is out of range; allowed: up to 1000",
        ),
        (moments.ramp_moment, (0, 1, 2e3, 0.09, 1), (0, 1, 2e3, 0.1, 1), "m = 2000.0 is out of range"),
        (moments.ramp_moment, (0, 1, -1e75, 1e75, 1), (0, 1, -1.005e75, 1e75, 1), "m = -1.005e"),
        (moments.ramp_moment, (0, 1, 0, -1e75, 1), (0, 1, 0, 1.005e75, 1), "slope = 1.005e"),
        (moments.ramp_moment, (0, 1, 0, 1, 1e75), (0, 1, 0, 1, 1.005e75), "s = 1.005e"),
        (moments.ramp_moment, (0, 1, 0, 1, 0), (0, 1, 0, 1, -1e-9), "s = -1e-09"),
        (moments.ramp_moment, (0, 1, [0, 1], 1, 1), (0, 1, [0, 1], 1, [1, 2, 3]), "m, slope, s have shapes"),
    ],
)
def test_the_last_is_taken_and_the_first_is_not(function, taken, refused, said):
    assert np.isfinite(function(*taken)).all()
    with pytest.raises(ValueError, match=f"^{said}"):
        function(*refused)


def test_one_point_of_a_quadrature_is_the_middle():
    assert [part.tolist() for part in moments.gauss_legendre(1)] == [[0.5], [1.0]]


@pytest.mark.parametrize("k", [-1, 0, 1, 2])
@pytest.mark.parametrize("slope", [-2.0, -0.06, 0.03, 0.5])
def test_moments_of_a_ramp_are_integrals_of_those_of_its_points(k, slope):
    u, weights = moments.gauss_legendre(48)
    for m, s in ((-0.3, 0.7), (0.4, 0.9)):
        each = moments.moment(k, m + slope * u, s)
        for j in range(3 - k):
            found = moments.ramp_moment(j, k, m, slope, s)
            assert found == pytest.approx(np.sum(weights * u**j * each), rel=1e-10)


def test_the_moment_below_0_is_the_density_at_the_threshold():
    m, s = np.array([0.5, -1.2, 0.5, -0.5, 0.0]), np.array([0.8, 2.0, 0.0, 0.0, 0.0])
    expected = [np.exp(-(25 / 64) / 2) / 0.8, np.exp(-0.36 / 2) / 2, 0, 0, 0]
    np.testing.assert_allclose(moments.moment(-1, m, s) * np.sqrt(2 * np.pi), expected, rtol=1e-14)
    assert moments.moment(0, m[2:], s[2:]).tolist() == [1, 0, 1] and moments.moment(2, 0.5, 0.0) == 0.25
