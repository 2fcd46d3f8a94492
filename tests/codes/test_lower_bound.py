"""The limit problem: costs against integration, the Lemma and the theorems under attack, constants both ways."""

from itertools import permutations

import numpy as np
import pytest
from sampled import sampled
from scipy.optimize import minimize
from superposition import codes
from superposition.codes import lower_bound


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0, 2.5, 40.0])
def test_conflict_cost_against_a_grid(alpha):
    u = (np.arange(2000) + 0.5) / 2000
    direct = np.mean(np.minimum(u[:, None], alpha * u) ** 2)
    assert codes.conflict_cost(alpha) == pytest.approx(direct, abs=1e-6)  # midpoint rule


def test_the_cost_is_concave_in_the_square():
    s = np.linspace(0, 9, 901)
    assert np.diff(codes.conflict_cost(np.sqrt(s)), 2).max() < 1e-15


def test_the_inequality_of_theorem_a():
    grid = np.r_[np.linspace(0, 8, 801), np.sqrt(2)]
    one, other = np.meshgrid(grid, grid)
    pair = (codes.conflict_cost(one) + codes.conflict_cost(other)) / 2
    least = np.minimum(1, (one**2 + other**2) / 2)
    assert np.all(pair >= lower_bound.KAPPA * least - 1e-15)
    assert np.min(pair[least > 0] / least[least > 0]) == pytest.approx(lower_bound.KAPPA, rel=1e-4)  # sharp


def attack(score, n, m, seed):
    """Least score of W = X Y over factors, by descent from random ones; rows are scaled to a unit diagonal."""
    rng = np.random.default_rng(seed)

    def value(flat):
        X, Y = flat[: n * m].reshape(n, m), flat[n * m :].reshape(m, n)
        W = X @ Y
        diagonal = np.diag(W)
        return score(W / diagonal[:, None]) if np.all(np.abs(diagonal) > 1e-6) else 1e6

    return minimize(value, rng.standard_normal(2 * n * m), method="L-BFGS-B", options={"maxiter": 60}).fun


@pytest.mark.parametrize(("n", "m"), [(3, 1), (4, 2), (6, 2), (7, 3)])
def test_descent_against_the_lemma(n, m):
    reached = [attack(codes.truncated_squares, n, m, seed) * m / n**2 for seed in range(4)]
    assert min(reached) >= 1 - 1e-9
    assert min(reached) < 1.35  # the attack comes near: equality needs m to divide n, or a flat Gram matrix


def test_random_matrices_against_the_lemma():
    rng = np.random.default_rng(1)
    for _ in range(400):
        n, m = int(rng.integers(2, 30)), int(rng.integers(1, 6))
        W = rng.standard_normal((n, min(m, n))) @ rng.standard_normal((min(m, n), n)) * np.exp(rng.standard_normal(n))
        W *= np.sign(np.diag(W))[:, None]
        assert codes.truncated_squares(W) >= n**2 / m * (1 - 1e-9)


def softened(W):
    off = W - np.diag(np.diag(W))
    return codes.conflict_cost(np.maximum(-off, 0)).sum() / len(W) + 100 * np.mean(np.maximum(off, 0) ** 2)


@pytest.mark.parametrize(("n", "m"), sampled([(5, 2), (2, 1), (4, 2), (7, 3)]))
def test_descent_against_theorem_a(n, m):
    """With positive entries at a price: the cost of conflicts stays above the bound, for what they leave."""
    assert min(attack(softened, n, m, seed) for seed in range(4)) > lower_bound.KAPPA * (n / m - 1)


def test_digons_reach_theorem_b():
    best = min(codes.limit_cost([[1, -c], [-1 / c, 1]]) for c in np.linspace(1, 5, 401))
    assert best == pytest.approx(float(codes.symmetrisable_bound(0.5)), rel=1e-6)
    assert float(codes.best_digon(1e-6)[1]) / 1e-12 == pytest.approx(codes.DIGON_CONSTANT, rel=1e-3)


def test_limit_cost_of_a_fan():
    fan = codes.priority_fan(8, 1e6)
    lower = np.tril(fan.W, -1) + np.diag(np.diag(fan.W))
    cost = codes.limit_cost(lower)
    assert cost == pytest.approx(5 / 6, rel=1e-4)
    assert codes.code_loss(lower, fan.b, 1e-4) / 1e-8 == pytest.approx(cost, rel=2e-3)  # three at once: p B
    assert codes.limit_cost(np.eye(3) + 0.1) == np.inf


def test_bounds_in_order():
    r = np.linspace(0.01, 0.99, 99)
    assert np.all(lower_bound.KAPPA * (1 / r - 1) < codes.symmetrisable_bound(r))
    assert np.all(codes.symmetrisable_bound(r) <= codes.best_known_constant(r) + 1e-15)
    low = r[r <= 0.4]
    assert np.all(codes.hierarchical_bound(low) < codes.best_known_constant(low))


def conflicts(places):
    """Fewest conflicts of features in this order at multiples of 30 degrees in the plane; None if one is unread."""
    cosine, readers = np.round(np.cos(np.arange(24) * np.pi / 12), 12), np.arange(24)
    total = 0
    for t, place in enumerate(places):
        products = cosine[(readers[:, None] - 2 * np.array(places[:t], dtype=int)) % 24]
        allowed = (cosine[(readers - 2 * place) % 24] > 0) & np.all(products <= 0, axis=1)
        if not allowed.any():
            return None
        total += int((products < 0).sum(axis=1)[allowed].min())
    return total


@pytest.mark.parametrize("n", [4, 5])
def test_no_order_in_the_plane_beats_the_fan(n):
    """Theorem C by enumeration: every order of n of twelve directions, opposite ones among them."""
    found = [conflicts((0, *rest)) for rest in permutations(range(1, 12), n - 1)]
    assert min(value for value in found if value is not None) == n * (n - 3) // 2
