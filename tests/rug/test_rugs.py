"""Rugs: the algebra to rounding, the loss against an exact enumeration and against Monte Carlo."""

import itertools

import numpy as np
import pytest
from sampled import sampled
from scipy.integrate import quad
from scipy.linalg import hadamard
from superposition import codes, features
from superposition.rug import meanfield, rugs, tight_frames

SIZES = [
    (8, 3),
    (8, 8),
    (256, 40),
    (6, 5),
    (6, 6),
    (7, 3),
    (7, 4),
    (7, 7),
    (12, 11),
    (12, 12),
    (250, 41),
    (3, 1),
    (2, 1),
]


@pytest.mark.parametrize(("ns", "nd"), SIZES)
def test_a_rug_is_a_scaled_projector_with_unit_diagonal(ns, nd):
    rug = rugs.Rug(ns, nd, seed=1)
    R = rug.dense()
    np.testing.assert_allclose(R, R.T, atol=1e-12)
    np.testing.assert_allclose(np.diag(R), 1, atol=1e-12)
    np.testing.assert_allclose(R @ R, R * ns / nd, atol=1e-11)
    assert np.linalg.matrix_rank(R) == nd
    np.testing.assert_allclose(np.sort(R, axis=1), np.sort(R[:1], axis=1).repeat(ns, axis=0), atol=1e-12)
    np.testing.assert_allclose(rug.row(), R[0], atol=1e-12)


@pytest.mark.parametrize(("ns", "nd"), [(64, 20), (60, 20), (61, 20)])
def test_constant_vector_is_avoided_and_the_seed_decides(ns, nd):
    assert np.allclose(rugs.Rug(ns, nd, seed=0).apply(np.ones(ns)), 0)
    assert not np.array_equal(rugs.Rug(ns, nd, seed=0).kept, rugs.Rug(ns, nd, seed=1).kept)


ANTIPODAL = [(8, 3), (8, 4), (256, 40), (2, 1), (6, 3), (6, 2), (10, 5), (250, 41), (12, 6), (100, 50), (100, 2)]


@pytest.mark.parametrize(("ns", "nd"), ANTIPODAL)
@pytest.mark.parametrize("seed", [0, 1])
def test_an_antipodal_rug_is_a_rug_with_partners(ns, nd, seed):
    rug = rugs.Rug(ns, nd, seed=seed, antipodal=True)
    R = rug.dense()
    np.testing.assert_allclose(np.diag(R), 1, atol=1e-12)
    np.testing.assert_allclose(R @ R, R * ns / nd, atol=1e-11)
    np.testing.assert_allclose(np.roll(R, ns // 2, axis=1), -R, atol=1e-12)
    np.testing.assert_allclose(R.sum(axis=1), 0, atol=1e-11)
    assert rug.indices.size == nd and np.linalg.matrix_rank(R) == nd


@pytest.mark.parametrize(("ns", "nd", "antipodal"), [(64, 11, False), (64, 11, True), (60, 11, False), (30, 5, True)])
def test_a_rug_is_its_index_set(ns, nd, antipodal):
    rug = rugs.Rug(ns, nd, seed=3, antipodal=antipodal)
    again = rugs.Rug(ns, nd, indices=rug.indices[::-1], antipodal=antipodal)
    np.testing.assert_array_equal(again.kept, rug.kept)
    np.testing.assert_array_equal(again.indices, np.sort(rug.indices))


def test_the_index_sets_of_earlier_results_are_kept():
    # stored results were made with these; a change here changes them
    assert rugs.Rug(16, 5, seed=0).indices.tolist() == [4, 5, 7, 8, 10]
    assert rugs.Rug(18, 5, seed=0).indices.tolist() == [6, 8, 9, 10, 12]


@pytest.mark.parametrize("ns", [1, 2, 64, 128, 1024, 2**13])
def test_transform_undoes_itself_at_every_number_of_factors(ns):
    x = np.random.default_rng(0).standard_normal((2, ns))
    np.testing.assert_allclose(rugs.walsh_hadamard(rugs.walsh_hadamard(x)) / ns, x, atol=1e-12)
    np.testing.assert_array_equal(rugs.walsh_hadamard(np.eye(1, ns)[0]), 1)


@pytest.mark.parametrize(("ns", "nd"), [(64, 13), (60, 12)])
def test_single_precision_stays_single_and_near(ns, nd):
    rug, x = rugs.Rug(ns, nd), np.random.default_rng(0).standard_normal((3, ns))
    single = rug.apply(x, np.float32)
    assert single.dtype == np.float32 and rug.apply(x.astype(np.float32)).dtype == np.float64
    np.testing.assert_allclose(single, rug.apply(x), atol=1e-5)


def test_walsh_hadamard_is_the_matrix():
    x = np.random.default_rng(0).standard_normal((3, 2, 64))
    np.testing.assert_allclose(rugs.walsh_hadamard(x), x @ hadamard(64), atol=1e-12)


def enumerated_loss(weights, a, b, p, points=400):
    """Every pattern of on and off features, midpoint rule over their strengths; only for two weights."""
    u = (np.arange(points) + 0.5) / points
    grids = np.meshgrid(*[u] * (len(weights) + 1), indexing="ij")
    total = 0.0
    for pattern in itertools.product([0, 1], repeat=len(weights) + 1):
        chance = np.prod([p if c else 1 - p for c in pattern])
        x = [c * grid for c, grid in zip(pattern, grids, strict=True)]
        nu = sum(w * (xj - p / 2) for w, xj in zip(weights, x[1:], strict=True))
        total += chance * np.mean((x[0] - np.maximum(a * (x[0] + nu) + b, 0)) ** 2)
    return total


@pytest.mark.parametrize(
    ("weights", "p", "rtol"), [([0.5], 0.3, 1e-3), ([-0.4, 0.7], 0.2, 1e-3), ([-1.0, 0.01], 0.5, 1e-3)]
)
def test_row_loss_against_enumeration(weights, p, rtol):
    # rtol: what the midpoint rule of the enumeration costs
    points = 2000 if len(weights) == 1 else 120
    for a, b in [(1.0, -0.1), (1.2, 0.05)]:
        assert rugs.row_loss(weights, a, b, p) == pytest.approx(enumerated_loss(weights, a, b, p, points), rel=rtol)


@pytest.mark.parametrize(("weight", "p"), [(-1.0, 0.05), (-0.3, 0.02), (0.5, 0.2)])
def test_row_loss_of_a_single_weight_is_exact(weight, p):
    # smoothing without the extrapolation is off by 1e-5 to 2e-3 here
    for a, b in [(1.2, -0.05), (1.2, 0.0), (0.9, -0.15)]:
        shift = a * weight

        def given(x, a=a, b=b, shift=shift):
            return float(meanfield.loss(a, b + shift * (x - p / 2), 0, p))

        exact = p * quad(given, 0, 1, epsabs=1e-13, limit=400)[0] + (1 - p) * given(0.0)
        assert rugs.row_loss([weight], a, b, p) == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize("largest", sampled([100, 10, 3]))
@pytest.mark.parametrize("closed", sampled([-0.02, 0.0]))
def test_row_loss_of_large_weights(largest, closed):
    # 1e-5: what the face promises. Smoothed over 1 % of the noise it was 1.5 % off at 10, and a quarter of it at 100
    weights, p = np.array([-largest, -1.0]), 0.05
    overlap, power = codes.output_moments(weights, 1.0, closed, p, rtol=0)
    found = rugs.row_loss(weights, 1.0, closed + p / 2 * weights.sum(), p)
    assert found == pytest.approx(p / 3 - 2 * overlap + power, rel=1e-5)


@pytest.mark.parametrize(("ns", "nd", "p"), [(64, 16, 0.2), (100, 30, 0.05), (256, 51, 0.05)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_simulated_loss_agrees_with_the_law_of_the_row(ns, nd, p, seed):
    rug, best = rugs.Rug(ns, nd, seed=seed), meanfield.optimum(p, nd / ns)
    found = rugs.simulated_loss(rug, best.a, best.b, p, samples=8000, seed=seed + 10)
    exact = rugs.row_loss(rug.row()[1:], best.a, best.b, p)
    assert abs(found.mean - exact) < 4 * found.se + 1e-3 * exact
    assert found.se < 0.02 * exact  # sharp enough to mean something


def test_the_mean_of_the_interference_is_taken_out_whatever_the_rows_add_up_to():
    rug = rugs.Rug(8, 3, indices=[0, 3, 5])  # the constant row in it: the others of a row add up to 5/3, not -1
    x = features.sample(8, 0.3, 500, seed=3)
    bias = -0.1 - 1.2 * 0.15 * (rug.dense().sum(axis=1) - 1)
    direct = np.mean((x - np.maximum(1.2 * x @ rug.dense() + bias, 0)) ** 2)
    assert rugs.simulated_loss(rug, 1.2, -0.1, 0.3, samples=500, seed=3).mean == pytest.approx(direct, rel=1e-12)


def test_standard_error_is_the_spread_over_seeds():
    rug, best = rugs.Rug(64, 16, seed=0), meanfield.optimum(0.1, 0.25)
    runs = [rugs.simulated_loss(rug, best.a, best.b, 0.1, samples=300, seed=s) for s in range(60)]
    spread = np.std([run.mean for run in runs], ddof=1)
    # a standard deviation of 60 values is known to 1 / sqrt(118) = 9 %; three times that
    assert np.mean([run.se for run in runs]) == pytest.approx(spread, rel=0.28)


@pytest.mark.parametrize(("ns", "nd", "antipodal"), [(64, 19, False), (48, 20, True), (7, 1, False), (6, 6, False)])
def test_directions_are_of_rank_nd_and_give_the_rug(ns, nd, antipodal):
    rug = rugs.Rug(ns, nd, seed=2, antipodal=antipodal)
    one, other = (tight_frames.rug_directions(rug, seed=seed) for seed in (0, 1))
    assert one.shape == (nd, ns)
    np.testing.assert_allclose(one.T @ one, rug.dense(), atol=1e-12)
    assert nd == 1 or np.abs(one - other).max() > 0.1


def test_a_large_rug_has_the_loss_of_the_theory():
    rug, best = rugs.Rug(65536, 13107, seed=0), meanfield.optimum(0.05, 13107 / 65536)
    exact = rugs.row_loss(rug.row()[1:], best.a, best.b, 0.05)
    assert exact == pytest.approx(best.loss, rel=1e-3)  # the kurtosis is worth 16.45 / ns = 2.5e-4
    wrong = meanfield.loss(best.a, best.b, best.sigma * np.sqrt(1.1), 0.05)
    assert abs(exact - wrong) > 0.05 * best.loss  # 10 % more noise would be seen


def test_chunks_and_progress():
    seen = []
    rug = rugs.Rug(4096, 100, seed=0)
    rugs.simulated_loss(
        rug, 1.0, 0.0, 0.05, samples=1100, seed=0, progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(512, 1100), (1024, 1100), (1100, 1100)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rugs.Rug(1, 1), "ns = 1 is out of range; allowed: whole numbers from 2"),
        (lambda: rugs.Rug(8, 9), "nd = 9 is out of range; allowed: whole numbers from 1 to 8"),
        (lambda: rugs.Rug(9, 3, antipodal=True), "ns = 9 has no antipodal rug; allowed: even numbers"),
        (lambda: rugs.Rug(8, 5, antipodal=True), "nd = 5 is out of range; allowed: whole numbers from 1 to 4"),
        (lambda: rugs.Rug(12, 3, antipodal=True), "nd = 3 is odd and ns = 12 divisible by 4: .* allowed: even nd"),
        (lambda: rugs.Rug(8, 2, indices=[1, 2, 3]), r"indices of shape \(3,\) are no index set; allowed: nd = 2"),
        (lambda: rugs.Rug(8, 2, indices=[1.0, 2.0]), "are no index set; allowed: nd = 2 whole numbers"),
        (lambda: rugs.Rug(8, 2, indices=[1, 8]), "are no index set; allowed: each once, from 0 to 7"),
        (lambda: rugs.Rug(8, 2, indices=[-1, 1]), "are no index set; allowed: each once, from 0 to 7"),
        (lambda: rugs.Rug(8, 2, indices=[3, 3]), "are no index set; allowed: each once, from 0 to 7"),
        (lambda: rugs.Rug(9, 2, indices=[3, 4]), "hold a frequency k without ns - k; allowed: pairs, as ns = 9"),
        (lambda: rugs.Rug(8, 2, indices=[3, 5], antipodal=True), "make no antipodal rug; allowed: from 4"),
        (lambda: rugs.Rug(6, 3, indices=[0, 1, 5], antipodal=True), "make no antipodal rug; allowed: odd freq"),
        (lambda: rugs.row_loss([1.0], 1, 0, 1e-9), "p = 1e-09 is too small, or weights up to 1 are too large"),
        (lambda: rugs.row_loss([-1e4, -1], 1, -250, 0.05), "or weights up to 10000 are too large or uneven"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("off_diagonal", [[0.0], [0.0, 0.0, 0.0]])
def test_a_row_without_interference_has_the_loss_of_a_feature_alone(off_diagonal):
    loss, _ = quad(lambda x: (x - max(1.2 * x - 0.3, 0)) ** 2, 0, 1, points=[0.25], epsabs=1e-14)
    assert rugs.row_loss(off_diagonal, a=1.2, b=-0.3, p=0.05) == pytest.approx(0.05 * loss, rel=1e-9)
