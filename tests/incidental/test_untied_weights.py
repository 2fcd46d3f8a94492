"""Untied weights: the gradient against autograd, the alignment against training, inputs that are not basis vectors."""

import numpy as np
import pytest
import torch
from sampled import sampled
from superposition import incidental


def rows(n, m, scale, seed):
    return scale / np.sqrt(m) * np.random.default_rng(seed).standard_normal((2, n, m))


def test_one_step_against_autograd():
    E, D = rows(4, 6, 1.0, 0)
    X = np.random.default_rng(1).standard_normal((4, 4))
    a, b = (torch.tensor(v, requires_grad=True) for v in (E, D))
    hidden = torch.tensor(X) @ a
    ((torch.relu(hidden @ b.T) - torch.eye(4)) ** 2).sum().add(0.1 * hidden.abs().sum()).backward()
    e, d = incidental.train_untied(E, D, steps=1, lr=1e-3, lambda_=0.1, inputs=X)
    np.testing.assert_allclose((E - e) / 1e-3, a.grad.numpy(), atol=1e-11)
    np.testing.assert_allclose((D - d) / 1e-3, b.grad.numpy(), atol=1e-11)


@pytest.mark.parametrize("scale", sampled([0.5, 0.1, 1.0]))
def test_alignment_of_one_row(scale):
    """Feature benefit alone; Euler steps of 1e-3 are worth less than 1e-3."""
    for seed in range(4):
        E, D = rows(1, 40, scale, seed)
        if (E * D).sum() < 0:
            E = -E
        e, d = incidental.train_untied(E, D, steps=12000, lr=1e-3)
        cosine = (e * d).sum() / np.linalg.norm(e) / np.linalg.norm(d)
        assert cosine == pytest.approx(incidental.untied_alignment(E, D)[0], abs=1e-3)
    E, D = np.eye(2)[:1] * scale, np.array([[1e-12, scale]])
    q = (1 / scale**2 + np.sqrt(1 / scale**4 + 1)) ** -2.0
    assert incidental.untied_alignment(E, D)[0] == pytest.approx((1 - q) / (1 + q), rel=1e-9)


def test_a_closed_row_stays_closed():
    E, D = rows(1, 30, 1.0, 2)
    D = -np.sign((E * D).sum()) * D
    e, d = incidental.train_untied(E, D, steps=200, lr=0.01)
    assert np.array_equal(e, E) and np.array_equal(d, D) and incidental.untied_alignment(E, D)[0] == 0


def test_orthonormal_inputs_change_nothing():
    E, D = rows(5, 9, 1.0, 3)
    Q = np.linalg.qr(np.random.default_rng(4).standard_normal((5, 5)))[0]
    e, d = incidental.train_untied(E, D, steps=300, lr=0.02)
    f, g = incidental.train_untied(Q.T @ E, D, steps=300, lr=0.02, inputs=Q)
    np.testing.assert_allclose(Q @ f, e, atol=1e-12)
    np.testing.assert_allclose(g, d, atol=1e-12)


def test_alignment_is_blind_to_the_order_of_neurons_and_features():
    rng = np.random.default_rng(3)
    E, D = rng.standard_normal((2, 3, 4))
    here = incidental.untied_alignment(E, D)
    assert incidental.untied_alignment(E[:, ::-1], D[:, ::-1]) == pytest.approx(here)
    assert incidental.untied_alignment(E[::-1], D[::-1]) == pytest.approx(here[::-1])
