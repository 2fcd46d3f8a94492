"""Small codes tuned under a budget, and run in four number formats.

Tiles of two, three and four dimensions at three probabilities and three ratios. "Equal codes" are the better of rug and
antipodal rug by their theory, of any size and without noise; they obey a range and a largest weight of 10. Written
before the map was computed, after trials at other seeds and 35 points of an earlier search, which are not in the table:
under a range of 10 and with no weight above 10, blocks of three and of four dimensions have less loss than equal codes
at all nine places; planes have less at p = 0.05 and 0.2, and more at p = 0.01 under a range of 10 for r = 1/5 and 1/4,
also with 96 starts. A second seed of search and measurement differs by less than 10 % in at least 14 of the 18 cells at
r = 1/4. At p = 0.05 and 0.2 the loss in bfloat16 is larger by less than 0.03 of the rug's. With hidden noise of 0.001,
blocks of four dimensions have less loss than equal codes without noise at p = 0.05 and 0.2 and r = 1/4.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field

from superposition.experiments.shared import LOSS, OVER_RUG, Probability, Seed, over_rug
from superposition.inputs import Count, From, Real
from superposition.runs.point import Meaning, Run

Dimensions = Annotated[Count, Field(ge=2), Meaning("dimensions", "dimensions of the tile")]
Size = Annotated[
    Count, Field(ge=4), AfterValidator(From("2 m", "m", 2)), Meaning("features", "features of the tile; r = m / B")
]
Budget = Annotated[
    Literal["range", "bound", "noise", "decay"],
    Meaning("range, bound, noise, decay", "what limits the code, as in superposition.codes.tuned_code"),
]
Strength = Annotated[
    Real,
    Field(gt=0),
    Meaning(
        "above 0",
        "range: loudest over softest; bound: largest weight; noise: sigma beside an encoder whose longest column is 1; "
        "decay: lambda of lambda (|W_in|^2 + |W_out|^2)/B",
    ),
]
Starts = Annotated[Count, Field(ge=1), Meaning("codes", "starts that were screened")]
Samples = Annotated[Count, Field(ge=2), Meaning("feature vectors", "fresh feature vectors that measure each loss")]
FORMATS = ("float32", "bfloat16", "float16")


def tuned(
    *, m: Dimensions, B: Size, p: Probability, budget: Budget, strength: Strength, starts: Starts, samples: Samples,
    seed: Seed,
) -> dict[str, float | str]:  # fmt: skip
    """Tune all weights of a tile under a budget, and measure it on fresh feature vectors."""
    from superposition import codes, weights

    code = codes.tuned_code(m, B, p, budget, strength, starts=starts, seed=seed)
    noise = strength if budget == "noise" else 0.0
    found = codes.noisy_code_loss(code, p, noise, samples=samples, seed=seed + 1)
    long, read = np.linalg.norm(code.W_in, axis=0), np.linalg.norm(code.W_out, axis=1)
    costs = strength * (np.sum(long**2) + np.sum(read**2)) / B if budget == "decay" else 0.0
    return {
        "loss": found.mean,
        "loss_se": found.se,
        "total": found.mean + costs,
        **{f"{dtype}_loss": _in_format(code, p, samples, seed + 1, dtype) for dtype in FORMATS},
        "range": float(long.max() / long.min()),
        "largest": float(max(np.abs(code.W_in).max(), np.abs(code.W_out).max())),
        "gain": float(np.max(long * read / np.abs(np.diag(code.W)))),
        "weights": weights.packed(code.W_in, code.W_out, code.b),
    }


def _in_format(code, p, samples, seed, dtype):
    """The loss in a number format, that of silence where it overflows."""
    from superposition import codes, features

    even = codes.balanced(code)
    try:
        return codes.network_loss(even, p, samples=samples, seed=seed, dtype=dtype).mean
    except ValueError:
        return float(features.variance(p))


_SMALL = {"m": (2,), "B": (8,), "p": (0.05,), "budget": ("range",), "strength": (10.0,), "starts": (1,)}
_FULL = {"p": (0.05,), "starts": (24,), "samples": (200_000,), "seed": (0,)}
_STRENGTHS = {"range": (10.0, 30.0), "bound": (5.0, 10.0, 30.0), "noise": (1e-3,)}
_PLACES, _DRAWN = 3, {"bound": 10.0, "range": 10.0, "decay": 1e-5, "noise": 1e-3}

_FEATURES = {
    0.2: {2: 10, 3: 15, 4: 20},
    0.25: {2: 8, 3: 12, 4: 16},
    0.4: {2: 5, 3: 8, 4: 10},
}  # by r and m
_MAP = {"p": (0.01, 0.05, 0.2), "starts": (12,), "samples": (50_000,)}


def _map(r, seed, **limits):
    """Tiles of two to four dimensions at a ratio, under some budgets."""
    for m, B in _FEATURES[r].items():
        for budget, strength in limits.items():
            yield {**_MAP, "m": (m,), "B": (B,), "budget": (budget,), "strength": (strength,), "seed": (seed,)}


def _drawn():
    """Tiles at places that a seed draws, written before they were computed."""
    rng = np.random.default_rng(20261130)
    for _ in range(_PLACES):
        m = int(rng.integers(2, 4))
        B = int(rng.integers(-(-5 * m // 2), 4 * m + 1))
        p = round(float(np.exp(rng.uniform(*np.log((0.01, 0.2))))), 4)
        yield {"m": (m,), "B": (B,), "p": (p,), "starts": (12,), "samples": (50_000,), "seed": (1,)}


RUNS = (
    Run(
        name="rug-tempered",
        feeds="codes tuned under each budget, and in each number format",
        computes=tuned,
        columns={
            **LOSS,
            **OVER_RUG,
            "total": Meaning(LOSS["loss"].unit, "loss with what weight decay adds to it"),
            "total_over_rug": Meaning("no unit", "total over the rug's loss at the same p and ratio"),
            **{
                f"{dtype}_loss": Meaning(LOSS["loss"].unit, f"loss in {dtype}, without noise; variance if it overflows")
                for dtype in FORMATS
            },
            "range": Meaning("1 or more", "longest column of the encoder over the shortest"),
            "largest": Meaning("no unit", "largest weight of encoder and decoder"),
            "gain": Meaning("1 or more", "largest |v_t| |w_t| / (v_t w_t), how much an output amplifies hidden noise"),
            "weights": Meaning("base64 of safetensors", "W_in, W_out and b, as superposition.weights packs them"),
        },
        predicted=(over_rug(over_rug="loss", total_over_rug="total"),),
        small=({**_SMALL, "samples": (1000,), "seed": (0,)},),
        full=(
            *(
                {**_FULL, "m": (2,), "B": (8,), "budget": (budget,), "strength": strengths}
                for budget, strengths in _STRENGTHS.items()
            ),
            *(
                {**place, "budget": (budget,), "strength": (most,)}
                for budget, most in _DRAWN.items()
                for place in _drawn()
            ),
            *(cell for r in _FEATURES for cell in _map(r, 11, range=10.0, bound=10.0)),
            *_map(0.25, 12, range=10.0, bound=10.0),
            *_map(0.25, 11, noise=1e-3),
            {**_MAP, "m": (2,), "B": (8,), "p": (0.01,), "budget": ("range",), "strength": (10.0,), "starts": (96,),
             "seed": (13,)},
        ),
        hours={"small": 0.001, "full": 0.5},
    ),
)  # fmt: skip
