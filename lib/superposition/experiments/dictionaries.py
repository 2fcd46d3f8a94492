"""Sparse autoencoders on known dictionaries: three kinds at several prices, and one kind on other overlaps."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from superposition.experiments.shared import LOSS, OVER_RUG, Kind, Nd, Ns, Probability, Seed, Steps, over_rug
from superposition.inputs import Real
from superposition.placing import placed
from superposition.runs.point import Meaning, Run

SCORES = ("mcc", "uniqueness", "precision", "recall", "f1", "l0", "dead", "shrinkage", "explained", "recovered")
BATCH, SHIFT = 2000, 1000  # activations that measure; their seed, and that of the start, are the truth's plus so much


DictionaryPrice = Annotated[
    Real,
    Field(gt=0),
    Meaning(
        "above 0",
        "lambda of ReLU and JumpReLU; for TopK the number of latents that pass over that of features on",
    ),
]
OverlapPrice = Annotated[Real, Field(gt=0), Meaning("above 0", "lambda, the price of the sum of the latents")]
Directions = Annotated[
    Literal["rug", "antipodal", "random", "cone"],
    Meaning("rug, antipodal, random, cone", "law of the overlaps of the true directions"),
]
Exponent = Annotated[Real, Field(ge=0, le=3), Meaning("0 to 3", "how fast frequencies fall with the rank; mean p")]


@placed
def baseline(
    *, ns: Ns, nd: Nd, p: Probability, kind: Kind, price: DictionaryPrice, steps: Steps, seed: Seed,
    device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train one autoencoder on a rug of known directions, and score it on fresh activations."""
    from superposition import decoders

    truth = decoders.dictionary(ns, nd, "rug", p=p, seed=seed)
    return _scored(truth, max(1, round(price * p * ns)) if kind == "topk" else price, kind, steps, seed)


@placed
def over_directions(
    *, ns: Ns, nd: Nd, p: Probability, directions: Directions, exponent: Exponent, price: OverlapPrice, steps: Steps,
    seed: Seed, device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train one autoencoder of ReLUs on directions of any kind, and score it on fresh activations."""
    from superposition import decoders

    truth = decoders.dictionary(ns, nd, directions, p=p, exponent=exponent, seed=seed)
    return _scored(truth, price, "relu", steps, seed)


def _scored(truth, price, kind, steps, seed):
    """Scores of one autoencoder that is trained on a truth."""
    from superposition import decoders

    [sae] = decoders.train_saes(truth, [price], kind=kind, steps=steps, seed=seed + SHIFT)
    x, h = truth.activations(BATCH, seed=seed + 2 * SHIFT)
    found = decoders.scores(truth, x, sae.encode(h), sae.W_dec, offset=sae.b_dec)
    return {name: float(getattr(found, name)) for name in (*SCORES, "loss")}


_SAE = "by SAELens' definition (superposition.decoders.Scores)"
_EIGHT = {"p": (0.05,), "steps": (3000,), "seed": tuple(range(8))}
_SMALL = {"ns": (16,), "nd": (8,), "p": (0.05,), "price": (0.1,), "steps": (20,), "seed": (0,)}
_PRICES = {"relu": (0.03, 0.06, 0.1, 0.2), "topk": (0.75, 1.0, 1.5, 2.0), "jumprelu": (0.003, 0.01, 0.03)}

_SCORED = {
    "mcc": Meaning("0 to 1", f"mean absolute cosine of the best one-to-one matching, {_SAE}"),
    "uniqueness": Meaning("0 to 1", f"features nearest to some latent over latents, {_SAE}"),
    "precision": Meaning("0 to 1", f"mean over latents, {_SAE}"),
    "recall": Meaning("0 to 1", f"mean over latents, {_SAE}"),
    "f1": Meaning("0 to 1", f"mean over latents, {_SAE}"),
    "l0": Meaning("latents", f"mean number of latents that are on, {_SAE}"),
    "dead": Meaning("latents", f"number of latents that are never on, {_SAE}"),
    "shrinkage": Meaning("no unit", f"mean ratio of the lengths of reconstruction and activation, {_SAE}"),
    "explained": Meaning("at most 1", f"share of the variance of the activations, {_SAE}"),
    "recovered": Meaning("0 to 1", "share of true directions with a matched latent of cosine 0.9 or more"),
    "loss": Meaning(LOSS["loss"].unit, "squared error of matched latents as estimates of the features"),
    **OVER_RUG,
}

RUNS = (
    Run(
        name="dictionary-baselines",
        feeds="baselines of the benchmark: ReLU with l1, TopK and JumpReLU at several prices, eight truths, two sizes",
        computes=baseline,
        columns=_SCORED,
        predicted=(over_rug(over_rug="loss"),),
        small=({**_SMALL, "kind": ("relu",)},),
        full=tuple(
            {"ns": (ns,), "nd": (nd,), "kind": (kind,), "price": prices, **_EIGHT}
            for ns, nd in ((64, 24), (256, 96))
            for kind, prices in _PRICES.items()
        ),
        hours={"small": 0.001, "full": 0.3},
    ),
    Run(
        name="dictionary-overlaps",
        feeds="autoencoders at one price on four kinds of directions and under Zipf's frequencies, eight truths each",
        computes=over_directions,
        columns=_SCORED,
        predicted=(over_rug(over_rug="loss"),),
        small=({**_SMALL, "directions": ("rug",), "exponent": (0.0,)},),
        full=tuple(
            {"ns": (64,), "nd": (24,), "directions": kinds, "exponent": (exponent,), "price": (0.1,), **_EIGHT}
            for kinds, exponent in ((("rug", "antipodal", "random", "cone"), 0.0), (("rug",), 1.0))
        ),
        hours={"small": 0.001, "full": 0.05},
    ),
)
