"""Codes compared: which one is best under a budget, and which are records.

All run on the CPU: the networks are small.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from superposition.experiments.shared import DIMENSIONS, FEATURES, LOSS, OVER_RUG, Probability, Seed, over_rug
from superposition.inputs import Count, Real
from superposition.runs.point import Columns, Meaning, Run

Kind = Annotated[
    Literal["fan", "swept", "cone", "searched", "graph", "antipodal", "rug"],
    Meaning(
        "fan, swept, cone, searched, graph, antipodal, rug",
        "the code, all at r = 1/4; searched: a tile that descent found; graph: beside a few own dimensions",
    ),
]
Budget = Annotated[
    Literal["noise", "digits", "decay", "bound", "range"],
    Meaning(
        "noise, digits, decay, bound, range",
        "what limits it: hidden noise, bits of a number, weight decay, a bound on weights, or on loudness",
    ),
]
Strength = Annotated[
    Real,
    Field(gt=0),
    Meaning(
        "above 0",
        "noise: sigma beside an encoder whose longest column is 1; digits: bits; decay: lambda of "
        "lambda (|W_in|^2 + |W_out|^2)/n; bound: largest weight; range: loudest over softest",
    ),
]
Samples = Annotated[
    Count,
    Field(ge=2),
    Meaning("feature vectors", "feature vectors that measure; a fifth as many others choose the loudness"),
]
Name = Annotated[str, Meaning("text", "name of the file in records/, without its ending")]
RecordProbability = Annotated[Real, Field(gt=0, lt=1), Meaning("(0, 1)", "probability that a feature is on")]


def priced_code(
    *, kind: Kind, budget: Budget, strength: Strength, p: Probability, samples: Samples, seed: Seed
) -> dict[str, float]:  # fmt: skip
    """Loss of one kind of code under one budget, at the ratio of loudness that suits it."""
    from superposition import codes

    offered = (_searched(p),) if kind == "searched" else codes.candidate_codes(kind, p)
    found = codes.under_budget(budget, strength, offered, p, samples=samples, seed=seed)
    nd, ns = offered[0].code.W_in.shape
    return {
        "r": nd / ns,
        "loudness": found.ratio,
        "loss": found.loss,
        "loss_se": found.se,
        "total": found.loss + found.costs,
    }


def _searched(p):
    """The tile at r = 1/4 that descent found at this p, from its file."""
    from superposition import codes

    found = _weights(f"tile-2-8-p{p:g}")
    code = codes.Code(found["W_in"], found["W_out"], found["b"])
    return codes.candidate_code(1.0, code, codes.code_loss(code.W, code.b, p, rtol=1e-3))


def _weights(name):
    from superposition import weights

    return weights.load(_FOLDER / f"{name}.safetensors")


def recorded_code(*, name: Name, p: RecordProbability) -> dict[str, float | int]:
    """Measure a code of the table of records as ``superposition record check`` does."""
    from superposition import diagnosis

    found = _weights(name)
    nd = len(found["W_in"]) if "W_in" in found else None
    ns, rank, loss, se = diagnosis.measured_record(found["W"], found["b"], p, nd=nd)
    return {"ns": ns, "nd": rank, "loss": loss, "loss_se": se}


def beside_best(columns: Columns) -> Columns:
    """The loss of each code divided by the best known loss, and whether it is a record."""
    from superposition.codes import best_known
    from superposition.diagnosis import Record

    ns, nd, p, loss, se = (columns[name].tolist() for name in ("ns", "nd", "p", "loss", "loss_se"))
    best = [best_known(q, m / n) for q, m, n in zip(p, nd, ns, strict=True)]
    rows = zip(ns, nd, p, loss, se, best, strict=True)
    records = [Record(n, m, m / n, q, found, error, known.loss, known.rug) for n, m, q, found, error, known in rows]
    return {
        "over_best": columns["loss"] / [record.best for record in records],
        "record": np.array([int(record.is_record) for record in records]),
    }


_PRICED = {
    "r": Meaning("(0, 1)", "compression ratio of the code"),
    **OVER_RUG,
    "loudness": Meaning("1 or more", "best ratio of loudness of a feature over the next one's"),
    "loss": LOSS["loss"],
    "loss_se": Meaning(LOSS["loss_se"].unit, LOSS["loss_se"].meaning + "; 0 where the loss is exact"),
    "total": Meaning(LOSS["loss"].unit, "loss with what weight decay adds to it"),
    "total_over_rug": Meaning("no unit", "total over the rug's loss at the same p and at the ratio of the code"),
}
_RECORDED = {
    "ns": FEATURES,
    "nd": DIMENSIONS,
    "loss": Meaning(LOSS["loss"].unit, LOSS["loss"].meaning + ", or exact where loss_se is 0"),
    "loss_se": LOSS["loss_se"],
    **OVER_RUG,
    "over_best": Meaning("no unit", "loss over the best known loss at the same p and nd / ns"),
    "record": Meaning("0, 1", "1 if the code beats the best known one beyond its error"),
}
_SMALL = {"kind": ("fan", "swept", "cone", "searched"), "p": (0.05,), "samples": (20_000,), "seed": (0,)}
_LARGE = {"kind": ("graph", "antipodal", "rug"), "p": (0.05,), "samples": (2_000,), "seed": (0,)}
_STRENGTHS = {
    "noise": (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1),
    "digits": (16,),
    "decay": (1e-8, 1e-7, 1e-6, 3e-6, 1e-5, 1e-4, 1e-3),
    "bound": (10, 30, 100, 300, 1e4),
    "range": (10, 30, 100, 300, 1000, 1e4, 1e6),
}
_FOLDER = Path(str(resources.files("superposition") / "data" / "records"))
_RECORDS: dict[float, tuple[str, ...]] = {}  # each file is a submission: its name ends in -p and the probability
for _file in sorted(_FOLDER.glob("*-p*.safetensors")):
    _at = float(_file.stem.rpartition("-p")[2])
    _RECORDS[_at] = (*_RECORDS.get(_at, ()), _file.stem)

RUNS = (
    Run(
        name="rug-price",
        feeds="which code wins under hidden noise, few digits, weight decay and bounded weights",
        computes=priced_code,
        columns=_PRICED,
        predicted=(over_rug(over_rug="loss", total_over_rug="total"),),
        small=({**_LARGE, "kind": ("searched", "antipodal"), "budget": ("bound",), "strength": (10,)},),
        full=tuple(
            {**codes, "budget": (name,), "strength": strengths}
            for codes in (_SMALL, _LARGE)
            for name, strengths in _STRENGTHS.items()
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
    Run(
        name="rug-records",  # to submit a code: its file into book/data/records
        feeds="the table of records: submitted codes beside the best known",
        computes=recorded_code,
        columns=_RECORDED,
        predicted=(over_rug(over_rug="loss"), beside_best),
        small=({"name": ("tile-2-5-p0.05",), "p": (0.05,)},),
        full=tuple({"name": names, "p": (p,)} for p, names in _RECORDS.items()),
        hours={"small": 0.001, "full": 0.005},
    ),
)  # fmt: skip
