"""A diagnosis of models whose answer is known: rugs, fans, cones, a trained tile, and planted faults."""

from pathlib import Path

import numpy as np
import pytest
import superposition
from safetensors.numpy import save_file
from superposition.codes import best_map, fans, graphs
from superposition.diagnosis import FeatureLaw, autoencoder
from superposition.rug import meanfield

RECORDS = Path(__file__).resolve().parents[2] / "book" / "data" / "records"
P = 0.05


def diagnosed(code, **options):
    return superposition.diagnose(code.W_in, code.b, P, W_out=code.W_out, **options)


@pytest.fixture(scope="module")
def exact_rug():
    return diagnosed(best_map.rug_code(128, 0.2, P))


def test_an_exact_rug_is_what_the_theory_says(exact_rug):
    best = meanfield.optimum(P, 25 / 128)
    assert (exact_rug.ns, exact_rug.nd, exact_rug.heard.all()) == (128, 25, True)
    np.testing.assert_allclose(exact_rug.rows.diagonal, best.a, rtol=1e-9)
    np.testing.assert_allclose(exact_rug.rows.b_eff, best.b, rtol=1e-9)
    np.testing.assert_allclose([exact_rug.sigma, exact_rug.sigma_bound], best.sigma, rtol=1e-9)
    np.testing.assert_allclose(exact_rug.gaussian, best.loss, rtol=1e-9)
    np.testing.assert_allclose(exact_rug.loudness, 1, rtol=1e-6)
    assert exact_rug.rows.Lambda == pytest.approx(0.13, abs=0.03)  # 1 / sqrt(ns) at least


def test_the_law_of_the_rows_is_what_is_simulated_and_the_gaussian_is_not(exact_rug):
    # all rows of a rug are one row in another order; the Gaussian is 3 % off at 128 features
    assert exact_rug.rows_by_law == 128
    assert abs(exact_rug.by_law - exact_rug.simulated.mean) < 4 * exact_rug.simulated.se
    assert abs(exact_rug.gaussian - exact_rug.simulated.mean) > 10 * exact_rug.simulated.se
    np.testing.assert_allclose(exact_rug.by_feature.mean(), exact_rug.simulated.mean, rtol=1e-12)


def test_an_antipodal_rug_has_partners_and_a_lower_loss():
    found = diagnosed(best_map.rug_code(128, 0.2, P, antipodal=True))
    relative = found.W / found.rows.diagonal[:, None]
    np.testing.assert_allclose(relative.min(axis=1), -1, atol=1e-9)
    np.testing.assert_allclose(found.sigma, found.sigma_bound, rtol=1e-9)
    assert found.rows.off_skewness.mean() < -1
    assert found.loss + 4 * found.simulated.se < found.theory.loss < found.gaussian


@pytest.mark.parametrize(("code", "nd"), [(fans.priority_fan(10, 100), 2), (fans.cone(9, 3), 3)])
def test_loud_and_quiet_codes_show_their_levels(code, nd):
    found = diagnosed(code)
    assert found.nd == nd == autoencoder.diagnose(code.W, code.b, P, samples=10).nd
    assert np.all(np.diff(np.log(found.loudness)) < 0)
    assert found.exact == pytest.approx(float(fans.fan_loss(P, len(code.b))), rel=0.05)  # of finite ratio
    assert abs(found.exact - found.simulated.mean) < 4 * found.simulated.se
    assert found.gaussian > found.theory.loss > found.exact


def test_a_graph_tile_has_no_triangles_and_a_random_code_has():
    tile = graphs.graph_code(graphs.graph_tile("Clebsch", P, 0.0), P)
    found = autoencoder.diagnose(tile.W, tile.b, P, samples=100)
    assert found.nd == 5 and found.triangle_free and found.graph["partners"] == 5 and "without triangles" in str(found)
    W = np.random.default_rng(0).standard_normal((6, 40)) / np.sqrt(6)
    assert not autoencoder.diagnose(W, np.zeros(40), P, samples=100).triangle_free


def test_a_trained_tile_from_a_file_is_near_the_best_known():
    found = superposition.diagnose(RECORDS / "tile-5-11-p0.05.safetensors", p=P)
    assert (found.ns, found.nd) == (11, 5) and found.best.phase == "digon and swept"
    assert 0.9 < found.exact / found.best.loss < 1  # what a search found and no formula has
    assert f"{found.exact / found.best.loss:.4g} of the best known (digon and fan)" in str(found)


def test_planted_faults_are_found():
    rng = np.random.default_rng(1)
    W = rng.standard_normal((20, 60)) / np.sqrt(20)
    b = np.full(60, -0.2)
    W[:, :7], b[:7], b[7:10] = 0, P / 2, -20
    found = autoencoder.diagnose(W, b, P, samples=20000)
    assert list(found.kind) == ["dropped"] * 7 + ["dead"] * 3 + ["heard"] * 50
    assert "50 heard, 7 dropped, 3 dead" in str(found)
    assert found.sigma_bound == pytest.approx(meanfield.noise_std(P, 20 / 50)) and found.sigma > found.sigma_bound
    assert np.isnan(found.loudness[:10]).all() and not np.isnan(found.loudness[10:]).any()
    variance, power = (4 * P - 3 * P**2) / 12, P / 3
    np.testing.assert_allclose(found.by_feature[:7].mean(), variance, rtol=0.02)  # 7 x 20000 x 0.05 values: 0.9 %
    np.testing.assert_allclose(found.by_feature[7:10].mean(), power, rtol=0.04)


def test_all_forms_of_the_same_weights_agree(tmp_path):
    W = np.random.default_rng(2).standard_normal((4, 10)) / 2
    b = np.full(10, -0.1)
    save_file({"W_in": W, "W_out": W.T.copy(), "b": b}, tmp_path / "file")
    forms = [(W, b), (W.T @ W, b), (tmp_path / "file", None), (str(tmp_path / "file"), None)]
    said = {str(autoencoder.diagnose(*form, P, samples=100)) for form in forms}
    assert len(said) == 1
    assert said == {str(autoencoder.diagnose(W, b, P, W_out=W.T, samples=100))}


def test_another_law_gives_the_same_where_it_is_the_same():
    W = np.random.default_rng(3).standard_normal((20, 60)) / np.sqrt(20)
    b = np.full(60, -0.2)
    known = autoencoder.diagnose(W, b, P, samples=3000)
    other = autoencoder.diagnose(W, b, law=autoencoder.uniform_law(P), samples=3000)
    assert other.best is None and other.partner is None and other.p is None
    np.testing.assert_array_equal(other.kind, known.kind)
    np.testing.assert_allclose(other.rows.b_eff, known.rows.b_eff, rtol=1e-12)
    np.testing.assert_allclose(other.sigma, known.sigma, rtol=1e-12)
    assert other.simulated == known.simulated
    # 10000 of the 200000 values that stand for the law are on
    np.testing.assert_allclose([other.gaussian, other.theory.loss], [known.gaussian, known.theory.loss], rtol=0.02)


def test_exponential_features_by_mean_variance_and_sampler():
    def sampler(rng, shape):
        return (rng.random(shape) < 0.1) * rng.exponential(size=shape)

    code = best_map.rug_code(256, 0.3, 0.1)
    found = autoencoder.diagnose(code.W, code.b, nd=len(code.W_in), law=FeatureLaw(0.1, 0.19, sampler))
    assert found.sigma_bound == pytest.approx(np.sqrt(0.19 * (256 / found.nd - 1)))
    np.testing.assert_allclose(found.gaussian, found.simulated.mean, rtol=0.03)  # Gaussian, at 256 features
    assert found.theory.loss < found.loss and "mean 0.1, variance 0.19" in str(found)


def test_progress_is_told():
    told = []
    autoencoder.diagnose(np.eye(3), np.zeros(3), P, samples=5, progress=lambda *at: told.append(at))
    assert told == [(5, 5)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"W": np.eye(3), "b": None, "p": P}, "b = None; allowed: a bias"),
        ({"W": np.eye(3), "b": np.zeros(3)}, "p = None and law = None; allowed: one of the two"),
        ({"W": np.eye(3), "b": np.zeros(3), "p": 1}, "p = 1 is out of range"),
        ({"W": np.eye(3), "b": np.zeros(3), "p": P, "nd": 4}, "nd = 4 is out of range"),
        ({"W": -np.eye(3), "b": np.zeros(3), "p": P}, "has no positive diagonal that is heard"),
        ({"W": np.eye(3)[:, :2], "b": np.zeros(3), "p": P}, "which do not fit; allowed: W"),
        ({"W": np.eye(3), "b": np.zeros(3), "law": "uniform"}, "law = 'uniform' is no law"),
        ({"W": "nowhere", "p": P}, "path = nowhere is no file"),
        ({"W": "nowhere", "b": np.zeros(3), "p": P}, "beside a file; allowed: the file alone"),
    ],
)
def test_refusals(arguments, said):
    with pytest.raises(ValueError, match=said):
        superposition.diagnose(**arguments)


def test_no_more_dimensions_than_features():
    with pytest.raises(ValueError, match="nd = 6 is out of range; allowed: whole numbers from 1 to 4"):
        superposition.diagnose(np.eye(4), np.zeros(4), 0.1, nd=6)
