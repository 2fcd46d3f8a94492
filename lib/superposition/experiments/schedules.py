"""Sparse autoencoders whose price changes during training, on known truths with and without company."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from superposition.experiments.shared import Kind, Nd, Ns, Probability, Seed, Steps
from superposition.inputs import Real
from superposition.placing import placed
from superposition.runs.point import Meaning, Run

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from superposition.decoders import Dictionary, SparseAutoencoder

STARTS, BATCH, SHIFT = 2, 4000, 1000  # autoencoders a point; activations that measure; seeds: the truth's plus so much
OPPOSITE = -0.8  # cosine below which two latents count as a pair of opposite directions
# the recipe: least share of latents that two starts share, the square of nine tenths, and largest with an opposite one
AGREED, OPPOSED = 0.81, 0.05
GROUP = 8  # features that share a common cause
LARGEST = 0.5  # probability of a feature under a power law

Price = Annotated[
    Real,
    Field(gt=0),
    Meaning("above 0", "lambda at the end; for TopK the number of latents that pass over that of features on"),
]
First = Annotated[Real, Field(ge=0, le=1000), Meaning("0 to 1000", "price of the first step over the price at the end")]
Share = Annotated[
    Real, Field(gt=0, le=1), Meaning("(0, 1]", "share of the steps after which the final price is reached")
]
Rate = Annotated[Real, Field(gt=0), Meaning("above 0", "first learning rate of Adam")]
Ingredient = Annotated[
    Literal["copula", "groups", "frequencies"],
    Meaning("copula, groups, frequencies", "Gaussians with a common part; a switch for eight; a power law"),
]
Degree = Annotated[
    Real,
    Field(ge=0, le=1),
    Meaning("0 to 1", "correlation of the Gaussians; from a switch always on to one on with p; exponent"),
]


@placed
def scheduled(
    *, ns: Ns, nd: Nd, p: Probability, kind: Kind, price: Price, first: First, share: Share, lr: Rate, steps: Steps,
    seed: Seed, device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train two autoencoders on a rug of known directions with a price that changes, and score both."""
    from superposition import decoders

    truth = decoders.dictionary(ns, nd, "rug", p=p, seed=seed)
    last = max(1, round(price * p * ns)) if kind == "topk" else price
    options = {"kind": kind, "schedule": (first, share), "lr": lr, "steps": steps, "tangent": True}
    saes = decoders.train_saes(truth, [last] * STARTS, seed=seed + SHIFT, **options)
    return described(truth, saes, last if kind == "relu" else 0.0, seed)


def chosen_price(prices: ArrayLike, agree: ArrayLike, opposite: ArrayLike) -> float:
    """The recipe for the price without the truth: the lowest price that looks right, or nan.

    Two starts are trained with a falling price at each of several final prices. A price looks right if the two agree on
    .81 of their latents, and at most one latent in twenty has an opposite one. Starts that find nine tenths of the
    directions, and miss different ones by chance, agree on .81.
    """
    right = (np.asarray(agree) >= AGREED) & (np.asarray(opposite) <= OPPOSED)
    return float(np.asarray(prices)[right].min()) if right.any() else np.nan


@placed
def in_company(
    *, ns: Ns, nd: Nd, p: Probability, ingredient: Ingredient, degree: Degree, price: Price, first: First, share: Share,
    steps: Steps, seed: Seed, device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train two ReLU autoencoders on features in company, with a price that changes, and score both."""
    from superposition import decoders

    truth = company(ns, nd, p, ingredient, degree, seed)
    options = {"schedule": (first, share), "steps": steps, "tangent": True}
    saes = decoders.train_saes(truth, [price] * STARTS, seed=seed + SHIFT, **options)
    return described(truth, saes, price, seed)


def company(ns: int, nd: int, p: float, ingredient: str, degree: float, seed: int) -> Dictionary:
    """A rug of features that share causes in groups of eight, or whose frequencies differ; of mean probability p."""
    from dataclasses import dataclass

    from scipy.stats import norm

    from superposition import checks, decoders

    if ingredient == "frequencies":
        return decoders.dictionary(ns, nd, "rug", p=p, exponent=degree, p_max=max(p, LARGEST), seed=seed)

    @dataclass(frozen=True, eq=False)
    class Company(decoders.Dictionary):
        def activations(self, batch, *, seed):
            rng = checks.generator("seed", seed)

            def shared(causes):
                return causes.repeat(GROUP, axis=1)[:, order]

            if ingredient == "copula":
                cause = shared(rng.standard_normal((batch, -(-ns // GROUP))))
                z = np.sqrt(degree) * cause + np.sqrt(1 - degree) * rng.standard_normal((batch, ns))
                on = z > norm.isf(self.p)
            else:
                switch = 1 - degree * (1 - p)  # the probability that a group can be on
                on = shared(rng.random((batch, -(-ns // GROUP))) < switch) & (rng.random((batch, ns)) < p / switch)
            x = rng.random(on.shape) * on
            return x, x @ self.directions.T

    plain = decoders.dictionary(ns, nd, "rug", p=p, seed=seed)
    order = np.random.default_rng(seed).permutation(ns)
    return Company(plain.kind, plain.directions, plain.p)


def described(truth: Dictionary, saes: list[SparseAutoencoder], price: float, seed: int) -> dict[str, float]:
    """Means over the autoencoders of their scores, of what shows without the truth, and how well they agree."""
    from superposition import decoders

    x, h = truth.activations(BATCH, seed=seed + 2 * SHIFT)
    rows = []
    for sae in saes:
        codes = sae.encode(h)
        found = decoders.scores(truth, x, codes, sae.W_dec, offset=sae.b_dec)
        overlaps = sae.W_dec.T @ sae.W_dec - np.eye(sae.W_dec.shape[1])
        rows.append(
            {
                "recovered": found.recovered,
                "explained": found.explained,
                "l0": found.l0,
                "dead": found.dead,
                "priced": float(decoders.sae_losses(sae, price, h).mean()),
                "error": found.loss,
                "overlap": float(np.abs(overlaps).mean()),
                "opposite": float(np.mean(overlaps.min(axis=0) < OPPOSITE)),
                "agree": _agreement(sae, saes),
            }
        )
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def _agreement(sae: SparseAutoencoder, saes: list[SparseAutoencoder]) -> float:
    """Share of the latents that have one of cosine 0.9 in every other autoencoder."""
    others = [np.max(other.W_dec.T @ sae.W_dec, axis=0) >= 0.9 for other in saes if other is not sae]
    return float(np.mean(np.all(others, axis=0)))


COLUMNS = {
    "recovered": Meaning("0 to 1", "share of true directions with a matched latent of cosine 0.9 or more"),
    "explained": Meaning("at most 1", "share of the variance of the activations"),
    "l0": Meaning("latents", "mean number of latents that are on"),
    "dead": Meaning("latents", "number of latents that are never on"),
    "priced": Meaning(
        "per activation", "half the squared error plus, for ReLU, the final price times the latents' sum"
    ),
    "error": Meaning("squared error, per feature", "squared error of matched latents as estimates of the features"),
    "overlap": Meaning("0 to 1", "mean size of the cosine of two decoder directions"),
    "opposite": Meaning("0 to 1", "share of latents with another one of cosine below -0.8"),
    "agree": Meaning("0 to 1", "share of latents with one of cosine 0.9 or more in the other autoencoder"),
}
_EIGHT, _SIXTEEN, _THREE = {"seed": tuple(range(16, 24))}, {"seed": tuple(range(24, 40))}, {"seed": (16, 17, 18)}
CONSTANT, FALLING, RISING = (1.0, 1.0), (3.0, 0.6), (1 / 3, 0.6)
_RELU = {"p": (0.05,), "kind": ("relu",)}
_NARROW = {"ns": (64,), "nd": (24,), "price": (0.048,), **_RELU}
_TOPK = {"kind": ("topk",), "price": (1.0, 1.5, 2.0)}
_JUMPRELU = {"kind": ("jumprelu",), "price": (0.003, 0.01, 0.03)}
_MIDDLE = {"ns": (256,), "nd": (96,), "price": (0.036,), **_RELU}
_RATE, _STEPS = {"lr": (0.01,)}, {"steps": (1500,)}
# digits of the names that git gave to the commits that wrote `chosen_price`, and that set AGREED to .81
_DRAWN, _DRAWN_AGAIN = (0xF1E2, 0x5CAF), (0xB716, 0x5FCE)
_SIX, _FIVE = (0.1, 0.07, 0.05, 0.035, 0.025, 0.018), (0.1, 0.07, 0.05, 0.035, 0.025)
_RECIPE = {"ns": (128,), "kind": ("relu",), "first": (3.0,), "share": (0.6,), **_RATE}
_SMALL = {"ns": (16,), "nd": (8,), "p": (0.05,), "price": (0.1,), "first": (3.0,), "share": (0.6,), "steps": (20,),
          "seed": (0,)}  # fmt: skip
_SMALL_RELU = ({**_SMALL, "kind": ("relu",), "lr": (0.01,)},)


def each(schedules, **block):
    """One block of the grid for each schedule."""
    return tuple({**block, "first": (first,), "share": (share,)} for first, share in schedules)


RUNS = (
    Run(
        name="dictionary-schedules",
        feeds="what a price finds that falls during training, and what a constant one does, at two sizes",
        computes=scheduled,
        columns=COLUMNS,
        small=_SMALL_RELU,
        full=(
            *each((CONSTANT, FALLING), **_MIDDLE, **_RATE, **_STEPS, seed=tuple(range(16, 21))),
            *each((FALLING,), **_MIDDLE | {"price": (0.018,)}, **_RATE, **_STEPS, **_THREE),
            *each((CONSTANT, FALLING), **_NARROW, **_RATE, **_STEPS, seed=(18, 19, 20)),
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
    Run(
        name="dictionary-efforts",
        feeds="three and five truths more of both ways, and a constant price with twice the steps",
        computes=scheduled,
        columns=COLUMNS,
        small=_SMALL_RELU,
        full=(
            *each((CONSTANT, FALLING), **_MIDDLE, **_RATE, **_STEPS, seed=(21, 22, 23)),
            *each((CONSTANT, FALLING), **_NARROW, **_RATE, **_STEPS, seed=(16, 17, 21, 22, 23)),
            *each((CONSTANT,), **_MIDDLE, **_RATE, steps=(3000,), **_EIGHT),
            *each((CONSTANT,), **_NARROW, **_RATE, steps=(3000,), **_EIGHT),
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
    Run(
        name="dictionary-recipe",
        feeds="the recipe for the price without the truth, tried on truths that were drawn after it was written",
        computes=scheduled,
        columns=COLUMNS,
        small=_SMALL_RELU,
        full=(
            *(
                {**_RECIPE, **_STEPS, "nd": (nd,), "p": (p,), "seed": seeds, "price": prices}
                for p, nd, seeds, prices in (
                    (0.03, 38, _DRAWN, _SIX), (0.08, 58, _DRAWN, _SIX),
                    (0.03, 38, _DRAWN_AGAIN, _FIVE), (0.05, 48, _DRAWN_AGAIN, _FIVE),
                )
            ),
            {  # near the border, on longer paths
                **_RECIPE, "nd": (38,), "p": (0.03,), "seed": _DRAWN + _DRAWN_AGAIN, "price": (0.025, 0.035),
                "steps": (3000, 6000, 12_000),
            },
        ),
        hours={"small": 0.001, "full": 0.05},
    ),
    Run(
        name="dictionary-kinds",
        feeds="whether TopK and JumpReLU find more if their number of latents, or their price, falls or rises",
        computes=scheduled,
        columns=COLUMNS,
        small=({**_SMALL, "kind": ("jumprelu",), "price": (0.01,), **_RATE},),
        full=(
            *each((CONSTANT, FALLING, RISING), **_NARROW | _TOPK, **_RATE, **_STEPS, **_EIGHT),
            *each((CONSTANT, FALLING, RISING), **_NARROW | _JUMPRELU, **_RATE, **_STEPS, **_EIGHT),
            # sixteen truths more where eight left a gain at 2.8 standard errors
            *each((CONSTANT, FALLING), **_NARROW | _JUMPRELU | {"price": (0.01,)}, **_RATE, **_STEPS, **_SIXTEEN),
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
    Run(
        name="dictionary-company",
        feeds="whether a falling price finds more where features come together",
        computes=in_company,
        columns=COLUMNS,
        small=({**_SMALL, "ingredient": ("copula",), "degree": (0.5,)},),
        full=tuple(
            block
            for ingredient, degrees in (
                ("copula", (0.0, 0.8)), ("groups", (0.95,)), ("frequencies", (1.0,))
            )
            for block in each(
                (CONSTANT, FALLING), ns=(128,), nd=(48,), p=(0.05,), ingredient=(ingredient,), degree=degrees,
                price=(0.04,), **_STEPS, **_THREE,
            )
        ),
        hours={"small": 0.001, "full": 0.15},
    ),
)  # fmt: skip
