"""Named runs of chapter 4: networks in which polysemantic neurons are counted."""

from typing import Annotated

from pydantic import Field

from superposition.inputs import Count, Real
from superposition.runs.point import Point, Run


class FlowPoint(Point):
    """One network under the gradient flow: what `superposition.experiments.counts.by_flow` takes."""

    n: Annotated[Count, Field(ge=1)]
    m: Annotated[Count, Field(ge=1)]
    lambda_: Annotated[Real, Field(gt=0)]
    step: Annotated[Real, Field(gt=0, le=0.5)]
    seed: Annotated[Count, Field(ge=0)]


class DescentPoint(Point):
    """One network trained by steps: what `superposition.experiments.counts.by_descent` takes."""

    n: Annotated[Count, Field(ge=1)]
    m: Annotated[Count, Field(ge=1)]
    lambda_: Annotated[Real, Field(gt=0)]
    method: str
    lr: Annotated[Real, Field(gt=0)]
    steps: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


_FLOW = {"lambda_": (0.0025,), "step": (0.4,)}
_PUBLIC = {"lambda_": (0.001,), "method": ("adamw",), "lr": (0.001,), "steps": (7500,)}  # the text's public code

RUNS = (
    Run(
        name="polysemantic-flow",
        feeds="Incidental Polysemanticity, Figure 3: counts under the gradient flow",
        function="superposition.experiments.counts:by_flow",
        point=FlowPoint,
        small=({"n": (32,), "m": (32, 64), **_FLOW, "seed": (0, 1)},),
        full=(
            {"n": (64,), "m": (64, 128, 256, 512, 1024), **_FLOW, "seed": tuple(range(48))},
            {"n": (128,), "m": (128, 256, 512, 1024), **_FLOW, "seed": tuple(range(16))},
            {"n": (256,), "m": (256, 512, 1024), **_FLOW, "seed": tuple(range(4))},
            {"n": (64,), "m": (256,), "lambda_": (0.01, 0.04), "step": (0.4,), "seed": tuple(range(48))},
            {"n": (64,), "m": (64, 256), "lambda_": (0.0025,), "step": (0.2,), "seed": tuple(range(12))},
            {"n": (64,), "m": (2048,), **_FLOW, "seed": tuple(range(48))},
            {"n": (64,), "m": (256,), "lambda_": (0.00125,), "step": (0.4,), "seed": tuple(range(24))},
            {"n": (64,), "m": (4096,), **_FLOW, "seed": tuple(range(48))},
        ),
        hours={"small": 0.001, "full": 0.1},
        hardware="two CPU cores",
    ),
    Run(
        name="polysemantic-descent",
        feeds="Incidental Polysemanticity, Figure 3: counts under AdamW and SGD",
        function="superposition.experiments.counts:by_descent",
        point=DescentPoint,
        small=({"n": (16,), "m": (32,), **_PUBLIC, "seed": (0, 1)},),
        full=(
            {"n": (64,), "m": (64, 128, 256, 512, 1024), **_PUBLIC, "seed": tuple(range(48))},
            {"n": (64,), "m": (2048,), **_PUBLIC, "seed": tuple(range(16))},
            {"n": (64,), "m": (4096,), **_PUBLIC, "seed": tuple(range(8))},
            {"n": (128,), "m": (128, 256, 512, 1024), **_PUBLIC, "seed": tuple(range(16))},
            {"n": (256,), "m": (256, 512, 1024), **_PUBLIC, "seed": tuple(range(4))},
            {"n": (64,), "m": (128,), "lambda_": (0.01,), "method": ("sgd",), "lr": (0.025,), "steps": (24000,),
             "seed": tuple(range(16))},
            {"n": (64,), "m": (128,), "lambda_": (0.001,), "method": ("sgd",), "lr": (0.001,), "steps": (7500,),
             "seed": (0, 1, 2)},
        ),
        hours={"small": 0.002, "full": 0.1},
        hardware="two CPU cores",
    ),
)  # fmt: skip
