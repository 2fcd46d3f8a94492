"""Training as in the public code of The Persian Rug, whose stopping rule differs from the one in the text.

Source: the text's rule is that of The Persian Rug, section 2 ("the past 100 batches"); the other is read from the
repository that the text names. There an epoch is 30,000 fresh feature vectors in batches of 1024, the last one of 304.
Before each epoch, once there are more than 400 batches, the mean loss of the last 200 is compared with that of the 200
before; if it is not lower, that epoch is the last one. There are 1500 epochs at most. Adam has eps = 1e-7 and the
constant rate 3e-3 / sqrt(ns); weights and bias start uniform within 1 / sqrt(fan-in), as PyTorch starts them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from superposition import checks, features, ranges
from superposition.checked import checked
from superposition.rug import protocols
from superposition.rug.device_training import DeviceSettings, draw_there, graph_of, rounded_products, stream
from superposition.rug.model import Settings, TrainedModel, autoencoder_output
from superposition.rug.ranges import any_device, captures, device, or_none, rank, rounds_on

EPOCH = (*(1024,) * 29, 304)  # feature vectors of the batches of an epoch
EPOCHS = 1500
EPS = 1e-7
TEXT_WINDOW, CODE_WINDOW = 100, 200
LOOK = 10  # epochs whose losses and weights stay on a device until the host asks whether a rule has stopped it
PIECE = 10  # batches that a captured graph trains on: a divisor of an epoch, and of the text's window


@dataclass(frozen=True)
class BothRules:
    """One training as in the public code: the model where the text's rule stops, and where the code's rule stops.

    Where a rule never fired, its model is the last one, with ``stopped`` False.
    """

    text: TrainedModel
    code: TrainedModel


@checked(
    rank, ns=ranges.whole(2, checks.MOST_FEATURES), nd=ranges.whole(1, checks.MOST_FEATURES), p=ranges.one_probability,
    epochs=ranges.whole(1, EPOCHS), seed=ranges.whole(0), device=device, progress=ranges.function,
)  # fmt: skip
def train_as_published(
    ns: int, nd: int, p: float, *, epochs: int = EPOCHS, seed: int = 0, device: str = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> BothRules:  # fmt: skip
    """Train one autoencoder by the public code's protocol, and read both stopping rules from one trajectory.

    Use `train_autoencoder` for the recipe, which reaches lower losses in fewer steps.

    Parameters
    ----------
    epochs : int
        Upper limit, each of 30 batches; the code has 1500.
    progress : callable, optional
        Called as ``progress(done, epochs)`` after each epoch.

    Notes
    -----
    Source: The Persian Rug, section 2, and its public code. The random numbers are ours.

    Examples
    --------
    >>> both = train_as_published(16, 4, 0.2, epochs=20, device="cpu")
    >>> len(both.text.loss_history) <= len(both.code.loss_history)
    True
    """
    from superposition.devices import resolve_device, torch

    on = resolve_device(device)
    init_rng, data_rng, eval_rng = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(3))
    lr = protocols.training_protocol("text", ns, nd, p).lr
    settings = Settings(
        ns, nd, p, epochs * len(EPOCH), EPOCH[0], lr, "constant", "code", seed, str(on), start="independent"
    )
    weights = _start(settings, init_rng, on)
    optimiser = torch.optim.Adam(weights, lr=lr, eps=EPS, fused=True)
    losses, done = torch.zeros(settings.steps, device=on), 0
    stops: dict[str, tuple] = {}
    kept, epochs_a_look = [], 1 if on.type == "cpu" else LOOK
    for epoch in range(1, epochs + 1):
        for batch in EPOCH:
            losses[done] = _step(weights, optimiser, _draw(ns, p, batch, data_rng, on))
            done += 1
            if done % TEXT_WINDOW == 0 or done % len(EPOCH) == 0:
                kept.append((done, [weight.detach().clone() for weight in weights]))
        if epoch % epochs_a_look == 0 or epoch == epochs:
            _look(stops, kept, losses[:done].cpu())
            kept.clear()
        if progress is not None:
            progress(epoch, epochs)
        if "code" in stops:
            break
    # the text's first: both are evaluated on one stream of random numbers
    found = {rule: _model(then, settings, losses[:at], eval_rng, True) for rule, (at, then) in stops.items()}
    code = found.get("code") or _model(weights, settings, losses[:done], eval_rng, False)
    return BothRules(found.get("text") or replace(code, stopped=False), code)


@checked(
    rank, captures, rounds_on, ns=ranges.whole(2, checks.MOST_FEATURES), nd=ranges.whole(1, checks.MOST_FEATURES),
    p=ranges.number(1e-3, 1), epochs=ranges.whole(1, EPOCHS), seed=ranges.whole(0), device=any_device,
    products=ranges.one_of("float32", "tf32"), captured=or_none(ranges.flag), progress=ranges.function,
)  # fmt: skip
def train_as_published_on_device(
    ns: int, nd: int, p: float, *, epochs: int = EPOCHS, seed: int = 0, device: str = "auto", products: str = "float32",
    captured: bool | None = None, progress: Callable[[int, int], None] | None = None,
) -> BothRules:  # fmt: skip
    """Train as `train_as_published` does, on feature vectors that the device itself draws.

    First weights are those of the same seed there. Vectors have the same distribution but another stream, which differs
    between kinds of devices.

    Parameters
    ----------
    epochs : int
        Upper limit, each of 30 batches; the code has 1500.
    products : {"float32", "tf32"}
        Precision of the products: "tf32", for CUDA only, keeps 10 bits of the factors.
    captured : bool, optional
        Whether ten steps are launched as one captured graph; the default does so under CUDA.
    progress : callable, optional
        Called as ``progress(done, epochs)`` after each ten epochs.

    Notes
    -----
    Source: The Persian Rug, section 2, and its public code. Use `train_as_published` instead where a seed must mean the
    same vectors on every device.

    Examples
    --------
    >>> both = train_as_published_on_device(16, 4, 0.2, epochs=20, device="cpu")
    >>> both.code.settings.draws, len(both.text.loss_history) <= len(both.code.loss_history)
    ('device', True)
    """
    from superposition.devices import accelerator, refusing_too_small

    on = accelerator(device)
    captured = on.type == "cuda" if captured is None else captured
    lr = protocols.training_protocol("text", ns, nd, p).lr
    steps = epochs * len(EPOCH)
    settings = DeviceSettings(
        ns, nd, p, steps, EPOCH[0], lr, "constant", "code", seed, str(on), products, "independent", captured=captured
    )
    with refusing_too_small(on), rounded_products(products):
        return _trained_there(settings, on, progress)


def _trained_there(settings, on, progress):
    from superposition.devices import torch

    init_rng, _, eval_rng = (np.random.default_rng(s) for s in np.random.SeedSequence(settings.seed).spawn(3))
    weights = _start(settings, init_rng, on)
    # pyrefly: ignore[bad-argument-type]: the number of a step is a tensor, so that a graph can count
    optimiser = torch.optim.Adam(weights, lr=settings.lr, eps=EPS, fused=True, capturable=on.type != "cpu")
    losses, count = torch.zeros(settings.steps, device=on), torch.zeros(1, dtype=torch.int64, device=on)
    generator = stream(settings.seed, on)

    def piece(batches):
        for batch in batches:
            x = draw_there(torch.empty(batch, settings.ns, device=on), settings.p, generator)
            losses.index_copy_(0, count, _step(weights, optimiser, x).view(1))
            count.add_(1)

    pieces = {batches: partial(piece, batches) for batches in (EPOCH[:PIECE], EPOCH[-PIECE:])}
    stops: dict[str, tuple] = {}
    kept, done, epochs = [], 0, settings.steps // len(EPOCH)
    for epoch in range(1, epochs + 1):
        if settings.captured and epoch == 2:  # kernels are chosen, Adam's averages exist
            pieces = {batches: graph_of(take, generator, on) for batches, take in pieces.items()}
        for start in range(0, len(EPOCH), PIECE):
            # pyrefly: ignore[bad-index]: one of the two pieces of an epoch
            pieces[EPOCH[start : start + PIECE]]()
            done += PIECE
            if done % TEXT_WINDOW == 0 or done % len(EPOCH) == 0:
                kept.append((done, [weight.detach().clone() for weight in weights]))
        if epoch % LOOK == 0 or epoch == epochs:
            _look(stops, kept, losses[:done].cpu())
            kept.clear()
            if progress is not None:
                progress(epoch, epochs)
        if "code" in stops:
            break
    # the text's first: both are evaluated on one stream of random numbers
    found = {rule: _model(then, settings, losses[:at], eval_rng, True) for rule, (at, then) in stops.items()}
    code = found.get("code") or _model(weights, settings, losses[:done], eval_rng, False)
    return BothRules(found.get("text") or replace(code, stopped=False), code)


def _look(stops, kept, losses):
    """Add the steps and weights at which the rules stop, of those kept since the last look; the code's ends all."""
    for done, weights in kept:
        before = done - len(EPOCH)
        if "text" not in stops and done % TEXT_WINDOW == 0 and not _falls(losses[:done], TEXT_WINDOW):
            stops["text"] = done, weights
        if done % len(EPOCH) == 0 and before > 2 * CODE_WINDOW and not _falls(losses[:before], CODE_WINDOW):
            stops["code"] = done, weights
            return


def _start(settings, rng, on):
    """Weights and bias as PyTorch starts them, uniform within 1 / sqrt(fan-in)."""
    from superposition.devices import torch
    from superposition.rug.evaluation import initial_weights

    W_in, W_out, _ = initial_weights(settings, rng, on)
    bias = rng.uniform(-1, 1, settings.ns) / np.sqrt(settings.nd)
    return [W_in, W_out, torch.tensor(bias, dtype=torch.float32, device=on, requires_grad=True)]


def _draw(ns, p, batch, rng, on):
    """A batch of feature vectors (batch, ns) in float32."""
    from superposition.devices import torch

    flat, values = features.nonzeros(ns, p, batch, seed=rng)
    x = torch.zeros(batch * ns, device=on)
    x[torch.from_numpy(flat).to(on)] = torch.from_numpy(values).float().to(on)
    return x.view(batch, ns)


def _step(weights, optimiser, x):
    """One step of Adam, and the loss before it."""
    from superposition.devices import torch

    optimiser.zero_grad()
    loss = torch.mean((autoencoder_output(weights, x) - x) ** 2)
    loss.backward()
    optimiser.step()
    return loss.detach()


def _falls(losses, window):
    """Whether the mean of the last window is below that of the one before; true until there are two of them."""
    if len(losses) < 2 * window:
        return True
    return bool(losses[-window:].mean() < losses[-2 * window : -window].mean())


def _model(weights, settings, losses, rng, stopped):
    """The model as it is now, evaluated on fresh feature vectors."""
    from superposition.rug.evaluation import evaluate

    loss, se = evaluate(weights, settings, rng, losses.device, None)
    W_in, W_out, bias = (weight.detach().cpu().numpy().copy() for weight in weights)
    return TrainedModel(settings, W_in, W_out, bias, losses.cpu().numpy().copy(), loss, se, stopped)
