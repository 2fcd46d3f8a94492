"""Many small autoencoders trained side by side: one product for all of them where one by one takes one each.

At few features and small batches a training step is mostly the fixed cost of calls. Models of one size share them
here. On a CPU larger batches have less to share: there each of torch's threads trains a group of its own, or a single
model, where one model after the other would divide every product among them (the page How fast has the ratios).
Dimensions that a narrower model lacks stay at weight zero, so the ranks may differ.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, optimise
from superposition.devices import torch
from superposition.rug import exact_gradients, training
from superposition.rug.model import Settings, TrainedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SHARED = ("ns", "batch", "steps", "lr", "schedule", "protocol", "device", "products")
TOGETHER = 2**19  # numbers in the batches of a group: more leave the cache (measured on one CPU)
DIVIDED = 2**15  # numbers in a batch of one model: more are worth a thread for each group (measured on one CPU)
ALONE = 2**17  # numbers in a batch of one model: more cost more than the calls (measured on one CPU)


def train_many(
    settings: Sequence[Settings],
    *,
    eval_samples: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[TrainedModel]:
    """Train several autoencoders, each as `superposition.rug.training.train` would.

    Parameters
    ----------
    settings : sequence of superposition.rug.model.Settings
        One for each model; they may differ in nd, p and seed. No text's protocol, and float32 products.
    eval_samples : int, optional
        Fresh feature vectors for each evaluated loss; as in `superposition.rug.training.train`.
    progress : callable, optional
        Called as ``progress(done, total)`` after each step of a group of models.

    Returns
    -------
    list of TrainedModel
        In the order of the settings, equal to those trained one by one up to rounding in float32. A model whose
        output has collapsed is returned as it is, since the others are good.

    Raises
    ------
    ValueError
        If there are no settings, or they differ where they must not, or the protocol or the products are others.

    Examples
    --------
    >>> from superposition.rug.training import checked_settings
    >>> some = [checked_settings(8, nd, 0.2, 50, 64, None, None, "recipe", 0, "cpu") for nd in (2, 4)]
    >>> [model.W_in.shape for model in train_many(some, eval_samples=100)]
    [(2, 8), (4, 8)]
    """
    settings = _checked(settings)
    threads, size = _shared_out(settings)
    groups = [settings[start : start + size] for start in range(0, len(settings), size)]
    report = _counted(progress, len(groups) * settings[0].steps)

    def trained(group):
        if len(group) == 1:
            return _trained_alone(group[0], eval_samples, report)
        return _trained(group, eval_samples, report)

    if threads == 1:
        found = map(trained, groups)
    else:
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            found = list(pool.map(trained, groups))
    return [model for group in found for model in group]


def _counted(progress, total):
    """What every group calls after a step of its own, from any thread."""
    count, lock = iter(range(1, total + 1)), threading.Lock()

    def report():
        if progress is not None:
            with lock:
                progress(next(count), total)

    return report


def _shared_out(settings):
    """How many threads train a group each, and how many models of a group share their calls."""
    numbers, on_cpu = settings[0].batch * settings[0].ns, settings[0].device == "cpu"
    threads = torch.get_num_threads() if on_cpu and numbers > DIVIDED else 1
    together = 1 if on_cpu and numbers > ALONE else max(1, TOGETHER // numbers)
    return threads, min(together, ceil(len(settings) / threads))


def _trained_alone(settings, eval_samples, report):
    """A list of one model, trained as one by one is."""
    streams, on = _streams(settings), torch.device(settings.device)
    weights, gradient = exact_gradients.prepared(
        training.initial_weights(settings, streams[0], on), settings, streams[1]
    )
    history = torch.zeros(settings.steps, device=on)
    for done, loss in optimise.adam(
        weights, gradient, steps=settings.steps, lr=settings.lr, schedule=settings.schedule
    ):
        history[done - 1] = loss
        report()
    encoder, decoder, bias = (weight.detach() for weight in weights)
    return [_model(settings, [encoder, decoder, bias[None]], history, streams[2], eval_samples)]


def _streams(settings):
    return [np.random.default_rng(s) for s in np.random.SeedSequence(settings.seed).spawn(3)]


def _checked(settings):
    settings = list(settings)
    if not settings:
        raise ValueError("settings = [] is empty; allowed: at least one model")
    for name in SHARED:
        values = {getattr(one, name) for one in settings}
        if len(values) > 1:
            raise ValueError(f"settings have {name} = {sorted(values)}; allowed: one value for all of them")
    checks.one_of("protocol", settings[0].protocol, ("recipe", "earlier"))
    checks.one_of("products", settings[0].products, ("float32",))
    return settings


def _trained(settings, eval_samples, report):
    first, on = settings[0], torch.device(settings[0].device)
    streams = [_streams(one) for one in settings]
    starts = [training.initial_weights(one, rng[0], on) for one, rng in zip(settings, streams, strict=True)]
    weights = _side_by_side(starts, max(one.nd for one in settings))
    gradient = _gradient(weights, settings, [rng[1] for rng in streams])
    history = torch.zeros(first.steps, len(settings), device=on)
    for done, losses in optimise.adam(weights, gradient, steps=first.steps, lr=first.lr, schedule=first.schedule):
        history[done - 1] = losses
        report()
    return [
        _model(one, [w[k].detach() for w in weights], history[:, k], rng[2], eval_samples)
        for k, (one, rng) in enumerate(zip(settings, streams, strict=True))
    ]


def _side_by_side(starts, widest):
    """Encoders (models, ns, nd), decoders (models, ns, nd) and biases (models, 1, ns), zero beyond a model's nd."""
    ns = len(starts[0][2])
    shapes = (ns, widest), (ns, widest), (1, ns)
    weights = [torch.zeros(len(starts), *shape, device=starts[0][2].device) for shape in shapes]
    for k, (W_in, W_out, bias) in enumerate(starts):
        for place, own in zip(weights, (W_in.T, W_out, bias[None]), strict=True):
            place[k, :, : own.shape[1]] = own.detach()
    return [weight.requires_grad_() for weight in weights]


def _gradient(weights, settings, rngs):
    """Exact gradients of every model's batch loss, as `superposition.rug.exact_gradients` has them for one."""
    encoder, decoder, bias = weights
    on, scale = encoder.device, 2 / (settings[0].batch * settings[0].ns)

    @torch.no_grad()
    def gradient():
        x = torch.stack([training.draw(one, rng, on) for one, rng in zip(settings, rngs, strict=True)])
        hidden = torch.bmm(x, encoder)
        output = torch.baddbmm(bias, hidden, decoder.transpose(1, 2)).relu_()
        error = output - x
        losses = error.square().mean((1, 2))
        error = torch.where(output > 0, error, 0).mul_(scale)
        decoder.grad = torch.bmm(error.transpose(1, 2), hidden)
        encoder.grad = torch.bmm(x.transpose(1, 2), torch.bmm(error, decoder))
        bias.grad = error.sum(1, keepdim=True)
        return losses

    return gradient


def _model(settings, weights, history, rng, eval_samples):
    encoder, decoder, bias = weights
    own = encoder[:, : settings.nd].T.contiguous(), decoder[:, : settings.nd].contiguous(), bias[0]
    loss, loss_se = training.evaluate(own, settings, rng, own[0].device, eval_samples)
    W_in, W_out, b = (w.cpu().numpy() for w in own)
    return TrainedModel(settings, W_in, W_out, b, history.cpu().numpy(), loss, loss_se, False)
