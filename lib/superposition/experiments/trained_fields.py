"""Receptive fields of trained networks: how localized they are, what the hidden bias decides, how often gates change.

Source: the notes on localization, sections 1 to 3. ``law`` is "nlgp", or "clone" for Gaussian data with the covariances
of the NLGP: the control without the higher moments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from superposition import checks
from superposition.experiments.shared import (
    NETWORK_LOSS,
    Batch,
    Gain,
    Initials,
    Length0,
    Length1,
    Neurons,
    Pixels,
    Rate,
    Seed,
    Steps,
)
from superposition.inputs import Count, Real
from superposition.runs.point import Meaning, Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from superposition.devices import torch


LAWS = ("nlgp", "clone")
Law = Annotated[
    Literal["nlgp", "clone"], Meaning("nlgp, clone", "the data: NLGP, or Gaussian with the same covariances")
]


Activation = Annotated[Literal["erf", "sigmoid"], Meaning("erf, sigmoid", "activation of the hidden neurons")]
Bias = Annotated[Real, Meaning("units of the pre-activation", "where all hidden biases start; they are learned")]
KeepEvery = Annotated[Count, Field(ge=1), Meaning("steps", "steps between looks at the weights")]


def batches(
    law: str, n: int, xi1: float, xi2: float, gain: float, batch: int, *, seed: int, device: str = "cpu"
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Endless batches of NLGP data or of its Gaussian clone."""
    from superposition import receptive

    if checks.one_of("law", law, LAWS) == "nlgp":
        return receptive.nlgp_batches(n, xi1, xi2, gain, batch, seed=seed, device=device)
    clone = [receptive.nlgp_covariance(n, xi, gain) for xi in receptive.correlation_lengths(n, xi1, xi2)]
    return receptive.gaussian_batches(*clone, batch, seed=seed, device=device)  # pyrefly: ignore[bad-argument-type, bad-argument-count]: two


def localization(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, law: Law, K: Neurons, initials: Initials, steps: Steps,
    lr: Rate, batch: Batch, seed: Seed, device: str = "auto",
) -> dict[str, float | str]:  # fmt: skip
    """Train ReLU networks and measure how localized every receptive field is."""
    from superposition import receptive

    W = receptive.initial_weights(initials, K, n, seed=seed)
    data = batches(law, n, xi1, xi2, gain, batch, seed=seed, device=device)
    found = receptive.train_fields(W, data, steps=steps, lr=lr)
    return {**describe(found.W), "loss": float(found.loss.mean())}


def bias_sign(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, activation: Activation, bias: Bias, K: Neurons,
    initials: Initials, steps: Steps, lr: Rate, batch: Batch, seed: Seed, device: str = "auto",
) -> dict[str, float | str]:  # fmt: skip
    """Train networks with erf or sigmoid neurons whose hidden biases start on one side."""
    from superposition import receptive

    W = receptive.initial_weights(initials, K, n, seed=seed)
    data = batches("nlgp", n, xi1, xi2, gain, batch, seed=seed, device=device)
    found = receptive.train_fields(W, data, steps=steps, lr=lr, activation=activation, bias=bias)
    return {
        **describe(found.W),
        "loss": float(found.loss.mean()),
        "bias_mean": float(found.bias.mean()),
        "bias_lowest": float(found.bias.min()),
        "bias_highest": float(found.bias.max()),
    }


def sign_flips(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, K: Neurons, initials: Initials, steps: Steps, lr: Rate,
    batch: Batch, keep_every: KeepEvery, seed: Seed, device: str = "auto",
) -> dict[str, float | str]:  # fmt: skip
    """Train ReLU networks and count how often their gates change."""
    from superposition import receptive

    W = receptive.initial_weights(initials, K, n, seed=seed)
    data = batches("nlgp", n, xi1, xi2, gain, batch, seed=seed, device=device)
    found = receptive.train_fields(W, data, steps=steps, lr=lr, keep_every=checks.whole("keep_every", keep_every, 1))
    fresh = batches("nlgp", n, xi1, xi2, gain, 10_000, seed=seed + 1_000_000)
    x1, x0 = (x.numpy().astype(np.float64) for x in next(fresh))
    step, final = receptive.gate_flips(found.kept, np.concatenate([x1, x0]))
    tenth = max(1, len(step) // 10)
    cosine = np.sum(W * found.W, axis=-1) / np.linalg.norm(W, axis=-1) / np.linalg.norm(found.W, axis=-1)
    return {
        **describe(found.W),
        "early": float(step[:tenth].mean()),
        "late": float(step[-tenth:].mean()),
        "total": float(final[0].mean()),
        "cosine": float(cosine.mean()),
        **preactivation_kurtosis(found.W.reshape(-1, x1.shape[1]), x1, x0),
    }


def preactivation_kurtosis(W: ArrayLike, x1: ArrayLike, x0: ArrayLike) -> dict[str, float]:
    """Excess kurtosis of pre-activations, over both labels and over one."""
    from scipy.stats import kurtosis

    W, x1, x0 = (checks.array(name, v, "m n") for name, v in (("W", W), ("x1", x1), ("x0", x0)))
    if not W.shape[1] == x1.shape[1] == x0.shape[1]:
        raise ValueError(f"W, x1 and x0 have shapes {W.shape}, {x1.shape} and {x0.shape}; allowed: one n")
    h1, h0 = x1 @ W.T, x0 @ W.T
    v1, v0 = h1.var(axis=0), h0.var(axis=0)
    return {
        "kurtosis_pooled": float(kurtosis(np.concatenate([h1, h0])).mean()),
        "kurtosis_1": float(kurtosis(h1).mean()),
        "kurtosis_mixture": float(np.mean(3 * ((v1 - v0) / (v1 + v0)) ** 2)),
    }


def describe(W: np.ndarray) -> dict[str, float | str]:
    """How localized the fields are, over all neurons of all networks."""
    from superposition import receptive

    n = W.shape[-1]
    values = n * receptive.ipr(W).ravel()
    return {
        "median": float(np.median(values)),
        "lowest": float(values.min()),
        "highest": float(values.max()),
        "width": float(np.median(receptive.half_energy_width(W))),
        "frequency": float(np.median(receptive.mean_frequency(W))),
        "values": " ".join(f"{value:.2f}" for value in values),
    }


DESCRIBED = {
    "median": Meaning("n IPR", "median over neurons and networks, of trained fields"),
    "lowest": Meaning("n IPR", "smallest of them"),
    "highest": Meaning("n IPR", "largest of them"),
    "width": Meaning("pixels", "shortest arc that holds half of sum w^2, median over neurons and networks"),
    "frequency": Meaning(
        "waves round the ring", "mean frequency of a field, weighted with energy, median over neurons and networks"
    ),
    "values": Meaning("n IPR, numbers in a text", "of each neuron, network after network"),
}
_BIASES = {
    **DESCRIBED,
    **NETWORK_LOSS,
    "bias_mean": Meaning(
        "units of the pre-activation", "hidden bias at the end, mean over neurons and networks; 0 where there is none"
    ),
    "bias_lowest": Meaning("units of the pre-activation", "smallest hidden bias at the end"),
    "bias_highest": Meaning("units of the pre-activation", "largest hidden bias at the end"),
}
_FLIPS = {
    **DESCRIBED,
    "early": Meaning(
        "0 to 1",
        "gates that differ between two looks, per neuron and vector, mean over the first tenth of the training",
    ),
    "late": Meaning("0 to 1", "the same over the last tenth"),
    "total": Meaning("0 to 1", "share of gates that differ between start and end"),
    "cosine": Meaning("-1 to 1", "cosine of a neuron's weights at start and end, mean over neurons"),
    "kurtosis_pooled": Meaning(
        "no unit", "excess kurtosis of pre-activations at the end over vectors of both labels, mean over neurons"
    ),
    "kurtosis_1": Meaning("no unit", "the same over vectors with label 1"),
    "kurtosis_mixture": Meaning(
        "0 to 3", "the same for an even mixture of Gaussians with the variances of the two labels"
    ),
}
_RING = {"n": (40,), "xi1": (2,), "xi2": (1,)}
_GAINS = (0.01, 0.3, 1, 3, 10)
_SEEDS = (0, 1, 2)
_K1 = {"K": (1,), "initials": (16,), "steps": (1000,), "lr": (0.5,), "batch": (4000,)}
_K12 = {"K": (12,), "initials": (4,), "steps": (1500,), "lr": (6,), "batch": (2000,)}
_BIAS = {"gain": (3,), "K": (8,), "initials": (4,), "steps": (6000,), "lr": (1,), "batch": (2000,), "seed": (0,)}
_CAPTION = {"K": (12,), "initials": (1,), "steps": (5000,), "lr": (0.01,), "batch": (10000,), "keep_every": (20,)}
_TRAINS = {**_CAPTION, "steps": (4000,), "lr": (2,), "batch": (4000,)}
_BRIEF = {"initials": (2,), "steps": (60,), "batch": (200,), "seed": (0,)}

RUNS = (
    Run(
        name="field-gain",
        feeds="localization of ReLU networks with 1 and 12 neurons against the gain, beside Gaussian clones",
        computes=localization,
        columns=DESCRIBED | NETWORK_LOSS,
        small=({**_RING, **_K1, **_BRIEF, "gain": (0.01, 3), "law": LAWS},),
        full=(
            {**_RING, **_K1, "gain": _GAINS, "law": ("nlgp",), "seed": _SEEDS},
            {**_RING, **_K12, "gain": _GAINS, "law": ("nlgp",), "seed": _SEEDS},
            {**_RING, **_K1, "gain": (3,), "law": ("clone",), "seed": _SEEDS},
            {**_RING, **_K12, "gain": (3,), "law": ("clone",), "seed": _SEEDS},
        ),
        hours={"small": 0.001, "full": 0.05},
    ),
    Run(
        name="field-bias",
        feeds="the sign of the hidden bias decides what erf and sigmoid networks localize on",
        computes=bias_sign,
        columns=_BIASES,
        small=({**_RING, **_BIAS, **_BRIEF, "activation": ("erf",), "bias": (-1, 1)},),
        full=(
            {**_RING, **_BIAS, "activation": ("erf", "sigmoid"), "bias": (-1, 1)},
            {**_RING, **_BIAS, "xi1": (1,), "xi2": (2,), "activation": ("erf", "sigmoid"), "bias": (-1, 1)},
        ),
        hours={"small": 0.001, "full": 0.03},
    ),
    Run(
        name="field-flips",
        feeds="the notes on localization, Figure 3, at its caption's settings and at settings that train",
        computes=sign_flips,
        columns=_FLIPS,
        small=({**_RING, **_CAPTION, **_BRIEF, "gain": (3,)},),
        full=(
            {**_RING, **_CAPTION, "gain": (0.01, 3), "seed": (0, 1)},
            {**_RING, **_TRAINS, "gain": (0.01, 3), "seed": (0, 1)},
        ),
        hours={"small": 0.001, "full": 0.05},
    ),
)  # fmt: skip
