"""Crowds of neurons: the best distribution of fields and biases, networks trained to their end, and Gaussian clones.

Source: completes the notes on localization, sections 1 and 3.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from superposition.experiments.predicted_fields import CrowdSize
from superposition.experiments.shared import Batch, Gain, Length0, Length1, Pixels, Rate, RatePerNeuron, Seed, Steps
from superposition.inputs import Count
from superposition.runs.point import Meaning, Run

FRESH, APART = 40_000, 10**6  # vectors of each label to read losses on, and how far their seed is from the other one

Biased = Annotated[bool, Meaning("True, False", "whether hidden neurons have biases")]
CrowdSamples = Annotated[Count, Field(ge=100), Meaning("vectors", "vectors of each label for the search")]
Most = Annotated[Count, Field(ge=1), Meaning("fields", "fields at most")]


def best(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, biased: Biased, samples: CrowdSamples, most: Most,
    seed: Seed, device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Best crowd by column generation, compared with the best crowd of a single field, both on fresh vectors."""
    from superposition import receptive

    data = receptive.sample_waves(n, xi1, xi2, gain, samples, seed=seed)
    fresh = receptive.sample_waves(n, xi1, xi2, gain, FRESH, seed=seed + APART)
    one = receptive.best_crowd(data, biased=biased, most=1, seed=seed)
    found = receptive.best_crowd(data, biased=biased, most=most, seed=seed)
    errors = receptive.crowd_errors(found.fields, found.biases, fresh)
    joined, _ = receptive.steepest_pair(found.fields, found.biases, data, biased=biased, seed=seed)
    alone = receptive.crowd_loss(one.fields, one.biases, fresh)[0]
    sizes = np.array([receptive.root_mean_square(w, data)[0] for w in found.fields])
    localized = n * receptive.ipr(found.fields)
    return {
        "one_loss": alone,
        "loss": receptive.crowd_loss(found.fields, found.biases, fresh)[0],
        "searched_loss": found.loss,
        "one_slope": one.slope,
        "searched": found.slope,
        "slope": float(receptive.joining_slope(joined[:n], joined[n], errors, fresh)[0]),
        "fields": len(sizes),
        "main_share": float(sizes.max() / sizes.sum()),
        "ipr_low": float(localized[sizes > 0.02 * sizes.sum()].min()),
        "ipr_high": float(localized[sizes > 0.02 * sizes.sum()].max()),
    }


def trained(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, biased: Biased, K: CrowdSize, steps: Steps, lr: Rate,
    batch: Batch, seed: Seed, device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train a ReLU network by Adam, at a rate that falls to 0, and read its loss on the fresh vectors of `best`."""
    from superposition import receptive
    from superposition.devices import resolve_device, torch

    on = resolve_device(device)
    W = torch.tensor(receptive.initial_weights(1, K, n, seed=seed)[0], dtype=torch.float32, device=on)
    b = torch.zeros(K, device=on)
    learned = [W.requires_grad_(), b.requires_grad_(biased)] if biased else [W.requires_grad_()]
    descent = torch.optim.Adam(learned, lr=lr)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(descent, steps)
    data = receptive.nlgp_batches(n, xi1, xi2, gain, batch, seed=seed, device=device)
    for _, pair in zip(range(steps), data, strict=False):
        descent.zero_grad()
        outputs = [torch.relu(torch.addmm(b, x, W.T)).mean(dim=1) for x in pair]
        loss = sum((out - y).square().mean() / 4 for out, y in zip(outputs, (1, 0), strict=True))
        loss.backward()  # pyrefly: ignore[missing-attribute]: a sum of tensors
        descent.step()
        falling.step()
    found, offsets = (part.detach().cpu().numpy().astype(np.float64) for part in (W, b))
    fresh = receptive.sample_waves(n, xi1, xi2, gain, FRESH, seed=seed + APART)
    total = 0.0
    for label, y in ((fresh.label1, 1), (fresh.label0, 0)):
        x = np.fft.irfft(label.x, n=n, axis=1)
        total += float(np.mean((np.maximum(x @ found.T + offsets, 0).mean(axis=1) - y) ** 2)) / 4
    localized = n * receptive.ipr(found)
    return {"loss": total, **{f"ipr_{q}": float(np.percentile(localized, q)) for q in (10, 50, 90)}}


def clones(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, K: CrowdSize, steps: Steps, lr: RatePerNeuron, batch: Batch,
    seed: Seed, device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train a network on Gaussian clones, then half as long at an eighth of the rate: its loss and summed spectrum."""
    from superposition import receptive
    from superposition.experiments.trained_fields import batches

    data = batches("clone", n, xi1, xi2, gain, batch, seed=seed, device=device)
    W = receptive.train_fields(receptive.initial_weights(1, K, n, seed=seed), data, steps=steps, lr=lr * K).W
    W = receptive.train_fields(W, data, steps=steps // 2, lr=lr * K / 8).W[0]
    summed = receptive.power_spectrum(W) * np.sum(W**2, axis=1, keepdims=True)
    spectrum = summed.sum(axis=0) / summed.sum()
    x1, x0 = (x.numpy().astype(np.float64) for x in next(batches("clone", n, xi1, xi2, gain, FRESH, seed=seed + APART)))
    parts = [np.mean((np.maximum(x @ W.T, 0).mean(axis=1) - y) ** 2) / 4 for x, y in ((x1, 1), (x0, 0))]
    return {
        "loss": float(sum(parts)),
        "frequency": float(spectrum @ np.arange(len(spectrum))),
        "ipr": float(np.median(n * receptive.ipr(W))),
        **{f"power_{k}": float(spectrum[k]) for k in range(SHOWN)},
    }


SHOWN = 7  # frequencies of a spectrum that are kept, from 0 on
_PER_UNIT = "squared error per unit of pre-activation and bias"
_FIELDS = "of the fields with 2 % of all pre-activation or more"
_BEST = {
    "one_loss": Meaning("squared error", "loss E (yhat - Y)^2 / 2 of the best tiling by one field, on fresh vectors"),
    "loss": Meaning("squared error", "loss of the best crowd, on the same vectors"),
    "searched_loss": Meaning("squared error", "loss of the best crowd on the vectors of the search"),
    "one_slope": Meaning(_PER_UNIT, "least slope of the loss as a pair joins the best tiling by one field"),
    "searched": Meaning(_PER_UNIT, "least slope as a pair joins the best crowd, on the vectors of the search"),
    "slope": Meaning(_PER_UNIT, "slope for that pair on fresh vectors"),
    "fields": Meaning("fields", "fields of the best crowd"),
    "main_share": Meaning("0 to 1", "share of its largest field in the root mean squares of pre-activations"),
    "ipr_low": Meaning("n IPR", f"least {_FIELDS}"),
    "ipr_high": Meaning("n IPR", f"largest {_FIELDS}"),
}
_TRAINED = {
    "loss": Meaning("squared error", "loss E (yhat - Y)^2 / 2 at the end, on the fresh vectors of crowd-best"),
    **{f"ipr_{q}": Meaning("n IPR", f"of the fields at the end, percentile {q}") for q in (10, 50, 90)},
}
_CLONES = {
    "loss": Meaning("squared error", "loss E (yhat - Y)^2 / 2 at the end, on fresh vectors"),
    "frequency": Meaning("waves round the ring", "mean frequency of the summed power spectrum of all fields"),
    "ipr": Meaning("n IPR", "of the fields, median over neurons"),
    **{f"power_{k}": Meaning("0 to 1", f"share of frequency {k} in the summed power spectrum") for k in range(SHOWN)},
}
_SHORT = {"n": (40,), "xi1": (2,), "xi2": (1,), "gain": (3,)}
_TASKS = tuple(
    {"n": (n,), "xi1": (xi1,), "xi2": (xi2,), "gain": (gain,)}
    for n, xi1, xi2, gain in (
        (40, 2, 1, 3), (40, 2, 1, 1), (40, 2, 1, 0.3),
        # drawn by a seed after the code was written
        (38, 2.5, 1.3, 2.84), (54, 2.3, 1.1, 0.7), (48, 2.3, 1, 1.74), (36, 1.6, 0.8, 0.62), (44, 2.6, 1.5, 1.38),
        (44, 2.2, 1.1, 0.31),
    )
)  # fmt: skip
_FIVE = (0, 1, 2, 3, 4)
_SEARCH = {"samples": (2000,), "most": (3,)}
_THREE = (0, 1, 2)
_TRAINING = {"K": (120,), "steps": (8000,), "lr": (0.03,), "batch": (1000,)}

RUNS = (
    Run(
        name="crowd-best",
        feeds="the best distribution of fields, with and without hidden biases, beside the best tiling by one field",
        computes=best,
        columns=_BEST,
        small=({**_SHORT, "biased": (True,), "samples": (200,), "most": (2,), "seed": (0,)},),
        full=({**_SHORT, "biased": (True, False), **_SEARCH, "seed": _THREE},),
        hours={"small": 0.001, "full": 0.5},
    ),
    Run(
        name="crowd-trained",
        feeds="networks with and without hidden biases, trained to their end, beside the best crowd",
        computes=trained,
        columns=_TRAINED,
        small=({**_SHORT, "biased": (True,), "K": (4,), "steps": (50,), "lr": (0.03,), "batch": (100,), "seed": (0,)},),
        full=({**_SHORT, "biased": (True,), **_TRAINING, "seed": _THREE},),
        hours={"small": 0.001, "full": 0.5},
    ),
    Run(
        name="crowd-clones",
        feeds="trained Gaussian clones: loss and spectrum, which the best tiling of Gaussian data has in closed form",
        computes=clones,
        columns=_CLONES,
        small=({**_SHORT, "K": (4,), "steps": (45,), "lr": (0.5,), "batch": (200,), "seed": (0,)},),
        full=tuple(
            {**task, "K": (24,), "steps": (3000,), "lr": (0.5,), "batch": (2000,), "seed": _FIVE} for task in _TASKS
        ),
        hours={"small": 0.001, "full": 0.2},
    ),
)
