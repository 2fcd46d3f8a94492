"""Features in company, and the agreement of two autoencoders, against counts."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from superposition import decoders
from superposition.experiments import dictionaries, schedules


def together(ingredient, degree):
    """Probability that two features of a group are on, of frequency 0.1."""
    bar = norm.isf(0.1)
    if ingredient == "copula":
        return multivariate_normal([0, 0], [[1, degree], [degree, 1]]).cdf([-bar, -bar])
    return 0.01 / (1 - 0.9 * degree)


@pytest.mark.parametrize(("ingredient", "degree"), [("copula", 0.0), ("copula", 0.6), ("groups", 0.0), ("groups", 0.8)])
def test_company_keeps_frequencies_and_joins_eight(ingredient, degree):
    truth = schedules.company(16, 8, 0.1, ingredient, degree, 3)
    x, h = truth.activations(100_000, seed=1)
    on = x > 0
    assert np.all(np.abs(on.mean(axis=0) - 0.1) < 5 * np.sqrt(0.1 * 8 / len(x)))  # groups may be on together
    np.testing.assert_allclose(h, x @ truth.directions.T)
    both, expected = (on.astype(float).T @ on) / len(x), together(ingredient, degree)
    joined = np.isclose(both, expected, atol=5 * np.sqrt(expected / len(x))) & ~np.eye(16, dtype=bool)
    assert np.all(joined.sum(axis=1) == (15 if degree == 0 else 7))


def test_a_power_law_keeps_the_mean_frequency():
    p = schedules.company(64, 24, 0.05, "frequencies", 1.0, 3).p
    assert p.mean() == pytest.approx(0.05) and np.ptp(p) > 0.2


def test_agreement_counts_latents_that_others_have():
    axes = np.eye(4)
    turned = axes.copy()
    turned[:, 0] = [0.8, 0.6, 0, 0]
    one, two = (decoders.sae_along(D, 1.0, 0.0, np.zeros(4)) for D in (axes, turned[:, ::-1]))
    assert schedules._agreement(one, [one, two]) == schedules._agreement(two, [one, two]) == 0.75


def test_the_recipe_takes_the_lowest_price_that_looks_right():
    prices, agree, opposite = (0.1, 0.07, 0.05, 0.03), (0.95, 0.97, 0.99, 0.0), (0.0, 0.0, 0.2, 0.9)
    assert schedules.chosen_price(prices, agree, opposite) == 0.07
    assert np.isnan(schedules.chosen_price(prices, np.full(4, 0.8), np.zeros(4)))


class Asked(Exception):
    """A training would begin."""


@pytest.mark.parametrize(
    ("function", "more"),
    [(dictionaries.baseline, {}), (schedules.scheduled, {"first": 2.0, "share": 0.5, "lr": 0.01})],
)
@pytest.mark.parametrize(("price", "kept"), [(1.5, 6), (0.1, 1)])
def test_the_price_of_topk_is_in_units_of_the_features_that_are_on(function, more, price, kept, monkeypatch):
    def train(truth, prices, **_):
        raise Asked(set(prices))

    monkeypatch.setattr(decoders, "train_saes", train)
    for kind, expected in (("topk", kept), ("relu", price)):
        with pytest.raises(Asked) as found:
            function(ns=40, nd=20, p=0.1, kind=kind, price=price, steps=1, seed=0, **more)
        assert found.value.args == ({expected},)
