"""The bound on sigma: each link against its definition, the equality case from both sides, frames."""

import numpy as np
import pytest
from scipy.linalg import null_space, schur
from superposition.book import parameters
from superposition.rug import noise_bound, rugs, tight_frames


def low_rank(ns, nd, seed):
    rng = np.random.default_rng(seed)
    encoder = rng.standard_normal((nd, ns))
    return (encoder.T + rng.standard_normal((ns, nd))) @ encoder


@pytest.mark.parametrize(("ns", "nd"), [(12, 3), (20, 19), (9, 1), (7, 7)])
@pytest.mark.parametrize("seed", range(5))
def test_no_link_is_above_the_one_before_and_the_last_is_the_bound(ns, nd, seed):
    W = low_rank(ns, nd, seed)
    links = noise_bound.noise_chain(W, nd)
    assert min(links.losses) > -1e-9 * links.entries
    assert links.trace == pytest.approx(ns / nd, rel=1e-12, abs=0)
    assert links.entries - 1 == pytest.approx(noise_bound.row_noise(W).mean(), rel=1e-12, abs=0)
    assert links.entries - links.trace == pytest.approx(sum(links.losses), rel=1e-9, abs=0)


def test_the_schur_link_loses_what_is_above_the_diagonal():
    W = noise_bound.with_unit_diagonal(low_rank(15, 4, 0))
    upper = np.triu(schur(W, output="complex")[0], 1)
    assert noise_bound.noise_chain(W, 4).losses[0] == pytest.approx(np.sum(np.abs(upper) ** 2) / 15, rel=1e-9, abs=0)


def test_the_other_links_by_hand():
    turn = np.array([[1, 0.5], [-0.5, 1]])  # eigenvalues 1 +- i/2, of modulus sqrt(5/4)
    np.testing.assert_allclose(noise_bound.noise_chain(turn, 2).losses, (0, 0, 0.25), atol=1e-14)
    pair = np.array([[1, 0.5], [0.5, 1]])  # eigenvalues 3/2 and 1/2
    np.testing.assert_allclose(noise_bound.noise_chain(pair, 2).losses, (0, 0.25, 0), atol=1e-14)
    untied = np.array([[1, 2], [0.5, 1]])  # rank one: nilpotent part 2 - 1/2
    np.testing.assert_allclose(noise_bound.noise_chain(untied, 1).losses, (1.125, 0, 0), atol=1e-14)


def test_a_rank_too_low_is_paid_for():
    R = rugs.Rug(16, 4, seed=0).dense()
    np.testing.assert_allclose(noise_bound.noise_chain(R, 4).losses, 0, atol=1e-12)
    np.testing.assert_allclose(
        noise_bound.noise_chain(R, 8).losses, (0, 2, 0), atol=1e-12
    )  # four of eight eigenvalues are 0


@pytest.mark.parametrize(("ns", "nd"), [(10, 3), (9, 8), (6, 2), (5, 5)])
def test_a_descent_ends_at_the_bound_and_at_a_projector(ns, nd):
    found = noise_bound.descend_on_noise(ns, nd, seed=4)
    assert found.history[-1] == pytest.approx(noise_bound.smallest_noise(ns, nd), abs=1e-9)
    assert np.all(np.diff(found.history) <= 1e-12) and found.history[0] > found.history[-1] + 0.01
    np.testing.assert_allclose(np.diag(found.W), 1, atol=1e-12)
    np.testing.assert_allclose(found.W, found.W.T, atol=1e-4)
    np.testing.assert_allclose(found.W @ found.W, found.W * ns / nd, atol=1e-3)


def test_the_gradient_of_the_descent():
    x = np.random.default_rng(0).standard_normal(2 * 5 * 3) + 1
    value, slope = noise_bound._mean_noise(x, 5, 3)
    for k in range(0, x.size, 7):
        step = np.zeros_like(x)
        step[k] = 1e-6
        change = noise_bound._mean_noise(x + step, 5, 3)[0] - noise_bound._mean_noise(x - step, 5, 3)[0]
        assert change / 2e-6 == pytest.approx(slope[k], rel=1e-5, abs=1e-6 * abs(value))


@pytest.mark.parametrize(("make", "expected"), [("projector", (30 - 10) / (10 - 2)), ("unit", 29 / 10)])
def test_mean_noise_of_random_matrices(make, expected):
    def noise(seed):
        if make == "projector":
            return noise_bound.row_noise(tight_frames.random_projector(30, 10, seed=seed)).mean()
        vectors = tight_frames.unit_vectors(30, 10, seed=seed)
        return noise_bound.row_noise(vectors @ vectors.T).mean()

    found = np.array([noise(seed) for seed in range(300)])
    se = found.std(ddof=1) / np.sqrt(found.size)
    assert abs(found.mean() - expected) < 4 * se and se < 0.02 * expected


def test_a_projector_is_one():
    P = tight_frames.random_projector(20, 6, seed=1)
    np.testing.assert_allclose(P, P.T, atol=1e-14)
    np.testing.assert_allclose(P @ P, P, atol=1e-13)
    assert np.trace(P) == pytest.approx(6, rel=1e-12) and np.ptp(np.diag(P)) > 0.1
    assert null_space(P).shape[1] == 14


@pytest.mark.parametrize(("ns", "nd"), [(12, 5), (40, 36), (7, 1), (6, 6)])
def test_a_tight_frame_meets_the_bound(ns, nd):
    vectors = tight_frames.tight_frame(ns, nd, seed=2)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-12)
    assert tight_frames.frame_potential(vectors) == pytest.approx(ns**2 / nd, rel=1e-9, abs=0)
    assert noise_bound.row_noise(vectors @ vectors.T).mean() == pytest.approx(
        noise_bound.smallest_noise(ns, nd), abs=1e-9
    )


def test_frame_potential_and_welch():
    mercedes = np.array([[1, 0], [-0.5, 3**0.5 / 2], [-0.5, -(3**0.5) / 2]])
    assert tight_frames.frame_potential(mercedes) == pytest.approx(4.5, rel=1e-12, abs=0)
    assert noise_bound.welch_bound(3, 2) == pytest.approx(0.5, rel=1e-12, abs=0)
    vectors = tight_frames.unit_vectors(9, 4, seed=0)
    gram = vectors @ vectors.T
    assert tight_frames.frame_potential(vectors) == pytest.approx(np.sum(gram**2), rel=1e-12, abs=0)
    assert np.abs(gram - np.eye(9)).max() > noise_bound.welch_bound(9, 4)
    assert noise_bound.welch_bound(4, 4) == 0


def test_symmetrised_is_a_gram_matrix_of_the_same_rank():
    W = low_rank(12, 4, 3)
    G = noise_bound.symmetrised_code(W, 4)
    np.testing.assert_allclose(G, G.T, atol=1e-12)
    np.testing.assert_allclose(np.diag(G), 1, atol=1e-12)
    values = np.linalg.eigvalsh(G)
    assert np.all(values[:8] < 1e-12) and np.all(values[8:] > 1e-3)
    np.testing.assert_allclose(noise_bound.symmetrised_code(3 * G, 4), G, atol=1e-12)
    np.testing.assert_allclose(noise_bound.symmetrised_code(W.T, 4), G, atol=1e-12)  # neither triangle is preferred


def test_float32_weights_have_the_rank_they_were_made_with():
    rng = np.random.default_rng(0)
    encoder = rng.standard_normal((5, 60)).astype(np.float32)
    assert noise_bound.noise_chain((encoder.T + np.float32(0.3)) @ encoder, 5).trace == pytest.approx(12, rel=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: noise_bound.with_unit_diagonal([[1, 2], [3, 0]]), "W has a zero on its diagonal"),
        (lambda: noise_bound.noise_chain(np.eye(4), 2), "W has rank 4; allowed: up to nd = 2"),
        (lambda: noise_bound.symmetrised_code(np.diag([1.0, 0]), 1), "W has a feature that is not represented"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"ns": 2**13}, "ns = 8192 is not allowed; allowed: whole numbers from 16384 to 16777216"),
        ({"p": 0.001}, "p = 0.001 is not allowed; allowed: numbers from 0.01 to 1"),
        ({"r": 0.95}, "r = 0.95 is not allowed; allowed: numbers from 0.05 to 0.9"),
        ({"samples": 31}, "samples = 31 is not allowed; allowed: whole numbers from 32"),
    ],
)
@pytest.mark.parametrize("page", [parameters.LowerBound, parameters.SameNoise])
def test_parameters_of_the_chapter(values, sentence, page):
    defaults = page().model_dump()
    assert parameters.check(dict(defaults), page).at_defaults
    with pytest.raises(parameters.ParameterError, match=sentence):
        parameters.check(defaults | values, page)


def test_rows_of_other_sizes_reach_the_bound_too():
    rug = rugs.Rug(32, 8, seed=0).dense()
    scaled = np.random.default_rng(0).uniform(0.1, 10, (32, 1)) * rug
    assert noise_bound.row_noise(scaled).mean() == pytest.approx(noise_bound.smallest_noise(32, 8), rel=1e-12)
    assert np.abs(scaled - scaled.T).max() > 1  # not a multiple of a projector
