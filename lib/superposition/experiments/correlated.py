"""Features that come in groups: the codes that training finds, and the effect of company on shared neurons."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from superposition.experiments.shared import L1, LOSS, OVER_RUG, Probability, Seed, Steps
from superposition.inputs import Count, Real
from superposition.runs.point import Columns, Meaning, Point, Run

_LIVE = 0.3  # of a diagonal: below, an output hardly answers to its feature


class GroupsPoint(Point):
    """The configurations that `trained_groups` takes."""

    groups: Annotated[Count, Field(ge=1, le=1024), Meaning("groups", "number of groups of features")]
    G: Annotated[Count, Field(ge=2, le=64), Meaning("features", "features of a group; n_s is groups times G")]
    nd: Annotated[Count, Field(ge=1), Meaning("dimensions", "number of hidden dimensions n_d")]
    p: Probability
    s: Annotated[
        Real, Field(ge=0, le=1), Meaning("0 to 1", "probability that a given partner of a feature that is on is on too")
    ]
    steps: Steps
    batch: Annotated[Count, Field(ge=1), Meaning("feature vectors", "feature vectors a step")]
    lr: Annotated[Real, Field(gt=0), Meaning("above 0", "first learning rate")]
    seed: Seed

    @model_validator(mode="after")
    def _the_law_exists(self):
        if self.s < self.p and self.G * self.p > 1:
            raise ValueError(f"G = {self.G} is too many features that exclude each other; allowed: G p up to 1")
        return self


Networks = Annotated[Count, Field(ge=1, le=10**6), Meaning("networks", "random starts")]
CompanyFeatures = Annotated[Count, Field(ge=2, le=256), Meaning("features", "number of features")]
TwoFeatures = Annotated[Count, Field(ge=2, le=256), Meaning("features", "number of features of which these are two")]
Neurons = Annotated[Count, Field(ge=1, le=4096), Meaning("neurons", "number of neurons")]
Before = Annotated[Real, Field(ge=0, le=1), Meaning("0 to 1", "q, inputs of two features, until weights have settled")]
After = Annotated[Real, Field(ge=0, le=1), Meaning("0 to 1", "q for as long again, from the settled weights")]
Kick = Annotated[
    Real, Field(ge=0), Meaning("units of W", "standard deviation of normal noise added to all weights in between")
]
OtherProbability = Annotated[Real, Field(ge=0, le=1), Meaning("0 to 1", "part of the inputs that hold two features")]


def trained_groups(
    *, groups: int, G: int, nd: int, p: float, s: float, steps: int, batch: int, lr: float, seed: int,
    device: str = "cpu",
) -> dict[str, float | str]:  # fmt: skip
    """Train one autoencoder on features that come in groups, and measure the weights between partners."""
    from superposition import correlated
    from superposition.devices import resolve_device

    model = correlated.train_grouped(groups, G, nd, p, s, steps=steps, batch=batch, lr=lr, seed=seed, device=device)
    W = model.W_out.astype(float) @ model.W_in
    gain = np.diag(W)
    live = gain > _LIVE
    relative = W[live] / gain[live, None]
    group = np.arange(groups * G) // G
    partner = (group[live, None] == group) & (np.flatnonzero(live)[:, None] != np.arange(groups * G))
    other = group[live, None] != group
    return {
        "loss": model.loss,
        "loss_se": model.loss_se,
        "live": float(live.mean()),
        "partner_mean": float(relative[partner].mean()) if live.any() else 0.0,
        "partner_below": float((relative[partner] < -0.5).mean()) if live.any() else 0.0,
        "other_mean": float(relative[other].mean()) if live.any() and groups > 1 else 0.0,
        "device": str(resolve_device(device)),
    }


def kept_company(
    *, networks: Networks, n: CompanyFeatures, m: Neurons, lambda_: L1, before: Before, after: After, kick: Kick,
    seed: Seed
) -> dict[str, float]:  # fmt: skip
    """Let many networks settle under one rate of company, kick them, and let them settle under another."""
    from superposition import incidental

    W = incidental.company_flow(
        incidental.random_networks(networks, n, m, seed=seed), *incidental.company_rates(before, n), lambda_
    )
    first = incidental.count_polysemantic_each(W)
    rng = np.random.default_rng([seed, 1])
    W = W + np.float32(kick) * rng.standard_normal(W.shape, dtype=W.dtype)
    W = incidental.company_flow(W, *incidental.company_rates(after, n), lambda_)
    second = incidental.count_polysemantic_each(W)
    return {
        "settled": float(first.mean()),
        "settled_se": float(first.std() / networks**0.5),
        "finally": float(second.mean()),
        "finally_se": float(second.std() / networks**0.5),
    }


def over_the_rug(columns: Columns) -> Columns:
    """A prediction: the loss divided by that of the rug on independent features."""
    from superposition.rug import optimum

    r = columns["nd"] / (columns["groups"] * columns["G"])
    return {"over_rug": columns["loss"] / optimum(columns["p"], r).loss}


def two_in_company(
    *, networks: Networks, n: TwoFeatures, m: Neurons, lambda_: L1, q: OtherProbability, seed: Seed
) -> dict[str, float]:  # fmt: skip
    """Two features out of n that meet no others: how often they come to share a neuron."""
    from superposition import incidental

    W = incidental.company_flow(
        incidental.random_networks(networks, 2, m, seed=seed), *incidental.pair_company_rates(q, n), lambda_
    )
    shared = incidental.count_polysemantic_each(W)
    return {"shared": float(shared.mean()), "shared_se": float(shared.std() / networks**0.5)}


_GROUPS = (
    LOSS
    | OVER_RUG
    | {
        "live": Meaning("0 to 1", "outputs whose own weight, the diagonal of W = W_out W_in, is above 0.3"),
        "partner_mean": Meaning(
            "no unit", "weight of a partner over the own one, mean over partners of outputs that live"
        ),
        "partner_below": Meaning("0 to 1", "part of these below -1/2"),
        "other_mean": Meaning("no unit", "the same mean over features of other groups"),
        "device": Meaning("cpu, cuda", "where the point was computed"),
    }
)
_COMPANY = {
    "settled": Meaning("neurons", "shared neurons once weights have settled under the first q, mean over networks"),
    "settled_se": Meaning("neurons", "standard error of settled"),
    "finally": Meaning("neurons", "shared neurons in the end, mean over networks"),
    "finally_se": Meaning("neurons", "standard error of finally"),
}
_FIVE = {"seed": (0, 1, 2, 3, 4)}
_ALL_S = (0.0, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0)
_TRAINING = {"p": (0.05,), "lr": (0.01,)}
_TINY = {"groups": (2,), "G": (3,), "nd": (2,), "steps": (50,), "batch": (16,), "seed": (0,), **_TRAINING}
_FOURS = {"G": (4,), "s": _ALL_S, "steps": (4000,), "batch": (512,), **_TRAINING, **_FIVE}
_TWO = {
    "shared": Meaning("0 to 1", "part of the networks in which both features end on one neuron"),
    "shared_se": Meaning("0 to 1", "standard error of shared"),
}
_PAIRS = {"lambda_": (0.02,), "kick": (0.0,), "seed": (0,)}
_WIDE = {"networks": (12,), "n": (24,), "m": (48,), "kick": (0.0,), **_FIVE}

RUNS = (
    Run(
        name="together-loss",
        feeds="loss of trained networks against how often the features of a group come together",
        computes=trained_groups,
        checked_point=GroupsPoint,
        columns=_GROUPS,
        predicted=(over_the_rug,),
        small=(_TINY | {"s": (0.0, 0.5)},),
        full=(_FOURS | {"groups": (16,), "nd": (16,)}, _FOURS | {"groups": (64,), "nd": (64,), "s": (0.0, 1.0)}),
        hours={"small": 0.001, "full": 0.2},
    ),
    Run(
        name="together-groups",
        feeds="the same for pairs and triples of features, in networks of 64 and 63",
        computes=trained_groups,
        checked_point=GroupsPoint,
        columns=_GROUPS,
        predicted=(over_the_rug,),
        small=(_TINY | {"s": (0.0, 0.5)},),
        full=(
            _FOURS | {"G": (2,), "groups": (32,), "nd": (16,), "s": (0.0, 0.05, 0.5, 1.0)},
            _FOURS | {"G": (3,), "groups": (21,), "nd": (16,), "s": (0.0, 0.05, 0.5, 1.0)},
        ),
        hours={"small": 0.001, "full": 0.2},
    ),
    Run(
        name="together-company",
        feeds="neurons that features share, where some inputs hold two features, and what becomes of them afterwards",
        computes=kept_company,
        columns=_COMPANY,
        small=({**_PAIRS, "networks": (2,), "n": (6,), "m": (6,), "before": (0.0, 0.5), "after": (0.5,)},),
        full=(
            {**_WIDE, "lambda_": (0.02,), "before": (0.0, 0.1, 0.2, 0.4), "after": (0.0,)},
            {**_WIDE, "lambda_": (0.04,), "before": (0.2,), "after": (0.0,)},
            {**_WIDE, "lambda_": (0.02,), "before": (0.0,), "after": (0.2, 0.4)},
            {**_WIDE, "networks": (4,), "lambda_": (0.005,), "before": (0.0,), "after": (0.0, 1.0), "kick": (0.05,)},
            {**_WIDE, "lambda_": (0.02,), "before": (0.0,), "after": (1.0,), "kick": (0.05,)},
        ),
        hours={"small": 0.001, "full": 0.2},
    ),
    Run(
        name="together-two",
        feeds="how often two features of many come to share a neuron although they meet",
        computes=two_in_company,
        columns=_TWO,
        small=({"networks": (20,), "n": (24,), "m": (12,), "lambda_": (0.02,), "q": (0.0, 0.1), "seed": (0,)},),
        full=(
            {"networks": (3000,), "n": (24,), "m": (48,), "lambda_": (0.02,), "q": (0.0, 0.05, 0.1), **_FIVE},
            {"networks": (1000,), "n": (12,), "m": (12,), "lambda_": (0.02,), "q": (0.0, 0.05, 0.1), **_FIVE},
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
)
