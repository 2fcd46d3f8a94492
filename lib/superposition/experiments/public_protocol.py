"""Autoencoders trained as the public code of The Persian Rug trains them, with both stopping rules read from each.

Source: The Persian Rug, section 2 and Figure 3, and the repository that it names.

What was predicted for the maps with 512 features before any of their networks was trained, from those with 128
features; all of it where the text's rule stops:

1. Where p >= 0.5, loss and theory are within 2 % at r >= 0.5, and nearer to each other than with 128 features at
   r = 0.1. The spreads of diagonal and bias and the Lyapunov ratio are smaller than with 128 features in every cell.
2. Where p = 0.1 or 0.3 and r >= 0.5, networks have left the rug here too: the loss is below 0.95 of the theory, though
   above that with 128 features, and the Lyapunov ratio is above 0.9.
3. Where p = 0.02, the diagonal spreads less and loss / theory is lower than with 128 features, at r >= 0.5 by half.
4. Figure 6 as printed, the variance over rows, falls in every cell, whether rows become alike or not, since the sum of
   squares is fixed. The relative spread falls where p >= 0.5 and p = 0.02, and not in the cells of 2.
5. Figure 7's "only" fails at 512 features as it does at 128: where p = 0.02 the Lyapunov ratio is below 0.3.

What was predicted for run rug-public-device before it was started, from the above, from run rug-escape and from run
rug-stopped-large; all of it where the text's rule stops, means over seeds:

6. Where p = 0.5, loss and theory are within 1 % at r >= 0.3 and within 2 % at r = 0.1, with 512 to 8192 features.
7. Where p = 0.1 and r = 0.5, networks of 512 and 1024 features have left the rug (loss below half of the theory,
   Lyapunov ratio above 0.9). Those of 8192 features have not: the rule stops them first, within 3 % of the theory.
8. Where p = 0.02, loss / theory falls with the size in every cell, and is within 5 % of 1 with 8192 features.
9. Where p = 0.5, the Lyapunov ratio falls as one over the root of the size: from 512 to 1024 features by a factor of
   0.6 to 0.85, and from 512 to 8192 by 0.2 to 0.33.
10. Single cells with 512 features of run rug-public-maps, which other feature vectors trained, are within 4 standard
    deviations over seeds of the mean of the three seeds here, in loss and in Lyapunov ratio.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from superposition.experiments.device_draws import Often, Products
from superposition.experiments.shared import (
    ALL_ROWS,
    DEVICE,
    THEORY,
    Features,
    Probability,
    Seed,
    described,
    over_rug,
    theory,
)
from superposition.inputs import Count
from superposition.runs.point import Meaning, Run

Dimensions = Annotated[Count, Field(ge=1), Meaning("dimensions", "number of hidden dimensions n_d")]
Epochs = Annotated[
    Count, Field(ge=1, le=1500), Meaning("epochs", "upper limit of the training, in epochs of 30 batches")
]
RULES = {"text": "the text's rule, windows of 100 batches", "code": "the code's rule, windows of 200 batches"}


def by_both_rules(
    *, ns: Features, nd: Dimensions, p: Probability, epochs: Epochs, seed: Seed, device: str = "auto"
) -> dict[str, float | int | str]:
    """Train one autoencoder and describe it where either rule stops."""
    from superposition.rug import train_as_published

    both = train_as_published(ns, nd, p, epochs=epochs, seed=seed, device=device)
    return {
        **_described("text", both.text),
        **_described("code", both.code),
        "device": both.code.settings.device.partition(":")[0],
    }


def rows_by_both_rules(
    *, ns: Features, nd: Dimensions, p: Probability, epochs: Epochs, seed: Seed, device: str = "auto"
) -> dict[str, float | int | str]:
    """Train one autoencoder and describe its rows where either rule stops, with the entries off the diagonal."""
    from superposition.rug import train_as_published

    both = train_as_published(ns, nd, p, epochs=epochs, seed=seed, device=device)
    found: dict[str, float | int | str] = {"device": both.code.settings.device.partition(":")[0]}
    for rule, model in (("text", both.text), ("code", both.code)):
        ends = {"steps": len(model.loss_history), "stopped": int(model.stopped)}
        ends |= {"loss": model.loss, "loss_se": model.loss_se, **described(model.rows)}
        found |= {f"{rule}_{name}": value for name, value in ends.items()}
    return found


def rows_drawn_there(
    *, ns: Features, nd: Dimensions, p: Often, epochs: Epochs, products: Products, seed: Seed, device: str = "auto"
) -> dict[str, float | int | str]:
    """Train one autoencoder on feature vectors that the device draws, and describe its rows where either rule stops."""
    from superposition.rug import train_as_published_on_device

    both = train_as_published_on_device(ns, nd, p, epochs=epochs, products=products, seed=seed, device=device)
    found: dict[str, float | int | str] = {"device": both.code.settings.device.partition(":")[0]}
    for rule, model in (("text", both.text), ("code", both.code)):
        ends = {"steps": len(model.loss_history), "stopped": int(model.stopped)}
        ends |= {"loss": model.loss, "loss_se": model.loss_se, **described(model.rows)}
        found |= {f"{rule}_{name}": value for name, value in ends.items()}
    return found


def _described(rule, model):
    rows = model.rows
    return {
        f"{rule}_steps": len(model.loss_history),
        f"{rule}_stopped": int(model.stopped),
        f"{rule}_loss": model.loss,
        f"{rule}_loss_se": model.loss_se,
        f"{rule}_diagonal_mean": float(rows.diagonal.mean()),
        f"{rule}_diagonal_spread": float(rows.diagonal.std()),
        f"{rule}_bias_mean": float(rows.b.mean()),
        f"{rule}_bias_spread": float(rows.b.std()),
        f"{rule}_bias_effective_mean": float(rows.b_eff.mean()),
        f"{rule}_Lambda": rows.Lambda,
        f"{rule}_dead": int(rows.dead.sum()),
    }


def _columns(rule, words):
    return {
        f"{rule}_steps": Meaning("steps", f"training steps until {words}"),
        f"{rule}_stopped": Meaning("0, 1", f"1 if {words}, stopped the training, 0 if the limit did"),
        f"{rule}_loss": Meaning("squared error, per feature", f"loss at the end by {words}"),
        f"{rule}_loss_se": Meaning("squared error, per feature", f"standard error of {rule}_loss over feature vectors"),
        f"{rule}_diagonal_mean": Meaning("no unit", f"gain, mean over features, at the end by {words}"),
        f"{rule}_diagonal_spread": Meaning("no unit", "standard deviation of the gain over features"),
        f"{rule}_bias_mean": Meaning("units of x", f"raw bias, mean over features, at the end by {words}"),
        f"{rule}_bias_spread": Meaning("units of x", "standard deviation of the raw bias over features"),
        f"{rule}_bias_effective_mean": Meaning("units of x", "raw bias plus mean interference, mean over features"),
        f"{rule}_Lambda": Meaning("0 or more", "largest Lyapunov ratio over rows of W"),
        f"{rule}_dead": Meaning("features", "outputs that stay at 0 even with their feature fully on"),
    }


def _plane(ns, ranks, ps, seeds=(0,)):
    """A block of the grid: all ranks with all probabilities."""
    return {"ns": (ns,), "nd": ranks, "p": ps, "epochs": (1500,), "seed": seeds}


_ROWS = {
    **{f"{rule}_{name}": meaning for rule in RULES for name, meaning in ALL_ROWS.items()},
    **_columns("text", RULES["text"]),
    **_columns("code", RULES["code"]),
    "theory": THEORY["theory"],
    **{f"{rule}_ratio": Meaning("no unit", f"{rule}_loss / theory") for rule in RULES},
    **DEVICE,
}
_DRAWN, _SINGLE = (7, 8, 9), {"products": ("float32",)}
_PREDICTED = (theory, over_rug(text_ratio="text_loss", code_ratio="code_loss"))

RUNS = (
    Run(
        name="rug-public",
        feeds="The Persian Rug, Figure 3 at the place that its public code plots, and Figures 2 and 4 to 7 as maps; "
        "both stopping rules",
        computes=by_both_rules,
        columns={
            **_columns("text", RULES["text"]),
            **_columns("code", RULES["code"]),
            "theory": THEORY["theory"],
            **{f"{rule}_ratio": Meaning("no unit", f"{rule}_loss / theory") for rule in RULES},
            **DEVICE,
        },
        predicted=(theory, over_rug(text_ratio="text_loss", code_ratio="code_loss")),
        small=({"ns": (32,), "nd": (8,), "p": (0.1,), "epochs": (20,), "seed": (0,)},),
        full=(
            {"ns": (512,), "nd": (130,), "p": (0.044,), "epochs": (1500,), "seed": (0, 1, 2, 3, 4)},
            {"ns": (128,), "nd": (64, 38, 13), "p": (0.5,), "epochs": (1500,), "seed": (0, 1, 2, 3, 4)},
            {"ns": (128,), "nd": (26,), "p": (0.02, 0.05, 0.2), "epochs": (1500,), "seed": (0, 1, 2, 3, 4)},
            # the text's plane, r = 0.1 to 0.8 and p up to 0.8, as far as the blocks above do not have it
            {"ns": (128,), "nd": (13, 38, 64, 83, 102), "p": (0.02, 0.1, 0.3, 0.8), "epochs": (1500,), "seed": (0,)},
            {"ns": (128,), "nd": (83, 102), "p": (0.5,), "epochs": (1500,), "seed": (0,)},
        ),
        hours={"small": 0.001, "full": 1.5},
    ),
    Run(
        name="rug-public-maps",
        feeds="The Persian Rug, Figures 2 and 4 to 7 as maps with 128 and 512 features; both stopping rules",
        computes=rows_by_both_rules,
        columns=_ROWS,
        predicted=_PREDICTED,
        small=({"ns": (32,), "nd": (8,), "p": (0.1,), "epochs": (20,), "seed": (0,)},),
        full=(
            # cells of the text's plane
            _plane(512, (52,), (0.02, 0.3, 0.8)),
            _plane(512, (152,), (0.8,)),
            _plane(512, (256, 408), (0.02, 0.5)),
            _plane(512, (408,), (0.02,), (7,)),  # trained after prediction 10 had failed there
            _plane(128, (13,), (0.02, 0.3, 0.8)),
            _plane(128, (38,), (0.3, 0.8)),
            _plane(128, (64,), (0.02, 0.3, 0.5)),
            _plane(128, (102,), (0.02, 0.1, 0.5)),
        ),
        hours={"small": 0.001, "full": 1.0},
    ),
    Run(
        name="rug-public-device",
        feeds="The Persian Rug, Figures 2 and 4 to 7 as maps with 512 features, and at nine cells with 1024 and 8192; "
        "feature vectors drawn by the device, both stopping rules",
        computes=rows_drawn_there,
        columns=_ROWS,
        predicted=_PREDICTED,
        small=({"ns": (32,), "nd": (8,), "p": (0.1,), "epochs": (20,), "products": ("float32",), "seed": (0,)},),
        full=(
            {**_plane(512, (52, 152, 256, 332, 408), (0.02, 0.1, 0.3, 0.5, 0.8), _DRAWN), **_SINGLE},
            {**_plane(1024, (102, 307, 512), (0.02, 0.1, 0.5), _DRAWN), **_SINGLE},
            {**_plane(8192, (819, 2458, 4096), (0.02, 0.1, 0.5), _DRAWN[:1]), "products": ("tf32",)},
        ),
        hours={"small": 0.001, "full": 0.2},
        hardware="one GPU of the data-centre kind",
    ),
)
