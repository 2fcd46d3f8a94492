"""Which directions have the least loss of a sparse autoencoder at which price: by descents, and without training."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from superposition.experiments.shared import Nd, Ns, Probability, Seed, Steps
from superposition.inputs import Real
from superposition.runs.point import Columns, Meaning, Run

MEASURED, SCORED = 20_000, 2000  # fresh activations that losses and scores are measured on
NUMBERS = 2**21  # features drawn for one border
GENTLY, RATE = 0.003, 0.01  # first learning rates: from the truth, which is not to be shaken off, and from elsewhere


Price = Annotated[Real, Field(gt=0), Meaning("above 0", "lambda, the price of activity in the loss")]


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


def borders(*, ns: Ns, nd: Nd, p: Probability, seed: Seed) -> dict[str, float]:
    """Prices at which the truth of one rug costs as much as pairs that know nothing of it, without training.

    All directions are read along themselves, with the gain and the bias that are best on the same activations.
    """
    import numpy as np
    from scipy.optimize import brentq
    from scipy.stats import ortho_group

    from superposition import decoders

    truth = decoders.dictionary(ns, nd, "rug", p=p, seed=seed)
    pairs_seed, lines_seed, data_seed = (int(s) for s in np.random.SeedSequence(seed).generate_state(3))
    h = truth.activations(-(-NUMBERS // ns), seed=data_seed)[1]
    h -= h.mean(axis=0)
    lines = ortho_group.rvs(nd, random_state=lines_seed)
    pairs = decoders.dictionary(ns, nd, "antipodal", p=p, seed=pairs_seed).directions
    gains = {
        name: _saved(h, directions, thresholds)
        for name, directions, thresholds in (
            ("truth", truth.directions, np.linspace(-0.05, 0.25, 16)),
            ("pairs", pairs, np.linspace(-0.05, 0.15, 11)),
            ("orthogonal", np.hstack((lines, -lines)), np.linspace(-0.05, 0.15, 11)),
        )
    }
    return {
        name: float(np.exp(brentq(lambda x, own=own: gains["truth"](np.exp(x)) - own(np.exp(x)), *np.log(BETWEEN))))
        for name, own in gains.items()
        if name != "truth"
    }


def _saved(h, directions, thresholds):
    """How much latents a ReLU(h d - t) save of the loss, as a function of the price, at the best a and t.

    With F the reconstruction and C the sum of the latents at a = 1, the loss is E|h|^2/2 - a E h.F + a^2 E|F|^2/2 +
    price a E C, so that the best a saves (E h.F - price E C)^2 / (2 E|F|^2).
    """
    import numpy as np
    from scipy.interpolate import CubicSpline

    drive, rows = h @ directions, []
    for t in thresholds:
        latents = np.maximum(drive - t, 0)
        mean = latents.mean(axis=0)
        rebuilt = latents @ directions.T - directions @ mean  # the center of the decoder takes the mean
        rows.append((np.einsum("ij,ij", h, rebuilt), np.einsum("ij,ij", rebuilt, rebuilt), len(h) * mean.sum()))
    fine = np.linspace(thresholds[0], thresholds[-1], 1000)
    along, square, active = CubicSpline(thresholds, np.array(rows) / len(h))(fine).T
    return lambda price: float(np.max(np.maximum(along - price * active, 0) ** 2 / square) / 2)


def large_border(columns: Columns) -> Columns:
    """The border of a large rug, lambda_1, and how far above it that of this one lies."""
    import numpy as np

    from superposition.decoders import border_price

    places = np.unique(np.column_stack([columns[name] for name in ("ns", "nd", "p")]), axis=0)
    known = {tuple(one): border_price(float(one[2]), float(one[1] / one[0])) for one in places}
    rows = zip(columns["ns"], columns["nd"], columns["p"], strict=True)
    limit = np.array([known[one] for one in rows])
    return {"limit": limit, "excess": columns["pairs"] / limit - 1}


_STARTS = {
    "truth": "the truth, after a third of the steps at a low rate",
    "pairs": "an antipodal rug that knows nothing of the truth",
    "random": "random directions",
}
_PRICES = (0.027, 0.036, 0.048, 0.064, 0.085)  # a factor of 4/3
_DESCENDED = {
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
BETWEEN = (0.003, 0.3)  # prices between which a border is searched for
_PLACES = ((0.03, 5 / 16), (0.05, 3 / 8), (0.08, 7 / 16))
_SMALL = ({"ns": (16,), "nd": (6,), "p": (0.05,), "price": (0.05,), "steps": (30,), "seed": (0,)},)
_RECIPES = (0xF1E2, 0x5CAF, 0xB716, 0x5FCE)  # truths of dictionary-recipe
_SET = {"p": (0.05,), "steps": (1500,), "seed": tuple(range(8, 16))}

RUNS = (
    Run(
        name="dictionary-prices",
        feeds="where the truth minimises the loss of a sparse autoencoder, and where training finds it",
        computes=least_loss,
        columns=_DESCENDED,
        predicted=(beyond_truth,),
        small=_SMALL,
        full=(
            {"ns": (64,), "nd": (24,), "price": _PRICES, **_SET},
            {"ns": (256,), "nd": (96,), "price": _PRICES[:2], **_SET},
        ),
        hours={"small": 0.001, "full": 0.15},
    ),
    Run(
        name="dictionary-limits",
        feeds="whether the truth is the minimum where the recipe for the price ends, at the place where it is refused",
        computes=least_loss,
        columns=_DESCENDED,
        predicted=(beyond_truth,),
        small=_SMALL,
        full=({"ns": (128,), "nd": (38,), "p": (0.03,), "price": (0.025, 0.035), "steps": (1500,), "seed": _RECIPES},),
        hours={"small": 0.001, "full": 0.03},
    ),
    Run(
        name="dictionary-borders",
        feeds="the price above which the truth costs less than pairs, without training, up to 1024 features",
        computes=borders,
        columns={
            "pairs": Meaning("a price", "where the truth costs as much as an antipodal rug that knows nothing of it"),
            "orthogonal": Meaning("a price", "where it costs as much as both senses of orthogonal lines"),
            "limit": Meaning("a price", "where it costs as much as pairs on a large rug (`border_price`)"),
            "excess": Meaning("no unit", "pairs over limit, less 1"),
        },
        predicted=(large_border,),
        small=({"ns": (16,), "nd": (6,), "p": (0.05,), "seed": (0,)},),
        full=tuple(
            {"ns": (ns,), "nd": (int(r * ns),), "p": (p,), "seed": tuple(range(5))}
            for ns in (64, 128, 256, 512, 1024)
            for p, r in _PLACES
        ),
        hours={"small": 0.001, "full": 0.07},
    ),
)
