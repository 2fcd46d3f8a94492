"""Trained networks below r = 1/2: the structure of W behind their loss, and attempts to lead training elsewhere."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from superposition import checks
from superposition.experiments.shared import (
    DIMENSIONS,
    FEATURES,
    LOSS,
    OVER_RUG,
    Features,
    Probability,
    Ratio,
    Seed,
    Steps,
    over_rug,
)
from superposition.inputs import Count, Real, UpTo
from superposition.placing import placed
from superposition.runs.point import Meaning, Run

Samples = Annotated[Count, Field(ge=2), Meaning("feature vectors", "feature vectors that measure each ablation")]
Method = Annotated[
    Literal["plain", "softplus", "sparse encoder", "unequal", "fans", "blocks", "growing", "pruned", "cones", "tiles"],
    Meaning(
        "plain, softplus, sparse encoder, unequal, fans, blocks, growing, pruned, cones, tiles",
        "how training was led: the start or penalty of superposition.codes.train_dense, or ten blocks imposed",
    ),
]
LedRatio = Annotated[
    Real,
    Field(ge=1),
    Meaning("1 or more", "loudness of a feature over the next one's where method is fans or cones; not used otherwise"),
]
Ns = Annotated[Count, Field(ge=4), FEATURES]
Nd = Annotated[Count, Field(ge=2), AfterValidator(UpTo("ns", "ns")), DIMENSIONS]


def ablated_autoencoder(
    *, ns: Features, p: Probability, r: Ratio, steps: Steps, samples: Samples, seed: Seed, device: str = "cpu"
) -> dict[str, float | int]:
    """Train one autoencoder by the earlier protocol, describe W, and take its structure away piece by piece."""
    from superposition import diagnosis
    from superposition.rug import train_autoencoder

    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    model = train_autoencoder(ns, nd, p, steps=steps, protocol="earlier", seed=seed, device=device)
    W = (model.W_out @ model.W_in).astype(float)
    losses = diagnosis.ablated_losses(W, p, samples=samples, seed=seed)
    return {
        "nd": nd,
        "trained_loss": model.loss,
        **diagnosis.code_structure(W),
        **{f"{name}_loss": found.mean for name, found in losses.items()},
        "refitted_loss_se": losses["refitted"].se,
    }


@placed
def led_network(
    *, method: Method, ratio: LedRatio, ns: Ns, nd: Nd, p: Probability, steps: Steps, seed: Seed, device: str = "cpu"
) -> dict[str, float]:
    """Try to lead the training of a whole network to a loud and quiet code."""
    from superposition import codes

    if method == "blocks":
        return codes.train_blocks(ns, nd, p, steps=steps, seed=seed)
    lr = 3e-4 if method in ("fans", "cones") else 3e-3
    return codes.train_dense(ns, nd, p, method, steps=steps, lr=lr, ratio=ratio, seed=seed)


_ASYMMETRY = {"asymmetry": Meaning("0 to 2", "|W - W^T| / |W|, Frobenius norms")}
_LOSSES = {
    "trained": "of the network",
    "refitted": "of W itself with the best bias and gain for each output",
    "symmetric": "of the symmetric part of W, refitted",
    "no_mean": "without the direction of the mean on either side of W, refitted",
    "gaussian": "with all interference replaced by Gaussian noise of its mean and variance, refitted",
    "exact_1": "with the most negative entry of each row as it is and Gaussian noise for the others, refitted",
    **{f"exact_{k}": f"with the {k} most negative entries as they are, refitted" for k in (4, 16, 48)},
}
_ABLATED = {
    "nd": DIMENSIONS,
    **_ASYMMETRY,
    "positive": Meaning("eigenvalues", "eigenvalues of (W + W^T)/2 above a tenth of the largest"),
    "level": Meaning("no unit", "mean of these eigenvalues"),
    "level_spread": Meaning("no unit", "standard deviation over mean of these eigenvalues"),
    "inhibition": Meaning("no unit", "-1^T W 1 / ns"),
    "partners": Meaning("features", "entries of a row of W below -0.25 of its diagonal, mean over rows"),
    "mutual": Meaning("0 to 1", "share of these entries that are so both ways"),
    "clustering": Meaning(
        "0 to 1",
        "closed paths of two steps over all of them in the graph of mutual partners; partners / ns in a random graph",
    ),
    "cap": Meaning("no unit", "99.9 % quantile of the off-diagonal entries of W over its mean diagonal"),
    **{f"{name}_loss": Meaning(LOSS["loss"].unit, f"loss {of}") for name, of in _LOSSES.items()},
    "refitted_loss_se": Meaning(LOSS["loss"].unit, "standard error of refitted_loss over feature vectors"),
    **{name: Meaning("no unit", f"{name}_loss over the rug's loss at nd / ns") for name in _LOSSES},
    "refitted_se": Meaning("no unit", "standard error of refitted over feature vectors"),
}
_LED = {
    **LOSS,
    **_ASYMMETRY,
    **OVER_RUG,
    "spread": Meaning(
        "natural logarithm", "standard deviation over features of the logarithm of the norm of the encoder's column"
    ),
    "strongest": Meaning("no unit", "most negative entry of a row of W over its diagonal, median over features"),
}
_led = partial(Run, computes=led_network, columns=_LED, predicted=(over_rug(over_rug="loss"),))

_FIVE = {"seed": (0, 1, 2, 3, 4)}
_WHERE = {"p": (0.05,), "r": (0.2,)}
_DENSE = ("plain", "softplus", "sparse encoder", "unequal")
_SIZE = {"ns": (256,), "nd": (51,), "p": (0.05,)}

RUNS = (
    Run(
        name="rug-ablations",
        feeds="which structure of a trained W makes its loss: symmetry, inhibition, mutual partners",
        computes=ablated_autoencoder,
        columns=_ABLATED,
        predicted=(over_rug(refitted_se="refitted_loss_se", **{name: f"{name}_loss" for name in _LOSSES}),),
        small=({"ns": (32,), **_WHERE, "steps": (200,), "samples": (500,), "seed": (0,)},),
        full=({"ns": (256,), **_WHERE, "steps": (2000,), "samples": (60_000,), **_FIVE},),
        hours={"small": 0.001, "full": 0.04},
    ),
    _led(
        name="rug-crystal",
        feeds="can training be led to loud and quiet codes: blocks imposed, dense starts, fans as the start",
        small=({"method": ("plain", "blocks"), "ratio": (1,), "ns": (40,), "nd": (20,), "p": (0.05,), "steps": (20,),
                "seed": (0,)},),
        full=(
            {"method": ("blocks",), "ratio": (1,), **_SIZE, "steps": (3000,), **_FIVE},
            {"method": _DENSE, "ratio": (1,), **_SIZE, "steps": (1000,), **_FIVE},
            {"method": ("fans",), "ratio": (4,), **_SIZE, "steps": (1000,), **_FIVE},
        ),
        hours={"small": 0.001, "full": 0.2},
    ),
    _led(
        name="rug-crystal-ways",
        feeds="the same by more ways: pruned and growing dense starts; cones and trained tiles as the start",
        small=({"method": ("growing", "cones"), "ratio": (1,), "ns": (40,), "nd": (20,), "p": (0.05,), "steps": (20,),
                "seed": (0,)},),
        full=(
            {"method": ("cones",), "ratio": (2,), **_SIZE, "steps": (1000,), **_FIVE},
            {"method": ("growing",), "ratio": (1,), **_SIZE, "steps": (2500,), **_FIVE},
            {"method": ("tiles",), "ratio": (1,), **_SIZE, "steps": (500,), **_FIVE},
            {"method": ("pruned",), "ratio": (1,), **_SIZE, "steps": (1000,), **_FIVE},
        ),
        hours={"small": 0.001, "full": 0.2},
    ),
)  # fmt: skip
