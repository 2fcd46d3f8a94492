"""Codes that suit a decoder's layers: decoders of one to three layers of ReLUs, trained on codes and with them."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from superposition.experiments.shared import LOSS, OVER_RUG, Nd, Ns, Probability, Rate, Seed, Steps, over_rug
from superposition.inputs import Count
from superposition.placing import placed
from superposition.runs.point import Meaning, Run

LOOKS, LOOKED_AT = 20, 4000  # iterations of the Bayes decoder, and the feature vectors that measure it


Start = Annotated[
    Literal["random", "rug", "antipodal"],
    Meaning("random, rug, antipodal", "the code at the start; antipodal rugs of ratio 1/2 are digons"),
]
Code = Annotated[
    Literal["kept", "trained"],
    Meaning("kept, trained", "whether the code stays as it is or is trained with its decoder"),
]
Layers = Annotated[Count, Field(ge=1, le=4), Meaning("layers", "layers of ReLUs of the decoder")]
Later = Annotated[
    Count, Field(ge=0, le=4), Meaning("layers", "layers of a second decoder, trained on the code found; 0 for none")
]


@placed
def reading(
    *, ns: Ns, nd: Nd, p: Probability, start: Start, code: Code, layers: Layers, later: Later, steps: Steps, lr: Rate,
    seed: Seed, device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train a decoder, with or without its code, and describe the code and the loss of other decoders on it."""
    from superposition import decoders, features

    first = decoders.first_code(start, ns, nd, seed)
    training = {"steps": steps, "lr": lr, "seed": seed}
    W_in, loss = decoders.train_layers(first, p, layers, frozen=code == "kept", **training)
    again = decoders.train_layers(W_in, p, later, frozen=True, **training).loss if later else loss
    x = features.sample(ns, p, LOOKED_AT, seed=np.random.default_rng([seed, 3]))
    many = features.Estimate.of(np.mean((decoders.decode(x @ W_in.T, W_in, p, iterations=LOOKS) - x) ** 2, axis=1))
    return {
        "loss": loss.mean,
        "loss_se": loss.se,
        "later_loss": again.mean,
        "many_loss": many.mean,
        **decoders.code_shape(W_in),
    }


_BUDGET = {"steps": (4000,), "lr": (0.01,), "seed": (1, 2, 3, 4, 5)}
_SMALLER = {"ns": (128,), "nd": (64,), "p": (0.05,), "later": (0,), **_BUDGET}
_LARGER = {**_SMALLER, "ns": (240,), "nd": (48,)}
_RANDOM = {"start": ("random",), "code": ("trained",)}
_GIVEN = {"start": ("rug", "antipodal"), "code": ("kept",), "layers": (2,)}
_DIGONS = {"start": ("antipodal",), "code": ("trained",), "layers": (2,), "seed": (1,)}

_OVER = OVER_RUG["over_rug"]
_FOUND = {
    **LOSS,
    "later_loss": Meaning(LOSS["loss"].unit, "loss of the second decoder; that of the first where there is none"),
    "many_loss": Meaning(LOSS["loss"].unit, f"loss of the iterated Bayes decoder on the code, {LOOKS} iterations"),
    "spread": Meaning(
        "0 to 1",
        "standard deviation over features of the diagonal of P, the projector on the rows of W_in; rugs have 0",
    ),
    "met": Meaning(
        "features",
        "others that make up the interference of a feature, median of (sum c^2)^2 / sum c^4 over the correlations c "
        "of P; digons have 1, large rugs ns / 3",
    ),
    "opposite": Meaning("0 to 1", "share of features with a correlation below -0.9 to another"),
    "skewness": Meaning("no unit", "skewness of all correlations c of different features; near 0 for large rugs"),
    **OVER_RUG,
    "later_over_rug": Meaning(_OVER.unit, "later_loss over the same"),
    "many_over_rug": Meaning(_OVER.unit, "many_loss over the same"),
}
_TINY = {"ns": (16,), "nd": (8,), "p": (0.1,), **_RANDOM, "layers": (2,), "later": (1,), **_BUDGET}

RUNS = (
    Run(
        name="decoder-layers",
        feeds="codes trained with decoders of one, two and three layers of ReLUs, and decoders trained on given codes",
        computes=reading,
        columns=_FOUND,
        predicted=(over_rug(over_rug="loss", later_over_rug="later_loss", many_over_rug="many_loss"),),
        small=({**_TINY, "steps": (20,), "seed": (0,)},),
        full=(
            {**_SMALLER, **_RANDOM, "layers": (1,), "later": (2,)},
            {**_SMALLER, **_RANDOM, "layers": (2,), "later": (1,)},
            {**_SMALLER, **_GIVEN},
            {**_SMALLER, "start": ("rug", "antipodal"), "code": ("trained",), "layers": (1, 2)},
            {**_SMALLER, **_RANDOM, "p": (0.02,), "layers": (1, 2)},
            {**_LARGER, **_RANDOM, "layers": (1, 2)},
            {**_LARGER, **_GIVEN, "start": ("rug",)},
            {**_SMALLER, **_RANDOM, "layers": (3,)},
            {**_SMALLER, **_DIGONS, "steps": (16_000,)},
            {**_SMALLER, **_DIGONS, "lr": (0.03,)},
        ),
        hours={"small": 0.001, "full": 0.25},
    ),
)
