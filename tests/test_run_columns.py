"""What named runs write into their columns, each computed a second time from what it is said to be."""

from types import SimpleNamespace

import numpy as np
import pytest
from superposition import codes, features, receptive, rug

torch = pytest.importorskip("torch")
from superposition.experiments import (  # noqa: E402
    autoencoders,
    best_codes,
    controls,
    decoder_ladder,
    other_networks,
    other_protocols,
    plain_crystals,
    predicted_fields,
    tiled_fields,
    tuned_codes,
    unequal,
    wide_networks,
)
from superposition.rug import optimum, protocols, training  # noqa: E402

POINT = {"ns": 9, "p": 0.2, "r": 1 / 3, "steps": 3, "seed": 0, "device": "cpu"}


@pytest.fixture
def model(monkeypatch):
    """What any training gives here: weights drawn at random; and what it was asked for."""
    rng, asked = np.random.default_rng(2), []
    settings = training.training_settings(9, 3, 0.2, 3, 64, None, None, "earlier", 0, "cpu")
    arrays = rng.standard_normal((3, 9)), rng.standard_normal((9, 3)), rng.standard_normal(9)
    made = training.TrainedModel(settings, *arrays, np.ones(3), 0.01, 0.001, False)
    monkeypatch.setattr(rug, "train_autoencoder", lambda *_, **options: asked.append(options) or made)
    made.__dict__["asked"] = asked
    return made


@pytest.mark.parametrize(
    ("function", "how"), [(autoencoders.stopped_autoencoder, {}), (other_protocols.trained_by, {"protocol": "recipe"})]
)
def test_mean_row_sum_of_the_off_diagonal(model, function, how):
    W = model.W_out @ model.W_in
    assert function(**POINT, **how)["off_sum_mean"] == pytest.approx((W.sum() - np.trace(W)) / 9)


@pytest.mark.parametrize(
    ("function", "how"),
    [(autoencoders.stopped_autoencoder, {}), (autoencoders.trained_autoencoder, {"protocol": "recipe", "rate": 1.0})],
)
def test_three_features_are_the_fewest(model, function, how):
    assert function(**{**POINT, "ns": 3}, **how)["nd"] == 1
    with pytest.raises(ValueError, match="ns = 2 is out of range; allowed: whole numbers from 3"):
        function(**{**POINT, "ns": 2}, **how)


def test_rate_is_a_multiple_of_the_protocols(model):
    for name in ("recipe", "text"):
        usual = protocols.training_protocol(name, 9, 3, 0.2).lr
        for share in (0.25, 1.0, 4.0):
            autoencoders.trained_autoencoder(**POINT, protocol=name, rate=share)
            assert model.asked[-1]["protocol"] == name and model.asked[-1]["lr"] == pytest.approx(share * usual)


def test_a_decreed_network_is_measured_as_it_is(monkeypatch):
    asked, made = {}, rug.continue_training
    monkeypatch.setattr(rug, "continue_training", lambda model, **how: asked.update(how) or made(model, **how))
    controls.gaussian_autoencoder(**POINT)
    assert asked["steps"] == 0 and asked["seed"] == POINT["seed"]


def test_spread_of_copies_is_their_standard_deviation(monkeypatch):
    losses = iter([(0.1, 0.0), (0.2, 0.0), (0.6, 0.0)])
    monkeypatch.setattr(codes, "random_tiles", lambda *_, **__: [((),)] * 3)
    monkeypatch.setattr(codes, "measured_code_loss", lambda *_, **__: next(losses))
    found = best_codes.sized_tile(m=2, B=6, p=0.2, steps=1, copies=3, seed=0)
    assert found["loss_spread"] / found["loss_mean"] == pytest.approx(np.sqrt((0.2**2 + 0.1**2 + 0.3**2) / 2) / 0.3)


def test_loss_if_the_interference_were_gaussian_is_that_of_such_noise():
    rng = np.random.default_rng(1)
    p, W_in, bias = np.linspace(0.2, 0.9, 4), rng.standard_normal((2, 4)), rng.standard_normal(4) / 4
    W_out = W_in.T + 0.2  # rows with gains, and interference with means that differ
    found = unequal._rows(SimpleNamespace(W_in=W_in, W_out=W_out, bias=bias), p)
    W = W_out @ W_in
    off = W - np.diag(np.diag(W))
    x = features.sample_each(p, 100_000, seed=rng)
    noise = rng.standard_normal(x.shape) * np.sqrt(off**2 @ features.variance(p)) + off @ features.mean(p)
    errors = np.sum((np.maximum(np.diag(W) * x + noise + bias, 0) - x) ** 2, axis=1)
    assert found["gaussian"] == pytest.approx(errors.mean(), abs=4 * errors.std() / len(x) ** 0.5)


def test_likeness_is_the_median_cosine_of_rows():
    W, V = np.array([[3.0, 4], [1, 0], [2, 2]]), np.array([[8.0, 6], [0, 5], [-1, -1]])  # cosines 0.96, 0, -1
    assert predicted_fields._alike(W, V) == pytest.approx(0)
    assert predicted_fields._alike(W[:1], V[:1]) == pytest.approx(0.96)


def test_linear_decoder_of_frequent_features_is_the_best_linear_one():
    """The best one loses the share 1 - r of the variance; without its mean an eighth more."""
    found = decoder_ladder.ladder(ns=512, r=0.25, p=0.9, iterations=1, samples=400, seed=0)
    assert found["linear"] == pytest.approx(0.75 * float(features.variance(0.9)), rel=0.02)


@pytest.mark.parametrize(("factor", "share"), [(1e-3, 1.0), (-1e-3, 0.0)])
def test_share_with_the_sign_of_the_filtered_weights_has_no_scale(monkeypatch, factor, share):
    call = {"n": 9, "xi1": 1.5, "xi2": 0.8, "gain": 1.0, "activation": "relu", "bias": 0.0, "scale": 1.0}

    def trained(W0, data, **_):
        W = factor * W0 @ receptive.nlgp_covariance(9, 1.5, 1.0)
        return SimpleNamespace(W=W, kept=[W] * 4, loss=np.zeros(2), bias=np.zeros((2, 3)))

    monkeypatch.setattr(receptive, "train_fields", trained)
    found = wide_networks.hundred(**call, K=3, initials=2, steps=1, lr=0.1, batch=4, seed=0)
    assert found["same_sign"] == share and found["long"] == 1


def test_crystals_are_measured_by_the_rug_at_one_fifth():
    p = np.array([0.05, 0.03])
    found = plain_crystals.one_fifth({"p": p, "loss": np.array([1.0, 2]), "start_loss": np.array([3.0, 4])})
    level = [float(optimum(one, 0.2).loss) for one in p]
    np.testing.assert_allclose(found["over_rug"] * level, [1, 2])
    np.testing.assert_allclose(found["start_over_rug"] * level, [3, 4])


def test_an_added_field_that_is_flat_takes_one_pixel_in_n_of_its_ipr(monkeypatch):
    """n times the inverse participation ratio is 1 for a flat field, and n for one pixel."""
    flat = np.ones(12)
    monkeypatch.setattr(receptive, "steepest_field", lambda *_, **__: (flat, 0.0))
    monkeypatch.setattr(receptive, "best_field_pair", lambda tile, *_, **__: (tile.field[None], tile.loss))
    found = tiled_fields.added_field(n=12, xi1=2.0, xi2=1.0, gain=0.5, samples=500, seed=0)
    assert found["added_ipr"] == pytest.approx(1) and found["tile_ipr"] >= 1


def test_vectors_for_the_loss_are_others_than_those_of_training(monkeypatch):
    """And others for each seed."""
    asked, batches = [], receptive.nlgp_batches
    monkeypatch.setattr(receptive, "nlgp_batches", lambda *a, **o: asked.append(o["seed"]) or batches(*a, **o))
    point = {"n": 8, "xi1": 1.5, "xi2": 0.8, "gain": 1.0, "kind": "biases", "K": 2, "steps": 2, "lr": 0.1}
    for seed in (0, 1):
        other_networks.other_network(**point, slower=1.0, batch=4, seed=seed, device="cpu")
    assert len(asked) == len(set(asked)) == 4


def test_the_rate_rises_for_a_hundred_steps_and_never_above_what_was_asked(monkeypatch):
    rates, step = [], torch.optim.Adam.step
    monkeypatch.setattr(torch.optim.Adam, "step", lambda self: rates.append(self.param_groups[0]["lr"]) or step(self))
    codes.train_plain(10, 0.05, "plain", steps=400, batch=2, lr=1e-3, fresh=10)
    rising, falling = np.arange(1, 401) / 100, 1 - np.arange(400) / 400
    np.testing.assert_allclose(rates, 1e-3 * np.minimum(rising, 1) * falling)


@pytest.mark.parametrize(("ratio", "fits"), [(3, {"float32", "bfloat16", "float16"}), (1e4, {"float32"})])
def test_a_tuned_code_is_measured_in_each_format_and_is_silent_where_it_overflows(monkeypatch, ratio, fits):
    fan, p = codes.priority_fan(5, ratio), 0.05
    monkeypatch.setattr(codes, "tuned_code", lambda *_, **__: fan)
    point = {"m": 2, "B": 5, "p": p, "budget": "range", "strength": ratio, "starts": 1, "samples": 2000, "seed": 0}
    found, exact = tuned_codes.tuned(**point), codes.code_loss(fan.W, fan.b, p)
    assert abs(found["loss"] - exact) < 4 * found["loss_se"]
    for name in fits:
        assert found[f"{name}_loss"] == pytest.approx(found["loss"], rel=0.01)
    if "float16" not in fits:
        assert found["float16_loss"] == features.variance(p)
