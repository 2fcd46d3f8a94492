"""The published protocol as a run: what a point says is trained, and each rule has the numbers of its own model."""

from types import SimpleNamespace

import numpy as np
from rows import as_read
from superposition import rug
from superposition.experiments import public_protocol


def model(shift, stopped):
    """A model whose numbers no other one has."""
    b, b_eff, diagonal = (np.array([0.0, spread]) + shift for spread in (1.0, 2.0, 3.0))
    rows = SimpleNamespace(diagonal=diagonal, b=b, b_eff=b_eff, Lambda=0.1 + shift, dead=np.array([True, shift > 1]))
    ends = {"stopped": stopped, "loss": 0.2 + shift, "loss_se": 0.01 + shift}
    return SimpleNamespace(
        rows=rows, loss_history=np.zeros(30 * shift), settings=SimpleNamespace(device="cuda:1"), **ends
    )


def test_a_point_is_trained_as_it_says_and_each_rule_has_its_own_numbers(monkeypatch):
    asked = []

    def train(*sizes, **how):
        asked.append((sizes, how))
        return SimpleNamespace(text=model(1, True), code=model(2, False))

    monkeypatch.setattr(rug, "train_as_published", train)
    point = {"ns": 32, "nd": 8, "p": 0.1, "epochs": 7, "seed": 3}
    found = as_read("rug-public", point, public_protocol.by_both_rules(**point, device="cuda"))
    assert asked == [((32, 8, 0.1), {"epochs": 7, "seed": 3, "device": "cuda"})] and found["device"] == "cuda"
    for rule, shift in (("text", 1), ("code", 2)):
        expected = {
            "steps": 30 * shift, "stopped": 2 - shift, "loss": 0.2 + shift, "loss_se": 0.01 + shift,
            "diagonal_mean": 1.5 + shift, "diagonal_spread": 1.5, "bias_mean": 0.5 + shift, "bias_spread": 0.5,
            "bias_effective_mean": 1.0 + shift, "Lambda": 0.1 + shift, "dead": shift,
        }  # fmt: skip
        assert {name: found[f"{rule}_{name}"] for name in expected} == expected


def test_a_point_drawn_by_the_device_has_the_rows_of_each_rule(monkeypatch):
    asked = []

    def train(*sizes, **how):
        asked.append((sizes, how))
        first = rug.train_autoencoder(8, 2, 0.5, steps=30, batch=8, device="cpu", eval_samples=8)
        again = rug.train_autoencoder(8, 2, 0.5, steps=60, batch=8, device="cpu", eval_samples=8)
        return rug.BothRules(first, again)

    monkeypatch.setattr(rug, "train_as_published_on_device", train)
    point = {"ns": 8, "nd": 2, "p": 0.5, "epochs": 7, "products": "tf32", "seed": 3}
    found = as_read("rug-public-device", point, public_protocol.rows_drawn_there(**point, device="cuda"))
    assert asked == [((8, 2, 0.5), {"epochs": 7, "products": "tf32", "seed": 3, "device": "cuda"})]
    assert (found["text_steps"], found["code_steps"], found["device"]) == (30, 60, "cpu")
    assert found["text_off_variance_mean"] != found["code_off_variance_mean"] > 0 == found["text_stopped"]
