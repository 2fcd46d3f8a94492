"""Gradients, starts and results of training with interference replaced by a Gaussian, in torch."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
from defprint import transparent

from superposition.devices import torch  # isort: skip - first, since it says what is missing
from superposition import features, optimise
from superposition.rug.evaluation import initial_weights
from superposition.rug.gaussian_loss import SMALLEST, closed_form_loss, row_losses, rows_of
from superposition.rug.model import TrainedModel
from superposition.rug.training import STOPPING_WINDOW

PROTOCOL = "gaussian"  # of the settings of models trained here


def closed_gradient(weights, p):
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


def first_weights(settings, dtype):
    """The initial weights of ordinary training; the bias is then the effective one."""
    init_rng = np.random.default_rng(np.random.SeedSequence(settings.seed).spawn(3)[0])
    weights = initial_weights(settings, init_rng, torch.device(settings.device))
    return [w.detach().to(dtype).requires_grad_() for w in weights]


@torch.no_grad()
def trained_model(settings, weights, history):
    """The trained weights with their closed-form loss, the bias being the raw one."""
    W_in, W_out, bias = weights
    shift = float(features.mean(settings.p)) * rows_of(W_in, W_out, settings.p)[1]
    arrays = [w.cpu().float().numpy() for w in (W_in, W_out, bias - shift)]
    model = TrainedModel(replace(settings, protocol=PROTOCOL), *arrays, history, 0.0, 0.0, False)  # pyrefly: ignore[bad-argument-count]: three
    with np.errstate(over="ignore", invalid="ignore"):  # weights that are too large for float32 are refused here
        loss = _finite(closed_form_loss(model), settings.steps, settings)
    return replace(model, loss=loss)


@transparent
def _looks_seldom(descend):
    """Decorate `descend_with_adam`, which reads each loss and belongs to the code of a stored table.

    Off the CPU the losses stay where they are, and the host looks once for each window of steps.
    """

    @functools.wraps(descend)
    def descended(weights, gradient, settings, progress, *, fused):
        on, history, window = weights[0].device, np.zeros(settings.steps), []
        if on.type == "cpu":
            return descend(weights, gradient, settings, progress, fused=fused)

        def kept():
            window.append(gradient())
            return torch.zeros(())  # of the host, which waits for nothing

        def look(done, total):
            if done % STOPPING_WINDOW == 0 or done == total:
                losses = torch.stack(window).cpu().tolist()
                for step, loss in enumerate(losses, done + 1 - len(losses)):
                    history[step - 1] = _finite(loss, step, settings)
                window.clear()
            if progress is not None:
                progress(done, total)

        descend(weights, kept, settings, look, fused=fused)
        return history

    return descended


@_looks_seldom
def descend_with_adam(weights, gradient, settings, progress, *, fused):
    """Train weights in place by Adam with a cosine; return the loss before each step."""
    history = np.zeros(settings.steps)
    for done, value in optimise.adam.unchecked(weights, gradient, steps=settings.steps, lr=settings.lr, fused=fused):
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
