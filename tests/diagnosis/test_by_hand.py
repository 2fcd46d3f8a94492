"""Inner functions of a diagnosis against numbers that were worked out by hand."""

from dataclasses import replace
from types import SimpleNamespace as Found

import numpy as np
import pytest
from superposition import diagnosis
from superposition.diagnosis import autoencoder, behaviour, company, dimensions, measures, names, toy_or_sae, yardsticks
from superposition.diagnosis.feature_laws import Population, uniform_law
from superposition.diagnosis.weights import Weights

E, D, B = np.array([[1.0, 2.0, 0.5]]), np.array([[1.0], [0.5], [2.0]]), np.array([0.1, 0.2, 0.3])
ALL = np.ones(3, dtype=bool)


def test_loudness_of_many_features_follows_from_rows_and_columns():
    rows = Found(off_variance=np.array([3.0, 9.0, 1.0]), off_mean=np.array([1.0, 0, 0]), diagonal=np.array([1.0, 2, 1]))
    found = Found(rows=rows, columns=np.array([8.0, 72.0, 1.0]))  # rows hold 4 * 2, 9 * 2 / 4 and 1 * 2
    heard = np.array([True, True, False])
    loud = autoencoder._loudness(found, heard, None)
    assert np.isnan(loud[2]) and loud[1] / loud[0] == pytest.approx(16**0.25) and loud[0] * loud[1] == pytest.approx(1)
    found.columns[0] = 0.0  # nothing reads it: as loud as its row says nothing of
    assert autoencoder._loudness(found, heard, None)[1] == pytest.approx(16**0.125)
    rows.off_variance[0], rows.off_mean[0], found.columns[0] = 0, 0, 8
    assert autoencoder._loudness(found, heard, None)[1] == pytest.approx(16**0.125)


def test_overlap_is_that_of_pairs_that_are_on_together_beyond_chance():
    X = np.zeros((400, 4))
    X[:40, 0] = X[:40, 1] = 1  # always together: an excess of .09, and a standard error of .005
    X[27:67, 2] = 1  # 13 times with both: .0225
    X[29:69, 3] = X[100:101, 3] = 0.5  # 11 times: less than four errors
    W = np.array([[2.0, 1, 4, 9], [-1, 1, 2, 9], [1, 3, 4, 9], [9, 9, 9, 9]])
    chosen = np.array([True, True, True, False])
    by = [(0.09, 0.5 - 1), (0.0225, 2 + 0.25), (0.0225, 2 + 0.75)]
    expected = sum(excess * both for excess, both in by) / (2 * sum(excess for excess, _ in by))
    assert company._overlap(Weights(np.zeros(4), W=W), X, chosen) == pytest.approx(expected, rel=1e-5)
    assert company._overlap(Weights(np.zeros(4), W=W), X[:, [0, 3, 0, 3]][200:], np.arange(4) < 2) is None
    apart = X[:, [3, 0]]
    assert company._overlap(Weights(np.zeros(2), W=np.eye(2)), apart, np.ones(2, dtype=bool)) is None


def test_variance_of_interference_on_given_vectors(monkeypatch):
    monkeypatch.setattr(company, "BLOCK", 6)
    X = np.random.default_rng(0).random((7, 3))
    W = D @ E
    rows = Found(rows=Found(b_eff=B + 0.5, diagonal=np.diag(W)))
    off = X @ (W - np.diag(np.diag(W))).T
    np.testing.assert_allclose(company._variance(Weights(B, W_in=E, W_out=D), X, rows), off.var(axis=0), atol=1e-12)


def test_batches_are_joined_if_they_have_one_width_and_fit_into_memory(monkeypatch):
    monkeypatch.setattr(company, "MOST_NUMBERS", 10)
    assert company._joined("x", [np.ones((2, 2)), np.zeros((3, 2))]).sum() == 4
    for batches in ([np.ones((2, 2)), np.ones((2, 3))], [np.ones((3, 2)), np.ones((3, 2))], [np.ones((11, 1))]):
        with pytest.raises(ValueError, match="x has batches of shape .* allowed: one width, up to 10 numbers in all"):
            company._joined("x", batches)


def test_another_unit_changes_biases_and_thresholds():
    gated = Weights(B, W=np.eye(3), threshold=2 * B, otherwise=("other", Weights(B + 1, W=np.eye(3))))
    found = dimensions.scaled(gated, 3.0)
    np.testing.assert_allclose(found.b, 3 * B)
    np.testing.assert_allclose(found.threshold, 6 * B)
    np.testing.assert_allclose(found.otherwise[1].b, 3 * B + 3)
    assert found.otherwise[0] == "other" and found.otherwise[1].threshold is None


@pytest.mark.parametrize("given", [{"W_in": np.eye(3), "W_out": np.eye(3)}, {"W": np.eye(3)}])
def test_dimensions_are_from_one_to_the_number_of_features(given):
    weights = Weights(B, **given)
    assert [dimensions.of(weights, nd) for nd in (1, 2, 3, None)] == [(1, 1), (2, 2), (3, 3), (3, 3)]
    for nd in (0, 4):
        with pytest.raises(ValueError, match=f"nd = {nd}"):
            dimensions.of(weights, nd)


def test_factors_wider_than_the_features_have_as_many_dimensions():
    wide = np.random.default_rng(0).standard_normal((5, 3))
    assert dimensions.of(Weights(B, W_in=wide, W_out=wide.T), None) == (3, 3)


def test_capacity_is_a_share_of_each_row():
    assert dimensions.capacity(Weights(B, W_in=E, W_out=D)) == pytest.approx(1)
    W = np.array([[1.0, 1, 0], [0, 2, 0], [0, 0, 0]])
    assert dimensions.capacity(Weights(B, W=W)) == 1.5
    nothing = np.array([[1.0, 0, 0], [0, 1, 0]])
    assert dimensions.capacity(Weights(B, W_in=nothing, W_out=nothing.T)) == 2


def test_an_output_of_given_vectors_exactly_at_its_threshold_is_off():
    x = np.full((2, 3), 0.5)
    weights = Weights(np.zeros(3), W=np.eye(3), threshold=np.full(3, 0.5))
    rows = measures.measured(weights, x.mean(axis=0), x.var(axis=0), lambda more: None)
    told = []
    seen = measures.simulated(weights, Population.of_vectors(x), rows, 2, 0, told.append)
    assert seen.loss.mean == 0.25 and not seen.mean.any() and told == [2]


def test_an_antipodal_rug_has_an_opposite_of_every_feature():
    W = np.eye(18) + 0.05 * np.roll(np.eye(18), 1, axis=1)
    pairs = W.copy()
    for i in range(0, 18, 2):
        pairs[i, i + 1] = pairs[i + 1, i] = -0.951
    assert names._whole(pairs, np.ones(18), 0.0, 0.5) == "an antipodal rug"
    for off, name in ((2, "a Persian rug"), (18, "a Persian rug")):
        fewer = pairs.copy()
        fewer[:off] = W[:off]
        assert names._whole(fewer, np.ones(18), 0.0, 0.5) == name
    pairs[pairs == -0.951] = -0.95
    assert names._whole(pairs, np.ones(18), 0.049, 0.5) == "a Persian rug"
    assert names._whole(pairs, np.ones(18), 0.05, 0.9) == "near a rug"


BASE = diagnosis.diagnose(np.eye(3) - 0.1, np.zeros(3), law=uniform_law(0.1), samples=100)


@pytest.mark.parametrize(
    ("loud", "said"),
    [
        ([1.0, 1.0, 1.0099], "all equal"), ([0.9, 1.0, 1.0], "1, 0.9 to 1"), ([1.0, 1.01, 1.0], "1, 1 to 1.01"),
        ([2.0, 2.0, 2.01], "all equal"),
    ],
)  # fmt: skip
def test_loudness_is_equal_within_a_hundredth(loud, said):
    lines = str(replace(BASE, loudness=np.array(loud))).splitlines()
    assert [line[10:] for line in lines if line.startswith("loudness")] == [said]


def answers(**more):
    nothing = dict.fromkeys(("instance", "reading", "b_dec", "activation", "k"))
    return toy_or_sae.Answers(**nothing | {"ignore": (), "lacking": False} | more)


def test_a_hidden_bias_is_taken_into_the_bias_of_the_output():
    told = []
    found = toy_or_sae._pair({"W_in": E, "W_out": D, "b": B, "hidden": np.array([2.0])}, "arrays", told)
    np.testing.assert_allclose(found.b, B + D[:, 0] * 2)
    assert told == ["the hidden bias is taken into the output's"]


@pytest.mark.parametrize(("parts", "count"), [({"W": np.ones((2, 3, 3)), "b": B}, 2), ({"W": np.eye(3), "b": B}, None)])
def test_one_of_several_instances_is_taken(parts, count):
    told = []
    found = toy_or_sae._one_instance(parts, None, told)
    assert found["W"].shape == (3, 3) and found["b"] is B
    assert told == ([] if count is None else ["instance 0 of 2 (another: --instance 1, …)"])
    with pytest.raises(ValueError, match="weights have 2 and 3 instances; allowed: one number"):
        toy_or_sae._one_instance({"W": np.ones((2, 3, 3)), "b": np.ones((3, 3))}, None, told)
    with pytest.raises(ValueError, match="instances; allowed: one number"):
        toy_or_sae._one_instance({"W": np.ones((2, 3, 3)), "b": np.ones((2, 2, 3))}, None, told)


def test_rescaled_latents_are_multiplied_by_the_lengths_of_their_directions():
    told, found = [], toy_or_sae.forward_passes.Pass(True, "relu")._replace(rescaled=True)
    wide = np.array([[3.0, 0, 0], [4.0, 2.0, 0]])
    weights = toy_or_sae._gated(wide.T.copy(), wide, B, np.zeros(2), found, told)
    np.testing.assert_allclose(weights.b, B * [5, 2, 0])
    np.testing.assert_allclose(weights.W_in, [[0.6, 0, 0], [0.8, 1, 0]])
    np.testing.assert_allclose(weights.W_out, (wide * [5, 2, 0]).T)
    assert told == ["latents are multiplied by the lengths of their directions"] and weights.is_sae


def model(first, second, arrays=(), k=None):
    return Found(steps=(first, second), arrays=arrays, ns=3, k=k, eps=2.0**-52, forward=lambda x: second(first(x)))


def test_thresholds_of_an_object_are_tried_as_they_are_and_as_logarithms():
    steps = (lambda x: x @ E.T, lambda h: np.maximum(h @ D.T, 0))
    arrays = (np.array(0.3), np.array([0.1, 0.2, 0.3]), np.ones(2), D)
    x = np.random.default_rng(0).random((4, 3))
    found = next(iter(behaviour._of_steps(model(*steps, arrays, k=2), x, 1.0)))
    tried = [one.threshold[:3].tolist() for one in found if one.threshold is not None]
    expected = [[0.3] * 3, [np.exp(0.3)] * 3, [0.1, 0.2, 0.3], np.exp([0.1, 0.2, 0.3]).tolist()]
    np.testing.assert_allclose(tried, expected)
    assert [one.k for one in found[:2]] == [None, 2]
    bent = (lambda x: np.tanh(x @ E.T), steps[1])
    assert not list(behaviour._of_steps(model(*bent), x, 1.0))


def test_matrices_of_an_object_are_tried_both_ways():
    arrays = (E, D, B, np.array([0.5]))
    [*ways] = behaviour._of_arrays(Found(ns=3, arrays=arrays))
    seen = [(one.W_in.tolist(), one.W_out.tolist(), one.b.tolist()) for way in ways for one in way]
    assert (E.tolist(), D.tolist(), B.tolist()) in seen
    assert (E.tolist(), D.tolist(), (B + 0.5 * D[:, 0]).tolist()) in seen
    assert len(ways) == 4 and len(seen) == 8


def test_weights_are_checked_on_vectors_in_their_own_unit(monkeypatch):
    tried = []
    monkeypatch.setattr(behaviour, "_misses", lambda model, found, x: tried.append(x) or 0.0)
    x = np.random.default_rng(0).random((4, 3))
    one = model(lambda x: x @ E.T, lambda h: np.maximum(h @ D.T, 0))
    one.told, one.is_sae = (), False
    found, stands = behaviour.weights(one, x, 5.0)
    assert stands and all(np.array_equal(seen, 5 * x) for seen in tried) and tried
    assert found.told == ("ReLU(W_out W_in x + b) reproduces it to 0",)


def test_a_linear_map_keeps_the_largest_variances():
    population = Population.of(np.array([0.5, 0.1, 0.2]), None, None, 3)
    least = np.sort(population.variance * [1, 2, 3])[:1].sum() / 3
    assert yardsticks.linear(population, np.array([1.0, 2, 3]), 2) == pytest.approx(least)


def test_loudness_of_a_code_has_a_step_for_each_feature_of_a_fan_and_each_pair_of_a_swept_one(monkeypatch):
    monkeypatch.setattr(yardsticks, "_step", lambda p: 10.0)
    parts = {
        "fan": Found(size=4, phase="fan"),
        "swept": Found(size=5, phase="swept"),
        "rug": Found(size=9, phase="rug"),
    }
    sizes = [yardsticks._loudness(Found(p=0.1, parts=[parts[name] for name in some])) for some in
             (["fan"], ["swept"], ["swept", "fan", "rug"], ["rug"])]  # fmt: skip
    assert sizes == [1e3, 1e2, 1e3, 1.0]


def test_samples_are_as_many_as_four_billion_products():
    def samples(ns, **more):
        weights = Found(ns=ns, W_in=None, **more) if "W_in" not in more else Found(ns=ns, **more)
        return autoencoder._samples(weights, Found(vectors=None))

    assert (samples(10), samples(1000), samples(10**5)) == (400_000, 3333, 2000)
    assert samples(1000, W_in=np.zeros((200, 1))) == 6666
    assert autoencoder._samples(Found(ns=3, W_in=None), Found(vectors=np.zeros((7, 3)))) == 7


def test_a_product_is_cut_to_what_its_precision_resolves():
    W = np.diag([0.2, 1.0, 0.1, 0.3])
    np.testing.assert_allclose(behaviour._of_its_rank(W, 1e-3), np.diag([0, 1, 0, 0.3]), atol=1e-12)
    np.testing.assert_allclose(behaviour._of_its_rank(W, 1e-9), W, atol=1e-12)


def test_scale_and_shift_follow_from_two_strengths_or_from_vectors_that_put_an_output_on():
    A, F = np.array([[1.0, 0], [0, 1], [1, 0], [-1, 0]]), np.array([[1.0, 0, 0, 0], [0, 1, 1, 1]])
    scale, shift = np.array([2.0, 3.0, 0.5, 2.5]), np.array([-5.0, 0.2, -0.05, -0.5])
    h = np.random.default_rng(0).random((20, 2))
    found = behaviour._scaled_and_shifted(A, F, np.zeros(2), 1.0, lambda h: np.maximum(scale * (h @ A.T) + shift, 0), h)
    np.testing.assert_allclose(found[0], [2, 3, 0.5, 2.5])  # the last is never on: the median of the first two
    np.testing.assert_allclose(found[1], [-5, 0.2, -0.05, -1], atol=1e-12)
    far = behaviour._scaled_and_shifted(A[:2], F[:, :2], np.zeros(2), 1.0, lambda h: 0 * h, h)
    assert far[0].tolist() == [1, 1] and far[1].tolist() == [-33, -33]


@pytest.mark.parametrize(("by", "refused"), [(0.03, True), (0.005, False)])
def test_outputs_may_depend_on_their_batch_by_a_hundredth(by, refused):
    x = np.random.default_rng(0).random((8, 3))
    one = Found(forward=lambda x: np.ones(x.shape) * (1 + by * (len(x) > 4)), eps=1e-15)
    if refused:
        with pytest.raises(ValueError, match="depend on the other vectors of their batch"):
            behaviour._refuse_batches(one, x)
    else:
        behaviour._refuse_batches(one, x)


def test_responses_are_asked_for_in_blocks(monkeypatch):
    monkeypatch.setattr(behaviour, "BLOCK", 10)
    F, sizes = np.random.default_rng(0).standard_normal((2, 5)), []
    found = behaviour._columns(lambda x: sizes.append(len(x)) or x @ F.T + 1, 5, 2.0, np.ones(2))
    np.testing.assert_allclose(found, F)
    assert sizes == [2, 2, 1]
    h = np.random.default_rng(1).standard_normal((5, 2))
    np.testing.assert_allclose(behaviour._diagonal(lambda h: h @ F, h), np.diag(h @ F))


def test_rank_is_that_of_rows_of_equal_length():
    assert dimensions._rank(np.diag([1e8, 1.0])) == 2 and dimensions._rank(np.array([[1e8, 1e8], [1, 1]])) == 1


def test_sixteen_features_are_a_tile():
    W = np.eye(17) + 0.05 * np.roll(np.eye(17), 1, axis=1)
    assert names._whole(W, np.ones(17), 0.0, 0.5) == "a Persian rug"
    W[0, 15] = 0.05
    assert names._whole(W[:16, :16], np.ones(16), 0.0, 0.5) == "a tile of 16 features in 16 dimensions"


def test_sizes_in_settings_are_those_of_the_arrays_or_left_open():
    weights = Found(ns=3, nd=2)
    for settings in ({}, {"d_sae": 0}, {"d_sae": 3, "d_in": 2}, {"trainer": {"dict_size": 3}}, {"d_sae": "3"}):
        toy_or_sae._same_sizes(weights, settings)
    for settings in ({"d_sae": 1}, {"d_in": 3}, {"trainer": {"dict_size": 4}}):
        with pytest.raises(ValueError, match="as the arrays have it"):
            toy_or_sae._same_sizes(weights, settings)


def test_factors_without_a_bias_have_none():
    assert toy_or_sae._pair({"W_in": E, "W_out": D}, "arrays", []).b.tolist() == [0, 0, 0]


@pytest.mark.parametrize(("on", "fitted"), [(4, False), (5, True)])
def test_rows_are_fitted_to_more_vectors_than_they_have_unknowns(on, fitted):
    rows = behaviour._fit(lambda h: (np.arange(len(h)) < on)[:, None] * np.ones(1), np.ones((4, 3)), 3)
    assert bool(np.any(rows)) is fitted
