"""Autoencoders of three kinds and of changing prices on a layer of a real network, with controls.

Written before the run, after trials at twice the width and the steps (ReLU alone, layer 3): at equal numbers of latents
on, a price that falls from three times its last value changes the share of the variance that a ReLU autoencoder of the
layer explains by less than 0.01, and lets more latents agree between two starts. On the truth without company that is
made of such latents it finds more directions than a constant price does. Latents of all three kinds, decoded and
encoded again, lose at most half of what they lose when each is shuffled over tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from superposition.experiments.real_latents import Layer, Width
from superposition.experiments.real_network import digest, material
from superposition.experiments.schedules import First, Price
from superposition.experiments.shared import DEVICE, Kind, Seed, Steps
from superposition.runs.point import Meaning, Run

Data = Annotated[
    Literal["layer", "gaussian", "shuffled", "made", "alone", "drawn"],
    Meaning(
        "layer, gaussian, shuffled, made, alone, drawn",
        "activations of the layer; Gaussian ones of their covariance; those of a network of shuffled weights; sums of "
        "latents of one autoencoder on the layer as they come, and each shuffled over tokens; 60 sparse directions",
    ),
]
Share = Annotated[
    float, Field(gt=0, le=1), Meaning("(0, 1]", "share of the steps after which the last price is reached")
]
STARTS, RATE, TESTED = 2, 0.003, 6_000
SOURCE = {"kind": "relu", "latents": 768, "steps": 1000, "lr": RATE}  # the autoencoder that makes a known truth
SOURCE_PRICE, SOURCE_SEED, SOURCE_TOKENS = 0.033, 1000, 40_000
ALIKE, OFTEN = 0.9, 5  # cosine of equal directions; tested tokens on which a latent is on, at least


def autoencoders_compared(
    *, data: Data, layer: Layer, kind: Kind, width: Width, price: Price, first: First, share: Share, steps: Steps,
    seed: Seed, device: str = "cpu",
) -> dict[str, float | int | str]:  # fmt: skip
    """Train two autoencoders from different starts; compare them with each other, with a truth, and without company."""
    from superposition import decoders

    draw, nd, directions, named = _source(data, layer)
    saes = decoders.train_saes(
        _stream(draw, nd), [price] * STARTS, kind=kind, latents=width, steps=steps, lr=RATE, schedule=(first, share),
        tangent=True, seed=seed,
    )  # fmt: skip
    h = draw(np.random.default_rng([seed, 1]), TESTED, True)
    rows = [_described(sae, h, np.random.default_rng([seed, 2])) for sae in saes]
    found = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    one, other = (sae.W_dec[:, (sae.encode(h) > 0).sum(axis=0) >= OFTEN] for sae in saes)
    cosines = one.T @ other
    found["agree"] = float(np.mean([np.mean(cosines.max(axis=axis) >= ALIKE) for axis in (0, 1)]))
    known = [np.mean((directions.T @ sae.W_dec).max(axis=1) >= ALIKE) for sae in saes] if directions.size else [0.0]
    return {**found, "recovered": float(np.mean(known)), "activations_hash": named, "device": "cpu"}


def _described(sae, h, rng):
    """What one autoencoder says of activations, and the loss of its latents, decoded and encoded again."""
    f = sae.encode(h)
    left = h - sae.b_dec - f @ sae.W_dec.T
    alive = (f > 0).sum(axis=0) >= OFTEN
    unit = 2 * f[:, alive].sum(axis=0) / (f[:, alive] > 0).sum(axis=0)
    apart = np.stack([rng.permutation(column) for column in f.T], axis=1)
    again = [
        float((((sae.encode(one @ sae.W_dec.T + sae.b_dec) - one)[:, alive] / unit) ** 2).mean()) for one in (f, apart)
    ]
    return {
        "explained": float(1 - (left**2).sum() / ((h - h.mean(axis=0)) ** 2).sum()),
        "l0": float((f > 0).sum(axis=1).mean()),
        "alive": int(alive.sum()),
        "measured": again[0],
        "apart_measured": again[1],
    }


def _stream(draw, nd):
    """A dictionary of unknown directions whose activations are drawn so."""
    from superposition import decoders

    @dataclass(frozen=True, eq=False)
    class Stream(decoders.Dictionary):
        def activations(self, batch, *, seed):
            return np.zeros((0, 0)), draw(seed, batch, False)

    return Stream("layer", np.eye(nd), np.full(nd, 1e-9))


@cache
def _source(data, layer):
    """A function that draws activations (for a test or not), their dimension, true directions, and their digest."""
    if data in ("made", "alone"):
        return _of_latents(layer, data)
    if data == "drawn":
        rng = np.random.default_rng(0)
        x = rng.random((4000, 60)) * (rng.random((4000, 60)) < 0.05)
        a = (x @ rng.standard_normal((60, 24))).astype(np.float32)
    else:
        a = material(f"{'shuffled' if data == 'shuffled' else 'layer'}-{layer}")
    named, kept = digest(a), len(a) * 7 // 8
    mean = a[:kept].mean(axis=0)
    h = (a - mean) / np.sqrt(((a[:kept] - mean) ** 2).sum(axis=1).mean())
    if data == "gaussian":
        spread = np.linalg.cholesky(np.cov(h[:kept].T.astype(float)) + 1e-9 * np.eye(h.shape[1]))
        return (
            lambda rng, count, test: rng.standard_normal((count, len(spread))) @ spread.T,
            len(spread),
            np.zeros(0),
            named,
        )

    def draw(rng, count, test):
        return h[rng.integers(kept, len(h), count) if test else rng.integers(0, kept, count)].astype(float)

    return draw, h.shape[1], np.zeros(0), named


def _of_latents(layer, data):
    """The same for sums of the latents of one autoencoder, as they come or each shuffled over tokens."""
    from superposition import decoders

    draw, nd, _, named = _source("layer", layer)
    [sae] = decoders.train_saes(_stream(draw, nd), [SOURCE_PRICE], tangent=True, seed=SOURCE_SEED, **SOURCE)
    f = sae.encode(draw(np.random.default_rng(SOURCE_SEED), SOURCE_TOKENS, False))
    alive = (f > 0).any(axis=0)
    f, D = f[:, alive].astype(np.float32), sae.W_dec[:, alive]
    mean = f.mean(axis=0)
    D = D / np.sqrt((((f[:TESTED] - mean) @ D.T) ** 2).sum(axis=1).mean())

    def drawn(rng, count, test):
        if data == "made":
            rows = f[rng.integers(0, len(f), count)]
        else:
            rows = np.take_along_axis(f, rng.integers(0, len(f), (count, f.shape[1])), 0)
        return (rows - mean) @ D.T

    return drawn, nd, D / np.linalg.norm(D, axis=0), named


_COLUMNS = {
    "explained": Meaning("at most 1", "share of the variance of other activations that is explained"),
    "l0": Meaning("latents", "latents that are on at once"),
    "alive": Meaning("latents", "latents that are on five times or more among the tested activations"),
    "measured": Meaning(
        "squared error, per latent", "latents decoded and encoded again, each in units of twice its mean strength"
    ),
    "apart_measured": Meaning("squared error, per latent", "the same with each latent shuffled over tokens"),
    "agree": Meaning(
        "0 to 1", "share of such latents with one of cosine 0.9 or more in the autoencoder of the other start"
    ),
    "recovered": Meaning(
        "0 to 1", "share of the true directions of made and alone with a latent of cosine 0.9; else 0"
    ),
    "activations_hash": Meaning("digits", "first digits of the SHA-256 of the activations"),
}
_LAYER = {"layer": (3,), "width": (768,), "steps": (1000,)}
_RELU = {"kind": ("relu",), **_LAYER}
_CONSTANT, _FALLING = ((1.0, 1.0),), ((3.0, 0.6),)
_CONTROLS = ("gaussian", "shuffled", "made", "alone")


def _each(schedules, **block):
    """One block of the grid for each schedule."""
    return tuple({**block, "first": (first,), "share": (share,)} for first, share in schedules)


RUNS = (
    Run(
        name="real-kinds",
        feeds="chapter 12: three kinds of autoencoders and falling prices on a layer, with controls",
        computes=autoencoders_compared,
        columns={**_COLUMNS, **DEVICE},
        small=(
            {
                "data": ("drawn",), "layer": (3,), "kind": ("relu",), "width": (48,), "price": (0.03,), "first": (3.0,),
                "share": (0.6,), "steps": (40,), "seed": (0,),
            },
        ),
        full=(
            *_each(_CONSTANT, data=("layer", *_CONTROLS), price=(0.033,), seed=(0,), **_RELU),
            *_each(_FALLING, data=("layer", *_CONTROLS), price=(0.028, 0.033), seed=(0,), **_RELU),
        ),
        hours={"small": 0.001, "full": 0.4},
    ),
)  # fmt: skip
