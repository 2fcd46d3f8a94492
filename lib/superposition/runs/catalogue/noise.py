"""Named runs of chapter 5: networks under noise."""

from typing import Annotated

from pydantic import Field

from superposition.inputs import Count, Real
from superposition.runs.point import Point, Run

_LAW = r"^(bipolar|uniform|normal|laplace|discrete:-?[0-9.]+|four:-?[0-9.]+:-?[0-9.]+)$"


class NoisePoint(Point):
    """Autoencoders under noise: what `superposition.experiments.noisy_networks.trained_under_noise` takes."""

    law_name: Annotated[str, Field(pattern=_LAW)]
    sigma: Annotated[Real, Field(ge=0)]
    n: Annotated[Count, Field(ge=2, le=64)]
    m: Annotated[Count, Field(ge=1, le=256)]
    eta: Annotated[Real, Field(gt=0, lt=1)]
    steps: Annotated[Count, Field(ge=200)]
    lambda_: Annotated[Real, Field(ge=0)]
    noise: Annotated[str, Field(pattern="^(shared|independent)$")]
    draws: Annotated[Count, Field(ge=1)]
    relu: bool
    instances: Annotated[Count, Field(ge=2)]
    seed: Annotated[Count, Field(ge=0)]


class DescentPoint(Point):
    """Training against descent: what `superposition.experiments.noise_descent.descended_and_trained` takes."""

    law_name: Annotated[str, Field(pattern=_LAW)]
    sigma: Annotated[Real, Field(ge=0)]
    n: Annotated[Count, Field(ge=2, le=64)]
    m: Annotated[Count, Field(ge=1, le=32)]
    eta: Annotated[Real, Field(gt=0, lt=1)]
    descent_eta: Annotated[Real, Field(gt=0, lt=0.25)]
    until: Annotated[Real, Field(gt=10)]
    level: Annotated[Real, Field(gt=0, lt=1)]
    instances: Annotated[Count, Field(ge=2)]
    seed: Annotated[Count, Field(ge=0)]


_NOISE = "superposition.experiments.noisy_networks:trained_under_noise"
_BIPOLAR = {
    "law_name": ("bipolar",),
    "lambda_": (0.0,),
    "noise": ("shared",),
    "draws": (1,),
    "relu": (True,),
    "seed": (0,),
}
_FIG = {**_BIPOLAR, "n": (8,), "m": (16,), "eta": (0.02,), "steps": (10**5,), "instances": (24,)}  # the public code's
_QUICK = ({**_FIG, "sigma": (0.1, 0.15), "steps": (4000,), "instances": (4,)},)
_SIGMAS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6)
_LAMBDAS = (0.001, 0.003, 0.01, 0.1, 0.3, 0.6, 1.0, 1.5, 1.55)
_COUNTED = {**_FIG, "sigma": (0.1,)}
_SIXTH = {
    **_BIPOLAR,
    "law_name": ("four:-1:4", "four:-1:28", "four:-0.3:-3.2", "four:-0.3:36", "four:0.3:-8.6"),
    "noise": ("shared", "independent"),
    "eta": (0.02,),
    "steps": (2 * 10**5,),
    "instances": (32,),
}
_DESCENT = {"law_name": ("bipolar",), "eta": (0.02,), "descent_eta": (0.15,), "level": (0.3,), "seed": (0,)}
_TINY_HOURS = 0.005

RUNS = (
    Run(
        name="noise-million",
        feeds="Incidental Polysemanticity, Figure 6: a million steps",
        function=_NOISE,
        point=NoisePoint,
        small=_QUICK,
        full=(
            {**_FIG, "sigma": (0.01, 0.1, 0.05, 0.06, 0.03), "steps": (10**6,)},
            {**_FIG, "sigma": (0.01,), "steps": (10**6,), "eta": (0.2,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.35},
        hardware="one core of a busy two-core machine",
    ),
    Run(
        name="noise-figures",
        feeds="Incidental Polysemanticity, Figures 4 and 5",
        function=_NOISE,
        point=NoisePoint,
        small=_QUICK,
        full=(
            {**_FIG, "sigma": _SIGMAS},
            {**_FIG, "law_name": ("normal",), "sigma": (0.07, 0.1, 0.15)},
            {**_FIG, "sigma": (0.0,), "lambda_": _LAMBDAS},
        ),
        hours={"small": _TINY_HOURS, "full": 0.15},
        hardware="one core of a busy two-core machine",
    ),
    Run(
        name="noise-eta",
        feeds="Incidental Polysemanticity, section 3: learning rates at fixed eta t; Figure 5 at small ones",
        function=_NOISE,
        point=NoisePoint,
        small=_QUICK,
        full=(
            *({**_FIG, "sigma": (0.1,), "eta": (eta,), "steps": (round(800 / eta),)}
              for eta in (0.0025, 0.005, 0.01, 0.02, 0.04)),
            {**_FIG, "sigma": (0.1,), "steps": (40_000,), "draws": (16,)},
            {**_FIG, "sigma": (0.1,), "steps": (40_000,), "noise": ("independent",), "draws": (1, 4)},
            {**_FIG, "sigma": (0.1,), "relu": (False,)},
            {**_FIG, "sigma": (0.3, 0.4, 0.5), "eta": (0.005,), "steps": (400_000,)},
            {**_FIG, "sigma": (0.3,), "eta": (0.0025,), "steps": (800_000,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.15},
        hardware="one core of a busy two-core machine",
    ),
    Run(
        name="noise-laws",
        feeds="Incidental Polysemanticity, section 3: eight noise laws; near-simplices and counts by size",
        function=_NOISE,
        point=NoisePoint,
        small=_QUICK,
        full=(
            {**_FIG, "law_name": ("bipolar", "uniform", "normal", "laplace", "discrete:-1", "discrete:-0.5",
                                  "discrete:0", "discrete:3"),
             "sigma": (0.1,), "noise": ("independent",)},
            *({**_COUNTED, "n": (n,), "m": (m,)}
              for n, m in ((4, 8), (6, 12), (8, 8), (12, 24), (16, 32))),
            *({**_COUNTED, "n": (n,), "m": (m,), "sigma": (0.0,), "lambda_": (0.03,)}
              for n, m in ((8, 8), (8, 16), (16, 32))),
        ),
        hours={"small": _TINY_HOURS, "full": 0.15},
        hardware="one core of a busy two-core machine",
    ),
    Run(
        name="noise-rate",
        feeds="Incidental Polysemanticity, section 3: what the noise of the steps costs, by learning rate",
        function=_NOISE,
        point=NoisePoint,
        small=_QUICK,
        full=tuple(
            {**_FIG, "sigma": (0.2,), "eta": (eta,), "steps": (round(80 / eta),), "instances": (512,), "seed": seeds}
            for eta, seeds in ((0.0025, (2,)), (0.005, (1, 2)), (0.01, (1, 2)), (0.02, (1, 2)))
        ),
        hours={"small": _TINY_HOURS, "full": 0.05},
        hardware="one core of a busy two-core machine",
    ),
    Run(
        name="noise-rows",
        feeds="Incidental Polysemanticity, Figure 6: near-simplices at another seed, and a size not seen before",
        function=_NOISE,
        point=NoisePoint,
        small=_QUICK,
        full=tuple({**_COUNTED, "n": (n,), "m": (m,), "seed": (1,)} for n, m in ((8, 8), (8, 16), (10, 20), (12, 24))),
        hours={"small": _TINY_HOURS, "full": 0.03},
        hardware="one core of a busy two-core machine",
    ),
    Run(
        name="noise-sixth",
        feeds="Incidental Polysemanticity, section 3: laws of one kurtosis and different sixth cumulants",
        function=_NOISE,
        point=NoisePoint,
        small=({**_SIXTH, "n": (6,), "m": (8,), "sigma": (0.09,), "noise": ("shared",), "steps": (4000,),
                "instances": (4,)},),
        full=(
            {**_SIXTH, "n": (6,), "m": (8,), "sigma": (0.09,)},
            {**_SIXTH, "n": (8,), "m": (16,), "sigma": (0.065,)},
            {**_SIXTH, "n": (6,), "m": (8,), "sigma": (0.09,), "noise": ("shared",), "seed": (1,)},
            {**_SIXTH, "n": (8,), "m": (16,), "sigma": (0.065,), "noise": ("shared",), "seed": (1,)},
            {**_SIXTH, "law_name": ("four:-1:28",), "n": (6,), "m": (8,), "sigma": (0.08, 0.1, 0.11, 0.12, 0.14),
             "noise": ("shared",)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.15},
        hardware="one core of a busy two-core machine",
    ),
    Run(
        name="noise-descent",
        feeds="Incidental Polysemanticity, section 4: time to f = 0.3 by descent on the expected loss, and by training",
        function="superposition.experiments.noise_descent:descended_and_trained",
        point=DescentPoint,
        small=({**_DESCENT, "sigma": (0.2,), "n": (8,), "m": (16,), "until": (80.0,), "instances": (2,)},),
        full=tuple(
            {**_DESCENT, "n": (8,), "m": (16,), "sigma": (s,), "eta": (eta,), "until": (until,), "instances": (12,)}
            for s, eta, until in ((0.2, 0.005, 80.0), (0.2, 0.02, 80.0), (0.15, 0.02, 80.0), (0.1, 0.02, 250.0))
        ),
        hours={"small": _TINY_HOURS, "full": 0.04},
        hardware="one core of a busy two-core machine",
    ),
    Run(
        name="noise-descent-more",
        feeds="the same at another size of the noise",
        function="superposition.experiments.noise_descent:descended_and_trained",
        point=DescentPoint,
        small=({**_DESCENT, "sigma": (0.2,), "n": (8,), "m": (16,), "until": (80.0,), "instances": (2,)},),
        full=({**_DESCENT, "n": (8,), "m": (16,), "sigma": (0.12,), "until": (150.0,), "instances": (12,)},),
        hours={"small": _TINY_HOURS, "full": 0.02},
        hardware="one core of a busy two-core machine",
    ),
)  # fmt: skip
