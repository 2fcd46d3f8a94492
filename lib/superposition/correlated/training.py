"""Autoencoders ReLU(W_out W_in x + b) trained on features that come in groups. Needs torch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from superposition import checks, features, ranges
from superposition.checked import checked
from superposition.correlated.ranges import batches, law, partner_probability

AT_ONCE = 32  # batches drawn at once
EVALUATED = 2**16  # fresh feature vectors of the evaluation


class GroupedModel(NamedTuple):
    """A trained network: ``W_in`` (nd, n), ``W_out`` (n, nd), ``bias`` (n,); its loss per feature on fresh vectors."""

    W_in: np.ndarray
    W_out: np.ndarray
    bias: np.ndarray
    loss: float
    loss_se: float


@checked(
    law, batches, groups=ranges.whole(1, checks.MOST_FEATURES), G=ranges.whole(1, checks.MOST_FEATURES),
    nd=ranges.whole(1, checks.MOST_FEATURES), p=ranges.one_probability, s=partner_probability, steps=ranges.steps,
    batch=ranges.whole(1), lr=ranges.number(0, 10, open_low=True), seed=ranges.whole(0),
)  # fmt: skip
def train_grouped(
    groups: int, G: int, nd: int, p: float, s: float, *, steps: int, batch: int, lr: float, seed: int,
    device: str = "cpu",
) -> GroupedModel:  # fmt: skip
    """Train ReLU(W_out W_in x + b) on groups of features, by Adam with a cosine to zero. Needs torch.

    Parameters
    ----------
    device : str
        "auto" (CUDA when present), "cpu", "cuda" or "cuda:N".

    Notes
    -----
    Source: ours. Features are those of `superposition.features.grouped`.

    Examples
    --------
    >>> model = train_grouped(2, 3, 2, 0.05, 0.5, steps=5, batch=16, lr=0.01, seed=0)
    >>> model.W_in.shape
    (2, 6)
    """
    from superposition import optimise
    from superposition.devices import resolve_device, torch

    # Decoder and encoder start equal. With a random decoder half of the exclusive features would start with a negative
    # gain, and since nothing else is on with them no gradient ever turned it.
    on = resolve_device(device)
    init_rng, data_rng, eval_rng = (np.random.default_rng(one) for one in np.random.SeedSequence(seed).spawn(3))
    encoder = init_rng.standard_normal((groups * G, nd)) / np.sqrt(nd)
    arrays = encoder, encoder.T, np.full(groups * G, -0.1)
    weights = [torch.tensor(one, dtype=torch.float32, device=on, requires_grad=True) for one in arrays]
    law = groups, G, p, s
    fresh = _batches(law, batch, data_rng, on)
    gradient = optimise.by_autograd(weights, lambda: _errors(weights, next(fresh)).mean())
    for _ in optimise.adam(weights, gradient, steps=steps, lr=lr):
        pass
    with torch.no_grad():
        found = [_errors(weights, x).mean(dim=1) for x in _evaluation(law, batch, eval_rng, on)]
    error = features.Estimate.of(torch.cat(found).double().cpu().numpy())
    encoder, decoder, bias = (weight.detach().cpu().numpy() for weight in weights)
    return GroupedModel(encoder.T, decoder.T, bias, error.mean, error.se)


def _errors(weights, x):
    """Squared errors, one per vector and feature."""
    from superposition.devices import torch

    encoder, decoder, bias = weights
    return torch.relu(torch.addmm(bias, x @ encoder, decoder)).sub(x).square()


def _batches(law, batch, rng, on):
    """Batches one after another, several of them drawn at once."""
    from superposition.devices import torch

    while True:
        x = features.grouped(*law, batch * AT_ONCE, seed=rng).astype(np.float32)  # pyrefly: ignore[bad-argument-count]: four
        yield from torch.from_numpy(x).to(on).split(batch)


def _evaluation(law, batch, rng, on):
    """The batches of the evaluation."""
    for x, _ in zip(_batches(law, batch, rng, on), range(-(-EVALUATED // batch)), strict=False):
        yield x
