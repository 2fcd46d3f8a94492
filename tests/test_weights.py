"""Weights in files and in texts: what comes back, and what is refused."""

import numpy as np
import pytest
from safetensors.numpy import save_file
from superposition import codes, weights
from superposition.rug import training


@pytest.fixture
def fan():
    return codes.priority_fan(10, 30)


def test_both_forms_of_a_file(tmp_path, fan):
    save_file({"W_in": fan.W_in, "W_out": fan.W_out, "b": fan.b}, tmp_path / "two")
    save_file({"W": fan.W, "b": fan.b}, tmp_path / "one")
    for name, keys in (("one", {"W", "b"}), ("two", {"W", "b", "W_in", "W_out"})):
        found = weights.load(tmp_path / name)
        assert set(found) == keys
        np.testing.assert_array_equal(found["W"], fan.W)
        np.testing.assert_array_equal(found["b"], fan.b)


def test_a_saved_model_is_such_a_file(tmp_path):
    trained = training.train_autoencoder(64, 16, 0.3, steps=20, batch=64, device="cpu")
    arrays = {name: np.ascontiguousarray(getattr(trained, name)) for name in ("W_in", "W_out", "bias")}
    save_file(arrays, tmp_path / "model")
    found = weights.load(tmp_path / "model")
    np.testing.assert_array_equal(found["b"], trained.bias.astype(float))
    np.testing.assert_array_equal(found["W"], trained.W_out.astype(float) @ trained.W_in)


def test_a_text_keeps_what_float32_keeps(fan):
    found = weights.unpacked(weights.packed(fan.W_in, fan.W_out, fan.b))
    for name in ("W_in", "W_out", "b"):
        np.testing.assert_array_equal(found[name], getattr(fan, name).astype(np.float32).astype(float))
    np.testing.assert_array_equal(found["W"], found["W_out"] @ found["W_in"])


def test_refused_files(tmp_path, fan):
    (tmp_path / "text").write_text("no")
    save_file({"W": fan.W}, tmp_path / "no-bias")
    save_file({"W": fan.W, "b": fan.b[:3].copy()}, tmp_path / "short")
    save_file({"W_in": fan.W_in, "W_out": fan.W_in, "b": fan.b}, tmp_path / "turned")
    save_file({"W": np.full((2, 2), np.nan), "b": np.zeros(2)}, tmp_path / "nan")
    for name, said in (
        ("nowhere", "is no file; allowed: a safetensors file with W_in"),
        ("text", "cannot be read"),
        ("no-bias", "holds W; allowed"),
        ("short", "which do not fit; allowed: W \\(ns, ns\\)"),
        ("turned", "which do not fit; allowed: W_in \\(nd, ns\\)"),
        ("nan", "W = nan"),
    ):
        with pytest.raises(ValueError, match=said):
            weights.load(tmp_path / name)


@pytest.mark.parametrize("text", ["", "none", "no base64!", "é"])
def test_refused_texts(text):
    with pytest.raises(ValueError, match="text = .* cannot be read"):
        weights.unpacked(text)


def test_a_text_with_strange_signs_in_it_is_refused(fan):
    text = weights.packed(fan.W_in, fan.W_out, fan.b)
    with pytest.raises(ValueError, match="text = .* cannot be read"):
        weights.unpacked(f"{text[:40]}\n{text[40:]}")


def test_weights_that_do_not_fit_are_not_packed(fan):
    with pytest.raises(ValueError, match="weights has shapes"):
        weights.packed(fan.W_in, fan.W_in, fan.b)


def test_what_does_not_fit_together_is_refused_by_name(fan):
    with pytest.raises(ValueError, match="mine has shapes W_in"):
        weights.fitting({"W_in": fan.W_in, "W_out": fan.W_in, "b": fan.b}, "mine")


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_a_number_that_is_not_finite_is_refused_by_the_name_of_its_weights(fan, bad):
    parts = {"W_in": fan.W_in, "W_out": fan.W_out, "b": fan.b}
    for given in (parts, {"W": fan.W, "b": fan.b}):
        for name in given:
            spoiled = given[name].copy()
            spoiled.flat[0] = bad
            with pytest.raises(ValueError, match=rf"^{name} = .* is out of range"):
                weights.fitting({**given, name: spoiled}, "mine")


@pytest.mark.parametrize("sign", [1, -1])
def test_a_product_beyond_every_number_is_refused_at_either_end(sign):
    large = {"W_in": np.full((1, 2), 1e200), "W_out": sign * np.full((2, 1), 1e200), "b": np.zeros(2)}
    with pytest.raises(ValueError, match=rf"^W_out W_in = {'-' * (sign < 0)}inf .*; allowed: \(-inf, inf\)$"):
        weights.fitting(large, "file")
