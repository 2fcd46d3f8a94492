"""The picture of a diagnosis: the star is where the model is, on the phase that is best there."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from superposition import codes
from superposition.book import running
from superposition.diagnosis import autoencoder, picture, survey


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


def test_the_phase_of_most_features_is_that_of_the_nearer_corner():
    hull = [("dropped", 0.0, 1.0), ("fan", 0.5, 0.2), ("rug", 1.0, 0.0)]
    phases = picture._largest(hull, np.array([0.0, 0.1, 0.3, 0.6, 0.8, 1.0]))
    assert phases == ["dropped", "dropped", "fan", "fan", "rug", "rug"]


def test_the_map_has_the_colours_of_its_legend():
    mpl = pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    found, hull = SimpleNamespace(r=0.005, p=0.1), [("dropped", 0.0, 1.0), ("fan", 0.5, 0.2), ("rug", 1.0, 0.0)]
    picture._map(axes, found, np.array([0.1, 0.2]), [hull, hull[::2]])
    [mesh] = axes.collections
    shown, names = mesh.get_array(), list(picture.PHASES)
    assert shown.shape == (2, 240) and [names[k] for k in np.unique(shown)] == ["dropped", "fan", "rug"]
    for index, colour in enumerate(picture.PHASES.values()):
        assert mpl.colors.same_color(mesh.to_rgba(index, alpha=1.0), colour)
    patches = {patch.get_label(): patch for patch in axes.get_legend().get_patches()}
    assert list(patches) == ["dropped", "fan", "rug"] and mesh.get_rasterized()
    for name, patch in patches.items():
        assert mpl.colors.same_color(patch.get_facecolor(), (picture.PHASES[name], mesh.get_alpha()))
    r = mesh.get_coordinates()[0, :, 0]
    assert r[0] < 0.005 < r[1] and r[-2] < 0.999 < r[-1]  # the middles of the first and of the last cell


@pytest.mark.parametrize("found", [None, "a text"])
def test_what_has_no_place(found):
    with pytest.raises(ValueError, match="has no place on the map; allowed: a diagnosis"):
        picture.draw(found)


def digest(draw):
    """A figure by the words and the rounded numbers of its SVG, in matplotlib's own style."""
    mpl = pytest.importorskip("matplotlib")
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({"svg.hashsalt": "superposition", "svg.fonttype": "none"})
        figure, sink = draw(), io.StringIO()
        figure.savefig(sink, format="svg", metadata={"Date": None})
        mpl.pyplot.close(figure)
    return running.digest([{"data": {"image/svg+xml": sink.getvalue()}}])


@pytest.mark.thorough
def test_a_picture_is_the_one_that_is_stored(monkeypatch):
    monkeypatch.setattr(picture, "ROWS", 1)
    monkeypatch.setattr(codes, "LARGEST_FAN", 6)
    W = np.diag([1, 1, 0.05, 0.9, 1, 0.5]) - 0.1 * (np.arange(36).reshape(6, 6) % 5 == 2)
    found = autoencoder.diagnose(W, [0, 0, 0, -0.1, -3, 0.1], 0.05, samples=100, nd=3)
    assert digest(lambda: picture.draw(found, title="a $b$")) == "5c98c43cdc12862f"
    from matplotlib.figure import Figure

    found.rows.b_eff[0] = -20
    axes = Figure().add_subplot()
    picture._features(axes, found)
    assert axes.get_yscale() == "symlog" and axes.yaxis.get_transform().linthresh == 1
    found.rows.b_eff[:] = [-10, 0, 0, 0, 0, 0]
    axes = Figure().add_subplot()
    picture._features(axes, found)
    assert axes.get_yscale() == "linear"


def test_a_picture_of_a_survey_is_the_one_that_is_stored():
    def row(release, L0, noise, capacity):
        known = {"release": release, "L0": L0, "noise over least": noise, "capacity": capacity, "width": 64}
        return dict.fromkeys(survey.COLUMNS, "") | known | {"effective dimensions": 3.5}

    rows = [row(f"r{i}", 2.0 + i, 1.1 + i / 10, 9.0 * i + 1) for i in range(12)] + [row("a$b", "", 2.0, "")]
    assert digest(lambda: survey.draw(rows)) == "57e32094b3154e8a"
