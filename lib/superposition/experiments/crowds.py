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
POLISH = 4000  # steps of the descent of the best crowd on fresh batches
TOTAL = 4.0  # size of all pre-activations and biases at the start of many random fields, near that of the best tiling
TRAININGS, STILL = 5, 0.01  # trainings at most, each twice as long; a change of the loss below which it is at its end

Biased = Annotated[bool, Meaning("True, False", "whether hidden neurons have biases")]
CrowdSamples = Annotated[Count, Field(ge=100), Meaning("vectors", "vectors of each label for the search")]
Most = Annotated[Count, Field(ge=1), Meaning("fields", "fields at most")]


def _descend(W, b, biased, outputs, data, *, steps, lr):
    """Descend on fresh batches by Adam, in place, at a rate that falls to 0; biases too where there are any."""
    from superposition.devices import torch

    descent = torch.optim.Adam([W.requires_grad_(), b.requires_grad_()] if biased else [W.requires_grad_()], lr=lr)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(descent, steps)
    for _, pair in zip(range(steps), data, strict=False):
        descent.zero_grad()
        loss = sum((outputs(x) - y).square().mean() / 4 for x, y in zip(pair, (1, 0), strict=True))
        loss.backward()  # pyrefly: ignore[missing-attribute]: a sum of tensors
        descent.step()
        falling.step()


def _polished(crowd, task, *, biased, seed, device):
    """Fields and biases of a crowd after they have descended together on fresh batches, free of their first sample."""
    from superposition import receptive
    from superposition.devices import resolve_device, torch

    J, n = crowd.fields.shape
    on = resolve_device(device)
    W, b = (torch.tensor(part, dtype=torch.float32, device=on) for part in (crowd.fields, crowd.biases))
    moved = (torch.arange(n, device=on) - torch.arange(n, device=on)[:, None]) % n  # row s is a field moved by s

    def outputs(x):
        u, c = (x @ W[:, moved].reshape(J * n, n).T).reshape(len(x), J, n), b[:, None]
        return (torch.relu(u + c) + torch.relu(c - u)).mean(dim=2).sum(dim=1) / 2

    data = receptive.nlgp_batches(*task, 1000, seed=seed + 2 * APART, device=device)
    _descend(W, b, biased, outputs, data, steps=POLISH, lr=0.01)
    return tuple(part.detach().cpu().numpy().astype(np.float64) for part in (W, b))


def ended(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, biased: Biased, K: CrowdSize, steps: Steps, lr: Rate,
    batch: Batch, samples: CrowdSamples, most: Most, seed: Seed, device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train a network, each time for twice as many steps, until two doublings change nothing; find the best crowd."""
    from superposition import receptive

    task = (n, xi1, xi2, gain)
    data = receptive.sample_waves(*task, samples, seed=seed)
    fresh = receptive.sample_waves(*task, FRESH, seed=seed + APART)
    ends = []
    while len(ends) < TRAININGS and not _still(ends):
        longer = {"steps": steps * 2 ** len(ends), "lr": lr, "batch": batch, "seed": seed, "device": device}
        ends.append(_trained_loss(task, fresh, K=K, biased=biased, **longer))
    one, crowd = (receptive.best_crowd(data, biased=biased, most=fields, seed=seed) for fields in (1, most))
    fields, biases = _polished(crowd, task, biased=biased, seed=seed, device=device)
    joined, searched = receptive.steepest_pair(fields, biases, data, biased=biased, seed=seed)
    errors = receptive.crowd_errors(fields, biases, fresh)
    sizes = np.array([receptive.root_mean_square(w, data)[0] for w in fields])
    localized = n * receptive.ipr(fields[sizes > 0.02 * sizes.sum()])
    return {
        "one_loss": receptive.crowd_loss(*_polished(one, task, biased=biased, seed=seed, device=device), fresh)[0],
        "loss": receptive.crowd_loss(fields, biases, fresh)[0],
        "searched": searched,
        "slope": float(receptive.joining_slope(joined[:n], joined[n], errors, fresh)[0]),
        "fields": len(localized),
        "ipr_low": float(localized.min()),
        "ipr_high": float(localized.max()),
        "trained_loss": ends[-1],
        "before": ends[-2],
        "longest": steps * 2 ** (len(ends) - 1),
        "still": float(_still(ends)),
    }


def spread(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, biased: Biased, K: CrowdSize, most: Most, steps: Steps,
    lr: Rate, batch: Batch, samples: CrowdSamples, seed: Seed, device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train a network; let many random fields descend as one crowd, and compare the two on the same fresh vectors."""
    from superposition import receptive

    task = (n, xi1, xi2, gain)
    data = receptive.sample_waves(*task, samples, seed=seed)
    fresh = receptive.sample_waves(*task, FRESH, seed=seed + APART)
    start = receptive.initial_weights(1, most, n, seed=seed)[0]
    sizes = np.array([receptive.root_mean_square(w, data)[0] for w in start]) * most / TOTAL
    crowd = receptive.Mixture(start / sizes[:, None], np.full(most, -0.5 * biased * TOTAL / most), np.nan, np.nan)
    fields, biases = _polished(crowd, task, biased=biased, seed=seed, device=device)
    joined, searched = receptive.steepest_pair(fields, biases, data, biased=biased, seed=seed)
    errors = receptive.crowd_errors(fields, biases, fresh)
    training = {"K": K, "biased": biased, "steps": steps, "lr": lr, "batch": batch, "seed": seed, "device": device}
    above = [(one**2 - ours**2) / 4 for one, ours in zip(_network_errors(task, fresh, **training), errors, strict=True)]
    loss, sizes = (
        receptive.crowd_loss(fields, biases, fresh)[0],
        [receptive.root_mean_square(w, data)[0] for w in fields],
    )
    return {
        "loss": loss,
        "searched": searched,
        "slope": float(receptive.joining_slope(joined[:n], joined[n], errors, fresh)[0]),
        "size": float(np.sum(np.hypot(sizes, biases))),
        "trained_loss": loss + float(sum(part.mean() for part in above)),
        "above_se": float(np.sqrt(sum(part.var() / len(part) for part in above))),
    }


def _still(ends):
    """Whether the last two doublings changed the loss by less than a share of it."""
    return len(ends) > 2 and bool(np.all(np.abs(np.diff(ends[-3:])) < STILL * ends[-1]))


def _network_errors(task, fresh, *, K, biased, steps, lr, batch, seed, device):
    """Errors yhat - Y of a trained ReLU network on fresh vectors of label 1 and label 0."""
    from superposition import receptive
    from superposition.devices import resolve_device, torch

    on = resolve_device(device)
    W = torch.tensor(receptive.initial_weights(1, K, task[0], seed=seed)[0], dtype=torch.float32, device=on)
    b = torch.zeros(K, device=on)
    data = receptive.nlgp_batches(*task, batch, seed=seed, device=device)
    _descend(W, b, biased, lambda x: torch.relu(torch.addmm(b, x, W.T)).mean(dim=1), data, steps=steps, lr=lr)
    found, offsets = (part.detach().cpu().numpy().astype(np.float64) for part in (W, b))
    vectors = (np.fft.irfft(label.x, n=fresh.n, axis=1) for label in (fresh.label1, fresh.label0))
    return [np.maximum(x @ found.T + offsets, 0).mean(axis=1) - y for x, y in zip(vectors, (1, 0), strict=True)]


def _trained_loss(task, fresh, *, K, biased, steps, lr, batch, seed, device):
    """Loss of a ReLU network on fresh vectors, after its training by Adam at a rate that falls to 0."""
    from superposition import receptive
    from superposition.devices import resolve_device, torch

    on = resolve_device(device)
    W = torch.tensor(receptive.initial_weights(1, K, task[0], seed=seed)[0], dtype=torch.float32, device=on)
    b = torch.zeros(K, device=on)
    data = receptive.nlgp_batches(*task, batch, seed=seed, device=device)
    _descend(W, b, biased, lambda x: torch.relu(torch.addmm(b, x, W.T)).mean(dim=1), data, steps=steps, lr=lr)
    found, offsets = (part.detach().cpu().numpy().astype(np.float64) for part in (W, b))
    parts = []
    for label, y in ((fresh.label1, 1), (fresh.label0, 0)):
        x = np.fft.irfft(label.x, n=fresh.n, axis=1)
        parts.append(np.mean((np.maximum(x @ found.T + offsets, 0).mean(axis=1) - y) ** 2) / 4)
    return float(sum(parts))


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
    "searched": Meaning(_PER_UNIT, "least slope as a pair joins the best crowd, on the vectors of the search"),
    "slope": Meaning(_PER_UNIT, "slope for that pair on fresh vectors"),
    "fields": Meaning("fields", f"number {_FIELDS}"),
    "ipr_low": Meaning("n IPR", f"least {_FIELDS}"),
    "ipr_high": Meaning("n IPR", f"largest {_FIELDS}"),
    "trained_loss": Meaning("squared error", "loss of a network at the end of its longest training, same vectors"),
    "before": Meaning("squared error", "loss at the end of the training that is half as long"),
    "longest": Meaning("steps", "training steps of the longest training"),
    "still": Meaning("0, 1", f"whether its last two doublings each changed the loss by less than {STILL:g} of it"),
}
_CLONES = {
    "loss": Meaning("squared error", "loss E (yhat - Y)^2 / 2 at the end, on fresh vectors"),
    "frequency": Meaning("waves round the ring", "mean frequency of the summed power spectrum of all fields"),
    "ipr": Meaning("n IPR", "of the fields, median over neurons"),
    **{f"power_{k}": Meaning("0 to 1", f"share of frequency {k} in the summed power spectrum") for k in range(SHOWN)},
}
_FROM_MANY = {
    "loss": Meaning("squared error", "loss E (yhat - Y)^2 / 2 of the crowd of many fields, on fresh vectors"),
    "searched": _BEST["searched"],
    "slope": _BEST["slope"],
    "size": Meaning("pre-activation and bias", "size of all pairs together"),
    "trained_loss": Meaning("squared error", "loss of the trained network, on the same vectors"),
    "above_se": Meaning("squared error", "standard error of the network's loss less that of the crowd, by vectors"),
}
_SHORT = {"n": (40,), "xi1": (2,), "xi2": (1,), "gain": (3,)}
_SMALL = {
    **_SHORT, "n": (12,), "xi1": (1,), "xi2": (0.5,), "biased": (True,), "K": (4,), "steps": (2,), "lr": (0.3,),
    "batch": (100,), "samples": (100,), "seed": (0,),
}  # fmt: skip
_TASKS = tuple(
    {"n": (n,), "xi1": (xi1,), "xi2": (xi2,), "gain": (gain,)}
    for n, xi1, xi2, gain in (
        (40, 2, 1, 3), (40, 2, 1, 1), (40, 2, 1, 0.3),
        # drawn with a seed after the code was written
        (38, 2.5, 1.3, 2.84), (54, 2.3, 1.1, 0.7), (48, 2.3, 1, 1.74), (36, 1.6, 0.8, 0.62), (44, 2.6, 1.5, 1.38),
        (44, 2.2, 1.1, 0.31),
    )
)  # fmt: skip
_FIVE = (0, 1, 2, 3, 4)
_TO_THE_END = {"steps": (500,), "lr": (0.3,), "batch": (1000,), "samples": (2000,), "most": (5,)}
_GIVEN = tuple({**_SHORT, "biased": (biased,), "K": (120,), **_TO_THE_END, "seed": (0,)} for biased in (True, False))
_DRAWN = tuple(
    {"n": (n,), "xi1": (xi1,), "xi2": (xi2,), "gain": (gain,), "biased": (biased,), "K": (K,), "seed": (seed,),
     **_TO_THE_END}
    for n, xi1, xi2, gain, biased, K, seed in (  # drawn with a seed after the code was written
        (16, 0.91, 0.56, 0.62, True, 120, 0), (24, 1.39, 0.8, 0.82, False, 80, 1),
        (24, 1.63, 1.29, 1.52, True, 120, 2), (26, 1.87, 1.21, 0.86, False, 120, 3),
        (26, 0.92, 0.58, 0.47, True, 80, 4), (28, 1.8, 0.92, 1.38, False, 120, 5),
        (18, 1.46, 0.77, 0.66, True, 80, 6), (26, 2.08, 1.48, 0.85, False, 80, 7),
        (24, 1.2, 0.57, 0.57, True, 120, 8), (18, 1.07, 0.57, 1.38, False, 80, 9),
        (18, 1.19, 0.86, 2.56, True, 120, 10), (16, 1.32, 0.83, 0.7, False, 40, 11),
    )
)  # fmt: skip
_MANY = {"K": (320,), "steps": (2000,), "most": (12,)}
_SPREAD = (  # settings of crowd-best: two whose certificate is below -.001, and the one whose training the cap cut
    *({**block, **_MANY, "seed": (*block["seed"], 20, 21, 22, 23)} for block in (_DRAWN[6], _DRAWN[4])),
    {**_GIVEN[0], "steps": (32_000,), "most": (12,)},
)

RUNS = (
    Run(
        name="crowd-best",
        feeds="the best crowd and networks trained until two doublings change nothing, at given and drawn settings",
        computes=ended,
        columns=_BEST,
        small=({**_SMALL, "most": (1,)},),
        full=(*_GIVEN, *_DRAWN),
        hours={"small": 0.005, "full": 0.3},
    ),
    Run(
        name="crowd-spread",
        feeds="crowds that start from many random fields, beside larger networks, where the search stopped too early",
        computes=spread,
        columns=_FROM_MANY,
        small=({**_SMALL, "most": (2,)},),
        full=_SPREAD,
        hours={"small": 0.005, "full": 0.2},
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
