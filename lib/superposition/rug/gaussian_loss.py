"""The loss of rows of weights if the interference is replaced by a Gaussian, in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import features, ranges
from superposition.checked import checked
from superposition.moments import floats, moment, ramp_moment
from superposition.rug.model import TrainedModel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from superposition.checks import Floats

SMALLEST = 1e-24  # variance below which a row counts as free of interference


def row_losses(a: ArrayLike, b: ArrayLike, variance: ArrayLike, p: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Closed-form loss of rows and its derivatives by a, b and variance, for any real gain (The Persian Rug, eq. 5)."""
    # `superposition.rug.meanfield.loss` is the same for a > 0, and keeps its relative accuracy at small p; the variance
    # is that of the interference after the gain: Var[x] times the row's sum of squared off-diagonal weights
    a, b, variance = floats(a, b, variance)
    s = np.sqrt(variance)

    def ramp(j, k):
        return ramp_moment.unchecked(j, k, b, a, s)

    overlap, power = ramp(1, 1), ramp(0, 2)
    return (
        (1 - p) * moment.unchecked(2, b, s) + p * (1 / 3 - 2 * overlap + power),
        2 * p * (overlap - ramp(2, 0)),
        2 * (1 - p) * moment.unchecked(1, b, s) + 2 * p * (ramp(0, 1) - ramp(1, 0)),
        (1 - p) * moment.unchecked(0, b, s) + p * (ramp(0, 0) - ramp(1, -1)),
    )


@checked(model=ranges.instance(TrainedModel))
def closed_form_loss(model: TrainedModel) -> float:
    """Loss per feature that a trained model would have if every interference were Gaussian.

    Notes
    -----
    Source: The Persian Rug, eq. 4 and eq. 5.

    Examples
    --------
    >>> from superposition.rug import train_autoencoder
    >>> model = train_autoencoder(8, 3, 0.1, steps=20, seed=0, device="cpu", eval_samples=64)
    >>> closed_form_loss(model) < 0.05
    True
    """
    from superposition.devices import torch

    with torch.no_grad():
        rows = rows_of(*(torch.from_numpy(w.astype(np.float64)) for w in (model.W_in, model.W_out)), model.settings.p)  # pyrefly: ignore[bad-argument-count]: two
        b = torch.from_numpy(model.bias.astype(np.float64)) + float(features.mean(model.settings.p)) * rows[1]
        return float(row_losses(rows[0].numpy(), b.numpy(), rows[2].numpy(), model.settings.p)[0].mean())


def rows_of(W_in, W_out, p):
    """Diagonal, off-diagonal sum and variance of the interference of each row, without forming W."""
    from superposition.devices import torch

    diagonal = torch.sum(W_out * W_in.T, dim=1)
    total = W_out @ W_in.sum(dim=1)
    squares = torch.sum((W_out @ (W_in @ W_in.T)) * W_out, dim=1)
    return diagonal, total - diagonal, torch.clamp(float(features.variance(p)) * (squares - diagonal**2), min=SMALLEST)
