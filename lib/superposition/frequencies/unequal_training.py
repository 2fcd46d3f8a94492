"""Autoencoders trained on features that are not equally frequent, or not equally important.

Few features are on at once here, so vectors without any are common. All of them have the same output: it is
computed once, and counted as often as it occurs. The model is ReLU(W_out W_in x + b), or ReLU(W^T W x + b) if tied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from superposition import features, optimise
from superposition.devices import resolve_device, torch

AT_ONCE = 64  # batches drawn at once
EVALUATED = 64  # batches of the evaluation, from whose spread the standard error comes


class UnequalModel(NamedTuple):
    """A trained autoencoder: weights in float32, what it costs on fresh vectors, and the losses of its training.

    ``W_in`` (nd, ns), ``W_out`` (ns, nd) and ``bias`` (ns,); ``losses`` (ns,), the mean squared error of each
    feature; ``loss``, their sum weighted by importance, and its standard error ``loss_se``; ``history``, a loss a step.
    """

    W_in: np.ndarray
    W_out: np.ndarray
    bias: np.ndarray
    losses: np.ndarray
    loss: float
    loss_se: float
    history: np.ndarray


def train_unequal(
    p: ArrayLike,
    nd: int,
    *,
    importance: ArrayLike = 1.0,
    tied: bool = False,
    steps: int = 4000,
    batch: int = 512,
    lr: float = 1e-2,
    bias_spread: float = 0.0,
    largest: float = 1.0,
    pull: float = 0.0,
    seed: int = 0,
    device: str = "auto",
    eval_samples: int = 2**18,
    progress: Callable[[int, int], None] | None = None,
) -> UnequalModel:
    """Train one autoencoder on features with probabilities p (ns,) and importances (1 or ns) of their own."""
    # Encoder and decoder start equal, as normal vectors of length about 1; the bias starts at zero, or as normal
    # numbers of deviation ``bias_spread``. A feature that is on is uniform from 0 to ``largest``. Adam, with a cosine
    # to zero; ``pull`` draws each row of the encoder to length one. Liu, Liu and Gore (arXiv 2505.10465) train the tied
    # model with bias_spread = 1, largest = 2 and a pull: their negative weight decay, its sign turned.
    p, on = np.asarray(p, float), resolve_device(device)
    weight = np.broadcast_to(np.asarray(importance, float), p.shape)
    init_rng, data_rng, eval_rng = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(3))
    weights = _start(len(p), nd, tied, init_rng, on, bias_spread)
    gradient, history = _gradient(weights, p, weight, batch, data_rng, largest), torch.zeros(steps)
    for done, loss in optimise.adam(weights, gradient, steps=steps, lr=lr):
        history[done - 1] = loss
        if pull:
            _pull(weights[0], pull * lr * (1 + np.cos(np.pi * (done - 1) / steps)) / 2)  # at the rate of this step
        if progress is not None:
            progress(done, steps)
    encoder, decoder, bias = (w.detach() for w in _three(weights))
    each = -(-eval_samples // EVALUATED)
    losses, totals = _evaluated((encoder, decoder, bias), p, weight, each, eval_rng, largest)
    arrays = (array.cpu().numpy() for array in (encoder.T, decoder, bias))
    return UnequalModel(*arrays, losses, float(totals.mean()), float(totals.std() / EVALUATED**0.5), history.numpy())  # pyrefly: ignore[bad-argument-count]: three


def _start(ns, nd, tied, rng, on, bias_spread):
    """The encoder (ns, nd), the decoder unless tied, and the bias."""
    encoder = rng.standard_normal((ns, nd)) / np.sqrt(nd)
    bias = rng.normal(0, bias_spread, ns)
    arrays = (encoder, bias) if tied else (encoder, encoder, bias)
    return [torch.tensor(w, dtype=torch.float32, device=on, requires_grad=True) for w in arrays]


def _three(weights):
    return weights if len(weights) == 3 else (weights[0], *weights)


@torch.no_grad()
def _pull(encoder, strength):
    """Shorten each row w of the encoder by strength (|w| - 1)."""
    encoder.sub_(strength * (encoder - torch.nn.functional.normalize(encoder)))


class _Batch(NamedTuple):
    """What is on: the vectors that have a feature on, numbered; its column; its value; and how many have none."""

    rows: torch.Tensor
    columns: torch.Tensor
    values: torch.Tensor
    filled: int
    empty: int


def _drawn(p, batch, rng, on, largest):
    """One batch after the other, many drawn at once."""
    while True:
        flat, values = features.nonzeros_each(p, batch * AT_ONCE, seed=rng)
        vectors, columns = np.divmod(flat, len(p))
        first = np.append(True, np.diff(vectors) > 0)  # the first that is on in each vector
        ends = np.searchsorted(vectors, batch * np.arange(AT_ONCE + 1))
        numbers = np.append(0, first.cumsum())
        for start, end in zip(ends[:-1], ends[1:], strict=True):
            rows = numbers[start + 1 : end + 1] - numbers[start] - 1
            arrays = rows, columns[start:end], (largest * values[start:end]).astype(np.float32)
            filled = int(numbers[end] - numbers[start])
            yield _Batch(*(torch.from_numpy(array).to(on) for array in arrays), filled, batch - filled)  # pyrefly: ignore[bad-argument-count, bad-argument-type]: three


def _passed(weights, x, buffer):
    """Hidden layer; error that reaches the pre-activations; and what outputs that stay at zero have missed."""
    encoder, decoder, bias = weights
    hidden = torch.zeros(x.filled, encoder.shape[1], device=encoder.device)
    hidden.index_add_(0, x.rows, encoder[x.columns] * x.values[:, None])
    error = torch.mm(hidden, decoder.T, out=buffer[0, : x.filled]).add_(bias).relu_()
    at = x.rows * len(bias) + x.columns
    seen = error.view(-1)[at]
    error.view(-1)[at] = torch.where(seen > 0, seen - x.values, 0)
    return hidden, error, torch.where(seen > 0, 0, x.values)


def _gradient(weights, p, importance, batch, rng, largest=1.0):
    """As `superposition.optimise.adam` wants them; of the mean over features, which the learning rate is used to."""
    on, tied = weights[0].device, len(weights) == 2
    importance = torch.tensor(importance, dtype=torch.float32, device=on)
    batches, buffer = _drawn(p, batch, rng, on, largest), torch.empty(2, batch, len(p), device=on)

    @torch.no_grad()
    def gradient():
        x, (encoder, decoder, bias) = next(batches), _three(weights)
        hidden, error, missed = _passed((encoder, decoder, bias), x, buffer)
        weighted = torch.mul(error, importance, out=buffer[1, : x.filled])
        silent = x.empty * torch.relu(bias) * importance
        back = (weighted @ decoder)[x.rows] * x.values[:, None]
        on_encoder = torch.zeros_like(encoder).index_add_(0, x.columns, back)
        on_decoder = weighted.T @ hidden
        grads = [on_encoder + on_decoder] if tied else [on_encoder, on_decoder]
        for place, grad in zip(weights, [*grads, weighted.sum(0) + silent], strict=True):
            place.grad = grad.mul_(2 / (batch * len(p)))
        unheard = torch.dot(missed.square(), importance[x.columns]) + torch.dot(silent, torch.relu(bias))
        return (torch.dot(error.view(-1), weighted.view(-1)) + unheard) / batch

    return gradient


@torch.no_grad()
def _evaluated(weights, p, importance, batch, rng, largest):
    """Loss of each feature on fresh vectors, and the weighted sums of batches."""
    on, bias = weights[0].device, weights[2]
    losses, buffer = [], torch.empty(1, batch, len(p), device=on)
    for _, x in zip(range(EVALUATED), _drawn(p, batch, rng, on, largest), strict=False):
        _, error, missed = _passed(weights, x, buffer)
        total = error.square_().sum(0) + x.empty * torch.relu(bias).square()
        losses.append(total.index_add_(0, x.columns, missed.square()).double().cpu().numpy() / batch)
    return np.mean(losses, axis=0), np.array(losses) @ importance
