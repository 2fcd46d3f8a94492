"""Named run of chapter 4: the constant in front of n^2 / m, for few and many features."""

from typing import Annotated

from pydantic import Field

from superposition.inputs import Count, Real
from superposition.runs.point import Point, Run


class ConstantPoint(Point):
    """Many networks of one size: what `superposition.incidental.collision_constant.measured` takes."""

    n: Annotated[Count, Field(ge=2, le=256)]
    m: Annotated[Count, Field(ge=2, le=4096)]
    networks: Annotated[Count, Field(ge=2)]
    lambda_: Annotated[Real, Field(gt=0)]
    step: Annotated[Real, Field(gt=0, le=0.5)]
    seed: Annotated[Count, Field(ge=0)]


_SIZES = (
    (2, 8, 20000), (3, 12, 20000), (4, 16, 20000), (6, 24, 4000), (8, 32, 4000), (12, 48, 2500), (16, 64, 2000),
    (24, 96, 1500), (40, 160, 400), (2, 32, 12000), (3, 48, 12000), (4, 64, 13000), (6, 96, 8000), (8, 128, 8000),
    (12, 192, 6500), (40, 120, 400), (10, 80, 4000),
    (4, 4, 3000), (4, 8, 3000), (4, 32, 6000), (8, 8, 1000), (8, 16, 1500), (8, 64, 4000),
)  # fmt: skip
_FLOW = {"lambda_": (0.01,), "step": (0.4,)}

RUNS = (
    Run(
        name="constant-size",
        feeds="Incidental Polysemanticity, section 2.1: the constant in front of n^2 / m, by size",
        function="superposition.incidental.collision_constant:measured",
        point=ConstantPoint,
        small=({"n": (3,), "m": (12,), "networks": (400,), **_FLOW, "seed": (0,)},),
        full=tuple({"n": (n,), "m": (m,), "networks": (count,), **_FLOW, "seed": (300,)} for n, m, count in _SIZES),
        hours={"small": 0.001, "full": 0.1},
        hardware="one CPU core",
    ),
)
