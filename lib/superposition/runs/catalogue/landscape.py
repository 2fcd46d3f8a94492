"""Named runs of chapter 6: predicted fields beside trained ones, wide networks, pulses, the torus."""

from typing import Annotated

from pydantic import Field

from superposition.inputs import Count, Real
from superposition.runs.point import Point, Run


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
    """What `superposition.experiments.predicted_fields.one_width` takes."""

    initials: Annotated[Count, Field(ge=1)]
    samples: Annotated[Count, Field(ge=100)]


class ManyWidthPoint(_Task):
    """What `superposition.experiments.predicted_fields.many_width` and `branches` take."""

    K: Annotated[Count, Field(ge=2)]
    samples: Annotated[Count, Field(ge=100)]


class HundredPoint(_Task):
    """What `superposition.experiments.wide_networks.hundred` takes."""

    activation: str
    bias: Annotated[Real, Field()]
    scale: Annotated[Real, Field(gt=0)]
    K: Annotated[Count, Field(ge=1)]
    initials: Annotated[Count, Field(ge=1)]


class PulsePoint(Point):
    """What `superposition.experiments.wide_networks.pulse_fields` takes."""

    n: Annotated[Count, Field(ge=2, le=1000)]
    version: str
    long_low: Annotated[Count, Field(ge=1)]
    long_high: Annotated[Count, Field(ge=1)]
    short_low: Annotated[Count, Field(ge=1)]
    short_high: Annotated[Count, Field(ge=1)]
    K: Annotated[Count, Field(ge=1)]
    initials: Annotated[Count, Field(ge=1)]
    steps: Annotated[Count, Field(ge=1)]
    lr: Annotated[Real, Field(gt=0)]
    seed: Annotated[Count, Field(ge=0)]


class FrozenPoint(Point):
    """What `superposition.experiments.wide_networks.frozen_gates` takes."""

    n: Annotated[Count, Field(ge=3, le=1000)]
    xi1: Annotated[Real, Field(gt=0)]
    xi2: Annotated[Real, Field(gt=0)]
    gain: Annotated[Real, Field(ge=1e-6, le=1e6)]
    K: Annotated[Count, Field(ge=1)]
    samples: Annotated[Count, Field(ge=1)]
    iterations: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


class TorusPoint(Point):
    """What `superposition.experiments.wide_networks.torus_field` takes."""

    side: Annotated[Count, Field(ge=3, le=100)]
    xi1: Annotated[Real, Field(gt=0)]
    xi2: Annotated[Real, Field(gt=0)]
    gain: Annotated[Real, Field(ge=1e-6, le=1e6)]
    initials: Annotated[Count, Field(ge=1)]
    steps: Annotated[Count, Field(ge=1)]
    lr: Annotated[Real, Field(gt=0)]
    batch: Annotated[Count, Field(ge=2)]
    seed: Annotated[Count, Field(ge=0)]


_RING = {"n": (40,), "xi1": (2,), "xi2": (1,)}
_ONE = {"initials": (8,), "steps": (2000,), "lr": (0.5,), "batch": (4000,), "samples": (10_000,)}
_MANY = {"steps": (1500,), "lr": (0.5,), "batch": (4000,), "samples": (10_000,)}
_BRIEF = {"steps": (45,), "batch": (200,), "samples": (300,), "seed": (0,)}
_HUNDRED = {"K": (100,), "initials": (8,), "steps": (1500,), "lr": (0.5,), "batch": (500,), "gain": (3,), "seed": (0,)}
_SIGNS = {"activation": ("sigmoid", "tanh"), "bias": (-1, 1), "steps": (4000,), "lr": (0.5,)}
_RELU = {"activation": ("relu",), "bias": (0,)}
_LONG = {"long_low": (16,), "long_high": (19,), "short_low": (1,), "short_high": (4,)}
_AUTHORS = {"long_low": (9,), "long_high": (10,), "short_low": (3,), "short_high": (4,)}
_PULSES = {"n": (40,), "version": ("raw", "signed"), "initials": (2,), "steps": (4000,), "lr": (0.15,)}
_TORUS = {"side": (16,), "xi1": (2,), "xi2": (1,), "initials": (4,), "steps": (2400,), "lr": (0.3,), "batch": (2000,)}
_FROZEN = {"gain": (3,), "iterations": (300,), "seed": (0, 1)}
_FEW = {"steps": (60,), "batch": (50,)}
_OTHER = ((3, 1), (1.5, 0.75))
_WIDTHS = "superposition.experiments.predicted_fields:"
_WIDE = "superposition.experiments.wide_networks:"

RUNS = (
    Run(
        name="field-one",
        feeds="width of the field of one neuron against the gain: predicted and trained",
        function=_WIDTHS + "one_width",
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
        function=_WIDTHS + "many_width",
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
        function=_WIDTHS + "branches",
        point=ManyWidthPoint,
        small=({**_RING, **_MANY, **_BRIEF, "K": (4,), "gain": (3,)},),
        full=({**_RING, **_MANY, "K": (24,), "gain": (0.3, 0.7, 1, 3), "seed": (0, 1)},),
        hours={"small": 0.001, "full": 0.1},
        hardware="one CPU core",
    ),
    Run(
        name="field-hundred",
        feeds="width, frequency and place of the fields of a hundred neurons: three activations, both signs of bias",
        function=_WIDE + "hundred",
        point=HundredPoint,
        small=({**_RING, **_HUNDRED, **_RELU, **_FEW, "K": (4,), "initials": (2,), "scale": (1,)},),
        full=(
            {**_RING, **_HUNDRED, **_RELU, "scale": (1, 0.001)},
            {**_RING, **_HUNDRED, **_SIGNS, "scale": (1, 0.001)},
        ),
        hours={"small": 0.001, "full": 0.1},
        hardware="one CPU core",
    ),
    Run(
        name="field-pulses",
        feeds="do pulses localize: form, lengths, neurons, seeds",
        function=_WIDE + "pulse_fields",
        point=PulsePoint,
        small=({**_PULSES, **_LONG, "K": (1,), "initials": (1,), "steps": (20,), "seed": (0,)},),
        full=tuple({**_PULSES, **span, "K": (1, 8, 100), "seed": (0, 1, 2)} for span in (_LONG, _AUTHORS)),
        hours={"small": 0.001, "full": 0.03},
        hardware="one CPU core",
    ),
    Run(
        name="field-torus",
        feeds="does a field localize in both directions of a torus, and at which gain",
        function=_WIDE + "torus_field",
        point=TorusPoint,
        small=({**_TORUS, **_FEW, "side": (8,), "xi1": (1.2,), "xi2": (0.6,), "gain": (1,), "seed": (0,)},),
        full=({**_TORUS, "gain": (0.3, 0.5, 0.7, 1, 3), "seed": (0,)},),
        hours={"small": 0.001, "full": 0.05},
        hardware="one CPU core",
    ),
    Run(
        name="field-frozen",
        feeds="a ReLU network minimized on a whole sample, beside least squares behind its own gates",
        function=_WIDE + "frozen_gates",
        point=FrozenPoint,
        small=({**_RING, **_FROZEN, "K": (2,), "samples": (200,), "iterations": (20,), "seed": (0,)},),
        full=({**_RING, **_FROZEN, "K": (4, 12, 24), "samples": (1000, 4000, 16_000)},),
        hours={"small": 0.001, "full": 0.1},
        hardware="one CPU core",
    ),
)  # fmt: skip
