"""The scatter of noisy steps: gradients, rotations, the drift by brute force, and the free motions of a simplex."""

import itertools

import numpy as np
import pytest
from scipy.linalg import expm
from superposition import incidental
from superposition.incidental import step_noise

LAW = incidental.bipolar(0.2)


def every_noise(m):
    return 0.2 * np.array(list(itertools.product([-1.0, 1.0], repeat=m)))


def turned_simplex(n, m, seed):
    return incidental.simplex(n, m) @ np.linalg.qr(np.random.default_rng(seed).standard_normal((m, m)))[0]


def test_gradients_are_those_of_a_step_and_of_the_expected_loss():
    W = incidental.initial_instances(4, 6, 1, seed=1)[0]
    mean = step_noise._gradients(W, every_noise(6)).mean(axis=0)
    np.testing.assert_allclose(mean, incidental.expected_loss_grad(W, LAW), atol=1e-14)


def test_rotations_are_the_closest():
    rng = np.random.default_rng(2)
    W, move = turned_simplex(5, 7, 0), rng.standard_normal((5, 7))
    A = step_noise._rotations(W, move)
    np.testing.assert_allclose(A, -A.T, atol=1e-12)
    for other in rng.standard_normal((20, 7, 7)):
        assert abs(np.sum((move - W @ A) * (W @ (other - other.T)))) < 1e-9
    np.testing.assert_allclose(W @ step_noise._rotations(W, W @ A), W @ A, atol=1e-12)


def test_the_drift_by_turning_a_network():
    W = 1.02 * turned_simplex(3, 5, 1)
    noises = LAW.sample((400, 5), np.random.default_rng(3))
    G = step_noise._gradients(W, noises)
    A, h = step_noise._rotations(W, G - G.mean(axis=0)), 1e-3

    def sparsity(V):
        return np.mean(np.sum(V**4, axis=1) / np.sum(V**2, axis=1) ** 2)

    change = np.mean([(sparsity(W @ expm(h * a)) + sparsity(W @ expm(-h * a))) / 2 - sparsity(W) for a in A])
    assert step_noise._free_drift(W, LAW, draws=400, seed=3) == pytest.approx(-change / h**2, rel=1e-3)
    assert incidental.slope_and_drift(W, LAW, draws=400, seed=3)[1] == step_noise._free_drift(W, LAW, draws=400, seed=3)


@pytest.mark.parametrize(("n", "m"), [(2, 5), (3, 4), (3, 8), (5, 7), (6, 8)])
def test_the_share_of_the_push_that_is_free(n, m):
    """Exact for the gradient of the fourth norm itself, which is what the leading order pushes along."""
    rng, parts = np.random.default_rng(n + m), []
    for _ in range(4000):
        u = incidental.simplex(n, m) @ np.linalg.qr(rng.standard_normal((m, m)))[0]
        push = u**3 - np.sum(u**4, axis=1, keepdims=True) * u
        parts.append([np.sum(push**2), np.sum(push * (u @ step_noise._rotations(u, push)))])
    each, common = np.transpose(parts)
    share = incidental.free_share(n, m)
    error = np.std(common - share * each) / np.sqrt(len(each)) / each.mean()
    assert common.sum() / each.sum() == pytest.approx(share, abs=4 * error + 1e-12)
    counted = (n - 1) * (m - n / 2) / (n * (m - 1))  # the share of the motions: excluded
    assert abs(counted - share) > 4 * error


def test_descent_to_a_level():
    law = incidental.bipolar(0.25)
    W = incidental.descend_to_level(incidental.initial_instances(4, 8, 1, seed=0)[0], law, 0.35)
    assert np.mean(np.sum(W**4, axis=1) / np.sum(W**2, axis=1) ** 2) >= 0.35
    with pytest.raises(ValueError, match="level = 1.0 is not reached within 200 steps"):
        incidental.descend_to_level(W, law, 1, most=200)


def test_pairs_of_directions_that_are_hardly_used_do_not_turn():
    basis = np.linalg.qr(np.random.default_rng(6).standard_normal((3, 3)))[0]
    W = np.diag([2.0, 1.0, 0.5]) @ basis  # W.T @ W has 4, 1 and 1/4 along the rows of the basis
    moves = np.random.default_rng(7).standard_normal((3, 3))
    turned = basis @ W.T @ moves @ basis.T
    both = turned - turned.T
    expected = np.array([[0, both[0, 1] / 5, both[0, 2] / 4.25], [0, 0, 0], [0, 0, 0]])  # 1 + 1/4 is below 4 / 2
    np.testing.assert_allclose(basis @ step_noise._rotations(W, moves) @ basis.T, expected - expected.T, atol=1e-12)


@pytest.mark.parametrize("shape", [(4, 10), (10, 4)])
def test_gradients_of_all_draws_fit_into_memory(shape):
    most = step_noise.own.MOST // (shape[1] * 10)
    step_noise.scatter_fits(np.zeros(shape), most)
    with pytest.raises(ValueError, match=f"draws = {most + 1} of W of shape"):
        step_noise.scatter_fits(np.zeros(shape), most + 1)
