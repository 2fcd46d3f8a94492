"""Mean-field training: gradients, the theory as its end, dropping, handing on; and the stopping rule."""

import math

import numpy as np
import pytest
import torch
from rows import as_read
from superposition import codes, features, optimise
from superposition.experiments import autoencoders, controls, other_protocols
from superposition.rug import evaluation, gaussian_loss, gaussian_steps, gaussian_training, meanfield, training
from superposition.rug.model import row_statistics


def test_row_losses_are_those_of_the_theory_and_their_slopes_are_slopes():
    rng = np.random.default_rng(0)
    a, b, s = rng.uniform(0.2, 1.5, 20), rng.uniform(-0.6, 0.3, 20), rng.uniform(0.05, 0.8, 20)
    found = gaussian_loss.row_losses(a, b, s**2, 0.07)
    np.testing.assert_allclose(found[0], meanfield.loss(a, b, s / a, 0.07), rtol=1e-9)
    for gain in (a, -a):  # negative gains too: a row may pass through zero
        found, h = gaussian_loss.row_losses(gain, b, s**2, 0.07), 1e-5
        for slope, (da, db, dv) in zip(found[1:], np.eye(3) * h, strict=True):
            up, down = (gaussian_loss.row_losses(gain + k * da, b + k * db, s**2 + k * dv, 0.07)[0] for k in (1, -1))
            np.testing.assert_allclose(slope, (up - down) / (2 * h), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("p", [0.05, 0.5])
def test_row_losses_of_a_device_are_those_of_the_host(p):
    rng, size = np.random.default_rng(0), 2000  # steep and flat ramps, tails of both ends, gains of either sign
    a = rng.choice((1, -1), size) * 10 ** rng.uniform(-3, 0.5, size)
    b, variance = rng.standard_normal(size) * 10 ** rng.uniform(-3, 0.3, size), 10 ** rng.uniform(-8, 1, size)
    there = gaussian_steps._losses_there(*map(torch.from_numpy, (a, b, variance)), p)
    for here, found in zip(gaussian_loss.row_losses(a, b, variance, p), there, strict=True):
        np.testing.assert_allclose(found.numpy(), here, rtol=1e-10, atol=0)  # the same formulas; 6e-12 when written


def test_rows_are_those_of_the_matrix():
    model = training.train_autoencoder(12, 5, 0.2, steps=3, seed=0, device="cpu")
    W = model.W_out.astype(float) @ model.W_in
    stats = row_statistics(W, model.bias, 0.2)
    s = np.sqrt(11 * (stats.off_variance + stats.off_mean**2) * (0.2 / 3 - 0.01))
    a = stats.diagonal
    by_hand = gaussian_loss.row_losses(a, stats.b_eff, s**2, 0.2)[0].mean()
    assert gaussian_loss.closed_form_loss(model) == pytest.approx(by_hand, rel=1e-6)


def test_mean_field_training_ends_at_the_theory():
    seen = []
    model = gaussian_training.train_meanfield(96, 24, 0.05, steps=600, device="cpu", progress=lambda *x: seen.append(x))
    best = float(meanfield.optimum(0.05, 0.25).loss)
    assert model.loss == pytest.approx(best, rel=1e-5, abs=0)
    assert model.loss == pytest.approx(gaussian_loss.closed_form_loss(model), rel=1e-12)
    assert (model.loss_se, model.settings.protocol, seen[-1]) == (0.0, "gaussian", (600, 600))
    assert model.loss_history[0] > 1.5 * best


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_it_drops_features_below_the_tangent_point(seed):
    p, r = 0.05, 6 / 96
    model = gaussian_training.train_meanfield(96, 6, p, steps=800, seed=seed, device="cpu")
    line = codes.hull(p, without=("antipodal", "digon"), points=60)
    theory = float(meanfield.optimum(p, r).loss)
    assert line.at(r) * 0.9999 < model.loss < 0.97 * theory
    assert 0.4 < (model.rows.diagonal < 0.1).mean() < 0.8


def test_handed_weights_do_not_stay():
    flat = gaussian_training.train_meanfield(64, 32, 0.05, steps=300, device="cpu")
    before = gaussian_training.continue_training(flat, steps=0, lr=1.0)
    np.testing.assert_allclose(before.W_in, flat.W_in, rtol=0, atol=0)
    after = gaussian_training.continue_training(flat, steps=400, lr=3e-3, seed=1)
    assert after.loss < before.loss - 10 * (before.loss_se + after.loss_se)
    assert gaussian_loss.closed_form_loss(after) > flat.loss


def test_samples_and_closed_form_agree():
    """The recipe with Gaussian interference by decree: its batch losses scatter around the closed form."""
    settings = training.training_settings(48, 16, 0.1, 300, 1024, None, None, "recipe", 0, "cpu")
    model = gaussian_training.train_meanfield_on_samples(settings)
    last = model.loss_history[-60:]
    assert abs(last.mean() - model.loss) < 4 * last.std() / 60**0.5 + 0.002 * model.loss
    assert model.loss == pytest.approx(float(meanfield.optimum(0.1, 1 / 3).loss), rel=0.02)


def test_function_of_the_run():
    point = {"ns": 32, "p": 0.1, "r": 0.5, "steps": 100, "seed": 0}
    out = as_read("rug-gaussian", point, controls.gaussian_autoencoder(**point, device="cpu"))
    assert out["theory"] == pytest.approx(float(meanfield.optimum(0.1, 0.5).loss))
    assert out["nd"] == 16 and out["ratio"] == pytest.approx(out["closed"] / out["theory"])
    assert out["real_ratio"] == pytest.approx(out["real"] / out["theory"])
    assert out["real_ratio_se"] == pytest.approx(out["real_se"] / out["theory"]) and out["real_se"] > 0


def test_a_rate_that_explodes_is_one_sentence():
    with pytest.raises(FloatingPointError, match="the loss is not finite at step"):
        gaussian_training.train_meanfield(16, 4, 0.05, steps=30, lr=1e30, device="cpu")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaussian_training.train_meanfield(16, 17, 0.05), "nd = 17 is out of range"),
        (lambda: gaussian_training.train_meanfield(16, 4, 0), "p = 0 is out of range"),
        (lambda: gaussian_training.train_meanfield(16, 4, 0.05, steps=0), "steps = 0 is out of range"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_first_pause_and_first_below():
    falling = np.linspace(2, 1, 50)
    assert training.first_pause(falling, window=5) == 50
    assert training.first_pause(np.concatenate([falling, np.full(20, 3.0)]), window=5) in range(51, 60)
    assert training.first_pause([1.0, 0.5, 0.7, 0.1], window=1) == 3
    assert training.first_pause([1.0, 1.0, 0.5], window=1) == 2  # "no longer lower" includes equal
    assert training.first_step_below(falling, 1.5, window=1) == int(np.argmax(falling <= 1.5)) + 1
    assert training.first_step_below(falling, 0.5, window=5) == 0


def test_pure_noise_stops_after_e_minus_one_comparisons():
    """Windows that do not overlap: the first k means fall with probability 1 / k!."""
    rng, stops = np.random.default_rng(0), []
    for _ in range(4000):
        means = rng.standard_normal(20)
        stops.append(training.first_pause(means, window=1) - 1)
    assert abs(np.mean(stops) - (math.e - 1)) < 4 * np.std(stops) / len(stops) ** 0.5


def test_stopped_run():
    point = {"ns": 16, "p": 0.2, "r": 0.5, "steps": 400, "seed": 0}
    out = as_read("rug-stopped", point, autoencoders.stopped_autoencoder(**point, device="cpu"))
    assert out["pause_ratio"] == pytest.approx(out["pause_loss"] / float(meanfield.optimum(0.2, 0.5).loss))
    assert out["nd"] == 8 and out["done"] <= 400
    assert 200 <= out["pause"] <= out["done"]


@pytest.mark.thorough
def test_three_protocols():
    """The text's rate without its rule makes all steps; with it, the same steps until it stops."""
    same = {"ns": 16, "p": 0.2, "r": 0.5, "seed": 0, "device": "cpu"}
    recipe, unstopped = (other_protocols.trained_by(**same, protocol=how, steps=300) for how in ("recipe", "unstopped"))
    stopped = other_protocols.trained_by(**same, protocol="text", steps=300)
    assert recipe["done"] == unstopped["done"] == 300 and 200 <= stopped["done"] <= 300
    assert recipe["loss"] < unstopped["loss"] and recipe["nd"] == 8
    if stopped["done"] == 300:
        assert stopped["loss"] == pytest.approx(unstopped["loss"], rel=1e-3)
    with pytest.raises(ValueError, match="protocol = 'other'"):
        other_protocols.trained_by(**same, protocol="other", steps=1)
    with pytest.raises(ValueError, match=r"r = 1\.5"):
        other_protocols.trained_by(**same | {"r": 1.5}, protocol="recipe", steps=1)
    few = same | {"ns": 3, "r": 0.2}
    assert other_protocols.trained_by(**few, protocol="recipe", steps=1)["nd"] == 1, "one dimension at least"


class _Rows(torch.autograd.Function):
    """Losses of rows with their derivatives by numpy, for automatic differentiation of the rest."""

    @staticmethod
    def forward(context, a, b, variance, p):
        found, *slopes = (
            torch.from_numpy(x) for x in gaussian_loss.row_losses(a.numpy(), b.numpy(), variance.numpy(), p)
        )
        context.save_for_backward(*slopes)
        return found

    @staticmethod
    def backward(context, gradient):
        return (*(gradient * slope for slope in context.saved_tensors), None)


@pytest.mark.parametrize(("nd", "p"), [(10, 0.05), (30, 0.5)])
def test_descent_is_that_of_automatic_differentiation(nd, p):
    """40 steps of plain Adam on the same loss from the same weights end in the same place."""
    settings = training.training_settings(48, nd, p, 40, 1024, 1e-2, None, "earlier", 3, "cpu")
    init_rng = np.random.default_rng(np.random.SeedSequence(3).spawn(3)[0])
    start = evaluation.initial_weights(settings, init_rng, torch.device("cpu"))
    W_in, W_out, bias = weights = [w.detach().double().requires_grad_() for w in start]

    def loss():
        W = W_out @ W_in
        a = torch.diag(W)
        variance = float(features.variance(p)) * (torch.sum(W**2, dim=1) - a**2)
        return _Rows.apply(a, bias, variance, p).mean()

    slow = [float(x) for _, x in optimise.adam(weights, optimise.by_autograd(weights, loss), steps=40, lr=1e-2)]
    fast = gaussian_training.train_meanfield(48, nd, p, steps=40, seed=3)
    np.testing.assert_allclose(fast.loss_history, slow, rtol=1e-9)
    np.testing.assert_allclose(fast.W_out, W_out.detach(), rtol=1e-5, atol=1e-6)
