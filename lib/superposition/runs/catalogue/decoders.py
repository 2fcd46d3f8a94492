"""Named runs of the page on decoders: the ladder on rugs, and on antipodal rugs."""

from typing import Annotated

from pydantic import Field

from superposition.inputs import Count, Real
from superposition.runs.point import Point, Run


class LadderPoint(Point):
    """What `superposition.experiments.decoder_ladder.ladder` and ``antipodal_ladder`` take."""

    ns: Annotated[Count, Field(ge=2)]
    r: Annotated[Real, Field(gt=0, lt=1)]
    p: Annotated[Real, Field(gt=0, le=1)]
    iterations: Annotated[Count, Field(ge=1)]
    samples: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


_HERE = "superposition.experiments.decoder_ladder:"
_SMALL = {"ns": (256,), "r": (0.3,), "p": (0.05,), "iterations": (2,), "samples": (8,), "seed": (0,)}
_FULL = {
    "ns": (65_536,),
    "r": (0.1, 0.2, 0.3, 0.5),
    "p": (0.01, 0.05, 0.2),
    "iterations": (5,),
    "samples": (16,),
    "seed": (0, 1, 2, 3, 4),
}

RUNS = (
    Run(
        name="rug-ladder",
        feeds="the ladder of decoders on rugs of 65536 features: linear to the fifth iteration",
        function=_HERE + "ladder",
        point=LadderPoint,
        small=(_SMALL,),
        full=(_FULL,),
        hours={"small": 0.001, "full": 0.05},
        hardware="one CPU core",
    ),
    Run(
        name="rug-ladder-antipodal",
        feeds="the same on antipodal rugs, by the decoder of rugs and by the best one",
        function=_HERE + "antipodal_ladder",
        point=LadderPoint,
        small=(_SMALL,),
        full=(_FULL | {"ns": (16_384,), "r": (0.2, 0.3, 0.5), "p": (0.05,), "iterations": (8,)},),
        hours={"small": 0.001, "full": 0.01},
        hardware="one CPU core",
    ),
)
