"""What each protocol does at a given size and sparsity."""

import numpy as np
import pytest
from rows import as_read
from superposition import features, rug
from superposition.experiments import recipe
from superposition.rug import meanfield, protocols, training

NS, P, R = (2, 64, 256, 1024, 4096), (0.002, 0.05, 0.0999, 0.1, 0.5, 1.0), (0.02, 0.2, 0.5, 1.0)


@pytest.mark.parametrize("name", protocols.PROTOCOLS)
def test_rates_never_rise_with_size(name):
    rates = np.array(
        [[[protocols.training_protocol(name, ns, max(1, int(r * ns)), p).lr for p in P] for r in R] for ns in NS]
    )
    assert all(np.all(np.diff(rates, axis=axis) <= 0) for axis in range(3))
    assert rates.max() <= 1e-2 and rates.min() > 0


def test_the_recipe_by_hand():
    assert protocols.training_protocol("recipe", 256, 51, 0.002) == protocols.Protocol(
        1e-2, 2000, 1024, "cosine", "tied"
    )
    assert protocols.training_protocol("recipe", 1024, 205, 0.002).lr == pytest.approx(
        5e-3
    )  # half, at four times 256 features
    assert protocols.training_protocol("recipe", 256, 51, 0.5).lr == pytest.approx(3.75e-3)  # 128 features on at once
    assert protocols.training_protocol("recipe", 4000, 2000, 1 / 12).lr == pytest.approx(
        1e-3
    )  # 2/3 / (4000 * 2000 / 12) = 1e-6
    assert [protocols.training_protocol("recipe", 64, 13, p).start for p in (0.0999, 0.1)] == ["tied", "independent"]


def test_two_steps_of_one_sign_move_the_outputs_by_the_shift():
    ns, nd, p, shift = 300, 120, 0.1, 0.6
    lr = protocols.rate_at_shift(shift, ns, nd, p)
    hidden = features.sample(ns, p, 20_000, seed=0) @ np.full((ns, nd), lr)  # each weight of the encoder moved by lr
    moved = hidden @ np.full(nd, lr)
    assert abs(moved.mean() - shift) < 4 * moved.std() / len(moved) ** 0.5


def test_the_others_by_hand():
    earlier, text = (protocols.training_protocol(name, 1024, 922, 0.002) for name in ("earlier", "text"))
    assert earlier == protocols.Protocol(2.5e-3, 2000, 1024, "cosine", "independent")
    assert text == protocols.Protocol(3e-3 / 32, 100_000, 1024, "constant", "independent")
    assert protocols.training_protocol("earlier", 64, 58, 0.5).lr == 1e-2


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_rate_beyond_the_edge_silences_all_outputs(seed):
    point = {"ns": 64, "p": 0.05, "r": 0.5, "steps": 20, "seed": seed, "device": "cpu"}
    gentle, wild = (recipe.tried_rate(**point, shift=shift) for shift in (0.3, 30.0))
    assert gentle["lr"] == protocols.rate_at_shift(0.3, 64, 32, 0.05) and gentle["nd"] == 32
    assert (gentle["collapsed"], wild["collapsed"]) == (0, 1) and gentle["over_zero"] < 0.5 < 1 <= wild["over_zero"]


def test_what_the_run_says_of_a_model_and_of_a_collapse(monkeypatch):
    point = {"ns": 24, "p": 0.1, "r": 0.25, "protocol": "recipe", "steps": 40, "seed": 1, "device": "cpu"}
    found = recipe.tried_protocol(**point)
    model = training.train_autoencoder(24, 6, 0.1, protocol="recipe", steps=40, seed=1, device="cpu")
    assert (found["nd"], found["collapsed"], found["loss"], found["loss_se"]) == (6, 0, model.loss, model.loss_se)
    assert found["dropped"] == (model.rows.diagonal < 0.1).sum()
    theory, read = float(meanfield.optimum(0.1, 0.25).loss), as_read("rug-recipe", point, found)
    assert (read["ratio"], read["ratio_se"]) == pytest.approx((model.loss / theory, model.loss_se / theory))

    def collapse(*_, **__):
        raise FloatingPointError("the output has collapsed to zero")

    monkeypatch.setattr(rug, "train_autoencoder", collapse)
    silent = recipe.tried_protocol(**point)
    expected = {"nd": 6, "collapsed": 1, "loss": 0.1 / 3, "loss_se": 0.0, "dropped": 24, "device": "cpu"}
    assert silent == pytest.approx(expected)
