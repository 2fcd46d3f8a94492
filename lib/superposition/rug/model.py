"""The autoencoder ReLU(W_out W_in x + b): its weights, the statistics of their rows, and their file.

Source: The Persian Rug, sections 2 and 3.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, get_type_hints

import numpy as np

from superposition import checks, features
from superposition.rug import ranges

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class RowStatistics:
    """One value for each row of W: what the mean-field theory keeps, and how much it ignores.

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


def row_statistics(W: ArrayLike, b: ArrayLike, p: float) -> RowStatistics:
    """Statistics of every row of W that the mean-field theory uses or ignores.

    Parameters
    ----------
    W : array_like, shape (ns, ns)
        The matrix W_out W_in of anybody's autoencoder, ns at least 2.
    b : array_like, shape (ns,)
        Raw biases.
    p : float
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    RowStatistics

    Raises
    ------
    ValueError
        If the shapes do not fit, an entry is not finite or `p` is outside (0, 1].

    Notes
    -----
    Source: The Persian Rug, section 3.2 and eq. 3; the effective bias
    b + (p/2) sum_{j != i} W_ij absorbs the mean of nu as section 4.1 says.
    """
    W = checks.of_shape("W", W, ("ns", "ns"))
    if len(W) < 2:
        raise ValueError(f"W has shape {W.shape}; allowed: (ns, ns) with ns of 2 or more")
    b = checks.of_shape("b", b, (len(W),))
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
    b_eff = b + features.mean(p) * total
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


def save(model: TrainedModel, path: str | os.PathLike) -> None:
    """Write a trained model as safetensors, its settings in the header.

    Parameters
    ----------
    model : TrainedModel
        What to write.
    path : str or os.PathLike
        The file.
    """
    from safetensors.numpy import save_file

    arrays = {name: np.ascontiguousarray(getattr(model, name)) for name in ("W_in", "W_out", "bias", "loss_history")}
    numbers = {"loss": model.loss, "loss_se": model.loss_se, "stopped": model.stopped, **asdict(model.settings)}
    save_file(arrays, path, metadata={name: str(value) for name, value in numbers.items()})


def load(path: str | os.PathLike) -> TrainedModel:
    """Read a model written by `save`.

    Parameters
    ----------
    path : str or os.PathLike
        The file.

    Returns
    -------
    TrainedModel
    """
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
        text = file.metadata()
    settings = Settings(**{name: kind(text[name]) for name, kind in get_type_hints(Settings).items()})
    return TrainedModel(
        settings, **arrays, loss=float(text["loss"]), loss_se=float(text["loss_se"]), stopped=text["stopped"] == "True"
    )


def _ratio_or_zero(numerator, denominator):
    safe = np.where(denominator > 0, denominator, 1)
    return np.where(denominator > 0, numerator / safe, 0)
