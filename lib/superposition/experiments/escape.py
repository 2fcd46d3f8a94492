"""How many steps an autoencoder takes to reach the rug's loss, and how many to leave it. All ours.

The learning rate is constant and a fixed share of a weight, whatever the size. The order in which ns and the
number of steps grow then decides which loss is the limit.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from superposition import checks
from superposition.experiments.shared import (
    ALL_ROWS,
    DEVICE,
    DIMENSIONS,
    LOSS,
    THEORY,
    Features,
    Probability,
    Ratio,
    Seed,
    Steps,
    described,
    over_rug,
    theory,
)
from superposition.inputs import Count, Real
from superposition.runs.point import Meaning, Run

LEVELS = (1.2, 1.0, 0.95, 0.9, 0.85, 0.7, 0.5, 0.3)  # losses that are waited for, in units of the rug's
WINDOW = 10  # batches whose mean has to be there: few beside the steps that are counted


RelativeRate = Annotated[
    Real, Field(gt=0), Meaning("above 0", "learning rate times sqrt(ns), constant: a step over a weight of the rug")
]
Batch = Annotated[Count, Field(ge=1), Meaning("vectors", "feature vectors a step")]


def timed(
    *, ns: Features, p: Probability, r: Ratio, relative_rate: RelativeRate, batch: Batch, steps: Steps, seed: Seed,
    device: str = "auto",
) -> dict[str, float | int | str]:  # fmt: skip
    """Train one autoencoder at a constant rate, and say when its loss first was at each of some levels."""
    from superposition.rug import MOST_TRAINABLE, first_step_below, optimum, train_autoencoder

    ns = checks.whole("ns", ns, 3, MOST_TRAINABLE)
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    lr = checks.number("relative_rate", relative_rate, 0, open_low=True) / ns**0.5
    how = {"batch": batch, "lr": lr, "schedule": "constant", "seed": seed, "device": device}
    model = train_autoencoder(ns, nd, p, steps=steps, **how)
    unit = float(optimum(p, nd / ns).loss)  # levels to be reached, and so part of the measurement
    return {
        "nd": nd,
        "loss": model.loss,
        "loss_se": model.loss_se,
        **{_named(level): first_step_below(model.loss_history, level * unit, WINDOW) for level in LEVELS},
        **described(model.rows),
        "device": model.settings.device.partition(":")[0],
    }


def _named(level: float) -> str:
    return f"steps_to_{round(100 * level)}"


_COLUMNS = {
    "nd": DIMENSIONS,
    **LOSS,
    **THEORY,
    **ALL_ROWS,
    **{
        _named(level): Meaning(
            "step", f"first step at which the mean of 10 batch losses is at most {level:g} theory; 0 if never"
        )
        for level in LEVELS
    },
    **DEVICE,
}
_PLACE, _FIVE, _USUAL = {"p": (0.05,), "r": (0.2, 0.5)}, {"seed": (10, 11, 12, 13, 14)}, {"batch": (1024,)}
_SLOW = {"relative_rate": (0.06,)}
# The cells beside p = 0.05, r = 0.2 and 0.5. Before any network of 1024 features was trained there, this was predicted
# from the others: where p >= 0.05 the time from 1.2 to 0.95 of the theory grows from 512 to 1024 features with the
# exponent that it has from 256 to 512, within 0.3 (0.5 would be gradient flow, 1 is Adam's law); where p = 0.01 it
# grows too, for all three r, although it falls up to 512 at r = 0.1 and 0.2; the time to 1.2 changes by less than 25 %.
# Before any of 2048 or 4096 features was trained there, this was predicted from those of up to 1024: in each of the
# seven cells the time from 1.2 to 0.95 of the theory grows by a factor of 1.7 to 3.2 at each doubling of the size; at
# p = 0.01 it grows faster than at p = 0.2 with the same r; the time to 1.2 grows by less than half at each doubling
# where p >= 0.05 and r <= 0.2.
# Three networks of 4096 features at p = 0.2, r = 0.5 were started too: at this rate the outputs of all three collapsed
# to zero within 100 steps (`rug.rate_at_shift` says why), so this cell ends at 2048.
_SIZES = (64, 128, 256, 512)
_THREE = {"seed": (10, 11, 12)}

RUNS = (
    Run(
        name="rug-escape",
        feeds="how the steps to the rug and away from it grow with ns, with the batch and with the rate",
        computes=timed,
        columns=_COLUMNS,
        predicted=(theory, over_rug(ratio="loss")),
        small=({"ns": (32, 64), **_PLACE, **_SLOW, **_USUAL, "steps": (200,), "seed": (0,)},),
        full=(
            {"ns": (64, 128, 256, 512), **_PLACE, **_SLOW, **_USUAL, "steps": (2000,), **_FIVE},
            {"ns": (1024,), **_PLACE, **_SLOW, **_USUAL, "steps": (3000,), **_FIVE},
            {"ns": (2048,), **_PLACE, **_SLOW, **_USUAL, "steps": (4000,), **_FIVE},
            {"ns": (4096,), **_PLACE, **_SLOW, **_USUAL, "steps": (6000,), **_FIVE},
            {"ns": (512,), **_PLACE, **_SLOW, "batch": (256, 4096), "steps": (3000,), **_FIVE},
            {"ns": (512,), **_PLACE, "relative_rate": (0.015, 0.03), **_USUAL, "steps": (4000,), **_FIVE},
        ),
        hours={"small": 0.005, "full": 0.3},
        hardware="one GPU of the data-centre kind with 40 GiB or more, 16 CPU cores",
    ),
    Run(
        name="rug-times",
        feeds="the steps to the rug and away from it at seven more cells of p and r",
        computes=timed,
        columns=_COLUMNS,
        predicted=(theory, over_rug(ratio="loss")),
        small=({"ns": (32,), "p": (0.2,), "r": (0.2,), **_SLOW, **_USUAL, "steps": (100,), "seed": (0,)},),
        full=(
            {"ns": _SIZES, "p": (0.01,), "r": (0.1,), **_SLOW, **_USUAL, "steps": (2500,), **_FIVE},
            {"ns": _SIZES, "p": (0.01,), "r": (0.2, 0.5), **_SLOW, **_USUAL, "steps": (1500,), **_FIVE},
            {"ns": _SIZES, "p": (0.05,), "r": (0.1,), **_SLOW, **_USUAL, "steps": (1500,), **_FIVE},
            {"ns": _SIZES, "p": (0.2,), "r": (0.1, 0.2, 0.5), **_SLOW, **_USUAL, "steps": (1500,), **_FIVE},
            {"ns": (1024,), "p": (0.01,), "r": (0.1, 0.2, 0.5), **_SLOW, **_USUAL, "steps": (500,), **_FIVE},
            {"ns": (1024,), "p": (0.05,), "r": (0.1,), **_SLOW, **_USUAL, "steps": (1000,), **_FIVE},
            {"ns": (1024,), "p": (0.2,), "r": (0.1, 0.2), **_SLOW, **_USUAL, "steps": (1500,), **_FIVE},
            {"ns": (1024,), "p": (0.2,), "r": (0.5,), **_SLOW, **_USUAL, "steps": (1000,), **_FIVE},
            {"ns": (2048,), "p": (0.01,), "r": (0.1, 0.2, 0.5), **_SLOW, **_USUAL, "steps": (1500,), **_FIVE},
            {"ns": (2048,), "p": (0.05,), "r": (0.1,), **_SLOW, **_USUAL, "steps": (3500,), **_FIVE},
            {"ns": (2048,), "p": (0.2,), "r": (0.1, 0.2), **_SLOW, **_USUAL, "steps": (3000,), **_FIVE},
            {"ns": (2048,), "p": (0.2,), "r": (0.5,), **_SLOW, **_USUAL, "steps": (2000,), **_FIVE},
            {"ns": (4096,), "p": (0.01,), "r": (0.1, 0.2, 0.5), **_SLOW, **_USUAL, "steps": (4000,), **_THREE},
            {"ns": (4096,), "p": (0.05,), "r": (0.1,), **_SLOW, **_USUAL, "steps": (8000,), **_THREE},
            {"ns": (4096,), "p": (0.2,), "r": (0.1, 0.2), **_SLOW, **_USUAL, "steps": (6000,), **_THREE},
        ),
        hours={"small": 0.001, "full": 0.7},
        hardware="2 CPU cores up to 1024 features, then one GPU of the data-centre kind, 16 CPU cores",
    ),
)  # fmt: skip
