"""Networks that compute ANDs of pairs, trained on until kicked restarts change nothing."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from superposition.experiments.shared import Probability, Seed
from superposition.inputs import Count
from superposition.runs.point import Meaning, Run

STARTS, STEPS = 20, 2000  # of the first descent, and of each round of kicked copies of the best
KICKS = (0.05, 0.1, 0.2, 0.4)  # standard deviations of a kick, in those of the weights kicked
ROUNDS, SETTLED, QUIET = 10, 1e-3, 2  # rounds at most; relative gain that counts; rounds without one that end it

Bits = Annotated[Count, Field(ge=2, le=10), Meaning("bits", "number of bits, of whose pairs the ANDs are computed")]
Units = Annotated[Count, Field(ge=1, le=64), Meaning("units", "units of the layer")]
Layer = Annotated[
    Literal["linear", "relu", "linear as relu"],
    Meaning(
        "linear, relu, linear as relu",
        "the layer: linear, of ReLUs from random starts, or of ReLUs that start from the best linear layer",
    ),
]


def converged(
    *, m: Bits, N: Units, p: Probability, layer: Layer, seed: Seed, device: str = "cpu"
) -> dict[str, float]:  # fmt: skip
    """Train layers of N units, kick the best of them and train on, until rounds of kicks gain nothing."""
    from superposition import decoders

    rng = np.random.default_rng(seed)
    name = "relu" if layer == "relu" else "linear"
    first, best, rounds, gain = _worked_over(m, N, p, name, (), rng)
    if layer == "linear as relu":
        first, best, rounds, gain = _worked_over(m, N, p, "relu", decoders.as_relus(best[1], m), rng)
    return {"five": first, "best": best[0], "rounds": rounds, "last_gain": gain}


def _worked_over(m, N, p, layer, weights, rng):
    """The least loss of five starts, the best of all with its weights, the rounds of kicks, and the last one's gain."""
    from superposition import decoders

    def descend(weights, starts):
        options = {"starts": starts, "steps": STEPS, "seed": int(rng.integers(2**31)), "weights": weights}
        return decoders.descend_on_ands(m, N, p, layer=layer, reader="relu", **options)

    ended = descend(weights, len(weights[0]) if weights else STARTS)
    first, quiet, rounds, gain = float(ended.loss[:5].min()), 0, 0, 1.0
    best = _best(ended)
    while quiet < QUIET and rounds < ROUNDS:
        after = _best(descend(_kicked(best[1], rng), STARTS))
        gain, rounds = max(0.0, 1 - after[0] / best[0]), rounds + 1
        quiet = 0 if gain > SETTLED else quiet + 1
        best = min(best, after, key=lambda one: one[0])
    return first, best, rounds, gain


def _best(ended):
    """The least loss, and the weights that have it, as a stack of one."""
    k = int(ended.loss.argmin())
    return float(ended.loss[k]), tuple(part[k : k + 1] for part in ended.weights)


def _kicked(weights, rng):
    """Copies of weights with noise of several sizes, the first copy as it is."""
    size = np.resize(KICKS, STARTS)[:, None, None]
    size[0] = 0
    return tuple(
        part + size * max(part.std(), 0.1) * rng.standard_normal((STARTS, *part.shape[1:])) for part in weights
    )


_LAYERS = {"layer": ("linear", "relu", "linear as relu"), "seed": (0, 1)}

RUNS = (
    Run(
        name="ands-converged",
        feeds="losses of trained layers that compute ANDs, after kicked restarts",
        computes=converged,
        columns={
            "five": Meaning("p^2", "least loss of the first five starts of one descent"),
            "best": Meaning("p^2", "least loss after all rounds of kicked restarts"),
            "rounds": Meaning("rounds", "rounds of kicked restarts"),
            "last_gain": Meaning("0 to 1", "share of the loss that the last round gained"),
        },
        small=({"m": (3,), "N": (2,), "p": (0.2,), "layer": ("linear as relu",), "seed": (0,)},),
        full=(
            {"m": (8,), "N": (3, 6), "p": (0.1,), **_LAYERS},
            {"m": (6,), "N": (4,), "p": (0.03, 0.1), **_LAYERS},
            {"m": (4,), "N": (3,), "p": (0.1,), **_LAYERS},
        ),
        hours={"small": 0.02, "full": 0.5},
    ),
)
