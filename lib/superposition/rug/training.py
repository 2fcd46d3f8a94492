"""The training of the autoencoder ReLU(W_out W_in x + b).

Source: The Persian Rug, sections 2 and 3. The feature vectors come from
`superposition.features`, drawn on the CPU and moved, so that a seed means the same run on
every device up to rounding.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, features, optimise
from superposition.checks import MOST_FEATURES
from superposition.devices import resolve_device, torch
from superposition.rug import exact_gradients, protocols, ranges
from superposition.rug.model import Settings, TrainedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SCHEDULES = ("cosine", "constant")
WINDOW = 100  # batches in a window of the text's stopping rule
COLLAPSED = 0.01  # mean output in units of the mean feature: 0.002 and less once collapsed, 0.2 and more in use
LIMIT = MOST_FEATURES


def train(
    ns: int,
    nd: int,
    p: float,
    *,
    steps: int | None = None,
    batch: int | None = None,
    lr: float | None = None,
    schedule: str | None = None,
    start: str | None = None,
    protocol: str = "recipe",
    seed: int = 0,
    device: str = "auto",
    eval_samples: int | None = None,
    products: str = "float32",
    gradients: str = "exact",
    progress: Callable[[int, int], None] | None = None,
) -> TrainedModel:
    """Train one autoencoder on sparse features and evaluate it on fresh ones (section 2; the recipe is ours).

    Weights start uniform within 1 / sqrt(fan-in), the bias at zero. What is not given of steps, batch, lr,
    schedule and start is that of `superposition.rug.protocols.protocol`.

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
        batches is not below that of the 100 before, looking every 100 batches.
    seed : int
        Seed of the initial weights, the training data and the evaluation, in streams of its own each.
    device : str
        See `resolve_device`.
    eval_samples : int, optional
        Fresh feature vectors for the evaluated loss; as many as give 2^24 numbers if not given.
    products : {"float32", "bfloat16"}
        What the large products of a step are rounded to; the text's protocol takes float32.
    gradients : {"exact", "automatic"}
        Written down, which is faster, or by automatic differentiation, as stored
        tables have it; other last bits. The text's protocol is always automatic.
    progress : callable, optional
        Called as ``progress(done, total)`` after each step.

    Returns
    -------
    TrainedModel

    Raises
    ------
    FloatingPointError
        If the loss is no longer finite or the output collapses to zero; the message names step,
        learning rate and what to try.
    """
    settings = checked_settings(ns, nd, p, steps, batch, lr, schedule, protocol, seed, device, products, start)
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
        if done % WINDOW == 0 or done == settings.steps:
            _refuse_collapse(history[:done], _output(weights, probe, is_exact), settings)
            stopped = settings.protocol == "text" and _no_longer_falls(history[:done])
        if stopped:
            break
    weights = _usual(weights, is_exact)
    loss, loss_se = evaluate(weights, settings, eval_rng, on, eval_samples)
    W_in, W_out, bias = (w.detach().cpu().numpy() for w in weights)
    return TrainedModel(settings, W_in, W_out, bias, history[:done].cpu().numpy(), loss, loss_se, stopped)


def affordable_steps(
    ns: int,
    nds: Sequence[int],
    *,
    seconds: float,
    steps: int = 2000,
    p: float = 0.05,
    batch: int = 1024,
    device: str = "auto",
) -> tuple[int, float]:
    """Steps, the same for models of several ranks, that a budget of seconds allows; and what they will take."""
    cost = sum(_step_seconds(ns, nd, p, batch, device) for nd in nds)
    affordable = int(max(1, min(steps, seconds / cost)))
    return affordable, affordable * cost


def draw(settings: Settings, rng: np.random.Generator, device: torch.device) -> torch.Tensor:
    """A batch of feature vectors (batch, ns) in float32 on a device."""
    flat, values = features.nonzeros(settings.ns, settings.p, settings.batch, seed=rng)
    x = torch.zeros(settings.batch * settings.ns, device=device)
    x[torch.from_numpy(flat).to(device)] = torch.from_numpy(values).float().to(device)
    return x.view(settings.batch, settings.ns)


def forward(weights: Sequence[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """Output ReLU(W_out W_in x + b) of the autoencoder (The Persian Rug, eq. 1), for x of shape (batch, ns)."""
    W_in, W_out, bias = weights
    return torch.relu(torch.addmm(bias, x @ W_in.T, W_out.T))


def checked_settings(
    ns: int,
    nd: int,
    p: float,
    steps: int | None,
    batch: int | None,
    lr: float | None,
    schedule: str | None,
    protocol: str,
    seed: int,
    device: str,
    products: str = "float32",
    start: str | None = None,
) -> Settings:
    """Fill in what was not given to `train`, and refuse here, once, what no training takes."""
    ns, p = checks.whole("ns", ns, 2, LIMIT), features.one_probability(p)
    nd = checks.whole("nd", nd, 1, ns)
    usual = protocols.protocol(checks.one_of("protocol", protocol, protocols.PROTOCOLS), ns, nd, p)
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
        lr=usual.lr if lr is None else ranges.rate(lr),
        schedule=schedule,  # pyrefly: ignore[bad-argument-type]: the usual one where it was None
        protocol=protocol,
        seed=checks.whole("seed", seed, 0),
        device=str(resolve_device(device)),
        products=checks.one_of("products", products, ("float32",) if is_text else tuple(exact_gradients.PRODUCTS)),
        start=checks.one_of("start", usual.start if start is None else start, protocols.STARTS),
    )


def initial_weights(
    settings: Settings, rng: np.random.Generator, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """W_in, W_out and bias at the start: uniform within 1 / sqrt(fan-in), the bias zero."""
    ns, nd = settings.ns, settings.nd
    # half of the W_ii of an independent start are negative
    W_in = rng.uniform(-1, 1, (nd, ns)) / np.sqrt(ns)
    if settings.start == "tied":
        W_out = np.ascontiguousarray(W_in.T) * np.sqrt(ns / nd)
    else:
        W_out = rng.uniform(-1, 1, (ns, nd)) / np.sqrt(nd)
    return tuple(  # pyrefly: ignore[bad-return]: three
        torch.tensor(w, dtype=torch.float32, device=device, requires_grad=True) for w in (W_in, W_out, np.zeros(ns))
    )


def _prepared(weights, settings, rng, on, is_exact):
    """What is trained, and its gradient: written down, or automatic."""
    if is_exact:
        return exact_gradients.prepared(weights, settings, rng, products=settings.products)

    def loss():
        x = draw(settings, rng, on)
        return torch.mean((forward(weights, x) - x) ** 2)

    return weights, optimise.by_autograd(weights, loss)


def _usual(weights, is_exact):
    return (weights[0].T, *weights[1:]) if is_exact else weights


@torch.no_grad()
def _output(weights, x, is_exact):
    return forward(_usual(weights, is_exact), x)


def _refuse_collapse(history, output, settings):
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


def _no_longer_falls(history):
    if len(history) < 2 * WINDOW:
        return False
    return bool(history[-WINDOW:].mean() >= history[-2 * WINDOW : -WINDOW].mean())


@torch.no_grad()
def evaluate(
    weights: Sequence[torch.Tensor],
    settings: Settings,
    rng: np.random.Generator,
    device: torch.device,
    samples: int | None,
) -> tuple[float, float]:
    """Loss on fresh feature vectors, and its standard error."""
    samples = max(4096, 2**24 // settings.ns) if samples is None else samples
    errors = [
        torch.mean((forward(weights, x) - x) ** 2, dim=1)
        for x in (draw(settings, rng, device) for _ in range(-(-samples // settings.batch)))
    ]
    errors = torch.cat(errors)[:samples].double()
    return float(errors.mean()), float(errors.std() / samples**0.5)


def _step_seconds(ns, nd, p, batch, device, steps=4):
    ticks = []
    train(
        ns,
        nd,
        p,
        steps=steps + 2,
        batch=batch,
        seed=0,
        device=device,
        eval_samples=2,
        progress=lambda done, total: ticks.append(time.perf_counter()),
    )
    return (ticks[-1] - ticks[1]) / steps
