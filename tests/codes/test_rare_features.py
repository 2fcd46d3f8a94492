"""Where the loss drops, the count against explicit codes, and the rug at small p against its closed form."""

import numpy as np
import pytest
from sampled import sampled
from scipy.optimize import brentq
from scipy.special import rel_entr
from superposition import codes
from superposition.rug import meanfield


def test_fans_reach_the_upper_limit():
    for kappa in (0.5, 1.0, 3.0):
        B = round(2 / (kappa * 1e-4))
        assert 3 * codes.fan_loss(1e-4, B) / 1e-4 == pytest.approx(codes.drop_bounds(2 / B / 1e-4)[1], rel=1e-3)


@pytest.mark.parametrize("p", [1e-2, 1e-4])
def test_no_code_is_below_the_count(p):
    for B in np.geomspace(4, 300 / p, 8).astype(int):
        assert 0 <= codes.counting_bound(p, 2 / B) <= codes.fan_loss(p, int(B)) <= p / 3


def test_the_count_is_monotone_and_bites():
    values = [codes.counting_bound(1e-6, kappa * 1e-6) / (1e-6 / 3) for kappa in (0.001, 0.01, 0.1, 0.5)]
    assert np.all(np.diff(values) < 0) and values[0] > 0.9
    assert codes.counting_bound(0.05, 0.4) == 0


@pytest.mark.parametrize(
    ("p", "r", "share"),
    [(1e-6, 1e-8, 0.9032996958), (1e-4, 1e-5, 0.4761488477), (0.01, 1e-3, 0.2535035057), (0.05, 0.02, 0.02592623404)],
)
def test_the_bound_from_counting_is_the_stored_one(p, r, share):
    """Its grids decide the fifth digit."""
    assert codes.counting_bound(p, r) / (p / 3) == pytest.approx(share, rel=1e-8)


def test_the_count_tends_to_the_limit_from_below():
    for kappa in (0.01, 0.1, 0.3):
        shares = [3 * codes.counting_bound(p, kappa * p) / p for p in (1e-4, 1e-16, 1e-60, 1e-200)]
        assert np.all(np.diff(shares) > 0) and shares[-1] <= codes.drop_bounds(kappa)[0] * (1 + 1e-3)


def test_patterns_of_outputs_are_few():
    """n outputs in d dimensions make at most sum_{k <= d} C(n, k) patterns above a threshold."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((200_000, 2)) * 3
    v, b = rng.standard_normal((2, 7)), rng.standard_normal(7)
    patterns = np.unique((z @ v + b > 0.1) @ 2 ** np.arange(7))
    assert 1 + 7 + 21 - 4 <= len(patterns) <= 1 + 7 + 21  # a few cells may be too small to hit


@pytest.mark.parametrize(("n", "d"), [(9, 2), (10, 3)])
def test_shallow_cells_are_few(n, d):
    """Cells that points meet, by the number of hyperplanes that they lie above."""
    rng = np.random.default_rng(n)
    normals, offsets = rng.standard_normal((n, d)), rng.standard_normal(n)
    points = rng.standard_normal((100_000, d)) * rng.choice([1, 3, 10], 100_000)[:, None]
    depth = np.unique(points @ normals.T > offsets, axis=0).sum(axis=1)
    assert all((depth <= k).sum() <= codes.shallow_cells(n, d, k) for k in range(n + 1))
    assert codes.shallow_cells(400, 20, 3) < 1e-6 * codes.shallow_cells(400, 20, 400)


@pytest.mark.parametrize(("p", "r"), sampled([(1e-2, 1e-5), (1e-3, 1e-5), (1e-6, 3e-7)]))
def test_the_count_is_the_least_loss_that_its_patterns_allow(p, r):
    """At every share phi the largest eta by a root; the cells of the grid in phi lie a few per cent below."""

    def least(phi, tau):
        def spare(eta):
            pi = p * eta + (1 - p) * phi
            on, off = (rel_entr(s, pi) + rel_entr(1 - s, 1 - pi) for s in (eta, phi))
            half = r / 2
            deep = half / (half + pi)
            entropies = [-x * np.log(x) - (1 - x) * np.log1p(-x) for x in (r, half, deep)]
            return min(entropies[0], entropies[1] + (half + pi) * entropies[2]) - p * on - (1 - p) * off

        eta = 1.0 if spare(1.0) >= 0 else brentq(spare, phi, 1.0)
        return (1 - p) * phi * tau**2 + p / 3 * max(0, 1 - eta - tau) ** 3

    best = max(min(least(phi, tau) for phi in np.geomspace(1e-9, 0.9, 400)) for tau in np.geomspace(1e-3, 0.9, 40))
    assert 0.9 * best < codes.counting_bound(p, r) <= best


@pytest.mark.parametrize("r", [0.05, 0.1, 0.2, 0.4, 0.8])
def test_two_terms_against_the_closed_form(r):
    # what is left out is of relative order 1 / z^2, z^2 near 45; 2 % at 1e-8, less at 1e-12
    misses = [float(codes.rug_at_small_p(p, r) / meanfield.optimum(p, r).loss) - 1 for p in (1e-8, 1e-12)]
    assert np.abs(misses[0]) < 0.025 and np.abs(misses[1]) < np.abs(misses[0])


def test_the_constant_is_the_limit():
    p = np.array([1e-12, 1e-25, 1e-50, 1e-100, 1e-150])
    shares = codes.rug_at_small_p.unchecked(p, 0.2) / (p**2 * np.log(1 / p))
    assert np.all(np.diff(shares) > 0) and shares[-1] < codes.rug_constant(0.2)
    assert shares[-1] == pytest.approx(
        float(codes.rug_constant(0.2)), rel=0.03
    )  # falls short by 3 ln ln(1/p) / ln(1/p)


@pytest.mark.parametrize("r", [0.1, 0.2, 0.4])
def test_the_antipodal_constant(r):
    """Per factor e of p the loss over p^2 grows by c / (1 + 3 / z^2): z^2 + 6 ln z, not z^2, is 2 ln(1/p)."""
    p = np.array([1e-11, 1e-12])
    growth = np.diff(codes.antipodal_optimum(p, r).loss / p**2)[0] / np.log(10)
    slowed = growth * (1 + 3 / 44.7)  # z^2 at 1e-12
    assert slowed == pytest.approx(float(codes.antipodal_constant(r)), rel=0.01)
    assert abs(slowed / codes.rug_constant(r) - 1) > 0.1


def test_rug_over_fan_diverges():
    p = np.array([1e-2, 1e-4, 1e-8, 1e-12])
    share = meanfield.optimum(p, 0.2).loss / codes.fan_loss(p, 10)
    assert np.all(np.diff(share) > 0.9) and share[-1] > 14


def test_the_threshold_solves_its_equation():
    p, r = 1e-6, 0.2
    low, high = 2.0, 10.0  # phi(z) - p z^3 / 4 falls
    for _ in range(100):
        z = (low + high) / 2
        low, high = (z, high) if np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) > p * z**3 / 4 else (low, z)
    assert codes.rug_at_small_p(p, r) == pytest.approx(p * p / 3 * (1 / r - 1) * (3 / 2 + z**2 / 4), rel=1e-10, abs=0)
