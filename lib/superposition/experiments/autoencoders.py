"""Autoencoders trained slower for rare features, and by the text's protocol with its stopping rule.

Source: The Persian Rug, Figures 2 to 7 and section 2.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from pydantic import Field

from superposition import checks
from superposition.experiments.shared import (
    DEVICE,
    DIMENSIONS,
    LOSS,
    ROWS,
    THEORY,
    Autoencoder,
    mean_and_spread,
    over_rug,
    theory,
)
from superposition.inputs import Count, Real
from superposition.runs.point import Meaning, Run


class TrainedPoint(Autoencoder):
    """What `trained_autoencoder` takes."""

    full_rate_from: Annotated[
        Real,
        Field(gt=0, le=1),
        Meaning(
            "(0, 1]",
            "smallest p at which the full learning rate is used; below it the rate falls in proportion to p",
        ),
    ]


class StoppedPoint(Autoencoder):
    """What `stopped_autoencoder` takes."""

    steps: Annotated[Count, Field(ge=1), Meaning("steps", "upper limit of the training steps")]


def trained_autoencoder(
    *, ns: int, p: float, r: float, steps: int, full_rate_from: float, seed: int, device: str = "auto"
) -> dict[str, float | int | str]:
    """Train one autoencoder by the earlier protocol, slower for rare features, and describe it beside the theory."""
    from superposition.rug import protocols, training

    ns = checks.whole("ns", ns, 3, training.LIMIT)
    r = checks.number("r", r, 0, 1, open_low=True, open_high=True)
    nd = max(1, round(r * ns))
    rarity = checks.number("full_rate_from", full_rate_from, 0, 1, open_low=True)
    lr = protocols.protocol("earlier", ns, nd, p).lr * min(1.0, p / rarity)
    how: dict[str, Any] = {"protocol": "earlier", "lr": lr}
    model = training.train(ns, nd, p, steps=steps, gradients="automatic", seed=seed, device=device, **how)
    rows = model.rows
    return {
        "nd": nd,
        "loss": model.loss,
        "loss_se": model.loss_se,
        **mean_and_spread("diagonal", rows.diagonal),
        **mean_and_spread("bias", rows.b),
        **mean_and_spread("bias_effective", rows.b_eff),
        **mean_and_spread("off_variance", rows.off_variance),
        "off_skewness": float(rows.off_skewness.mean()),
        "Lambda": rows.Lambda,
        "dead": int(rows.dead.sum()),
        "device": model.settings.device,
    }


def stopped_autoencoder(
    *, ns: int, p: float, r: float, steps: int, seed: int, device: str = "auto"
) -> dict[str, float | int | str]:
    """Train one autoencoder by the text's protocol and say where it stopped."""
    from superposition.rug import meanfield, training
    from superposition.rug.stopping import first_below, first_pause

    ns = checks.whole("ns", ns, 3, training.LIMIT)
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    model = training.train(ns, nd, p, steps=steps, protocol="text", seed=seed, device=device)
    near = 1.01 * float(meanfield.optimum(p, nd / ns).loss)  # a level to be reached, and so part of the measurement
    pause = first_pause(model.loss_history)
    rows = model.rows
    return {
        "nd": nd,
        "done": len(model.loss_history),
        "stopped": int(model.stopped),
        "loss": model.loss,
        "loss_se": model.loss_se,
        "pause": pause,
        "pause_loss": float(model.loss_history[max(0, pause - training.WINDOW) : pause].mean()),
        "crossing": first_below(model.loss_history, near),
        **mean_and_spread("diagonal", rows.diagonal),
        **mean_and_spread("bias", rows.b),
        **mean_and_spread("bias_effective", rows.b_eff),
        "off_sum_mean": float((ns - 1) * rows.off_mean.mean()),
        "off_skewness": float(rows.off_skewness.mean()),
        "Lambda": rows.Lambda,
        "dead": int(rows.dead.sum()),
        "device": model.settings.device,
    }


_HERE = "superposition.experiments.autoencoders:"
_TRAINED = {
    "nd": DIMENSIONS,
    **LOSS,
    **THEORY,
    **ROWS,
    "off_variance_mean": Meaning("no unit", "variance of the off-diagonal entries of a row of W, mean over rows"),
    "off_variance_spread": Meaning(
        "no unit", "standard deviation over rows of the variance of a row's off-diagonal entries"
    ),
    **DEVICE,
}
_STOPPED = {
    "nd": DIMENSIONS,
    **LOSS,
    **THEORY,
    **ROWS,
    "done": Meaning("steps", "training steps that were made"),
    "stopped": Meaning("0, 1", "1 if the text's rule stopped the training, 0 if the limit did"),
    "pause": Meaning("step", "first step at which the rule would stop if it looked after every batch"),
    "pause_loss": Meaning("squared error, per feature", "mean of the 100 batch losses before pause"),
    "pause_ratio": Meaning("no unit", "pause_loss / theory"),
    "crossing": Meaning("step", "first step at which the mean of 100 batch losses is at most 1.01 theory; 0 if never"),
    "off_sum_mean": Meaning("no unit", "sum of the off-diagonal entries of a row of W, mean over rows"),
    **DEVICE,
}
_trained = partial(
    Run,
    function=_HERE + "trained_autoencoder",
    point=TrainedPoint,
    columns=_TRAINED,
    predicted=(theory, over_rug(ratio="loss")),
)

_P = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5)
_R = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
_USUAL = {"steps": (2000,), "full_rate_from": (0.05,)}
_GENTLE = {**_USUAL, "full_rate_from": (1.0,)}  # where the full rate drives every output to zero
_TINY = ({"ns": (64,), "p": (0.05, 0.3), "r": (0.2, 0.5), "steps": (300,), "full_rate_from": (0.05,), "seed": (0,)},)
_TINY_HOURS = 0.005
_UNLESS_STOPPED = {"steps": (100_000,)}
_FIVE = {"seed": (0, 1, 2, 3, 4)}

RUNS = (
    _trained(
        name="rug-grid",
        feeds="The Persian Rug, Figures 2 to 7 at ns = 128, 256 and 512",
        small=_TINY,
        full=(
            {"ns": (128,), "p": _P, "r": _R, **_USUAL, "seed": (0, 1)},
            {"ns": (256,), "p": _P[:-2], "r": _R, **_USUAL, "seed": (0, 1)},
            {"ns": (256,), "p": (0.3,), "r": _R[:-2], **_USUAL, "seed": (0, 1)},
            {"ns": (256,), "p": (0.5,), "r": _R[:-3], **_USUAL, "seed": (0, 1)},
            {"ns": (256,), "p": (0.3,), "r": _R[-2:], **_GENTLE, "seed": (0, 1)},
            {"ns": (256,), "p": (0.5,), "r": _R[-3:], **_GENTLE, "seed": (0, 1)},
            {"ns": (128, 256), "p": (0.05, 0.3), "r": (0.2, 0.5), **_USUAL, "seed": (2, 3, 4)},
            {"ns": (512,), "p": (0.01, 0.02, 0.05, 0.2), "r": (0.1, 0.2, 0.3, 0.5, 0.9), **_USUAL, "steps": (3000,),
             "seed": (0,)},
            {"ns": (512,), "p": (0.5,), "r": (0.1, 0.2, 0.3), **_USUAL, "steps": (3000,), "seed": (0,)},
            {"ns": (512,), "p": (0.5,), "r": (0.5, 0.9), **_GENTLE, "steps": (3000,), "seed": (0,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.65},
        hardware="two CPU cores",
    ),
    _trained(
        name="rug-seeds",
        feeds="The Persian Rug, Figure 2: five seeds at the default ratios of chapter 3, at ns = 256",
        small=_TINY,
        full=({"ns": (256,), "p": (0.05,), "r": (0.1, 0.2, 0.3, 0.5, 0.75), **_USUAL, "seed": (0, 1, 2, 3, 4)},),
        hours={"small": _TINY_HOURS, "full": 0.02},
    ),
    _trained(
        name="rug-budget",
        feeds="what half or twice the training steps change in run rug-grid, at ns = 256",
        small=_TINY,
        full=(
            {"ns": (256,), "p": (0.05, 0.3), "r": (0.2, 0.5), **_USUAL, "steps": (1000, 2000, 4000), "seed": (0,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.05},
        hardware="two CPU cores",
    ),
    _trained(
        name="rug-rate",
        feeds="what the learning rate changes for rare features, at ns = 128",
        small=_TINY,
        full=(
            {"ns": (128,), "p": (0.01,), "r": (0.2, 0.5, 0.9), **_USUAL, "full_rate_from": (0.01, 0.05, 0.2),
             "seed": (0,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.02},
        hardware="two CPU cores",
    ),
    _trained(
        name="rug-grid-large",
        feeds="The Persian Rug, Figures 4 to 7 at ns = 2048 and 8192",
        small=_TINY,
        full=(
            {"ns": (2048,), "p": _P, "r": _R, **_USUAL, "steps": (8000,), "seed": (0,)},
            {"ns": (8192,), "p": _P, "r": (0.2,), **_USUAL, "steps": (8000,), "seed": (0,)},
            {"ns": (8192,), "p": (0.05,), "r": _R, **_USUAL, "steps": (8000,), "seed": (0,)},
        ),
        hours={"small": _TINY_HOURS, "full": 3.0},
        hardware="one GPU of the data-centre kind with 40 GiB or more (an estimate: not run yet)",
    ),
    Run(
        name="rug-stopped",
        feeds="The Persian Rug, Figures 2 and 3: the text's learning rate and stopping rule",
        function=_HERE + "stopped_autoencoder",
        point=StoppedPoint,
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
