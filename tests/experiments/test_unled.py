"""Dense networks without exclusive features: chosen vectors and woken features."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from superposition import codes
from superposition.experiments import unled


def test_vectors_with_few_features_on_are_chosen_from_a_pool():
    generator = torch.Generator().manual_seed(0)
    all_, few = (unled._drawn(60, 0.05, pool, generator) for pool in (1, 4))
    assert all_.shape == few.shape == (2048, 60)
    number = [(x > 0).sum(dim=1).double().mean() for x in (all_, few)]
    np.testing.assert_allclose(number[0], 3, atol=0.17)  # 4.5 standard errors
    assert number[1] < 1.5 and (few > 0).any(dim=0).all()


def test_dead_features_begin_anew():
    form = {"lr": 0.5, "steps": 200, "seed": 0, "device": "cpu"}  # a rate that kills features
    dead = [(np.diag(unled._on_other_vectors(30, 3, 0.05, waking, 0.5, **form).W) < 0.1).sum() for waking in (0, 1)]
    assert dead[0] >= 5
    assert dead[1] <= dead[0] / 2


def test_training_stays_within_the_largest_weight():
    form = {"lr": 100.0, "steps": 3, "seed": 0, "device": "cpu"}
    code = unled._on_other_vectors(30, 3, 0.05, False, 0.5, **form)
    assert 9 < max(np.abs(code.W_in).max(), np.abs(code.W_out).max()) <= 10


def test_features_are_woken_from_the_sixth_step_on_and_up_to_twice_the_lesson(monkeypatch):
    made, woken = {}, []
    monkeypatch.setattr(codes, "train_on_vectors", lambda ns, nd, vectors, **form: made.setdefault("vectors", vectors))
    monkeypatch.setattr(unled, "_drawn", lambda ns, p, pool, generator: p)
    monkeypatch.setattr(unled, "_begin_anew", lambda weights, generator: woken.append(True))
    steps, until = 500, 0.411  # five steps apart, and the last one at the limit
    unled._on_other_vectors(30, 3, 0.05, True, until, lr=0.1, steps=steps, seed=0, device="cpu")
    at = []
    for step in range(1, steps + 1):
        woken.clear()
        made["vectors"](step, None, None)
        at += [step] * len(woken)
    assert at == list(range(6, 412, 5)) and 2 * until * steps == 411


def test_a_feature_is_dead_below_a_tenth_and_groups_are_in_order(monkeypatch):
    W = np.diag([0.1, np.nextafter(0.1, 0), 1.0, 0.9])
    W[0, 1], W[1, 2], W[3, 2] = 0.5, 2.0, 1.0  # within the first group, between the groups, within the second
    code = codes.Code(np.eye(4), W, np.zeros(4))
    form = {"lr": 0.1, "steps": 9, "seed": 6, "device": "cpu"}
    asked = {}

    def trained(name):
        return lambda *place, **told: asked.update({name: (place, told)}) or code

    monkeypatch.setattr(codes, "train_exclusive_first", trained("alone"))
    monkeypatch.setattr(codes, "train_growing", trained("growing"))
    monkeypatch.setattr(unled, "_on_other_vectors", trained("others"))
    monkeypatch.setattr(
        codes, "network_loss", lambda *of, **told: asked.update(loss=told) or SimpleNamespace(mean=2, se=3)
    )
    for method in ("alone", "growing", "growing everywhere", "waking", "sorted"):
        found = unled.trained_unled(ns=4, nd=4, p=0.2, group=2, method=method, until=0.3, samples=50, **form)
        assert (found["dead"], found["loss"], found["loss_se"], found["device"]) == (1, 2, 3, "cpu")
        squares = (W**2).sum()
        assert found["between"] == pytest.approx(4 / squares)
        assert found["asymmetry"] == pytest.approx(np.sqrt(2 * 5.25 / squares))
        assert asked["loss"] == {"samples": 50, "seed": 7}
        kind = {"alone": "alone", "waking": "others", "sorted": "others"}.get(method, "growing")
        own = {
            "alone": ((4, 4, 0.2), {"group": 2, "lesson": 0.0}),
            "others": ((4, 4, 0.2, method == "waking", 0.3), {}),
            "growing": ((4, 4, 0.2), {"group": 2, "grown": 0.3, "apart": method == "growing"}),
        }[kind]
        assert asked[kind] == (own[0], own[1] | form)
