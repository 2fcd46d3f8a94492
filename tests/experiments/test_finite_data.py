"""Toy models on a fixed set of feature vectors: few are memorised, many are not."""

import numpy as np
import pytest
from superposition import optimise
from superposition.experiments.toy import trained_on

SMALL = {"n": 20, "m": 3, "p": 0.1, "steps": 400, "seed": 1, "device": "cpu"}


def test_few_vectors_are_memorised_and_many_are_learned():
    few, many = trained_on(vectors=5, **SMALL), trained_on(vectors=4000, **SMALL)
    assert few["train"] < 0.1 and few["test"] > 0.8
    assert abs(many["train"] - many["test"]) < 0.05 and many["test"] < 1
    assert 0 < many["test_se"] < 0.02 and 3 < many["represented"] <= 20  # more than dimensions


def test_the_same_seed_gives_the_same_model():
    assert trained_on(vectors=10, **SMALL) == trained_on(vectors=10, **SMALL)
    assert trained_on(vectors=10, **SMALL | {"seed": 2})["test"] != trained_on(vectors=10, **SMALL)["test"]


@pytest.mark.parametrize(("name", "value"), [("vectors", 0), ("m", 21), ("p", 0), ("steps", 0), ("n", 0)])
def test_refusals(name, value):
    with pytest.raises(ValueError, match=f"{name} = {value} is out of range"):
        trained_on(**{"vectors": 5, **SMALL, name: value})


def test_nothing_is_nan_without_any_feature_on():
    assert not np.isnan(trained_on(vectors=1, **SMALL | {"p": 0.001})["test"])


def test_represented_are_those_with_a_quarter_of_the_largest_square(monkeypatch):
    kept, adam = [], optimise.adam
    monkeypatch.setattr(optimise, "adam", lambda weights, *a, **k: kept.append(weights[0]) or adam(weights, *a, **k))
    found = trained_on(vectors=5, **SMALL | {"steps": 3})
    lengths = np.linalg.norm(kept[0].detach().numpy(), axis=0)
    assert found["represented"] == np.sum(lengths > lengths.max() / 2) != np.sum(lengths > lengths.max() / 4)
