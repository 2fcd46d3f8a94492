"""Autoencoders trained by the recipe, by the text's protocol, and by its rate without its stopping rule.

Source: The Persian Rug, Figures 2 and 3 and section 2.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from superposition import checks
from superposition.experiments.shared import (
    DEVICE,
    DIMENSIONS,
    LOSS,
    ROWS,
    THEORY,
    Features,
    Probability,
    Ratio,
    Seed,
    mean_and_spread,
    over_rug,
    theory,
)
from superposition.inputs import Count
from superposition.runs.point import Meaning, Run

Steps = Annotated[Count, Field(ge=1), Meaning("steps", "training steps; an upper limit where protocol is text")]
Protocol = Annotated[
    Literal["recipe", "text", "unstopped"],
    Meaning(
        "recipe, text, unstopped",
        "how it was trained: recipe is what superposition.rug.protocols calls earlier; "
        "unstopped is the text's rate without its stopping rule",
    ),
]


def trained_by(
    *, ns: Features, p: Probability, r: Ratio, protocol: Protocol, steps: Steps, seed: Seed, device: str = "auto"
) -> dict[str, float | int | str]:
    """Train one autoencoder by one of three protocols and compare it with the theory."""
    from superposition.rug import MOST_TRAINABLE, train_autoencoder, training_protocol

    ns = checks.whole("ns", ns, 3, MOST_TRAINABLE)
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    checks.one_of("protocol", protocol, ("recipe", "text", "unstopped"))
    how: dict[str, Any] = {"protocol": "text" if protocol == "text" else "earlier"}
    if protocol == "unstopped":
        how |= {"lr": training_protocol("text", ns, nd, p).lr, "schedule": "constant"}
    model = train_autoencoder(ns, nd, p, steps=steps, seed=seed, device=device, **how)
    rows = model.rows
    return {
        "nd": nd,
        "done": len(model.loss_history),
        "loss": model.loss,
        "loss_se": model.loss_se,
        **mean_and_spread("diagonal", rows.diagonal),
        **mean_and_spread("bias", rows.b),
        **mean_and_spread("bias_effective", rows.b_eff),
        "off_sum_mean": float((ns - 1) * rows.off_mean.mean()),
        "off_skewness": float(rows.off_skewness.mean()),
        "Lambda": rows.Lambda,
        "dead": int(rows.dead.sum()),
        "device": model.settings.device,
    }


_COLUMNS = {
    "nd": DIMENSIONS,
    **LOSS,
    **THEORY,
    **ROWS,
    "done": Meaning("steps", "training steps that were made"),
    "off_sum_mean": Meaning("no unit", "sum of the off-diagonal entries of a row of W, mean over rows"),
    **DEVICE,
}
_by = partial(Run, computes=trained_by, columns=_COLUMNS, predicted=(theory, over_rug(ratio="loss")))
_RECIPE, _TWO = {"protocol": ("recipe",)}, {"p": (0.05,), "r": (0.2, 0.5)}
_TEXT = {"protocol": ("text",), "steps": (100_000,)}

RUNS = (
    _by(
        name="rug-sizes",
        feeds="The Persian Rug, Figure 2: trained loss against ns, the sizes and seeds that other runs lack",
        small=({"ns": (32, 64), **_TWO, **_RECIPE, "steps": (300,), "seed": (0,)},),
        full=(
            {"ns": (64,), **_TWO, **_RECIPE, "steps": (2000,), "seed": (0, 2, 4)},
            {"ns": (512,), **_TWO, **_RECIPE, "steps": (4000,), "seed": (1, 2, 3, 4)},
            {"ns": (64,), **_TWO, **_TEXT, "seed": (0, 1, 2, 3, 4)},
            {"ns": (512,), **_TWO, **_TEXT, "r": (0.2,), "seed": (2, 3, 4)},
            {"ns": (256,), **_TWO, **_TEXT, "r": (0.5,), "seed": (0, 1, 2, 3, 4)},
            {"ns": (512,), **_TWO, **_TEXT, "r": (0.5,), "seed": (0, 1)},
        ),
        hours={"small": 0.005, "full": 0.05},
    ),
)  # fmt: skip
