"""What the named runs of the chapter on gates compute at one point."""

import numpy as np
from superposition import receptive
from superposition.experiments import trained_gates


def hermite_ratios_of(law, strength):
    return trained_gates.hermite_ratios({"law": np.array([law]), "strength": np.array([strength])})["c3_over_c1"][0]


def test_what_the_named_runs_return():
    common = {"n": 32, "xi1": 2.0, "xi2": 1.0, "samples": 300, "steps": 20, "seed": 0}
    found = trained_gates.trained_fields(**common, gain=3.0, K=2)
    assert all(0 <= found[name] <= 1 for name in found if name != "device" and name != "n_ipr")
    assert trained_gates.trained_fields(**common, gain=3.0, K=2) == found
    other = trained_gates.other_marginal(**common, law="erf", strength=3.0, starts=2)
    assert other["n_ipr_low"] <= other["n_ipr"] <= other["n_ipr_high"]
    assert hermite_ratios_of("erf", 3.0) < 0 == hermite_ratios_of("elliptical", 1.0)
    still = trained_gates.basin(**common, gain=3.0, noise=0.0, trials=3)
    assert still["predicted"] in (0.0, 1.0) and 0 <= still["agrees"] <= 1


def test_a_tiling_of_all_pixels_is_the_best_of_the_tilings():
    losses = [trained_gates.tiled(12, 1.0, 0.5, 3.0, K)[1] for K in (1, 2, 4)]
    assert 0.5 > losses[0] > losses[1] > losses[2] > 0  # each tiling holds the one before
    field, loss = trained_gates.tiled(12, 1.0, 0.5, 3.0, 1)
    np.testing.assert_allclose(field[0], receptive.small_bump_field(12, 1.0, 0.5, 3.0, 0), atol=1e-12)
