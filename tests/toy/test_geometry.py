"""Geometry of a toy model: known figures, and bounds that no figure breaks."""

import numpy as np
import pytest
from superposition import toy

RNG = np.random.default_rng(0)


def test_dimensionality_and_interference_of_known_figures():
    assert toy.feature_dimensionality(np.array([[1.0, -1.0]])) == pytest.approx([0.5, 0.5])
    pentagon = np.array([np.cos(np.arange(5) * 0.4 * np.pi), np.sin(np.arange(5) * 0.4 * np.pi)])
    np.testing.assert_allclose(toy.feature_dimensionality(1.3 * pentagon), 0.4)
    np.testing.assert_allclose(toy.feature_dimensionality(np.eye(2, 3)), [1, 1, 0])
    np.testing.assert_allclose(toy.interference(np.eye(2, 3)), [0, 0, 0])
    np.testing.assert_allclose(toy.interference(np.array([[2.0, -1.0]])), [1, 4])
    random = RNG.standard_normal((40, 3, 7))
    D = toy.feature_dimensionality(random)
    assert np.all((D >= 0) & (D <= 1)) and np.all(D.sum(axis=1) <= 3 + 1e-12)


def test_phases():
    assert toy.phase(np.array([[1.0, 0.1]]), 1) == "dropped"
    assert toy.phase(np.array([[0.1, 1.0]]), 1) == "own"
    assert toy.phase(np.array([[1.0, -1.0]]), 1) == "superposed"
    # at the thresholds themselves: |W_i|^2 = 1/4 is not dropped, an interference of 1/4 is not superposed
    assert toy.phase(np.array([[0.0, 0.5]]), 1) == toy.phase(np.array([[0.5, 1.0]]), 1) == "own"


def test_geometry_does_not_depend_on_the_basis():
    rng = np.random.default_rng(4)
    W, Q = rng.standard_normal((3, 6)), np.linalg.qr(rng.standard_normal((3, 3)))[0]
    for measure in (toy.gram, toy.feature_dimensionality, toy.interference):
        np.testing.assert_allclose(measure(Q @ W), measure(W), atol=1e-13)
    np.testing.assert_allclose(toy.feature_dimensionality(7 * W), toy.feature_dimensionality(W), rtol=1e-13)
    np.testing.assert_allclose(toy.interference(7 * W), 49 * toy.interference(W), rtol=1e-13)
    norms = np.diag(toy.gram(W))  # D = |W|^2 / (|W|^2 + interference)
    np.testing.assert_allclose(toy.feature_dimensionality(W), norms / (norms + toy.interference(W)), rtol=1e-13)


def test_dimensionality_and_interference_keep_their_values_for_tiny_weights():
    W = np.random.default_rng(0).standard_normal((2, 5))
    for scale in (1e-90, 1e-160, 1e100):
        np.testing.assert_allclose(toy.feature_dimensionality(scale * W), toy.feature_dimensionality(W), rtol=1e-12)
    np.testing.assert_allclose(toy.interference(1e-90 * W), 1e-180 * toy.interference(W), rtol=1e-12)
    assert toy.feature_dimensionality(np.diag([1.0, 1e-200])).tolist() == [1.0, 1.0]
    assert toy.feature_dimensionality([[1.0, 1e-200, 0.0]]).tolist() == [1.0, 0.0, 0.0]
