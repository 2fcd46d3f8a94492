"""Autoencoders whose feature vectors the device draws, up to the text's 8192 features and to 32,000 steps.

Source: The Persian Rug, Figure 2 and section 2. Expected before the runs, from the steps of an escape that grow as the
number of features or faster (run rug-escape): with 8192 features, 32,000 steps end below where 8000 steps end with
4096, and at r = 0.5 within a tenth of the digon; and neither the drawer of the vectors nor TF32 moves the mean loss
over seeds by 4 standard errors.
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
    STOPPED,
    THEORY,
    Features,
    Ratio,
    Seed,
    described,
    over_rug,
    theory,
)
from superposition.inputs import Count, Real
from superposition.runs.point import Meaning, Run

Often = Annotated[Real, Field(ge=1e-3, le=1), Meaning("0.001 to 1", "probability that a feature is on")]
Draws = Annotated[
    Literal["device", "host"],
    Meaning("device, host", "who drew the feature vectors: rug.train_on_device, or numpy as in the other runs"),
]
Products = Annotated[Literal["float32", "tf32"], Meaning("float32, tf32", "precision of the products of a step")]
Protocol = Annotated[Literal["recipe", "text"], Meaning("recipe, text", "rate, schedule, start and stopping rule")]
Steps = Annotated[Count, Field(ge=1), Meaning("steps", "training steps; an upper limit where protocol is text")]


def device_drawn_autoencoder(
    *, ns: Features, p: Often, r: Ratio, draws: Draws, products: Products, protocol: Protocol, steps: Steps, seed: Seed,
    device: str = "auto",
) -> dict[str, float | int | str]:  # fmt: skip
    """Train one autoencoder on feature vectors that the device or the host draws, and describe it and its rows."""
    from superposition.rug import MOST_TRAINABLE, train_autoencoder, train_on_device

    ns = checks.whole("ns", ns, 3, MOST_TRAINABLE)
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    train = train_on_device if draws == "device" else train_autoencoder
    model = train(ns, nd, p, steps=steps, protocol=protocol, products=products, seed=seed, device=device)
    return {
        "nd": nd,
        "done": len(model.loss_history),
        "stopped": int(model.stopped),
        "loss": model.loss,
        "loss_se": model.loss_se,
        **described(model.rows),
        "device": model.settings.device.partition(":")[0],
    }


_drawn = partial(
    Run,
    computes=device_drawn_autoencoder,
    columns={"nd": DIMENSIONS, "done": DONE, "stopped": STOPPED, **LOSS, **THEORY, **ALL_ROWS, **DEVICE},
    predicted=(theory, over_rug(ratio="loss")),
    hardware="one GPU of the data-centre kind",
)
_CELLS = {"p": (0.05,), "r": (0.2, 0.5)}
_DEVICE = {"draws": ("device",), "products": ("tf32",), "protocol": ("recipe",)}
_SMALL = (
    {"ns": (32,), **_CELLS, "draws": ("device", "host"), "products": ("float32",), "protocol": ("recipe",),
     "steps": (300,), "seed": (0,)},
)  # fmt: skip
_FRESH = (7, 8, 9, 10, 11)  # of no other run here

RUNS = (
    _drawn(
        name="rug-device",
        feeds="The Persian Rug, Figure 2: the recipe with 8000 steps up to 8192 features, vectors drawn by the device",
        small=_SMALL,
        full=(
            {"ns": (2048, 4096, 8192), **_CELLS, **_DEVICE, "steps": (8000,), "seed": _FRESH},
            {"ns": (2048,), **_CELLS, **_DEVICE, "products": ("float32",), "steps": (8000,), "seed": _FRESH[:3]},
        ),
        hours={"small": 0.005, "full": 0.25},
    ),
    _drawn(
        name="rug-device-longer",
        feeds="The Persian Rug, Figure 2: the same with 32,000 steps",
        small=_SMALL,
        full=(
            {"ns": (2048, 4096), **_CELLS, **_DEVICE, "steps": (32_000,), "seed": _FRESH},
            # of ten with 8192 features, in random order, these had ended with the time for which the card was lent
            {"ns": (8192,), "p": (0.05,), "r": (0.2,), **_DEVICE, "steps": (32_000,), "seed": (7, 8, 10, 11)},
            {"ns": (8192,), "p": (0.05,), "r": (0.5,), **_DEVICE, "steps": (32_000,), "seed": (7,)},
        ),
        hours={"small": 0.005, "full": 0.25},
    ),
    _drawn(
        name="rug-draws",
        feeds="whether networks end alike on vectors that the device draws and on those of the host, at ns = 256",
        small=_SMALL,
        full=(
            {"ns": (256,), **_CELLS, **_DEVICE, "draws": ("device", "host"), "products": ("float32",),
             "steps": (2000,), "seed": _FRESH},
        ),
        hours={"small": 0.005, "full": 0.05},
        hardware="one CPU core",
    ),
)  # fmt: skip
