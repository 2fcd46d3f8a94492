"""Latents of families of features: which vectors train, and which others measure."""

import pytest

pytest.importorskip("torch")
from superposition.decoders import families as decoded  # noqa: E402
from superposition.experiments import families  # noqa: E402


def test_latents_are_measured_on_other_vectors_than_they_were_trained_on(monkeypatch):
    seeds, drawn = [], decoded.Families.activations

    def activations(self, batch, *, seed):
        if isinstance(seed, int):
            seeds.append(seed)
        return drawn(self, batch, seed=seed)

    monkeypatch.setattr(decoded.Families, "activations", activations)
    at = {"ns": 16, "nd": 8, "parent": 0.05, "children": 0.5, "truth": "families", "latents": 8, "price": 0.1}
    families.latents_of_families(**at, steps=2, seed=3)
    assert seeds[-1] == 2003 and 1003 not in seeds
