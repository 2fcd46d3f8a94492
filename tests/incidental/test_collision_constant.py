"""The constant: exact polar factors of two features against the closed form, and the run against itself."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from superposition import incidental
from superposition.incidental import collision_constant, many_networks


def after_the_fast_stage(networks, m, seed):
    """Two features after the fast stage, with no flow: polar factors where the overlap is positive."""
    W = np.random.default_rng(seed).standard_normal((networks, 2, m))
    overlap = np.einsum("bm,bm->b", W[:, 0], W[:, 1])
    u, _, vt = np.linalg.svd(W[overlap > 0], full_matrices=False)
    W[overlap > 0] = u @ vt
    return W


@pytest.mark.parametrize(("m", "networks"), [(8, 60_000), (24, 60_000)])
def test_two_features_against_their_polar_factors(m, networks):
    tops = 2 * m * incidental.opposite_tops_each(after_the_fast_stage(networks, m, 1))
    se = tops.std() / networks**0.5
    # the sum of m - 1 products is taken as normal: 2 % at m = 8
    assert tops.mean() == pytest.approx(incidental.two_feature_constant(m), abs=4 * se + 0.02)
    assert incidental.two_feature_constant(m) > 1.1  # chance is 1


def test_two_features_drawn_are_their_polar_factors():
    tops = 16 * incidental.opposite_tops_each(after_the_fast_stage(60_000, 8, 2))
    drawn = incidental.two_feature_constant_drawn(8, 60_000, seed=3)
    assert drawn.mean == pytest.approx(tops.mean(), abs=4 * np.hypot(drawn.se, tops.std() / 60_000**0.5))
    assert drawn.mean > 1.1  # chance is 1


def test_two_features_drawn_end_at_right_angles(monkeypatch):
    seen = []
    monkeypatch.setattr(many_networks, "opposite_tops_each", lambda W: seen.append(W.copy()) or np.ones(len(W)))
    incidental.two_feature_constant_drawn(8, 100, seed=4)
    (stay, ends) = (W / np.linalg.norm(W, axis=2, keepdims=True) for W in seen)
    assert np.abs(np.sum(ends[:, 0] * ends[:, 1], axis=1)).max() < 1e-12
    assert np.all(np.sum(stay[:, 0] * stay[:, 1], axis=1) < 0)


@pytest.mark.parametrize("m", [8, 64, 1000])
def test_the_mean_over_all_overlaps_is_chance(m):
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    mean = weights @ collision_constant._opposite_tops_at(nodes, m) / weights.sum()
    assert mean == pytest.approx(1, abs=1e-3)
    falling = collision_constant._opposite_tops_at([-2.0, -1.0, 0.0, 1.0], m)
    assert np.all(np.diff(falling) < 0)


@pytest.mark.parametrize(("n", "m"), [(2, 64), (30, 24), (103, 64)])
def test_several_features_by_adaptive_quadrature(n, m):
    shift = incidental.mean_field_overlaps((n - 2) / m**0.5)[0]
    at_zero = float(collision_constant._opposite_tops_at(0.0, m))

    def integrand(z):
        return 2 * norm.pdf(z) * float(collision_constant._opposite_tops_at(min(shift - z, 0), m))

    below = 2 * (norm.cdf(shift) - 0.5) * at_zero  # overlaps that end at 0
    expected = (at_zero + below + quad(integrand, shift, 9, epsabs=1e-7)[0]) / 2
    # 48 nodes, 0.2 apart, across a kink of at most 0.2: 0.2^2 / 8 of it; third parties are 1e-2 and more
    assert incidental.several_feature_constant(n, m) == pytest.approx(expected, abs=1e-3)
    assert n == 2 or abs(expected - incidental.two_feature_constant(m)) > 1e-2


def test_with_many_features_all_overlaps_end_near_zero():
    at_zero = float(collision_constant._opposite_tops_at(0.0, 64))
    some, many = (incidental.several_feature_constant(n, 64) / at_zero - 1 for n in (10**3, 10**4))
    assert 0 < many < some / 3 and many < 2e-3


def test_many_neurons_tend_to_chance():
    m = 10**6
    assert incidental.two_feature_constant(m) - 1 == pytest.approx(2 * np.log(m) / np.sqrt(2 * np.pi * m), rel=0.25)


def test_the_mean_overlap_is_that_of_the_pairs():
    W = np.random.default_rng(0).standard_normal((7, 4, 9))
    pairs = [w[i] @ w[j] for w in W for i in range(4) for j in range(4) if i != j]
    assert incidental.mean_overlap(W) == pytest.approx(3 * np.mean(pairs))


def test_isotropic_is_the_mean_over_random_orientations():
    rng = np.random.default_rng(3)
    W = rng.standard_normal((2, 4, 24))
    W[0, 1] -= W[0, 0]  # one strongly negative overlap
    W /= np.linalg.norm(W, axis=2, keepdims=True)
    turns = np.linalg.qr(rng.standard_normal((3000, 24, 24)))[0]
    chance = 4 * 3 / (4 * 24)  # n (n - 1) / 4m
    assert incidental.isotropic_pairs(W)[0] > 1.1  # chance is 1
    for network, expected in zip(W, incidental.isotropic_pairs(W), strict=True):
        counts = incidental.opposite_tops_each(network @ turns) / chance
        # the sum of m - 1 products is taken as normal: 2 % at m = 8
        assert expected == pytest.approx(counts.mean(), abs=4 * counts.std() / 3000**0.5 + 0.02)
