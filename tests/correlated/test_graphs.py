"""Codes for graphs of features that ever meet."""

import numpy as np
import pytest
from superposition import correlated


def ring(n):
    H = np.roll(np.eye(n), 1, axis=1)
    return H + H.T


def random_graph(n, chance, seed):
    H = np.triu(np.random.default_rng(seed).random((n, n)) < chance, 1)
    return (H | H.T).astype(float)


GRAPHS = {
    "ring of 5": ring(5),
    "ring of 40": ring(40),
    "random": random_graph(60, 0.1, 0),
    "none": np.zeros((9, 9)),
    "all": 1 - np.eye(5),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_colours_make_a_code_without_loss(name):
    H = GRAPHS[name]
    code = correlated.colour_code_for(H)
    assert correlated.largest_error(code.W, H > 0) < 1e-10
    assert not (H * (code.colours[:, None] == code.colours)).any()
    assert code.colours.max() <= H.sum(axis=1).max()
    sizes = np.bincount(code.colours)
    assert code.dimensions == sum(min(3, -(-size // 2)) for size in sizes) == len(code.W_in)


def test_nothing_is_lost_whoever_is_on():
    H = GRAPHS["random"]
    code, rng = correlated.colour_code_for(H), np.random.default_rng(1)
    for _ in range(200):
        on, x = np.ones(60, bool), np.zeros(60)
        while on.any():  # a random clique
            t = rng.choice(np.flatnonzero(on))
            x[t], on = rng.random(), on & (H[t] > 0)
        assert np.abs(np.maximum(code.W @ x, 0) - x).max() < 1e-10


def test_further_dimensions_go_where_features_crowd():
    least, more = correlated.colour_code_for(ring(40)), correlated.colour_code_for(ring(40), 12)
    gains = [correlated.noise_gain(code.W_in, code.W_out).max() for code in (least, more)]
    assert more.dimensions == 12 and gains[1] < gains[0] / 3
    with pytest.raises(ValueError, match="m = 3 is too few for this graph; allowed: 6 or more, or None"):
        correlated.colour_code_for(ring(40), 3)


def test_the_largest_error_sees_a_leak():
    W = np.eye(3) + 0.25 * np.eye(3, k=1)
    assert correlated.largest_error(W, np.zeros((3, 3), bool)) == 0.25


@pytest.mark.parametrize("H", [[[0, 1], [0, 0]], [[1, 0], [0, 0]], [[0, 0.5], [0.5, 0]]])
def test_what_is_no_graph_is_refused(H):
    with pytest.raises(ValueError, match="H is no graph; allowed: 0 and 1, symmetric, 0 on the diagonal"):
        correlated.colour_code_for(H)
