"""Two controls of the rug: Gaussian interference by decree, and descent on Walsh eigenvalues.

Source: The Persian Rug, section 4.1 taken at its word; the descent is ours.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from superposition import checks
from superposition.checks import MOST_FEATURES
from superposition.experiments.shared import (
    DEVICE,
    DIMENSIONS,
    FEATURES,
    LOSS,
    ROWS,
    THEORY,
    Probability,
    Ratio,
    Seed,
    over_rug,
    theory,
)
from superposition.inputs import Count
from superposition.runs.point import Columns, Meaning, Run

Ns = Annotated[Count, Field(ge=4, le=MOST_FEATURES), FEATURES]
Steps = Annotated[Count, Field(ge=1), Meaning("steps", "training steps, or steps of the descent")]


def gaussian_autoencoder(
    *, ns: Ns, p: Probability, r: Ratio, steps: Steps, seed: Seed, device: str = "auto"
) -> dict[str, float | int | str]:
    """Train one autoencoder by the earlier protocol with Gaussian interference by decree."""
    from superposition.rug import MOST_TRAINABLE, continue_training, train_meanfield_on_samples, training_settings

    ns = checks.whole("ns", ns, 3, MOST_TRAINABLE)
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    settings = training_settings(ns, nd, p, steps, 1024, None, None, "earlier", seed, device)
    model = train_meanfield_on_samples(settings)
    real = continue_training(model, steps=0, lr=1.0, seed=seed)
    return {
        "nd": nd,
        "closed": model.loss,
        "real": real.loss,
        "real_se": real.loss_se,
        "off_skewness": float(model.rows.off_skewness.mean()),
        "Lambda": model.rows.Lambda,
        "dropped": int((model.rows.diagonal < 0.1).sum()),
        "device": model.settings.device,
    }


def descended_rug(
    *, ns: Ns, p: Probability, r: Ratio, steps: Steps, seed: Seed, device: str = "auto"
) -> dict[str, float | int | str]:
    """Run one descent and describe where it ended."""
    from superposition import devices
    from superposition.rug import descend_on_eigenvalues

    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    found = descend_on_eigenvalues(ns, nd, p, steps=steps, seed=seed, device=device)
    kept = found.eigenvalues[found.eigenvalues != 0]
    return {
        "nd": nd,
        "loss": found.loss,
        "loss_se": found.loss_se,
        "partner_share": float(found.partners[-1]),
        "unevenness": float(kept.std() / kept.mean()),
        "device": str(devices.resolve_device(device)),
    }


def beside_antipodal(columns: Columns) -> Columns:
    """The loss of the antipodal rug divided by the rug's, 0 where there is none."""
    from superposition import codes

    r = columns["nd"] / columns["ns"]
    there = r <= 0.5
    found = np.zeros(len(r))
    found[there] = codes.antipodal_optimum(columns["p"][there], r[there]).loss
    return {"antipodal": found / columns["theory"]}


_GAUSSIAN = {
    "nd": DIMENSIONS,
    "theory": THEORY["theory"],
    "closed": Meaning(
        "squared error, per feature",
        "closed-form loss of the final weights with Gaussian interference, mean over features",
    ),
    "ratio": Meaning("no unit", "closed / theory"),
    "real": Meaning("squared error, per feature", "loss of the final weights on true feature vectors"),
    "real_se": Meaning("squared error, per feature", "standard error of real over feature vectors"),
    "real_ratio": Meaning("no unit", "real / theory"),
    "real_ratio_se": Meaning("no unit", "standard error of real_ratio over feature vectors"),
    "dropped": Meaning("features", "rows of W whose diagonal is below 0.1"),
    **{name: ROWS[name] for name in ("off_skewness", "Lambda")},
    **DEVICE,
}
_DESCENDED = {
    "nd": DIMENSIONS,
    **LOSS,
    **THEORY,
    "antipodal": Meaning("no unit", "closed-form loss of the antipodal rug over theory; 0 where r > 1/2"),
    "partner_share": Meaning(
        "0 to 1",
        "largest share of the final index set in one odd coset {k: k AND e has an odd number of ones}; 1 for "
        "an antipodal rug",
    ),
    "unevenness": Meaning("0 or more", "standard deviation over mean of the eigenvalues that are not 0"),
    **DEVICE,
}
_FIVE = {"seed": (0, 1, 2, 3, 4)}
_TINY_HOURS = 0.005

RUNS = (
    Run(
        name="rug-gaussian",
        feeds="a control of The Persian Rug, section 4.1: the recipe with Gaussian interference by decree",
        computes=gaussian_autoencoder,
        columns=_GAUSSIAN,
        predicted=(theory, over_rug(ratio="closed", real_ratio="real", real_ratio_se="real_se")),
        small=({"ns": (64,), "p": (0.05,), "r": (0.2, 0.5), "steps": (300,), "seed": (0,)},),
        full=({"ns": (128,), "p": (0.05,), "r": (0.1, 0.2, 0.5), "steps": (2000,), **_FIVE},),
        hours={"small": _TINY_HOURS, "full": 0.06},
    ),
    Run(
        name="rug-descent",
        feeds="which rug descent on Walsh eigenvalues chooses",
        computes=descended_rug,
        columns=_DESCENDED,
        predicted=(theory, over_rug(ratio="loss"), beside_antipodal),
        small=({"ns": (64,), "p": (0.05,), "r": (0.2, 0.5), "steps": (300,), "seed": (0,)},),
        full=(
            {"ns": (256,), "p": (0.05,), "r": (0.1, 0.2, 0.3, 0.4, 0.5), "steps": (1000,), **_FIVE},
        ),
        hours={"small": _TINY_HOURS, "full": 0.06},
    ),
)  # fmt: skip
