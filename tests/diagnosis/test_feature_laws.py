"""Laws of the features known by mean, variance and sampler."""

import numpy as np
import pytest
from superposition.diagnosis import feature_laws
from superposition.diagnosis.feature_laws import FeatureLaw
from superposition.rug import meanfield


def gaussian(rng, shape):
    return rng.standard_normal(shape)


def test_nodes_have_the_second_moment_of_the_law_and_the_share_of_zeros():
    nodes = feature_laws.uniform_law(0.02).nodes()
    assert nodes.weight @ nodes.x**2 == pytest.approx(0.02 / 3, rel=1e-12)
    assert nodes.x[0] == 0 and nodes.weight[0] == pytest.approx(0.98, abs=2e-3)  # the mean of 4000 values that are on
    dense = FeatureLaw(0, 1, gaussian).nodes()
    assert abs(dense.weight[0]) < 1e-12 and dense.weight.sum() == pytest.approx(1)


@pytest.mark.parametrize("p", [0.01, 0.3])
def test_the_text_s_law_by_quadrature_is_its_closed_form(p):
    a, b, sigma = np.meshgrid([0.5, 1.3], [-0.6, 0.1], [0.1, 0.5])
    found = feature_laws.gaussian_loss(a, b, a * sigma, feature_laws.uniform_nodes(p))
    np.testing.assert_allclose(found, meanfield.loss(a, b, sigma, p), rtol=1e-8)


def test_a_negative_gain_costs_more_than_none():
    nodes = feature_laws.uniform_nodes(0.1)
    against, none, with_it = feature_laws.gaussian_loss([-0.5, 0, 0.5], 0.05, 0.0, nodes)
    assert against > none > with_it
    assert none == pytest.approx(0.1 / 3 - 0.05**2)  # the variance, as the bias is the mean


def test_the_optimum_of_gaussian_features_by_their_sampler():
    # half of a symmetric law is below zero, where a ReLU gives nothing: at least half the variance is lost
    best = feature_laws.rug_optimum(FeatureLaw(0, 1, gaussian), 1.0)
    assert float(best.loss) == pytest.approx(0.5, rel=0.01)
    assert float(feature_laws.rug_optimum(FeatureLaw(0, 1, gaussian), 0.5).loss) > 0.5


def test_nothing_is_lost_where_nothing_is_shared():
    assert float(feature_laws.rug_optimum(feature_laws.uniform_law(0.1), 1).loss) == 0


@pytest.mark.parametrize(
    ("mean", "variance", "sampler", "said"),
    [
        (0.1, 1, gaussian, "mean = 0.1 is not that of the sampler"),
        (0, 1.1, gaussian, "variance = 1.1 is not that of the sampler"),
        (0, 0, gaussian, "variance = 0 is out of range"),
        (0, 1, None, "sampler = None is no function"),
        (0, 1, lambda rng, shape: rng.standard_normal(shape[0]), "sampler has shape"),
    ],
)
def test_refusals(mean, variance, sampler, said):
    with pytest.raises(ValueError, match=said):
        FeatureLaw(mean, variance, sampler)


@pytest.mark.parametrize("p", [0.002, 0.01])
def test_the_optimum_of_rare_features_by_their_sampler(p):
    # 400 values that are on were 4.5 % off at 0.002; 8,000 are as many as p = 0.04 has
    found = feature_laws.rug_optimum(feature_laws.uniform_law(p), 0.1)
    assert float(found.loss) == pytest.approx(float(meanfield.optimum(p, 0.1).loss), rel=0.02)


def test_features_of_the_texts_law_are_drawn_between_its_nodes():
    found = feature_laws.Population.of([0.1, 0.2, 0.3], None, None, 3).active(1000, np.random.default_rng(0))
    assert len(np.unique(found)) == 1000 and found.mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("r", [0.1, 0.4])
def test_gain_and_bias_of_the_texts_law_are_those_of_the_text(r):
    law = feature_laws.uniform_law(0.1)
    found, wanted = feature_laws.rug_optimum(law, r), meanfield.optimum(0.1, r)
    for name in ("a", "b", "sigma", "loss"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=0.03, err_msg=name)
    again = feature_laws.gaussian_loss(found.a, found.b, found.a * found.sigma, law.nodes())
    np.testing.assert_allclose(again, found.loss, rtol=1e-6)
