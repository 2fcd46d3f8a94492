"""Networks that are taught exclusive features first, beside networks that are trained on the task alone."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field

from superposition.experiments.shared import (
    DEVICE,
    DIMENSIONS,
    FEATURES,
    LOSS,
    OVER_RUG,
    Probability,
    Seed,
    Steps,
    over_rug,
)
from superposition.inputs import Count, Real, UpTo
from superposition.runs.point import Meaning, Run

Ns = Annotated[Count, Field(ge=2), FEATURES]
Nd = Annotated[Count, Field(ge=1), AfterValidator(UpTo("ns", "ns")), DIMENSIONS]
Group = Annotated[Count, Field(ge=1), AfterValidator(UpTo("ns", "ns")), Meaning("features", "features of a group")]
Lesson = Annotated[
    Real, Field(ge=0, le=1), Meaning("0 to 1", "share of the steps until features are independent; 0: no lesson")
]
Lasting = Annotated[Count, Field(ge=0, le=1), Meaning("0, 1", "1 if groups last, 0 if each step draws them anew")]
Lr = Annotated[Real, Field(gt=0), Meaning("above 0", "largest learning rate of Adam")]
Samples = Annotated[Count, Field(ge=2), Meaning("feature vectors", "feature vectors that measure each loss")]


def taught(
    *, ns: Ns, nd: Nd, p: Probability, group: Group, lesson: Lesson, lasting: Lasting, lr: Lr, steps: Steps,
    samples: Samples, seed: Seed, device: str = "auto",
) -> dict[str, float | str]:  # fmt: skip
    """Train a dense network with or without a lesson of exclusive features, and run it in three number formats."""
    from superposition import codes
    from superposition.devices import resolve_device

    code = codes.train_exclusive_first(
        ns, nd, p, group=group, lesson=lesson, lasting=bool(lasting), lr=lr, steps=steps, seed=seed, device=device
    )
    losses = {
        dtype: codes.network_loss(code, p, samples=samples, seed=seed + 1, dtype=dtype)
        for dtype in ("float64", "float32", "bfloat16")
    }
    loud, square = np.linalg.norm(code.W_in, axis=0), code.W**2
    own = np.arange(ns) // group
    between = own[:, None] != own
    return {
        "loss": losses["float64"].mean,
        "loss_se": losses["float64"].se,
        "float32_loss": losses["float32"].mean,
        "bfloat16_loss": losses["bfloat16"].mean,
        "asymmetry": float(np.linalg.norm(code.W - code.W.T) / np.linalg.norm(code.W)),
        "between": float(square[between].sum() / square.sum()),
        "range": float(loud.max() / loud.min()),
        "largest": float(max(np.abs(code.W_in).max(), np.abs(code.W_out).max())),
        "dead": int((np.diag(code.W) < 0.1).sum()),
        "device": str(resolve_device(device)).partition(":")[0],
    }


_run = partial(
    Run,
    computes=taught,
    columns={
        **LOSS,
        **OVER_RUG,
        "float32_loss": Meaning(LOSS["loss"].unit, "loss in float32, on the same feature vectors"),
        "bfloat16_loss": Meaning(LOSS["loss"].unit, "loss in bfloat16, on the same feature vectors"),
        "asymmetry": Meaning("0 to 2", "|W - W^T| / |W|, Frobenius norms"),
        "between": Meaning("0 to 1", "share of the squares of W between features of different groups"),
        "range": Meaning("1 or more", "longest column of the encoder over the shortest"),
        "largest": Meaning("no unit", "largest weight of encoder and decoder"),
        "dead": Meaning("features", "features whose diagonal entry of W is below 0.1"),
        **DEVICE,
    },
    predicted=(over_rug(over_rug="loss"),),
)
_COMMON = {"lasting": (1,), "steps": (6000,), "samples": (40_000,)}
_FIVE, _THREE = {**_COMMON, "seed": (0, 1, 2, 3, 4)}, {**_COMMON, "seed": (0, 1, 2)}
_TRIAL = ({**_COMMON, "ns": (40,), "nd": (8,), "p": (0.05,), "lr": (0.01,), "lesson": (0.3, 0.0), "group": (20,),
           "steps": (20,), "samples": (200,), "seed": (0,)},)  # fmt: skip
_BOTH = {"lesson": (0.3, 0.0), "group": (20,)}
_PLACE = {"ns": (240,), "nd": (48,), "p": (0.05,), "lr": (0.01,)}
_SIZES = ((60, 12, 100_000), (120, 24, 40_000), (480, 96, 20_000), (960, 192, 10_000), (1920, 384, 5_000))

RUNS = (
    _run(
        name="rug-lessons",
        feeds="exclusive features first, or the task alone, by size",
        small=_TRIAL,
        full=(
            {**_FIVE, **_BOTH, **_PLACE},
            {**_FIVE, **_BOTH, **_PLACE, "lesson": (0.0,), "steps": (12_000,)},
            {**_FIVE, **_BOTH, **_PLACE, "lesson": (0.3,), "lasting": (0,)},
            *({**_FIVE, **_BOTH, **_PLACE, "ns": (ns,), "nd": (nd,), "samples": (few,)} for ns, nd, few in _SIZES),
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
    _run(
        name="rug-lessons-elsewhere",
        feeds="the same at other frequencies and ratios, with other groups, lengths and rates",
        small=_TRIAL,
        full=(
            *({**_THREE, **_BOTH, **_PLACE, "p": (p,)} for p in (0.01, 0.02, 0.1, 0.2)),
            *({**_THREE, **_BOTH, **_PLACE, "nd": (nd,)} for nd in (24, 60, 80, 120)),
            {**_THREE, **_PLACE, "lesson": (0.3,), "group": (5, 10, 40, 80)},
            {**_THREE, **_BOTH, **_PLACE, "lesson": (0.1, 0.6)},
            {**_THREE, **_BOTH, **_PLACE, "lr": (0.005, 0.02)},
            {**_THREE, **_PLACE, "p": (0.01,), "lesson": (0.3,), "group": (10, 60)},
            {**_THREE, **_BOTH, **_PLACE, "ns": (960,), "nd": (192,), "lr": (0.005,), "samples": (10_000,)},
            {**_COMMON, **_BOTH, **_PLACE, "ns": (3840,), "nd": (768,), "lr": (0.005,), "samples": (4000,),
             "seed": (0,)},
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
)  # fmt: skip
