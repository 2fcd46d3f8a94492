"""What the named runs of the toy models compute at one point."""

from types import SimpleNamespace

import numpy as np
import pytest
from superposition.experiments import toy


def test_points_of_the_named_runs():
    cell = toy.phase_cell(p=0.1, relative=10.0, instances=4, steps=400, seed=0, device="cpu")
    assert cell["theory_phase"] == cell["trained_phase"] == "superposed" and 1 <= cell["ratio"] < 1.05
    assert cell["ratio"] <= cell["ratio_median"] <= cell["ratio_worst"] and 0 <= cell["agree"] <= 1
    point = toy.dimensionalities(n=10, m=2, inverse_density=5.0, steps=50, seed=0, device="cpu")
    D = np.array(point["dimensionalities"].split(), dtype=float)
    norms = np.array(point["norms"].split(), dtype=float)
    assert point["per_feature"] == pytest.approx(2 / norms.sum(), rel=1e-3)  # ten norms of three digits
    assert len(D) == 10 == len(point["norms"].split()) and np.all(np.diff(D) >= 0) and D.sum() <= 2 + 1e-3


@pytest.mark.parametrize(("apart", "phases"), [(0.5, "dropped or own"), (2, "dropped")])
def test_minima_that_tie_are_both_predicted(monkeypatch, apart, phases):
    """Of two that differ by less than the limit, and by more."""
    from superposition import toy as theory

    found = [(1.0, [[1.0, 0.0]]), *4 * [(1 + apart * toy.TIE, [[0.0, 1.0]])]]
    minima = iter(SimpleNamespace(loss=loss, W=np.array(W)) for loss, W in found)
    monkeypatch.setattr(theory, "minimise", lambda *_, **__: next(minima))
    cell = toy.phase_cell(p=0.3, relative=1.0, instances=1, steps=1, seed=0, device="cpu")
    assert cell["theory_phase"] == phases


def test_the_other_feature_may_be_the_less_important_one():
    call = {"p": 0.3, "instances": 2, "steps": 20, "seed": 0, "device": "cpu"}
    losses = [toy.phase_cell(relative=relative, **call)["theory"] for relative in (0.1, 0.9, 1.5)]
    assert losses[0] == pytest.approx(0.1 * (0.3 / 3 - 0.3**2 / 4), rel=1e-6)  # it is left out, and costs its variance
    assert losses == sorted(losses)
    with pytest.raises(ValueError, match="relative = 0 is out of range"):
        toy.phase_cell(relative=0, **call)
