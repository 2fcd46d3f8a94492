"""The autoencoder ReLU(W_out W_in x + b): its weights and the statistics of their rows.

Source: The Persian Rug, sections 2 and 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, features, ranges
from superposition.checked import checked
from superposition.rug.ranges import autoencoder, features_fit, vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from superposition.devices import torch


@dataclass(frozen=True)
class RowStatistics:
    """One value for each row of W: the statistics in the mean-field theory, and those that it ignores.

    ``diagonal``, ``b`` (the raw bias) and ``b_eff`` (raw plus the mean interference, the
    theory's b); ``off_mean``, ``off_variance`` and ``off_skewness`` of the off-diagonal
    entries; ``lyapunov``, whose largest value is the text's Lambda (eq. 3), 0 where a row has
    no off-diagonal weight; and ``dead``, true where the output stays at zero even with its own
    feature fully on and the interference four standard deviations above its mean. ``Lambda`` is
    the largest ``lyapunov``.
    """

    diagonal: np.ndarray
    b: np.ndarray
    b_eff: np.ndarray
    off_mean: np.ndarray
    off_variance: np.ndarray
    off_skewness: np.ndarray
    lyapunov: np.ndarray
    dead: np.ndarray

    @property
    def Lambda(self) -> float:  # noqa: N802 - the text's symbol
        """Largest Lyapunov ratio over the rows (The Persian Rug, eq. 3)."""
        return float(self.lyapunov.max())


@dataclass(frozen=True)
class Settings:
    """How a model was trained: sizes, law of the features, optimiser, seed and start."""

    ns: int
    nd: int
    p: float
    steps: int
    batch: int
    lr: float
    schedule: str
    protocol: str
    seed: int
    device: str
    products: str = "float32"
    start: str = "independent"


@dataclass(frozen=True)
class TrainedModel:
    """Weights, loss and row statistics of a trained autoencoder.

    ``W_in`` (nd, ns), ``W_out`` (ns, nd), ``bias`` (ns,) in float32; ``loss_history``, one
    batch loss a step; ``loss`` on fresh feature vectors with its standard error ``loss_se``;
    ``stopped``, whether the text's stopping rule fired (False under any other protocol).
    """

    settings: Settings
    W_in: np.ndarray
    W_out: np.ndarray
    bias: np.ndarray
    loss_history: np.ndarray
    loss: float
    loss_se: float
    stopped: bool

    @property
    def rows(self) -> RowStatistics:
        """Row statistics of W = W_out W_in, a `RowStatistics`."""
        return row_statistics(self.W_out @ self.W_in, self.bias, self.settings.p)


@checked(p=ranges.one_probability)
def row_statistics(W: ArrayLike, b: ArrayLike, p: float) -> RowStatistics:
    """Statistics of every row of W (ns, ns), ns at least 2, that the mean-field theory uses or ignores.

    Parameters
    ----------
    W : array_like, shape (ns, ns)
        Product of decoder and encoder, of numbers up to 1e30 in size.
    b : array_like, shape (ns,)
        Bias, of numbers up to 1e30 in size.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or `W` has a single row.

    Notes
    -----
    Source: The Persian Rug, section 3.2 and eq. 3.

    Examples
    --------
    >>> row_statistics([[1, -0.5], [0.5, 1]], b=[0, 0], p=0.05).b_eff
    array([-0.0125,  0.0125])
    """
    W = checks.array("W", W, "ns ns")
    if len(W) < 2:
        raise ValueError(f"W has shape {W.shape}; allowed: (ns, ns) with ns of 2 or more")
    b = checks.array("b", b, (len(W),))
    for name, array in (("W", W), ("b", b)):
        checks.real(name, array, -ranges.LARGEST, ranges.LARGEST)
    p = features.one_probability(p)
    diagonal = np.diag(W).copy()
    off = W - np.diag(diagonal)
    others = len(W) - 1
    total, square = off.sum(axis=1), (off**2).sum(axis=1)
    off_mean = total / others
    variance = np.maximum(square / others - off_mean**2, 0)
    third = (off**3).sum(axis=1) / others - 3 * off_mean * square / others + 2 * off_mean**3
    cubes = (np.abs(off) ** 3).sum(axis=1)
    b_eff = b + features.mean(p) * total  # absorbs the mean of nu, as section 4.1 says
    return RowStatistics(
        diagonal=diagonal,
        b=b,
        b_eff=b_eff,
        off_mean=off_mean,
        off_variance=variance,
        off_skewness=_ratio_or_zero(third, variance**1.5),
        lyapunov=_ratio_or_zero(cubes, square**1.5),
        dead=np.maximum(diagonal, 0) + b_eff + 4 * np.sqrt(features.variance(p) * square) <= 0,
    )


@checked(features_fit, weights=autoencoder, x=vectors)
def autoencoder_output(weights: Sequence[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """Output ReLU(W_out W_in x + b) of an autoencoder, a tensor (batch, ns).

    Notes
    -----
    Source: The Persian Rug, eq. 1.

    Examples
    --------
    >>> import torch
    >>> weights = torch.eye(2), torch.eye(2), torch.tensor([0.0, -0.5])
    >>> autoencoder_output(weights, torch.ones(1, 2)).tolist()
    [[1.0, 0.5]]
    """
    from superposition.devices import torch

    W_in, W_out, bias = weights
    return torch.relu(torch.addmm(bias, x @ W_in.T, W_out.T))


def _ratio_or_zero(numerator, denominator):
    safe = np.where(denominator > 0, denominator, 1)
    return np.where(denominator > 0, numerator / safe, 0)
