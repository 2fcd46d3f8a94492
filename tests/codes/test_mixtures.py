"""Pairs and phases: quadrature and Monte Carlo for the antipodal loss, limits, and the hull."""

import numpy as np
import pytest
from scipy.integrate import dblquad
from superposition import codes, features, moments
from superposition.rug import meanfield


def antipodal_loss(a, b, sigma, p):
    return codes.partner_loss(a, b, sigma, 1.0, p)


def brute_force(a, b, gaussian, c, p):
    """Every case by quadrature over own strength and partner, given E[(x - ReLU(m + s Z))^2] in closed form."""
    s = a * gaussian

    def error(u, m):  # of an output whose pre-activation is m + s Z
        return u**2 - 2 * u * float(moments.moment(1, m, s)) + float(moments.moment(2, m, s))

    def average(own, other):
        def integrand(v, u):
            return error(u * own, b + a * own * u - a * c * other * v)

        return dblquad(integrand, 0, 1, 0, 1, epsabs=1e-11, epsrel=1e-10)[0]

    chance = ((1 - p), p)
    return sum(chance[i] * chance[j] * average(i, j) for i in (0, 1) for j in (0, 1))


@pytest.mark.parametrize(
    ("a", "b", "gaussian", "c", "p"),
    [
        (1.3, 0.1, 0.3, 1, 0.3),
        (1.2, 0.05, 0.15, 1 / 3, 0.01),
        (1e-4, -0.05, 1e5, 1, 0.5),  # where differences of fourth moments cancel
        *(
            pytest.param(*case, marks=pytest.mark.thorough)  # seconds each
            for case in [
                (1.1, -0.2, 0.1, 1, 0.05),
                (0.3, 0.4, 0.9, 1, 0.9),
                (0.9, -0.4, 0.2, 3, 0.2),
                (2.0, -3.0, 0.2, 1, 0.5),
            ]
        ),
    ],
)
def test_loss_of_a_pair_against_quadrature(a, b, gaussian, c, p):
    sigma = np.sqrt(gaussian**2 + c**2 * features.variance(p))
    found = codes.partner_loss(a, b, sigma, c, p)
    assert found == pytest.approx(brute_force(a, b, gaussian, c, p), rel=1e-8, abs=0)


@pytest.mark.parametrize(("r", "p"), [(0.2, 0.05), (0.5, 0.1), (0.35, 0.5)])
def test_antipodal_loss_against_monte_carlo_and_sigma_is_the_total_noise(r, p):
    rng, n = np.random.default_rng(1), 1_000_000
    x, partner = (features.sample(1, p, n, seed=rng)[:, 0] for _ in range(2))
    rest = np.sqrt(features.variance(p) * max(1 / r - 2, 0))
    error = (x - np.maximum(1.1 * (x - partner + rest * rng.standard_normal(n)) - 0.1, 0)) ** 2
    found = antipodal_loss(1.1, -0.1, meanfield.noise_std(p, r), p)
    assert abs(found - error.mean()) < 4 * error.std() / n**0.5


def test_antipodal_loss_keeps_its_digits_at_small_p():
    """At b = 0, a = 1 and no other noise only two partners that are both on cost anything: p^2 / 6."""
    for p in (1e-2, 1e-6, 1e-12):
        found = antipodal_loss(1, 0, meanfield.noise_std(p, 0.5), p)
        assert found == pytest.approx(p**2 / 6, rel=1e-12, abs=0)


def test_large_bias_and_wide_noise_do_not_cancel():
    """With every output positive the loss is that of a linear decoder, whatever the bias."""
    for b in (5.0, 1e4):
        a, p = 1e-3, 0.9
        mean = b + a * 0  # y - b has mean a (m - m)
        linear = features.variance(p) * ((1 - a) ** 2 + a**2) + (features.mean(p) - mean) ** 2
        found = antipodal_loss(a, b, meanfield.noise_std(p, 0.5), p)
        assert found == pytest.approx(linear, rel=1e-12, abs=0)


@pytest.mark.parametrize(("p", "r"), [(0.05, 0.2), (0.3, 0.4), (1e-4, 0.5), (0.9, 0.3)])
def test_antipodal_optimum_is_a_minimum(p, r):
    best = codes.antipodal_optimum(p, r)
    assert best.sigma == meanfield.noise_std(p, r)
    assert best.loss == pytest.approx(antipodal_loss(best.a, best.b, best.sigma, p), rel=1e-9, abs=0)
    scale = best.a * best.sigma
    for da, db in ((0.01, 0), (-0.01, 0), (0, 0.02), (0, -0.02), (0.01, 0.02)):
        near = antipodal_loss(best.a * (1 + da), best.b + db * scale, best.sigma, p)
        assert near >= best.loss * (1 - 1e-12)


def test_antipodal_rug_becomes_the_theory_for_small_ratios():
    p, r = 0.3, 1e-3
    assert codes.antipodal_optimum(p, r).loss == pytest.approx(meanfield.optimum(p, r).loss, rel=1e-4, abs=0)


def test_digons_in_closed_form():
    p = 1e-6
    for c in (1.0, 2.0, 3.0, 5.0):
        small = (1 + c**-2) * (2 - 1 / c) / 12
        assert codes.digon(p, c) / p**2 == pytest.approx(small, rel=1e-4, abs=0)
    c, loss = codes.best_digon(p)
    assert c == pytest.approx(3, rel=5e-3)  # a parabola through a grid of ratios
    assert loss / p**2 == pytest.approx(25 / 162, rel=1e-4, abs=0)
    assert codes.digon(0.1, 3.0) == pytest.approx(codes.digon(0.1, 1 / 3), rel=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: antipodal_loss(1, 0, 0.1, 0.05), "sigma = 0.1 is out of range; allowed: the partner's own"),
        (lambda: antipodal_loss(0, 0, 1, 0.05), "a = 0 is out of range"),
        (lambda: codes.antipodal_optimum(0.05, 0.6), r"r = 0.6 is out of range; allowed: \(0, 0.5\]"),
        (lambda: codes.digon(0.05, 0), "c = 0 is out of range"),
        (lambda: codes.hull(0.05, points=3), "points = 3 is out of range"),
        (lambda: codes.hull(0.05, without=("dropped",)), "without = 'dropped' is unknown"),
        (lambda: codes.hull(0), "p = 0 is out of range"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.fixture(scope="module")
def hull():
    return codes.hull(0.05, points=24)


def test_hull_is_convex_and_below_every_phase(hull):
    slope = np.diff(hull.loss) / np.diff(hull.r)
    assert np.all(np.diff(slope) > 0)
    r = np.linspace(0.01, 0.99, 30)
    assert np.all(hull.at(r) <= meanfield.optimum(0.05, r).loss * (1 + 1e-2))  # chords of a curve lie above it
    low = r[r < 0.5]
    assert np.all(hull.at(low) <= codes.antipodal_optimum(0.05, low).loss * (1 + 1e-2))
    assert hull.at(0) == pytest.approx(features.variance(0.05)) and hull.at(1) == 0


@pytest.mark.parametrize("r", [0.0, 0.05, 0.2, 0.47, 0.5, 0.8, 1.0])
def test_parts_add_up(hull, r):
    parts = hull.parts(r)
    assert sum(part.fraction for part in parts) == pytest.approx(1)
    assert sum(part.fraction * part.r for part in parts) == pytest.approx(r, abs=1e-12)


def test_parts_right_of_one_half_are_digons_and_own_dimensions(hull):
    parts = {part.phase: part.fraction for part in hull.parts(0.7)}
    assert parts == pytest.approx({"digon": 0.6, "own dimension": 0.4})


def test_hulls_are_those_of_each_probability():
    one, two = codes.hulls([0.02, 0.4], points=10)
    alone = codes.hull(0.4, points=10)
    np.testing.assert_allclose(two.loss, alone.loss, rtol=1e-9)
    assert (one.p, two.p, two.phase) == (0.02, 0.4, alone.phase)


def test_tangent_touches_the_curve():
    """From (0, V) through the tangent point: no point of the theory lies below that line."""
    p = 0.1
    touch, top = codes.dropping_ratio(p), features.variance(p)
    r = np.linspace(1e-3, 0.99, 60)
    line = top + r * (meanfield.optimum(p, touch).loss - top) / touch
    assert np.all(meanfield.optimum(p, r).loss >= line * (1 - 1e-9) - 1e-6 * top)
    only = codes.hull(p, without=("antipodal", "digon"), points=20)
    assert {part.phase for part in only.parts(touch / 2)} == {"dropped", "rug"}
