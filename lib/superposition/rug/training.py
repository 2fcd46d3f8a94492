"""The training of the autoencoder ReLU(W_out W_in x + b).

Source: The Persian Rug, sections 2 and 3. The feature vectors come from
`superposition.features`, drawn on the CPU and moved, so that a seed means the same run on
every device up to rounding.
"""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING

import numpy as np
from defprint import transparent

from superposition import checks, features, ranges
from superposition.checked import checked
from superposition.checks import MOST_FEATURES
from superposition.rug import protocols
from superposition.rug.model import Settings, TrainedModel, autoencoder_output
from superposition.rug.ranges import device, numbers_of_a_batch, or_none, rank, ranks, ranks_within

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from superposition.devices import torch

SCHEDULES = ("cosine", "constant")
STOPPING_WINDOW = 100  # batches in a window of the text's stopping rule
SETTINGS = {
    "ns": ranges.whole(2, MOST_FEATURES),
    "nd": ranges.whole(1, MOST_FEATURES),
    "p": ranges.one_probability,
    "steps": or_none(ranges.steps),
    "batch": or_none(ranges.whole(1, 2**20)),
    "lr": or_none(ranges.rate),
    "schedule": or_none(ranges.one_of(*SCHEDULES)),
    "protocol": ranges.one_of(*protocols.PROTOCOLS),
    "seed": ranges.whole(0),
    "device": device,
    "products": ranges.one_of("float32", "bfloat16"),
    "start": or_none(ranges.one_of(*protocols.STARTS)),
}
COLLAPSED = 0.01  # mean output in units of the mean feature: 0.002 and less once collapsed, 0.2 and more in use
MOST_TRAINABLE = MOST_FEATURES


@checked(
    rank, numbers_of_a_batch, **SETTINGS, eval_samples=ranges.whole(2, 10**8),
    gradients=ranges.one_of("exact", "automatic"), progress=ranges.function,
)  # fmt: skip
def train_autoencoder(
    ns: int, nd: int, p: float, *, steps: int | None = None, batch: int | None = None, lr: float | None = None,
    schedule: str | None = None, start: str | None = None, protocol: str = "recipe", seed: int = 0,
    device: str = "auto", eval_samples: int | None = None, products: str = "float32", gradients: str = "exact",
    progress: Callable[[int, int], None] | None = None,
) -> TrainedModel:  # fmt: skip
    """Train one autoencoder ReLU(W_out W_in x + b) on sparse features and evaluate it on fresh ones.

    Weights start uniform within 1 / sqrt(fan-in), the bias at zero. Defaults of steps, batch, lr,
    schedule and start are those of `training_protocol`.

    Parameters
    ----------
    ns, nd : int
        Features (2 to 16384) and hidden dimensions (1 to ns).
    p : float
        Probability that a feature is on, in (0, 1].
    steps, batch, lr : optional
        Adam steps, an upper limit under the text's protocol; feature vectors a step; first learning rate.
    schedule : {"cosine", "constant"}, optional
        Cosine to zero, or constant.
    start : {"tied", "independent"}, optional
        Whether the decoder starts as the encoder's transpose, scaled to its own range, or with numbers of its own.
    protocol : {"recipe", "earlier", "text"}
        "recipe" and "earlier" run all their steps. "text" stops when the mean loss of the last 100
        batches is not below that of the 100 before, tested every 100 batches.
    seed : int
        Seed of the initial weights, the training data and the evaluation, one stream each.
    eval_samples : int, optional
        Fresh feature vectors for the evaluated loss, at least 2; the default gives 2^24 numbers.
    products : {"float32", "bfloat16"}
        Precision of the large products of a step; the text's protocol takes float32.
    gradients : {"exact", "automatic"}
        Explicit, which is faster, or by automatic differentiation, as in stored tables; the last bits differ. The
        text's protocol is always automatic.
    progress : callable, optional
        Called as ``progress(done, total)`` after each step.

    Raises
    ------
    FloatingPointError
        If the loss is no longer finite or the output collapses to zero; the message names step,
        learning rate and a rate to try.

    Notes
    -----
    Source: The Persian Rug, section 2; the recipe is ours. Use `train_meanfield` instead for Gaussian interference.

    Examples
    --------
    >>> train_autoencoder(8, 3, 0.1, steps=20, seed=0, device="cpu", eval_samples=64).loss < 0.05
    True
    """
    from superposition import optimise
    from superposition.devices import torch
    from superposition.rug.evaluation import draw, evaluate, initial_weights, reconstruction, usual_form

    settings = training_settings(ns, nd, p, steps, batch, lr, schedule, protocol, seed, device, products, start)
    on = torch.device(settings.device)
    init_rng, data_rng, eval_rng = (np.random.default_rng(s) for s in np.random.SeedSequence(settings.seed).spawn(3))
    weights = initial_weights(settings, init_rng, on)
    is_exact = gradients == "exact" and settings.protocol != "text"
    weights, gradient = _prepared(weights, settings, data_rng, on, is_exact)
    probe = draw(settings, np.random.default_rng([settings.seed, 3]), on)
    history = torch.zeros(settings.steps, device=on)
    stopped, done = False, 0
    for done, loss in optimise.adam(
        weights, gradient, steps=settings.steps, lr=settings.lr, schedule=settings.schedule
    ):
        history[done - 1] = loss
        if progress is not None:
            progress(done, settings.steps)
        if done % STOPPING_WINDOW == 0 or done == settings.steps:
            refuse_collapse(history[:done], reconstruction(weights, probe, is_exact), settings)
            stopped = settings.protocol == "text" and _no_longer_falls(history[:done])
        if stopped:
            break
    weights = usual_form(weights, is_exact)
    loss, loss_se = evaluate(weights, settings, eval_rng, on, eval_samples)
    W_in, W_out, bias = (w.detach().cpu().numpy() for w in weights)
    return TrainedModel(settings, W_in, W_out, bias, history[:done].cpu().numpy(), loss, loss_se, stopped)


@checked(
    ranks_within, numbers_of_a_batch, ns=SETTINGS["ns"], nds=ranks,
    seconds=ranges.number(0, ranges.LARGEST, open_low=True), steps=ranges.steps, p=ranges.one_probability,
    batch=ranges.whole(1, 2**20), device=device,
)  # fmt: skip
def affordable_steps(
    ns: int, nds: Sequence[int], *, seconds: float, steps: int = 2000, p: float = 0.05, batch: int = 1024,
    device: str = "auto",
) -> tuple[int, float]:  # fmt: skip
    """Number of training steps that a budget of seconds allows, the same for models of several ranks.

    Returns
    -------
    steps : int
        From 1 to ``steps``.
    seconds : float
        Estimate of the time that they take, from a few steps of each.

    Examples
    --------
    >>> affordable_steps(8, [3], seconds=60, steps=10, device="cpu")[0]
    10
    """
    seconds_of = {nd: _step_seconds(ns, nd, p, batch, device) for nd in dict.fromkeys(nds)}
    cost = sum(seconds_of[nd] for nd in nds)
    affordable = int(max(1, min(steps, seconds / cost)))
    return affordable, affordable * cost


@checked(rank, numbers_of_a_batch, **SETTINGS)
def training_settings(
    ns: int, nd: int, p: float, steps: int | None, batch: int | None, lr: float | None, schedule: str | None,
    protocol: str, seed: int, device: str, products: str = "float32", start: str | None = None,
) -> Settings:  # fmt: skip
    """Settings of a training, with those of its protocol where none are given (None).

    Parameters
    ----------
    ns, nd, p, steps, batch, lr, schedule, protocol, seed, device, products, start
        As in `train_autoencoder`.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or not one of the text's protocol.

    Examples
    --------
    >>> training_settings(8, 3, 0.1, 100, None, None, None, "recipe", 0, "cpu").batch
    1024
    """
    from superposition.devices import resolve_device
    from superposition.rug import exact_gradients

    ns, p = checks.whole("ns", ns, 2, MOST_TRAINABLE), features.one_probability(p)
    nd = checks.whole("nd", nd, 1, ns)
    usual = protocols.training_protocol(checks.one_of("protocol", protocol, protocols.PROTOCOLS), ns, nd, p)
    schedule = checks.one_of("schedule", usual.schedule if schedule is None else schedule, SCHEDULES)
    is_text = protocol == "text"
    if is_text and schedule != "constant":
        raise ValueError(f"schedule = {schedule!r} does not go with protocol 'text'; allowed: constant")
    return Settings(
        ns=ns,
        nd=nd,
        p=p,
        steps=checks.whole("steps", usual.steps if steps is None else steps, 1),
        batch=checks.whole("batch", usual.batch if batch is None else batch, 1),
        lr=usual.lr if lr is None else _rate(lr),
        schedule=schedule,  # pyrefly: ignore[bad-argument-type]: the usual one where it was None
        protocol=protocol,
        seed=checks.whole("seed", seed, 0),
        device=str(resolve_device(device)),
        products=checks.one_of("products", products, ("float32",) if is_text else tuple(exact_gradients.PRODUCTS)),
        start=checks.one_of("start", usual.start if start is None else start, protocols.STARTS),
    )


def _rate(lr: float) -> float:
    """Return a learning rate as a float, or refuse it."""
    return checks.number("lr", lr, 0, ranges.LARGEST, open_low=True)


def _prepared(weights, settings, rng, on, is_exact):
    """Weights to be trained, and their gradient: written down, or automatic."""
    from superposition import optimise
    from superposition.devices import torch
    from superposition.rug import exact_gradients
    from superposition.rug.evaluation import draw

    if is_exact:
        return exact_gradients.prepared(weights, settings, rng, products=settings.products)

    def loss():
        x = draw(settings, rng, on)
        return torch.mean((autoencoder_output(weights, x) - x) ** 2)

    return weights, optimise.by_autograd(weights, loss)


@transparent
def _asks_once(refuse):
    """Decorate `refuse_collapse`: off the CPU, one fetch serves it and the stopping rule, which comes next.

    Both are in the code of stored tables, and ask for one value at a time; each waits for all work before it.
    """

    @functools.wraps(refuse)
    def asking(history, output, settings):
        if history.device.type != "cpu":
            from superposition.devices import torch

            last, before = history[-STOPPING_WINDOW:].mean(), history[-2 * STOPPING_WINDOW : -STOPPING_WINDOW].mean()
            bad = torch.where(torch.isfinite(history).all(), 0, torch.nan)
            seen = torch.stack([bad, output.detach().mean(), (last >= before).to(history.dtype)]).cpu()
            history._base.fell_no_longer = bool(seen[2])
            history, output = seen[:1].expand(len(history)), seen[1]
        return refuse(history, output, settings)

    return asking


@transparent
def _as_asked(rule):
    """Decorate the stopping rule: off the CPU its answer has been fetched for this window."""

    @functools.wraps(rule)
    def answered(history):
        fetched = history.device.type != "cpu" and len(history) >= 2 * STOPPING_WINDOW
        return history._base.fell_no_longer if fetched else rule(history)

    return answered


@_asks_once
def refuse_collapse(history: torch.Tensor, output: torch.Tensor, settings: Settings) -> None:
    """Raise an error if the loss is no longer finite, or if the mean of some outputs is nearly zero."""
    from superposition.devices import torch

    what = None
    if not bool(torch.isfinite(history).all()):
        what = "the loss is not finite"
    elif float(output.detach().mean()) < COLLAPSED * float(features.mean(settings.p)):
        what = "the output has collapsed to zero"
    if what:
        raise FloatingPointError(
            f"{what} at step {len(history)} with lr = {settings.lr:g} (ns = {settings.ns}, nd = {settings.nd}, "
            f"p = {settings.p:g}); try a smaller learning rate: lr = {settings.lr / 4:g}"
        )


@_as_asked
def _no_longer_falls(history):
    if len(history) < 2 * STOPPING_WINDOW:
        return False
    return bool(history[-STOPPING_WINDOW:].mean() >= history[-2 * STOPPING_WINDOW : -STOPPING_WINDOW].mean())


def _step_seconds(ns, nd, p, batch, device, steps=4):
    """Seconds of a step; the clock is read when the device has finished its work."""
    from superposition.devices import accelerator, torch

    ticks, on = [], accelerator(device)

    def tick(done, total):
        if on.type != "cpu":
            torch.accelerator.synchronize(on)
        ticks.append(time.perf_counter())

    how = {"batch": batch, "seed": 0, "device": device, "eval_samples": 2}
    train_autoencoder(ns, nd, p, steps=steps + 2, progress=tick, **how)
    return (ticks[-1] - ticks[1]) / steps


@checked(history=ranges.array("steps"), window=ranges.whole(1))
def first_pause(history: ArrayLike, window: int = STOPPING_WINDOW) -> int:
    """Step at which the text's stopping rule fires when applied after every batch; ``len(history)`` if it never does.

    Parameters
    ----------
    history : array_like, shape (steps,)
        Loss of each batch.

    Notes
    -----
    Source: The Persian Rug, section 2: "training continues as long as the average loss over the past 100 batches is
    lower than the average loss over the 100 batches prior to that one". `train_autoencoder`
    applies it every 100 batches.

    Examples
    --------
    >>> first_pause([3, 2, 1, 1, 1], window=2)
    5
    """
    means = _window_means(history, window)
    fired = np.flatnonzero(means[window:] >= means[:-window])
    return int(fired[0]) + 2 * window if len(fired) else len(history)  # pyrefly: ignore[bad-argument-type]: it is a vector


@checked(history=ranges.array("steps"), level=ranges.number(), window=ranges.whole(1))
def first_step_below(history: ArrayLike, level: float, window: int = STOPPING_WINDOW) -> int:
    """Step at which the mean of the last batches is first at or below a level; 0 if it never is.

    Examples
    --------
    >>> first_step_below([3, 2, 1, 1, 1], level=1.5, window=2)
    3
    """
    below = np.flatnonzero(_window_means(history, window) <= level)
    return int(below[0]) + window if len(below) else 0


def _window_means(history, window):
    total = np.cumsum(np.concatenate([[0.0], np.asarray(history, float)]))
    return (total[window:] - total[:-window]) / window if len(total) > window else np.empty(0)
