"""Receptive fields and their predictions: to first order in the fourth cumulant, and by the law of any gain.

Source: the notes on localization, sections 1 to 3.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from superposition.experiments.shared import Batch, Gain, Initials, Length0, Length1, Pixels, Rate, RatePerNeuron, Seed
from superposition.inputs import Count
from superposition.runs.point import Meaning, Run

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition import receptive


LOOKS = {"fifteenth": 15, "fifth": 5, "half": 2}  # shares of the training after which fields are looked at


Steps = Annotated[Count, Field(ge=15), Meaning("steps", "training steps; then half as many at an eighth of the rate")]
CrowdSize = Annotated[Count, Field(ge=2), Meaning("neurons", "hidden neurons of a network")]
ManyWidthSamples = Annotated[
    Count, Field(ge=100), Meaning("vectors", "vectors of each label, for the tiling and for the losses")
]
OneWidthSamples = Annotated[
    Count, Field(ge=100), Meaning("vectors", "vectors of each label from which law is computed")
]


def one_width(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, initials: Initials, steps: Steps, lr: Rate, batch: Batch,
    samples: OneWidthSamples, seed: Seed, device: str = "auto",
) -> dict[str, float]:  # fmt: skip
    """Width of the field of one neuron: to first order, by the law of any gain, and trained."""
    from superposition import receptive

    bumps = [receptive.kernel_row(n, width) + 0.02 for width in (1.5, 5, 15)]
    first = receptive.best_field(bumps, receptive.nlgp_task(n, xi1, xi2, gain))
    law = receptive.best_tile(receptive.sample_waves(n, xi1, xi2, gain, samples, seed=seed), tiled=False).field
    W = receptive.initial_weights(initials, 1, n, seed=seed)
    looks = stages(W, n, xi1, xi2, gain, steps=steps, lr=lr, batch=batch, seed=seed, device=device)
    found = looks[-1]
    return {
        "first": float(n * receptive.ipr(first)),
        "law": float(n * receptive.ipr(law)),
        **_spread("", n * receptive.ipr(found)),
        "cosine": float(np.median(receptive.best_shift_cosine(found, law))),
        **_emerged(looks),
    }


def many_width(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, K: CrowdSize, steps: Steps, lr: RatePerNeuron, batch: Batch,
    samples: ManyWidthSamples, seed: Seed, device: str = "auto",
) -> dict[str, float]:  # fmt: skip
    """Fields of a network of many neurons: trained, of the best tiling, and to first order."""
    from superposition import receptive

    W = receptive.initial_weights(1, K, n, seed=seed)
    task, how = receptive.nlgp_task(n, xi1, xi2, gain), {"batch": batch, "seed": seed, "device": device}
    tile = receptive.best_tile(receptive.sample_waves(n, xi1, xi2, gain, samples, seed=seed), tiled=True)
    looks = [w[0] for w in stages(W, n, xi1, xi2, gain, steps=steps, lr=lr * K, **how)]
    soon, found = looks[0], looks[-1]
    flowed = flow(W[0], task, steps // 15, lr * K)
    first = receptive.predicted_fields(n, xi1, xi2, gain, K, start="tiled", seed=seed)
    shapes = {"trained": found, "first": first}
    losses = {f"{name}_loss": sampled_loss(w, xi1, xi2, gain, samples, seed + 10**6) for name, w in shapes.items()}
    return {
        **{key: value for name, w in shapes.items() for key, value in describe(name, w, xi1, xi2, gain).items()},
        **describe("tile", tile.field[None], xi1, xi2, gain),
        **losses,
        "tile_loss": sampled_loss(copies(tile.field), xi1, xi2, gain, samples, seed + 10**6),
        "early": _alike(soon, flowed),
    }


def branches(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, K: CrowdSize, steps: Steps, lr: RatePerNeuron, batch: Batch,
    samples: ManyWidthSamples, seed: Seed, device: str = "auto",
) -> dict[str, float]:  # fmt: skip
    """Where training ends from small weights, from a network of waves and from bumps, and the best tiling."""
    from superposition import receptive

    data = receptive.sample_waves(n, xi1, xi2, gain, samples, seed=seed)
    tile = receptive.best_tile(data, tiled=True)
    added, least = receptive.steepest_field(tile, data, seed=seed)
    starts = {
        "small": receptive.initial_weights(1, K, n, scale=1e-3, seed=seed)[0],
        "spread": receptive.predicted_fields(n, xi1, xi2, gain, K, seed=seed),
        "tiled": receptive.starting_fields(n, K, "tiled", seed),
    }
    found = {"tile_ipr": float(n * receptive.ipr(tile.field)), "least": least}
    found["tile_loss"] = sampled_loss(copies(tile.field), xi1, xi2, gain, samples, seed + 10**6)
    found["least_ipr"] = float(n * receptive.ipr(added))
    for name, W in starts.items():
        end = settle(W[None], n, xi1, xi2, gain, steps=steps, lr=lr * K, batch=batch, seed=seed, device=device)[0]
        found[f"{name}_ipr"] = float(np.median(n * receptive.ipr(end)))
        found[f"{name}_loss"] = sampled_loss(end, xi1, xi2, gain, samples, seed + 10**6)
    return found


def settle(
    W: np.ndarray, n: int, xi1: float, xi2: float, gain: float, *, steps: int, lr: float, batch: int, seed: int,
    device: str = "auto",
) -> Float[np.ndarray, "S K n"]:  # fmt: skip
    """Train networks on NLGP data, then half as many steps at an eighth of the rate."""
    return stages(W, n, xi1, xi2, gain, steps=steps, lr=lr, batch=batch, seed=seed, device=device)[-1]


def stages(
    W: np.ndarray, n: int, xi1: float, xi2: float, gain: float, *, steps: int, lr: float, batch: int, seed: int,
    device: str = "auto",
) -> list[Float[np.ndarray, "S K n"]]:  # fmt: skip
    """Weights after each of the shares `LOOKS` of the steps, and at the end, as `settle` returns them."""
    from superposition import receptive

    data = receptive.nlgp_batches(n, xi1, xi2, gain, batch, seed=seed, device=device)
    marks, found = [0, *(steps // part for part in LOOKS.values()), steps], [W]
    for before, mark in itertools.pairwise(marks):
        found.append(receptive.train_fields(found[-1], data, steps=mark - before, lr=lr).W)
    return [*found[1:-1], receptive.train_fields(found[-1], data, steps=steps // 2, lr=lr / 8).W]


def flow(W: ArrayLike, task: receptive.Task, steps: int, lr: float) -> Float[np.ndarray, "K n"]:
    """Gradient descent on the first-order loss, for comparison with training step by step."""
    from superposition import receptive

    W = np.array(W, dtype=np.float64)
    for _ in range(steps):
        W -= lr * receptive.first_order_loss(W, task)[1]
    return W  # pyrefly: ignore[bad-return]: an array


def copies(w: np.ndarray) -> Float[np.ndarray, "twice_n n"]:
    """Return a field at all places of the ring, with either sign."""
    turned = np.stack([np.roll(w, s) for s in range(len(w))])
    return np.concatenate([turned, -turned])


def sampled_loss(W: np.ndarray, xi1: float, xi2: float, gain: float, samples: int, seed: int) -> float:
    """Loss E(yhat - Y)^2 / 2 of a ReLU network on fresh vectors."""
    from superposition import receptive

    rng = np.random.default_rng(seed)
    x1, x0 = (receptive.nlgp_sample(W.shape[1], xi, gain, samples, seed=rng) for xi in (xi1, xi2))
    parts = [np.mean((np.maximum(x @ W.T, 0).mean(axis=1) - y) ** 2) / 4 for x, y in ((x1, 1), (x0, 0))]
    return float(sum(parts))


def describe(name: str, W: np.ndarray, xi1: float, xi2: float, gain: float) -> dict[str, float]:
    """Width and shape of fields, as medians."""
    from superposition import receptive

    shape = {
        "ipr": float(np.median(W.shape[-1] * receptive.ipr(W))),
        "width": float(np.median(receptive.half_energy_width(W))),
        **template_cosines(W, xi1, xi2, gain),
    }
    return {f"{name}_{key}": value for key, value in shape.items()}


def template_cosines(W: np.ndarray, xi1: float, xi2: float, gain: float) -> dict[str, float]:
    """Similarity of fields to two templates, at the best shift."""
    from superposition import receptive

    n = W.shape[-1]
    templates = {"kernel": receptive.kernel_row(n, xi1), "ols": receptive.small_bump_field(n, xi1, xi2, gain, 0)}
    return {name: float(np.median(receptive.best_shift_cosine(W, template))) for name, template in templates.items()}


def _alike(W, V):
    return float(np.median(np.sum(W * V, axis=-1) / np.linalg.norm(W, axis=-1) / np.linalg.norm(V, axis=-1)))


def _emerged(looks):
    """Similarity of fields after a share of the training to the final fields."""
    return {f"end_{name}": _alike(W, looks[-1]) for name, W in zip(LOOKS, looks, strict=False)}


def _spread(prefix, values):
    return {
        f"{prefix}median": float(np.median(values)),
        f"{prefix}lowest": float(values.min()),
        f"{prefix}highest": float(values.max()),
    }


_EMERGED = {
    f"end_{name}": Meaning(
        "-1 to 1", f"cosine, neuron by neuron, of the field after a {name} of the steps with that at the end, median"
    )
    for name in LOOKS
}
_WIDTH = {
    "first": Meaning("n IPR", "of the best field to first order"),
    "law": Meaning("n IPR", "of the best field by the law of any gain"),
    "median": Meaning("n IPR", "median over neurons and networks, of trained fields"),
    "lowest": Meaning("n IPR", "smallest of them"),
    "highest": Meaning("n IPR", "largest of them"),
    "cosine": Meaning("-1 to 1", "cosine of a trained field with the law's at the best shift, median over neurons"),
    **_EMERGED,
}
_TILE = {
    "tile_ipr": Meaning("n IPR", "of the field whose copies at all places, with either sign, make the best network"),
    "tile_loss": Meaning("squared error", "loss E (yhat - Y)^2 / 2 of that network on fresh vectors"),
}
_MANY_COLUMNS = {
    **_TILE,
    "trained_ipr": Meaning("n IPR", "median over the neurons of the trained network"),
    "trained_width": Meaning("pixels", "shortest arc that holds half of sum w^2, median over its neurons"),
    "trained_kernel": Meaning(
        "-1 to 1", "cosine of its fields with the correlations of label 1 at the best shift, median"
    ),
    "trained_ols": Meaning(
        "-1 to 1", "cosine of its fields with the least-squares field of a single-pixel gate at the best shift, median"
    ),
    "first_ipr": Meaning("n IPR", "as trained_ipr, at the minimum of the first-order loss next to tiled bumps"),
    "first_width": Meaning("pixels", "as trained_width, at that minimum"),
    "first_kernel": Meaning("-1 to 1", "as trained_kernel, at that minimum"),
    "first_ols": Meaning("-1 to 1", "as trained_ols, at that minimum"),
    "tile_width": Meaning("pixels", "as trained_width, of the best tiling's field"),
    "tile_kernel": Meaning("-1 to 1", "as trained_kernel, of the best tiling's field"),
    "tile_ols": Meaning("-1 to 1", "as trained_ols, of the best tiling's field"),
    "trained_loss": Meaning("squared error", "its loss E (yhat - Y)^2 / 2 on the same fresh vectors"),
    "first_loss": Meaning("squared error", "as trained_loss, at that minimum"),
    "early": Meaning(
        "-1 to 1",
        "cosine, neuron by neuron, of trained fields with the first-order flow from the same weights after a "
        "fifteenth of the steps, median",
    ),
}
_BRANCHES = {
    **_TILE,
    "least": Meaning(
        "squared error per unit of pre-activation",
        "least slope of the tiling's loss as another field is added, on the vectors of the search: what is below 0 "
        "there may be noise that it fitted, as field-added shows",
    ),
    "least_ipr": Meaning("n IPR", "of that other field"),
    "small_ipr": Meaning("n IPR", "median after training from Xavier weights of scale 0.001"),
    "small_loss": Meaning("squared error", "loss E (yhat - Y)^2 / 2 of that network on fresh vectors"),
    "spread_ipr": Meaning("n IPR", "median after training from the first-order minimum that random weights reach"),
    "spread_loss": Meaning("squared error", "its loss on the same vectors"),
    "tiled_ipr": Meaning("n IPR", "median after training from tiled bumps"),
    "tiled_loss": Meaning("squared error", "its loss on the same vectors"),
}
_RING = {"n": (40,), "xi1": (2,), "xi2": (1,)}
_ONE = {"initials": (8,), "steps": (2000,), "lr": (0.5,), "batch": (4000,), "samples": (5000,)}
_MANY = {"steps": (1500,), "lr": (0.5,), "batch": (4000,), "samples": (10_000,)}
_BRIEF = {"steps": (45,), "batch": (200,), "samples": (300,), "seed": (0,)}
_OTHER = ((3, 1), (1.5, 0.75))
_HELD_OUT = {"n": (36,), "xi1": (2.4,), "xi2": (1.3,)}  # chosen by a reader, after all laws and bounds had been set

RUNS = (
    Run(
        name="field-one",
        feeds="width of the field of one neuron against the gain: predicted and trained",
        computes=one_width,columns=_WIDTH,
        small=({**_RING, **_ONE, **_BRIEF, "initials": (2,), "gain": (0.3, 3)},),
        full=(
            {**_RING, **_ONE, "gain": (0.2, 0.3, 0.5, 1, 3, 10), "seed": (0, 1)},
            {**_HELD_OUT, **_ONE, "gain": (1, 3), "seed": (0, 1)},
        ),
        hours={"small": 0.001, "full": 0.08},
    ),
    Run(
        name="field-many",
        feeds="width, shape and loss of the fields of many neurons: trained, tiled, and to first order",
        computes=many_width,columns=_MANY_COLUMNS,
        small=({**_RING, **_MANY, **_BRIEF, "K": (4,), "gain": (3,)},),
        full=(
            {**_RING, **_MANY, "K": (12, 24), "gain": (0.3, 1, 3), "seed": (0, 1, 2, 3, 4)},
            *({"n": (40,), "xi1": (a,), "xi2": (b,), **_MANY, "K": (12, 24), "gain": (0.3, 1, 3), "seed": (0, 1)}
              for a, b in _OTHER),
        ),
        hours={"small": 0.001, "full": 0.2},
    ),
    Run(
        name="field-branches",
        feeds="where training of many neurons goes from small weights, from waves and from bumps",
        computes=branches,columns=_BRANCHES,
        small=({**_RING, **_MANY, **_BRIEF, "K": (4,), "gain": (3,)},),
        full=({**_RING, **_MANY, "K": (24,), "gain": (0.3, 0.7, 1, 3), "seed": (0, 1)},),
        hours={"small": 0.001, "full": 0.1},
    ),
)  # fmt: skip
