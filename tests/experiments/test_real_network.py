"""The material of chapter 12: what is missing or another is refused, and a stored point comes out again where it is."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from superposition.experiments import real_network
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


@pytest.mark.thorough
@pytest.mark.skipif(not (ROOT / "real" / "django-minilm.safetensors").exists(), reason="`make real` was not called")
def test_a_stored_point_comes_out_again(monkeypatch):
    monkeypatch.chdir(ROOT)
    point = {"network": "minilm", "text": "django", "window": 16, "vectors": "own", "tokens": 2200, "seed": 0}
    found = real_network.windows_read(**point)
    stored = tables.load("real-windows").where(**point).columns
    for name in ("text_hash", "vectors_hash"):
        assert stored[name][0] == found[name]
    for name in ("gaussian", "both", "relu", "noise"):
        assert found[name] == pytest.approx(stored[name][0], rel=1e-4)  # single precision, another machine
