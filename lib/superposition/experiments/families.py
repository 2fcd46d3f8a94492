"""Sparse autoencoders on parents and children: what their latents mix, at full width and as they get narrower."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field

from superposition.experiments.shared import DIMENSIONS, FEATURES, Seed, Steps
from superposition.inputs import Count, Real, UpTo
from superposition.placing import placed
from superposition.runs.point import Meaning, Run

LEAN = 10.0  # degrees from which a latent counts as leaning; chance is about 2 without interference
BATCH, SHIFT = 4000, 1000  # activations that measure; their seed, and that of the start, are the truth's plus so much


Ns = Annotated[Count, Field(ge=4, le=4096, multiple_of=2), FEATURES]
Nd = Annotated[Count, Field(ge=2), AfterValidator(UpTo("ns", "ns")), DIMENSIONS]
Parent = Annotated[Real, Field(gt=0, le=1), Meaning("(0, 1]", "probability that a parent is on")]
Children = Annotated[Real, Field(gt=0, le=1), Meaning("(0, 1]", "probability of a child over that of its parent")]
Truth = Annotated[
    Literal["families", "unrelated"],
    Meaning("families, unrelated", "whether a child is on only with its parent, or independent of it"),
]
Latents = Annotated[Count, Field(ge=1, le=8192), Meaning("latents", "width of the autoencoder")]
Price = Annotated[Real, Field(gt=0), Meaning("above 0", "lambda, the price of a unit of activity")]


@placed
def latents_of_families(
    *, ns: Ns, nd: Nd, parent: Parent, children: Children, truth: Truth, latents: Latents, price: Price, steps: Steps,
    seed: Seed, device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train one ReLU autoencoder with a price of activity, and say how its latents lean."""
    from superposition import decoders

    made = decoders.dictionary_of_families(ns, nd, p=parent * (1 + children) / 2, children=children, seed=seed)
    made = made if truth == "families" else decoders.unrelated_dictionary(made)
    training = {"latents": latents, "steps": steps, "tangent": True, "seed": seed + SHIFT}
    [sae] = decoders.train_saes(made, [price], **training)
    x, h = made.activations(BATCH, seed=seed + 2 * SHIFT)
    codes = sae.encode(h)
    found = decoders.scores(made, x, codes, sae.W_dec, offset=sae.b_dec)
    lean = decoders.leaning(made, x, codes, sae.W_dec)
    return {
        **_summary("to_child", lean.to_child),
        **_summary("to_parent", lean.to_parent),
        "alone": lean.alone,
        "together": lean.together,
        "explained": found.explained,
        "recovered": found.recovered,
    }


def _summary(name, angles):
    """How many features have a latent, the median of its angle, and the share that leans; 0 if there is none."""
    angles = angles[~np.isnan(angles)]
    if not len(angles):
        return {f"{name}_count": 0, name: 0.0, f"{name}_share": 0.0}
    return {
        f"{name}_count": len(angles),
        name: float(np.median(angles)),
        f"{name}_share": float(np.mean(angles > LEAN)),
    }


def _lean(whose, other):
    return {
        "count": Meaning("latents", f"number of {whose} that have a matched latent"),
        "": Meaning("degrees", f"angle of the latents of {whose} towards the {other}'s direction, median; 0 if none"),
        "share": Meaning("0 to 1", f"share of the latents of {whose} that lean by more than 10 degrees; 0 if none"),
    }


_COLUMNS = {
    f"{name}_{end}".rstrip("_"): meaning
    for name, ends in (("to_child", _lean("parents", "child")), ("to_parent", _lean("children", "parent")))
    for end, meaning in ends.items()
}
_HALF = {"price": (0.1,), "children": (0.5,)}
_AT = {"ns": (64,), "parent": (0.05,), "steps": (3000,), "seed": tuple(range(5))}

RUNS = (
    Run(
        name="dictionary-families",
        feeds="absorption and hedging: parents and children, at full width and in narrower dictionaries",
        computes=latents_of_families,
        columns={
            **_COLUMNS,
            "alone": Meaning("0 to 1", "how often a parent's latent is on where the parent is on without its child"),
            "together": Meaning("0 to 1", "how often a parent's latent is on where both are on"),
            "explained": Meaning("at most 1", "share of the variance of the activations"),
            "recovered": Meaning("0 to 1", "share of true directions with a matched latent of cosine 0.9 or more"),
        },
        small=(
            {"ns": (16,), "nd": (8,), "parent": (0.05,), "children": (0.5,), "truth": ("families",), "latents": (8,),
             "price": (0.1,), "steps": (20,), "seed": (0,)},
        ),
        full=(
            {"nd": (64,), "truth": ("families",), **_AT, **_HALF, "latents": (16, 32, 48, 64)},
            {"nd": (64,), "truth": ("unrelated",), **_AT, **_HALF, "latents": (32, 64)},
            {"nd": (24,), "truth": ("families", "unrelated"), **_AT, **_HALF, "latents": (16, 32, 64)},
            {"nd": (64,), "truth": ("families",), **_AT, "latents": (32, 64), "price": (0.1,), "children": (0.25,)},
            {"nd": (64,), "truth": ("families",), **_AT, "latents": (32, 64), "price": (0.03,), "children": (0.5,)},
        ),
        hours={"small": 0.001, "full": 0.2},
    ),
)  # fmt: skip
