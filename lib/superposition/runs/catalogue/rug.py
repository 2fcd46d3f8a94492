"""Named runs of chapter 3: trained autoencoders."""

from typing import Annotated, Literal

from pydantic import Field

from superposition.inputs import Count, Real
from superposition.runs.point import Point, Run


class TrainedPoint(Point):
    """One autoencoder to train: what `superposition.experiments.autoencoders.trained_autoencoder` takes."""

    ns: Annotated[Count, Field(ge=3, le=16384)]
    p: Annotated[Real, Field(gt=0, le=1)]
    r: Annotated[Real, Field(gt=0, lt=1)]
    steps: Annotated[Count, Field(ge=1)]
    full_rate_from: Annotated[Real, Field(gt=0, le=1)]
    seed: Annotated[Count, Field(ge=0)]


class ProtocolPoint(Point):
    """One autoencoder and how to train it: what `superposition.experiments.autoencoders.trained_by` takes."""

    ns: Annotated[Count, Field(ge=3, le=16384)]
    p: Annotated[Real, Field(gt=0, le=1)]
    r: Annotated[Real, Field(gt=0, lt=1)]
    protocol: Literal["recipe", "text", "unstopped"]
    steps: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


class RatePoint(Point):
    """One autoencoder to try a rate on: what `superposition.experiments.recipe.tried_rate` takes."""

    ns: Annotated[Count, Field(ge=3, le=16384)]
    p: Annotated[Real, Field(gt=0, le=1)]
    r: Annotated[Real, Field(gt=0, lt=1)]
    shift: Annotated[Real, Field(gt=0)]
    steps: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


class TriedPoint(Point):
    """One autoencoder to try a protocol on: what `superposition.experiments.recipe.tried_protocol` takes."""

    ns: Annotated[Count, Field(ge=3, le=16384)]
    p: Annotated[Real, Field(gt=0, le=1)]
    r: Annotated[Real, Field(gt=0, lt=1)]
    protocol: Literal["recipe", "earlier", "text"]
    steps: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


_P = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5)
_R = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
_TRAINED = "superposition.experiments.autoencoders:trained_autoencoder"
_USUAL = {"steps": (2000,), "full_rate_from": (0.05,)}
_GENTLE = {**_USUAL, "full_rate_from": (1.0,)}  # where the full rate drives every output to zero
_TINY = ({"ns": (64,), "p": (0.05, 0.3), "r": (0.2, 0.5), "steps": (300,), "full_rate_from": (0.05,), "seed": (0,)},)
_TINY_HOURS = 0.005
_BY = "superposition.experiments.autoencoders:trained_by"
_TRIED = "superposition.experiments.recipe:tried_protocol"
_RECIPE, _EARLIER, _BOTH = ({"protocol": names} for names in (("recipe",), ("earlier",), ("recipe", "earlier")))
_TEXT = {"protocol": ("text",), "steps": (100_000,)}
_RATE, _SHIFTS = "superposition.experiments.recipe:tried_rate", (0.15, 0.3, 0.6, 0.85, 1.2, 1.7, 2.4)
_FROM_RARE, _FIVE = (0.002, 0.01, 0.05, 0.2, 0.5), {"seed": (2, 3, 4, 5, 6)}
_TWO = {"p": (0.05,), "r": (0.2, 0.5)}
_THIRD = {"ns": (512,), "p": (0.045,), "seed": (0,)}

RUNS = (
    Run(
        name="rug-grid",
        feeds="The Persian Rug, Figures 2 to 7 at ns = 128, 256 and 512",
        function=_TRAINED,
        point=TrainedPoint,
        small=_TINY,
        full=(
            {"ns": (128,), "p": _P, "r": _R, **_USUAL, "seed": (0, 1)},
            {"ns": (256,), "p": _P[:-2], "r": _R, **_USUAL, "seed": (0, 1)},
            {"ns": (256,), "p": (0.3,), "r": _R[:-2], **_USUAL, "seed": (0, 1)},
            {"ns": (256,), "p": (0.5,), "r": _R[:-3], **_USUAL, "seed": (0, 1)},
            {"ns": (256,), "p": (0.3,), "r": _R[-2:], **_GENTLE, "seed": (0, 1)},
            {"ns": (256,), "p": (0.5,), "r": _R[-3:], **_GENTLE, "seed": (0, 1)},
            {"ns": (128, 256), "p": (0.05, 0.3), "r": (0.2, 0.5), **_USUAL, "seed": (2, 3, 4)},
            {"ns": (512,), "p": (0.01, 0.02, 0.05, 0.2), "r": (0.1, 0.2, 0.3, 0.5, 0.9), **_USUAL, "steps": (3000,),
             "seed": (0,)},
            {"ns": (512,), "p": (0.5,), "r": (0.1, 0.2, 0.3), **_USUAL, "steps": (3000,), "seed": (0,)},
            {"ns": (512,), "p": (0.5,), "r": (0.5, 0.9), **_GENTLE, "steps": (3000,), "seed": (0,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.65},
        hardware="two CPU cores",
    ),
    Run(
        name="rug-seeds",
        feeds="The Persian Rug, Figure 2: five seeds at the default ratios of chapter 3, at ns = 256",
        function=_TRAINED,
        point=TrainedPoint,
        small=_TINY,
        full=({"ns": (256,), "p": (0.05,), "r": (0.1, 0.2, 0.3, 0.5, 0.75), **_USUAL, "seed": (0, 1, 2, 3, 4)},),
        hours={"small": _TINY_HOURS, "full": 0.02},
        hardware="one CPU core",
    ),
    Run(
        name="rug-budget",
        feeds="what half or twice the training steps change in run rug-grid, at ns = 256",
        function=_TRAINED,
        point=TrainedPoint,
        small=_TINY,
        full=(
            {"ns": (256,), "p": (0.05, 0.3), "r": (0.2, 0.5), **_USUAL, "steps": (1000, 2000, 4000), "seed": (0,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.05},
        hardware="two CPU cores",
    ),
    Run(
        name="rug-rate",
        feeds="what the learning rate changes for rare features, at ns = 128",
        function=_TRAINED,
        point=TrainedPoint,
        small=_TINY,
        full=(
            {"ns": (128,), "p": (0.01,), "r": (0.2, 0.5, 0.9), **_USUAL, "full_rate_from": (0.01, 0.05, 0.2),
             "seed": (0,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.02},
        hardware="two CPU cores",
    ),
    Run(
        name="rug-recipe",
        feeds="the recipe over sizes and sparsities, beside the protocol of older tables at the same steps",
        function=_TRIED,
        point=TriedPoint,
        small=({"ns": (32,), "p": (0.05,), "r": (0.2,), **_BOTH, "steps": (50,), "seed": (0,)},),
        full=(
            {"ns": (64,), "p": _FROM_RARE, "r": (0.2, 0.9), **_RECIPE, "steps": (1000,), **_FIVE},
            {"ns": (64,), "p": _FROM_RARE, "r": (0.2, 0.9), **_EARLIER, "steps": (1000,), "seed": (2, 3)},
            {"ns": (256,), "p": _FROM_RARE, "r": (0.2, 0.9), **_RECIPE, "steps": (400,), **_FIVE},
            {"ns": (256,), "p": _FROM_RARE, "r": (0.2, 0.9), **_EARLIER, "steps": (400,), "seed": (2, 3)},
            {"ns": (1024,), "p": _FROM_RARE[::2], "r": (0.2, 0.9), **_RECIPE, "steps": (300,), "seed": (2,)},
            {"ns": (1024,), "p": (0.002,), "r": (0.2,), **_EARLIER, "steps": (300,), "seed": (2,)},
            {"ns": (4096,), "p": _FROM_RARE[::2], "r": (0.2,), **_RECIPE, "steps": (60,), "seed": (2,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.5},
        hardware="one CPU core",
    ),
    Run(
        name="rug-corners",
        feeds="the recipe at large sizes and ratios, where its rate is nearest to the edge",
        function=_TRIED,
        point=TriedPoint,
        small=({"ns": (32,), "p": (0.05,), "r": (0.5,), **_RECIPE, "steps": (40,), "seed": (0,)},),
        full=(
            {"ns": (4096,), "p": (0.05,), "r": (0.5,), **_RECIPE, "steps": (30,), "seed": (2, 3)},
            {"ns": (4096,), "p": (0.05,), "r": (0.9,), **_RECIPE, "steps": (30,), "seed": (2,)},
            {"ns": (2048,), "p": (0.05,), "r": (0.9,), **_RECIPE, "steps": (30,), "seed": (2, 3)},
            {"ns": (1024,), "p": (0.2,), "r": (0.5, 0.9), **_RECIPE, "steps": (40,), "seed": (4, 5)},
            {"ns": (2048,), "p": (0.2,), "r": (0.9,), **_RECIPE, "steps": (40,), "seed": (4, 5)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.2},
        hardware="one CPU core",
    ),
    Run(
        name="rug-edge",
        feeds="from which learning rate on the outputs of an autoencoder go to zero within a few steps",
        function=_RATE,
        point=RatePoint,
        small=({"ns": (32,), "p": (0.05,), "r": (0.5,), "shift": (0.6, 2.4), "steps": (20,), "seed": (0,)},),
        full=(
            {"ns": (128, 512), "p": (0.01, 0.05, 0.2), "r": (0.1, 0.5, 0.9), "shift": _SHIFTS, "steps": (20,),
             "seed": (2, 3)},
            {"ns": (1024,), "p": (0.05,), "r": (0.1, 0.5, 0.9), "shift": _SHIFTS, "steps": (20,), "seed": (2, 3)},
            {"ns": (2048,), "p": (0.05,), "r": (0.5, 0.9), "shift": _SHIFTS[2::2], "steps": (20,), "seed": (2,)},
            {"ns": (4096,), "p": (0.05,), "r": (0.5,), "shift": _SHIFTS[2:5:2], "steps": (20,), "seed": (2,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.2},
        hardware="one CPU core",
    ),
    Run(
        name="rug-sizes",
        feeds="The Persian Rug, Figure 2: trained loss against ns, the sizes and seeds that other runs lack",
        function=_BY,
        point=ProtocolPoint,
        small=({"ns": (32, 64), **_TWO, **_RECIPE, "steps": (300,), "seed": (0,)},),
        full=(
            {"ns": (64,), **_TWO, **_RECIPE, "steps": (2000,), "seed": (0, 2, 4)},
            {"ns": (512,), **_TWO, **_RECIPE, "steps": (4000,), "seed": (1, 2, 3, 4)},
            {"ns": (64,), **_TWO, **_TEXT, "seed": (0, 1, 2, 3, 4)},
            {"ns": (512,), **_TWO, **_TEXT, "r": (0.2,), "seed": (2, 3, 4)},
            {"ns": (256,), **_TWO, **_TEXT, "r": (0.5,), "seed": (0, 1, 2, 3, 4)},
            {"ns": (512,), **_TWO, **_TEXT, "r": (0.5,), "seed": (0, 1)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.05},
        hardware="one CPU core",
    ),
    Run(
        name="rug-sizes-recipe",
        feeds="The Persian Rug, Figure 2: trained loss against ns by the recipe",
        function=_TRIED,
        point=TriedPoint,
        small=({"ns": (32, 64), **_TWO, **_RECIPE, "steps": (300,), "seed": (0,)},),
        full=(
            {"ns": (64, 128, 256, 512, 1024), **_TWO, **_RECIPE, "steps": (2000,), **_FIVE},
            {"ns": (2048,), **_TWO, "r": (0.2,), **_RECIPE, "steps": (2000,), "seed": (2,)},
        ),
        hours={"small": _TINY_HOURS, "full": 1.0},
        hardware="one CPU core",
    ),
    Run(
        name="rug-sizes-longer",
        feeds="The Persian Rug, Figure 2: whether the rise with ns is one of the steps, twice as many by the recipe",
        function=_TRIED,
        point=TriedPoint,
        small=({"ns": (32,), **_TWO, **_RECIPE, "steps": (600,), "seed": (0,)},),
        full=(
            {"ns": (512, 1024), **_TWO, "r": (0.2,), **_RECIPE, "steps": (4000,), "seed": (2, 3, 4)},
            {"ns": (1024,), **_TWO, "r": (0.5,), **_RECIPE, "steps": (4000,), "seed": (2, 3, 4)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.5},
        hardware="one CPU core",
    ),
    Run(
        name="rug-figure3",
        feeds="The Persian Rug, Figure 3: diagonal and bias over ratio, stopping step and protocol",
        function=_BY,
        point=ProtocolPoint,
        small=({"ns": (64,), "p": (0.045,), "r": (0.2, 0.3), **_RECIPE, "steps": (300,), "seed": (0,)},),
        full=(
            {**_THIRD, "r": (0.275, 0.2875, 0.3), **_RECIPE, "steps": (500, 1000, 2000)},
            {**_THIRD, "r": (0.275,), **_RECIPE, "steps": (700,), "seed": (0, 1, 2)},
            {**_THIRD, "r": (0.3, 0.35), "protocol": ("unstopped",), "steps": (2000,)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.02},
        hardware="one CPU core",
    ),
    Run(
        name="rug-grid-large",
        feeds="The Persian Rug, Figures 4 to 7 at ns = 2048 and 8192",
        function=_TRAINED,
        point=TrainedPoint,
        small=_TINY,
        full=(
            {"ns": (2048,), "p": _P, "r": _R, **_USUAL, "steps": (8000,), "seed": (0,)},
            {"ns": (8192,), "p": _P, "r": (0.2,), **_USUAL, "steps": (8000,), "seed": (0,)},
            {"ns": (8192,), "p": (0.05,), "r": _R, **_USUAL, "steps": (8000,), "seed": (0,)},
        ),
        hours={"small": _TINY_HOURS, "full": 3.0},
        hardware="one GPU of the data-centre kind with 40 GiB or more (an estimate: not run yet)",
    ),
)  # fmt: skip
