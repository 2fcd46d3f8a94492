"""Named runs of the page on the best codes below r = 1/2: searched tiles, ablations, the price, training, records."""

from typing import Annotated

from pydantic import Field

from superposition.inputs import Count, Real
from superposition.runs.point import Point, Run


class TilePoint(Point):
    """What `superposition.rug.best_experiments.searched_tile` takes."""

    m: Annotated[Count, Field(ge=2)]
    B: Annotated[Count, Field(ge=4)]
    p: Annotated[Real, Field(gt=0, le=1)]
    starts: Annotated[Count, Field(ge=4)]
    kept: Annotated[Count, Field(ge=1)]
    steps: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


class AblatedPoint(Point):
    """What `superposition.rug.best_experiments.ablated_autoencoder` takes."""

    ns: Annotated[Count, Field(ge=3, le=16384)]
    p: Annotated[Real, Field(gt=0, le=1)]
    r: Annotated[Real, Field(gt=0, lt=1)]
    steps: Annotated[Count, Field(ge=1)]
    samples: Annotated[Count, Field(ge=2)]
    seed: Annotated[Count, Field(ge=0)]


class PricedPoint(Point):
    """What `superposition.rug.best_experiments.priced_code` takes."""

    kind: str
    budget: str
    strength: Annotated[Real, Field(gt=0)]
    p: Annotated[Real, Field(gt=0, le=1)]
    samples: Annotated[Count, Field(ge=2)]
    seed: Annotated[Count, Field(ge=0)]


_HERE = "superposition.rug.best_experiments:"
_SIZES = {
    2: (4, 5, 6, 8, 10, 13),
    3: (7, 8, 10, 12, 15, 20),
    4: (9, 11, 13, 16, 20, 26),
    5: (11, 14, 17, 20, 25, 33),
    6: (13, 17, 21, 24, 30, 40),
}
_FIVE = {"seed": (0, 1, 2, 3, 4)}
_WHERE = {"p": (0.05,), "r": (0.2,)}
_SEARCH = {"p": (0.05, 0.01, 0.001), "starts": (64,), "kept": (8,), "steps": (3000,), "seed": (0,)}
_SMALL = {"kind": ("fan", "cone", "graph"), "p": (0.05,), "samples": (50_000,), "seed": (0,)}
_LARGE = {"kind": ("antipodal", "rug"), "p": (0.05,), "samples": (5_000,), "seed": (0,)}
_STRENGTHS = {
    "noise": (1e-8, 1e-7, 1e-6, 1e-5, 3e-5, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.2),
    "digits": (16, 32, 64),
    "decay": (1e-9, 1e-8, 1e-7, 3e-7, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3),
    "bound": (3, 10, 30, 100, 300, 1000, 1e4, 1e5, 1e6),
}

RUNS = (
    Run(
        name="rug-tiles",
        feeds="the best small tiles that descent finds, with their weights",
        function=_HERE + "searched_tile",
        point=TilePoint,
        small=({"m": (2,), "B": (4,), "p": (0.05,), "starts": (8,), "kept": (1,), "steps": (200,), "seed": (0,)},),
        full=tuple({"m": (m,), "B": sizes, **_SEARCH} for m, sizes in _SIZES.items()),
        hours={"small": 0.002, "full": 0.3},
        hardware="one CPU core",
    ),
    Run(
        name="rug-ablations",
        feeds="which structure of a trained W makes its loss: symmetry, inhibition, mutual partners",
        function=_HERE + "ablated_autoencoder",
        point=AblatedPoint,
        small=({"ns": (32,), **_WHERE, "steps": (200,), "samples": (500,), "seed": (0,)},),
        full=({"ns": (256,), **_WHERE, "steps": (2000,), "samples": (60_000,), **_FIVE},),
        hours={"small": 0.001, "full": 0.04},
        hardware="one CPU core",
    ),
    Run(
        name="rug-price",
        feeds="which code wins under hidden noise, few digits, weight decay and bounded weights",
        function=_HERE + "priced_code",
        point=PricedPoint,
        small=({**_LARGE, "budget": ("bound",), "strength": (10,)},),
        full=tuple(
            {**codes, "budget": (name,), "strength": strengths}
            for codes in (_SMALL, _LARGE)
            for name, strengths in _STRENGTHS.items()
        ),
        hours={"small": 0.001, "full": 0.1},
        hardware="one CPU core",
    ),
)  # fmt: skip
