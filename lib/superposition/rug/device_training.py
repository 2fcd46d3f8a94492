"""The training of the autoencoder ReLU(W_out W_in x + b) by a device that never waits for its host.

Feature vectors are drawn where they are used, from a stream of their own; gradients are written down; the learning
rates, the losses and the count of the steps stay on the device. The host asks once for each window of steps.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import features, ranges
from superposition.checked import checked
from superposition.rug import training
from superposition.rug.model import Settings, TrainedModel
from superposition.rug.ranges import any_device, captures, or_none, rank, rounds_on

if TYPE_CHECKING:
    from superposition.devices import torch

MOST_AT_ONCE = 2**28  # numbers of a batch that are on the device at once: 1 GB, of which a step needs three
LANES = 8  # tensor cores take rows of a multiple of four numbers at full speed, of others at half
WARM = 3  # steps before one is captured: kernels are chosen, Adam's averages exist
NUMBER = 4  # bytes of a float32
STREAM = 4  # of a seed, beside its first weights, data, evaluation and the probe of host-drawn training

_OTHERWISE = {  # ranges of a training that the device draws for, where they are not those of `train_autoencoder`
    "p": ranges.number(1e-3, 1),
    "protocol": ranges.one_of("recipe", "text"),
    "device": any_device,
    "products": ranges.one_of("float32", "tf32"),
}


@dataclass(frozen=True)
class DeviceSettings(Settings):
    """How a model was trained by `train_on_device`: the `Settings`, what drew its vectors, and how its steps ran."""

    draws: str = "device"
    captured: bool = False


@checked(
    rank, captures, rounds_on,
    **{name: one for name, one in training.SETTINGS.items() if name not in ("schedule", "start")} | _OTHERWISE,
    eval_samples=or_none(ranges.whole(2, 10**8)), captured=or_none(ranges.flag), progress=ranges.function,
)  # fmt: skip
def train_on_device(
    ns: int, nd: int, p: float, *, steps: int | None = None, batch: int | None = None, lr: float | None = None,
    protocol: str = "recipe", seed: int = 0, device: str = "auto", eval_samples: int | None = None,
    products: str = "float32", captured: bool | None = None, progress: Callable[[int, int], None] | None = None,
) -> TrainedModel:  # fmt: skip
    """Train as `train_autoencoder` does, on feature vectors that the device itself draws.

    First weights are those of the same seed there. Vectors have the same distribution but another stream, which differs
    between kinds of devices, so that a seed is a run on one kind only.

    Parameters
    ----------
    protocol : {"recipe", "text"}
        Rate, steps, batch, schedule and start where none are given; "text" stops by the rule of the text, with exact
        gradients.
    products : {"float32", "tf32"}
        Precision of the products: "tf32", for CUDA only, keeps 10 bits of the factors.
    captured : bool, optional
        Whether a step is launched as one captured graph; the default does so under CUDA.
    progress : callable, optional
        Called as ``progress(done, total)`` after each 100 steps.

    Returns
    -------
    TrainedModel
        Its ``settings`` say what drew the vectors (``draws``) and whether steps were captured (``captured``).

    Raises
    ------
    FloatingPointError
        If the loss is no longer finite or the output collapses to zero.

    Notes
    -----
    Source: The Persian Rug, section 2. Batches of more than 2^28 numbers are taken in parts, whose gradients are
    added. Use `train_autoencoder` instead where a seed must mean the same vectors on every device.

    Examples
    --------
    >>> model = train_on_device(8, 3, 0.1, steps=20, batch=64, device="cpu", eval_samples=64)
    >>> model.settings.draws, model.loss < 0.05
    ('device', True)
    """
    from superposition.devices import accelerator, refusing_too_small

    on = accelerator(device)
    usual = training.training_settings.unchecked(ns, nd, p, steps, batch, lr, None, protocol, seed, "cpu")
    captured = on.type == "cuda" if captured is None else captured
    # pyrefly: ignore[bad-argument-type]: the fields of Settings
    settings = DeviceSettings(**{**asdict(usual), "device": str(on), "products": products}, captured=captured)
    with refusing_too_small(on), rounded_products(products):
        return _trained(settings, on, eval_samples, progress)


def _trained(settings, on, eval_samples, progress):
    from superposition.devices import torch
    from superposition.rug.evaluation import initial_weights

    first = np.random.default_rng(np.random.SeedSequence(settings.seed).spawn(3)[0])
    W_in, W_out, bias = (weight.detach() for weight in initial_weights(settings, first, on))
    wide = (0, -settings.nd % LANES)  # dimensions beyond nd start at zero, have no gradient, and stay there
    weights = [*(torch.nn.functional.pad(side, wide).contiguous() for side in (W_in.T, W_out)), bias]
    generator = stream(settings.seed, on)
    history = torch.zeros(settings.steps, device=on)
    step, output = _prepared(weights, settings, history, generator, on)
    stopped, done = False, 0
    for done in _windows(step, settings, generator, on):
        finite, level, change = _look(history, done, output)
        if not finite or level < training.COLLAPSED * float(features.mean(settings.p)):
            training.refuse_collapse(history[:done], output, settings)
        if progress is not None:
            progress(done, settings.steps)
        stopped = settings.protocol == "text" and done >= 2 * training.STOPPING_WINDOW and change >= 0
        if stopped:
            break
    loss, loss_se = _fresh_loss(weights, settings, generator, eval_samples)
    W_in, W_out, bias = (weight.detach().cpu().numpy() for weight in weights)
    W_in, W_out = (np.ascontiguousarray(W) for W in (W_in[:, : settings.nd].T, W_out[:, : settings.nd]))
    return TrainedModel(settings, W_in, W_out, bias, history[:done].cpu().numpy(), loss, loss_se, stopped)


def stream(seed: int, on: torch.device) -> torch.Generator:
    """The generator of the feature vectors that a device draws: a stream of its own for each seed."""
    from superposition.devices import torch

    return torch.Generator(device=on).manual_seed(int(np.random.default_rng([seed, STREAM]).integers(2**63)))


def draw_there(x: torch.Tensor, p: float, generator: torch.Generator) -> torch.Tensor:
    """Fill x in place with feature vectors: the positive part of a uniform number on [1 - 1 / p, 1] is uniform too."""
    return x.uniform_(1 - 1 / p, 1, generator=generator).relu_()


def _prepared(weights, settings, history, generator, on):
    """One step as a function that needs nothing from the host, and the buffer of the outputs of its last part."""
    from superposition.devices import torch

    encoder, decoder, bias = weights
    each = max(1, min(settings.batch, MOST_AT_ONCE // settings.ns))
    sizes = [min(each, settings.batch - start) for start in range(0, settings.batch, each)]
    x, output, error = (torch.empty(sizes[0], settings.ns, device=on) for _ in range(3))
    scale = 2 / (settings.batch * settings.ns)
    for weight in weights:
        weight.requires_grad_().grad = torch.zeros_like(weight)
    rate, loss = (torch.zeros(1, device=on) for _ in range(2))
    done = torch.zeros(1, dtype=torch.int64, device=on)
    rates = torch.from_numpy(_rates(settings)).to(on)
    adam = torch.optim.Adam(weights, lr=rate.view(()), fused=True, capturable=on.type != "cpu")

    @torch.no_grad()
    def step():
        loss.zero_()
        for number, size in enumerate(sizes):
            kept = float(number > 0)  # of the gradients before
            vectors, out, wrong = x[:size], output[:size], error[:size]
            draw_there(vectors, settings.p, generator)
            hidden = vectors @ encoder
            torch.addmm(bias, hidden, decoder.T, out=out).relu_()
            torch.sub(out, vectors, out=wrong)
            loss.add_(torch.linalg.vector_norm(wrong).square_(), alpha=scale / 2)
            torch.ops.aten.threshold_backward.grad_input(wrong, out, 0, grad_input=wrong)
            decoder.grad.addmm_(wrong.T, hidden, beta=kept, alpha=scale)
            bias.grad.mul_(kept).add_(wrong.sum(0), alpha=scale)
            encoder.grad.addmm_(vectors.T, wrong @ decoder, beta=kept, alpha=scale)
        history.index_copy_(0, done, loss)
        rate.copy_(rates.index_select(0, done))
        adam.step()
        done.add_(1)

    return step, output[: sizes[-1]]


def _rates(settings):
    """Learning rate of each step."""
    share = (1 + np.cos(np.pi * np.arange(settings.steps) / settings.steps)) / 2
    return (settings.lr * (share if settings.schedule == "cosine" else np.ones(settings.steps))).astype(np.float32)


def _windows(step, settings, generator, on) -> Iterator[int]:
    """Take all steps, and yield the number of those that are done after each window."""
    take = step
    for done in range(1, settings.steps + 1):
        if settings.captured and done == WARM + 1:
            take = graph_of(step, generator, on)
        take()
        if done % training.STOPPING_WINDOW == 0 or done == settings.steps:
            yield done


def graph_of(step: Callable[[], None], generator: torch.Generator, on: torch.device) -> Callable[[], None]:
    """A step as one graph, which a single call launches; the step itself, with a warning, where that is impossible."""
    from superposition.devices import torch

    graph = torch.cuda.CUDAGraph()
    try:
        graph.register_generator_state(generator)
        with torch.cuda.device(on), torch.cuda.graph(graph):
            step()
    except RuntimeError:
        warnings.warn(f"{on} gave no graph of a step; its operations are launched one at a time", stacklevel=2)
        return step
    return graph.replay


def _look(history, done, output):
    """Whether the last losses are finite, the mean output, and how the loss changed between windows: one fetch."""
    from superposition.devices import torch

    last, size = history[:done], training.STOPPING_WINDOW
    change = last[-size:].mean() - last[-2 * size : -size].mean() if done > size else last[0] * 0
    return torch.stack([torch.isfinite(last[-size:]).all().to(output.dtype), output.mean(), change]).cpu().tolist()


def _fresh_loss(weights, settings, generator, samples):
    """Loss on fresh feature vectors and its standard error; summed over vectors on the host, in float64."""
    from superposition.devices import torch

    encoder, decoder, bias = weights
    samples = max(4096, 2**24 // settings.ns) if samples is None else samples
    each = max(1, min(samples, settings.batch, MOST_AT_ONCE // settings.ns))
    x, errors = torch.empty(each, settings.ns, device=encoder.device), []
    with torch.no_grad():
        for _ in range(-(-samples // each)):
            draw_there(x, settings.p, generator)
            output = torch.addmm(bias, x @ encoder, decoder.T).relu_()
            errors.append(output.sub_(x).square_().mean(1))
    errors = torch.cat(errors).cpu().double()[:samples]
    return float(errors.mean()), float(errors.std() / samples**0.5)


@contextmanager
def rounded_products(products: str) -> Iterator[None]:
    """Set the precision of float32 products for the duration of the training."""
    from superposition.devices import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if products == "tf32" else "highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@dataclass(frozen=True)
class StepCost:
    """Work of one step of `train_on_device`.

    ``operations`` of its five products, two for each multiplication that is added; ``product_bytes`` that these
    products read and write at least once; ``other_bytes`` of all else, mostly Adam and passes over the batch; ``held``,
    bytes that lie on the device throughout.
    """

    operations: int
    product_bytes: int
    other_bytes: int
    held: int

    def least_seconds(self, rate: float, bandwidth: float) -> float:
        """Time of a step at the given operations and bytes per second, without caches and waiting."""
        return max(self.operations / rate, self.product_bytes / bandwidth) + self.other_bytes / bandwidth


@checked(rank, ns=ranges.whole(2, 2**24), nd=ranges.whole(1, 2**24), batch=ranges.whole(1, 2**24))
def step_cost(ns: int, nd: int, batch: int = 1024) -> StepCost:
    """Count what a step of `train_on_device` computes, reads and writes, in float32, for a batch in one part.

    Notes
    -----
    Source: ours; a test compares the counts with those of every operation that a step launches.

    Examples
    --------
    >>> cost = step_cost(8192, 4096)
    >>> cost.operations == 10 * 1024 * 8192 * 4096
    True
    >>> round(1e3 * cost.least_seconds(rate=495e12, bandwidth=4.8e12), 1)  # milliseconds
    1.2
    """
    wide = nd + -nd % LANES
    across, within, side = batch * ns, batch * wide, ns * wide
    return StepCost(
        operations=10 * batch * side,
        product_bytes=NUMBER * (5 * (across + within + side) + ns),
        other_bytes=NUMBER * (13 * across + 7 * (2 * side + ns) + 6 * ns),  # Adam reads four numbers and writes three
        held=NUMBER * (4 * (2 * side + ns) + 3 * across),
    )
