"""Named runs of chapter 1: phase diagram, feature dimensionality and finite data of toy models."""

from typing import Annotated

from pydantic import Field

from superposition.inputs import Count, Real
from superposition.runs.point import Point, Run


class PhasePoint(Point):
    """One cell of the phase diagram: what `superposition.experiments.toy.phase_cell` takes."""

    p: Annotated[Real, Field(gt=0, le=1)]
    relative: Annotated[Real, Field(gt=0)]
    instances: Annotated[Count, Field(ge=1)]
    steps: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


class GeometryPoint(Point):
    """One toy model: what `superposition.experiments.toy.dimensionalities` takes."""

    n: Annotated[Count, Field(ge=2, le=4096)]
    m: Annotated[Count, Field(ge=1, le=4096)]
    inverse_density: Annotated[Real, Field(ge=1)]
    steps: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


class FinitePoint(Point):
    """One toy model on few data: what `superposition.toy.finite_data.trained_on` takes."""

    n: Annotated[Count, Field(ge=2, le=4096)]
    m: Annotated[Count, Field(ge=1, le=4096)]
    p: Annotated[Real, Field(gt=0, le=1)]
    vectors: Annotated[Count, Field(ge=1, le=10**7)]
    steps: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


_PHASE_P = (0.01, 0.02, 0.03, 0.06, 0.1, 0.2, 0.3, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
_PHASE_I = (0.1, 0.16, 0.28, 0.46, 0.77, 0.9, 0.97, 1.0, 1.3, 2.2, 3.6, 6.0, 10.0)
_CROWDING = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.7, 1.9, 2.2, 2.5, 2.8, 3.2, 3.6, 4.0, 4.5, 5.0, 5.5, 6.0, 7.0, 8.0, 10.0)
_VECTORS = (10, 20, 40, 80, 160, 320, 640, 1280, 2560)
_TINY_HOURS = 0.005

RUNS = (
    Run(
        name="toy-phase",
        feeds="Toy Models of Superposition, the phase diagram of one extra feature",
        function="superposition.experiments.toy:phase_cell",
        point=PhasePoint,
        small=({"p": (0.1, 1.0), "relative": (0.1, 10.0), "instances": (4,), "steps": (300,), "seed": (0,)},),
        full=({"p": _PHASE_P, "relative": _PHASE_I, "instances": (16,), "steps": (1500,), "seed": (0,)},),
        hours={"small": _TINY_HOURS, "full": 0.12},
        hardware="one CPU core",
    ),
    Run(
        name="toy-geometry",
        feeds="Toy Models of Superposition, the dimensionality of features over sparsity",
        function="superposition.experiments.toy:dimensionalities",
        point=GeometryPoint,
        small=({"n": (20,), "m": (4,), "inverse_density": (2.0, 8.0), "steps": (300,), "seed": (0,)},),
        full=({"n": (60,), "m": (12,), "inverse_density": _CROWDING, "steps": (2000,), "seed": (0, 1, 2)},),
        hours={"small": _TINY_HOURS, "full": 0.05},
        hardware="one CPU core",
    ),
    Run(
        name="toy-finite",
        feeds="Henighan and others (2023), loss against the number of training vectors",
        function="superposition.toy.finite_data:trained_on",
        point=FinitePoint,
        small=({"n": (30,), "m": (3,), "p": (0.05,), "vectors": (10, 100), "steps": (200,), "seed": (0,)},),
        full=(
            {"n": (100,), "m": (5,), "p": (0.03,), "vectors": _VECTORS, "steps": (1500,), "seed": (10, 11, 12, 13, 14)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.05},
        hardware="one CPU core",
    ),
)  # fmt: skip
