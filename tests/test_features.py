"""Feature data: moments against their definition, sampling against its law."""

import numpy as np
import pytest
from scipy import integrate, stats
from superposition import features


@pytest.mark.parametrize("p", [1e-12, 0.05, 2 / 3, 1.0])
def test_moments_are_those_of_the_definition(p):
    first, second = (p * integrate.quad(lambda u, k=k: u**k, 0, 1)[0] for k in (1, 2))
    assert features.mean(p) == pytest.approx(first, rel=1e-14)
    assert features.second_moment(p) == pytest.approx(second, rel=1e-14)
    assert features.variance(p) == pytest.approx(second - first**2, rel=1e-12)


def test_moments_broadcast_in_float64():
    found = features.variance(np.full((2, 3), 0.5, dtype=np.float32))
    assert found.shape == (2, 3) and found.dtype == np.float64


@pytest.mark.parametrize("p", [0.003, 0.2, 0.9])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sample_follows_the_law(p, seed):
    x = features.sample(50, p, 4000, seed=seed)
    on = x > 0
    # a false alarm is one in a thousand for each of these, at fixed seeds
    assert stats.binomtest(int(on.sum()), x.size, p).pvalue > 1e-3
    assert stats.kstest(x[on], "uniform").pvalue > 1e-3
    counts = on.sum(axis=0)
    dispersion = np.sum((counts - 4000 * p) ** 2) / (4000 * p * (1 - p))
    assert 1e-3 < stats.chi2.sf(dispersion, 50) < 1 - 1e-3
    pairs = (on[:, :-1] & on[:, 1:]).sum()  # neighbours are independent: the gaps are geometric
    spread = np.sqrt(4000 * 49 * p**2 * (1 - p) * (1 + 3 * p))  # neighbouring pairs share an entry
    assert abs(pairs - 4000 * 49 * p**2) < 4 * spread + 4


def test_layouts_hold_the_same_numbers():
    dense = features.sample(70, 0.1, 30, seed=5)
    sparse = features.sample(70, 0.1, 30, seed=5, layout="csr")
    np.testing.assert_array_equal(sparse.toarray(), dense)
    assert sparse.has_canonical_format


def test_everything_is_on_at_p_1_and_a_generator_goes_on():
    assert (features.sample(7, 1, 3, seed=0) > 0).all()
    rng = np.random.default_rng(0)
    assert not np.array_equal(features.sample(9, 0.5, 9, seed=rng), features.sample(9, 0.5, 9, seed=rng))


def test_csr_costs_what_is_on():
    x = features.sample(10**9, 1e-9, 1000, seed=0, layout="csr")  # dense: 8 terabytes
    assert x.shape == (1000, 10**9) and 850 < x.nnz < 1150  # 1000 expected, 5 standard deviations


@pytest.mark.parametrize("p", [0, 1.5, "x", np.nan, True])
def test_a_probability_is_refused_by_its_name(p):
    for refuses in (features.probability, features.one_probability):
        with pytest.raises(ValueError, match=r"^p = .*; allowed: \(0, 1\]$"):
            refuses(p)


@pytest.mark.parametrize(("G", "p"), [(2, 0.5), (3, 1 / 3), (7, 0.125)])
def test_features_that_exclude_each_other_are_on_in_one_of_their_number_at_most(G, p):
    assert np.all((features.grouped(50, G, p, 0.0, 10, seed=0).reshape(-1, G) > 0).sum(axis=1) <= 1)
    with pytest.raises(ValueError, match=f"allowed: up to 1 / {G}"):
        features.grouped(50, G, 1.2 / G, 0.0, 10, seed=0)


def test_an_estimate_is_a_mean_with_its_standard_error():
    draws = np.random.default_rng(0).normal(3, 2, (4, 10_000))
    each, one = features.Estimate.of(draws, axis=1), features.Estimate.of(draws[0])
    np.testing.assert_allclose(each.se, stats.sem(draws, axis=1), rtol=1e-12)  # of ddof 1; 0 is off by 5e-5
    assert np.all(np.abs(each.mean - 3) < 4 * each.se) and each.se == pytest.approx(0.02, rel=0.05)
    assert (one.mean, one.se) == (each.mean[0], each.se[0]) and type(one.mean) is type(one.se) is float


def test_one_vector_of_one_feature():
    assert features.sample(1, 1.0, 1, seed=0).shape == (1, 1)


def test_a_probability_of_nothing_has_no_moments():
    for moment in (features.mean, features.second_moment, features.variance):
        assert moment(1e-300) > 0
        for p in (0, -0.1, 1.1):
            with pytest.raises(ValueError, match=rf"^p = {p} is out of range; allowed: \(0, 1\]$"):
                moment(p)


def test_independent_features_of_groups_are_drawn_in_one_go():
    rng = np.random.default_rng(3)
    rows = features.nonzeros(5, 1.0, 4, seed=rng)[0]  # the switch of every group is on
    expected = (rng.random((20, 3)) < 0.25) * rng.random((20, 3))
    assert rows.tolist() == list(range(20))
    np.testing.assert_array_equal(features.grouped(5, 3, 0.25, 0.25, 4, seed=3), expected.reshape(4, 15))


def test_a_batch_may_be_empty():
    dense, sparse = (features.sample(3, 0.5, 0, seed=0, layout=layout) for layout in ("dense", "csr"))
    assert dense.shape == sparse.shape == features.sample_each([0.5, 1.0, 0.1], 0, seed=0).shape == (0, 3)
    assert [len(one) for one in features.nonzeros(3, 0.5, 0, seed=0)] == [0, 0]
    for draw in (
        lambda batch: features.nonzeros(3, 0.5, batch, seed=0),
        lambda batch: features.sample(3, 0.5, batch, seed=0),
        lambda batch: features.nonzeros_each([0.5], batch, seed=0),
        lambda batch: features.sample_each([0.5], batch, seed=0),
        lambda batch: features.grouped(1, 3, 0.2, 0.1, batch, seed=0),
    ):
        with pytest.raises(ValueError, match="^batch = -1 is out of range; allowed: whole numbers from 0"):
            draw(-1)


@pytest.mark.parametrize("axis", [-8, 7])
def test_an_axis_is_one_of_eight_at_most(axis):
    draws = np.zeros([2 if k == axis % 8 else 1 for k in range(8)])
    assert features.Estimate.of(draws, axis).mean.shape == (1,) * 7
    for beyond in (-9, 9):
        with pytest.raises(ValueError, match=f"^axis = {beyond} is out of range; allowed: whole numbers from -8 to 8$"):
            features.Estimate.of(draws, beyond)


def test_a_feature_that_is_always_on_has_forty_points_on_its_piece():
    rng = np.random.default_rng(5)
    points = rng.poisson(40 * 3)
    rng.integers(3, size=points), rng.random(points)
    flat, values = features.nonzeros_each([1.0], 3, seed=5)
    assert flat.tolist() == [0, 1, 2] and values.tolist() == rng.random(3).tolist()


def test_each_member_of_an_exclusive_group_has_its_turn_and_a_group_may_be_one_feature():
    on = features.grouped(200, 4, 0.25, 0.0, 10, seed=0).reshape(-1, 4) > 0
    assert on.sum() == 2000 and np.all(abs(on.mean(axis=0) - 0.25) < 0.05)  # 5 standard deviations
    assert features.grouped(1, 1, 0.5, 0.2, 3, seed=0).shape == (3, 1)
