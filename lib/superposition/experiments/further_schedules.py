"""Known dictionaries beyond `superposition.experiments.schedules`: BatchTopK, all company at once, equal activity.

Predictions, written down before these runs. *BatchTopK*, 64 features: (1) a number of latents that rises from a third
of its last value finds less than a tenth of the directions beyond a constant number; (2) at a constant number BatchTopK
finds more than TopK. *All company together*: a falling price finds (3) more than the same constant one for every truth,
but (4) less than one half of the directions more on average, as with unequal frequencies alone, and (5) more than one
latent in twenty has an opposite one, so that the recipe refuses. Three truths each.

Written down before five truths more: what the claims `rug.dictionary.batch` and `rug.dictionary.together` say of each
of three truths is true of each of the five. At final prices of 0.07 and 0.1, all company together, a falling price
finds less than six tenths of the directions, mean of eight truths, and less than a quarter of them more than a
constant one. *Equal activity*, 64 features: a constant price of 0.06, with twice the steps, has as many latents on as
a falling price that ends at 0.048, to a tenth, and finds fewer directions, mean over truths; at 0.08 it has fewer on,
and finds less than a twentieth of the directions fewer. *Rising prices*, 64 features: a price that rises from a third
finds fewer directions than the same constant one, mean of eight truths, and a warm-up (a price that rises from 0 in
the first 5 % of the steps) finds as many, to a tenth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from superposition.experiments.schedules import (
    COLUMNS,
    CONSTANT,
    FALLING,
    GROUP,
    LARGEST,
    RISING,
    SHIFT,
    STARTS,
    First,
    Price,
    Rate,
    Share,
    described,
    each,
    scheduled,
)
from superposition.experiments.shared import Nd, Ns, Probability, Seed, Steps
from superposition.inputs import Real
from superposition.placing import placed
from superposition.runs.point import Meaning, Run

if TYPE_CHECKING:
    from superposition.decoders import Dictionary

Passing = Annotated[
    Real, Field(gt=0), Meaning("above 0", "mean number of latents that pass at the end over that of features on")
]
Degree = Annotated[Real, Field(ge=0, lt=1), Meaning("0 to 1", "correlation of the Gaussians of eight features")]
Exponent = Annotated[Real, Field(ge=0, le=3), Meaning("0 to 3", "how fast frequencies fall with the rank")]
WARMED = (0.0, 0.05)  # a path: the first price over the last, and the share of the steps that change it
FINISHED = (*range(17, 24), *range(27, 31), *range(33, 40))  # of 24 truths: time was up, points are in random order
SWITCHED = 2.0  # how often the switch of eight features is on, over the most frequent of them


@placed
def batched(
    *, ns: Ns, nd: Nd, p: Probability, price: Passing, first: First, share: Share, lr: Rate, steps: Steps, seed: Seed,
    device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train two BatchTopK autoencoders on a rug of known directions with a number that changes, and score both."""
    from superposition import decoders

    truth = decoders.dictionary(ns, nd, "rug", p=p, seed=seed)
    options = {"schedule": (first, share), "lr": lr, "steps": steps}
    saes = decoders.train_batch_topk(truth, [price * p * ns] * STARTS, seed=seed + SHIFT, **options)
    return described(truth, saes, 0.0, seed)


@placed
def in_all_company(
    *, ns: Ns, nd: Nd, p: Probability, exponent: Exponent, degree: Degree, price: Price, first: First, share: Share,
    steps: Steps, seed: Seed, device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train two ReLU autoencoders where features share switches and causes and differ in frequency; score both."""
    from superposition import decoders

    truth = all_company(ns, nd, p, exponent, degree, seed)
    options = {"schedule": (first, share), "steps": steps, "tangent": True}
    saes = decoders.train_saes(truth, [price] * STARTS, seed=seed + SHIFT, **options)
    return described(truth, saes, price, seed)


def all_company(ns: int, nd: int, p: float, exponent: float, degree: float, seed: int) -> Dictionary:
    """A rug of features with three kinds of company at once, of mean probability p.

    Frequencies fall as a power of the rank. Eight features of neighbouring ranks share a switch, which is on twice as
    often as the most frequent of them (at most always). While it is on, a feature is on where its Gaussian exceeds a
    threshold, and the Gaussians of eight features, drawn at random, have the given correlation.
    """
    from dataclasses import dataclass

    from scipy.stats import norm

    from superposition import checks, decoders

    plain = decoders.dictionary(ns, nd, "rug", p=p, exponent=exponent, p_max=max(p, LARGEST), seed=seed)
    order, groups = np.random.default_rng(seed).permutation(ns), -(-ns // GROUP)
    switch = np.minimum(1, SWITCHED * plain.p[::GROUP])  # frequencies are in falling order
    bar = norm.isf(plain.p / switch.repeat(GROUP)[:ns])

    @dataclass(frozen=True, eq=False)
    class Company(decoders.Dictionary):
        def activations(self, batch, *, seed):
            rng = checks.generator("seed", seed)
            open_ = (rng.random((batch, groups)) < switch).repeat(GROUP, axis=1)[:, :ns]
            cause = rng.standard_normal((batch, groups)).repeat(GROUP, axis=1)[:, order]
            z = np.sqrt(degree) * cause + np.sqrt(1 - degree) * rng.standard_normal((batch, ns))
            on = open_ & (z > bar)
            x = rng.random(on.shape) * on
            return x, x @ self.directions.T

    return Company(plain.kind, plain.directions, plain.p)


_LR, _STEPS, _EIGHT = {"lr": (0.01,)}, {"steps": (1500,)}, {"seed": tuple(range(16, 24))}
_NARROW = {"ns": (64,), "nd": (24,), "p": (0.05,)}
_TOGETHER = {**_NARROW, "exponent": (1.0,), "degree": (0.8,), **_STEPS, **_EIGHT}
_RELU, _LONG = {**_NARROW, "kind": ("relu",), **_LR}, {"steps": (3000,)}
_SMALL = {"ns": (16,), "nd": (8,), "p": (0.05,), "first": (3.0,), "share": (0.6,), "steps": (20,), "seed": (0,)}

RUNS = (
    Run(
        name="dictionary-batch",
        feeds="whether BatchTopK finds more if its number of latents rises or falls",
        computes=batched,
        columns=COLUMNS,
        small=({**_SMALL, **_LR, "price": (1.5,)},),
        full=each((CONSTANT, RISING), **_NARROW, price=(1.5,), **_LR, **_STEPS, **_EIGHT),
        hours={"small": 0.001, "full": 0.06},
    ),
    Run(
        name="dictionary-together",
        feeds="whether a falling price finds more where features share causes and switches and differ in frequency",
        computes=in_all_company,
        columns=COLUMNS,
        small=({**_SMALL, "exponent": (1.0,), "degree": (0.8,), "price": (0.1,)},),
        full=each((CONSTANT, FALLING), **_TOGETHER, price=(0.048, 0.07, 0.1)),
        hours={"small": 0.001, "full": 0.1},
    ),
    Run(
        name="dictionary-activity",
        feeds="what constant prices find that leave about as many latents on as a falling one, on the same truths",
        computes=scheduled,
        columns=COLUMNS,
        small=({**_SMALL, **_LR, "kind": ("relu",), "price": (0.1,)},),
        full=(
            *each((CONSTANT,), **_RELU, **_LONG, price=(0.06, 0.08), seed=FINISHED),
            *each((FALLING,), **_RELU, **_STEPS, price=(0.048,), seed=FINISHED[7:]),
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
    Run(
        name="dictionary-rising",
        feeds="what a price finds that rises, over most of the training or in a short warm-up",
        computes=scheduled,
        columns=COLUMNS,
        small=({**_SMALL, **_LR, "kind": ("relu",), "price": (0.1,), "first": (0.0,)},),
        full=each((RISING, WARMED), **_RELU, **_STEPS, price=(0.048,), **_EIGHT),
        hours={"small": 0.001, "full": 0.03},
    ),
)
