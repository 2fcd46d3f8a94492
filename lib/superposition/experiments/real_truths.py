"""How much the agreement of two starts means, on a layer's decoded latents, of which the true directions are known.

Written before the run: of latents on which two starts agree nine tenths are true, of the others less than half, and
more directions are recovered by 0.1 at least if each latent is shuffled over tokens; a falling price adds less than
0.05.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import Annotated, Literal

import numpy as np

from superposition.experiments.real_kinds import (
    AGREEMENT,
    ALIKE,
    COLUMNS,
    CONSTANT,
    FALLING,
    HASH,
    NARROW,
    OFTEN,
    STARTS,
    TESTED,
    Dimensions,
    activations_of,
    agreement,
    often_on,
    standard_error,
    trained_starts,
)
from superposition.experiments.real_latents import Layer, Width
from superposition.experiments.real_network import digest
from superposition.experiments.schedules import First, Price, Share, each
from superposition.experiments.shared import Seed, Steps
from superposition.placing import placed
from superposition.runs.point import Meaning, Run

Company = Annotated[
    Literal["kept", "taken", "drawn"],
    Meaning("kept, taken, drawn", "latents as they come; each shuffled over tokens; independent ones in 24 dimensions"),
]
TRUE_PRICE, TRUE_STEPS, TRUE_SEED, TRUE_TOKENS = 0.028, 3000, 1000, 80_000  # of the known directions


@placed
def truths_compared(
    *, company: Company, layer: Layer, dimensions: Dimensions, width: Width, price: Price, first: First,
    share: Share, steps: Steps, seed: Seed, device: str = "cpu",
) -> dict[str, float | str]:  # fmt: skip
    """Train five ReLU autoencoders on the decoded latents of another one, whose directions are the true ones."""
    draw, truth, named = _truth(company, layer, dimensions, width)
    saes = trained_starts(draw, len(truth), STARTS, "relu", width, price, (first, share), steps, seed)
    h = draw(np.random.default_rng([seed, 1]), TESTED, True)
    often = often_on(saes, h)
    true = [(one.T @ truth).max(axis=1) >= ALIKE for one in often]
    agreed = np.concatenate([(one.T @ other).max(axis=1) >= ALIKE for one, other in permutations(often, 2)])
    right = np.concatenate([one for one, _ in permutations(true, 2)])
    recovered = np.array([((truth.T @ one).max(axis=1) >= ALIKE).mean() for one in often])
    return {
        "l0": float(np.mean([(sae.encode(h) > 0).sum(axis=1).mean() for sae in saes])),
        "recovered": float(recovered.mean()),
        "recovered_se": standard_error(recovered),
        **agreement(often),
        "right_agreed": float(right[agreed].sum() / max(1, agreed.sum())),
        "right_alone": float(right[~agreed].sum() / max(1, (~agreed).sum())),
        "activations_hash": named,
        "device": "cpu",
    }


@cache
def _truth(company, layer, dimensions, width):
    """A function that draws sums of known directions, those directions (dimensions, features), and a digest."""
    if company == "drawn":
        rng = np.random.default_rng(0)
        x = rng.random((4000, 60)) * (rng.random((4000, 60)) < 0.05)
        D, b, named = rng.standard_normal((24, 60)), 0.0, digest(x)
        D /= np.linalg.norm(D, axis=0)
    else:
        source, nd, named = activations_of("layer", layer, dimensions)
        [sae] = trained_starts(source, nd, 1, "relu", width, TRUE_PRICE, (1.0, 1.0), TRUE_STEPS, TRUE_SEED)
        h = source(np.random.default_rng(TRUE_SEED), TRUE_TOKENS, False)
        x, b = sae.encode(h), sae.b_dec
        ever = (x > 0).mean(axis=0) >= OFTEN / TESTED
        x, D = x[:, ever], sae.W_dec[:, ever]
    kept = len(x) * 7 // 8

    def draw(rng, count, test):
        low, high = (kept, len(x)) if test else (0, kept)
        if company == "kept":
            return x[rng.integers(low, high, count)] @ D.T + b
        return np.take_along_axis(x, rng.integers(low, high, (count, x.shape[1])), 0) @ D.T + b

    return draw, D, named


RUNS = (
    Run(
        name="real-truths",
        feeds="chapter 12: what agreement of starts is worth where the true directions are known",
        computes=truths_compared,
        columns={
            "l0": COLUMNS["l0"],
            "recovered": Meaning("0 to 1", "share of true directions with a latent of cosine 0.9 or more"),
            "recovered_se": Meaning("0 to 1", "standard error of recovered over the starts"),
            **AGREEMENT,
            "right_agreed": Meaning("0 to 1", "share of true directions among latents on which two starts agree"),
            "right_alone": Meaning("0 to 1", "the same among the other latents"),
            **HASH,
        },
        small=(
            {
                "company": ("drawn",), "layer": (3,), "dimensions": (24,), "width": (60,), "price": (0.1,),
                "first": (1.0,), "share": (1.0,), "steps": (40,), "seed": (0,),
            },
        ),
        full=(
            *each(CONSTANT + FALLING, company=("kept", "taken"), price=(0.028,), steps=(3000,), **NARROW),
            *each(CONSTANT, company=("kept",), price=(0.033,), steps=(3000,), **NARROW),
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
)  # fmt: skip
