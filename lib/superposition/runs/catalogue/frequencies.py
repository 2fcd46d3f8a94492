"""The named run of the page on features that are not equally frequent."""

from typing import Annotated, Literal

from pydantic import Field

from superposition.inputs import Count, Real
from superposition.runs.point import Point, Run


class UnequalPoint(Point):
    """What `superposition.rug.frequencies_experiments.unequal_autoencoder` takes."""

    ns: Annotated[Count, Field(ge=2, le=16384)]
    nd: Annotated[Count, Field(ge=1)]
    exponent: Annotated[Real, Field(ge=0, le=10)]
    decoder: Literal["tied", "free"]
    steps: Annotated[Count, Field(ge=1)]
    batch: Annotated[Count, Field(ge=1)]
    lr: Annotated[Real, Field(gt=0)]
    seed: Annotated[Count, Field(ge=0)]


_WIDTHS, _EXPONENTS = (10, 18, 32, 56, 100), (1.0, 1.25, 1.5, 1.75, 2.0)
_POWER = {"ns": (1000,), "nd": _WIDTHS, "exponent": _EXPONENTS, "steps": (2000,), "batch": (512,), "lr": (0.01,)}
_TINY = {"ns": (40,), "nd": (4, 8), "exponent": (1.5,), "steps": (300,)}
_BOTH = {"decoder": ("tied", "free")}

RUNS = (
    Run(
        name="rug-frequencies",
        feeds="loss against width for features whose frequency falls as a power of their rank",
        function="superposition.rug.frequencies_experiments:unequal_autoencoder",
        point=UnequalPoint,
        small=({**_TINY, **_BOTH, "batch": (64,), "lr": (0.01,), "seed": (0,)},),
        full=({**_POWER, "decoder": ("tied",), "seed": (0, 1, 2)},),
        hours={"small": 0.002, "full": 0.4},
        hardware="one CPU core",
    ),
)
