"""Sparse autoencoders whose price changes during training, on known truths with and without company."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field

from superposition.experiments.shared import DIMENSIONS, FEATURES, Probability, Seed, Steps
from superposition.inputs import Count, Real, UpTo
from superposition.runs.point import Meaning, Run

if TYPE_CHECKING:
    from superposition.decoders import Dictionary, SparseAutoencoder

STARTS, BATCH, SHIFT = 2, 4000, 1000  # autoencoders a point; activations that measure; seeds: the truth's plus so much
OPPOSITE = -0.8  # cosine below which two latents count as a pair of opposite directions
GROUP = 8  # features that share a common cause

Ns = Annotated[Count, Field(ge=8, le=4096), FEATURES]
Nd = Annotated[Count, Field(ge=4), AfterValidator(UpTo("ns", "ns")), DIMENSIONS]
Kind = Annotated[
    Literal["relu", "topk", "jumprelu"],
    Meaning("relu, topk, jumprelu", "what the latents are: ReLU priced by their sum, TopK, JumpReLU priced by number"),
]
Price = Annotated[
    Real,
    Field(gt=0),
    Meaning("above 0", "lambda at the end; for TopK the number of latents that pass over that of features on"),
]
First = Annotated[Real, Field(ge=0, le=1000), Meaning("0 to 1000", "price of the first step over the price at the end")]
Share = Annotated[
    Real, Field(gt=0, le=1), Meaning("(0, 1]", "share of the steps after which the last price is reached")
]
Rate = Annotated[Real, Field(gt=0), Meaning("above 0", "first learning rate of Adam")]
Common = Annotated[
    Real, Field(ge=0, lt=1), Meaning("[0, 1)", "correlation, within a group of eight, of the Gaussians behind activity")
]
Exponent = Annotated[Real, Field(ge=0, le=3), Meaning("0 to 3", "how fast frequencies fall with the rank; mean p")]
Strengths = Annotated[
    Literal["uniform", "exponential"], Meaning("uniform, exponential", "distribution of strengths; the mean is 1/2")
]


def scheduled(
    *, ns: Ns, nd: Nd, p: Probability, kind: Kind, price: Price, first: First, share: Share, lr: Rate, steps: Steps,
    seed: Seed, device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train two autoencoders on a rug of known directions with a price that changes, and score both."""
    from superposition import decoders

    truth = decoders.dictionary(ns, nd, "rug", p=p, seed=seed)
    last = max(1, round(price * p * ns)) if kind == "topk" else price
    options = {"kind": kind, "schedule": (first, share), "lr": lr, "steps": steps, "tangent": True}
    saes = decoders.train_saes(truth, [last] * STARTS, seed=seed + SHIFT, **options)
    return _described(truth, saes, last if kind == "relu" else 0.0, seed)


def in_company(
    *, ns: Ns, nd: Nd, p: Probability, exponent: Exponent, strengths: Strengths, common: Common, price: Price,
    first: First, share: Share, steps: Steps, seed: Seed, device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train two ReLU autoencoders on features that come together, with a price that changes, and score both."""
    from superposition import decoders

    truth = company(ns, nd, p, exponent, strengths, common, seed)
    options = {"schedule": (first, share), "steps": steps, "tangent": True}
    saes = decoders.train_saes(truth, [price] * STARTS, seed=seed + SHIFT, **options)
    return _described(truth, saes, price, seed)


def company(ns: int, nd: int, p: float, exponent: float, strengths: str, common: float, seed: int) -> Dictionary:
    """A rug whose features are on where a Gaussian is high; those of a group share a part of it (a Gaussian copula)."""
    from dataclasses import dataclass

    from scipy.stats import norm

    from superposition import checks, decoders

    @dataclass(frozen=True, eq=False)
    class Company(decoders.Dictionary):
        def activations(self, batch, *, seed):
            rng = checks.generator("seed", seed)
            cause = rng.standard_normal((batch, -(-ns // GROUP))).repeat(GROUP, axis=1)[:, order]
            z = np.sqrt(common) * cause + np.sqrt(1 - common) * rng.standard_normal((batch, ns))
            size = rng.random(z.shape) if strengths == "uniform" else rng.exponential(0.5, z.shape)
            x = size * (z > norm.isf(self.p))
            return x, x @ self.directions.T

    plain = decoders.dictionary(ns, nd, "rug", p=p, exponent=exponent, p_max=1.0 if exponent == 0 else 0.5, seed=seed)
    order = np.random.default_rng(seed).permutation(ns)  # a group has features of all frequencies
    return Company(plain.kind, plain.directions, plain.p)


def _described(truth: Dictionary, saes: list[SparseAutoencoder], price: float, seed: int) -> dict[str, float]:
    """Means over the autoencoders of their scores, of what shows without the truth, and how well they agree."""
    from superposition import decoders

    x, h = truth.activations(BATCH, seed=seed + 2 * SHIFT)
    rows = []
    for sae in saes:
        codes = sae.encode(h)
        found = decoders.scores(truth, x, codes, sae.W_dec, offset=sae.b_dec)
        overlaps = sae.W_dec.T @ sae.W_dec - np.eye(sae.W_dec.shape[1])
        rows.append(
            {
                "recovered": found.recovered,
                "explained": found.explained,
                "l0": found.l0,
                "dead": found.dead,
                "priced": float(decoders.sae_losses(sae, price, h).mean()),
                "error": found.loss,
                "overlap": float(np.abs(overlaps).mean()),
                "opposite": float(np.mean(overlaps.min(axis=0) < OPPOSITE)),
                "agree": _agreement(sae, saes),
            }
        )
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def _agreement(sae: SparseAutoencoder, saes: list[SparseAutoencoder]) -> float:
    """Share of the latents that have one of cosine 0.9 in every other autoencoder."""
    others = [np.max(other.W_dec.T @ sae.W_dec, axis=0) >= 0.9 for other in saes if other is not sae]
    return float(np.mean(np.all(others, axis=0)))


_COLUMNS = {
    "recovered": Meaning("0 to 1", "share of true directions with a matched latent of cosine 0.9 or more"),
    "explained": Meaning("at most 1", "share of the variance of the activations"),
    "l0": Meaning("latents", "mean number of latents that are on"),
    "dead": Meaning("latents", "number of latents that are never on"),
    "priced": Meaning("per activation", "half the squared error plus, for ReLU, the last price times the latents' sum"),
    "error": Meaning("squared error, per feature", "squared error of matched latents as estimates of the features"),
    "overlap": Meaning("0 to 1", "mean size of the cosine of two decoder directions"),
    "opposite": Meaning("0 to 1", "share of latents with another one of cosine below -0.8"),
    "agree": Meaning("0 to 1", "share of latents with one of cosine 0.9 or more in the other autoencoder"),
}
_EIGHT, _THREE = {"seed": tuple(range(16, 24))}, {"seed": (16, 17, 18)}
_CONSTANT, _FALLING, _RISING, _WARM = (1.0, 1.0), (3.0, 0.6), (0.0, 0.6), (0.0, 0.05)
_STEPS = {"lr": (0.01,), "steps": (1500,)}
_RELU = {"p": (0.05,), "kind": ("relu",)}
_NARROW, _MIDDLE = {"ns": (64,), "nd": (24,)}, {"ns": (256,), "nd": (96,)}
_FIRST = {"first": (3.0,), "share": (0.6,)}
_SMALL = {"ns": (16,), "nd": (8,), "p": (0.05,), "price": (0.1,), **_FIRST, "steps": (20,), "seed": (0,)}


def _each(schedules, **block):
    """One block of the grid for each schedule."""
    return tuple({**block, "first": (first,), "share": (share,)} for first, share in schedules)


def _run(name, feeds, full, hours):
    """A run of rugs."""
    return Run(
        name=name,
        feeds=feeds,
        computes=scheduled,
        columns=_COLUMNS,
        small=({**_SMALL, "kind": ("relu",), "lr": (0.01,)},),
        full=full,
        hours={"small": 0.001, "full": hours},
    )


RUNS = (
    _run(
        "dictionary-schedules",
        "what a price finds that falls during training, rises, or is constant, on eight truths of two sizes",
        (
            *_each(
                (_CONSTANT, _FALLING, _RISING, _WARM),
                **_NARROW, **_RELU, **_STEPS, **_EIGHT, price=(0.027, 0.036, 0.048, 0.064, 0.085),
            ),
            *_each((_CONSTANT, _FALLING), **_MIDDLE, **_RELU, **_STEPS, **_EIGHT,
                price=(0.018, 0.022, 0.027, 0.036, 0.048)),
            *_each((_RISING, _WARM), **_MIDDLE, **_RELU, **_STEPS, **_EIGHT, price=(0.036,)),
        ),
        0.4,
    ),
    _run(
        "dictionary-efforts",
        "a constant price with other rates and more steps, and a steeper fall, at 256 features",
        (
            *_each((_CONSTANT,), **_MIDDLE, **_RELU, **_EIGHT, price=(0.036,), lr=(0.003, 0.03), steps=(1500,)),
            *_each((_CONSTANT,), **_MIDDLE, **_RELU, **_EIGHT, price=(0.036,), lr=(0.003, 0.01), steps=(3000,)),
            *_each(((5.0, 0.6),), **_MIDDLE, **_RELU, **_STEPS, **_EIGHT, price=(0.022, 0.027)),
        ),
        0.2,
    ),
    _run(
        "dictionary-kinds",
        "a number of latents that falls, for TopK, and a price that falls, for JumpReLU, on eight truths",
        (
            *_each(
                (_CONSTANT, _FALLING, (1 / 3, 0.6)),
                **_NARROW, **_STEPS, **_EIGHT, p=(0.05,), kind=("topk",), price=(1.0, 1.5, 2.0),
            ),
            *_each(
                (_CONSTANT, _FALLING, _RISING),
                **_NARROW, **_STEPS, **_EIGHT, p=(0.05,), kind=("jumprelu",), price=(0.003, 0.01, 0.03),
            ),
        ),
        0.1,
    ),
    _run(
        "dictionary-schedules-large",
        "a constant and a falling price at 1024 features, three truths",
        _each((_CONSTANT, _FALLING), **_RELU, **_STEPS, **_THREE, ns=(1024,), nd=(384,), price=(0.036,)),
        0.4,
    ),
    Run(
        name="dictionary-company",
        feeds="where a falling price stops finding more: frequencies, strengths and company, one at a time",
        computes=in_company,
        columns=_COLUMNS,
        small=({**_SMALL, "exponent": (0.0,), "strengths": ("uniform",), "common": (0.5,)},),
        full=tuple(
            block
            for exponent, strengths, common in (
                (0.0, "uniform", (0.0, 0.2, 0.4, 0.6, 0.8)),
                (0.0, "exponential", (0.0,)),
                (1.0, "uniform", (0.0,)),
                (1.0, "exponential", (0.0, 0.6)),
            )
            for block in _each(
                (_CONSTANT, _FALLING),
                ns=(128,), nd=(48,), p=(0.05,), exponent=(exponent,), strengths=(strengths,), common=common,
                price=(0.036, 0.06), steps=(1500,), **_THREE,
            )
        ),
        hours={"small": 0.001, "full": 0.15},
    ),
)  # fmt: skip
