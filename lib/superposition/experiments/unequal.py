"""Autoencoders on features that are not equally frequent: their shares of the dimensions, and the value of signs."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field

from superposition import checks, features
from superposition.checks import MOST_FEATURES
from superposition.experiments.shared import DEVICE, DIMENSIONS, FEATURES, Seed, Steps
from superposition.inputs import Count, Real, UpTo
from superposition.runs.point import Meaning, Run

VECTORS = 10_000  # of each half of the simulations with signs drawn anew


Ns = Annotated[Count, Field(ge=2, le=MOST_FEATURES), FEATURES]
Nd = Annotated[Count, Field(ge=1), AfterValidator(UpTo("ns", "ns")), DIMENSIONS]
Exponent = Annotated[
    Real,
    Field(ge=0, le=10),
    Meaning(
        "0 or more", "p_i is in proportion to i to the power of minus this, with one feature on at once on average"
    ),
]
Batch = Annotated[Count, Field(ge=1), Meaning("feature vectors", "feature vectors a step")]
Lr = Annotated[Real, Field(gt=0), Meaning("above 0", "first learning rate")]
Decoder = Annotated[Literal["tied", "free"], Meaning("tied, free", "whether W_out is the transpose of W_in")]


def unequal_autoencoder(
    *, ns: Ns, nd: Nd, exponent: Exponent, decoder: Decoder, steps: Steps, batch: Batch, lr: Lr, seed: Seed,
    device: str = "auto",
) -> dict[str, float | int | str]:  # fmt: skip
    """Train one autoencoder on features whose frequency falls as a power of their rank, and say how they share."""
    from superposition import devices, frequencies, rug

    p = frequencies.power_law(checks.whole("ns", ns, 2, rug.MOST_TRAINABLE), exponent)
    tied = checks.one_of("decoder", decoder, ("tied", "free")) == "tied"
    how = {"tied": tied, "steps": steps, "batch": batch, "lr": lr, "seed": seed, "device": device}
    model = frequencies.train_unequal(p, nd, **how)
    share = frequencies.shares(model.W_in, p)
    octaves = np.log2(np.arange(1, ns + 1)).astype(int)
    count, on = np.bincount(octaves), np.bincount(octaves, features.second_moment(p))
    rows = _rows(model, p)
    return {
        "loss": model.loss,
        "loss_se": model.loss_se,
        **rows,
        "own": int((share > 0.9).sum()),
        **_each("share", np.bincount(octaves, share) / count),
        **_each("lost", np.bincount(octaves, model.losses) / on),
        "device": str(devices.resolve_device(device)),
    }


def shuffled_signs(
    *, ns: Ns, nd: Nd, exponent: Exponent, steps: Steps, batch: Batch, lr: Lr, seed: Seed, device: str = "auto"
) -> dict[str, float]:
    """Train a tied autoencoder on unequal features, and draw the signs of its interference anew."""
    from superposition import frequencies, rug

    p = frequencies.power_law(checks.whole("ns", ns, 2, rug.MOST_TRAINABLE), exponent)
    model = frequencies.train_unequal(p, nd, tied=True, steps=steps, batch=batch, lr=lr, seed=seed, device=device)
    coins, own, mixed = np.random.default_rng([seed, 1]).spawn(3)
    W = model.W_out.astype(float) @ model.W_in
    signs = np.where(np.eye(ns, dtype=bool), 1, coins.choice((-1.0, 1.0), W.shape))
    tuned, tuned_se = frequencies.tuned_losses(W, p, samples=VECTORS, seed=own)
    shuffled, shuffled_se = frequencies.tuned_losses(W * signs, p, samples=VECTORS, seed=mixed)
    return {
        "loss": model.loss,
        "loss_se": model.loss_se,
        "tuned": float(tuned.sum()),
        "tuned_se": tuned_se,
        "shuffled": float(shuffled.sum()),
        "shuffled_se": shuffled_se,
    }


def _rows(model, p):
    """The loss if the interference were Gaussian, the part of the dimensions in use, the part below zero."""
    from superposition import ranges
    from superposition.rug import loss

    W = model.W_out.astype(float) @ model.W_in
    gain, V = np.maximum(np.diag(W), 1 / ranges.LARGEST), features.variance(p)
    off = W - np.diag(np.diag(W))
    powers = off**2 * V
    variance = powers.sum(axis=1) / gain**2
    gaussian = loss.unchecked(gain, model.bias + off @ features.mean(p), np.sqrt(variance), p)
    negative = (powers * (off < 0)).sum(axis=1) / powers.sum(axis=1)
    return {
        "gaussian": float(gaussian.sum()),
        "used": float((V / (V + variance)).sum() / len(model.W_in)),
        "negative": float(p @ negative / p.sum()),
    }


def _each(name, values):
    return {f"{name}_{k}": float(value) for k, value in enumerate(values)}


_RANKS = ["rank 1", *(f"ranks {2**k} to {min(2 ** (k + 1) - 1, 1000)}" for k in range(1, 10))]  # of 1000 features
_LOSS = {
    "loss": Meaning(
        "squared error, sum over features", "loss sum_i E (x_i - f_i)^2, measured on fresh feature vectors"
    ),
    "loss_se": Meaning("squared error, sum over features", "standard error of loss over feature vectors"),
}
_SHARED = {
    **_LOSS,
    "gaussian": Meaning(
        "squared error, sum over features",
        "loss by closed form: the network's own gains, biases and variances, with Gaussian interference",
    ),
    "used": Meaning(
        "0 to 1", "sum over features of V_i / (V_i + sigma_i^2) over nd: the part of the dimensions in use"
    ),
    "negative": Meaning(
        "0 to 1", "part of the interference power from negative weights, mean over features weighted by p_i"
    ),
    "own": Meaning("features", "features whose share of the dimensions is above 0.9"),
    **{
        f"share_{k}": Meaning("0 to 1", f"share of the dimensions of a feature, mean over {ranks}")
        for k, ranks in enumerate(_RANKS)
    },
    **{
        f"lost_{k}": Meaning("0 or more", f"loss over that of an output of zero, {ranks} together")
        for k, ranks in enumerate(_RANKS)
    },
    **DEVICE,
}
_SIGNS = {
    **_LOSS,
    "tuned": Meaning(
        "squared error, sum over features", "loss of the trained weights with the best gain and bias of each output"
    ),
    "tuned_se": Meaning("squared error, sum over features", "standard error of tuned over feature vectors"),
    "shuffled": Meaning(
        "squared error, sum over features",
        "the same with signs by the toss of a coin for all weights between different features",
    ),
    "shuffled_se": Meaning("squared error, sum over features", "standard error of shuffled over feature vectors"),
}
_WIDTHS, _FIVE = (10, 18, 32, 56, 100), (1.0, 1.25, 1.5, 1.75, 2.0)
_POWER = {"ns": (1000,), "nd": _WIDTHS, "steps": (2000,), "batch": (512,), "lr": (0.01,)}
_BOTH = {"decoder": ("tied", "free")}
_TINY = {"ns": (40,), "nd": (4, 8), "exponent": (1.5,), "steps": (300,), "batch": (64,), "lr": (0.01,)}

RUNS = (
    Run(
        name="rug-frequencies-seeds",
        feeds="loss against width for features whose frequency falls as a power of their rank, tied and free decoders",
        computes=unequal_autoencoder,
        columns=_SHARED,
        small=({**_TINY, **_BOTH, "seed": (0, 1)},),
        full=(
            {**_POWER, "exponent": _FIVE, **_BOTH, "seed": (0, 1, 2)},
            {**_POWER, "nd": (32,), "exponent": (1.0, 2.0), **_BOTH, "steps": (8000,), "seed": (0,)},
        ),
        hours={"small": 0.004, "full": 0.5},
    ),
    Run(
        name="rug-frequencies-signs",
        feeds="what the signs of trained weights are worth, for 300 unequal features",
        computes=shuffled_signs,
        columns=_SIGNS,
        small=(
            {"ns": (40,), "nd": (4,), "exponent": (1.5,), "steps": (300,), "batch": (64,), "lr": (0.01,), "seed": (0,)},
        ),
        full=({**_POWER, "ns": (300,), "nd": (6, 12, 24), "exponent": (1.0,), "seed": (0, 1, 2)},),
        hours={"small": 0.002, "full": 0.1},
    ),
)
