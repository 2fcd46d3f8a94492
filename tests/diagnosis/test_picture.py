"""The picture of a diagnosis: the star is where the model is, on the phase that is best there."""

import numpy as np
import pytest
from superposition import codes
from superposition.diagnosis import autoencoder, picture


def test_the_star_is_at_the_model(monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    code = codes.rug_code(32, 0.25, 0.1)
    found = autoencoder.diagnose(code.W_in, code.b, 0.1, W_out=code.W_out, samples=100)
    monkeypatch.setattr(picture, "ROWS", 2)
    fig = picture.draw(found)
    plane, losses, features = fig.axes
    assert [line.get_xydata().tolist() for line in plane.lines] == [[[0.25, 0.1]]]
    [star] = [line for line in losses.lines if line.get_label() == "this model"]
    assert star.get_xydata().tolist() == [[0.25, found.loss]]
    assert features.lines[0].get_label() == "32 heard"
    plt.close(fig)


def test_the_map_names_the_phase_of_most_features():
    hull = picture._with_fans(codes.hulls([0.05], points=10)[0])
    r = np.array([0.2, 0.45, 0.9])
    for phase, at in zip(picture._largest(hull, r), r, strict=True):
        parts = codes.best_known(0.05, at).parts
        assert phase == max(parts, key=lambda part: part.fraction).phase


@pytest.mark.parametrize("found", [None, "a text"])
def test_what_has_no_place(found):
    with pytest.raises(ValueError, match="has no place on the map; allowed: a diagnosis"):
        picture.draw(found)
