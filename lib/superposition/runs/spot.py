"""A look at one stored point, which tells whether the code of a run still gives what its table holds.

Pages show tables whose points cost minutes, so a fault in the code would leave them as they are. Whoever loads a
table therefore computes its cheapest point again.
"""

from __future__ import annotations

import json
from contextlib import nullcontext
from functools import cache, partial

import numpy as np
from defprint import fingerprint

from superposition.runs import agreement, executors, moved
from superposition.runs.point import Run

QUICK = 1.0  # seconds that the point may have cost
SHARED = ("rug-price",)  # its points share what the first of them computes: their seconds are not what one costs


def check(run: Run, columns: dict[str, np.ndarray], provenance: dict) -> None:
    """Compute the cheapest point of a table again, if it is cheap, and refuse a table that differs from it."""
    seconds = provenance["seconds"]
    row, code = int(np.argmin(seconds)), fingerprint.of(run.function)
    if run.name in SHARED or seconds[row] > QUICK or not run.point.model_fields.keys() <= columns.keys():
        return
    fields = {name: columns[name][row].item() for name in run.point.model_fields}
    text = json.dumps(run.point(**fields).model_dump(mode="json"))
    try:
        values = _computed(run.function, code, text)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("superposition"):
            raise
        return
    found = agreement.of(columns, row, values, partial(_computed, run.function, code, text))
    if found.differs:
        raise ValueError(
            f"run = {run.name}: its code gives other values than its table holds, at {run.point(**fields)}: "
            f"{found.differs}; to look at more points: superposition runs certify {run.name}"
        )


@cache
def _computed(function: str, code: str, fields: str, side: int = 0) -> dict:
    with moved.draws(side) if side else nullcontext():
        return executors.compute(function, json.loads(fields), "cpu", code)["values"]
