"""Layers of few units that keep bits for ReLU readers of the ANDs of all pairs: built by hand, and trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from superposition.experiments.shared import Probability, Seed, Steps
from superposition.inputs import Count
from superposition.placing import placed
from superposition.runs.point import Meaning, Run

if TYPE_CHECKING:
    import numpy as np

Bits = Annotated[Count, Field(ge=2, le=12), Meaning("bits", "number of bits m, whose pairs have an AND each")]
Groups = Annotated[
    Count, Field(ge=1, le=6), Meaning("groups", "groups of bits; the layer has one unit for each bit less one a group")
]
Layer = Annotated[Literal["linear", "relu"], Meaning("linear, relu", "units without and with a ReLU")]
Start = Annotated[
    Literal["random", "groups"],
    Meaning("random, groups", "random weights, or the layer of `grouped`, kicked; for ReLUs with units never off"),
]
Starts = Annotated[Count, Field(ge=1, le=1000), Meaning("networks", "trained side by side")]

KICKS = (0.03, 0.1, 0.3, 0.5)  # standard deviations of a kick, in units of the standard deviation of the kicked weights
CHANGE, PATIENCE = 1e-3, 2  # a round in which the loss falls by a smaller part changes nothing; so many end it


def grouped(m: int, groups: int) -> tuple[np.ndarray, ...]:
    """Weights W_in, b, W_out and c of a linear layer of m - groups units, and of ReLU readers of all pairs.

    Bits k of one group have directions w_k whose sum is zero, a simplex; directions of different groups are orthogonal.
    The reader of a pair is ReLU(sum_k t_k x_k - 1). The t_k are 1 for the pair, and at most 0 for all others, so that
    nothing is on by mistake where two bits are on. In each group they have to add up to zero: another bit of the pair's
    own group has -2, or the other bits of each of its two groups share -1. Where one of these is on, the reader is too
    low. A pair that is a group of its own has no reader.
    """
    import itertools

    import numpy as np

    members = np.array_split(np.arange(m), groups)
    of = {int(k): group for group in members for k in group}
    W_in = np.zeros((m, m - groups))
    columns = iter(range(m - groups))
    for group in members:
        for k in group[:-1]:
            at = next(columns)
            W_in[k, at], W_in[group[-1], at] = 1, -1
    t = np.zeros((m, m * (m - 1) // 2))
    for pair, (i, j) in enumerate(itertools.combinations(range(m), 2)):
        within = [np.setdiff1d(of[i], (i, j))] if of[i] is of[j] else [np.setdiff1d(of[k], k) for k in (i, j)]
        if not all(map(len, within)):
            continue
        t[[i, j], pair] = 1
        for others in within:
            t[others[:1] if len(within) == 1 else others, pair] = -2 if len(within) == 1 else -1 / len(others)
    W_out = np.linalg.lstsq(W_in, t, rcond=None)[0]
    return W_in[None], np.zeros((1, 1, m - groups)), W_out[None], -1.0 * t.any(axis=0)[None, None]  # pyrefly: ignore[bad-index]


def faint(m: int, epsilon: float) -> tuple[np.ndarray, ...]:
    """Weights of a linear layer of m - 1 units that keep all ANDs of m bits nearly exactly, and of their ReLU readers.

    Unit k keeps bit k, counted from 1, and epsilon times bit 0. The reader ReLU((h_k - 1) / epsilon) of bit 0 and bit k
    is exact; the reader ReLU(h_j + h_k - 1 - 2 epsilon) is too low by 2 epsilon where bit 0 is off.
    """
    import itertools

    import numpy as np

    pairs = list(itertools.combinations(range(m), 2))
    W_out, c = np.zeros((m - 1, len(pairs))), np.full(len(pairs), -1 - 2 * epsilon)
    for pair, (i, j) in enumerate(pairs):
        if i:
            W_out[[i - 1, j - 1], pair] = 1
        else:
            W_out[j - 1, pair], c[pair] = 1 / epsilon, -1 / epsilon
    W_in = np.r_[np.full((1, m - 1), epsilon), np.eye(m - 1)]
    return W_in[None], np.zeros((1, 1, m - 1)), W_out[None], c[None, None]


@placed
def converged(
    *, m: Bits, groups: Groups, p: Probability, layer: Layer, start: Start, starts: Starts, steps: Steps, seed: Seed
) -> dict[str, float]:
    """Train layers and readers side by side, then kick the best and train on until two rounds change nothing."""
    import numpy as np

    from superposition import decoders

    weights = grouped(m, groups) if start == "groups" else ()
    if weights and layer == "relu":
        weights = decoders.as_relus(weights, m)
    rng = np.random.default_rng(seed)
    kicks = np.append(0, rng.choice(KICKS, starts - 1))[:, None, None]
    rounds, best, still = [], np.inf, 0
    while still < PATIENCE:
        first = ()
        if weights:  # one network: copies, all but one of them kicked
            spread = [one.std() * kicks * rng.standard_normal((starts, *one.shape[1:])) for one in weights]
            first = tuple(one + kick for one, kick in zip(weights, spread, strict=True))
        options = {"starts": starts, "steps": steps, "seed": seed, "layer": layer, "reader": "relu"}
        ended = decoders.descend_on_ands(m, m - groups, p, **options, weights=first)
        rounds.append(float(ended.loss.min()))
        still = still + 1 if rounds[-1] > (1 - CHANGE) * best else 0
        if rounds[-1] < best:
            best, weights = rounds[-1], tuple(one[[ended.loss.argmin()]] for one in ended.weights)
    return {"first": rounds[0], "loss": best, "rounds": len(rounds) - 1}


RUNS = (
    Run(
        name="ands-converged",
        feeds="what layers of few units end at before ReLU readers of ANDs, trained until nothing changes",
        computes=converged,
        columns={
            "first": Meaning("p^2", "loss after the first round, the least of the networks"),
            "loss": Meaning("p^2", "the least loss of all rounds"),
            "rounds": Meaning("rounds", "rounds of kicks until two of them changed nothing"),
        },
        small=(
            {
                "m": (4,),
                "groups": (1,),
                "p": (0.1,),
                "layer": ("relu",),
                "start": ("groups",),
                "starts": (2,),
                "steps": (20,),
                "seed": (0,),
            },
        ),
        full=tuple(
            {
                "m": (m,),
                "groups": (groups,),
                "p": (p,),
                "layer": layers,
                "start": (start,),
                "starts": (24,),
                "steps": (2000,),
                "seed": seeds,
            }
            for m, groups, p, start, layers, seeds in (
                (4, 1, 0.1, "random", ("linear", "relu"), (0,)),
                (4, 1, 0.1, "random", ("linear",), (2,)),
                (4, 1, 0.1, "groups", ("linear", "relu"), (0,)),
                (4, 1, 0.1, "groups", ("linear",), (1,)),
                (4, 1, 0.1, "groups", ("relu",), (2, 3, 4)),
                (6, 2, 0.03, "random", ("relu",), (0,)),
                (6, 2, 0.03, "groups", ("linear",), (0, 1)),
                (6, 2, 0.03, "groups", ("relu",), (1,)),
                (8, 2, 0.1, "random", ("linear", "relu"), (0,)),
            )
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
)
