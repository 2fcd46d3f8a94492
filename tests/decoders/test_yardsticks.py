"""Ceilings of a known dictionary against independent computations, and the benchmark that they belong to."""

import itertools
import json

import numpy as np
import pytest
from safetensors.numpy import load_file
from superposition import decoders, features
from superposition.decoders import dictionaries, yardsticks
from superposition.rug import meanfield


def rows(truth, **options):
    return {row.reader: row for row in decoders.ceilings(truth, **options)}


def test_the_ladder_of_a_rug_is_that_of_the_theory():
    truth = decoders.dictionary(256, 96, p=0.05)
    found = rows(truth, looks=3, samples=500)
    assert found["linear"].loss == pytest.approx(float(meanfield.linear_loss(0.05, 96 / 256)), rel=1e-9)
    evolution = decoders.state_evolution(0.05, 96 / 256, 3).loss
    names = ("one look, Bayes", "2 looks", "3 looks")
    np.testing.assert_allclose([found[name].loss for name in names], evolution, rtol=1e-6)
    assert found["told the support"].loss < 1e-20  # never more than 96 on at once here
    losses = [row.loss for row in decoders.ceilings(truth, samples=500)]
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize(("kind", "exponent"), [("random", 0.5), ("cone", 0.0)])
def test_the_linear_ceiling_is_what_least_squares_reaches(kind, exponent, noise):
    truth = decoders.dictionary(24, 12, kind, p=0.1, exponent=exponent, noise=noise)
    x, h = truth.activations(60_000, seed=1)
    design = np.c_[h, np.ones(len(h))]
    errors = x - design @ np.linalg.lstsq(design, x, rcond=None)[0]
    se = np.mean(errors**2, axis=1).std() / len(x) ** 0.5
    assert abs(rows(truth, samples=4)["linear"].loss - np.mean(errors**2)) < 5 * se < 0.03 * np.mean(errors**2)


def test_one_relu_by_simulation_is_the_law_where_there_is_one():
    truth = decoders.dictionary(512, 200, p=0.05)
    found = yardsticks._simulated("one ReLU", yardsticks._one_relu, truth, 4000, 0)
    law = rows(truth, samples=4)["one ReLU"]
    assert law.evidence == "law" and abs(found.loss / law.loss - 1) < 0.03  # 512 features, 13 shifts
    assert rows(decoders.dictionary(64, 24, exponent=0.5), samples=40)["one ReLU"].evidence == "simulation"


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


def test_difficulty_is_the_distance_to_the_threshold():
    r = float(decoders.recovery_ratio(0.05))
    easy, hard = (decoders.dictionary(1000, nd) for nd in (130, 100))
    assert easy.difficulty < 1 < hard.difficulty and easy.difficulty == pytest.approx(r / 0.13)
    assert decoders.final_loss(0.05, 0.13) == 0 < decoders.final_loss(0.05, 0.1)


def test_objects_other_than_dictionaries_are_refused():
    with pytest.raises(ValueError, match="truth = 'rug' is of another kind; allowed: Dictionary"):
        decoders.ceilings("rug")
