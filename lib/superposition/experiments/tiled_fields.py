"""Is the best tiling by one field the best network? Fields that are added to it, and swapped lengths.

Source: completes the notes on localization, sections 1 and 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from superposition.experiments.predicted_fields import CrowdSize, ManyWidthSamples, Steps
from superposition.experiments.shared import Batch, Gain, Length0, Length1, Pixels, RatePerNeuron, Seed
from superposition.inputs import Count
from superposition.runs.point import Meaning, Run

if TYPE_CHECKING:
    from jaxtyping import Float


AddedSamples = Annotated[
    Count, Field(ge=100), Meaning("vectors", "vectors of each label for the searches; four times as many to read on")
]
BorderSamples = Annotated[
    Count, Field(ge=100), Meaning("vectors", "vectors of each label, and as many again to read on")
]
JoinedSamples = Annotated[
    Count, Field(ge=100), Meaning("vectors", "vectors of each label from which the tile is found")
]
JoinedSteps = Annotated[
    Count, Field(ge=15), Meaning("steps", "training steps; half as many at an eighth of the rate follow")
]


def added_field(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, samples: AddedSamples, seed: Seed
) -> dict[str, float]:
    """Search for a field that improves the best tiling, and for two fields that do; read both on other vectors."""
    from superposition import receptive

    streams = [int(s) for s in np.random.SeedSequence(seed).generate_state(2)]
    known, fresh = (
        receptive.sample_waves(n, xi1, xi2, gain, size, seed=s)
        for size, s in zip((samples, 4 * samples), streams, strict=True)
    )
    tile = receptive.best_tile(known, tiled=True)
    added, least = receptive.steepest_field(tile, known, waves=5, starts=3, seed=seed)
    pair, pair_loss = receptive.best_field_pair(tile, known, starts=1, seed=seed)
    alone = receptive.tiled_network_loss(tile.field[None], fresh)[0]
    return {
        "tile_ipr": float(n * receptive.ipr(tile.field)),
        "searched": least,
        "slope": receptive.added_slope(added, tile, fresh) - receptive.added_slope(tile.field, tile, fresh),
        "added_ipr": float(n * receptive.ipr(added)),
        "added_wave": float(receptive.power_spectrum(added)[1]),
        "pair_searched": pair_loss - tile.loss,
        "pair": receptive.tiled_network_loss(pair, fresh)[0] - alone,
    }


SHARES = np.linspace(0, 1, 6)  # of frequency 1 in the energy of a broad field


def border(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, samples: BorderSamples, seed: Seed
) -> dict[str, float]:
    """Slopes of the loss of the best tiling as broad fields join it; the steepest is chosen and read on two samples."""
    from superposition import receptive

    streams = np.random.SeedSequence(seed).generate_state(2)
    halves = [receptive.sample_waves(n, xi1, xi2, gain, samples, seed=int(s)) for s in streams]
    tiles = [receptive.best_tile(data, tiled=True, widths=(3.0,)) for data in halves]
    read = [[receptive.added_slope(w, *half) for w in broad(n, SHARES)] for half in zip(tiles, halves, strict=True)]
    slopes, chosen = np.array(read), np.argmin(read, axis=1)
    return {
        "tile_ipr": float(np.mean([n * receptive.ipr(tile.field) for tile in tiles])),
        "flat": float(slopes[:, 0].mean()),
        "wave": float(slopes[:, -1].mean()),
        "searched": float(slopes.min(axis=1).mean()),
        "broad": float(slopes[[1, 0], chosen].mean()),
        "share": float(SHARES[chosen].mean()),
    }


def broad(n: int, shares: np.ndarray) -> Float[np.ndarray, "shares n"]:
    """Sums of the flat field and the longest wave, with these shares of the wave in the energy."""
    wave = np.sqrt(2) * np.cos(2 * np.pi * np.arange(n) / n)
    return np.sqrt(1 - shares)[:, None] + np.sqrt(shares)[:, None] * wave


def joined(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, steps: JoinedSteps, lr: RatePerNeuron, batch: Batch,
    samples: JoinedSamples, seed: Seed, device: str = "auto",
) -> dict[str, float]:  # fmt: skip
    """Train a network that starts as the best tiling and a weak pair of broad fields, and watch the pair."""
    from superposition import receptive
    from superposition.experiments.predicted_fields import LOOKS, copies, stages

    data = receptive.sample_waves(n, xi1, xi2, gain, samples, seed=seed)
    tile = receptive.best_tile(data, tiled=True, widths=(3.0,)).field

    def size(fields):
        """Root mean square of the pre-activations."""
        image = np.fft.irfft(data.power * np.fft.rfft(fields), n=n)
        return np.sqrt(np.sum(fields * image, axis=-1))

    own, pair = copies(tile), broad(n, np.array([0.5]))
    pair = pair * size(tile) / size(pair) / 2
    W = np.concatenate([own * (len(own) + 1) / len(own), pair, -pair])  # with the mean output of the tiling alone
    looks = stages(W[None], n, xi1, xi2, gain, steps=steps, lr=lr * len(W), batch=batch, seed=seed, device=device)
    early, later = (looks[list(LOOKS).index(name)][0, -2:] for name in ("fifteenth", "fifth"))
    return {
        "growth": float(np.mean(size(later)) / np.mean(size(early)) - 1),
        "pair_ipr": float(np.mean(n * receptive.ipr(looks[-1][0, -2:]))),
        "tile_ipr": float(n * receptive.ipr(tile)),
    }


def swapped(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, K: CrowdSize, steps: Steps, lr: RatePerNeuron, batch: Batch,
    samples: ManyWidthSamples, seed: Seed, device: str = "auto",
) -> dict[str, float]:  # fmt: skip
    """Train from random weights and from copies of the best tile, and compare with the tiling."""
    from superposition import receptive
    from superposition.experiments.predicted_fields import copies, sampled_loss, settle

    tile = receptive.best_tile(receptive.sample_waves(n, xi1, xi2, gain, samples, seed=seed), tiled=True).field
    own = np.stack([(-1) ** k * np.roll(tile, k * n // K) for k in range(K)])
    starts = {"random": receptive.initial_weights(1, K, n, seed=seed)[0], "tiled": own}
    how = {"steps": steps, "lr": lr * K, "batch": batch, "seed": seed, "device": device}
    ends = {name: settle(W[None], n, xi1, xi2, gain, **how)[0] for name, W in starts.items()}
    found = {}
    for name, W in {"tile": tile[None], **ends}.items():
        found[f"{name}_ipr"] = float(np.median(n * receptive.ipr(W)))
        found[f"{name}_frequency"] = float(np.median(receptive.mean_frequency(W)))
        network = copies(tile) if name == "tile" else W
        found[f"{name}_loss"] = sampled_loss(network, xi1, xi2, gain, samples, seed + 10**6)
    return found


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
_JOINS = "slope of the loss of the best tiling as"
_BORDER = {
    "tile_ipr": Meaning("n IPR", "of the field of the best tiling"),
    "flat": Meaning(_PER_UNIT, f"{_JOINS} the flat field joins"),
    "wave": Meaning(_PER_UNIT, f"{_JOINS} the longest wave joins"),
    "searched": Meaning(
        _PER_UNIT, "the same for the mixture of the two that lowers it most, on the vectors of the choice"
    ),
    "broad": Meaning(_PER_UNIT, "the same for that mixture, on other vectors"),
    "share": Meaning("0 to 1", "share of the wave in the energy of the mixture"),
}
_JOINED = {
    "growth": Meaning("no unit", "growth of the broad pair's pre-activations from a fifteenth to a fifth of the steps"),
    "pair_ipr": Meaning("n IPR", "of the pair at the end"),
    "tile_ipr": Meaning("n IPR", "of the field of the best tiling"),
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
_DRAWN = {"n": (50,), "xi1": (1.7,), "xi2": (0.8,)}  # by a seed, after the code was written
_OTHER_WAY = {"n": (40,), "xi1": (1,), "xi2": (2,), "K": (24,), "lr": (0.5,), "batch": (4000,)}
_BRIEF = {"steps": (45,), "batch": (200,), "samples": (300,), "seed": (0,)}
_FIVE = (0, 1, 2, 3, 4)
_JOINING = {"steps": (1500,), "batch": (2000,), "lr": (0.5,), "samples": (5000,)}

RUNS = (
    Run(
        name="field-added",
        feeds="whether another field improves the best tiling, searched on some vectors and read on others",
        computes=added_field,
        columns=_ADDED,
        small=({**_RING, "gain": (1,), "samples": (300,), "seed": (0,)},),
        full=({**_RING, "gain": (0.3, 1, 3), "samples": (2000,), "seed": _FIVE},),
        hours={"small": 0.001, "full": 0.15},
    ),
    Run(
        name="field-border",
        feeds="the gain at which tilings by one field become best: slopes of the loss as broad fields join",
        computes=border,
        columns=_BORDER,
        small=({**_RING, "gain": (1,), "samples": (300,), "seed": (0,)},),
        full=(
            {**_RING, "gain": (0.8, 0.9, 1), "samples": (20_000,), "seed": tuple(range(10))},
            {**_DRAWN, "gain": (0.6, 0.7, 0.8), "samples": (20_000,), "seed": tuple(range(10))},
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
    Run(
        name="field-joined",
        feeds="does a pair of broad fields grow or shrink in the training of a tiling",
        computes=joined,
        columns=_JOINED,
        small=({**_RING, "gain": (1,), **_JOINING, "steps": (45,), "batch": (200,), "samples": (300,), "seed": (0,)},),
        full=(
            {**_RING, "gain": (0.75, 1.1), **_JOINING, "seed": _FIVE},
            {**_DRAWN, "gain": (0.55, 0.9), **_JOINING, "seed": _FIVE},
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
    Run(
        name="field-swapped",
        feeds="lengths swapped: oscillating fields of trained networks, and of the best tiling",
        computes=swapped,
        columns=_SWAPPED,
        small=({**_OTHER_WAY, **_BRIEF, "gain": (3,), "K": (4,)},),
        full=({**_OTHER_WAY, "gain": (3,), "steps": (2000,), "samples": (5000,), "seed": _FIVE},),
        hours={"small": 0.001, "full": 0.15},
    ),
)  # fmt: skip
