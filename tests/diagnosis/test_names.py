"""Codes are called by their names, at seeds and sizes on which no limit was set, and strangers are called none."""

import numpy as np
import pytest
from superposition import codes
from superposition.diagnosis import autoencoder

P = 0.05


def named(code):
    return autoencoder.diagnose({"W_in": code.W_in, "W_out": code.W_out, "b": code.b}, p=P, samples=200).name


@pytest.mark.parametrize("size", [64, 100, 300])
def test_rugs(size):
    assert named(codes.rug_code(size, 0.3, P)) == "a Persian rug"
    assert named(codes.rug_code(size, 0.3, P, antipodal=True)) == "an antipodal rug"


@pytest.mark.parametrize("product", [False, True])
def test_large_rugs_are_told_by_their_eigenvalues(product):
    code = codes.rug_code(600, 0.2, P)
    given = {"W": code.W, "b": code.b} if product else {"W_in": code.W_in, "W_out": code.W_out, "b": code.b}
    found = autoencoder.diagnose(given, p=P, samples=200)
    assert found.name == "a Persian rug, by its eigenvalues" and found.nd == found.rank == 120
    np.testing.assert_allclose(found.loudness, 1, rtol=1e-6)


@pytest.mark.parametrize(("B", "ratio"), [(5, 100), (10, 8), (12, 3)])
def test_fans(B, ratio):
    assert named(codes.priority_fan(B, ratio)) == f"a fan of {B} features"


@pytest.mark.parametrize(("B", "ratio"), [(6, 1), (9, 3)])
def test_cones(B, ratio):
    assert named(codes.cone(B, ratio)) == f"a cone of {B} features"


def swept(B, between, within):
    """W of a fan that grows to the left and right in turn: each is read orthogonally to the last on its side."""
    angle, level, before = [0.0], [1.0], []
    for j in range(1, (B - 2) // 2 + 1):
        for side in (1, -1):
            before.append(0 if j == 1 else len(angle) - 2)
            angle.append(side * j * np.pi / (B - 2))
            level.append(level[-1] / (between if side == 1 else within))
    angle, level = np.array([*angle, np.pi]), np.array([*level, level[-1] / between])
    rows = [np.cos(angle), *(np.sin(angle - angle[last]) for last in before), np.cos(angle - np.pi)]
    W = np.array([np.where(np.abs(row) < 1e-12, 0, row) / row[t] for t, row in enumerate(rows)])
    return W * level / level[:, None]


@pytest.mark.parametrize("B", [6, 8])
def test_swept_fans(B):
    W = swept(B, 50, 3)
    assert autoencoder.diagnose(W, np.zeros(B), P, samples=200).name == f"a swept fan of {B} features"


def test_digons_and_fans_side_by_side():
    block = codes.Code(np.array([[1.0, -1.0]]), np.array([[1.0], [-1.0]]), np.zeros(2))
    assert named(codes.side_by_side([block] * 5)) == "5 digons"
    assert named(codes.side_by_side([codes.priority_fan(8, 20)] * 3 + [block])) == "3 fans of 8 features and a digon"
    assert named(codes.side_by_side([codes.Code(np.eye(1), np.eye(1), np.zeros(1))] * 3)) == "3 dimensions of its own"


@pytest.mark.parametrize("graph", ["Clebsch", "Hoffman-Singleton"])
def test_graph_tiles(graph):
    code = codes.graph_code(codes.graph_tile(graph, P, 0.0), P)
    assert autoencoder.diagnose(code.W, code.b, P, samples=200).name.startswith("a graph tile")


@pytest.mark.parametrize("seed", range(100, 105))
@pytest.mark.parametrize(("nd", "ns"), [(16, 128), (64, 160), (40, 500)])
def test_random_frames(seed, nd, ns):
    W = np.random.default_rng(seed).standard_normal((nd, ns))
    W /= np.linalg.norm(W, axis=0)
    assert autoencoder.diagnose(W, np.full(ns, -0.1), P, samples=200).name == "a random frame"


@pytest.mark.parametrize("seed", range(5))
def test_a_stranger_has_no_name(seed):
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((60, 60)) * 0.1 + np.eye(60)
    assert autoencoder.diagnose(W, np.zeros(60), P, samples=200).name == "none of the codes of this book"
