"""The book's own model on words of a text: where its weights change their sign."""

import numpy as np
import pytest
from superposition.experiments import real_words


def test_the_crossing_is_where_weights_change_their_sign():
    rng = np.random.default_rng(0)
    topic = rng.integers(0, 2, (20_000, 1))
    X = (rng.random((20_000, 40)) < np.where(topic == np.arange(40) // 20, 0.12, 0.03)).astype(np.float32)
    p = X.mean(axis=0, dtype=float)
    ratio = (X.T @ X) / (len(X) * np.outer(p, p))
    for zero in (0.8, 1.2):
        W = np.log(ratio / zero)
        np.fill_diagonal(W, 1)
        found = real_words._weights(X, (W, np.eye(40), np.zeros(40)), p)
        assert found["crossing"] == pytest.approx(zero, rel=0.02)
        assert found["heard"] == 40 and found["pairs"] == 780
