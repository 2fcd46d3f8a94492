"""What each protocol does at a given size and sparsity."""

import numpy as np
import pytest
from superposition.rug import meanfield, protocol_experiments, protocols, training

NS, P = (2, 64, 256, 1024, 4096), (0.002, 0.05, 0.0999, 0.1, 0.5, 1.0)


@pytest.mark.parametrize("name", protocols.PROTOCOLS)
def test_rates_never_rise_with_size(name):
    rates = np.array([[protocols.protocol(name, ns, p).lr for p in P] for ns in NS])
    assert np.all(np.diff(rates, axis=0) <= 0) and np.all(np.diff(rates, axis=1) <= 0)
    assert rates.max() <= 1e-2 and rates.min() > 0


def test_the_recipe_by_hand():
    assert protocols.protocol("recipe", 256, 0.002) == protocols.Protocol(1e-2, 2000, 1024, "cosine", "tied")
    assert protocols.protocol("recipe", 1024, 0.002).lr == pytest.approx(5e-3)  # half, at four times 256 features
    assert protocols.protocol("recipe", 256, 0.5).lr == pytest.approx(3.75e-3)  # 128 features on at once
    assert [protocols.protocol("recipe", 64, p).start for p in (0.0999, 0.1)] == ["tied", "independent"]


def test_the_others_by_hand():
    earlier, text = (protocols.protocol(name, 1024, 0.002) for name in ("earlier", "text"))
    assert earlier == protocols.Protocol(2.5e-3, 2000, 1024, "cosine", "independent")
    assert text == protocols.Protocol(3e-3 / 32, 100_000, 1024, "constant", "independent")
    assert protocols.protocol("earlier", 64, 0.5).lr == 1e-2


def test_what_the_run_says_of_a_model_and_of_a_collapse(monkeypatch):
    point = {"ns": 24, "p": 0.1, "r": 0.25, "protocol": "recipe", "steps": 40, "seed": 1, "device": "cpu"}
    found = protocol_experiments.tried_protocol(**point)
    model = training.train(24, 6, 0.1, protocol="recipe", steps=40, seed=1, device="cpu")
    theory = float(meanfield.optimum(0.1, 0.25).loss)
    assert (found["nd"], found["collapsed"], found["ratio"]) == (6, 0, model.loss / theory)
    assert found["ratio_se"] == model.loss_se / theory and found["dropped"] == (model.rows.diagonal < 0.1).sum()

    def collapse(*_, **__):
        raise FloatingPointError("the output has collapsed to zero")

    monkeypatch.setattr(training, "train", collapse)
    silent = protocol_experiments.tried_protocol(**point)
    expected = {"nd": 6, "collapsed": 1, "ratio": 0.1 / 3 / theory, "ratio_se": 0.0, "dropped": 24, "device": "cpu"}
    assert silent == pytest.approx(expected)
