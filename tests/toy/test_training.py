"""Batched training: independent instances, exact losses, and the optima that theory knows."""

import numpy as np
import pytest
import torch
from superposition import toy
from superposition.toy import training


def test_two_rare_features_become_a_digon():
    done = toy.train_models(2, 1, sparsity=[0.9], instances=8, steps=600, seed=1, device="cpu")
    best = toy.minimise(2, 1, 1.0, 0.1, starts=2, first=[np.array([[1.0, -1.0]])])
    assert done.W.shape == (1, 8, 1, 2) and done.b.shape == (1, 8, 2)
    assert toy.phase(done.best_W[0], 1) == "superposed"
    # nothing trained lies below the optimum, and the best comes within 2 % in so few steps
    assert np.all(done.loss >= best.loss * (1 - 1e-6))
    assert done.best_loss[0] == pytest.approx(best.loss, rel=0.02)


def test_shapes_groups_and_losses():
    importance = np.array([[1.0, 0.5, 0.2], [1.0, 1.0, 1.0]])
    done = toy.train_models(3, 2, sparsity=[0.2, 0.8], importance=importance, instances=3, steps=20, device="cpu")
    assert done.loss.shape == (2, 3) and np.all(done.loss_se == 0)
    for g, i in np.ndindex(2, 3):
        exact = toy.population_loss(done.W[g, i], done.b[g, i], importance[g], 1 - done.sparsity[g])
        assert done.loss[g, i] == pytest.approx(exact, rel=1e-12)
    np.testing.assert_array_equal(done.best_b[1], done.b[1, done.loss[1].argmin()])
    assert done.best_loss[0] == done.loss[0].min()


def test_a_larger_model_is_measured_by_monte_carlo():
    done = toy.train_models(8, 3, sparsity=0.7, instances=2, steps=30, device="cpu")
    for i in range(2):
        exact = toy.population_loss(done.W[0, i], done.b[0, i], 1.0, 0.3)
        assert abs(done.loss[0, i] - exact) < 4 * done.loss_se[0, i]


def test_one_uniform_number_gives_a_feature_at_any_probability():
    u = torch.rand(200_000, generator=torch.Generator().manual_seed(0))
    for p in (0.05, 0.5, 1.0):
        x = training._features(u, p).numpy()
        assert abs((x > 0).mean() - p) < 4 * (p * (1 - p) / len(x)) ** 0.5 + 1e-9
        assert abs(x.mean() - p / 2) < 4 * (p / 3 / len(x)) ** 0.5
        assert abs((x**2).mean() - p / 3) < 4 * (p / 5 / len(x)) ** 0.5 and x.max() <= 1 + 1e-6


def test_a_seed_is_a_run_and_groups_do_not_touch_each_other():
    settings = dict(instances=2, steps=40, device="cpu")
    one = toy.train_models(4, 2, sparsity=[0.5, 0.9], seed=3, **settings)
    again = toy.train_models(4, 2, sparsity=[0.5, 0.9], seed=3, **settings)
    np.testing.assert_array_equal(one.W, again.W)
    changed = toy.train_models(4, 2, sparsity=[0.5, 0.2], seed=3, **settings)
    np.testing.assert_allclose(one.W[0], changed.W[0], atol=1e-5)
    assert not np.allclose(one.W[1], changed.W[1], atol=1e-3)
    assert not np.allclose(one.W, toy.train_models(4, 2, sparsity=[0.5, 0.9], seed=4, **settings).W)


def test_gradient_is_that_of_the_exact_loss():
    # one huge batch, one step of tiny size: Adam's first step is the sign of the gradient
    done = toy.train_models(2, 1, sparsity=0.5, instances=5, steps=1, batch=400_000, lr=1e-4, device="cpu")
    rng = torch.Generator().manual_seed(0)
    start = (torch.randn(1, 5, 1, 2, generator=rng) * (2 / 3) ** 0.5).numpy().astype(float)
    moved = done.W[0] - start[0]
    for i in range(5):
        for at in range(2):
            shift = np.zeros((1, 2))
            shift[0, at] = 1e-5
            up, down = (toy.population_loss(start[0, i] + s * shift, 0.0, 1.0, 0.5) for s in (1, -1))
            slope = (up - down) / 2e-5
            if abs(slope) > 0.02:  # beyond the noise of the batch
                assert np.sign(moved[i, 0, at]) == -np.sign(slope)


def test_progress():
    seen = []
    toy.train_models(
        2, 1, sparsity=0.5, steps=120, device="cpu", progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(50, 120), (100, 120), (120, 120)]
