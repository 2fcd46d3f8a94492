"""Cases of models that seldom come: small or large units, what overflows, and what is left of a limit."""

from types import SimpleNamespace as Found

import numpy as np
import pytest
from superposition import codes
from superposition.diagnosis import (
    autoencoder,
    dimensions,
    feature_laws,
    gains,
    measures,
    names,
    yardsticks,
)
from superposition.diagnosis.feature_laws import FeatureLaw, Population
from superposition.diagnosis.weights import Weights

B = np.array([0.1, 0.2, 0.3])
X = np.random.default_rng(0).random((20, 3))


@pytest.mark.parametrize("gain", [1.0, 100.0])
def test_loudness_does_not_depend_on_the_unit_of_the_outputs(gain):
    rows = Found(off_variance=np.array([8.0, 4.5, 1.0]), off_mean=np.zeros(3), diagonal=gain * np.ones(3))
    found = Found(rows=rows, columns=np.array([8.0, 72.0, 1.0]) / gain**2)
    loud = autoencoder._loudness(found, np.array([True, True, False]), None)
    assert loud[1] / loud[0] == pytest.approx(16**0.25)


def test_the_step_of_a_fan_is_the_largest_where_none_is_enough():
    assert yardsticks._step(1e-6) == max(yardsticks.STEPS)
    fan = codes.priority_fan(yardsticks.SIX, max(yardsticks.STEPS))
    assert codes.code_loss(fan.W, fan.b, 1e-6) > yardsticks.NEAR * codes.fan_loss(1e-6, yardsticks.SIX)


def test_a_product_of_many_features_has_a_rank_of_one_at_least(monkeypatch):
    monkeypatch.setattr(names, "NAMED", 2)
    for W in (np.ones((3, 3)), np.zeros((3, 3))):
        assert dimensions.of(Weights(B, W=W), None) == (1, 1)


def test_the_spread_of_a_product_is_that_of_its_symmetric_part():
    W = np.array([[1.0, 0.5, -0.2], [0.1, 2.0, 0.3], [0.7, 0, 0.5]])
    relative = W / np.diag(W)[:, None]
    values = np.linalg.eigvalsh((relative + relative.T) / 2)
    assert values.min() > 0
    found = dimensions.spread(Weights(B, W=W), np.ones(3, dtype=bool), None, np.ones(3))
    assert found == pytest.approx(values.std() / values.mean())


def test_probabilities_are_between_zero_and_one():
    assert Population.of([0.0, 0.5], None, None, 2).each.tolist() == [1e-9, 0.5]
    found = Population.of(None, None, 0.5, 2)
    assert (found.p, found.chance, found.largest) == (0.25, 0.25, 1)
    for given, said in (
        (([0.1, 1.0], None, None, 2), r"p = 1 is out of range; allowed: \[0, 1\)"),
        ((0.0, None, None, 2), r"p = 0 is out of range; allowed: \(0, 1\)"),
        ((None, None, 2, 2), r"l0 = 2 is out of range; allowed: \(0, 2\)"),
        ((None, None, 0, 2), r"l0 = 0 is out of range; allowed: \(0, 2\)"),
    ):
        with pytest.raises(ValueError, match=said):
            Population.of(*given)


@pytest.mark.parametrize("variance", [np.inf, 0.0])
def test_a_law_has_a_finite_variance_above_zero(variance):
    with pytest.raises(ValueError, match=f"variance = {variance:g} is out of range"):
        FeatureLaw(0.0, variance, lambda rng, shape: rng.standard_normal(shape))


def test_a_law_of_rare_features_is_drawn_a_few_times_more(monkeypatch):
    asked = []

    def sampler(rng, shape):
        asked.append((shape, rng.random()))
        return np.eye(shape[0], 1)

    for name, value in (("DRAWN", 10), ("ENOUGH", 1000), ("MOST_DRAWS", 3)):
        monkeypatch.setattr(feature_laws, name, value)
    nodes = feature_laws._law(0.1, 0.09, sampler).nodes()
    assert asked == [((10, 1), np.random.default_rng(seed).random()) for seed in range(3)]
    np.testing.assert_allclose(nodes.x, [0, 1, 1, 1])
    np.testing.assert_allclose(nodes.weight, [0.9, *[0.1 / 3] * 3])


def test_the_best_gain_and_bias_where_nothing_is_shared_or_nothing_can_be_gained():
    found = feature_laws.rug_optimum(feature_laws.uniform_law(0.1), 1)
    assert [float(one) for one in (found.a, found.b, found.sigma, found.loss)] == [1, 0, 0, 0]
    below = feature_laws._law(-0.5, 1 / 12, lambda rng, shape: -rng.random(shape))
    found, nodes = feature_laws.rug_optimum(below, 0.5), below.nodes()
    assert float(found.a) == 0 and float(found.loss) == pytest.approx(nodes.weight @ nodes.x**2)


def test_a_repair_that_gains_a_twentieth_is_named(monkeypatch):
    ends = {"_answered": 0.05, "_represented": np.nextafter(0.05, 0), "_refitted": None, "_turned": 0.3}
    for name, gain in (ends | {"_trained_on": 0.1}).items():
        monkeypatch.setattr(gains, name, lambda found, gain=gain: None if gain is None else gains.Mend(gain, ""))
    assert [one.gain for one in gains.of(None)] == [0.3, 0.1, 0.05]


def test_more_dimensions_than_features_that_are_heard_lose_nothing():
    kinds = np.array(["heard", "heard", "dropped", "dropped"])
    found = Found(ns=4, nd=3, p=0.05, kind=kinds, heard=kinds == "heard", by_feature=np.ones(4), importance=None)
    assert gains._represented(found) is None


def test_no_repair_gains_more_than_the_loss():
    variance = float(feature_laws.uniform_law(0.05).variance)
    found = Found(p=0.05, sigma=variance**0.5, sigma_bound=1e-9, stands=True, nd=2, heard=np.ones(2, dtype=bool),
                  importance=None, population=Found(variance=np.full(2, variance)))  # fmt: skip
    found.loss = 0.9 * float(gains.meanfield.optimum(0.05, 0.5).loss)
    assert gains.ratio_of(found) == pytest.approx(0.5) and gains._turned(found).gain == 1


def test_gains_too_large_for_their_squares_are_refused_in_words():
    huge = Weights(np.zeros(2), W_in=np.diag([1e200, 1.0]), W_out=np.eye(2))
    with pytest.raises(ValueError, match=r"W_out W_in = 1e\+200 is out of range"):
        measures.measured(huge, np.zeros(2), np.ones(2), lambda more: None)


def test_of_weights_that_are_too_large_the_first_is_said():
    with pytest.raises(ValueError, match=r"W_out W_in = -2e\+30 is out of range"):
        measures.measured(Weights(np.zeros(2), W=np.array([[1e30, -2e30], [3e30, 1]])), B[:2], B[:2], lambda more: None)


def test_weights_of_single_precision_are_summed_in_double(monkeypatch):
    monkeypatch.setattr(measures, "ALL", 6)
    W = np.random.default_rng(0).standard_normal((40, 40)).astype(np.float32)
    found = measures.measured(Weights(np.zeros(40), W=W.astype(float), single=True), W[0], W[1] ** 2, lambda more: None)
    np.fill_diagonal(W, 0)
    mean, square = W.sum(axis=1, dtype=float) / 39, (W**2).sum(axis=1, dtype=float) / 39
    np.testing.assert_allclose(found.rows.off_mean, mean, rtol=1e-12)
    np.testing.assert_allclose(found.rows.off_variance, square - mean**2, rtol=1e-12)


def test_progress_over_blocks_is_told_in_rows_and_in_vectors(monkeypatch):
    monkeypatch.setattr(measures, "BLOCK", 6)
    told, weights, population = [], Weights(B, W=np.eye(3)), Population.of(0.5, None, None, 3)
    rows = measures.measured(weights, population.mean, population.variance, told.append)
    measures.simulated(weights, population, rows, 5, 0, told.append)
    assert told == [2, 1, 2, 2, 1]


def test_paths_of_many_features_are_those_of_some_each_once(monkeypatch):
    ring = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)
    ring[0, 2] = ring[2, 0] = 1
    asked = []
    chosen = Found(choice=lambda *at, **how: asked.append((at, how)) or np.arange(3))
    monkeypatch.setattr(measures.np.random, "default_rng", lambda seed: asked.append(seed) or chosen)
    monkeypatch.setattr(measures, "LOOKED_AT", 3)
    mutual, clustering = measures.clustering(measures.sparse.csr_array(ring))
    near = ring[:3]
    paths = near @ ring
    assert asked == [0, ((6, 3), {"replace": False})] and mutual == 1
    assert clustering == pytest.approx((paths * near).sum() / (paths.sum() - near.sum()))


def test_a_ratio_is_none_where_it_would_be_of_nothing():
    ratio = measures._ratio(np.array([2e-9, -3, 1, 0]), np.array([1e-9, 2, 0, 0]))
    np.testing.assert_allclose(ratio, [2, -1.5, 0, 0])


def test_no_row_is_dead_before_it_is_simulated():
    found = measures.measured(Weights(B, W=np.eye(3)), np.zeros(3), np.ones(3), lambda more: None).rows
    assert found.dead.dtype == bool and not found.dead.any()


def test_biases_are_moved_on_as_many_outputs_as_are_enough(monkeypatch):
    weights, population = Weights(-B, W=np.eye(3) - 0.1), Population.of(0.5, None, None, 3)
    rows = measures.measured(weights, population.mean, population.variance, lambda more: None)
    shares = []
    for samples, enough in ((2, 6), (8, 6), (8, 7)):
        monkeypatch.setattr(measures, "BLOCK", 6)
        monkeypatch.setattr(measures, "REFITTED", enough)
        seen = measures.simulated(weights, population, rows, samples, 0, lambda more: None)
        shares.append(seen.refitted / seen.loss.mean)
    assert shares[0] == pytest.approx(shares[1], rel=1e-12)
    assert abs(shares[2] / shares[1] - 1) > 1e-3


def test_a_plane_code_hides_nineteen_of_twenty_pairs(monkeypatch):
    fan = codes.priority_fan(6, 20)
    relative, loud = fan.W / np.diag(fan.W)[:, None], 20.0 ** -np.arange(6.0)
    for hidden, name in ((0.95, "a fan of 6 features"), (0.949, "a loud and quiet code of 6 features in 2 dimensions")):
        monkeypatch.setattr(names, "_hidden", lambda relative, loud, hidden=hidden: hidden)
        assert names._in_the_plane(relative, loud) == name


@pytest.mark.parametrize(("n", "is_graph"), [(8, True), (10, False)])
def test_weights_of_a_graph_have_four_sizes_at_most(n, is_graph):
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    apart = np.minimum(apart, n - apart)
    W = np.where(apart == 0, 1, np.where(apart == 1, -0.5, 0.1 * apart))
    assert len(np.unique(W[0])) - 1 == n // 2 and names._is_graph(W) is is_graph
    W[0, 2] = W[2, 0] = 0.2001  # within half a thousandth
    assert names._is_graph(W) is is_graph
