"""Autoencoders trained by the recipe, and by the text's protocol with its stopping rule.

Source: The Persian Rug, Figures 2 to 7 and section 2.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from superposition import checks
from superposition.experiments.shared import (
    ALL_ROWS,
    DEVICE,
    DIMENSIONS,
    DONE,
    LOSS,
    ROWS,
    STOPPED,
    THEORY,
    Features,
    Probability,
    Ratio,
    Seed,
    described,
    mean_and_spread,
    over_rug,
    theory,
)
from superposition.inputs import Count, Real
from superposition.runs.point import Meaning, Run

StoppedSteps = Annotated[Count, Field(ge=1), Meaning("steps", "upper limit of the training steps")]
TrainedSteps = Annotated[Count, Field(ge=1), Meaning("steps", "training steps; an upper limit where protocol is text")]
Protocol = Annotated[
    Literal["recipe", "text"], Meaning("recipe, text", "how it was trained, as superposition.rug.protocols")
]
Rate = Annotated[Real, Field(gt=0), Meaning("above 0", "first learning rate over that of the protocol")]


def trained_autoencoder(
    *, ns: Features, p: Probability, r: Ratio, protocol: Protocol, rate: Rate, steps: TrainedSteps, seed: Seed,
    device: str = "auto",
) -> dict[str, float | int | str]:  # fmt: skip
    """Train one autoencoder by the recipe or by the text's protocol, and describe it and its rows."""
    from superposition.rug import MOST_TRAINABLE, train_autoencoder, training_protocol

    ns = checks.whole("ns", ns, 3, MOST_TRAINABLE)
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    lr = checks.number("rate", rate, 0, open_low=True) * training_protocol(protocol, ns, nd, p).lr
    model = train_autoencoder(ns, nd, p, steps=steps, protocol=protocol, lr=lr, seed=seed, device=device)
    return {
        "nd": nd,
        "done": len(model.loss_history),
        "loss": model.loss,
        "loss_se": model.loss_se,
        **described(model.rows),
        "device": model.settings.device.partition(":")[0],
    }


def stopped_autoencoder(
    *, ns: Features, p: Probability, r: Ratio, steps: StoppedSteps, seed: Seed, device: str = "auto"
) -> dict[str, float | int | str]:
    """Train one autoencoder by the text's protocol and say where it stopped."""
    from superposition.rug import (
        MOST_TRAINABLE,
        STOPPING_WINDOW,
        first_pause,
        first_step_below,
        optimum,
        train_autoencoder,
    )

    ns = checks.whole("ns", ns, 3, MOST_TRAINABLE)
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    model = train_autoencoder(ns, nd, p, steps=steps, protocol="text", seed=seed, device=device)
    near = 1.01 * float(optimum(p, nd / ns).loss)  # a level to be reached, and so part of the measurement
    pause = first_pause(model.loss_history)
    rows = model.rows
    return {
        "nd": nd,
        "done": len(model.loss_history),
        "stopped": int(model.stopped),
        "loss": model.loss,
        "loss_se": model.loss_se,
        "pause": pause,
        "pause_loss": float(model.loss_history[max(0, pause - STOPPING_WINDOW) : pause].mean()),
        "crossing": first_step_below(model.loss_history, near),
        **mean_and_spread("diagonal", rows.diagonal),
        **mean_and_spread("bias", rows.b),
        **mean_and_spread("bias_effective", rows.b_eff),
        "off_sum_mean": float((ns - 1) * rows.off_mean.mean()),
        "off_skewness": float(rows.off_skewness.mean()),
        "Lambda": rows.Lambda,
        "dead": int(rows.dead.sum()),
        "device": model.settings.device,
    }


_TRAINED = {"nd": DIMENSIONS, "done": DONE, **LOSS, **THEORY, **ALL_ROWS, **DEVICE}
_STOPPED = {
    "nd": DIMENSIONS,
    **LOSS,
    **THEORY,
    **ROWS,
    "done": DONE,
    "stopped": STOPPED,
    "pause": Meaning("step", "first step at which the rule would stop if it looked after every batch"),
    "pause_loss": Meaning("squared error, per feature", "mean of the 100 batch losses before pause"),
    "pause_ratio": Meaning("no unit", "pause_loss / theory"),
    "crossing": Meaning("step", "first step at which the mean of 100 batch losses is at most 1.01 theory; 0 if never"),
    "off_sum_mean": ALL_ROWS["off_sum_mean"],
    **DEVICE,
}
_trained = partial(Run, computes=trained_autoencoder, columns=_TRAINED, predicted=(theory, over_rug(ratio="loss")))

_P = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5)
_R = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
_RECIPE = {"protocol": ("recipe",), "rate": (1.0,), "steps": (2000,)}
_TEXT = {"protocol": ("text",), "rate": (1.0,), "steps": (100_000,)}
_CELLS, _TWO = {"p": _P, "r": _R}, {"p": (0.05,), "r": (0.2, 0.5)}
_TINY = ({"ns": (64,), "p": (0.05, 0.3), "r": (0.2, 0.5), **_RECIPE, "steps": (300,), "seed": (0,)},)
_TINY_HOURS = 0.005
_UNLESS_STOPPED = {"steps": (100_000,)}
_FIVE, _FRESH, _THREE = {"seed": (0, 1, 2, 3, 4)}, {"seed": (2, 3, 4, 5, 6)}, {"seed": (2, 3, 4)}
_GPU = "one GPU of the data-centre kind with 40 GiB or more, 16 CPU cores"

RUNS = (
    _trained(
        name="rug-grid",
        feeds="The Persian Rug, Figures 2 to 7 at ns = 128, 256 and 512",
        small=_TINY,
        full=(
            {"ns": (128, 256), **_CELLS, **_RECIPE, "seed": (0, 1)},
            {"ns": (512,), "p": _P[:-1], "r": _R, **_RECIPE, "seed": (0,)},
            {"ns": (512,), "p": (0.5,), "r": _R[:-2], **_RECIPE, "seed": (0,)},
            {"ns": (128, 256), "p": (0.05, 0.3), "r": (0.2, 0.5), **_RECIPE, **_THREE},
        ),
        hours={"small": _TINY_HOURS, "full": 0.5},
        hardware="16 CPU cores",
    ),
    _trained(
        name="rug-seeds",
        feeds="The Persian Rug, Figure 2: five seeds at the default ratios of chapter 3, at ns = 256",
        small=_TINY,
        full=({"ns": (256,), "p": (0.05,), "r": (0.1, 0.2, 0.3, 0.5, 0.75), **_RECIPE, **_FIVE},),
        hours={"small": _TINY_HOURS, "full": 0.1},
    ),
    _trained(
        name="rug-budget",
        feeds="what half or twice the training steps change in run rug-grid, at ns = 256",
        small=_TINY,
        full=(
            {"ns": (256,), "p": (0.05, 0.3), "r": (0.2, 0.5), **_RECIPE, "steps": (1000, 2000, 4000), "seed": (0, 1)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.1},
        hardware="two CPU cores",
    ),
    _trained(
        name="rug-rate",
        feeds="what a smaller or larger learning rate changes for rare features, at ns = 128",
        small=_TINY,
        full=(
            {"ns": (128,), "p": (0.01,), "r": (0.2, 0.5, 0.9), **_RECIPE, "rate": (0.125, 0.25, 0.5, 1.0, 2.0, 4.0),
             "seed": (0, 1)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.02},
        hardware="two CPU cores",
    ),
    _trained(
        name="rug-grid-large",
        feeds="The Persian Rug, Figures 2 to 7 at ns = 2048",
        small=_TINY,
        full=(
            {"ns": (2048,), "p": _P[:-2], "r": _R, **_RECIPE, "seed": (0,)},
            {"ns": (2048,), "p": (0.3,), "r": _R[1:], **_RECIPE, "seed": (0,)},
            {"ns": (2048,), "p": (0.5,), "r": _R[2:], **_RECIPE, "seed": (0,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.1},
        hardware=_GPU,
    ),
    _trained(
        name="rug-sizes-recipe",
        feeds="The Persian Rug, Figure 2: trained loss against ns by the recipe",
        small=({"ns": (32, 64), **_TWO, **_RECIPE, "steps": (300,), "seed": (0,)},),
        full=(
            {"ns": (64, 128, 256, 512, 1024, 2048, 4096), **_TWO, **_RECIPE, **_FRESH},
            {"ns": (8192,), **_TWO, "r": (0.2,), **_RECIPE, **_FRESH},
            {"ns": (8192,), **_TWO, "r": (0.5,), **_RECIPE, **_THREE},
        ),
        hours={"small": _TINY_HOURS, "full": 0.2},
        hardware=_GPU,
    ),
    _trained(
        name="rug-sizes-longer",
        feeds="The Persian Rug, Figure 2: more steps by the recipe, in proportion to sqrt(ns) and beyond",
        small=({"ns": (32,), **_TWO, **_RECIPE, "steps": (600,), "seed": (0,)},),
        full=(
            {"ns": (1024,), **_TWO, **_RECIPE, "steps": (4000, 8000), **_THREE},
            {"ns": (2048,), **_TWO, **_RECIPE, "steps": (5657,), **_THREE},
            {"ns": (4096,), **_TWO, **_RECIPE, "steps": (8000,), **_THREE},
        ),
        hours={"small": _TINY_HOURS, "full": 0.1},
        hardware=_GPU,
    ),
    _trained(
        name="rug-sizes-longest",
        feeds="The Persian Rug, Figure 2: what the limit still needs, the text's rule at r = 0.5 (not run yet)",
        small=({"ns": (32,), **_TWO, **_RECIPE, "steps": (600,), "seed": (0,)},),
        full=({"ns": (2048, 8192), **_TWO, "r": (0.5,), **_TEXT, **_THREE},),
        hours={"small": _TINY_HOURS, "full": 3.0},
        hardware=_GPU,
    ),
    _trained(
        name="rug-stopped-large",
        feeds="The Persian Rug, Figures 2 and 4 to 7: the text's learning rate and stopping rule at its own sizes",
        small=({"ns": (64,), **_TWO, **_TEXT, "steps": (3000,), "seed": (0,)},),
        full=(
            {"ns": (1024, 2048, 4096, 8192), **_TWO, "r": (0.2,), **_TEXT, **_FRESH},
            {"ns": (512, 1024), **_TWO, "r": (0.5,), **_TEXT, **_FRESH},
        ),
        hours={"small": _TINY_HOURS, "full": 0.3},
        hardware=_GPU,
    ),
    Run(
        name="rug-stopped",
        feeds="The Persian Rug, Figures 2 and 3: the text's learning rate and stopping rule",
        computes=stopped_autoencoder,
        columns=_STOPPED,
        predicted=(theory, over_rug(ratio="loss", pause_ratio="pause_loss")),
        small=({"ns": (64,), "p": (0.05,), "r": (0.2, 0.5), "steps": (3000,), "seed": (0,)},),
        full=(
            {"ns": (128,), "p": (0.05,), "r": (0.1, 0.2, 0.3, 0.5), **_UNLESS_STOPPED, **_FIVE},
            {"ns": (256,), "p": (0.05,), "r": (0.1, 0.2), **_UNLESS_STOPPED, **_FIVE},
            {"ns": (512,), "p": (0.045,), "r": (0.25390625,), **_UNLESS_STOPPED, **_FIVE},
            {"ns": (512,), "p": (0.05,), "r": (0.2,), **_UNLESS_STOPPED, "seed": (0, 1)},
            {"ns": (1024,), "p": (0.05,), "r": (0.2,), **_UNLESS_STOPPED, "seed": (0,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.2},
    ),
)  # fmt: skip
