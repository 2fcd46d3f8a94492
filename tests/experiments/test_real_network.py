"""The material of chapter 12: what is missing or another is refused, and a stored point comes out again where it is."""

import runpy
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from superposition import runs
from superposition.experiments import real_network, real_vectors
from superposition.runs import tables

ROOT = Path(__file__).resolve().parents[2]


def test_a_package_of_other_content_is_refused(tmp_path):
    script = runpy.run_path(str(ROOT / "scripts" / "real.py"))
    script["package"].__globals__["FOLDER"] = tmp_path
    (tmp_path / "packages").mkdir()
    for file in script["PACKAGES"]:
        (tmp_path / "packages" / file).write_bytes(b"another")
        with pytest.raises(SystemExit, match="Nothing was made of it"):
            script["package"](file)
    with pytest.raises(SystemExit, match="is unknown; allowed: django-minilm"):
        script["main"](["django"])


def test_arrays_that_are_missing_or_others_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="is missing; allowed: what `make real` makes"):
        real_network.material("django-minilm")
    (tmp_path / "real").mkdir()
    save_file({"array": np.arange(5)}, tmp_path / "real" / "django-minilm.safetensors")
    with pytest.raises(ValueError, match="has the digest .*; allowed: e59df8bf4cdb"):
        real_network.material("django-minilm")


def test_shuffled_weights_do_not_depend_on_the_order_in_which_they_come():
    torch = pytest.importorskip("torch")
    mixed = runpy.run_path(str(ROOT / "scripts" / "real.py"))["mixed"]
    weights = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.arange(8.0).reshape(4, 2), "bias": torch.arange(3.0)}
    one, other = mixed(weights), mixed(dict(reversed(weights.items())))
    assert one.keys() == weights.keys() and all(torch.equal(one[name], other[name]) for name in weights)
    assert torch.equal(one["bias"], weights["bias"]) and not torch.equal(one["b"], weights["b"])
    assert torch.equal(one["b"].ravel().sort()[0], weights["b"].ravel())


def test_a_window_has_the_topic_of_its_nearest_mean():
    rng = np.random.default_rng(5)
    p = rng.uniform(0.05, 0.4, 30)
    X = (rng.random((80, 30)) < p * rng.uniform(0.3, 2, (80, 1))).astype(np.float32)
    found = real_network._topics(X, p, np.random.default_rng(6), directions=7, rounds=1)
    again = np.random.default_rng(6)
    scaled = (X - p) / np.sqrt(p * (1 - p) + 1e-3)
    sketch = scaled.T @ (scaled @ again.standard_normal((30, 7)))
    Z = scaled @ np.linalg.qr(sketch)[0]
    centres = Z[again.choice(80, real_network.TOPICS, replace=False)]
    near = ((Z[:, None] - centres) ** 2).sum(axis=2)
    assert np.array_equal(found, near.argmin(axis=1)) and len(set(found)) > 4


@pytest.mark.thorough
@pytest.mark.skipif(not (ROOT / "real" / "django-minilm.safetensors").exists(), reason="`make real` was not called")
def test_a_stored_point_comes_out_again(monkeypatch):
    monkeypatch.chdir(ROOT)
    point = {"network": "minilm", "text": "kjv", "window": 64, "vectors": "dealt", "tokens": 2000, "seed": 0}
    found = real_network.windows_read(**point)
    stored = tables.load("real-windows").where(**point).columns
    for name in ("text_hash", "vectors_hash"):
        assert stored[name][0] == found[name]
    for name in ("gaussian", "both", "relu", "noise"):
        assert found[name] == pytest.approx(stored[name][0], rel=1e-4)  # single precision, another machine


@pytest.mark.thorough
@pytest.mark.skipif(not (ROOT / "real" / "django-minilm.safetensors").exists(), reason="`make real` was not called")
def test_the_patient_reader_is_right_for_every_token_once_more(monkeypatch):
    monkeypatch.chdir(ROOT)
    point = {"network": "minilm", "text": "kjv", "window": 16, "vectors": "random", "tokens": 2000, "seed": 0}
    found = real_vectors.vectors_described(**point)
    stored = tables.load("real-vectors").where(**point).columns
    assert found["rounded"] == found["alone_rounded"] == 0
    for name in ("relu", "patient", "alone_patient"):
        assert found[name] == pytest.approx(stored[name][0], rel=1e-3)  # single precision, another machine


@pytest.mark.parametrize("price", [0.003, 0.03])
def test_rounded_codes_are_right_while_entries_are_pulled_by_less_than_a_half(price):
    rng = np.random.default_rng(0)
    W, p = rng.standard_normal((60, 40)).astype(np.float32) / 40**0.5, np.full(60, 0.02)
    x = (rng.random((50, 60)) < p).astype(np.float32)
    code = real_vectors._coded(x @ W, W, 1 / np.linalg.norm(W, 2) ** 2, -price * np.log(p))
    pulled = np.abs(code - x).max()
    assert 0 < pulled < 0.5 and ((code > 0.5) == x).all()
    assert (code[x == 1] < 1).all()


@pytest.mark.parametrize("name", ["latents", "reread", "windows", "vectors", "words"])
def test_every_setting_of_a_stored_table_has_five_draws(name):
    run = runs.find(f"real-{name}")
    columns = tables.read(run).columns
    settings = zip(*(columns[field].tolist() for field in run.point.model_fields if field != "seed"), strict=True)
    assert set(Counter(settings).values()) == {5}
