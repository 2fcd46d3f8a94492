"""Autoencoders trained as the public code of The Persian Rug trains them, with both stopping rules read from each.

Source: The Persian Rug, section 2 and Figure 3, and the repository that it names.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from superposition.experiments.shared import (
    ALL_ROWS,
    DEVICE,
    LOSS,
    THEORY,
    Features,
    Probability,
    Seed,
    described,
    mean_and_spread,
    over_rug,
    theory,
)
from superposition.inputs import Count
from superposition.runs.point import Meaning, Run

Dimensions = Annotated[Count, Field(ge=1), Meaning("dimensions", "number of hidden dimensions n_d")]
Epochs = Annotated[
    Count, Field(ge=1, le=1500), Meaning("epochs", "upper limit of the training, in epochs of 30 batches")
]
BiasStart = Annotated[
    Literal["uniform", "zero"],
    Meaning("uniform, zero", "the bias at the start: uniform within 1 / sqrt(nd) as in the public code, or zero"),
]
RULES = {"text": "the text's rule, windows of 100 batches", "code": "the code's rule, windows of 200 batches"}


def by_both_rules(
    *, ns: Features, nd: Dimensions, p: Probability, epochs: Epochs, bias_start: BiasStart, seed: Seed,
    device: str = "auto",
) -> dict[str, float | int | str]:  # fmt: skip
    """Train one autoencoder and describe it where either rule stops."""
    from superposition.rug import train_as_published

    both = train_as_published(ns, nd, p, epochs=epochs, bias_start=bias_start, seed=seed, device=device)
    return {
        **_described("text", both.text),
        **_described("code", both.code),
        "device": both.code.settings.device.partition(":")[0],
    }


def _described(rule, model):
    rows = model.rows
    live = rows.diagonal > np.median(rows.diagonal) / 2
    found = {
        "steps": len(model.loss_history),
        "stopped": int(model.stopped),
        "loss": model.loss,
        "loss_se": model.loss_se,
        **described(rows),
        "lost": int((~live).sum()),
        **mean_and_spread("live_diagonal", rows.diagonal[live]),
        **mean_and_spread("live_bias", rows.b[live]),
    }
    return {f"{rule}_{name}": value for name, value in found.items()}


def _columns(rule, words):
    live = "over features whose diagonal is above half its median"
    columns = {
        "steps": Meaning("steps", f"training steps until {words}"),
        "stopped": Meaning("0, 1", f"1 if {words}, stopped the training, 0 if the limit did"),
        **LOSS,
        **ALL_ROWS,
        "lost": Meaning("features", "features whose diagonal is at most half its median"),
        "live_diagonal_mean": Meaning("no unit", f"diagonal of W, mean {live}"),
        "live_diagonal_spread": Meaning("no unit", f"standard deviation of the diagonal of W {live}"),
        "live_bias_mean": Meaning("units of x", f"raw bias, mean {live}"),
        "live_bias_spread": Meaning("units of x", f"standard deviation of the raw bias {live}"),
    }
    return {f"{rule}_{name}": meaning for name, meaning in columns.items()}


_by_both = partial(
    Run,
    computes=by_both_rules,
    columns={
        **_columns("text", RULES["text"]),
        **_columns("code", RULES["code"]),
        "theory": THEORY["theory"],
        **{f"{rule}_ratio": Meaning("no unit", f"{rule}_loss / theory") for rule in RULES},
        **DEVICE,
    },
    predicted=(theory, over_rug(text_ratio="text_loss", code_ratio="code_loss")),
)
_LONG, _UNIFORM, _FIVE = {"epochs": (1500,)}, {"bias_start": ("uniform",)}, {"seed": (0, 1, 2, 3, 4)}
_TINY = {"ns": (32,), "nd": (8,), "p": (0.1,), "epochs": (20,), "seed": (0,)}
_PLANE = {"p": (0.02, 0.1, 0.3, 0.5, 0.8), **_LONG, **_UNIFORM}

RUNS = (
    _by_both(
        name="rug-public",
        feeds="The Persian Rug, Figure 3, at the place that its public code plots; both stopping rules",
        small=({**_TINY, "bias_start": ("uniform", "zero")},),
        full=(
            {"ns": (512,), "nd": (130,), "p": (0.044,), **_LONG, "bias_start": ("uniform", "zero"), **_FIVE},
            {"ns": (128,), "nd": (64, 38, 13), "p": (0.5,), **_LONG, **_UNIFORM, **_FIVE},
            {"ns": (128,), "nd": (26,), "p": (0.02, 0.05, 0.2), **_LONG, **_UNIFORM, **_FIVE},
        ),
        hours={"small": 0.001, "full": 1.0},
    ),
    _by_both(
        name="rug-public-map",
        feeds="The Persian Rug, Figures 2 and 4 to 7, by the text's protocol over its plane; both stopping rules",
        small=({**_TINY, **_UNIFORM},),
        full=({"ns": (128,), "nd": (6, 13, 32, 64, 102), **_PLANE, "seed": (0,)},),
        hours={"small": 0.001, "full": 0.2},
    ),
    _by_both(
        name="rug-public-map-512",
        feeds="the same with 512 features, in nine cells",
        small=({**_TINY, **_UNIFORM},),
        full=({"ns": (512,), "nd": (51, 256, 410), **_PLANE, "p": (0.02, 0.1, 0.5), "seed": (0,)},),
        hours={"small": 0.001, "full": 0.3},
    ),
)  # fmt: skip
