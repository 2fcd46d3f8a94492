"""Thomson's problem, old and new: closed forms, gradients, published energies."""

import numpy as np
import pytest
from superposition import toy
from superposition.toy import thomson

# Minimal Coulomb energies on the sphere, as every table of Thomson's problem has them
CLASSICAL = {4: 3.674234614, 5: 6.474691495, 6: 9.985281374, 7: 14.452977414, 8: 19.675287861, 12: 49.165253058}


@pytest.mark.parametrize("n", CLASSICAL)
def test_classical_energies(n):
    found = toy.thomson_minimum(n, 3, starts=12, energy="coulomb")
    assert found.energy == pytest.approx(CLASSICAL[n], abs=1e-8)


def test_energy_is_the_double_sum():
    W = np.random.default_rng(0).standard_normal((3, 6))
    unit = W / np.linalg.norm(W, axis=0)
    for threshold in (-0.3, 0.0, 0.4):
        total = sum(max(unit[:, i] @ unit[:, j] - threshold, 0) ** 2 for i in range(6) for j in range(6) if i != j)
        assert toy.thomson_energy(W, threshold) == pytest.approx(total, rel=1e-13)
    pairs = [1 / np.linalg.norm(unit[:, i] - unit[:, j]) for i in range(6) for j in range(i)]
    assert thomson._coulomb(unit)[0] == pytest.approx(sum(pairs), rel=1e-13)


def test_one_sparse_loss_is_a_third_of_the_energy():
    W = np.random.default_rng(1).standard_normal((3, 7))
    W /= np.linalg.norm(W, axis=0)
    assert toy.k_sparse_loss(W, 0.0, 1.0, 1) == pytest.approx(toy.thomson_energy(W) / 3, rel=1e-12)


def test_known_minima():
    assert toy.thomson_energy(toy.polygon(5)) == pytest.approx(5 * (3 - 5**0.5) / 4, rel=1e-13)
    found = toy.thomson_minimum(5, 2, starts=6, seed=3)
    assert found.energy == pytest.approx(5 * (3 - 5**0.5) / 4, abs=1e-9) and found.hits >= 1
    assert found.starts == 6 and found.energies.min() == found.energy
    np.testing.assert_allclose(np.linalg.norm(found.W, axis=0), 1, rtol=1e-14)
    assert toy.thomson_minimum(6, 3, starts=3).energy == pytest.approx(0, abs=1e-12)  # n = 2 m: octahedron
    assert toy.thomson_minimum(7, 3, starts=6).energy > 0.9


def test_a_threshold_makes_spherical_codes_free():
    # the pentagon has largest cosine cos 72 degrees = 0.3090, and no five points do better
    assert toy.thomson_minimum(5, 2, starts=8, threshold=0.3091).energy == pytest.approx(0, abs=1e-12)
    assert toy.thomson_minimum(5, 2, starts=8, threshold=0.305).energy > 1e-5


@pytest.mark.parametrize("energy", ["overlap", "coulomb"])
def test_gradients(energy):
    rng = np.random.default_rng(2)
    W = rng.standard_normal((3, 5))
    W /= np.linalg.norm(W, axis=0)
    parts = {"overlap": lambda W: thomson._overlap_energy(W, 0.1), "coulomb": thomson._coulomb}[energy]
    for at in np.ndindex(W.shape):
        # along the sphere: the formulas hold for unit columns
        shift = np.zeros_like(W)
        shift[at] = 1
        shift[:, at[1]] -= W[:, at[1]] * W[at]

        def moved(step, shift=shift):
            V = W + step * shift
            return parts(V / np.linalg.norm(V, axis=0))[0]

        slope = (moved(1e-6) - moved(-1e-6)) / 2e-6
        assert (parts(W)[1] * shift).sum() == pytest.approx(slope, abs=1e-7)


def test_figures():
    np.testing.assert_allclose(toy.gram(toy.simplex(3)), 4 / 3 * np.eye(4) - 1 / 3, atol=1e-14)
    assert toy.simplex(1).shape == (1, 2)
    np.testing.assert_allclose(toy.polygon(2), [[1, -1], [0, 0]], atol=1e-15)
    square = toy.direct_sum([[1, -1]], [[1, -1]])
    np.testing.assert_allclose(square, [[1, -1, 0, 0], [0, 0, 1, -1]])


def test_hits_are_those_within_the_tolerance():
    def found(*energies):
        energies = np.array(energies)
        return thomson.Packing(np.eye(2), energies.min(), energies, thomson.TOLERANCE * (1 + energies.min()))

    assert found(2.0, 2.0 + 2e-8, 2.0 + 4e-8).hits == 2 and found(2.0, 3.0).starts == 2
    assert found(0.0, 5e-9, 5e-8).hits == 2


def test_the_energy_does_not_depend_on_rotation_order_and_length():
    rng = np.random.default_rng(0)
    W, Q = rng.standard_normal((3, 5)), np.linalg.qr(rng.standard_normal((3, 3)))[0]
    moved = (Q @ W * rng.uniform(0.5, 2, 5))[:, rng.permutation(5)]
    assert toy.thomson_energy(moved) == pytest.approx(toy.thomson_energy(W), rel=1e-12)
