"""Ablations: structure that was put in is found, and each ablation takes away what it says."""

import numpy as np
import pytest
from superposition import codes
from superposition.codes import graphs
from superposition.diagnosis import ablations


@pytest.fixture(scope="module")
def tile():
    """Hoffman-Singleton: 50 features, 7 partners each, no triangle."""
    return codes.graph_code(codes.graph_tile("Hoffman-Singleton", 0.05, inhibition=0), 0.05)


def test_structure_of_a_graph_tile(tile):
    found = ablations.code_structure(tile.W)
    assert found["asymmetry"] < 1e-12 and found["level_spread"] < 1e-12
    assert (found["positive"], found["partners"], found["mutual"], found["clustering"]) == (21, 7.0, 1.0, 0.0)
    assert found["cap"] == pytest.approx(graphs._graph_row("Hoffman-Singleton")[0].max())


def test_structure_of_triangles_one_way_and_of_inhibition():
    W = np.eye(6) - 0.5 * (np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6))
    assert ablations.code_structure(W)["clustering"] == 1.0
    one_way = np.eye(6) - 0.5 * np.eye(6, k=1)
    assert ablations.code_structure(one_way)["mutual"] == 0.0 and ablations.code_structure(one_way)["asymmetry"] > 0.3
    assert ablations.code_structure(2 * np.eye(6) - 0.5)["inhibition"] == pytest.approx(1.0)


def test_loudness_is_what_was_taken_off_a_symmetric_code():
    rng = np.random.default_rng(0)
    G = rng.standard_normal((5, 30))
    scale = np.exp(rng.standard_normal(30))
    scale /= np.exp(np.log(scale).mean())
    np.testing.assert_allclose(ablations.loudness(G.T @ G * scale / scale[:, None]), scale, rtol=1e-9)


def test_refitted_loss_is_that_of_the_best_decoder():
    W = np.array([[1.0, -0.9, 0.2], [-0.5, 1.0, 0.1], [0.3, -0.2, 2.0]])
    found = ablations.ablated_losses(W, 0.1, samples=200_000, seed=0)["refitted"]
    best = codes.best_decoder(W, 0.1).loss
    assert abs(found.mean - best) < 4 * found.se + 0.01 * best  # shifts lie on a grid of a sixth of the noise
    assert found.se < 0.03 * best


def test_ablations_of_a_graph_tile(tile):
    """Symmetrising changes nothing; without its partners it is no better than its Gaussian; with all of them it is."""
    found = {name: one.mean for name, one in ablations.ablated_losses(tile.W, 0.05, samples=20_000, seed=1).items()}
    assert found["symmetric"] == pytest.approx(found["refitted"], rel=1e-9)
    assert found["gaussian"] > 1.3 * found["refitted"]
    order = [found[name] for name in ("gaussian", "exact_1", "exact_4", "exact_16")]
    assert order == sorted(order, reverse=True)
    assert found["no_mean"] == pytest.approx(found["refitted"], rel=0.05)  # its rows sum to zero already


def test_links_as_weak_as_rounding_say_nothing_of_loudness():
    relative = np.eye(4)
    relative[[0, 1, 2, 3], [1, 0, 3, 2]] = -1
    relative[0, 2], relative[2, 0] = 1e-13, 1e-15
    np.testing.assert_allclose(ablations.loudness(relative), 1, rtol=1e-9)


def test_outputs_that_no_vector_puts_on_have_a_loss_too():
    found = ablations.ablated_losses(np.eye(2) - 0.5, 1e-6, samples=4, seed=0)
    assert all(one.mean == 0 for name, one in found.items() if name != "gaussian" and "exact" not in name)
