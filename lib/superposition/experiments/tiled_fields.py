"""Is the best tiling by one field the best network: fields that are added to it, and swapped lengths.

Source: completes the notes on localization, sections 1 and 3.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from superposition.experiments.predicted_fields import ManyWidthPoint
from superposition.experiments.shared import Gain, Ring
from superposition.inputs import Count
from superposition.runs.point import Meaning, Run


class AddedPoint(Ring):
    """What `added_field` takes."""

    gain: Gain
    samples: Annotated[
        Count,
        Field(ge=100),
        Meaning("vectors", "vectors of each label for the searches; four times as many to read on"),
    ]


def added_field(
    *, n: int, xi1: float, xi2: float, gain: float, samples: int, seed: int, device: str = "cpu"
) -> dict[str, float]:
    """Search for a field that improves the best tiling, and for two fields that do; read both on other vectors."""
    from superposition.receptive import added_fields, measures, tilings

    streams = [int(s) for s in np.random.SeedSequence(seed).generate_state(2)]
    known, fresh = (
        tilings.sample_waves(n, xi1, xi2, gain, size, seed=s)
        for size, s in zip((samples, 4 * samples), streams, strict=True)
    )
    tile = tilings.best_tile(known, tiled=True)
    added, least = added_fields.steepest(tile, known, waves=5, starts=3, seed=seed)
    pair, pair_loss = added_fields.best_pair(tile, known, starts=1, seed=seed)
    alone = added_fields.network_loss(tile.field[None], fresh)[0]
    return {
        "tile_ipr": float(n * measures.ipr(tile.field)),
        "searched": least,
        "slope": added_fields.slope(added, tile, fresh) - added_fields.slope(tile.field, tile, fresh),
        "added_ipr": float(n * measures.ipr(added)),
        "added_wave": float(measures.power(added)[1]),
        "pair_searched": pair_loss - tile.loss,
        "pair": added_fields.network_loss(pair, fresh)[0] - alone,
    }


def swapped(
    *, n: int, xi1: float, xi2: float, gain: float, K: int, steps: int, lr: float, batch: int, samples: int, seed: int,
    device: str = "auto",
) -> dict[str, float]:  # fmt: skip
    """Train from random weights and from copies of the best tile, and compare with the tiling."""
    from superposition.experiments.predicted_fields import copies, sampled_loss, settle
    from superposition.receptive import measures, tilings, training

    tile = tilings.best_tile(tilings.sample_waves(n, xi1, xi2, gain, samples, seed=seed), tiled=True).field
    own = np.stack([(-1) ** k * np.roll(tile, k * n // K) for k in range(K)])
    starts = {"random": training.initial_weights(1, K, n, seed=seed)[0], "tiled": own}
    how = {"steps": steps, "lr": lr * K, "batch": batch, "seed": seed, "device": device}
    ends = {name: settle(W[None], n, xi1, xi2, gain, **how)[0] for name, W in starts.items()}
    found = {}
    for name, W in {"tile": tile[None], **ends}.items():
        found[f"{name}_ipr"] = float(np.median(n * measures.ipr(W)))
        found[f"{name}_frequency"] = float(np.median(measures.mean_frequency(W)))
        network = copies(tile) if name == "tile" else W
        found[f"{name}_loss"] = sampled_loss(network, xi1, xi2, gain, samples, seed + 10**6)
    return found


_HERE = "superposition.experiments.tiled_fields:"
_PER_UNIT = "squared error per unit of pre-activation"
_ADDED = {
    "tile_ipr": Meaning("n IPR", "of the field of the best tiling"),
    "searched": Meaning(_PER_UNIT, "least slope of its loss as another field is added, on the vectors of the search"),
    "slope": Meaning(_PER_UNIT, "slope for that field on other vectors, less the slope there for the tile's own field"),
    "added_ipr": Meaning("n IPR", "of that added field"),
    "added_wave": Meaning("0 to 1", "share of its energy at frequency 1"),
    "pair_searched": Meaning("squared error", "loss of the best two fields less the tiling's, on the search's vectors"),
    "pair": Meaning("squared error", "the same on other vectors"),
}
_NETWORKS = {
    "tile": "of the best tiling",
    "random": "of a network trained from Xavier weights",
    "tiled": "of a network trained from copies of the best tile",
}
_SWAPPED = {
    **{f"{key}_ipr": Meaning("n IPR", f"{name}, median over neurons") for key, name in _NETWORKS.items()},
    **{
        f"{key}_frequency": Meaning("waves round the ring", f"mean frequency {name}, median over neurons")
        for key, name in _NETWORKS.items()
    },
    **{
        f"{key}_loss": Meaning("squared error", f"loss E (yhat - Y)^2 / 2 {name}, on fresh vectors")
        for key, name in _NETWORKS.items()
    },
}
_RING = {"n": (40,), "xi1": (2,), "xi2": (1,)}
_OTHER_WAY = {"n": (40,), "xi1": (1,), "xi2": (2,), "K": (24,), "lr": (0.5,), "batch": (4000,)}
_BRIEF = {"steps": (45,), "batch": (200,), "samples": (300,), "seed": (0,)}
_FIVE = (0, 1, 2, 3, 4)

RUNS = (
    Run(
        name="field-added",
        feeds="whether another field improves the best tiling, searched on some vectors and read on others",
        function=_HERE + "added_field",
        point=AddedPoint,
        columns=_ADDED,
        small=({**_RING, "gain": (1,), "samples": (300,), "seed": (0,)},),
        full=({**_RING, "gain": (0.3, 1, 3), "samples": (2000,), "seed": _FIVE},),
        hours={"small": 0.001, "full": 0.15},
    ),
    Run(
        name="field-swapped",
        feeds="lengths swapped: oscillating fields of trained networks, and of the best tiling",
        function=_HERE + "swapped",
        point=ManyWidthPoint,
        columns=_SWAPPED,
        small=({**_OTHER_WAY, **_BRIEF, "gain": (3,), "K": (4,)},),
        full=({**_OTHER_WAY, "gain": (3,), "steps": (2000,), "samples": (5000,), "seed": _FIVE},),
        hours={"small": 0.001, "full": 0.15},
    ),
)  # fmt: skip
