"""Named runs of the page on gates: trained fields, other marginals, basins."""

from typing import Annotated

from pydantic import Field

from superposition.inputs import Count, Real
from superposition.runs.point import Point, Run


class FieldPoint(Point):
    """What `superposition.experiments.trained_gates.trained_fields` takes."""

    n: Annotated[Count, Field(ge=3)]
    xi1: Annotated[Real, Field(gt=0)]
    xi2: Annotated[Real, Field(gt=0)]
    gain: Annotated[Real, Field(gt=0, le=100)]
    K: Annotated[Count, Field(ge=1)]
    samples: Annotated[Count, Field(ge=1)]
    steps: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


class MarginalPoint(Point):
    """What `superposition.experiments.trained_gates.other_marginal` takes."""

    n: Annotated[Count, Field(ge=3)]
    xi1: Annotated[Real, Field(gt=0)]
    xi2: Annotated[Real, Field(gt=0)]
    law: str
    strength: Real
    samples: Annotated[Count, Field(ge=2)]
    steps: Annotated[Count, Field(ge=1)]
    starts: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


class BasinPoint(Point):
    """What `superposition.experiments.trained_gates.basin` takes."""

    n: Annotated[Count, Field(ge=3)]
    xi1: Annotated[Real, Field(gt=0)]
    xi2: Annotated[Real, Field(gt=0)]
    gain: Annotated[Real, Field(gt=0)]
    noise: Annotated[Real, Field(ge=0)]
    samples: Annotated[Count, Field(ge=1)]
    steps: Annotated[Count, Field(ge=1)]
    trials: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


_RING = {"n": (40,), "xi1": (2.0,), "xi2": (1.0,)}
_FIVE = (0, 1, 2, 3, 4)
_FIELDS = {**_RING, "samples": (20000,), "steps": (6000,)}
_MARGINALS = {**_RING, "samples": (250000,), "steps": (2500,), "starts": (4,), "seed": (0, 1, 2)}
_TINY_HOURS = 0.005

RUNS = (
    Run(
        name="gated-fields",
        feeds="Localization, section 4.2: trained ReLU networks against the fields of fixed gates",
        function="superposition.experiments.trained_gates:trained_fields",
        point=FieldPoint,
        small=({**_RING, "samples": (1000,), "steps": (100,), "gain": (3.0,), "K": (1, 2), "seed": (0,)},),
        full=(
            {**_FIELDS, "gain": (0.01, 0.1, 0.3, 1.0, 3.0, 10.0), "K": (1,), "seed": _FIVE},
            {**_FIELDS, "gain": (0.01, 0.3, 1.0, 3.0, 10.0), "K": (12,), "seed": _FIVE},
            {**_FIELDS, "gain": (3.0,), "K": (2, 3, 4, 6, 24), "seed": (0, 1, 2)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.15},
        hardware="one CPU core",
    ),
    Run(
        name="gated-marginals",
        feeds="Localization, section 6.1: which marginals make a neuron localise",
        function="superposition.experiments.trained_gates:other_marginal",
        point=MarginalPoint,
        small=(
            {**_RING, "law": ("erf",), "strength": (3.0,), "samples": (1000,), "steps": (100,), "starts": (2,),
             "seed": (0,)},
        ),
        full=(
            {**_MARGINALS, "law": ("erf",), "strength": (0.7, 3.0)},
            {**_MARGINALS, "law": ("tanh", "sine", "sinh"), "strength": (1.0,)},
            {**_MARGINALS, "law": ("power",), "strength": (0.001, 0.5, 1.0, 2.0)},
            {**_MARGINALS, "law": ("shrink",), "strength": (0.7,)},
            {**_MARGINALS, "law": ("elliptical",), "strength": (-1.0, 1.0)},
            {**_MARGINALS, "law": ("cubic",), "strength": (-0.036, -0.027, -0.018, -0.009, -0.0045, 0.018)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.05},
        hardware="one CPU core",
    ),
    Run(
        name="gated-basin",
        feeds="Localization, section 5: how far a localised field can be pushed and still come back",
        function="superposition.experiments.trained_gates:basin",
        point=BasinPoint,
        small=(
            {**_RING, "gain": (3.0,), "noise": (1.0,), "samples": (1000,), "steps": (100,), "trials": (5,),
             "seed": (0,)},
        ),
        full=(
            {**_RING, "gain": (1.0, 3.0, 10.0), "noise": (0.5, 1.0, 1.5, 2.0, 3.0, 5.0), "samples": (20000,),
             "steps": (2500,), "trials": (40,), "seed": (0, 1)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.1},
        hardware="one CPU core",
    ),
)  # fmt: skip
