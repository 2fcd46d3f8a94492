"""Networks that the notes name and do not train: hidden biases, cross-entropy, a readout that learns.

Source: the notes on localization, section 1 and eq. 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from superposition.experiments.shared import Batch, Gain, Length0, Length1, Neurons, Pixels, Rate, Seed, Steps
from superposition.inputs import Count, Real
from superposition.runs.point import Meaning, Run

if TYPE_CHECKING:
    from superposition.devices import torch


BiasedKind = Annotated[
    Literal["neither", "held", "hidden", "pixel", "output", "both"],
    Meaning(
        "neither, held, hidden, pixel, output, both",
        "biases that are free; held: the hidden one stays; pixel: hidden, searched from single pixels",
    ),
]
OtherKind = Annotated[
    Literal["biases", "cross-entropy", "readout"],
    Meaning("biases, cross-entropy, readout", "what differs from the mean of ReLU neurons without biases"),
]
Ratio = Annotated[
    Real, Field(ge=-3, le=3), Meaning("no unit", "hidden bias at the start, over the root mean square of w.x")
]
Samples = Annotated[Count, Field(ge=100), Meaning("vectors", "vectors of each label, and twice as many to read on")]
Slower = Annotated[Real, Field(gt=0), Meaning("above 0", "rate of what is not a field, in units of lr")]


def other_network(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, kind: OtherKind, K: Neurons, steps: Steps, lr: Rate,
    slower: Slower, batch: Batch, seed: Seed, device: str = "auto",
) -> dict[str, float]:  # fmt: skip
    """Train one ReLU network of that kind, first at the rate given and then, half as long, at an eighth of it."""
    from superposition import receptive
    from superposition.devices import torch

    data = receptive.nlgp_batches(n, xi1, xi2, gain, batch, seed=seed, device=device)
    pair = next(data)
    W = receptive.initial_weights(1, K, n, seed=seed)[0]
    a = np.full(K, 1 / K)
    if kind == "readout":
        a = np.random.default_rng(seed).choice((-1, 1), K) * np.sqrt(1 / K)
    start = {"W": W, "a": a, "b1": np.zeros(K), "b2": np.zeros(1)}
    parts = {k: torch.tensor(v, dtype=torch.float32, device=pair[0].device) for k, v in start.items()}
    learned = [parts[name].requires_grad_() for name in LEARNED[kind]]
    for step in range(steps + steps // 2):
        rate = lr if step < steps else lr / 8
        gradients = torch.autograd.grad(_loss(parts, pair, kind), learned)
        with torch.no_grad():
            for i, (value, gradient) in enumerate(zip(learned, gradients, strict=True)):
                value -= (rate if i == 0 else rate * slower) * gradient
        pair = next(data)
    fresh = next(receptive.nlgp_batches(n, xi1, xi2, gain, 40_000, seed=seed + 10**6, device=device))
    with torch.no_grad():
        loss = float(_loss(parts, fresh, kind))
    fields, readout, bias = (parts[name].detach().cpu().numpy().astype(np.float64) for name in ("W", "a", "b1"))
    found = {"loss": loss, "bias": float(np.median(bias)), "offset": float(parts["b2"].detach())}
    for name, here in (("for", fields[readout > 0]), ("against", fields[readout < 0])):
        shapes = {"ipr": n * receptive.ipr(here), "frequency": receptive.mean_frequency(here)} if len(here) else {}
        found |= {f"{key}_{name}": float(np.median(shapes.get(key, 0))) for key in ("ipr", "frequency")}
    return found


def biased_tile(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, kind: BiasedKind, ratio: Ratio, samples: Samples, seed: Seed,
) -> dict[str, float]:  # fmt: skip
    """The best tiling of biased ReLU neurons near the unbiased one or, of kind pixel, near copies of a single pixel."""
    from superposition import receptive
    from superposition.experiments.predicted_fields import copies

    data = receptive.sample_waves(n, xi1, xi2, gain, samples, seed=seed)
    start = (
        receptive.kernel_row(n, 0.6) if kind == "pixel" else receptive.best_tile(data, tiled=True, widths=(3.0,)).field
    )
    free = {"hidden": kind in ("hidden", "pixel", "both"), "output": kind in ("output", "both")}
    tile = receptive.best_biased_tile(start, ratio, data, **free)
    field, streams = tile.field, np.random.SeedSequence([seed, 1]).generate_state(2)
    fresh = [
        receptive.nlgp_sample(n, xi, gain, 2 * samples, seed=int(s)) for xi, s in zip((xi1, xi2), streams, strict=True)
    ]
    says = [np.maximum(x @ copies(field).T + tile.hidden, 0).mean(axis=1) + tile.output for x in fresh]
    C = sum(x.T @ x / len(x) for x in fresh) / 2
    return {
        "loss": float(np.mean((says[0] - 1) ** 2) + np.mean(says[1] ** 2)) / 4,
        "ipr": float(n * receptive.ipr(field)),
        "frequency": float(receptive.mean_frequency(field)),
        "hidden": tile.hidden,
        "found_ratio": float(tile.hidden / np.sqrt(field @ C @ field)),
        "output": tile.output,
    }


LEARNED = {"biases": ("W", "b1", "b2"), "cross-entropy": ("W", "b2"), "readout": ("W", "a", "b2")}


def _loss(parts: dict, pair: tuple, kind: str) -> torch.Tensor:
    """Mean over labels of (yhat - Y)^2 / 2, or of the cross-entropy of a network whose output is the log odds."""
    from superposition.devices import torch

    total = 0.0
    for x, y in zip(pair, (1.0, 0.0), strict=True):
        output = torch.relu(x @ parts["W"].T + parts["b1"]) @ parts["a"] + parts["b2"]
        if kind == "cross-entropy":
            total = total + torch.nn.functional.softplus((1 - 2 * y) * output).mean() / 2
        else:
            total = total + (output - y).square().mean() / 4
    return total  # pyrefly: ignore[bad-return]: of two tensors


_COLUMNS = {
    "loss": Meaning("squared error, or nats", "loss on fresh vectors: E (yhat - Y)^2 / 2, or the mean cross-entropy"),
    "bias": Meaning("units of the pre-activation", "hidden bias at the end, median over neurons"),
    "offset": Meaning("units of the output", "bias of the output at the end"),
    "ipr_for": Meaning("n IPR", "median over neurons with a positive readout"),
    "frequency_for": Meaning("waves round the ring", "mean frequency of their fields, median"),
    "ipr_against": Meaning("n IPR", "median over neurons with a negative readout, 0 where there are none"),
    "frequency_against": Meaning("waves round the ring", "mean frequency of their fields, median, 0 likewise"),
}
_BIASED = {
    "loss": Meaning("squared error", "loss E (yhat - Y)^2 / 2 of the tiling on fresh vectors"),
    "ipr": Meaning("n IPR", "of its field"),
    "frequency": Meaning("waves round the ring", "mean frequency of its field"),
    "hidden": Meaning("units of the pre-activation", "bias of the neurons"),
    "found_ratio": Meaning("no unit", "that bias over the root mean square of w.x"),
    "output": Meaning("units of the output", "bias of the output"),
}
_RING = {"n": (40,), "xi1": (2,), "xi2": (1,)}
_TILED = {**_RING, "gain": (3,), "samples": (4000,), "seed": (0, 1, 2, 3, 4)}
_AT = {"K": (24,), "batch": (500,), "seed": (0, 1, 2, 3, 4)}

RUNS = (
    Run(
        name="field-others",
        feeds="do fields localize with hidden biases, with cross-entropy, and where the readout learns",
        computes=other_network,
        columns=_COLUMNS,
        small=(
            {**_RING, "gain": (3,), "kind": ("biases",), "K": (4,), "steps": (40,), "lr": (1,), "slower": (1,),
             "batch": (100,), "seed": (0,)},
        ),
        full=(
            {**_RING, **_AT, "gain": (3,), "kind": ("biases",), "steps": (1500,), "lr": (12,), "slower": (0.05,)},
            {**_RING, **_AT, "gain": (0.01, 3), "kind": ("cross-entropy",), "steps": (1500,), "lr": (48,),
             "slower": (0.02,)},
            {**_RING, **_AT, "gain": (3,), "kind": ("readout",), "steps": (2500,), "lr": (0.3,), "slower": (0.1,)},
        ),
        hours={"small": 0.001, "full": 0.05},
    ),
    Run(
        name="field-biased",
        feeds="the best tiling of neurons with a bias, of the output with one, of both",
        computes=biased_tile,
        columns=_BIASED,
        small=({**_RING, "gain": (3,), "kind": ("hidden",), "ratio": (-0.5,), "samples": (300,), "seed": (0,)},),
        full=(
            {**_TILED, "kind": ("neither", "output"), "ratio": (0,)},
            {**_TILED, "kind": ("held",), "ratio": (-0.94,)},
            {**_TILED, "kind": ("hidden", "both"), "ratio": (-0.5,)},
            {**_TILED, "kind": ("pixel",), "ratio": (-1.15,)},
        ),
        hours={"small": 0.001, "full": 0.03},
    ),
)  # fmt: skip
