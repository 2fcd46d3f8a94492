"""Points of the run on trained decoders of several layers: small ones."""

import pytest
from rows import as_read
from superposition.experiments import decoder_layers
from superposition.rug import meanfield

CODE = {"ns": 16, "nd": 8, "p": 0.1, "start": "random", "code": "trained"}
POINT = {**CODE, "layers": 1, "steps": 20, "lr": 0.01, "seed": 0}


def test_a_point_is_over_its_rug_and_has_a_second_decoder_if_asked():
    point = {**POINT, "later": 0}
    found = as_read("decoder-layers", point, decoder_layers.reading(**point))
    assert found["over_rug"] == pytest.approx(found["loss"] / float(meanfield.optimum(0.1, 0.5).loss))
    assert found["later_loss"] == found["loss"]
    again = decoder_layers.reading(**{**POINT, "later": 2})
    assert again["loss"] == found["loss"] and again["later_loss"] != found["loss"]


def test_digons_that_are_kept_have_the_loss_that_no_decoder_takes_away():
    from superposition import decoders

    point = {**POINT, "start": "antipodal", "code": "kept", "later": 0}
    found = decoder_layers.reading(**point)
    assert found["opposite"] == 1 and found["met"] == pytest.approx(1, abs=1e-3)
    assert found["many_loss"] > 0.9 * float(decoders.digon_bayes_loss(0.1))
