"""Effects of the published training of Liu, Liu and Gore on exponents: a pull, initial biases and larger features."""

from __future__ import annotations

from typing import Annotated

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


_LOSS = "squared error over largest^2, sum over features"
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
)
