"""Losses and gradients of an autoencoder on batches of few active features. Needs torch.

Vectors without any active feature are common here. All of them have the same output, which is computed once and counted
as often as it occurs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from superposition import features
from superposition.devices import torch

AT_ONCE = 64  # batches drawn at once
EVALUATED = 64  # batches of the evaluation, from whose spread the standard error comes


def first_weights(ns, nd, tied, rng, on, bias_spread):
    """The encoder (ns, nd), the decoder unless tied, and the bias."""
    encoder = rng.standard_normal((ns, nd)) / np.sqrt(nd)
    bias = rng.normal(0, bias_spread, ns)
    arrays = (encoder, bias) if tied else (encoder, encoder, bias)
    return [torch.tensor(w, dtype=torch.float32, device=on, requires_grad=True) for w in arrays]


def encoder_decoder_bias(weights):
    """The weights of a tied autoencoder, the encoder twice, or of one that is not."""
    return weights if len(weights) == 3 else (weights[0], *weights)


@torch.no_grad()
def pull_to_length_one(encoder, strength):
    """Shorten each row w of the encoder by strength (|w| - 1)."""
    encoder.sub_(strength * (encoder - torch.nn.functional.normalize(encoder)))


class _Batch(NamedTuple):
    """Active features: their vectors (numbered), columns and values; the counts of vectors with and without any."""

    rows: torch.Tensor
    columns: torch.Tensor
    values: torch.Tensor
    filled: int
    empty: int


def _drawn(p, batch, rng, on, largest):
    """Batches one after another, many of them drawn at once."""
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
    """Hidden layer; error that reaches the pre-activations; and values of features whose outputs stay at zero."""
    encoder, decoder, bias = weights
    hidden = torch.zeros(x.filled, encoder.shape[1], device=encoder.device)
    hidden.index_add_(0, x.rows, encoder[x.columns] * x.values[:, None])
    error = torch.mm(hidden, decoder.T, out=buffer[0, : x.filled]).add_(bias).relu_()
    at = x.rows * len(bias) + x.columns
    seen = error.view(-1)[at]
    error.view(-1)[at] = torch.where(seen > 0, seen - x.values, 0)
    return hidden, error, torch.where(seen > 0, 0, x.values)


def batch_gradient(weights, p, importance, batch, rng, largest=1.0):
    """Gradients for `superposition.optimise.adam`, of the mean over features, for which learning rates are meant."""
    on, tied = weights[0].device, len(weights) == 2
    importance = torch.tensor(importance, dtype=torch.float32, device=on)
    batches, buffer = _drawn(p, batch, rng, on, largest), torch.empty(2, batch, len(p), device=on)

    @torch.no_grad()
    def gradient():
        x, (encoder, decoder, bias) = next(batches), encoder_decoder_bias(weights)
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
def evaluated_losses(weights, p, importance, batch, rng, largest):
    """Loss of each feature on fresh vectors, and the weighted sums of batches."""
    on, bias = weights[0].device, weights[2]
    losses, buffer = [], torch.empty(1, batch, len(p), device=on)
    for _, x in zip(range(EVALUATED), _drawn(p, batch, rng, on, largest), strict=False):
        _, error, missed = _passed(weights, x, buffer)
        total = error.square_().sum(0) + x.empty * torch.relu(bias).square()
        losses.append(total.index_add_(0, x.columns, missed.square()))
    losses = torch.stack(losses).double().cpu().numpy() / batch
    return losses.mean(axis=0), losses @ importance
