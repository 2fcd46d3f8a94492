"""Features that never meet: codes without loss, and their noise gains."""

import numpy as np
import pytest
from superposition import codes, correlated, features
from superposition.correlated import exclusive


@pytest.mark.parametrize(
    ("G", "m"), [(1, 1), (2, 1), (4, 2), (5, 3), (6, 3), (7, 3), (30, 3), (12, 4), (12, 6), (9, 8)]
)
def test_a_code_without_loss(G, m):
    code = correlated.exclusive_code(G, m)
    assert code.W_in.shape == (m, G) and np.linalg.matrix_rank(code.W) <= m
    assert np.diag(code.W) == pytest.approx(np.ones(G), abs=1e-12)
    assert (code.W - np.eye(G)).max() < 1e-12
    assert correlated.exclusive_loss(code.W, 1 / G) < 1e-20


@pytest.mark.parametrize(("G", "m"), [(3, 1), (5, 2), (500, 2)])
def test_fewer_dimensions_are_refused(G, m):
    with pytest.raises(ValueError, match=f"m = {m} is too few for G = {G}; allowed: {min(3, -(-G // 2))} or more"):
        correlated.exclusive_code(G, m)


def test_the_loss_is_that_of_a_simulation():
    W = np.array([[1.2, 0.3, -1], [0, 0.9, -0.2], [0.5, 0.1, 1]])
    x = features.grouped(1, 3, 0.3, 0.0, 200_000, seed=0)
    seen = features.Estimate.of(((np.maximum(x @ W.T, 0) - x) ** 2).mean(axis=1))
    assert correlated.exclusive_loss(W, 0.3) == pytest.approx(seen.mean, abs=4 * seen.se)


@pytest.mark.parametrize("G", [7, 12, 24])
def test_the_gain_of_a_cone(G):
    code = correlated.exclusive_code(G, 3)
    gains = correlated.noise_gain(code.W_in, code.W_out)
    assert gains == pytest.approx(np.full(G, 1 / np.tan(np.pi / G) ** 2), rel=1e-10)
    assert correlated.best_noise_gain(code.W_in) == pytest.approx(
        gains, rel=1e-6
    )  # no reader of these directions is better


@pytest.mark.parametrize("seed", range(3))
def test_no_code_in_space_is_below_the_bound(seed):
    rng = np.random.default_rng(seed)
    around = np.sort(rng.uniform(0, 2 * np.pi, 16))
    tilted = rng.standard_normal((3, 3)) @ np.stack([np.cos(around), np.sin(around), np.ones(16)])
    even = correlated.exclusive_code(16, 3).W_in + 0.01 * rng.standard_normal((3, 16))
    assert all(correlated.best_noise_gain(w).max() > correlated.least_noise_gain(16) for w in (tilted, even))


def test_digons_do_not_magnify():
    for G, m in ((5, 3), (6, 3), (12, 6), (24, 12)):
        code = correlated.exclusive_code(G, m)
        assert correlated.noise_gain(code.W_in, code.W_out) == pytest.approx(np.ones(G))


def test_more_dimensions_magnify_less():
    gains = [correlated.noise_gain(*correlated.exclusive_code(12, m)[:2]).max() for m in (3, 4, 5, 6)]
    # an icosahedron; the best twelve points in four dimensions
    assert gains == pytest.approx([13.93, (5**0.5 + 1) / (5**0.5 - 1), 5 / 3, 1], rel=2e-3)


def test_five_directions_in_the_plane_hide_one():
    rng = np.random.default_rng(0)
    for _ in range(50):
        assert correlated.best_noise_gain(rng.standard_normal((2, 5))).max() > 1e6


def test_below_independence_a_cone_loses_in_proportion():
    code, p = correlated.exclusive_code(7, 3), 0.1
    x = features.grouped(1, 7, p, 0.03, 200_000, seed=1)
    seen = features.Estimate.of(((np.maximum(x @ code.W.T, 0) - x) ** 2).mean(axis=1))
    assert seen.mean == pytest.approx(0.3 * float(codes.code_loss(code.W, code.b, p, rtol=1e-3)), abs=4.5 * seen.se)


def test_points_on_a_sphere_are_moved_as_far_as_before():
    """What the last step leaves of seven points, whose best cosine in four dimensions is 0, and of eleven."""
    for (G, d), cosine in (((7, 4), 1.17130e-4), ((11, 3), 0.4490906282)):
        u = exclusive._apart(G, d)
        assert (u @ u.T - 2 * np.eye(G)).max() == pytest.approx(cosine, rel=1e-5)
