"""Walks over codes of infinite ratio whose features stand alone, in pairs or in triples."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from superposition.experiments.shared import Seed
from superposition.inputs import Count, From, UpTo
from superposition.runs.point import Meaning, Run

LevelDimensions = Annotated[Count, Field(ge=2), Meaning("dimensions", "dimensions of the code")]
LevelFeatures = Annotated[
    Count,
    AfterValidator(From("2 m", "m", 2)),
    AfterValidator(UpTo("3 m", "m", 3)),
    Meaning("features", "features of the code; at most 3 m - 1 for odd m"),
]
Start = Annotated[
    Literal["mixture", "random"],
    Meaning("mixture, random", "where the walk begins: at the best mixture of swept fans and digons, or anywhere"),
]
Steps = Annotated[Count, Field(ge=1), Meaning("steps", "codes that are tried")]


def walked_levels(*, m: LevelDimensions, n: LevelFeatures, start: Start, steps: Steps, seed: Seed) -> dict[str, float]:
    """Walk over directions, orders, pairs and triples; all runs on the CPU."""
    from superposition import codes

    known, found = codes.annealed_levels(m, n, start, steps=steps, seed=seed)
    return {"known": known, "found": found}


_COST = "of a code, the sum of e(W_ij^-) over pairs: n times its loss over p^2 as p -> 0"

RUNS = (
    Run(
        name="rug-levels",
        feeds="does anything beat swept fans and digons for rare features: walks over orders, pairs and triples",
        computes=walked_levels,
        columns={
            "known": Meaning("no unit", f"cost of conflicts {_COST}; of the best mixture of swept fans and digons"),
            "found": Meaning("no unit", "least cost on the walk; 1000 or more where some feature never had a reader"),
        },
        small=({"m": (2,), "n": (5,), "start": ("random",), "steps": (100,), "seed": (0,)},),
        full=tuple(
            {"m": (m,), "n": sizes, "start": ("mixture", "random"), "steps": (1000,), "seed": (0, 1, 2, 3, 4)}
            for m, sizes in {2: (4, 5, 6), 3: (6, 8), 4: (8, 10, 12), 5: (12,), 6: (15,)}.items()
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
)
