"""Effects of training on exponents: the habits of Liu, Liu and Gore, and outputs that are kept from falling silent.

Predictions for outputs that are kept alive, written down before the run `frequencies-alive` and after one pilot of
each way at another seed and 10 dimensions, beside the same seeds of `frequencies-causes`: with a floor below the
biases (1) no output is dead at 10 dimensions, and (2) the mean exponents to 100 dimensions, where no output is dead,
move by less than a tenth; (3) they stay above the published ones by a tenth or more.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from superposition.experiments.shared import DEVICE, Seed, Steps
from superposition.experiments.unequal import Batch, Exponent, Lr, Nd, Ns
from superposition.inputs import Real
from superposition.runs.point import Meaning, Run

Pull = Annotated[
    Real,
    Field(ge=0),
    Meaning("0 or more", "each step takes pull times the rate times |w| - 1 from the length of each row w"),
]
BiasSpread = Annotated[Real, Field(ge=0), Meaning("0 or more", "standard deviation of the biases at the start")]
Largest = Annotated[Real, Field(gt=0), Meaning("above 0", "a feature that is on is uniform from 0 to this")]


Way = Annotated[
    Literal["floor", "revived"],
    Meaning(
        "floor, revived", "how outputs are kept from falling silent, as superposition.frequencies.train_unequal_alive"
    ),
]


def caused_loss(
    *, ns: Ns, nd: Nd, exponent: Exponent, pull: Pull, bias_spread: BiasSpread, largest: Largest, steps: Steps,
    batch: Batch, lr: Lr, seed: Seed, device: str = "auto",
) -> dict[str, float | int | str]:  # fmt: skip
    """Train one tied autoencoder on features whose frequency falls as a power of their rank, and count lost rows."""
    from superposition import devices, frequencies

    p, unit = frequencies.power_law(ns, exponent), largest**2
    changed = {"pull": pull, "bias_spread": bias_spread, "largest": largest}
    model = frequencies.train_unequal(
        p, nd, tied=True, steps=steps, batch=batch, lr=lr, seed=seed, device=device, **changed
    )
    squares = np.sum(model.W_in**2, axis=0)
    dead = squares * largest + model.bias <= 0
    return {
        "loss": model.loss / unit,
        "loss_se": model.loss_se / unit,
        "dead": int(dead.sum()),
        "dead_loss": float(model.losses[dead].sum() / unit),
        "short": int((squares < 0.25).sum()),
        "device": str(devices.resolve_device(device)),
    }


def alive_loss(
    *, ns: Ns, nd: Nd, exponent: Exponent, way: Way, steps: Steps, batch: Batch, lr: Lr, seed: Seed,
    device: str = "auto",
) -> dict[str, float | int | str]:  # fmt: skip
    """Train one tied autoencoder whose outputs are kept from falling silent; count those dead or nearly."""
    from superposition import devices, frequencies

    p = frequencies.power_law(ns, exponent)
    model = frequencies.train_unequal_alive(p, nd, way=way, steps=steps, batch=batch, lr=lr, seed=seed, device=device)
    squares = np.sum(model.W_in**2, axis=0)
    dead, nearly = squares + model.bias <= 0, squares + model.bias <= NEARLY * squares
    return {
        "loss": model.loss,
        "loss_se": model.loss_se,
        "dead": int(dead.sum()),
        "dead_loss": float(model.losses[dead].sum()),
        "nearly": int(nearly.sum()),
        "nearly_loss": float(model.losses[nearly].sum()),
        "device": str(devices.resolve_device(device)),
    }


NEARLY = 0.101  # of |w|^2: outputs at the floor are a tenth of it, up to rounding
_LOSS = "squared error over largest^2, sum over features"
_SUM = "squared error, sum over features"
# Their weight decay is one of ten numbers from -1 to 1; the middle dots of their Figure 6e have the third, -5/9.
_OURS = {"pull": (0.0,), "bias_spread": (0.0,), "largest": (1.0,)}
_CAUSES = ({"pull": (5 / 9,)}, {"bias_spread": (1.0,)}, {"largest": (2.0,)})
_ALL = _CAUSES[0] | _CAUSES[1] | _CAUSES[2]
_POWER = {"ns": (1000,), "nd": (10, 32, 100), "lr": (0.01,)}
_MILLION = {**_POWER, "exponent": (0.0, 0.5, 1.0, 1.5, 2.0), "steps": (2000,), "batch": (512,)}
_FRESH = {"exponent": (0.0, 1.0, 2.0), "seed": (3, 4)}
_THEIRS = {**_POWER, "nd": (10, 100), "exponent": (0.0, 1.0), "steps": (20_000,), "batch": (2048,), "seed": (0,)}
_TINY = {"ns": (40,), "nd": (4, 8), "exponent": (1.0,), "steps": (300,), "batch": (64,), "lr": (0.01,), "seed": (0,)}

RUNS = (
    Run(
        name="frequencies-causes",
        feeds="why published exponents are smaller than ours: a pull to length one, a bias start, larger features",
        computes=caused_loss,
        columns={
            "loss": Meaning(_LOSS, "loss sum_i E (x_i - f_i)^2 in units of largest^2, measured on fresh vectors"),
            "loss_se": Meaning(_LOSS, "standard error of loss over feature vectors"),
            "dead": Meaning("features", "features whose output is 0 when they alone are on: |w|^2 largest + b <= 0"),
            "dead_loss": Meaning(_LOSS, "what these features add to loss"),
            "short": Meaning("features", "features with a row of length below one half"),
            **DEVICE,
        },
        small=({**_TINY, **_OURS}, {**_TINY, **_ALL}),
        full=(
            *({**_MILLION, **_OURS, **cause, "seed": (0, 1, 2)} for cause in ({}, *_CAUSES, _ALL)),
            *({**_MILLION, **_FRESH, **_OURS, **cause} for cause in ({}, _CAUSES[1])),
            {**_THEIRS, **_ALL},
        ),
        hours={"small": 0.002, "full": 1.5},
    ),
    Run(
        name="frequencies-alive",
        feeds="exponents of networks none of whose outputs is silent, or whose silent outputs are revived",
        computes=alive_loss,
        columns={
            "loss": Meaning(_SUM, "loss sum_i E (x_i - f_i)^2, measured on fresh vectors"),
            "loss_se": Meaning(_SUM, "standard error of loss over feature vectors"),
            "dead": Meaning("features", "features whose output is 0 when they alone are on: |w|^2 + b <= 0"),
            "dead_loss": Meaning(_SUM, "what these features add to loss"),
            "nearly": Meaning(
                "features", "features whose output is then at most 0.101 |w|^2, those at the floor included"
            ),
            "nearly_loss": Meaning(_SUM, "what these features add to loss"),
            **DEVICE,
        },
        small=({**_TINY, "way": ("floor",)},),
        full=({**_MILLION, "nd": (10,), "exponent": (0.0, 1.0), "way": ("floor",), "seed": (0, 1)},),
        hours={"small": 0.001, "full": 0.2},
    ),
)
