"""Autoencoders trained on features that are not equally frequent, or not equally important. Needs torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from superposition import checks, ranges
from superposition.checked import checked
from superposition.frequencies.ranges import fits_in_memory, gentle, of_features, probabilities, weighted

WAYS = ("floor", "revived")
FLOOR, EVERY, UNTIL = 0.9, 50, 0.8  # of |w|^2; steps between revivals; share of the steps after which there are none


class UnequalModel(NamedTuple):
    """A trained autoencoder: weights in float32, losses on fresh vectors and in training.

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


@checked(
    of_features, weighted, gentle, fits_in_memory, p=probabilities, nd=ranges.whole(1, checks.MOST_FEATURES),
    importance=ranges.real(1e-10, 1e10), tied=ranges.flag, steps=ranges.steps, batch=ranges.whole(1),
    lr=ranges.number(0, 10, open_low=True), bias_spread=ranges.number(0, 1000),
    largest=ranges.number(0, 1000, open_low=True), pull=ranges.number(0, 1000), seed=ranges.whole(0),
    eval_samples=ranges.whole(1, 2**30), progress=ranges.function,
)  # fmt: skip
def train_unequal(
    p: ArrayLike, nd: int, *, importance: ArrayLike = 1.0, tied: bool = False, steps: int = 4000, batch: int = 512,
    lr: float = 1e-2, bias_spread: float = 0.0, largest: float = 1.0, pull: float = 0.0, seed: int = 0,
    device: str = "auto", eval_samples: int = 2**18, progress: Callable[[int, int], None] | None = None,
) -> UnequalModel:  # fmt: skip
    """Train ReLU(W_out W_in x + b), or ReLU(W^T W x + b) if tied, on features of unequal frequency or importance.

    Adam, with a cosine to zero. Encoder and decoder start equal, as normal vectors of length about 1. Needs torch.

    Parameters
    ----------
    p : array_like, shape (ns,)
        Probability that each feature is on.
    nd : int
        Dimensions.
    importance : array_like, shape (ns,) or scalar
        Factors of the squared errors, from 1e-10 to 1e10.
    bias_spread : float
        Standard deviation of the biases at the start.
    largest : float
        A feature that is on is uniform from 0 to this.
    pull : float
        Each step shortens each row w of the encoder by pull times the rate times |w| - 1; pull times lr is 1 at most.
    device : str
        "auto" (CUDA when present), "cpu", "cuda" or "cuda:N".
    eval_samples : int
        Fresh feature vectors of the evaluation.
    progress : callable, optional
        Called as ``progress(done, total)`` after every step.

    Notes
    -----
    Source: ours. Liu, Liu and Gore (arXiv 2505.10465) train the tied model with bias_spread = 1, largest = 2 and a
    pull: their negative weight decay, with the opposite sign.

    Examples
    --------
    >>> model = train_unequal([0.5, 0.1, 0.1], 2, steps=10, batch=16, eval_samples=640, device="cpu")
    >>> model.W_in.shape, model.losses.shape
    ((2, 3), (3,))
    """
    from superposition.frequencies import sparse_batches

    def after(weights, done):
        if pull:
            # at the rate of this step
            sparse_batches.pull_to_length_one(weights[0], pull * lr * (1 + np.cos(np.pi * (done - 1) / steps)) / 2)
        if progress is not None:
            progress(done, steps)

    weight = np.broadcast_to(np.asarray(importance, float), np.shape(p))
    start = {"tied": tied, "bias_spread": bias_spread}
    data = {"batch": batch, "largest": largest, "eval_samples": eval_samples}
    return _train(p, nd, weight, after, **start, steps=steps, lr=lr, **data, seed=seed, device=device)


@checked(
    of_features, fits_in_memory, p=probabilities, nd=ranges.whole(1, checks.MOST_FEATURES), way=ranges.one_of(*WAYS),
    steps=ranges.steps, batch=ranges.whole(1), lr=ranges.number(0, 10, open_low=True), seed=ranges.whole(0),
    eval_samples=ranges.whole(1, 2**30),
)  # fmt: skip
def train_unequal_alive(
    p: ArrayLike, nd: int, *, way: str, steps: int = 4000, batch: int = 512, lr: float = 1e-2, seed: int = 0,
    device: str = "auto", eval_samples: int = 2**18,
) -> UnequalModel:  # fmt: skip
    """Train ReLU(W^T W x + b) as `train_unequal` does, and keep outputs from falling silent.

    An output is dead if it is zero while its own feature alone is fully on, |w|^2 + b <= 0.

    Parameters
    ----------
    p, nd, steps, batch, lr, seed, device, eval_samples
        As of `train_unequal`: one seed gives both functions the same start and the same feature vectors.
    way : str
        "floor": no bias falls below -0.9 |w|^2. "revived": every 50 steps of the first 80 % of the steps, rows of dead
        outputs are set to length one, and their biases to -1/2.

    Notes
    -----
    Source: ours. Use `train_unequal` instead for free decoders, and for training that leaves outputs alone.

    Examples
    --------
    >>> model = train_unequal_alive([0.5, 0.1, 0.1], 2, way="floor", steps=10, batch=16, eval_samples=640, device="cpu")
    >>> bool(np.all((model.W_in**2).sum(axis=0) + model.bias > 0))
    True
    """

    def after(weights, done):
        if way == "floor" or (done % EVERY == 0 and done <= UNTIL * steps):
            _keep_alive(weights[0], weights[-1], way)

    start, data = {"tied": True, "bias_spread": 0.0}, {"batch": batch, "largest": 1.0, "eval_samples": eval_samples}
    # pyrefly: ignore[bad-argument-type]: it has a length
    return _train(p, nd, np.ones(len(p)), after, **start, steps=steps, lr=lr, **data, seed=seed, device=device)


def _train(p, nd, weight, after, *, tied, bias_spread, steps, lr, batch, largest, eval_samples, seed, device):
    """Train and evaluate; ``after(weights, done)`` is called after each step."""
    from superposition import optimise
    from superposition.devices import resolve_device, torch
    from superposition.frequencies import sparse_batches

    p, on = np.asarray(p, float), resolve_device(device)
    init_rng, data_rng, eval_rng = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(3))
    weights = sparse_batches.first_weights(len(p), nd, tied, init_rng, on, bias_spread)
    gradient = sparse_batches.batch_gradient(weights, p, weight, batch, data_rng, largest)
    history = torch.zeros(steps, device=on)
    for done, loss in optimise.adam(weights, gradient, steps=steps, lr=lr):
        history[done - 1] = loss
        after(weights, done)
    encoder, decoder, bias = (w.detach() for w in sparse_batches.encoder_decoder_bias(weights))
    each = -(-eval_samples // sparse_batches.EVALUATED)
    losses, totals = sparse_batches.evaluated_losses((encoder, decoder, bias), p, weight, each, eval_rng, largest)
    arrays = (array.cpu().numpy() for array in (encoder.T, decoder, bias))
    mean, se = float(totals.mean()), float(totals.std() / sparse_batches.EVALUATED**0.5)
    return UnequalModel(*arrays, losses, mean, se, history.cpu().numpy())  # pyrefly: ignore[bad-argument-count]


def _keep_alive(encoder, bias, way):
    """Raise biases to the floor, or revive dead outputs, in place."""
    from superposition.devices import torch

    with torch.no_grad():
        squares = encoder.square().sum(1)
        if way == "floor":
            bias.copy_(torch.maximum(bias, -FLOOR * squares))
        else:
            dead = squares + bias <= 0
            encoder.copy_(torch.where(dead[:, None], torch.nn.functional.normalize(encoder), encoder))
            bias.copy_(torch.where(dead, -0.5, bias))
