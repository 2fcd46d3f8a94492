"""Every gradient that is written down, against central differences of what it is the gradient of."""

import ast
import re
from contextlib import suppress
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from superposition import codes, features, incidental, receptive, toy
from superposition.incidental import company, step_noise, tail_moments, train_untied
from superposition.receptive import added_fields, flat_field, gated_training, tilings
from superposition.rug import interference, meanfield, noise_bound
from superposition.toy import thomson

torch = pytest.importorskip("torch")
from superposition.decoders import priced_training  # noqa: E402
from superposition.experiments import tied_codes, wide_networks  # noqa: E402
from superposition.frequencies import sparse_batches  # noqa: E402
from superposition.incidental import many_features, noisy_training  # noqa: E402
from superposition.rug import (  # noqa: E402
    exact_gradients,
    gaussian_loss,
    gaussian_steps,
    training,
)


def normal(*shape, seed=5):
    return np.random.default_rng(seed).standard_normal(shape)


W43 = normal(4, 3) * 0.6
WAVES = receptive.sample_waves(12, 1.5, 0.7, 2, 200, seed=0)
TASK = receptive.nlgp_task(9, 2, 1, 0.6)
FIELDS = normal(3, 9) / 2


def mean_field():
    def both(x):
        a, b, sigma = x
        found = meanfield.loss_grad(a, b, sigma, 0.2)
        return float(meanfield.loss(a, b, sigma, 0.2)), np.array([found.a, found.b, found.sigma])

    return both, np.array([0.9, -0.2, 0.3])


def mean_field_on_the_line_of_best_gains():
    """Its sign is promised; it is dL/dz over a sigma."""
    sigma, p = 0.3, 0.2

    def both(x):
        a, value = meanfield.best_gain(x, sigma, p)
        return float(value[0]), a * sigma * meanfield._slope(x, sigma, p)

    return both, np.array([-0.4])


def fourth_derivative_by_bias():
    def both(x):
        third, fourth = interference._derivatives(0.9, x, 0.3, 0.2)
        return float(third[0]), fourth

    return both, np.array([-0.2])


def closed_rows():
    def both(x):
        loss, *slopes = gaussian_loss.row_losses(*x, 0.2)
        return float(loss), np.array(slopes)

    return both, np.array([-0.9, 0.2, 0.1])


def closed_form():
    sizes = (5, 2), (5, 2), (5,)

    def both(x):
        weights = tensors(x, sizes, torch.float64)
        return float(gaussian_steps.closed_gradient(weights, 0.2)()), gradients(weights)

    return both, normal(25) / 2


def tensors(x, sizes, dtype):
    """Cut a vector into tensors."""
    parts = np.split(x, np.cumsum([int(np.prod(size)) for size in sizes])[:-1])
    return [torch.tensor(part.reshape(size), dtype=dtype) for part, size in zip(parts, sizes, strict=True)]


def gradients(weights):
    return np.concatenate([weight.grad.numpy().ravel() for weight in weights])


def batch(p):
    settings = training.training_settings(6, 2, p, 1, 2**14, None, None, "recipe", 0, "cpu")

    def both(x):
        weights = tensors(x, ((6, 2), (6, 2), (6,)), torch.float32)
        return float(exact_gradients.batch_gradient(weights, settings, np.random.default_rng(1))()), gradients(weights)

    return both, start_of_training(2)


def start_of_training(matrices):
    return np.concatenate([normal(12 * matrices) / 2, np.linspace(0.02, 0.1, 6)])


def unequal_batch(matrices):
    p, importance = np.linspace(0.1, 0.4, 6), np.linspace(0.5, 2, 6)

    def both(x):
        weights = tensors(x, ((6, 2),) * matrices + ((6,),), torch.float32)
        loss = sparse_batches.batch_gradient(weights, p, importance, 2**11, np.random.default_rng(1))()
        return float(loss) / 6, gradients(weights)  # the loss is a sum over features, the gradient that of the mean

    return both, start_of_training(matrices)


def priced_autoencoders():
    """Two of them, 4 latents on 3 dimensions, at two prices."""
    shapes = ((2, 3, 4), (2, 1, 4), (2, 3, 4), (2, 1, 3))
    h, price = torch.tensor(normal(50, 3)), torch.tensor([0.1, 0.3], dtype=torch.float64)[:, None, None]

    def both(x):
        weights = priced_training.Weights(*tensors(x, shapes, torch.float64))
        with torch.no_grad():
            loss = priced_training._gradient(weights, h, price)
        return float(loss), gradients(weights)

    return both, normal(sum(int(np.prod(shape)) for shape in shapes)) / 2


def noise_of_an_autoencoder():
    return lambda x: noise_bound._mean_noise(x, 5, 2), normal(20)


def tied_with_l1():
    return lambda x: (
        incidental.loss(x.reshape(4, 3), 0.3),
        incidental.gradient(x.reshape(4, 3), 0.3).ravel(),
    ), W43.ravel()


def in_company():
    """What is written down is a quarter of the slope."""

    def both(x):
        W = x.reshape(1, 4, 3)
        single, pairs = company._errors(W, 0.3)
        return 0.7 * np.sum(single**2) + 0.15 * np.sum(pairs**2), 4 * company._gradient(W, 0.7, 0.3).ravel()

    return both, W43.ravel()


def step_with_one_noise():
    noise = normal(1, 3) / 2

    def both(x):
        W = x.reshape(4, 3)
        error = np.maximum((W + noise) @ W.T, 0) - np.eye(4)
        return np.sum(error**2), step_noise._gradients(W, noise).ravel()

    return both, W43.ravel()


def force(index):
    """Minus the slope of one part of the simplified loss, a quarter of the loss at four times the strength."""

    def parts(W):
        benefit = np.sum((1 - np.sum(W**2, axis=1)) ** 2) / 4
        return benefit, incidental.loss(W, 0.4) / 4 - benefit - 0.1 * np.abs(W).sum(), 0.1 * np.abs(W).sum()

    def both(x):
        W = x.reshape(4, 3)
        return parts(W)[index], -incidental.forces(W, 0.1)[index].ravel()

    return both, W43.ravel()


def tied_with_l1_in_torch():
    def both(x):
        W = x.reshape(4, 3)
        return incidental.loss(W, 0.3), many_features._gradient(torch.tensor(W), 0.3).numpy().ravel()

    return both, W43.ravel()


def expected_under_noise(law):
    def both(x):
        W = x.reshape(4, 3)
        return incidental.expected_loss(W, law), incidental.expected_loss_grad(W, law).ravel()

    return both, W43.ravel()


def many_under_noise():
    def both(x):
        W, law = x.reshape(2, 2, 3), incidental.bipolar(0.3)
        return sum(incidental.expected_loss(one, law) for one in W), incidental.expected_loss_grad_each(W, law).ravel()

    return both, W43.ravel()


def conflicts(score):
    """In the entries off the diagonal, of weights with conflicts on both sides of one and positive entries."""
    off = ~np.eye(4, dtype=bool)

    def both(x):
        W = np.eye(4)
        W[off] = x
        value, slope = score(W)
        return value, slope[off]

    return both, 1.5 * normal(12)


def step_under_noise(relu):
    """A step at rate 1 takes the gradient away; the loss of one noise of each input, as torch sees it."""
    xi = torch.tensor(normal(1, 2, 4, 3) / 2)

    def both(x):
        W = torch.tensor(x.reshape(1, 4, 3))
        output = (W[:, None] + xi) @ W[:, None].mT
        loss = ((torch.relu(output) if relu else output) - torch.eye(4)).square().sum() / 2 + 0.3 * W.abs().sum()
        step = noisy_training._Step(W.clone(), -2 / 2, torch.tensor([[[-0.3]]]), 2, relu)
        step(xi)
        return float(loss), (W - step.W).numpy().ravel()

    return both, W43.ravel()


def step_of_untied_weights():
    inputs = normal(4, 5)

    def both(x):
        E, D = x[:15].reshape(5, 3), x[15:].reshape(4, 3)
        hidden = inputs @ E
        loss = np.sum((np.maximum(hidden @ D.T, 0) - np.eye(4)) ** 2) + 0.3 * np.abs(hidden).sum()
        moved = train_untied(E, D, steps=1, lr=1.0, lambda_=0.3, inputs=inputs)
        return loss, np.concatenate([(old - new).ravel() for old, new in zip((E, D), moved, strict=True)])

    return both, normal(27)


def characteristic(law):
    def both(x):
        return float(law.characteristic(x)[0]), tail_moments._characteristic_slope(law, x)

    return both, np.array([3.0])


def energy(function):
    def both(x):
        value, slope = function(x.reshape(2, 5))
        return value, slope.ravel()

    return both, (normal(2, 5) / np.linalg.norm(normal(2, 5), axis=0)).ravel()


def flow_of_the_linear_model():
    importance = np.linspace(0.5, 2, 4)

    def both(x):
        W = x.reshape(2, 4)
        loss = toy.linear_loss(W, toy.best_linear_bias(W, 0.3), importance, 0.3)
        return float(loss), (W - toy.linear_flow(W, importance, 0.3, [1e-5])[0]).ravel() / 1e-5

    return both, normal(8) / 2


def step_of_the_linear_model():
    """Strengths change by twice the slope of the loss as a column grows."""
    W, importance = normal(2, 4), np.linspace(0.5, 2, 4)
    x = features.sample(4, 0.3, 50, seed=np.random.default_rng(3)) - features.mean(0.3)

    def both(scale):
        grown = W * scale
        loss = np.mean(importance * (x - x @ toy.gram(grown)) ** 2) * 4
        after = toy.descend_linear(grown, importance, 0.3, rate=1e-7, steps=1, batch=50, seed=3)[0]
        return loss, (np.sum(grown**2, axis=0) - after) / (2 * 1e-7 * scale)

    return both, np.ones(4)


def tied():
    U, b = normal(2, 5), normal(5, seed=6) / 10
    x = np.abs(normal(40, 5, seed=7))

    def both(change):
        W_in, W_out = U + change[:10].reshape(2, 5), U.T + change[10:20].reshape(5, 2)
        y = np.maximum(x @ W_in.T @ W_out.T + b + change[20:], 0)
        return np.mean((y - x) ** 2), tied_codes._gradient(U, b, change, x)

    return both, normal(25, seed=8) / 10


def gated(slope):
    w, x, y = normal(2, 3, 5), normal(40, 5, seed=6), normal(40, 1, seed=7)
    how = receptive.leaky_slope(slope), 0.4

    def both(flat):
        w = flat.reshape(2, 3, 5)
        predicted = receptive.gated_outputs(w, x, how[0], readout=how[1])
        return np.mean((predicted - y) ** 2, axis=0).sum() / 2, gated_training._gradient(w, x, y, *how).ravel()

    return both, w.ravel()


def gaussian_relu():
    C0, C1 = receptive.gaussian_covariance(6, 0.5), receptive.gaussian_covariance(6, 1.2)

    def both(x):
        W = x.reshape(3, 6)
        return receptive.gaussian_loss(W, C0, C1), -receptive.gaussian_flow(W, C0, C1).ravel()

    return both, normal(18)


def field(function, at):
    return lambda x: (function(x.reshape(at.shape))[0], function(x.reshape(at.shape))[1].ravel()), at.ravel()


def score_of_a_tile(tiled):
    return lambda x: tilings._minus_log_score(x, WAVES, tiled), normal(7)


def slope_of_a_tiling():
    of = added_fields._with_crowds(receptive.best_tile(WAVES, tiled=True), WAVES)
    return lambda x: added_fields._slope(x, of, WAVES), normal(12)


def handed_over(patched, call):
    """What a search hands to scipy's minimize: value and gradient, and where it starts."""
    found = []

    def minimize(function, start, *_, **__):
        found.append((function, start))
        raise InterruptedError

    with mock.patch(patched, minimize), suppress(InterruptedError):
        call()
    return found[0]


def places_of_vectors(energy):
    return handed_over("scipy.optimize.minimize", lambda: toy.thomson_minimum(5, 2, energy=energy, threshold=-0.2))


def behind_its_own_gates():
    point = {"n": 6, "xi1": 1.5, "xi2": 0.7, "gain": 1.0, "K": 2, "samples": 40, "iterations": 1, "seed": 0}
    return handed_over("scipy.optimize.minimize", lambda: wide_networks.frozen_gates(**point))


def squashed_pixel():
    law = flat_field._squash(0.8)
    return lambda x: (float(law.f(x)[0]), law.slope(x)), np.array([0.7])


EXACT, ROUNDED = (1e-6, 1e-6), (5e-4, 1e-2)  # step of the differences; what they may be off by, of the largest slope
# In float64 a step leaves 1e-12 of truncation and 1e-10 of rounding, of float32 numbers 1e-4; a step's kinks are as
# rare as the step is short. A factor or a term that is wrong is off by its own size.
CASES = {
    "meanfield.loss_grad": (mean_field, EXACT),
    "meanfield._slope": (mean_field_on_the_line_of_best_gains, EXACT),
    "interference._derivatives": (fourth_derivative_by_bias, EXACT),
    "gaussian_loss.row_losses": (closed_rows, EXACT),
    "gaussian_steps.closed_gradient": (closed_form, EXACT),
    "exact_gradients.batch_gradient, gathered": (lambda: batch(0.08), ROUNDED),
    "exact_gradients.batch_gradient, dense": (lambda: batch(0.4), ROUNDED),
    "sparse_batches.batch_gradient, tied": (lambda: unequal_batch(1), ROUNDED),
    "sparse_batches.batch_gradient, untied": (lambda: unequal_batch(2), ROUNDED),
    "priced_training._gradient": (priced_autoencoders, EXACT),
    "noise_bound._mean_noise": (noise_of_an_autoencoder, EXACT),
    "l1_loss.gradient": (tied_with_l1, EXACT),
    "company._gradient": (in_company, EXACT),
    "step_noise._gradients": (step_with_one_noise, EXACT),
    "l1_loss.forces, benefit": (lambda: force(0), EXACT),
    "l1_loss.forces, interference": (lambda: force(1), EXACT),
    "l1_loss.forces, regularization": (lambda: force(2), EXACT),
    "many_features._gradient": (tied_with_l1_in_torch, EXACT),
    "noise_loss.expected_loss_grad, normal": (lambda: expected_under_noise(incidental.normal(0.3)), EXACT),
    "noise_loss.expected_loss_grad, uniform": (lambda: expected_under_noise(incidental.uniform(0.3)), EXACT),
    "noise_loss.expected_loss_grad, laplace": (lambda: expected_under_noise(incidental.laplace(0.3)), EXACT),
    "noise_loss.expected_loss_grad, bipolar": (lambda: expected_under_noise(incidental.bipolar(0.3)), EXACT),
    "noise_loss.expected_loss_grad_each": (many_under_noise, EXACT),
    "codes.conflict_score": (lambda: conflicts(codes.conflict_score), EXACT),
    "codes.lemma_score": (lambda: conflicts(codes.lemma_score), EXACT),
    "noisy_training._Step, ReLU": (lambda: step_under_noise(True), EXACT),
    "noisy_training._Step, linear": (lambda: step_under_noise(False), EXACT),
    "untied_weights.train_untied": (step_of_untied_weights, EXACT),
    "tail_moments._characteristic_slope, laplace": (lambda: characteristic(incidental.laplace(0.3)), EXACT),
    "tail_moments._characteristic_slope, uniform": (lambda: characteristic(incidental.uniform(0.3)), EXACT),
    "thomson._overlap_energy": (lambda: energy(lambda W: thomson._overlap_energy(W, -0.2)), EXACT),
    "thomson._coulomb": (lambda: energy(thomson._coulomb), EXACT),
    "thomson.thomson_minimum, overlap": (lambda: places_of_vectors("overlap"), EXACT),
    "thomson.thomson_minimum, coulomb": (lambda: places_of_vectors("coulomb"), EXACT),
    "linear.linear_flow": (flow_of_the_linear_model, (1e-6, 1e-4)),  # the path bends by 1e-5 of its slope
    "linear.descend_linear": (step_of_the_linear_model, (1e-6, 1e-5)),  # a step of 1e-7
    "tied_codes._gradient": (tied, EXACT),
    "gated_training._gradient, ReLU": (lambda: gated(0.0), EXACT),
    "gated_training._gradient, leaky": (lambda: gated(0.3), EXACT),
    "receptive.gaussian_flow": (gaussian_relu, EXACT),
    "receptive.field_score": (lambda: field(lambda w: receptive.field_score(w, TASK), FIELDS[0]), EXACT),
    "receptive.first_order_loss": (lambda: field(lambda W: receptive.first_order_loss(W, TASK), FIELDS), EXACT),
    "tilings._minus_log_score, one": (lambda: score_of_a_tile(False), EXACT),
    "tilings._minus_log_score, tiled": (lambda: score_of_a_tile(True), EXACT),
    "added_fields._slope": (slope_of_a_tiling, EXACT),
    "wide_networks.frozen_gates": (behind_its_own_gates, EXACT),
    "flat_field._squash": (squashed_pixel, EXACT),
}


@pytest.mark.parametrize("name", CASES)
def test_gradient_is_that_of_its_loss(name):
    make, (step, tolerance) = CASES[name]
    both, at = make()
    shifts = step * np.eye(at.size)
    differences = [(both(at + shift)[0] - both(at - shift)[0]) / (2 * step) for shift in shifts]
    slopes = both(at)[1]
    assert np.abs(slopes).max() > 1e-3
    np.testing.assert_allclose(slopes, differences, rtol=0, atol=tolerance * np.abs(slopes).max())


def test_no_gradient_is_left_out():
    """Functions called a gradient; `_cumulant_gradient` is a part of that of `network_loss`."""
    library = Path(features.__file__).parent  # what faces hand on is what stands behind them
    called = {
        f"{path.stem}.{node.name}"
        for path in library.rglob("*.py")
        if path.stem != "__init__"
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and re.search("(^|_)grad(?!ient_flow)", node.name)
    }
    assert len(called) > 8 and called - {name.split(",")[0] for name in CASES} == {"landscape._cumulant_gradient"}
