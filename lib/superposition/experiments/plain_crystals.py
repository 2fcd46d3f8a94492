"""Plain descent from crystals and from dense starts: which codes it keeps, from how near, and which it finds."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from superposition.experiments.shared import FEATURES, LOSS, OVER_RUG, Probability, Seed, Steps, over_rug
from superposition.inputs import Count, Real
from superposition.placing import placed
from superposition.runs.point import Columns, Meaning, Run

Start = Annotated[
    Literal["fans", "swept", "plain", "levels", "sparse", "rare first", "shaken"],
    Meaning(
        "fans, swept, plain, levels, sparse, rare first, shaken",
        "where plain descent starts: tiles of ten features in a plane, or a dense start of "
        "superposition.codes.train_plain",
    ),
]
Ratio = Annotated[
    Real, Field(ge=1), Meaning("1 or more", "ratio of loudness of fans, of pairs of swept fans; else not used")
]
Noise = Annotated[
    Real, Field(ge=0), Meaning("0 or more", "standard deviation of what is added to every weight of a crystal")
]
Ns = Annotated[Count, Field(ge=10, multiple_of=10), FEATURES]
Lr = Annotated[Real, Field(gt=0), Meaning("above 0", "largest learning rate of Adam")]


@placed
def crystal(
    *, start: Start, ratio: Ratio, noise: Noise, ns: Ns, p: Probability, lr: Lr, steps: Steps, seed: Seed,
    device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Train a whole network by plain Adam on balanced weights, all of them free."""
    from superposition import codes

    return codes.train_plain(ns, p, start, ratio=ratio, noise=noise, lr=lr, steps=steps, seed=seed)


def one_fifth(columns: Columns) -> Columns:
    """The losses divided by that of the rug at the ratio 1/5, which all networks here have."""
    return over_rug(over_rug="loss", start_over_rug="start_loss")(columns | {"r": 0 * columns["p"] + 0.2})


_run = partial(
    Run,
    computes=crystal,
    columns={
        "start_loss": Meaning(LOSS["loss"].unit, "loss of the first weights"),
        **LOSS,
        "asymmetry": Meaning("0 to 2", "|W - W^T| / |W|, Frobenius norms"),
        **OVER_RUG,
        "start_over_rug": Meaning("no unit", "start_loss over the rug's loss at the same p and ratio"),
    },
    predicted=(one_fifth,),
)
_FIVE = {"ns": (250,), "p": (0.05,), "seed": (0, 1, 2, 3, 4)}
_SMALL = {"ratio": (4,), "noise": (0.01,), "ns": (20,), "p": (0.05,), "lr": (1e-3,), "steps": (20,), "seed": (0,)}

RUNS = (
    _run(
        name="rug-crystal-plain",
        feeds="plain Adam on balanced weights from fans and swept fans, and how near it must begin",
        small=({"start": ("swept",), **_SMALL},),
        full=(
            {"start": ("swept",), "ratio": (4,), "noise": (0.003, 0.01, 0.02, 0.03, 0.05), "lr": (1e-3,),
             "steps": (1500,), **_FIVE},
            {"start": ("swept",), "ratio": (6,), "noise": (0.003,), "lr": (1e-3,), "steps": (1500,), **_FIVE},
            {"start": ("fans",), "ratio": (4,), "noise": (3e-4,), "lr": (1e-4,), "steps": (3000,), **_FIVE},
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
    _run(
        name="rug-crystal-dense",
        feeds="can plain descent find a crystal from a dense random start: four ways beside the plain one",
        small=({"start": ("levels",), **_SMALL},),
        full=(
            {"start": ("plain", "levels", "sparse", "rare first", "shaken"), "ratio": (1,), "noise": (0,),
             "lr": (3e-3,), "steps": (2500,), **_FIVE},
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
)  # fmt: skip
