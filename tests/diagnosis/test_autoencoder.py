"""A diagnosis of models whose answer is known: rugs, fans, cones, a trained tile, and planted faults."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import superposition
from safetensors.numpy import save_file
from superposition import codes
from superposition.diagnosis import FeatureLaw, autoencoder, feature_laws, gains, measures, report
from superposition.rug import meanfield, rugs
from superposition.rug.model import row_statistics

RECORDS = Path(__file__).resolve().parents[2] / "book" / "data" / "records"
P = 0.05


def diagnosed(code, **options):
    return superposition.diagnose(code.W_in, code.b, P, W_out=code.W_out, **options)


@pytest.fixture(scope="module")
def exact_rug():
    return diagnosed(codes.rug_code(128, 0.2, P))


def test_an_exact_rug_is_what_the_theory_says(exact_rug):
    best = meanfield.optimum(P, 25 / 128)
    assert (exact_rug.ns, exact_rug.nd, exact_rug.heard.all()) == (128, 25, True)
    np.testing.assert_allclose(exact_rug.rows.diagonal, best.a, rtol=1e-9)
    np.testing.assert_allclose(exact_rug.rows.b_eff, best.b, rtol=1e-9)
    np.testing.assert_allclose([exact_rug.sigma, exact_rug.sigma_bound], best.sigma, rtol=1e-9)
    np.testing.assert_allclose(exact_rug.gaussian, best.loss, rtol=1e-9)
    np.testing.assert_allclose(exact_rug.loudness, 1, rtol=1e-6)
    assert exact_rug.rows.Lambda == pytest.approx(0.13, abs=0.03)  # 1 / sqrt(ns) at least


def test_the_gaussian_is_not_what_is_simulated(exact_rug):
    # it is 3 % off at 128 features; all rows of a rug are one row in another order
    exact = rugs.row_loss(exact_rug.W[0, 1:] / exact_rug.W[0, 0], exact_rug.W[0, 0], exact_rug.rows.b_eff[0], P)
    assert abs(exact - exact_rug.simulated.mean) < 4 * exact_rug.simulated.se
    assert abs(exact_rug.gaussian - exact_rug.simulated.mean) > 10 * exact_rug.simulated.se
    np.testing.assert_allclose(exact_rug.by_feature.mean(), exact_rug.simulated.mean, rtol=1e-12)


def test_statistics_of_rows_by_blocks_are_those_of_the_whole(monkeypatch):
    rng = np.random.default_rng(0)
    W_in, W_out, b = rng.standard_normal((5, 30)), rng.standard_normal((30, 5)), rng.standard_normal(30)
    monkeypatch.setattr(measures, "BLOCK", 210)
    found, whole = autoencoder.diagnose(W_in, b, P, W_out=W_out, samples=10).rows, row_statistics(W_out @ W_in, b, P)
    for name in ("diagonal", "b", "b_eff", "off_mean", "off_variance", "off_skewness", "lyapunov"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-10, atol=1e-12)
    assert found.Lambda == pytest.approx(whole.Lambda)


def test_an_antipodal_rug_has_partners_and_a_lower_loss():
    found = diagnosed(codes.rug_code(128, 0.2, P, antipodal=True))
    relative = found.W / found.rows.diagonal[:, None]
    np.testing.assert_allclose(relative.min(axis=1), -1, atol=1e-9)
    np.testing.assert_allclose(found.sigma, found.sigma_bound, rtol=1e-9)
    assert found.rows.off_skewness.mean() < -1
    assert found.loss + 4 * found.simulated.se < found.theory.loss < found.gaussian


@pytest.mark.parametrize(("code", "nd"), [(codes.priority_fan(10, 100), 2), (codes.cone(9, 3), 3)])
def test_loud_and_quiet_codes_show_their_levels(code, nd):
    found = diagnosed(code)
    assert found.nd == nd == autoencoder.diagnose(code.W, code.b, P, samples=10).nd
    assert np.all(np.diff(np.log(found.loudness)) < 0)
    assert found.exact == pytest.approx(float(codes.fan_loss(P, len(code.b))), rel=0.05)  # of finite ratio
    assert abs(found.exact - found.simulated.mean) < 4 * found.simulated.se
    assert found.gaussian > found.theory.loss > found.exact


def test_a_graph_tile_has_no_triangles_and_a_random_code_has():
    tile = codes.graph_code(codes.graph_tile("Clebsch", P, 0.0), P)
    found = autoencoder.diagnose(tile.W, tile.b, P, samples=100)
    assert found.nd == 5 and found.triangle_free and found.partners == 5 and "without triangles" in str(found)
    W = np.random.default_rng(0).standard_normal((6, 40)) / np.sqrt(6)
    assert not autoencoder.diagnose(W, np.zeros(40), P, samples=100).triangle_free


def test_a_trained_tile_from_a_file_is_near_the_best_known():
    found = superposition.diagnose(RECORDS / "tile-5-11-p0.05.safetensors", p=P)
    assert (found.ns, found.nd) == (11, 5) and found.best.phase == "digon and swept"
    assert 1 < found.exact / found.best.loss < 1.01  # a search came that near to the chain of three beside digons
    assert f"{found.exact / found.best.loss:.4g} of the best known (digon and swept)" in str(found).splitlines()[0]


def test_planted_faults_are_found(monkeypatch):
    monkeypatch.setattr(gains, "WORTH", 0.01)
    rng = np.random.default_rng(1)
    W = rng.standard_normal((20, 60)) / np.sqrt(20)
    b = np.full(60, -0.2)
    W[:, :7], b[:7], b[7:10] = 0, P / 2, -20
    found = autoencoder.diagnose(W, b, P, samples=20000)
    assert list(found.kind) == ["dropped"] * 7 + ["dead"] * 3 + ["heard"] * 50
    assert "50 heard, 7 dropped (a gain below a tenth of the largest), 3 dead (an output" in str(found)
    assert "biases for 3 silent outputs" in str(found) and "(an output that does not answer its feature)" in str(found)
    lost = found.by_feature[7:10].sum() / found.by_feature.sum()
    gain = next(one.gain for one in gains.of(found) if "silent" in one.words)
    assert gain < lost and gain == pytest.approx(lost - 3 * found.by_feature[10:].sum() / 50 / found.by_feature.sum())
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
    forms = [autoencoder.diagnose(*form, P, samples=100) for form in forms]
    forms.append(autoencoder.diagnose(W, b, P, W_out=W.T, samples=100))
    said = {"".join(line for line in str(found).splitlines() if not line.startswith("read as")) for found in forms}
    assert len(said) == 1


def test_another_law_gives_the_same_where_it_is_the_same():
    W = np.random.default_rng(3).standard_normal((20, 60)) / np.sqrt(20)
    b = np.full(60, -0.2)
    known = autoencoder.diagnose(W, b, P, samples=3000)
    other = autoencoder.diagnose(W, b, law=feature_laws.uniform_law(P), samples=3000)
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

    code = codes.rug_code(256, 0.3, 0.1)
    found = autoencoder.diagnose(code.W, code.b, nd=len(code.W_in), law=FeatureLaw(0.1, 0.19, sampler))
    assert found.sigma_bound == pytest.approx(np.sqrt(0.19 * (256 / found.nd - 1)))
    np.testing.assert_allclose(found.gaussian, found.simulated.mean, rtol=0.03)  # Gaussian, at 256 features
    assert found.theory.loss < found.loss and "mean 0.1, variance 0.19" in str(found)


def test_progress_is_told():
    told = []
    autoencoder.diagnose(np.eye(3), np.zeros(3), P, samples=5, progress=lambda *at: told.append(at))
    assert told == [(3, 17), (6, 17), (11, 17), (14, 17), (17, 17)]  # rows, rank, vectors, capacity, spread


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"W": np.eye(3), "b": None, "p": P}, "b = None; allowed: a bias"),
        ({"W": np.eye(3), "b": np.zeros(3)}, "l0 = None; allowed: one of them, .* --p, --l0, --firing, --feat"),
        ({"W": np.ones((2, 4)), "b": np.ones((4, 2)), "p": P}, r"a bias .* diagnose\(W_in, b, p, W_out=W_out\)"),
        ({"W": np.ones((1, 4)), "b": np.ones((4, 1)), "p": P}, r"b has shape \(4, 1\) beside W \(1, 4\), as"),
        ({"W": np.eye(3), "b": np.zeros(3), "p": 1}, "p = 1 is out of range"),
        ({"W": np.eye(3), "b": np.zeros(3), "p": P, "nd": 4}, "nd = 4 is out of range"),
        ({"W": -np.eye(3), "b": np.zeros(3), "p": P}, "whose outputs are all silent or unheard"),
        ({"W": np.eye(4)[:, :2], "b": np.zeros(3), "p": P}, "which do not fit; allowed: W"),
        ({"W": np.eye(3), "b": np.zeros(3), "p": [0.1, 0.2]}, r"p has shape \(2,\); allowed: one number, or \(3,\)"),
        ({"W": np.eye(3), "b": np.zeros(3), "l0": 4}, "l0 = 4 is out of range"),
        ({"W": np.eye(3), "b": np.zeros(3), "p": P, "instance": 1}, "instance = 1 of weights without instances"),
        ({"W": np.eye(3), "b": np.zeros(3), "p": P, "strength": 0}, "strength = 0 is out of range"),
        ({"W": np.eye(3), "b": np.zeros(3), "law": "uniform"}, "law = 'uniform' is no law"),
        ({"W": "nowhere", "p": P}, "path = nowhere is no file; allowed: a file or folder with weights"),
        ({"W": "nowhere", "b": np.zeros(3), "p": P}, "beside a file; allowed: the file alone"),
    ],
)
def test_refusals(arguments, said):
    with pytest.raises(ValueError, match=said):
        superposition.diagnose(**arguments)


def test_no_more_dimensions_than_features():
    with pytest.raises(ValueError, match="nd = 6 is out of range; allowed: whole numbers from 1 to 4"):
        superposition.diagnose(np.eye(4), np.zeros(4), 0.1, nd=6)


def test_dead_and_dropped_are_told_by_what_they_do():
    W, b = np.eye(4), np.zeros(4)
    b[1], W[2, 2], b[3] = -2, 0, -0.9999  # one can never be on, one is on for others alone, one is on once in 10,000
    W[2, 0] = 1
    assert autoencoder.diagnose(W, b, P, samples=4000).kind.tolist() == ["heard", "dead", "dropped", "dead"]


def test_what_is_dead_by_far_is_so_on_a_few_vectors_too():
    W, b = np.diag([1.0, 0.5, 0.8]), np.array([0.0, -2.0, -0.1])
    for samples in (autoencoder.JUDGED // 2, 20 * autoencoder.JUDGED):
        assert autoencoder.diagnose(W, b, P, samples=samples).kind.tolist() == ["heard", "dead", "heard"]


def test_a_product_in_single_precision_has_its_rank():
    code = codes.rug_code(64, 0.25, P)
    double, single = (autoencoder.diagnose(W, code.b, P, samples=100) for W in (code.W, code.W.astype(np.float32)))
    as_double = autoencoder.diagnose(code.W.astype(np.float32).astype(float), code.b, P, samples=100)
    assert double.nd == single.nd == as_double.nd == 16 and single.name == double.name == "a Persian rug"
    fan = codes.priority_fan(10, 8)
    assert autoencoder.diagnose(fan.W.astype(np.float32), fan.b, P, samples=100).nd == 2


def test_a_rank_below_the_width_is_said():
    rng = np.random.default_rng(0)
    W_in = rng.standard_normal((8, 3)) @ rng.standard_normal((3, 20)) / 5
    found = autoencoder.diagnose(W_in, np.zeros(20), P, samples=100)
    assert (found.nd, found.rank) == (8, 3) and "in 8 dimensions, of which 3 are used, r = 0.4" in str(found)
    assert found.capacity < 3 + 1e-9


def test_capacity_is_that_of_the_text_that_defines_it():
    assert autoencoder.diagnose(*_halves(codes.rug_code(64, 0.25, P)), samples=100).capacity == pytest.approx(16)
    cone = autoencoder.diagnose(*_halves(codes.cone(9, 1)), samples=100)
    assert cone.capacity == pytest.approx(8 / 3)  # 4 / sum (1 + cos)^2 = 4 / (1.5 B) each
    fan = autoencoder.diagnose(*_halves(codes.priority_fan(10, 100)), samples=100)
    assert fan.capacity == pytest.approx(1, abs=1e-3)  # of 2: all but the loudest share what it leaves


def _halves(code):
    return {"W_in": code.W_in, "W_out": code.W_out, "b": code.b}, None, P


def test_effective_features_count_what_is_used_equally():
    eight = autoencoder.diagnose(np.eye(8), np.zeros(8), 0.5, samples=40000)
    assert eight.effective == pytest.approx(1, rel=1e-3)
    half = autoencoder.diagnose(np.eye(8), np.r_[np.zeros(4), -np.ones(4)], 0.5, samples=40000)
    assert half.effective == pytest.approx(0.5, rel=1e-3)


def test_every_feature_may_have_its_own_probability():
    rng = np.random.default_rng(5)
    W, b, each = rng.standard_normal((6, 20)) / 3, np.full(20, -0.1), np.linspace(0.02, 0.2, 20)
    found = autoencoder.diagnose(W, b, each, samples=100_000)
    x = (rng.random((100_000, 20)) < each) * rng.random((100_000, 20))
    errors = np.mean((x - np.maximum(x @ W.T @ W + b, 0)) ** 2, axis=1)
    se = np.hypot(found.simulated.se, errors.std() / 100_000**0.5)
    assert abs(found.loss - errors.mean()) < 4 * se < 0.05 * errors.mean()
    assert found.p == pytest.approx(0.11) and "p = 0.11 in the mean" in str(found) and found.partner is None
    same = autoencoder.diagnose(W, b, np.full(20, 0.1), samples=1000)
    assert same.simulated == autoencoder.diagnose(W, b, 0.1, samples=1000).simulated
    assert same.simulated == autoencoder.diagnose(W, b, l0=2, samples=1000).simulated


def test_rare_features_and_some_that_never_are():
    W, b = np.random.default_rng(0).standard_normal((6, 30)) / 3, np.full(30, -0.01)
    assert autoencoder.diagnose(W, b, 1e-6, samples=200).p == 1e-6
    found = autoencoder.diagnose(W, b, np.r_[0, 0, np.full(28, 0.1)], samples=2000)
    assert found.by_feature[:2].max() < found.by_feature[2:].min()


def test_strength_is_the_unit_of_biases():
    W, b = np.array([[1, -0.3], [-0.3, 1]]), np.array([-0.2, -0.1])
    found = autoencoder.diagnose(W, 6 * b, P, strength=3, samples=1000)
    assert found.simulated == autoencoder.diagnose(W, b, P, samples=1000).simulated


# The power of the unit of the outputs with which a result goes. Losses compare outputs with features, and have none.
POWERS = {"b": 1, "b_eff": 1, "diagonal": 1, "off_mean": 1, "strongest": 1, "mean": 1, "noise": 2, "off_variance": 2}
POWERS |= dict.fromkeys(
    (
        *("columns", "partners", "mutual", "clustering", "sigma", "spread", "loudness", "capacity", "heard", "kind"),
        *("name", "rank", "effective", "answers", "restless", "pushed", "off_skewness", "lyapunov", "dead", "refitted"),
    ),
    0,
)


@pytest.mark.parametrize("unit", [1 / 32, 32])
def test_outputs_in_another_unit_have_the_same_diagnosis(unit):
    rng = np.random.default_rng(0)
    W, loud = rng.standard_normal((3, 6)) * [1, 1, 1, 1, 1, 0.35], np.exp(rng.uniform(-1, 1, 6))
    W, b, p = (
        W.T @ W * loud / loud[:, None],
        np.array([-0.1, -0.02, 0.05, -0.2, -0.1, 0]),
        [0.05, 0.1, 0.2, 0.4, 0.1, 0.02],
    )
    first, second = (superposition.diagnose(c * W, c * b, p, samples=2000) for c in (1, unit))
    assert {"heard", "dropped"} <= set(first.kind)
    for name, power in POWERS.items():
        one, other = (next(getattr(part, name) for part in (d.measured, d.rows, d.behaviour, d) if hasattr(part, name))
                      for d in (first, second))  # fmt: skip
        if isinstance(one, str) or np.asarray(one).dtype.kind == "U":
            assert np.all(one == other), name
        elif hasattr(one, "toarray"):
            assert (one != other).nnz == 0, name
        else:
            np.testing.assert_allclose(other, unit**power * np.asarray(one, float), rtol=1e-9, err_msg=name)


def test_biases_that_are_off_are_named():
    code = codes.rug_code(128, 0.2, P)
    found = autoencoder.diagnose(code.W_in, code.b - 0.2, P, W_out=code.W_out, samples=20_000)
    assert found.refitted < 0.9 * found.loss and "biases and gains moved and scaled together" in str(found)
    right = autoencoder.diagnose(code.W_in, code.b, P, W_out=code.W_out, samples=20_000)
    assert right.refitted > 0.97 * right.loss and [one.words for one in gains.of(right)] == ["training longer"]


@pytest.mark.parametrize(
    ("bias", "gain", "said"),
    [(0.3, 1, "bias above the others"), (-0.3, 1, "bias below the others"), (0, 3, "gain 3 times"), (0, 1, "")],
)
def test_a_feature_that_is_unlike_the_others_is_named_with_its_reason(bias, gain, said):
    code = codes.rug_code(64, 0.25, P)
    W, b = code.W.copy(), code.b.copy()
    W[5, 5], b[5] = gain * W[5, 5], gain * b[5] + bias
    found = superposition.diagnose(W, b, P, samples=2000)
    assert gains._reason(found, 5).startswith(said or gains.COMMON)
    assert {gains._reason(found, i) for i in range(64) if i != 5} == {gains.COMMON}


def test_large_models_are_measured_by_blocks_and_by_lengths():
    rng = np.random.default_rng(6)
    loud = np.exp(rng.standard_normal(600) / 2)
    G = rng.standard_normal((64, 600)) / 8
    found = autoencoder.diagnose(G * loud, np.full(600, -0.2), 0.02, W_out=(G / loud).T, samples=200)
    assert found.name == "a random frame, by its eigenvalues" and found.heard.mean() > 0.9
    here, there = np.log(found.loudness[found.heard]), np.log(loud[found.heard])
    assert np.corrcoef(here, there)[0, 1] > 0.95  # lengths are those of random columns too


def test_an_entry_as_large_as_is_allowed_is_taken():
    W = np.eye(4)
    W[0, 0] = measures.LARGEST
    assert np.isfinite(superposition.diagnose(W, np.zeros(4), 0.1).loss)
    with pytest.raises(ValueError, match="is out of range; allowed: "):
        superposition.diagnose(2 * W, np.zeros(4), 0.1)


def test_a_rug_has_the_noise_of_a_rug_of_its_ratio():
    found = autoencoder.diagnose(*_halves(codes.rug_code(64, 0.25, P)), samples=100)
    assert gains.ratio_of(found) == pytest.approx(0.25)


@pytest.mark.parametrize(("loss", "named"), [(0.0104, False), (0.0106, True), (0.009, False)])
def test_another_code_is_named_where_it_loses_less_by_a_twentieth(loss, named):
    faultless = {"by_feature": np.ones(3), "kind": np.full(3, "heard"), "ns": 3, "p": None, "company": None,
                 "finished": None}  # fmt: skip
    found = SimpleNamespace(
        loss=loss, best=SimpleNamespace(loss=0.01), refitted=0.02, simulated=SimpleNamespace(mean=0.02),
        weights=SimpleNamespace(is_sae=False), **faultless,
    )  # fmt: skip
    assert report._advice(found) == "No mend gains 5 %" + (": only another code loses less." if named else ".")
