"""Named runs of chapter 6: predicted fields beside trained ones."""

from typing import Annotated

from pydantic import Field

from superposition.parameters import Count, Real
from superposition.points import Point, Run


class _Task(Point):
    """What these runs share: ring, correlation lengths, gain and seed."""

    n: Annotated[Count, Field(ge=3, le=1000)]
    xi1: Annotated[Real, Field(gt=0)]
    xi2: Annotated[Real, Field(gt=0)]
    gain: Annotated[Real, Field(ge=1e-6, le=1e6)]
    steps: Annotated[Count, Field(ge=15)]
    lr: Annotated[Real, Field(gt=0)]
    batch: Annotated[Count, Field(ge=2)]
    seed: Annotated[Count, Field(ge=0)]


class OneWidthPoint(_Task):
    """What `superposition.landscaperuns.one_width` takes."""

    initials: Annotated[Count, Field(ge=1)]
    samples: Annotated[Count, Field(ge=100)]


class ManyWidthPoint(_Task):
    """What `superposition.landscaperuns.many_width` and `branches` take."""

    K: Annotated[Count, Field(ge=2)]
    samples: Annotated[Count, Field(ge=100)]


_RING = {"n": (40,), "xi1": (2,), "xi2": (1,)}
_ONE = {"initials": (8,), "steps": (2000,), "lr": (0.5,), "batch": (4000,), "samples": (10_000,)}
_MANY = {"steps": (1500,), "lr": (0.5,), "batch": (4000,), "samples": (10_000,)}
_BRIEF = {"steps": (45,), "batch": (200,), "samples": (300,), "seed": (0,)}
_OTHER = ((3, 1), (1.5, 0.75))

RUNS = (
    Run(
        name="field-one",
        feeds="width of the field of one neuron against the gain: predicted and trained",
        function="superposition.landscaperuns:one_width",
        point=OneWidthPoint,
        small=({**_RING, **_ONE, **_BRIEF, "initials": (2,), "gain": (0.3, 3)},),
        full=(
            {**_RING, **_ONE, "gain": (0.2, 0.3, 0.5, 1, 3, 10), "seed": (0, 1)},
        ),
        hours={"small": 0.001, "full": 0.08},
        hardware="one CPU core",
    ),
    Run(
        name="field-many",
        feeds="width, shape and loss of the fields of many neurons: trained, tiled, and to first order",
        function="superposition.landscaperuns:many_width",
        point=ManyWidthPoint,
        small=({**_RING, **_MANY, **_BRIEF, "K": (4,), "gain": (3,)},),
        full=(
            {**_RING, **_MANY, "K": (12, 24), "gain": (0.3, 1, 3), "seed": (0, 1, 2, 3, 4)},
            *(
                {"n": (40,), "xi1": (a,), "xi2": (b,), **_MANY, "K": (12, 24), "gain": (0.3, 1, 3), "seed": (0, 1)}
                for a, b in _OTHER
            ),
        ),
        hours={"small": 0.001, "full": 0.2},
        hardware="one CPU core",
    ),
    Run(
        name="field-branches",
        feeds="whether the tiling by bumps is the best network, and where training goes from either branch",
        function="superposition.landscaperuns:branches",
        point=ManyWidthPoint,
        small=({**_RING, **_MANY, **_BRIEF, "K": (4,), "gain": (3,)},),
        full=({**_RING, **_MANY, "K": (24,), "gain": (0.3, 0.7, 1, 3), "seed": (0, 1)},),
        hours={"small": 0.001, "full": 0.1},
        hardware="one CPU core",
    ),
)  # fmt: skip
