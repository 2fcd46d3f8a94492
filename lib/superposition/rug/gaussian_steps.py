"""Gradients, starts and results of training with interference replaced by a Gaussian, in torch."""

from __future__ import annotations

import functools
from dataclasses import replace
from math import factorial

import numpy as np
from defprint import transparent

from superposition.devices import torch  # isort: skip - first, since it says what is missing
from superposition import features, optimise
from superposition.moments import SERIES
from superposition.rug.evaluation import initial_weights
from superposition.rug.gaussian_loss import SMALLEST, closed_form_loss, row_losses, rows_of
from superposition.rug.model import TrainedModel
from superposition.rug.training import STOPPING_WINDOW

DEPTH, TERMS = 50, 15  # of the continued fraction and of the series, as in `superposition.moments`
PROTOCOL = "gaussian"  # of the settings of models trained here


def closed_gradient(weights, p):
    """Gradients of the mean closed-form loss, the chain rule written down; the encoder is transposed, (ns, nd)."""
    encoder, decoder, bias = weights
    share = float(features.variance(p))
    for weight in weights:
        weight.grad = torch.zeros_like(weight)

    spread = torch.empty_like(decoder)
    losses = _losses_on_the_host if bias.device.type == "cpu" else _losses_there

    # everything of the weights' size is written in place: fresh memory takes as long as the sums
    @torch.no_grad()
    def gradient():
        torch.mm(decoder, _gram(encoder), out=spread)
        diagonal = torch.linalg.vecdot(decoder, encoder)
        variance = share * (torch.linalg.vecdot(spread, decoder) - diagonal**2)
        rows = losses(diagonal, bias, torch.clamp(variance, min=SMALLEST), p)
        loss, *slopes = (part / len(bias) for part in rows)
        by_square = torch.where(variance >= SMALLEST, share * slopes[2], 0)[:, None]
        by_diagonal = slopes[0][:, None] - 2 * by_square * diagonal[:, None]
        torch.mul(encoder, by_diagonal, out=decoder.grad).addcmul_(spread, by_square, value=2)
        squares = _weighted_gram(decoder, by_square, spread)
        torch.mul(decoder, by_diagonal, out=encoder.grad).addmm_(encoder, squares, alpha=2)
        bias.grad.copy_(slopes[1])
        return loss.sum()

    return gradient


def _losses_on_the_host(a, b, variance, p):
    """`row_losses` of tensors of the CPU."""
    return [torch.from_numpy(np.asarray(part)) for part in row_losses(a.numpy(), b.numpy(), variance.numpy(), p)]


def _losses_there(a, b, variance, p):
    """`row_losses` of tensors of any device, where they are: the same formulas, all moments of a row at once."""
    s = torch.sqrt(variance)
    ends = _moments(torch.stack([b, b + a]), s)
    low, high = ({k: moment[end] for k, moment in ends.items()} for end in (0, 1))
    ramp = _ramps(b, a, s, low, high)
    overlap = ramp(1, 1)
    return (
        (1 - p) * low[2] + p * (1 / 3 - 2 * overlap + ramp(0, 2)),
        2 * p * (overlap - ramp(2, 0)),
        2 * (1 - p) * low[1] + 2 * p * (ramp(0, 1) - ramp(1, 0)),
        (1 - p) * low[0] + p * (ramp(0, 0) - ramp(1, -1)),
    )


def _moments(m, s):
    """`superposition.moments.moment` for k = -1 to 3, by k: tails by their continued fraction, the rest directly."""
    z = (m / s).clamp(-40, 40)
    density, cdf = torch.exp(-z.square() / 2) / (2 * np.pi) ** 0.5, torch.erfc(-z / 2**0.5) / 2
    direct = (
        cdf,
        m * cdf + s * density,
        (m**2 + s**2) * cdf + m * s * density,
        m * (m**2 + 3 * s**2) * cdf + s * (m**2 + 2 * s**2) * density,
    )
    found, tail, ratios = {-1: density / s}, cdf, [(torch.sqrt(z**2 + 4 * DEPTH) + z) / 2]
    for order in range(DEPTH, 0, -1):
        ratios.append(order / (ratios[-1] - z))
    for k in range(4):
        tail = tail * s * ratios[-k] if k else tail
        found[k] = torch.where(z < -2.5, tail, direct[k])
    return found


def _ramps(m, slope, s, low, high):
    """`superposition.moments.ramp_moment` as a function of j and k: by parts, or by a series where those cancel."""
    z, order = (m / s).clamp(-40, 40), torch.arange(TERMS, device=m.device)[:, None]
    powers = torch.where(order > 0, slope / s / order.clamp(min=1), 1).cumprod(0)  # over the factorials
    hermite = [torch.ones_like(z), -z]  # of -z
    for n in range(2, TERMS):
        hermite.append(-z * hermite[-1] - (n - 1) * hermite[-2])
    later = torch.stack(hermite) * (low[-1] * s)

    def by_parts(j, k):
        step = max(k + 1, 1) * slope
        if j == 0:
            return (high[k + 1] - low[k + 1]) / step
        return high[k + 1] / step - j / step * by_parts(j - 1, k + 1)

    def ramp(j, k):
        first = [low[k - n] * s ** (n - k) / factorial(max(k - n, 0)) for n in range(k + 2)]
        derivatives = torch.cat([torch.stack(first), later[1 : TERMS - k - 1]])
        series = factorial(max(k, 0)) * s**k * (powers * derivatives / (order + j + 1)).sum(0)
        return torch.where(slope.abs() < SERIES * s, series, by_parts(j, k))

    return ramp


def _weighted_gram(rows, shares, out):
    """Sum over rows of share times the outer product of the row; few shares are negative. ``out`` is overwritten."""
    all_but = _gram(torch.mul(rows, torch.sqrt(shares.clamp(min=0)), out=out))
    if rows.device.type == "cpu":  # elsewhere the host would wait for their number
        negative = shares[:, 0] < 0
        rows, shares = rows[negative], shares[negative]
    return all_but - _gram(rows * torch.sqrt((-shares).clamp(min=0)))


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
