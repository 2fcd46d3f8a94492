"""Autoencoders of three kinds on drawn activations: what is known of them without a network."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")
from superposition.experiments import real_kinds, real_truths  # noqa: E402
from superposition.runs import tables  # noqa: E402

DRAWN = {"layer": 3, "dimensions": 24, "width": 60, "first": 1.0, "share": 1.0, "seed": 0}


def test_latents_that_keep_their_company_and_latents_that_lose_it_have_the_losses_of_the_mean_field():
    found = real_kinds.autoencoders_compared(data="drawn", kind="relu", price=0.06, steps=600, **DRAWN)
    assert found["on"] == pytest.approx(found["measured"], rel=0.1)
    assert found["independent"] == pytest.approx(found["apart_measured"], rel=0.1)
    assert found["apart_measured"] > 3 * found["measured"]


def test_topk_has_as_many_latents_on_as_it_was_given():
    found = real_kinds.autoencoders_compared(data="drawn", kind="topk", price=3.0, steps=6, **DRAWN)
    assert found["l0"] == 3 and found["l0_se"] == 0


def test_errors_are_those_over_the_starts(monkeypatch):
    on, measured = np.array([1.0, 2.0, 4.0, 8.0, 9.0]), np.array([2.0, 3.0, 1.0, 5.0, 4.0])
    rows = iter([{"explained": a, "l0": b, "on": a, "measured": b} for a, b in zip(on, measured, strict=True)])
    monkeypatch.setattr(real_kinds, "activations_of", lambda *_: (lambda *_: np.zeros((1, 2)), 2, "drawn"))
    monkeypatch.setattr(real_kinds, "trained_starts", lambda *_: range(5))
    monkeypatch.setattr(real_kinds, "often_on", lambda *_: [np.eye(2)] * 5)
    monkeypatch.setattr(real_kinds, "_described", lambda *_: next(rows))
    found = real_kinds.autoencoders_compared(data="drawn", kind="relu", price=0.1, steps=1, **DRAWN)
    for name, values in {"explained_se": on, "l0_se": measured, "field_se": on / measured}.items():
        assert found[name] == pytest.approx(np.std(values, ddof=1) / 5**0.5)
    assert found["on"] == on.mean() and (found["agree"], found["agree_se"]) == (1, 0)


@pytest.mark.thorough
def test_of_latents_on_which_starts_agree_more_are_true():
    found = real_truths.truths_compared(company="drawn", price=0.2, steps=1000, **DRAWN)
    assert found["right_agreed"] > 2 * found["right_alone"]
    share = found["agree"] * found["right_agreed"] + (1 - found["agree"]) * found["right_alone"]
    assert 0 < share <= 1 and np.isfinite(found["recovered_se"])


def test_prices_that_fall_further_or_for_longer_explain_no_more_than_constant_ones():
    rows = tables.load("real-schedules").where(data="layer", steps=3000, width=256, layer=3, kind="relu").columns
    constant = rows["first"] == 1
    order = np.argsort(rows["l0"][constant])
    l0, explained = rows["l0"][constant][order], rows["explained"][constant][order]
    gains = rows["explained"][~constant] - np.interp(rows["l0"][~constant], l0, explained)
    assert len(gains) == 5 and gains.max() < 0.01


def test_known_directions_are_those_of_latents_that_are_on_often_enough(monkeypatch):
    x = np.zeros((24_000, 3))
    x[:10, 0] = x[:9, 1] = x[:, 2] = 1
    sae = SimpleNamespace(encode=lambda h: x, b_dec=np.zeros(2), W_dec=np.array([[1.0, 2, 3], [4, 5, 6]]))
    monkeypatch.setattr(real_truths, "activations_of", lambda *asked: (lambda *drawn: x, 2, "named"))
    monkeypatch.setattr(real_truths, "trained_starts", lambda *asked: [sae])
    _, D, named = real_truths._truth.__wrapped__("kept", 3, 2, 3)
    assert D.tolist() == [[1, 3], [4, 6]] and named == "named"  # five of 12,000 tokens or more
