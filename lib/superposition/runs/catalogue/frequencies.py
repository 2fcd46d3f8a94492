"""The named run of the page on features that are not equally frequent."""

from typing import Annotated, Literal

from pydantic import Field

from superposition.inputs import Count, Real
from superposition.runs.point import Point, Run

_FUNCTION = "superposition.experiments.unequal:unequal_autoencoder"


class UnequalPoint(Point):
    """What `superposition.experiments.unequal.unequal_autoencoder` takes."""

    ns: Annotated[Count, Field(ge=2, le=16384)]
    nd: Annotated[Count, Field(ge=1)]
    exponent: Annotated[Real, Field(ge=0, le=10)]
    decoder: Literal["tied", "free"]
    steps: Annotated[Count, Field(ge=1)]
    batch: Annotated[Count, Field(ge=1)]
    lr: Annotated[Real, Field(gt=0)]
    seed: Annotated[Count, Field(ge=0)]


class SignsPoint(Point):
    """What `superposition.experiments.signs.shuffled_signs` takes."""

    ns: Annotated[Count, Field(ge=2, le=16384)]
    nd: Annotated[Count, Field(ge=1)]
    exponent: Annotated[Real, Field(ge=0, le=10)]
    steps: Annotated[Count, Field(ge=1)]
    batch: Annotated[Count, Field(ge=1)]
    lr: Annotated[Real, Field(gt=0)]
    seed: Annotated[Count, Field(ge=0)]


_WIDTHS, _FIVE = (10, 18, 32, 56, 100), (1.0, 1.25, 1.5, 1.75, 2.0)
_POWER = {"ns": (1000,), "nd": _WIDTHS, "steps": (2000,), "batch": (512,), "lr": (0.01,)}
_BOTH = {"decoder": ("tied", "free")}
_TINY = {"ns": (40,), "nd": (4, 8), "exponent": (1.5,), "steps": (300,), "batch": (64,), "lr": (0.01,)}

RUNS = (
    Run(
        name="rug-frequencies-seeds",
        feeds="loss against width for features whose frequency falls as a power of their rank, tied and free decoders",
        function=_FUNCTION,
        point=UnequalPoint,
        small=({**_TINY, **_BOTH, "seed": (0, 1)},),
        full=(
            {**_POWER, "exponent": _FIVE, **_BOTH, "seed": (0, 1, 2)},
            {**_POWER, "nd": (32,), "exponent": (1.0, 2.0), **_BOTH, "steps": (8000,), "seed": (0,)},
        ),
        hours={"small": 0.004, "full": 0.5},
        hardware="one CPU core",
    ),
    Run(
        name="rug-frequencies-signs",
        feeds="what the signs of trained weights are worth, for 300 unequal features",
        function="superposition.experiments.signs:shuffled_signs",
        point=SignsPoint,
        small=(
            {"ns": (40,), "nd": (4,), "exponent": (1.5,), "steps": (300,), "batch": (64,), "lr": (0.01,), "seed": (0,)},
        ),
        full=({**_POWER, "ns": (300,), "nd": (6, 12, 24), "exponent": (1.0,), "seed": (0, 1, 2)},),
        hours={"small": 0.002, "full": 0.1},
        hardware="one CPU core",
    ),
)
