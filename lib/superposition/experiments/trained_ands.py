"""Layers of few units that compute the ANDs of all pairs of bits for ReLU readers, trained until nothing changes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from superposition.experiments.shared import Probability, Seed, Steps
from superposition.inputs import Count
from superposition.runs.point import Meaning, Run

Bits = Annotated[Count, Field(ge=2, le=12), Meaning("bits", "number of bits m, whose pairs have an AND each")]
Units = Annotated[Count, Field(ge=1, le=64), Meaning("units", "number of units N of the layer")]
Layer = Annotated[
    Literal["linear", "relu", "linear as relu"],
    Meaning(
        "linear, relu, linear as relu",
        "units without and with a ReLU; with one, from the best linear layer of the same seed",
    ),
]
Starts = Annotated[Count, Field(ge=1, le=1000), Meaning("networks", "trained side by side")]

KICKS = (0.03, 0.1, 0.3, 0.5)  # standard deviations of a kick, in units of that of the weights that are kicked
CHANGE, PATIENCE = 1e-3, 2  # a round in which the loss falls by a smaller part changes nothing; so many end it


def converged(
    *, m: Bits, units: Units, p: Probability, layer: Layer, starts: Starts, steps: Steps, seed: Seed
) -> dict[str, float]:
    """Train layers and readers from random starts, then kick the best and train on until two rounds change nothing."""
    import numpy as np

    from superposition import decoders

    if layer == "linear as relu":
        first = decoders.as_relus(_worked_over(m, units, p, "linear", starts, steps, seed, None)[1], m)
    else:
        first = None
    losses, _ = _worked_over(m, units, p, layer.split()[-1], starts, steps, seed, first)
    return {"median": float(np.median(losses[0])), "first": losses[0].min(), "loss": losses[-1].min(),
            "rounds": len(losses) - 1}  # fmt: skip


def _worked_over(m, units, p, layer, starts, steps, seed, first):
    """Losses of the networks of each round, and the best weights; the first round starts at random or from weights."""
    import numpy as np

    from superposition import decoders

    rng = np.random.default_rng(seed)
    kicks = np.append(0, rng.choice(KICKS, starts - 1))[:, None, None]
    losses, weights, best, still = [], first, np.inf, 0
    while still < PATIENCE:
        start = ()
        if weights:  # one network: copies, all but one of them kicked
            spread = [one.std() * kicks * rng.standard_normal((starts, *one.shape[1:])) for one in weights]
            start = tuple(one + kick for one, kick in zip(weights, spread, strict=True))
        options = {"starts": starts, "steps": steps, "seed": seed, "layer": layer, "reader": "relu"}
        ended = decoders.descend_on_ands(m, units, p, **options, weights=start)
        losses.append(ended.loss)
        lowest = int(ended.loss.argmin())
        still = still + 1 if ended.loss[lowest] > (1 - CHANGE) * best else 0
        if ended.loss[lowest] < best:
            best, weights = ended.loss[lowest], tuple(one[[lowest]] for one in ended.weights)
    return losses, weights


_LAYERS = ("linear", "relu", "linear as relu")
_HOW = {"starts": (24,), "steps": (2000,)}

RUNS = (
    Run(
        name="ands-converged",
        feeds="whether a layer of ReLUs has a lower loss than a linear one before ReLU readers of ANDs",
        computes=converged,
        columns={
            "median": Meaning("p^2", "loss after the first round, median of the starts"),
            "first": Meaning("p^2", "the same, the least of the starts"),
            "loss": Meaning("p^2", "the least loss after the last round"),
            "rounds": Meaning("rounds", "rounds of kicks until two of them changed nothing"),
        },
        small=(
            {
                "m": (3,), "units": (2,), "p": (0.1,), "layer": ("linear as relu",), "starts": (2,), "steps": (20,),
                "seed": (0,),
            },
        ),
        full=tuple(
            {"m": (m,), "units": (units,), "p": (p,), "layer": _LAYERS, **_HOW, "seed": tuple(range(seeds))}
            for m, units, p, seeds in ((4, 3, 0.1, 5), (6, 4, 0.03, 3), (6, 4, 0.1, 3), (8, 3, 0.1, 2), (8, 6, 0.1, 2))
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
)  # fmt: skip
