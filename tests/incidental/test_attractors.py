"""Ends of training: the simplex, the freeze and the last weight, against algebra, root finding and training."""

import numpy as np
import pytest
from scipy.optimize import brentq
from superposition import incidental


@pytest.mark.parametrize(("n", "m"), [(2, 1), (3, 2), (8, 16), (12, 11)])
def test_simplex_is_regular(n, m):
    W = incidental.simplex(n, m)
    gram = W @ W.T
    np.testing.assert_allclose(gram, (n * np.eye(n) - 1) / (n - 1), atol=1e-14)
    f = np.sum(W**4, axis=1)
    assert f[-1] == pytest.approx(1 / (n - 1))
    assert np.argmax(np.abs(W[:-1]), axis=1).tolist() == list(range(n - 1))


def test_simplex_of_the_text_has_the_numbers_of_figure_six():
    W = incidental.simplex(8, 16)
    assert W[0, 0] == pytest.approx(0.9703, abs=1e-4) and W[0, 1] == pytest.approx(-0.0987, abs=1e-4)
    assert np.sum(W**4, axis=1).mean() == pytest.approx(0.7940, abs=1e-4)


def test_a_frozen_simplex_has_no_slope_and_an_open_one_has():
    W = incidental.simplex(6, 10)
    edge = incidental.freezing_sigma(6, np.abs(W).sum(axis=1)).min()
    below, above = (incidental.expected_loss_grad(W, incidental.bipolar(scale * edge)) for scale in (0.99, 1.05))

    def sideways(G):  # the part that changes directions: lengths feel the noise of their own output
        return np.abs(G - np.sum(G * W, axis=1, keepdims=True) * W).max()

    assert sideways(below) < 1e-14
    assert sideways(above) > 1e-5


def test_last_weight_is_the_stable_root():
    for lambda_ in (0.0, 0.1, 0.7, 1.3, 1.5):
        root = brentq(lambda w: (1 - w**2) * w - lambda_ / 4, 3**-0.5, 1)  # noqa: B023
        assert incidental.last_weight(lambda_) == pytest.approx(root, rel=1e-10)
    assert incidental.last_weight(incidental.CRITICAL_LAMBDA) == pytest.approx(3**-0.5, rel=1e-6)
    np.testing.assert_array_equal(incidental.last_weight([1.55, 3.0]), 0)


def test_training_ends_at_the_last_weight():
    start = np.zeros((2, 1, 4))
    start[:, 0, 0] = 0.9
    found = incidental.train_with_noise(
        start, incidental.normal(0), eta=0.01, lambda_=[0.3, 1.6], steps=3000, record=[3000]
    ).W[0, :, 0]  # fmt: skip
    assert found[0, 0] == pytest.approx(incidental.last_weight(0.3), rel=1e-6)
    assert np.abs(found[1]).max() < 0.02  # signs flip by eta lambda a step


@pytest.mark.parametrize(("n", "m"), [(3, 2), (4, 3), (5, 6)])
def test_simplex_has_equal_angles_and_no_mean(n, m):
    W = incidental.simplex(n, m)
    gram = W @ W.T
    np.testing.assert_allclose(gram[~np.eye(n, dtype=bool)], gram[0, 1])
    np.testing.assert_allclose(gram[0, 1] / np.diag(gram), -1 / (n - 1))
    np.testing.assert_allclose(W.sum(axis=0), 0, atol=1e-14)
