"""Named runs of the page beyond the rug: stopping rule, Gaussian interference, Walsh descent."""

from typing import Annotated

from pydantic import Field

from superposition.inputs import Count, Real
from superposition.runs.point import Point, Run


class StoppedPoint(Point):
    """Stopped by the text's rule: what `superposition.experiments.autoencoders.stopped_autoencoder` takes."""

    ns: Annotated[Count, Field(ge=3, le=16384)]
    p: Annotated[Real, Field(gt=0, le=1)]
    r: Annotated[Real, Field(gt=0, lt=1)]
    steps: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


class MatrixPoint(Point):
    """One matrix to find: what `superposition.decree` and `superposition.descent` take."""

    ns: Annotated[Count, Field(ge=4, le=16384)]
    p: Annotated[Real, Field(gt=0, le=1)]
    r: Annotated[Real, Field(gt=0, lt=1)]
    steps: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


_FIVE = {"seed": (0, 1, 2, 3, 4)}
_UNLESS_STOPPED = {"steps": (100_000,)}
_TINY_HOURS = 0.005

RUNS = (
    Run(
        name="rug-stopped",
        feeds="The Persian Rug, Figures 2 and 3: the text's learning rate and stopping rule",
        function="superposition.experiments.autoencoders:stopped_autoencoder",
        point=StoppedPoint,
        small=({"ns": (64,), "p": (0.05,), "r": (0.2, 0.5), "steps": (3000,), "seed": (0,)},),
        full=(
            {"ns": (128,), "p": (0.05,), "r": (0.1, 0.2, 0.3, 0.5), **_UNLESS_STOPPED, **_FIVE},
            {"ns": (256,), "p": (0.05,), "r": (0.1, 0.2), **_UNLESS_STOPPED, **_FIVE},
            {"ns": (512,), "p": (0.045,), "r": (0.25390625,), **_UNLESS_STOPPED, **_FIVE},
            {"ns": (512,), "p": (0.05,), "r": (0.2,), **_UNLESS_STOPPED, "seed": (0, 1)},
            {"ns": (1024,), "p": (0.05,), "r": (0.2,), **_UNLESS_STOPPED, "seed": (0,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.2},
        hardware="one CPU core",
    ),
    Run(
        name="rug-gaussian",
        feeds="a control of The Persian Rug, section 4.1: the recipe with Gaussian interference by decree",
        function="superposition.experiments.autoencoders:gaussian_autoencoder",
        point=MatrixPoint,
        small=({"ns": (64,), "p": (0.05,), "r": (0.2, 0.5), "steps": (300,), "seed": (0,)},),
        full=({"ns": (128,), "p": (0.05,), "r": (0.1, 0.2, 0.5), "steps": (2000,), **_FIVE},),
        hours={"small": _TINY_HOURS, "full": 0.06},
        hardware="one CPU core",
    ),
    Run(
        name="rug-descent",
        feeds="which rug descent on Walsh eigenvalues chooses",
        function="superposition.experiments.autoencoders:descended_rug",
        point=MatrixPoint,
        small=({"ns": (64,), "p": (0.05,), "r": (0.2, 0.5), "steps": (300,), "seed": (0,)},),
        full=(
            {"ns": (256,), "p": (0.05,), "r": (0.1, 0.2, 0.3, 0.4, 0.5), "steps": (1000,), **_FIVE},
        ),
        hours={"small": _TINY_HOURS, "full": 0.06},
        hardware="one CPU core",
    ),
)  # fmt: skip
