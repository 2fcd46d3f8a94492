"""Codes below r = 1/2: searched tiles, tiles of one ratio by size, the price of a code, and the table of records.

All run on the CPU: the networks are small.
"""

from __future__ import annotations

from functools import partial
from importlib import resources
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from superposition import checks
from superposition.experiments.shared import DIMENSIONS, FEATURES, LOSS, Probability, Seed
from superposition.inputs import Count, Real
from superposition.runs.point import Meaning, Point, Run


class _Tile(Point):
    m: Annotated[Count, Field(ge=2), Meaning("dimensions", "dimensions of the tile")]
    B: Annotated[Count, Field(ge=4), Meaning("features", "features of the tile; r = m / B")]
    p: Probability
    seed: Seed


class TilePoint(_Tile):
    """What `searched_tile` takes."""

    starts: Annotated[Count, Field(ge=4), Meaning("copies", "starts that were screened")]
    kept: Annotated[Count, Field(ge=1), Meaning("copies", "starts that were refined")]
    steps: Annotated[Count, Field(ge=1), Meaning("steps", "steps of the long descent")]


class SizedPoint(_Tile):
    """What `sized_tile` takes."""

    steps: Annotated[Count, Field(ge=1), Meaning("steps", "training steps of 256 feature vectors")]
    copies: Annotated[Count, Field(ge=2), Meaning("networks", "networks, each from random weights of its own")]


class PricedPoint(Point):
    """What `priced_code` takes."""

    kind: Annotated[
        str, Meaning("fan, cone, graph, antipodal, rug", "the code; the graph tile has r = 0.23, the others 1/5")
    ]
    budget: Annotated[
        str,
        Meaning(
            "noise, digits, decay, bound",
            "what limits it: hidden noise, bits of a number, weight decay, a bound on the weights",
        ),
    ]
    strength: Annotated[
        Real,
        Field(gt=0),
        Meaning(
            "above 0",
            "noise: its sigma beside an encoder whose longest column is 1; digits: bits; decay: lambda of "
            "lambda (|W_in|^2 + |W_out|^2)/n; bound: largest weight",
        ),
    ]
    p: Probability
    samples: Annotated[
        Count,
        Field(ge=2),
        Meaning("feature vectors", "feature vectors that measure; as many others choose the loudness"),
    ]
    seed: Seed


class RecordPoint(Point):
    """What `recorded_code` takes."""

    name: Annotated[str, Meaning("text", "name of the file in records/, without its ending")]
    p: Annotated[Real, Field(gt=0, lt=1), Meaning("(0, 1)", "probability that a feature is on")]


def searched_tile(
    *, m: int, B: int, p: float, starts: int, kept: int, steps: int, seed: int, device: str = "cpu"
) -> dict[str, float | str]:
    """Search for the best code of B features in m dimensions."""
    from superposition import weights
    from superposition.codes import tile_search
    from superposition.rug import meanfield

    found = tile_search.search(m, B, p, starts=starts, kept=kept, steps=steps, seed=seed)
    rug = float(meanfield.optimum(p, m / B).loss)
    screened, quarter = found["screened"], starts // 4
    kinds = {"fan": screened[:quarter], "unequal": screened[quarter : starts // 2], "random": screened[starts // 2 :]}
    return {
        "loss": found["loss"],
        "loss_se": found["loss_se"],
        "over_rug": found["loss"] / rug,
        "start": found["start"],
        **{f"{kind}_screened": min(losses) / rug for kind, losses in kinds.items()},
        "weights": weights.packed(found["W_in"], found["W_out"], found["b"]),
    }


def sized_tile(
    *, m: int, B: int, p: float, steps: int, copies: int, seed: int, device: str = "cpu"
) -> dict[str, float]:
    """Train some networks of one size from random weights, side by side on the same feature vectors."""
    from superposition.codes import dense_training, tile_search
    from superposition.devices import torch
    from superposition.rug import meanfield

    generator = torch.Generator().manual_seed(checks.whole("seed", seed, 0))
    codes = dense_training.random_tiles(m, B, p, checks.whole("copies", copies, 2), steps=steps, generator=generator)
    found = [tile_search.measured_loss(*code, p, samples=2_000_000 // B, seed=seed + 1) for code in codes]
    losses, errors = np.transpose(found) / float(meanfield.optimum(p, m / B).loss)
    return {
        "best": float(losses.min()),
        "mean": float(losses.mean()),
        "spread": float(losses.std(ddof=1)),
        "se": float(errors.max()),
    }


def priced_code(
    *, kind: str, budget: str, strength: float, p: float, samples: int, seed: int, device: str = "cpu"
) -> dict[str, float]:
    """Loss of one kind of code under one budget, at the ratio of loudness that suits it."""
    from superposition.codes.budgets import candidates, under_budget
    from superposition.rug import meanfield

    found = under_budget(budget, strength, kind, p, samples=samples, seed=seed)
    nd, ns = candidates(kind, p)[0].code.W_in.shape
    rug = float(meanfield.optimum(p, nd / ns).loss)
    return {
        "r": nd / ns,
        "loudness": found.ratio,
        "over_rug": found.loss / rug,
        "total_over_rug": (found.loss + found.costs) / rug,
    }


def recorded_code(*, name: str, p: float, device: str = "cpu") -> dict[str, float | int]:
    """Measure a code of the table of records as ``superposition record check`` does."""
    from superposition import weights
    from superposition.diagnosis import record_verifier

    found = weights.load(Path(str(resources.files("superposition") / "data" / "records")) / f"{name}.safetensors")
    record = record_verifier.check(found["W"], found["b"], p, nd=len(found["W_in"]) if "W_in" in found else None)
    return {
        "ns": record.ns,
        "nd": record.nd,
        "loss": record.loss,
        "loss_se": record.se,
        "over_best": record.loss / record.best,
        "over_rug": record.loss / record.rug,
        "record": int(record.is_record),
    }


_HERE = "superposition.experiments.best_codes:"
_OVER_RUG = {"over_rug": Meaning("no unit", "loss over the rug's loss at the same p and at the ratio of the code")}
_SEARCHED = {
    **LOSS,
    **_OVER_RUG,
    "start": Meaning("cone or fan, unequal, random", "what the best copy came from"),
    "fan_screened": Meaning("no unit", "best loss after screening of the starts from fans and cones, over the rug's"),
    "unequal_screened": Meaning("no unit", "the same of random starts of unequal loudness"),
    "random_screened": Meaning("no unit", "the same of the other random starts"),
    "weights": Meaning(
        "base64 of safetensors", "W_in, W_out and b of the best copy, as superposition.weights packs them"
    ),
}
_SIZED = {
    "best": Meaning("no unit", "least loss of the copies, over the rug's"),
    "mean": Meaning("no unit", "mean loss of the copies, over the rug's"),
    "spread": Meaning("no unit", "standard deviation of the copies' losses, over the rug's"),
    "se": Meaning("no unit", "largest standard error of one copy's loss over feature vectors, over the rug's"),
}
_PRICED = {
    "r": Meaning("(0, 1)", "compression ratio of the code"),
    **_OVER_RUG,
    "loudness": Meaning("1 or more", "best ratio of loudness of a feature over the next one's"),
    "total_over_rug": Meaning("no unit", "the same with what weight decay adds to the loss"),
}
_RECORDED = {
    "ns": FEATURES,
    "nd": DIMENSIONS,
    "loss": Meaning(LOSS["loss"].unit, LOSS["loss"].meaning + ", or exact where loss_se is 0"),
    "loss_se": LOSS["loss_se"],
    **_OVER_RUG,
    "over_best": Meaning("no unit", "loss over the best known loss at the same p and nd / ns"),
    "record": Meaning("0, 1", "1 if the code beats the best known one beyond its error"),
}
_searched = partial(Run, function=_HERE + "searched_tile", point=TilePoint, columns=_SEARCHED)
_sized = partial(Run, function=_HERE + "sized_tile", point=SizedPoint, columns=_SIZED)

_SIZES = {
    2: (4, 5, 6, 8, 10, 13),
    3: (7, 8, 10, 12, 15, 20),
    4: (9, 11, 13, 16, 20, 26),
    5: (11, 14, 17, 20, 25, 33),
    6: (13, 17, 21, 24, 30, 40),
}
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
_RECORDS = {
    0.05: ("tile-2-5-p0.05", "tile-2-6-p0.05", "tile-3-7-p0.05", "tile-4-9-p0.05", "tile-5-11-p0.05"),
    0.01: ("tile-2-5-p0.01", "tile-2-6-p0.01", "tile-3-7-p0.01"),
}

RUNS = (
    _searched(
        name="rug-tiles",
        feeds="the best small tiles that descent finds, with their weights",
        small=({"m": (2,), "B": (4,), "p": (0.05,), "starts": (8,), "kept": (1,), "steps": (200,), "seed": (0,)},),
        full=tuple({"m": (m,), "B": sizes, **_SEARCH} for m, sizes in _SIZES.items()),
        hours={"small": 0.002, "full": 0.2},
    ),
    _searched(
        name="rug-tiles-rare",
        feeds="the same for features that are on once in a thousand vectors",
        small=({"m": (2,), "B": (4,), "p": (0.001,), "starts": (8,), "kept": (1,), "steps": (200,), "seed": (0,)},),
        full=tuple({"m": (m,), "B": sizes, **_SEARCH, "p": (0.001,)} for m, sizes in _SIZES.items()),
        hours={"small": 0.002, "full": 0.1},
    ),
    _sized(
        name="rug-tile-sizes",
        feeds="loss against size at one ratio: small networks and large ones, at one budget a feature and at ten",
        small=({"m": (2,), "B": (10,), **_FIFTH, "steps": (50,)},),
        full=(
            *({"m": (B // 5,), "B": (B,), **_FIFTH, "steps": (2000,)} for B in (10, 20, 40, 80, 160)),
            *({"m": (B // 5,), "B": (B,), **_FIFTH, "steps": (20_000,)} for B in (10, 20, 40)),
        ),
        hours={"small": 0.001, "full": 0.05},
    ),
    _sized(
        name="rug-tile-sizes-large",
        feeds="the same for larger sizes",
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
    ),
    Run(
        name="rug-price",
        feeds="which code wins under hidden noise, few digits, weight decay and bounded weights",
        function=_HERE + "priced_code",
        point=PricedPoint,
        columns=_PRICED,
        small=({**_LARGE, "budget": ("bound",), "strength": (10,)},),
        full=tuple(
            {**codes, "budget": (name,), "strength": strengths}
            for codes in (_SMALL, _LARGE)
            for name, strengths in _STRENGTHS.items()
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
    Run(
        name="rug-records",  # to submit a code: its file into book/data/records, its name here, and this run's table
        feeds="the table of records: codes that beat the best known",
        function=_HERE + "recorded_code",
        point=RecordPoint,
        columns=_RECORDED,
        small=({"name": ("tile-2-5-p0.05",), "p": (0.05,)},),
        full=tuple({"name": names, "p": (p,)} for p, names in _RECORDS.items()),
        hours={"small": 0.001, "full": 0.005},
    ),
)  # fmt: skip
