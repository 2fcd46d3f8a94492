"""Named runs of chapter 6: localization of single neurons and small networks."""

from typing import Annotated

from pydantic import Field

from superposition.inputs import Count, Real
from superposition.runs.point import Point, Run


class _Field(Point):
    """What the runs of chapter 6 share: ring, correlation lengths and seed."""

    n: Annotated[Count, Field(ge=3, le=1000)]
    xi1: Annotated[Real, Field(gt=0)]
    xi2: Annotated[Real, Field(gt=0)]
    seed: Annotated[Count, Field(ge=0)]


class _TrainedField(_Field):
    """Networks to train, several initial weights side by side."""

    initials: Annotated[Count, Field(ge=1)]
    steps: Annotated[Count, Field(ge=1)]
    lr: Annotated[Real, Field(gt=0)]
    batch: Annotated[Count, Field(ge=2)]


class LocalizationPoint(_TrainedField):
    """What `superposition.experiments.trained_fields.localization` takes."""

    gain: Annotated[Real, Field(ge=1e-6, le=1e6)]
    law: str
    K: Annotated[Count, Field(ge=1)]


class LocationPoint(_TrainedField):
    """What `superposition.experiments.trained_fields.location` takes."""

    gain: Annotated[Real, Field(ge=1e-6, le=1e6)]
    scale: Annotated[Real, Field(gt=0)]


class OnsetPoint(_TrainedField):
    """What `superposition.experiments.trained_fields.onset` takes."""

    fraction: Annotated[Real, Field(gt=0)]
    law: str


class CriticalPoint(_Field):
    """What `superposition.experiments.trained_fields.critical_point` takes."""

    samples: Annotated[Count, Field(ge=100)]


class BiasPoint(_TrainedField):
    """What `superposition.experiments.trained_fields.bias_sign` takes."""

    gain: Annotated[Real, Field(ge=1e-6, le=1e6)]
    activation: str
    bias: Annotated[Real, Field()]
    K: Annotated[Count, Field(ge=1)]


class FlipsPoint(_TrainedField):
    """What `superposition.experiments.trained_fields.sign_flips` takes."""

    gain: Annotated[Real, Field(ge=1e-6, le=1e6)]
    K: Annotated[Count, Field(ge=1)]
    keep_every: Annotated[Count, Field(ge=1)]


_RING = {"n": (40,), "xi1": (2,), "xi2": (1,)}
_GAINS = (0.01, 0.3, 1, 3, 10)
_SEEDS = (0, 1, 2)
_K1 = {"K": (1,), "initials": (16,), "steps": (1000,), "lr": (0.5,), "batch": (4000,)}
_K12 = {"K": (12,), "initials": (4,), "steps": (1500,), "lr": (6,), "batch": (2000,)}
_LAWS = ("nlgp", "clone")
_WHERE = {"initials": (100,), "steps": (800,), "lr": (0.25,), "batch": (4000,)}
_ONSET = {"initials": (4,), "steps": (2500,), "lr": (0.3,), "batch": (8000,), "seed": (0,)}
_BIAS = {"gain": (3,), "K": (8,), "initials": (4,), "steps": (6000,), "lr": (1,), "batch": (2000,), "seed": (0,)}
_CAPTION = {"K": (12,), "initials": (1,), "steps": (5000,), "lr": (0.01,), "batch": (10000,), "keep_every": (20,)}
_TRAINS = {**_CAPTION, "steps": (4000,), "lr": (2,), "batch": (4000,)}
_BRIEF = {"initials": (2,), "steps": (60,), "batch": (200,), "seed": (0,)}
_FIELDS = "superposition.experiments.trained_fields:"

RUNS = (
    Run(
        name="field-gain",
        feeds="localization of ReLU networks with 1 and 12 neurons against the gain, beside Gaussian clones",
        function=_FIELDS + "localization",
        point=LocalizationPoint,
        small=({**_RING, **_K1, **_BRIEF, "gain": (0.01, 3), "law": _LAWS},),
        full=(
            {**_RING, **_K1, "gain": _GAINS, "law": ("nlgp",), "seed": _SEEDS},
            {**_RING, **_K12, "gain": _GAINS, "law": ("nlgp",), "seed": _SEEDS},
            {**_RING, **_K1, "gain": (3,), "law": ("clone",), "seed": _SEEDS},
            {**_RING, **_K12, "gain": (3,), "law": ("clone",), "seed": _SEEDS},
        ),
        hours={"small": 0.001, "full": 0.05},
        hardware="one CPU core",
    ),
    Run(
        name="field-where",
        feeds="where a single neuron localizes, and what the initial weights foretell of it",
        function=_FIELDS + "location",
        point=LocationPoint,
        small=({**_RING, **_WHERE, **_BRIEF, "gain": (3,), "scale": (1,)},),
        full=({**_RING, **_WHERE, "gain": (3,), "scale": (1, 0.001), "seed": _SEEDS},),
        hours={"small": 0.001, "full": 0.05},
        hardware="one CPU core",
    ),
    Run(
        name="field-onset",
        feeds="single neurons trained below and above the critical gain, beside Gaussian clones",
        function=_FIELDS + "onset",
        point=OnsetPoint,
        small=({**_RING, **_ONSET, **_BRIEF, "fraction": (0.5, 2), "law": _LAWS},),
        full=({**_RING, **_ONSET, "fraction": (0.5, 1.2, 1.8), "law": _LAWS, "seed": _SEEDS},),
        hours={"small": 0.001, "full": 0.04},
        hardware="one CPU core",
    ),
    Run(
        name="field-critical",
        feeds="the critical gain of a single neuron by formula and by Monte Carlo",
        function=_FIELDS + "critical_point",
        point=CriticalPoint,
        small=({**_RING, "samples": (2000,), "seed": (0,)},),
        full=(
            {"n": (20, 40, 80), "xi1": (2,), "xi2": (1,), "samples": (40_000,), "seed": (0,)},
        ),
        hours={"small": 0.001, "full": 0.03},
        hardware="one CPU core",
    ),
    Run(
        name="field-bias",
        feeds="the sign of the hidden bias decides what erf and sigmoid networks localize on",
        function=_FIELDS + "bias_sign",
        point=BiasPoint,
        small=({**_RING, **_BIAS, **_BRIEF, "activation": ("erf",), "bias": (-1, 1)},),
        full=(
            {**_RING, **_BIAS, "activation": ("erf", "sigmoid"), "bias": (-1, 1)},
            {**_RING, **_BIAS, "xi1": (1,), "xi2": (2,), "activation": ("erf", "sigmoid"), "bias": (-1, 1)},
        ),
        hours={"small": 0.001, "full": 0.03},
        hardware="one CPU core",
    ),
    Run(
        name="field-flips",
        feeds="the notes on localization, Figure 3, at its caption's settings and at settings that train",
        function=_FIELDS + "sign_flips",
        point=FlipsPoint,
        small=({**_RING, **_CAPTION, **_BRIEF, "gain": (3,)},),
        full=(
            {**_RING, **_CAPTION, "gain": (0.01, 3), "seed": (0, 1)},
            {**_RING, **_TRAINS, "gain": (0.01, 3), "seed": (0, 1)},
        ),
        hours={"small": 0.001, "full": 0.05},
        hardware="one CPU core",
    ),
)  # fmt: skip
