"""Codes below r = 1/2 that training finds: searched tiles, and tiles of one ratio by size.

All run on the CPU: the networks are small.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field

from superposition import checks
from superposition.experiments.shared import LOSS, OVER_RUG, Probability, Seed, over_rug
from superposition.inputs import Count, From, UpTo
from superposition.placing import placed
from superposition.runs.point import Meaning, Run

TileDimensions = Annotated[Count, Field(ge=2), Meaning("dimensions", "dimensions of the tile")]
TileSize = Annotated[
    Count, Field(ge=4), AfterValidator(From("2 m", "m", 2)), Meaning("features", "features of the tile; r = m / B")
]
SizedSteps = Annotated[Count, Field(ge=1), Meaning("steps", "training steps of 256 feature vectors")]
TileSteps = Annotated[Count, Field(ge=1), Meaning("steps", "steps of the long descent")]
Copies = Annotated[Count, Field(ge=2), Meaning("networks", "networks, each from random weights of its own")]
Starts = Annotated[Count, Field(ge=4), Meaning("copies", "starts that were screened")]
Kept = Annotated[
    Count, Field(ge=1), AfterValidator(UpTo("starts", "starts")), Meaning("copies", "starts that were refined")
]


@placed
def searched_tile(
    *, m: TileDimensions, B: TileSize, p: Probability, starts: Starts, kept: Kept, steps: TileSteps, seed: Seed,
    device: str = "cpu",
) -> dict[str, float | str]:  # fmt: skip
    """Search for the best code of B features in m dimensions."""
    from superposition import codes, weights

    found = codes.search_tile(m, B, p, starts=starts, kept=kept, steps=steps, seed=seed)
    screened, quarter = found["screened"], starts // 4
    kinds = {"fan": screened[:quarter], "unequal": screened[quarter : starts // 2], "random": screened[starts // 2 :]}
    return {
        "loss": found["loss"],
        "loss_se": found["loss_se"],
        "start": found["start"],
        **{f"{kind}_screened_loss": min(losses) for kind, losses in kinds.items()},
        "weights": weights.packed(found["W_in"], found["W_out"], found["b"]),
    }


@placed
def sized_tile(
    *, m: TileDimensions, B: TileSize, p: Probability, steps: SizedSteps, copies: Copies, seed: Seed,
    device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train some networks of one size from random weights, side by side on the same feature vectors."""
    from superposition.codes import measured_code_loss, random_tiles
    from superposition.devices import torch

    generator = torch.Generator().manual_seed(checks.whole("seed", seed, 0))
    codes = random_tiles(m, B, p, checks.whole("copies", copies, 2), steps=steps, generator=generator)
    found = [measured_code_loss(*code, p, samples=2_000_000 // B, seed=seed + 1) for code in codes]
    losses, errors = np.transpose(found)
    return {
        "loss_best": float(losses.min()),
        "loss_mean": float(losses.mean()),
        "loss_spread": float(losses.std(ddof=1)),
        "loss_error": float(errors.max()),
    }


_STARTS = {
    "fan": "the starts from fans and cones",
    "unequal": "random starts of unequal loudness",
    "random": "the other random starts",
}
_SEARCHED = {
    **LOSS,
    **OVER_RUG,
    "start": Meaning("cone or fan, unequal, random", "what the best copy came from"),
    **{
        f"{kind}_screened_loss": Meaning(LOSS["loss"].unit, f"best loss after screening of {starts}")
        for kind, starts in _STARTS.items()
    },
    **{f"{kind}_screened": Meaning("no unit", f"{kind}_screened_loss over the rug's loss") for kind in _STARTS},
    "weights": Meaning(
        "base64 of safetensors", "W_in, W_out and b of the best copy, as superposition.weights packs them"
    ),
}
_SIZED = {
    "loss_best": Meaning(LOSS["loss"].unit, "least loss of the copies"),
    "loss_mean": Meaning(LOSS["loss"].unit, "mean loss of the copies"),
    "loss_spread": Meaning(LOSS["loss"].unit, "standard deviation of the copies' losses"),
    "loss_error": Meaning(LOSS["loss"].unit, "largest standard error of one copy's loss over feature vectors"),
    "best": Meaning("no unit", "loss_best over the rug's loss"),
    "mean": Meaning("no unit", "loss_mean over the rug's loss"),
    "spread": Meaning("no unit", "loss_spread over the rug's loss"),
    "se": Meaning("no unit", "loss_error over the rug's loss"),
}
_searched = partial(
    Run,
    computes=searched_tile,
    columns=_SEARCHED,
    predicted=(over_rug(over_rug="loss", **{f"{kind}_screened": f"{kind}_screened_loss" for kind in _STARTS}),),
)
_sized = partial(
    Run,
    computes=sized_tile,
    columns=_SIZED,
    predicted=(over_rug(best="loss_best", mean="loss_mean", spread="loss_spread", se="loss_error"),),
)

_SIZES = {
    2: (4, 5, 6, 8, 10, 13),
    3: (7, 8, 10, 12, 15, 20),
    4: (9, 11, 13, 16, 20, 26),
    5: (11, 14, 17, 20, 25, 33),
    6: (13, 17, 21, 24, 30, 40),
}
_SEARCH = {"p": (0.05, 0.01), "starts": (64,), "kept": (8,), "steps": (3000,), "seed": (0,)}
_FIFTH = {"p": (0.05,), "copies": (5,), "seed": (0,)}  # r = 1/5, five networks of each size

RUNS = (
    _searched(
        name="rug-tiles",
        feeds="the best small tiles that descent finds, with their weights",
        small=({"m": (2,), "B": (4,), "p": (0.05,), "starts": (8,), "kept": (1,), "steps": (200,), "seed": (0,)},),
        full=tuple({"m": (m,), "B": sizes, **_SEARCH} for m, sizes in _SIZES.items()),
        hours={"small": 0.002, "full": 0.2},
    ),
    _searched(
        name="rug-tiles-rare",
        feeds="the same for features that are on once in a thousand vectors",
        small=({"m": (2,), "B": (4,), "p": (0.001,), "starts": (8,), "kept": (1,), "steps": (200,), "seed": (0,)},),
        full=tuple({"m": (m,), "B": sizes, **_SEARCH, "p": (0.001,)} for m, sizes in _SIZES.items()),
        hours={"small": 0.002, "full": 0.1},
    ),
    _sized(
        name="rug-tile-sizes",
        feeds="loss against size at one ratio: small networks and large ones, at one budget a feature and at ten",
        small=({"m": (2,), "B": (10,), **_FIFTH, "steps": (50,)},),
        full=(
            *({"m": (B // 5,), "B": (B,), **_FIFTH, "steps": (2000,)} for B in (10, 20, 40, 80, 160)),
            *({"m": (B // 5,), "B": (B,), **_FIFTH, "steps": (20_000,)} for B in (10, 20, 40)),
        ),
        hours={"small": 0.001, "full": 0.05},
    ),
    _sized(
        name="rug-tile-sizes-large",
        feeds="the same for larger sizes",
        small=({"m": (2,), "B": (10,), **_FIFTH, "steps": (50,)},),
        full=(
            {"m": (64,), "B": (320,), **_FIFTH, "steps": (2000,)},
            {"m": (102,), "B": (512,), **_FIFTH, "steps": (2000,)},
            *(
                {"m": (m,), "B": (B,), **_FIFTH, "steps": (20_000,)}
                for m, B in ((16, 80), (32, 160), (64, 320), (102, 512))
            ),
        ),
        hours={"small": 0.001, "full": 0.5},
    ),
)  # fmt: skip
