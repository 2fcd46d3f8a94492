"""Kinds of points that take too long to compute here, with a stand-in for the search or the training in them."""

import numpy as np
import pytest
from superposition import codes, diagnosis, receptive, weights
from superposition.codes import fans
from superposition.experiments import best_codes, compared_codes, crowds, tuned_codes

pytest.importorskip("torch")
RNG = np.random.default_rng(5)
CODE = fans.Code(RNG.normal(size=(2, 5)), RNG.normal(size=(5, 2)), -RNG.random(5))
TUNED = {"m": 2, "B": 5, "p": 0.1, "strength": 0.3, "starts": 3, "samples": 2000, "seed": 7}
RING = {"n": 10, "xi1": 2.0, "xi2": 1.0, "gain": 2.0, "K": 3, "steps": 2, "lr": 0.1, "batch": 20, "samples": 100}


@pytest.mark.parametrize("budget", ["decay", "noise", "range"])
def test_a_tuned_code_is_described_by_its_weights(monkeypatch, budget):
    asked = {}
    monkeypatch.setattr(codes, "tuned_code", lambda *places, **names: asked.update(names, places=places) or CODE)
    found = tuned_codes.tuned(**TUNED, budget=budget)
    assert asked == {"places": (2, 5, 0.1, budget, 0.3), "starts": 3, "seed": 7}
    noise = 0.3 if budget == "noise" else 0.0
    loss = codes.noisy_code_loss(CODE, 0.1, noise, samples=2000, seed=8)
    squares = np.square(CODE.W_in).sum() + np.square(CODE.W_out).sum()
    long, read = np.sqrt(np.square(CODE.W_in).sum(axis=0)), np.sqrt(np.square(CODE.W_out).sum(axis=1))
    own = [CODE.W_out[k] @ CODE.W_in[:, k] for k in range(5)]
    assert (found["loss"], found["loss_se"]) == (loss.mean, loss.se)
    assert found["total"] - found["loss"] == pytest.approx(0.3 * squares / 5 * (budget == "decay"))
    assert found["range"] == pytest.approx(max(long) / min(long))
    assert found["largest"] == max(abs(one) for part in CODE[:2] for one in part.ravel())
    assert found["gain"] == pytest.approx(max(long * read / np.abs(own)))
    assert found["weights"] == weights.packed(*CODE)
    exact = codes.network_loss(codes.balanced(CODE), 0.1, samples=2000, seed=8, dtype="float32").mean
    assert found["float32_loss"] == exact
    assert 0 < abs(found["bfloat16_loss"] - exact) < 0.05 * exact and found["float16_loss"] != found["bfloat16_loss"]


def test_a_searched_tile_names_the_best_start_of_each_kind(monkeypatch):
    screened = [8.0, 7.0, 3.0, 6.0, 5.0, 1.0, 2.0, 4.0]
    parts = dict(zip(("W_in", "W_out", "b"), CODE, strict=True))
    search = {"screened": screened, "loss": 0.5, "loss_se": 0.1, "start": "fan", **parts}
    monkeypatch.setattr(codes, "search_tile", lambda *_, **__: search)
    found = best_codes.searched_tile(m=2, B=5, p=0.1, starts=8, kept=2, steps=9, seed=7)
    kinds = {kind: found[f"{kind}_screened_loss"] for kind in ("fan", "unequal", "random")}
    assert kinds == {"fan": 7.0, "unequal": 3.0, "random": 1.0}
    assert (found["loss"], found["loss_se"], found["start"]) == (0.5, 0.1, "fan")
    assert found["weights"] == weights.packed(*CODE)


def test_a_recorded_code_is_measured_as_the_verifier_does(monkeypatch):
    asked = {}

    def measured(W, b, p, nd):
        asked.update(W=W, b=b, p=p, nd=nd)
        return 5, 2, 0.25, 0.125

    monkeypatch.setattr(diagnosis, "measured_record", measured)
    found = compared_codes.recorded_code(name="tile-2-5-p0.05", p=0.05)
    assert found == {"ns": 5, "nd": 2, "loss": 0.25, "loss_se": 0.125}
    assert asked["W"].shape == (5, 5) and asked["b"].shape == (5,) and (asked["p"], asked["nd"]) == (0.05, 2)
    assert np.linalg.matrix_rank(asked["W"]) == 2


@pytest.fixture
def short(monkeypatch):
    for name, value in (("FRESH", 150), ("POLISH", 3)):
        monkeypatch.setattr(crowds, name, value)


def test_an_end_is_reached_when_two_doublings_change_nothing(monkeypatch, short):
    losses = iter([0.25, 0.2, 0.1999, 0.19985, 0.3])
    trained = []
    monkeypatch.setattr(crowds, "_trained_loss", lambda *_, **how: trained.append(how["steps"]) or next(losses))
    found = crowds.ended(**RING, biased=True, most=2, seed=0, device="cpu")
    assert trained == [2, 4, 8, 16]
    assert (found["trained_loss"], found["before"], found["longest"]) == (0.19985, 0.1999, 16)
    assert 0 < found["loss"] < 0.25 and 0 < found["one_loss"] < 0.25 and found["fields"] in (1, 2)
    assert 1 <= found["ipr_low"] <= found["ipr_high"] <= 10


def test_many_random_fields_are_one_crowd(short):
    found = crowds.spread(**RING, biased=True, most=3, seed=0, device="cpu")
    assert found["trained_loss"] == pytest.approx(found["loss"], abs=0.3) and found["above_se"] > 0
    assert found["size"] == pytest.approx(crowds.TOTAL, rel=0.5)
    assert crowds.spread(**RING, biased=False, most=3, seed=0, device="cpu")["size"] < found["size"]


@pytest.mark.parametrize("function", [crowds.ended, crowds.spread])
def test_crowds_are_compared_on_vectors_that_none_of_them_saw(monkeypatch, function):
    drawn = []

    def sampled(*task, seed):
        drawn.append((*task, seed))
        if len(drawn) == 2:
            raise InterruptedError

    monkeypatch.setattr(receptive, "sample_waves", sampled)
    with pytest.raises(InterruptedError):
        function(**RING, biased=1.0, most=4, seed=7)
    assert drawn == [(10, 2.0, 1.0, 2.0, 100, 7), (10, 2.0, 1.0, 2.0, crowds.FRESH, 7 + crowds.APART)]
