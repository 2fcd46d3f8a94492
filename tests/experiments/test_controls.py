"""The controls of rugs: what the antipodal rug reaches beside them."""

from types import SimpleNamespace

import numpy as np
import pytest
from superposition import codes, rug
from superposition.experiments import controls


def test_the_antipodal_rug_is_there_up_to_half_as_many_dimensions_as_features():
    columns = {"ns": [8, 8, 8], "nd": [3, 4, 5], "p": [0.1, 0.1, 0.1], "theory": [0.5, 0.25, 0.2]}
    found = controls.beside_antipodal({name: np.array(column) for name, column in columns.items()})["antipodal"]
    wanted = codes.antipodal_optimum(np.array([0.1, 0.1]), np.array([0.375, 0.5])).loss / [0.5, 0.25]
    np.testing.assert_allclose(found, [*wanted, 0], rtol=1e-12)


def test_a_descent_has_the_nearest_number_of_dimensions_and_one_at_least(monkeypatch):
    values = np.array([0, 2.0, 0, 4.0])
    found = SimpleNamespace(eigenvalues=values, loss=0.5, loss_se=0.25, partners=[0.7, 0.9])
    asked = []
    monkeypatch.setattr(rug, "descend_on_eigenvalues", lambda *place, **how: asked.append((place, how)) or found)
    for r, nd in ((0.01, 1), (0.11, 4), (0.99, 32)):
        row = controls.descended_rug(ns=32, p=0.05, r=r, steps=9, seed=3, device="cpu")
        assert row == {
            "nd": nd, "loss": 0.5, "loss_se": 0.25, "partner_share": 0.9, "unevenness": 1 / 3, "device": "cpu",
        }  # fmt: skip
        assert asked.pop() == ((32, nd, 0.05), {"steps": 9, "seed": 3, "device": "cpu"})
    for r in (0, 1):
        with pytest.raises(ValueError, match=f"r = {r} is out of range"):
            controls.descended_rug(ns=32, p=0.05, r=r, steps=9, seed=3)
