"""Autoencoders of three kinds and of changing prices on a layer of a real network, with controls, on long paths.

Activations are kept in the 128 directions of largest variance, so that paths can be long. Written before the run, and
before any such autoencoder was trained here: at equal numbers of latents on, a price that falls from three times its
last value changes the share of the variance that is explained by less than 0.01, and the share of latents on which two
starts agree by more than 0.02 upwards; twice the steps raise this share more than the falling price does. The mean
field with company, without false alarms, is within 25 % of the measured loss for TopK and JumpReLU, on the layer, on
Gaussian activations and on those of shuffled weights; shuffled over tokens, latents of the layer lose twice as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from superposition.experiments.real_latents import Layer, Width
from superposition.experiments.real_network import digest, material
from superposition.experiments.schedules import First, Price, each
from superposition.experiments.shared import DEVICE, Kind, Seed, Steps
from superposition.inputs import Count
from superposition.placing import placed
from superposition.runs.point import Meaning, Run

Data = Annotated[
    Literal["layer", "gaussian", "shuffled", "drawn"],
    Meaning(
        "layer, gaussian, shuffled, drawn",
        "activations of the layer; Gaussian ones of their covariance; those of a network of shuffled weights; sums "
        "of 60 sparse directions in 24 dimensions",
    ),
]
Dimensions = Annotated[
    Count, Field(ge=2, le=384), Meaning("dimensions", "directions of largest variance that are kept")
]
Share = Annotated[
    float, Field(gt=0, le=1), Meaning("(0, 1]", "share of the steps after which the last price is reached")
]
STARTS, BATCH, RATE, TESTED = 3, 128, 0.003, 12_000
ALIKE, OFTEN = 0.9, 5  # cosine of equal directions; tested tokens on which a latent is on, at least


def autoencoders_compared(
    *, data: Data, layer: Layer, dimensions: Dimensions, kind: Kind, width: Width, price: Price, first: First,
    share: Share, steps: Steps, seed: Seed, device: str = "cpu",
) -> dict[str, float | int | str]:  # fmt: skip
    """Train three autoencoders; compare them with each other, and their latents with the mean field with company."""
    from superposition import decoders

    draw, nd, named = _source(data, layer, dimensions)
    saes = decoders.train_saes(
        _stream(draw, nd), [price] * STARTS, kind=kind, latents=width, steps=steps, lr=RATE, batch=BATCH,
        schedule=(first, share), tangent=True, seed=seed,
    )  # fmt: skip
    h = draw(np.random.default_rng([seed, 1]), TESTED, True)
    rows = [_described(sae, h, np.random.default_rng([seed, 2])) for sae in saes]
    found = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    often = [sae.W_dec[:, (sae.encode(h) > 0).sum(axis=0) >= OFTEN] for sae in saes]
    agree = [np.mean((one.T @ other).max(axis=1) >= ALIKE) for one in often for other in often if one is not other]
    return {
        **{name: float(values.mean()) for name, values in found.items()},
        "explained_se": float(found["explained"].std(ddof=1) / STARTS**0.5),
        "agree": float(np.mean(agree)),
        "agree_least": float(np.min(agree)),
        "agree_most": float(np.max(agree)),
        "activations_hash": named,
        "device": "cpu",
    }


def _described(sae, h, rng):
    """What one autoencoder leaves of activations, and the loss of its latents, decoded and encoded again."""
    from superposition.correlated import state_losses

    f = sae.encode(h)
    left = h - sae.b_dec - f @ sae.W_dec.T
    alive = (f > 0).sum(axis=0) >= OFTEN
    unit = 2 * f[:, alive].sum(axis=0) / (f[:, alive] > 0).sum(axis=0)
    apart = np.stack([rng.permutation(column) for column in f[1::2].T], axis=1)
    again, alone = (
        float((((sae.encode(one @ sae.W_dec.T + sae.b_dec) - one)[:, alive] / unit) ** 2).mean())
        for one in (f[1::2], apart)
    )
    bar = _bars(sae, h[::2])[alive] / unit
    x = f[::2, alive] / unit
    code = (sae.W_dec[:, alive] * unit, sae.W_enc[alive] / unit[:, None], sae.b_enc[alive] / unit)
    losses = state_losses(x, *code, threshold=bar)
    together = state_losses(np.stack([rng.permutation(one) for one in x.T], axis=1), *code, threshold=bar)
    return {
        "explained": float(1 - (left**2).sum() / ((h - h.mean(axis=0)) ** 2).sum()),
        "l0": float((f > 0).sum(axis=1).mean()),
        "alive": int(alive.sum()),
        "on": float(losses.on.mean()),
        "off": float(losses.off.mean()),
        "independent": float((together.on + together.off).mean()),
        "measured": again,
        "apart_measured": alone,
    }


def _bars(sae, h):
    """What a latent has to exceed: its threshold, or for TopK the mean of the largest sum that does not pass."""
    if not sae.active:
        return np.broadcast_to(sae.threshold, len(sae.b_enc)).astype(float)
    drive = (h - sae.b_dec) @ sae.W_enc.T + sae.b_enc
    bar = np.maximum(np.partition(drive, -sae.active - 1, axis=1)[:, -sae.active - 1], 0).mean()
    return np.full(len(sae.b_enc), bar)


def _stream(draw, nd):
    """A dictionary of unknown directions whose activations are drawn so."""
    from superposition import decoders

    @dataclass(frozen=True, eq=False)
    class Stream(decoders.Dictionary):
        def activations(self, batch, *, seed):
            return np.zeros((0, 0)), draw(seed, batch, False)

    return Stream("layer", np.eye(nd), np.full(nd, 1e-9))


@cache
def _source(data, layer, dimensions):
    """A function that draws activations (for a test or not), their dimension, and their digest."""
    if data == "drawn":
        rng = np.random.default_rng(0)
        x = rng.random((4000, 60)) * (rng.random((4000, 60)) < 0.05)
        a = (x @ rng.standard_normal((60, 24))).astype(np.float32)
    else:
        a = material(f"{'shuffled' if data == 'shuffled' else 'layer'}-{layer}")
    named, kept = digest(a), len(a) * 7 // 8
    a = a - a[:kept].mean(axis=0)
    axes = np.linalg.eigh(np.cov(a[:kept].T.astype(float)))[1][:, -dimensions:]
    h = a @ axes.astype(np.float32)
    h /= np.sqrt((h[:kept] ** 2).sum(axis=1).mean())
    spread = h[:kept].std(axis=0, dtype=float)  # along axes without correlation

    def draw(rng, count, test):
        if data == "gaussian":
            return rng.standard_normal((count, len(spread))) * spread
        return h[rng.integers(kept, len(h), count) if test else rng.integers(0, kept, count)].astype(float)

    return draw, h.shape[1], named



PER_LATENT = "squared error, per latent"
_LAYER = {"layer": (3,), "dimensions": (128,), "width": (256,), "seed": (0,)}
_SCHEDULES, _FALLING = ((1.0, 1.0),), ((3.0, 0.6),)
_STEPS = {"steps": (3000, 6000)}
RUNS = (
    Run(
        name="real-kinds",
        feeds="chapter 12: three kinds of autoencoders and falling prices on a layer, with controls",
        computes=autoencoders_compared,
        columns={
            "explained": Meaning("at most 1", "share of the variance of other activations that is explained"),
            "explained_se": Meaning("no unit", "standard error of explained over the three starts"),
            "l0": Meaning("latents", "latents that are on at once"),
            "alive": Meaning("latents", "latents that are on five times or more among the tested activations"),
            "independent": Meaning(PER_LATENT, "mean field with company, on latents that are shuffled over tokens"),
            "on": Meaning(PER_LATENT, "mean field with company: the part from latents that are on"),
            "off": Meaning(PER_LATENT, "mean field with company: false alarms of latents that are off"),
            "measured": Meaning(PER_LATENT, "latents of other tokens, decoded and encoded again"),
            "apart_measured": Meaning(PER_LATENT, "the same with each latent shuffled over tokens"),
            "agree": Meaning("0 to 1", "share of latents with one of cosine 0.9 or more in another start, mean over pairs"),
            "agree_least": Meaning("0 to 1", "the same, for the pair with the least"),
            "agree_most": Meaning("0 to 1", "the same, for the pair with the most"),
            "activations_hash": Meaning("digits", "first digits of the SHA-256 of the activations"),
            **DEVICE,
        },
        small=(
            {
                "data": ("drawn",), "layer": (3,), "dimensions": (24,), "kind": ("jumprelu",), "width": (48,),
                "price": (0.003,), "first": (1.0,), "share": (1.0,), "steps": (40,), "seed": (0,),
            },
        ),
        full=(
            *each(_SCHEDULES, data=("layer", "gaussian", "shuffled"), kind=("topk",), price=(16.0,), steps=(1500,), **_LAYER),
            *each(_SCHEDULES, data=("layer", "gaussian", "shuffled"), kind=("jumprelu",), price=(0.002,), steps=(1500,), **_LAYER),
            *each(_SCHEDULES, data=("layer",), kind=("relu",), price=(0.028, 0.033), **_STEPS, **_LAYER),
            *each(_FALLING, data=("layer",), kind=("relu",), price=(0.028,), **_STEPS, **_LAYER),
            *each(_SCHEDULES, data=("gaussian",), kind=("relu",), price=(0.028,), steps=(3000,), **_LAYER),
            *each(_FALLING, data=("gaussian",), kind=("relu",), price=(0.028,), steps=(3000,), **_LAYER),
        ),
        hours={"small": 0.001, "full": 0.15},
    ),
)  # fmt: skip
