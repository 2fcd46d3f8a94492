"""Named runs of the page on the best codes below r = 1/2: searched tiles, ablations, the price, training, records."""

from typing import Annotated

from pydantic import Field

from superposition.inputs import Count, Real
from superposition.runs.point import Point, Run


class TilePoint(Point):
    """What `superposition.experiments.best_codes.searched_tile` takes."""

    m: Annotated[Count, Field(ge=2)]
    B: Annotated[Count, Field(ge=4)]
    p: Annotated[Real, Field(gt=0, le=1)]
    starts: Annotated[Count, Field(ge=4)]
    kept: Annotated[Count, Field(ge=1)]
    steps: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


class AblatedPoint(Point):
    """What `superposition.experiments.best_codes.ablated_autoencoder` takes."""

    ns: Annotated[Count, Field(ge=3, le=16384)]
    p: Annotated[Real, Field(gt=0, le=1)]
    r: Annotated[Real, Field(gt=0, lt=1)]
    steps: Annotated[Count, Field(ge=1)]
    samples: Annotated[Count, Field(ge=2)]
    seed: Annotated[Count, Field(ge=0)]


class PricedPoint(Point):
    """What `superposition.experiments.best_codes.priced_code` takes."""

    kind: str
    budget: str
    strength: Annotated[Real, Field(gt=0)]
    p: Annotated[Real, Field(gt=0, le=1)]
    samples: Annotated[Count, Field(ge=2)]
    seed: Annotated[Count, Field(ge=0)]


class SizedPoint(Point):
    """What `superposition.experiments.best_codes.sized_tile` takes."""

    m: Annotated[Count, Field(ge=2)]
    B: Annotated[Count, Field(ge=4)]
    p: Annotated[Real, Field(gt=0, le=1)]
    steps: Annotated[Count, Field(ge=1)]
    copies: Annotated[Count, Field(ge=2)]
    seed: Annotated[Count, Field(ge=0)]


class LedPoint(Point):
    """What `superposition.experiments.best_codes.led_network` takes."""

    method: str
    ratio: Annotated[Real, Field(ge=1)]
    ns: Annotated[Count, Field(ge=4)]
    nd: Annotated[Count, Field(ge=2)]
    p: Annotated[Real, Field(gt=0, le=1)]
    steps: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


class RecordPoint(Point):
    """What `superposition.experiments.best_codes.recorded_code` takes."""

    name: str
    p: Annotated[Real, Field(gt=0, lt=1)]


_HERE = "superposition.experiments.best_codes:"
_SIZES = {
    2: (4, 5, 6, 8, 10, 13),
    3: (7, 8, 10, 12, 15, 20),
    4: (9, 11, 13, 16, 20, 26),
    5: (11, 14, 17, 20, 25, 33),
    6: (13, 17, 21, 24, 30, 40),
}
_FIVE = {"seed": (0, 1, 2, 3, 4)}
_WHERE = {"p": (0.05,), "r": (0.2,)}
_SEARCH = {"p": (0.05, 0.01), "starts": (64,), "kept": (8,), "steps": (3000,), "seed": (0,)}
_SMALL = {"kind": ("fan", "cone", "graph"), "p": (0.05,), "samples": (50_000,), "seed": (0,)}
_LARGE = {"kind": ("antipodal", "rug"), "p": (0.05,), "samples": (5_000,), "seed": (0,)}
_STRENGTHS = {
    "noise": (1e-8, 1e-7, 1e-6, 1e-5, 3e-5, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.2),
    "digits": (16, 32, 64),
    "decay": (1e-9, 1e-8, 1e-7, 3e-7, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3),
    "bound": (10, 30, 100, 300, 1000, 1e4, 1e5, 1e6),
}
_FIFTH = {"p": (0.05,), "copies": (5,), "seed": (0,)}  # r = 1/5, five networks of each size
_DENSE = ("plain", "softplus", "sparse encoder", "unequal")
_RECORDS = {
    0.05: ("tile-2-5-p0.05", "tile-2-6-p0.05", "tile-3-7-p0.05", "tile-4-9-p0.05", "tile-5-11-p0.05"),
    0.01: ("tile-2-5-p0.01", "tile-2-6-p0.01", "tile-3-7-p0.01"),
}
_LED = {"ns": (256,), "nd": (51,), "p": (0.05,)}

RUNS = (
    Run(
        name="rug-tiles",
        feeds="the best small tiles that descent finds, with their weights",
        function=_HERE + "searched_tile",
        point=TilePoint,
        small=({"m": (2,), "B": (4,), "p": (0.05,), "starts": (8,), "kept": (1,), "steps": (200,), "seed": (0,)},),
        full=tuple({"m": (m,), "B": sizes, **_SEARCH} for m, sizes in _SIZES.items()),
        hours={"small": 0.002, "full": 0.2},
        hardware="one CPU core",
    ),
    Run(
        name="rug-tiles-rare",
        feeds="the same for features that are on once in a thousand vectors",
        function=_HERE + "searched_tile",
        point=TilePoint,
        small=({"m": (2,), "B": (4,), "p": (0.001,), "starts": (8,), "kept": (1,), "steps": (200,), "seed": (0,)},),
        full=tuple({"m": (m,), "B": sizes, **_SEARCH, "p": (0.001,)} for m, sizes in _SIZES.items()),
        hours={"small": 0.002, "full": 0.1},
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
    Run(
        name="rug-tile-sizes",
        feeds="loss against size at one ratio: small networks and large ones, at one budget a feature and at ten",
        function=_HERE + "sized_tile",
        point=SizedPoint,
        small=({"m": (2,), "B": (10,), **_FIFTH, "steps": (50,)},),
        full=(
            *({"m": (B // 5,), "B": (B,), **_FIFTH, "steps": (2000,)} for B in (10, 20, 40, 80, 160)),
            *({"m": (B // 5,), "B": (B,), **_FIFTH, "steps": (20_000,)} for B in (10, 20, 40)),
        ),
        hours={"small": 0.001, "full": 0.05},
        hardware="one CPU core",
    ),
    Run(
        name="rug-tile-sizes-large",
        feeds="the same for larger sizes",
        function=_HERE + "sized_tile",
        point=SizedPoint,
        small=({"m": (2,), "B": (10,), **_FIFTH, "steps": (50,)},),
        full=(
            {"m": (64,), "B": (320,), **_FIFTH, "steps": (2000,)},
            {"m": (102,), "B": (512,), **_FIFTH, "steps": (2000,)},
            *(
                {"m": (m,), "B": (B,), **_FIFTH, "steps": (20_000,)}
                for m, B in ((16, 80), (32, 160), (64, 320), (102, 512))
            ),
        ),
        hours={"small": 0.001, "full": 0.5},
        hardware="one CPU core",
    ),
    Run(
        name="rug-crystal",
        feeds="can training be led to loud and quiet codes: blocks imposed, dense starts, fans as the start",
        function=_HERE + "led_network",
        point=LedPoint,
        small=({"method": ("plain", "blocks"), "ratio": (1,), "ns": (40,), "nd": (20,), "p": (0.05,), "steps": (20,),
                "seed": (0,)},),
        full=(
            {"method": ("blocks",), "ratio": (1,), **_LED, "steps": (3000,), **_FIVE},
            {"method": _DENSE, "ratio": (1,), **_LED, "steps": (1000,), **_FIVE},
            {"method": ("fans",), "ratio": (4,), **_LED, "steps": (1000,), **_FIVE},
        ),
        hours={"small": 0.001, "full": 0.2},
        hardware="one CPU core",
    ),
    Run(
        name="rug-crystal-ways",
        feeds="the same by more ways: pruned and growing dense starts; cones and trained tiles as the start",
        function=_HERE + "led_network",
        point=LedPoint,
        small=({"method": ("growing", "cones"), "ratio": (1,), "ns": (40,), "nd": (20,), "p": (0.05,), "steps": (20,),
                "seed": (0,)},),
        full=(
            {"method": ("cones",), "ratio": (2,), **_LED, "steps": (1000,), **_FIVE},
            {"method": ("growing",), "ratio": (1,), **_LED, "steps": (2500,), **_FIVE},
            {"method": ("tiles",), "ratio": (1,), **_LED, "steps": (500,), **_FIVE},
            {"method": ("pruned",), "ratio": (1,), **_LED, "steps": (1000,), **_FIVE},
        ),
        hours={"small": 0.001, "full": 0.2},
        hardware="one CPU core",
    ),
    Run(
        name="rug-records",  # to submit a code: its file into book/data/records, its name here, and this run's table
        feeds="the table of records: codes that beat the best known",
        function=_HERE + "recorded_code",
        point=RecordPoint,
        small=({"name": ("tile-2-5-p0.05",), "p": (0.05,)},),
        full=tuple({"name": names, "p": (p,)} for p, names in _RECORDS.items()),
        hours={"small": 0.001, "full": 0.005},
        hardware="one CPU core",
    ),
)  # fmt: skip
