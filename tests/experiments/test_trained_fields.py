"""What the named runs of chapter 6 compute at one point."""

import numpy as np
import pytest
from superposition import runs
from superposition.experiments import single_fields, trained_fields

SMALL = {"n": 12, "xi1": 1.0, "xi2": 0.5, "initials": 2, "steps": 30, "lr": 0.2, "batch": 100, "seed": 0}


def test_localization_and_its_control():
    common = {"n": 40, "xi1": 2.0, "xi2": 1.0, "gain": 3.0, "K": 1, "initials": 6, "steps": 400, "lr": 0.5}
    found, clone = (
        trained_fields.localization(law=law, batch=2000, seed=0, device="cpu", **common) for law in ("nlgp", "clone")
    )
    assert found["lowest"] > clone["highest"] and found["width"] < clone["width"]
    assert len(found["values"].split()) == 6 and found["loss"] < 0.25


@pytest.mark.parametrize(
    ("module", "name", "extra"),
    [
        (single_fields, "location", {"gain": 3.0, "scale": 1.0}),
        (single_fields, "onset", {"fraction": 1.5, "law": "clone"}),
        (trained_fields, "bias_sign", {"gain": 3.0, "activation": "erf", "bias": -1.0, "K": 2}),
        (trained_fields, "sign_flips", {"gain": 3.0, "K": 2, "keep_every": 10}),
    ],
)
def test_points_of_the_runs_return_finite_numbers(module, name, extra):
    found = getattr(module, name)(**SMALL, **extra, device="cpu")
    assert all(isinstance(value, str) or np.isfinite(value) for value in found.values())


def test_every_point_of_the_runs_is_allowed():
    for name in ("field-gain", "field-where", "field-onset", "field-critical", "field-bias", "field-flips"):
        for grid in runs.GRIDS:
            assert runs.points(runs.find(name), grid)


def test_kurtosis_of_a_mixture_of_gaussians():
    rng = np.random.default_rng(0)
    x1, x0 = 3 * rng.standard_normal((400_000, 1)), rng.standard_normal((400_000, 1))
    found = trained_fields.preactivation_kurtosis([[1.0]], x1, x0)
    assert found["kurtosis_mixture"] == pytest.approx(3 * 0.8**2, rel=0.02)
    # standard error of the kurtosis of 4e5 values of a law with this much: below 0.03
    assert found["kurtosis_pooled"] == pytest.approx(3 * 0.8**2, abs=0.12)
    assert found["kurtosis_1"] == pytest.approx(0, abs=0.04)


@pytest.mark.parametrize(
    ("call", "message"),
    [(lambda: trained_fields.batches("cauchy", 12, 1, 0.5, 1, 10, seed=0), "law = 'cauchy' is unknown")],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
