"""Fields and columns that several experiments share: each with its range and its meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field

from superposition.checks import MOST_FEATURES
from superposition.inputs import Count, Real, UpTo
from superposition.runs.point import Columns, Meaning

if TYPE_CHECKING:
    from superposition.rug import RowStatistics

Seed = Annotated[Count, Field(ge=0), Meaning("whole, 0 or more", "seed of everything random at this point")]
Steps = Annotated[Count, Field(ge=1), Meaning("steps", "training steps")]
Probability = Annotated[Real, Field(gt=0, le=1), Meaning("(0, 1]", "probability that a feature is on")]
Ratio = Annotated[Real, Field(gt=0, lt=1), Meaning("(0, 1)", "compression ratio asked for, nd / ns up to rounding")]
FEATURES = Meaning("features", "number of features n_s")
Features = Annotated[Count, Field(ge=3, le=MOST_FEATURES), FEATURES]
DIMENSIONS = Meaning("dimensions", "number of hidden dimensions n_d; where the table has r, max(1, round(r ns))")
# of codes with a decoder, and of dictionaries
Ns = Annotated[Count, Field(ge=8, le=4096), FEATURES]
Nd = Annotated[Count, Field(ge=4), AfterValidator(UpTo("ns", "ns")), DIMENSIONS]
Kind = Annotated[
    Literal["relu", "topk", "jumprelu"],
    Meaning("relu, topk, jumprelu", "what the latents are: ReLU priced by their sum, TopK, JumpReLU priced by number"),
]
L1 = Annotated[
    Real, Field(gt=0), Meaning("above 0", "strength of the l1 term in the simplified convention of chapter 4")
]

DONE = Meaning("steps", "training steps that were made")
STOPPED = Meaning("0, 1", "1 if the text's rule stopped the training, 0 if the limit did")
DEVICE = {"device": Meaning("cpu, cuda", "where the point was computed")}


Pixels = Annotated[Count, Field(ge=3, le=1000), Meaning("pixels", "pixels of the ring")]
Length1 = Annotated[Real, Field(gt=0), Meaning("pixels", "correlation length of the data with label 1")]
Length0 = Annotated[Real, Field(gt=0), Meaning("pixels", "correlation length of the data with label 0")]


LOSS = {
    "loss": Meaning("squared error, per feature", "loss E (x_i - f_i)^2, mean over features, on fresh feature vectors"),
    "loss_se": Meaning("squared error, per feature", "standard error of loss over feature vectors"),
}
THEORY = {
    "theory": Meaning("squared error, per feature", "the rug's loss at this p and at nd / ns"),
    "ratio": Meaning("no unit", "loss / theory"),
}
OVER_RUG = {"over_rug": Meaning("no unit", "loss over the rug's loss at the same p and at the ratio of the code")}


def rug_loss(columns: Columns) -> np.ndarray:
    """The rug's loss at p and at the ratio of each row: nd / ns, m / B of a tile, or r of a code."""
    from superposition.rug import optimum

    parts = next(pair for pair in (("nd", "ns"), ("m", "B"), ("r",)) if pair[0] in columns)
    r = columns[parts[0]] / columns[parts[1]] if len(parts) > 1 else columns["r"]
    pairs, at = np.unique([columns["p"], r], axis=1, return_inverse=True)  # each is searched for once
    return optimum(*pairs).loss[at.ravel()]


def theory(columns: Columns) -> Columns:
    """A prediction: the rug's loss."""
    return {"theory": rug_loss(columns)}


def over_rug(**names: str) -> Callable[[Columns], Columns]:
    """A prediction: for each new name, the column of the given name, where there is one, over the rug's loss."""

    def predicted(columns: Columns) -> Columns:
        unit = columns["theory"] if "theory" in columns else rug_loss(columns)
        return {new: columns[old] / unit for new, old in names.items() if old in columns}

    return predicted


ROWS = {
    "diagonal_mean": Meaning("no unit", "diagonal of W = W_out W_in (the gain), mean over features"),
    "diagonal_spread": Meaning("no unit", "standard deviation over features of the diagonal of W"),
    "bias_mean": Meaning("units of x", "raw bias, mean over features"),
    "bias_spread": Meaning("units of x", "standard deviation over features of the raw bias"),
    "bias_effective_mean": Meaning(
        "units of x", "raw bias plus mean interference p/2 sum_(j != i) W_ij, mean over features"
    ),
    "bias_effective_spread": Meaning("units of x", "standard deviation over features of the effective bias"),
    "off_skewness": Meaning("no unit", "skewness of the off-diagonal entries of a row of W, mean over rows"),
    "Lambda": Meaning(
        "0 or more",
        "largest Lyapunov ratio sum|w|^3 / (sum w^2)^(3/2) over the off-diagonal entries of a row of W = W_out W_in",
    ),
    "dead": Meaning(
        "features",
        "outputs that stay at 0 even with their feature fully on and the interference four sigma above its mean",
    ),
}


def mean_and_spread(name: str, values: np.ndarray) -> dict[str, float]:
    """Mean and standard deviation of the values of all rows, under two names."""
    return {f"{name}_mean": float(values.mean()), f"{name}_spread": float(values.std())}


ALL_ROWS = {
    **ROWS,
    "off_variance_mean": Meaning("no unit", "variance of the off-diagonal entries of a row of W, mean over rows"),
    "off_variance_spread": Meaning(
        "no unit", "standard deviation over rows of the variance of a row's off-diagonal entries"
    ),
    "off_sum_mean": Meaning("no unit", "sum of the off-diagonal entries of a row of W, mean over rows"),
}


def described(rows: RowStatistics) -> dict[str, float | int]:
    """The columns of `ALL_ROWS`."""
    return {
        **mean_and_spread("diagonal", rows.diagonal),
        **mean_and_spread("bias", rows.b),
        **mean_and_spread("bias_effective", rows.b_eff),
        **mean_and_spread("off_variance", rows.off_variance),
        "off_sum_mean": float((len(rows.b) - 1) * rows.off_mean.mean()),
        "off_skewness": float(rows.off_skewness.mean()),
        "Lambda": rows.Lambda,
        "dead": int(rows.dead.sum()),
    }


GAIN = Meaning("above 0", "gain g of the data x = erf(g z)/Z")
Gain = Annotated[Real, Field(ge=1e-6, le=1e6), GAIN]
Neurons = Annotated[Count, Field(ge=1), Meaning("neurons", "hidden neurons of a network")]
Initials = Annotated[Count, Field(ge=1), Meaning("networks", "initial weights, trained side by side on the same data")]
Rate = Annotated[Real, Field(gt=0), Meaning("above 0", "learning rate")]
RatePerNeuron = Annotated[
    Real, Field(gt=0), Meaning("above 0", "learning rate per neuron: weights are trained at lr K")
]
Batch = Annotated[Count, Field(ge=2), Meaning("vectors", "fresh vectors of a step, half of each label")]
NETWORK_LOSS = {
    "loss": Meaning(
        "squared error", "loss E (yhat - Y)^2 / 2 over the batches of the last tenth of the steps, mean over networks"
    )
}
