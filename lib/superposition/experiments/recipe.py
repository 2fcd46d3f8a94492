"""A protocol, or a rate, tried on autoencoders: does the training collapse, and which features are lost. All ours."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from superposition import checks, features
from superposition.experiments.shared import (
    DEVICE,
    DIMENSIONS,
    LOSS,
    Features,
    Probability,
    Ratio,
    Seed,
    Steps,
    over_rug,
)
from superposition.inputs import Count, Real
from superposition.runs.point import Meaning, Run

DROPPED = 0.1  # diagonal of W below which a feature counts as dropped
FRESH = 2048  # feature vectors that measure the loss after a few steps


Shift = Annotated[
    Real,
    Field(gt=0),
    Meaning(
        "largest feature", "what sets the rate: how far two Adam steps of one sign move every output, lr^2 ns nd p / 2"
    ),
]
TriedSteps = Annotated[Count, Field(ge=1), Meaning("steps", "training steps; an upper limit where protocol is text")]
Protocol = Annotated[
    Literal["recipe", "earlier", "text"],
    Meaning("recipe, earlier, text", "how it was trained, as superposition.rug.protocols"),
]


def tried_protocol(
    *, ns: Features, p: Probability, r: Ratio, protocol: Protocol, steps: TriedSteps, seed: Seed, device: str = "auto"
) -> dict[str, float | int | str]:
    """Train one autoencoder by a protocol, and say whether it collapsed and which features it lost."""
    from superposition import devices
    from superposition.rug import MOST_TRAINABLE, train_autoencoder

    ns = checks.whole("ns", ns, 3, MOST_TRAINABLE)
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    found = {"collapsed": 1, "loss": float(features.second_moment(p)), "loss_se": 0.0, "dropped": ns}
    try:
        model = train_autoencoder(ns, nd, p, steps=steps, protocol=protocol, seed=seed, device=device)
    except FloatingPointError:
        pass
    else:
        dropped = int((model.rows.diagonal < DROPPED).sum())
        found = {"collapsed": 0, "loss": model.loss, "loss_se": model.loss_se, "dropped": dropped}
    return {"nd": nd, **found, "device": str(devices.resolve_device(device))}


def tried_rate(
    *, ns: Features, p: Probability, r: Ratio, shift: Shift, steps: Steps, seed: Seed, device: str = "auto"
) -> dict[str, float | int | str]:
    """Take a few steps at a constant rate from the start of the recipe, and say whether the outputs go to zero."""
    from superposition import devices
    from superposition.rug import MOST_TRAINABLE, rate_at_shift, train_autoencoder

    ns = checks.whole("ns", ns, 3, MOST_TRAINABLE)
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    lr, over_zero = rate_at_shift(shift, ns, nd, p), 1.0
    how = {"lr": lr, "schedule": "constant", "seed": seed, "device": device, "eval_samples": FRESH}
    try:
        over_zero = train_autoencoder(ns, nd, p, steps=steps, **how).loss / float(features.second_moment(p))
    except FloatingPointError:
        pass
    collapsed = int(over_zero >= 1)
    return {
        "nd": nd,
        "lr": lr,
        "over_zero": over_zero,
        "collapsed": collapsed,
        "device": str(devices.resolve_device(device)),
    }


_TRIED = {
    "nd": DIMENSIONS,
    "collapsed": Meaning("0, 1", "1 where the output went to zero and the training ended in an error"),
    "loss": Meaning(LOSS["loss"].unit, LOSS["loss"].meaning + "; that of an output of zero after a collapse"),
    "loss_se": LOSS["loss_se"],
    "ratio": Meaning("no unit", "loss over the rug's loss at nd / ns"),
    "ratio_se": Meaning("no unit", "standard error of ratio over feature vectors"),
    "dropped": Meaning("features", "rows of W whose diagonal is below 0.1"),
    **DEVICE,
}
_RATE = {
    "nd": DIMENSIONS,
    "lr": Meaning("above 0", "learning rate, constant"),
    "over_zero": Meaning(
        "0 or more",
        "loss after the steps on fresh feature vectors, over that of an output of zero; 1 where the training "
        "ended in an error",
    ),
    "collapsed": Meaning("0, 1", "1 where over_zero is 1 or more"),
    **DEVICE,
}
_tried = partial(Run, computes=tried_protocol, columns=_TRIED, predicted=(over_rug(ratio="loss", ratio_se="loss_se"),))

_RECIPE, _EARLIER, _BOTH = ({"protocol": names} for names in (("recipe",), ("earlier",), ("recipe", "earlier")))
_FROM_RARE, _FIVE = (0.002, 0.01, 0.05, 0.2, 0.5), {"seed": (2, 3, 4, 5, 6)}
_SHIFTS = (0.15, 0.3, 0.6, 0.85, 1.2, 1.7, 2.4)
_TINY_HOURS = 0.005

RUNS = (
    _tried(
        name="rug-recipe",
        feeds="the recipe over sizes and sparsities, beside the protocol of older tables at the same steps",
        small=({"ns": (32,), "p": (0.05,), "r": (0.2,), **_BOTH, "steps": (50,), "seed": (0,)},),
        full=(
            {"ns": (64,), "p": _FROM_RARE, "r": (0.2, 0.9), **_RECIPE, "steps": (1000,), **_FIVE},
            {"ns": (64,), "p": _FROM_RARE, "r": (0.2, 0.9), **_EARLIER, "steps": (1000,), "seed": (2, 3)},
            {"ns": (256,), "p": _FROM_RARE, "r": (0.2, 0.9), **_RECIPE, "steps": (400,), **_FIVE},
            {"ns": (256,), "p": _FROM_RARE, "r": (0.2, 0.9), **_EARLIER, "steps": (400,), "seed": (2, 3)},
            {"ns": (1024,), "p": _FROM_RARE[::2], "r": (0.2, 0.9), **_RECIPE, "steps": (300,), "seed": (2,)},
            {"ns": (1024,), "p": (0.002,), "r": (0.2,), **_EARLIER, "steps": (300,), "seed": (2,)},
            {"ns": (4096,), "p": _FROM_RARE[::2], "r": (0.2,), **_RECIPE, "steps": (60,), "seed": (2,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.5},
    ),
    _tried(
        name="rug-corners",
        feeds="the recipe at large sizes and ratios, where its rate is nearest to the edge",
        small=({"ns": (32,), "p": (0.05,), "r": (0.5,), **_RECIPE, "steps": (40,), "seed": (0,)},),
        full=(
            {"ns": (4096,), "p": (0.05,), "r": (0.5,), **_RECIPE, "steps": (30,), "seed": (2, 3)},
            {"ns": (4096,), "p": (0.05,), "r": (0.9,), **_RECIPE, "steps": (30,), "seed": (2,)},
            {"ns": (2048,), "p": (0.05,), "r": (0.9,), **_RECIPE, "steps": (30,), "seed": (2, 3)},
            {"ns": (1024,), "p": (0.2,), "r": (0.5, 0.9), **_RECIPE, "steps": (40,), "seed": (4, 5)},
            {"ns": (2048,), "p": (0.2,), "r": (0.9,), **_RECIPE, "steps": (40,), "seed": (4, 5)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.2},
    ),
    Run(
        name="rug-edge",
        feeds="from which learning rate on the outputs of an autoencoder go to zero within a few steps",
        computes=tried_rate,
        columns=_RATE,
        small=({"ns": (32,), "p": (0.05,), "r": (0.5,), "shift": (0.6, 2.4), "steps": (20,), "seed": (0,)},),
        full=(
            {"ns": (128, 512), "p": (0.01, 0.05, 0.2), "r": (0.1, 0.5, 0.9), "shift": _SHIFTS, "steps": (20,),
             "seed": (2, 3)},
            {"ns": (1024,), "p": (0.05,), "r": (0.1, 0.5, 0.9), "shift": _SHIFTS, "steps": (20,), "seed": (2, 3)},
            {"ns": (2048,), "p": (0.05,), "r": (0.5, 0.9), "shift": _SHIFTS[2::2], "steps": (20,), "seed": (2,)},
            {"ns": (4096,), "p": (0.05,), "r": (0.5,), "shift": _SHIFTS[2:5:2], "steps": (20,), "seed": (2,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.2},
    ),
)  # fmt: skip
