"""Sparse autoencoders descended from the truth, from pairs and at random: which has the least loss at which price."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from superposition.experiments.shared import Nd, Ns, Probability, Seed, Steps
from superposition.inputs import Real
from superposition.placing import placed
from superposition.runs.point import Columns, Meaning, Run

MEASURED, SCORED = 20_000, 2000  # fresh activations that losses and scores are measured on
GENTLY, RATE = 0.003, 0.01  # first learning rates: from the truth, which is not to be shaken off, and from elsewhere


Price = Annotated[Real, Field(gt=0), Meaning("above 0", "lambda, the price of activity in the loss")]


@placed
def least_loss(
    *, ns: Ns, nd: Nd, p: Probability, price: Price, steps: Steps, seed: Seed, device: str = "cpu"
) -> dict[str, float]:
    """Descend from the truth, from pairs independent of it, and from random directions; compare the losses."""
    import numpy as np

    from superposition import decoders
    from superposition.features import Estimate
    from superposition.rug import unit_vectors

    truth = decoders.dictionary(ns, nd, "rug", p=p, seed=seed)
    pairs_seed, random_seed, data_seed, fresh_seed = (int(s) for s in np.random.SeedSequence(seed).generate_state(4))
    pairs = decoders.dictionary(ns, nd, "antipodal", p=p, seed=pairs_seed).directions
    own, other = (
        decoders.least_priced_loss(loss, price, p, nd / ns) for loss in (decoders.truth_loss, decoders.pairs_loss)
    )
    center = truth.directions @ truth.p / 2
    first = decoders.sae_along(truth.directions, own.a, own.b, center)
    others = [
        decoders.sae_along(pairs, other.a, other.b, center),
        decoders.sae_along(unit_vectors(ns, nd, seed=random_seed).T, 1.0, 0.0, center),
    ]
    stayed = decoders.descend_saes(truth, [first], [price], steps=-(-steps // 3), lr=GENTLY, seed=data_seed)
    found = decoders.descend_saes(truth, others, [price] * 2, steps=steps, lr=RATE, seed=data_seed)
    x, h = truth.activations(MEASURED, seed=fresh_seed)
    row, losses = {}, {}
    for name, sae in zip(("truth", "pairs", "random"), stayed + found, strict=True):
        losses[name] = decoders.sae_losses(sae, price, h)
        codes = sae.encode(h[:SCORED])
        scores = decoders.scores(truth, x[:SCORED], codes, sae.W_dec, offset=sae.b_dec)
        row |= {f"{name}_loss": float(losses[name].mean()), f"{name}_recovered": scores.recovered}
    behind = {name: losses[name] - losses["truth"] for name in ("pairs", "random")}
    return row | {f"{name}_se": Estimate.of(one).se for name, one in behind.items()}


def beyond_truth(columns: Columns) -> Columns:
    """How much more the two rivals lose than the truth."""
    return {name: columns[f"{name}_loss"] - columns["truth_loss"] for name in ("pairs", "random")}


_STARTS = {
    "truth": "the truth, after a third of the steps at a low rate",
    "pairs": "an antipodal rug that knows nothing of the truth",
    "random": "random directions",
}
_PRICES = (0.027, 0.036, 0.048, 0.064, 0.085)  # a factor of 4/3
_DRAWN = (0xF1E2, 0x5CAF, 0xB716, 0x5FCE)  # truths of dictionary-recipe
_SET = {"p": (0.05,), "steps": (1500,), "seed": tuple(range(8, 16))}

_COLUMNS = {
    **{
        f"{name}_loss": Meaning("per activation", f"loss with the price, on fresh activations, from {start}")
        for name, start in _STARTS.items()
    },
    **{
        f"{name}_recovered": Meaning("0 to 1", f"share of true directions found (cosine 0.9), from {start}")
        for name, start in _STARTS.items()
    },
    **{name: Meaning("per activation", f"{name}_loss less truth_loss") for name in ("pairs", "random")},
    **{
        f"{name}_se": Meaning("per activation", f"standard error of {name}_loss less truth_loss")
        for name in ("pairs", "random")
    },
}
_SMALL = ({"ns": (16,), "nd": (6,), "p": (0.05,), "price": (0.05,), "steps": (30,), "seed": (0,)},)

RUNS = (
    Run(
        name="dictionary-prices",
        feeds="where the truth minimises the loss of a sparse autoencoder, and where training finds it",
        computes=least_loss,
        columns=_COLUMNS,
        predicted=(beyond_truth,),
        small=_SMALL,
        full=(
            {"ns": (64,), "nd": (24,), "price": _PRICES, **_SET},
            {"ns": (256,), "nd": (96,), "price": _PRICES[:2], **_SET},
        ),
        hours={"small": 0.001, "full": 0.15},
    ),
    Run(
        name="dictionary-path-ends",
        feeds="whether rivals that are trained four times as long cost less than the truth",
        computes=least_loss,
        columns=_COLUMNS,
        predicted=(beyond_truth,),
        small=_SMALL,
        full=(
            {"ns": (128,), "nd": (38,), "p": (0.03,), "price": (0.025, 0.035), "steps": (1500, 6000), "seed": _DRAWN},
            {"ns": (256,), "nd": (96,), "p": (0.05,), "price": (0.036,), "steps": (6000,), "seed": (8, 9)},
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
)
