"""Ceilings of a known dictionary against independent computations, and the benchmark that they belong to."""

import itertools
import json
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from superposition import decoders, features, frequencies
from superposition.decoders import dictionaries, yardsticks
from superposition.features import Estimate
from superposition.rug import meanfield

RECIPES = Path(__file__).resolve().parents[2] / "book" / "recipes.md"
CODE = r"^```python\n(.*?)^```$"


def rows(truth, **options):
    return {row.reader: row for row in decoders.ceilings(truth, **options)}


def test_the_ladder_of_a_large_rug_is_that_of_the_theory():
    truth = decoders.dictionary(1024, 384, p=0.05)
    found = rows(truth, looks=3, samples=200)
    assert found["linear"].loss == pytest.approx(float(meanfield.linear_loss(0.05, 0.375)), rel=1e-9)
    evolution = decoders.state_evolution(0.05, 0.375, 3).loss
    single = [found["one ReLU"].loss, found["one look, Bayes"].loss]
    left_out = 1 / (0.05 * 1024)  # of the order of one over the number of features that are on
    np.testing.assert_allclose(single, [float(meanfield.optimum(0.05, 0.375).loss), evolution[0]], rtol=left_out)
    np.testing.assert_allclose([found[name].loss for name in ("2 looks", "3 looks")], evolution[1:], rtol=1e-6)
    assert found["told the support"].loss < 1e-20
    assert [row.loss for row in found.values()] == sorted((row.loss for row in found.values()), reverse=True)


DRAWN = [  # features, dimensions, kind, probability: 0.2 to 102 features on at once
    (ns, nd, kind, on / ns)
    for on, ns, nd, kind in (
        (0.2, 64, 24, "rug"), (0.2, 48, 12, "random"), (0.4, 128, 16, "rug"), (0.4, 64, 32, "antipodal"),
        (0.7, 64, 24, "cone"), (0.7, 96, 24, "rug"), (1, 256, 32, "rug"), (1, 64, 20, "random"),
        (1.5, 64, 24, "antipodal"), (2, 64, 12, "rug"), (3.2, 64, 24, "rug"), (3.2, 64, 24, "random"),
        (5, 128, 48, "cone"), (6, 96, 60, "rug"), (10, 128, 64, "antipodal"), (13, 256, 96, "rug"),
        (25, 64, 48, "random"), (40, 160, 100, "rug"), (60, 256, 128, "rug"), (102, 256, 200, "rug"),
    )
]  # fmt: skip
LOT = 10 * np.arange(2) + np.random.default_rng(51).integers(0, 10, 2)  # one of each ten, in every run of the tests


@pytest.mark.parametrize(
    "number", [pytest.param(k, marks=() if k in LOT else pytest.mark.thorough) for k in range(len(DRAWN))]
)
def test_ceilings_hold_however_few_features_are_on(number):
    ns, nd, kind, p = DRAWN[number]
    truth = decoders.dictionary(ns, nd, kind, p=p, seed=number)
    found = yardsticks._single(truth, 1 if kind in yardsticks.ALIKE else ns, 0)
    assert [row.se for row in found] == [0, 0] and found[0].loss > found[1].loss > 0
    # ReLUs tuned on drawn interference, each own feature averaged exactly: other code, of chapter 9
    loss, error = frequencies.tuned_losses(truth.directions.T @ truth.directions, truth.p, samples=3000, seed=number)
    assert abs(loss.sum() / ns - found[0].loss) < 4 * error / ns + 0.002 * found[0].loss  # biases there are a grid
    # no reader of one look is better: means of x in bins of the look, fitted on one half and measured on the other
    x, h = truth.activations(4000, seed=100 + number)
    look = h @ truth.directions
    bins = np.digitize(look, np.quantile(look, np.linspace(0, 1, 61)[1:-1]))
    fit, fresh = slice(2000), slice(2000, None)
    total, count = (np.bincount(bins[fit].ravel(), weight, 60) for weight in (x[fit].ravel(), None))
    errors = Estimate.of(np.mean(((total / np.maximum(count, 1))[bins[fresh]] - x[fresh]) ** 2, axis=1))
    assert errors.mean > found[1].loss - 4 * errors.se


@pytest.mark.parametrize("seed", [51, 52])
@pytest.mark.parametrize("kind", yardsticks.ALIKE)
def test_directions_of_a_kind_are_alike(kind, seed):
    truth = decoders.dictionary(24, 12, kind, p=0.05, seed=seed)
    losses = np.array([yardsticks._of_direction(truth, i) for i in (0, 5, 12, 23)])
    # gain and bias are searched for, so a loss errs at second order; the limit is of seed 1 (6e-7), others decide
    np.testing.assert_allclose(losses, losses[:1].repeat(4, axis=0), rtol=2e-6)


def test_the_best_reader_of_one_look_reaches_its_ceiling():
    truth = decoders.dictionary(64, 24, p=0.01, seed=7)
    noise, masses, _, atom = yardsticks._interference(
        truth.directions[:, 0] @ truth.directions[:, 1:], truth.p[1:], 0.0
    )
    assert atom == pytest.approx(0.99**63) and masses.sum() + atom == pytest.approx(1, abs=1e-9)
    x, h = truth.activations(60_000, seed=0)
    look = h @ truth.directions
    assert masses @ noise**2 == pytest.approx(np.mean((look - x) ** 2), rel=0.02)
    # directions are alike, so that one table serves all; a bin of its own where nothing is on and the sum is exactly 0
    bins = np.where(np.abs(look) < 1e-12, 401, np.digitize(look, np.linspace(-0.5, 1.2, 400)))
    fit, fresh = slice(30_000), slice(30_000, None)
    total, count = (np.bincount(bins[fit].ravel(), weight, 402) for weight in (x[fit].ravel(), None))
    errors = Estimate.of(np.mean(((total / np.maximum(count, 1))[bins[fresh]] - x[fresh]) ** 2, axis=1))
    law, fitting = yardsticks._of_direction(truth, 0)[1], 402 * 0.25 / (30_000 * 64)  # a variance of at most 1/4 a bin
    assert law - 4 * errors.se < errors.mean < law + 4 * errors.se + fitting < 1.5 * law


def test_unequal_features_are_sampled_with_an_error():
    truth = decoders.dictionary(40, 16, "random", p=0.05, exponent=0.5, seed=3)
    every, some = yardsticks._single(truth, 40, 0), yardsticks._single(truth, 24, 0)
    for whole, part in zip(every, some, strict=True):
        assert part.se > 0 and abs(part.loss - whole.loss) < 4 * part.se < 0.5 * whole.loss


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize(("kind", "exponent"), [("random", 0.5), ("cone", 0.0)])
def test_the_linear_ceiling_is_what_least_squares_reaches(kind, exponent, noise):
    truth = decoders.dictionary(24, 12, kind, p=0.1, exponent=exponent, noise=noise)
    x, h = truth.activations(60_000, seed=1)
    design = np.c_[h, np.ones(len(h))]
    errors = x - design @ np.linalg.lstsq(design, x, rcond=None)[0]
    se = np.mean(errors**2, axis=1).std() / len(x) ** 0.5
    assert abs(rows(truth, samples=4)["linear"].loss - np.mean(errors**2)) < 5 * se < 0.03 * np.mean(errors**2)


def test_noise_is_what_was_asked_for():
    truth = decoders.dictionary(64, 24, noise=0.3)
    x, h = truth.activations(5000, seed=0)
    left = h - x @ truth.directions.T
    assert left.std() == pytest.approx(0.3, rel=0.02) and abs(left.mean()) < 0.01
    quiet, loud = (rows(decoders.dictionary(64, 24, noise=noise), samples=1000) for noise in (0.0, 0.3))
    assert all(loud[name].loss > quiet[name].loss for name in ("linear", "one look, Bayes", "told the support"))


@pytest.mark.parametrize(("exponent", "p_max"), [(1, 0.3), (2, 0.2), (0.5, 1.0)])
def test_frequencies_are_cut_off_and_keep_their_mean(exponent, p_max):
    p = decoders.dictionary(100, 10, p=0.02, exponent=exponent, p_max=p_max).p
    assert p.max() <= p_max and p.mean() == pytest.approx(0.02) and np.all(np.diff(p) <= 0)
    free = np.flatnonzero(p < p_max)
    np.testing.assert_allclose(p[free] / p[free[-1]], (100 / (free + 1.0)) ** exponent)


def test_activations_alone_are_those_of_the_law():
    truth = decoders.dictionary(48, 16, p=0.1, exponent=0.5, noise=0.1)
    batches = list(itertools.islice(truth.batches(20_000, seed=0), 2))
    assert batches[0].dtype == np.float32 and batches[0].shape == (20_000, 16) and np.any(batches[0] != batches[1])
    D, variance = truth.directions, features.variance(truth.p)
    wanted = (D * variance) @ D.T + 0.01 * np.eye(16)
    np.testing.assert_allclose(np.cov(np.concatenate(batches).T), wanted, atol=0.006)  # 3 % of the diagonal
    np.testing.assert_allclose(np.concatenate(batches).mean(axis=0), D @ truth.p / 2, atol=0.015)


def test_splits_are_the_same_for_everybody_and_not_the_same():
    truth, again = (decoders.dictionary(32, 12, seed=3) for _ in range(2))
    other = decoders.dictionary(32, 12, seed=4)
    assert truth.fingerprint == again.fingerprint != other.fingerprint
    assert truth.fingerprint == "1e654b6b414eb7ba"
    for one, two in zip(truth.split("test", 50), again.split("test", 50), strict=True):
        np.testing.assert_array_equal(one, two)
    drawn = [truth.split(name, 50)[0] for name in dictionaries.SPLITS] + [other.split("test", 50)[0]]
    assert len({part.tobytes() for part in drawn}) == 4
    with pytest.raises(ValueError, match="name = 'valid' is unknown; allowed: train, validation, test"):
        truth.split("valid", 5)


def test_a_truth_is_kept_in_a_file(tmp_path):
    truth = decoders.dictionary(32, 12, "antipodal", exponent=0.5, noise=0.1)
    truth.save(tmp_path / "truth.npz")
    found = decoders.load_dictionary(tmp_path / "truth.npz")
    assert (found.kind, found.noise, found.fingerprint) == ("antipodal", 0.1, truth.fingerprint)
    np.testing.assert_array_equal(found.directions, truth.directions)
    np.testing.assert_array_equal(found.split("test", 5)[1], truth.split("test", 5)[1])
    with pytest.raises(ValueError, match="truth.txt has another ending; allowed: .npz"):
        truth.save(tmp_path / "truth.txt")


def test_a_truth_goes_to_sae_lens(tmp_path):
    truth = decoders.dictionary(32, 12, exponent=0.5)
    with pytest.raises(ValueError, match="strengths = None, and SAELens cannot draw ours; allowed: 'gaussian'"):
        truth.to_saelens(tmp_path)
    with pytest.raises(ValueError, match="would lose the noise of 0.3; allowed: noise = 0"):
        decoders.dictionary(32, 12, noise=0.3).to_saelens(tmp_path, strengths="gaussian")
    assert not list(tmp_path.iterdir())
    truth.to_saelens(tmp_path, strengths="gaussian")
    kept = load_file(tmp_path / "synthetic_model.safetensors")
    assert set(kept) == {"feature_vectors", "bias", "firing_probabilities"}
    np.testing.assert_allclose(kept["feature_vectors"].T, truth.directions, atol=1e-7)
    np.testing.assert_allclose(kept["firing_probabilities"], truth.p, rtol=1e-6)
    settings = json.loads((tmp_path / "synthetic_model_config.json").read_text())
    assert settings["num_features"] == 32 and settings["hidden_dim"] == 12 and settings["bias"] is False


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")  # of SAELens and what it imports
def test_the_recipe_trains_an_autoencoder_of_sae_lens():
    """With SAELens the recipe itself; without it the weights that it gave there (`sae_lens/make.py`)."""
    if find_spec("sae_lens"):
        [block] = (
            code for code in re.findall(CODE, RECIPES.read_text(encoding="utf-8"), re.M | re.S) if "SAETrainer" in code
        )
        exec(block, names := {})
        found, ceiling = names["found"], names["ceiling"]
    else:
        kept = load_file(Path(__file__).parent / "sae_lens" / "trained.safetensors")
        sae = decoders.SparseAutoencoder(kept["W_enc"].T, kept["b_enc"], kept["W_dec"].T, kept["b_dec"])
        truth = decoders.dictionary(64, 24, p=0.05)
        x, h = truth.split("test", 4000)
        found = decoders.scores(truth, x, sae=sae, hidden=h)
        ceiling = decoders.ceilings(truth, looks=1, samples=2)[1]
    assert found.recovered >= 0.9 and ceiling.reader == "one ReLU"  # it gave .984, and 1.14 times the ceiling
    assert ceiling.loss < found.loss < 1.5 * ceiling.loss


def test_difficulty_is_the_distance_to_the_threshold():
    r = float(decoders.recovery_ratio(0.05))
    easy, hard = (decoders.dictionary(1000, nd) for nd in (130, 100))
    assert easy.difficulty < 1 < hard.difficulty and easy.difficulty == pytest.approx(r / 0.13)
    assert decoders.final_loss(0.05, 0.13) == 0 < decoders.final_loss(0.05, 0.1)


def test_objects_other_than_dictionaries_are_refused():
    with pytest.raises(ValueError, match="truth = 'rug' is of another kind; allowed: Dictionary"):
        decoders.ceilings("rug")
