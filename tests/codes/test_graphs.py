"""Graph tiles: the graphs by their parameters, the closed row against eigenvectors, the loss by three routes."""

import numpy as np
import pytest
from superposition import codes
from superposition.codes import graphs

NAMES = list(codes.GRAPH_PARAMETERS)


@pytest.mark.parametrize("name", NAMES)
def test_parameters(name):
    assert codes.strongly_regular_parameters(codes.graph_adjacency(name)) == codes.GRAPH_PARAMETERS[name]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("c", [0.0, 0.06])
def test_closed_row_against_the_eigenspace(name, c):
    row, nd = graphs._graph_row(name, c)
    W = codes.graph_code(codes.GraphTile(name, nd, nd / (len(row) + 1), c, 1.0, 0.0, 0.0), 0.05).W
    np.testing.assert_allclose(np.diag(W), 1, atol=1e-12)
    assert np.linalg.matrix_rank(W, tol=1e-9) == nd
    for i, others in enumerate(W):
        np.testing.assert_allclose(np.sort(np.delete(others, i)), np.sort(row), atol=1e-12)


def test_a_code_does_not_hang_on_which_eigenvectors_a_solver_finds(monkeypatch):
    tile, solve = codes.graph_tile("Clebsch", 0.05, inhibition=0), np.linalg.eigh
    W_in = codes.graph_code(tile, 0.05).W_in
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((tile.nd, tile.nd)))[0]

    def turned(A):
        values, vectors = solve(A)
        return values, np.c_[vectors[:, : tile.nd] @ turn, vectors[:, tile.nd :]]

    monkeypatch.setattr(np.linalg, "eigh", turned)
    np.testing.assert_allclose(codes.graph_code(tile, 0.05).W_in, W_in, atol=1e-12)


def test_another_graph_is_refused():
    ring = np.roll(np.eye(7, dtype=int), 1, axis=0) + np.roll(np.eye(7, dtype=int), -1, axis=0)
    with pytest.raises(ValueError, match="not strongly regular"):
        codes.strongly_regular_parameters(ring)
    with pytest.raises(ValueError, match="no regular graph"):
        codes.strongly_regular_parameters(np.triu(np.ones((4, 4), dtype=int), 1))
    with pytest.raises(ValueError, match="name = 'Petersen'"):
        codes.graph_tile("Petersen", 0.1)


@pytest.mark.parametrize(("name", "c"), [("Higman-Sims", 0.0), ("Higman-Sims", 0.06), ("Hoffman-Singleton", 0.0)])
def test_loss_against_simulation(name, c):
    tile = codes.graph_tile(name, 0.05, inhibition=c)
    code = codes.graph_code(tile, 0.05)
    found = codes.simulated_code_loss(code.W, code.b, 0.05, samples=100_000, seed=3)
    assert found.mean == pytest.approx(tile.loss, abs=4 * found.se + 2e-4 * tile.loss)  # the smoothing of the law
    assert found.se < 0.01 * tile.loss


def test_loss_against_enumeration(monkeypatch):
    exact = graphs._best_gain_and_bias(graphs._graph_row("Clebsch")[0], 0.015)
    monkeypatch.setattr(graphs, "CROWDED", 0)
    smoothed = graphs._best_gain_and_bias(graphs._graph_row("Clebsch")[0], 0.015)
    assert exact[2] == pytest.approx(smoothed[2], rel=3e-3)  # the smoothing: 1e-4 of the variance of the interference


def test_one_rival_is_the_digon():
    assert graphs._best_gain_and_bias([-1.0], 0.1)[2] == pytest.approx(float(codes.digon(0.1)), rel=1e-6)


def test_equal_weights_are_counted_once():
    row = np.repeat([-0.4, 0.1], [3, 5])
    apart = row + 1e-9 * np.arange(8)
    np.testing.assert_allclose(
        codes.output_moments(row, 1.0, -0.1, 0.2, rtol=0),
        codes.output_moments(apart, 1.0, -0.1, 0.2, rtol=0),
        rtol=1e-7,
    )


@pytest.mark.parametrize(("slope", "end"), [(1, 0.005), (-1, 0.2)])
def test_inhibition_that_is_left_out_is_searched_up_to_its_limits(monkeypatch, slope, end):
    asked = []
    monkeypatch.setattr(graphs, "_graph_row", lambda name, c: asked.append(c) or (np.full(9, c), 4))
    monkeypatch.setattr(graphs, "_best_gain_and_bias", lambda row, p: (1.0, 0.0, 1 + slope * row[0]))
    assert graphs.graph_tile.unchecked("Petersen", 0.05).inhibition == pytest.approx(end, abs=1.9e-3)
    assert 0.005 < min(asked) and max(asked) < 0.2
