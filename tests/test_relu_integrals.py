"""Integrals over cubes against exact rational arithmetic, quadrature, and limits of the corner formula."""

import itertools
from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from scipy.integrate import nquad
from superposition import relu_integrals


def corners(b, c, q):
    """The corner formula in exact rational arithmetic: no entry of c may vanish."""
    b, c = Fraction(b), [Fraction(value) for value in c]
    total = Fraction(0)
    for corner in itertools.product([0, 1], repeat=len(c)):
        y = b + sum(slope for slope, here in zip(c, corner, strict=True) if here)
        total += (-1) ** (len(c) - sum(corner)) * max(y, Fraction(0)) ** (q + len(c))
    for slope in c:
        total /= slope
    return float(total * factorial(q) / factorial(q + len(c)))


@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize("spread", [0, 3, 9])
def test_against_exact_arithmetic(q, spread):
    # slopes over up to nine orders of magnitude; 1e-15 is a few roundings of the largest value of the integrand
    rng = np.random.default_rng(q)
    for _ in range(60):
        k = int(rng.integers(1, 7))
        c = rng.standard_normal(k) * 10.0 ** -rng.uniform(0, spread, k)
        b = float(rng.standard_normal() * np.abs(c).max())
        scale = (abs(b) + np.abs(c).sum()) ** q
        assert abs(relu_integrals.relu_power(b, c, q) - corners(b, c.tolist(), q)) < 2e-15 * scale


def test_small_values_keep_their_digits():
    # only one corner sticks out above zero: the integral is 24 orders of magnitude below the terms of the formula
    c, b = [0.7, 0.9, 0.4, 0.3], -2.2999
    assert relu_integrals.relu_power(b, c, 2) == pytest.approx(corners(b, c, 2), rel=1e-10, abs=0)
    assert corners(b, c, 2) < 1e-24


@pytest.mark.parametrize(("b", "c"), [(-0.1, [0.5]), (0.2, [-0.4, 0.3]), (-0.3, [0.9, -0.2]), (0.05, [1e-7, -0.8])])
def test_against_quadrature(b, c):
    def value(*x):
        return max(b + np.dot(c, x), 0.0)

    for j in range(len(c)):
        options = [{"epsabs": 1e-11, "epsrel": 1e-11, "limit": 200}] * len(c)
        moment = nquad(lambda *x, j=j: x[j] * value(*x), [[0, 1]] * len(c), opts=options)[0]
        assert relu_integrals.relu_moment(b, c, j) == pytest.approx(moment, abs=1e-8)  # the kink limits the quadrature
    square = nquad(lambda *x: value(*x) ** 2, [[0, 1]] * len(c), opts=options)[0]
    assert relu_integrals.relu_power(b, c, 2) == pytest.approx(square, abs=1e-8)


def test_moments_against_exact_arithmetic():
    # integral of x_j R = [integral of R^2 at b + c_j without j, minus that with j] / (2 c_j)
    rng = np.random.default_rng(0)
    for _ in range(60):
        k = int(rng.integers(2, 6))
        c = np.round(rng.standard_normal(k), 3) + 1e-6
        b, j = float(rng.standard_normal()), int(rng.integers(k))
        without = np.delete(c, j).tolist()
        exact = (corners(b + c[j], without, 2) - corners(b, c.tolist(), 2)) / (2 * c[j])
        assert relu_integrals.relu_moment(b, c, j) == pytest.approx(exact, abs=1e-12 / min(1, abs(c[j])))


def test_a_vanishing_slope_is_the_limit():
    for b, c in [(-0.2, [0.6, -0.3]), (0.4, [0.6, -0.9])]:
        without = relu_integrals.relu_power(b, c, 2)
        assert relu_integrals.relu_power(b, [0.0, *c], 2) == pytest.approx(without, rel=1e-14)
        for tiny in (1e-300, 1e-30, 1e-17, -1e-17):
            assert relu_integrals.relu_power(b, [c[0], tiny, c[1]], 2) == pytest.approx(without, rel=1e-14)
        assert relu_integrals.relu_moment(b, [0.0, *c], 0) == pytest.approx(
            relu_integrals.relu_power(b, c, 1) / 2, rel=1e-14
        )
    assert relu_integrals.relu_power(-0.1, [0.0, 0.0], 1) == 0
    assert relu_integrals.relu_power(0.5, [0.0, 0.0], 3) == pytest.approx(0.125, rel=1e-15)


def test_no_slope_at_all_is_the_power_itself():
    np.testing.assert_allclose(relu_integrals.relu_power([-1.0, 0.5], np.zeros((2, 0)), 2), [0, 0.25])


def test_many_at_once_are_one_by_one():
    rng = np.random.default_rng(1)
    b, c, j = rng.standard_normal((4, 5)), rng.standard_normal((4, 5, 3)), rng.integers(0, 3, (4, 5))
    powers, moments = relu_integrals.relu_power(b, c, 2), relu_integrals.relu_moment(b, c, j)
    for at in np.ndindex(4, 5):
        assert powers[at] == pytest.approx(relu_integrals.relu_power(b[at], c[at], 2), rel=1e-14)
        assert moments[at] == pytest.approx(relu_integrals.relu_moment(b[at], c[at], j[at]), rel=1e-14)
    assert relu_integrals.relu_power(b[0, 0], c, 2).shape == (4, 5)


def test_the_moment_is_half_a_derivative():
    b, c, h = -0.1, np.array([0.5, -0.4, 0.3]), 1e-5
    for j, shift in enumerate(h * np.eye(3)):
        slope = (relu_integrals.relu_power(b, c + shift, 2) - relu_integrals.relu_power(b, c - shift, 2)) / (2 * h)
        assert relu_integrals.relu_moment(b, c, j) == pytest.approx(slope / 2, abs=1e-10)  # h^2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: relu_integrals.relu_power(0, [1.0], 0), "q = 0 is out of range; allowed: whole numbers from 1"),
        (lambda: relu_integrals.relu_power(np.nan, [1.0], 1), "b = nan is out of range"),
        (lambda: relu_integrals.relu_power(0, [np.inf], 1), "c = inf is out of range"),
        (lambda: relu_integrals.relu_moment(0, [1.0], 1), "j = 1 is out of range; allowed: whole numbers from 0 to 0"),
        (lambda: relu_integrals.relu_moment(0, [1.0], -1), "j = -1 is out of range"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("huge", [1e3, 1e9, 1e18, 1e40])
def test_huge_slopes_leave_the_small_ones_their_digits(huge):
    # a slope that closes the ReLU at once: the integral of R^2 is that of R^3 without it, over 3 |slope|
    left = relu_integrals.relu_power(0.1, [1.0, 0.5], 3) / 3
    assert relu_integrals.relu_power(0.1, [1.0, -huge, 0.5], 2) * huge == pytest.approx(left, rel=1e-14)
    own = relu_integrals.relu_power(0.1, [1.0, 0.5], 2) / 2
    assert relu_integrals.relu_power(0.1, [1.0, -huge, 0.5], 1) * huge == pytest.approx(own, rel=1e-14)


@pytest.mark.parametrize("scale", [1e-31, 1e-200, 1e-3, 1e90])
def test_the_moment_scales_with_offset_and_slopes(scale):
    # a kink half way: integral of x (x - 1/2) from 1/2 to 1 is 5/48
    assert relu_integrals.relu_moment(-0.5 * scale, [scale], 0) == pytest.approx(scale * 5 / 48, rel=1e-12)
    c = np.array([0.7, -0.2, 1e-5])
    scaled = relu_integrals.relu_moment(0.1 * scale, scale * c, 1)
    assert scaled == pytest.approx(scale * relu_integrals.relu_moment(0.1, c, 1), rel=1e-12)


def test_pieces_cut_together_or_one_half_after_the_other_are_the_same(monkeypatch):
    rng = np.random.default_rng(4)
    b, c = rng.normal(0, 0.3, 200), rng.standard_normal((200, 6))
    together = relu_integrals.relu_power(b, c, 2), relu_integrals.relu_moment(b, c, 3)
    monkeypatch.setattr(relu_integrals, "TOGETHER", 0)
    np.testing.assert_array_equal(together, (relu_integrals.relu_power(b, c, 2), relu_integrals.relu_moment(b, c, 3)))
