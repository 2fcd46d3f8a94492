"""Training with Gaussian interference by decree, and ordinary training from given weights.

The text's theory replaces the interference of every output by a Gaussian of the same variance.
Here weights are trained as if that were so, on the closed-form loss (`train`) or on samples
(`train_on_samples`): a control, which tells what of a trained model's loss is not in the theory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from superposition import features, optimise
from superposition.devices import torch
from superposition.rug import exact_gradients, training
from superposition.rug.model import Settings, TrainedModel
from superposition.rug.moments import floats, moment, ramp_moment
from superposition.rug.training import checked_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from superposition.checks import Floats

PROTOCOL = "gaussian"  # of the settings of models trained here
SMALLEST = 1e-24  # variance below which a row counts as free of interference


def row_losses(a: ArrayLike, b: ArrayLike, variance: ArrayLike, p: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Closed-form loss of rows and its derivatives by a, b and variance, for any real gain (The Persian Rug, eq. 5)."""
    # `superposition.rug.meanfield.loss` is the same for a > 0, and keeps its relative accuracy at small p; the variance
    # is that of the interference after the gain: Var[x] times the row's sum of squared off-diagonal weights
    a, b, variance = floats(a, b, variance)
    s = np.sqrt(variance)

    def ramp(j, k):
        return ramp_moment.unchecked(j, k, b, a, s)

    overlap, power = ramp(1, 1), ramp(0, 2)
    return (
        (1 - p) * moment.unchecked(2, b, s) + p * (1 / 3 - 2 * overlap + power),
        2 * p * (overlap - ramp(2, 0)),
        2 * (1 - p) * moment.unchecked(1, b, s) + 2 * p * (ramp(0, 1) - ramp(1, 0)),
        (1 - p) * moment.unchecked(0, b, s) + p * (ramp(0, 0) - ramp(1, -1)),
    )


def closed_form_loss(model: TrainedModel) -> float:
    """What a model's loss per feature would be if every interference were Gaussian (eq. 4 and eq. 5)."""
    with torch.no_grad():
        rows = _rows(*(torch.from_numpy(w.astype(np.float64)) for w in (model.W_in, model.W_out)), model.settings.p)  # pyrefly: ignore[bad-argument-count]: two
        b = torch.from_numpy(model.bias.astype(np.float64)) + float(features.mean(model.settings.p)) * rows[1]
        return float(row_losses(rows[0].numpy(), b.numpy(), rows[2].numpy(), model.settings.p)[0].mean())


def train(settings: Settings, progress: Callable[[int, int], None] | None = None) -> TrainedModel:
    """Minimise the closed-form loss of the weights: no samples, O(ns nd^2) a step."""
    W_in, W_out, bias = _start(settings, torch.float64)
    weights = [W_in.detach().T.contiguous().requires_grad_(), W_out, bias]
    history = _adam(weights, _closed_gradient(weights, settings.p), settings, progress, fused=True)
    return _model(settings, [weights[0].T, *weights[1:]], history)


def train_on_samples(settings: Settings, progress: Callable[[int, int], None] | None = None) -> TrainedModel:
    """The same from samples: batches of feature vectors, and a fresh Gaussian for every interference."""
    on = torch.device(settings.device)
    data_rng, noise_rng = (np.random.default_rng(s) for s in np.random.SeedSequence([settings.seed, 1]).spawn(2))

    weights = _start(settings, torch.float32)

    def loss():
        rows = _rows(weights[0], weights[1], settings.p)
        x = training.draw(settings, data_rng, on)
        z = torch.from_numpy(noise_rng.standard_normal(x.shape, dtype=np.float32)).to(on)
        output = torch.relu(x * rows[0] + weights[2] + z * torch.sqrt(rows[2]))
        return torch.mean((output - x) ** 2)

    history = _adam(weights, optimise.by_autograd(weights, loss), settings, progress, fused=False)
    return _model(settings, weights, history)


def continue_training(
    model: TrainedModel,
    *,
    steps: int,
    lr: float,
    seed: int = 0,
    eval_samples: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TrainedModel:
    """Hand weights to ordinary training, with the recipe's cosine; with 0 steps they are only evaluated."""
    settings = replace(
        model.settings,
        steps=steps,
        lr=lr,
        seed=seed,
        batch=model.settings.batch,
        schedule="cosine",
        protocol="recipe",
    )
    on = torch.device(settings.device)
    data_rng, eval_rng = (np.random.default_rng(s) for s in np.random.SeedSequence([seed, 2]).spawn(2))
    weights = [
        torch.tensor(w, dtype=torch.float32, device=on, requires_grad=True)
        for w in (model.W_in, model.W_out, model.bias)
    ]

    (encoder, *others), gradient = exact_gradients.prepared(weights, settings, data_rng)
    history = _adam([encoder, *others], gradient, settings, progress, fused=True)
    weights = [encoder.T, *others]
    found, se = training.evaluate(weights, settings, eval_rng, on, eval_samples)
    arrays = (w.detach().cpu().numpy() for w in weights)
    return TrainedModel(settings, *arrays, history, found, se, False)  # pyrefly: ignore[bad-argument-count, bad-argument-type]: three


def _closed_gradient(weights, p):
    """Gradients of the mean closed-form loss, the chain rule written down; the encoder is transposed, (ns, nd)."""
    encoder, decoder, bias = weights
    share = float(features.variance(p))
    for weight in weights:
        weight.grad = torch.zeros_like(weight)

    spread = torch.empty_like(decoder)

    # everything of the weights' size is written in place: fresh memory takes as long as the sums
    @torch.no_grad()
    def gradient():
        torch.mm(decoder, _gram(encoder), out=spread)
        diagonal = torch.linalg.vecdot(decoder, encoder)
        variance = share * (torch.linalg.vecdot(spread, decoder) - diagonal**2)
        arrays = (value.cpu().numpy() for value in (diagonal, bias, torch.clamp(variance, min=SMALLEST)))
        loss, *slopes = (torch.from_numpy(np.asarray(part)).to(bias) / len(bias) for part in row_losses(*arrays, p))  # pyrefly: ignore[bad-argument-count, bad-argument-type]: three
        by_square = torch.where(variance >= SMALLEST, share * slopes[2], 0)[:, None]
        by_diagonal = slopes[0][:, None] - 2 * by_square * diagonal[:, None]
        torch.mul(encoder, by_diagonal, out=decoder.grad).addcmul_(spread, by_square, value=2)
        squares = _weighted_gram(decoder, by_square, spread)
        torch.mul(decoder, by_diagonal, out=encoder.grad).addmm_(encoder, squares, alpha=2)
        bias.grad.copy_(slopes[1])
        return loss.sum()

    return gradient


def _weighted_gram(rows, shares, out):
    """Sum over rows of share times the outer product of the row; few shares are negative. ``out`` is overwritten."""
    negative = shares[:, 0] < 0
    all_but = _gram(torch.mul(rows, torch.sqrt(shares.clamp(min=0)), out=out))
    return all_but - _gram(rows[negative] * torch.sqrt(-shares[negative]))


def _gram(rows):
    """The product rows^T rows; on the CPU by BLAS's symmetric product, which takes half the time."""
    if rows.device.type != "cpu" or not len(rows):
        return rows.T @ rows
    from scipy.linalg.blas import dsyrk

    half = torch.from_numpy(dsyrk(1.0, rows.detach().numpy().T))  # the upper triangle
    return half + torch.triu(half, 1).T


def _rows(W_in, W_out, p):
    """Diagonal, off-diagonal sum and variance of the interference of each row, without forming W."""
    diagonal = torch.sum(W_out * W_in.T, dim=1)
    total = W_out @ W_in.sum(dim=1)
    squares = torch.sum((W_out @ (W_in @ W_in.T)) * W_out, dim=1)
    return diagonal, total - diagonal, torch.clamp(float(features.variance(p)) * (squares - diagonal**2), min=SMALLEST)


def _start(settings, dtype):
    """The initial weights of ordinary training; the bias is then the effective one."""
    init_rng = np.random.default_rng(np.random.SeedSequence(settings.seed).spawn(3)[0])
    weights = training.initial_weights(settings, init_rng, torch.device(settings.device))
    return [w.detach().to(dtype).requires_grad_() for w in weights]


@torch.no_grad()
def _model(settings, weights, history):
    W_in, W_out, bias = weights
    shift = float(features.mean(settings.p)) * _rows(W_in, W_out, settings.p)[1]
    arrays = [w.cpu().float().numpy() for w in (W_in, W_out, bias - shift)]
    model = TrainedModel(replace(settings, protocol=PROTOCOL), *arrays, history, 0.0, 0.0, False)  # pyrefly: ignore[bad-argument-count]: three
    with np.errstate(over="ignore", invalid="ignore"):  # weights that are too large for float32 are refused here
        loss = _finite(closed_form_loss(model), settings.steps, settings)
    return replace(model, loss=loss)


def _adam(weights, gradient, settings, progress, *, fused):
    history = np.zeros(settings.steps)
    for done, value in optimise.adam(weights, gradient, steps=settings.steps, lr=settings.lr, fused=fused):
        history[done - 1] = _finite(float(value), done, settings)
        if progress is not None:
            progress(done, settings.steps)
    return history


def _finite(loss, step, settings):
    if not np.isfinite(loss):
        raise FloatingPointError(
            f"the loss is not finite at step {step} with lr = {settings.lr:g}; try lr = {settings.lr / 4:g}"
        )
    return loss


def train_meanfield(
    ns: int,
    nd: int,
    p: float,
    *,
    steps: int = 800,
    lr: float | None = None,
    seed: int = 0,
    device: str = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> TrainedModel:
    """Train one autoencoder on the closed-form loss of its weights, without any feature vectors (section 4.1)."""
    lr = 1e-2 if lr is None else lr  # at 2e-2 small models drop a feature now and then
    return train(checked_settings(ns, nd, p, steps, 1024, lr, None, "earlier", seed, device), progress)
