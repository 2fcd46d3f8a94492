"""Training of gated networks in torch, so that it runs on any device; it needs torch.

Source: the localization notes, eq. 2, 3, 37 and 39, and the headings of sections 5 and 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.placing import placed
from superposition.receptive.ranges import STEEPEST, data_fit

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def _neurons(name, value):
    """A name, "relu" or "linear pathway"; the slope of leaky ReLUs; or directions (K, n) of fixed gates."""
    if isinstance(value, str):
        return checks.one_of(name, value, ("relu", "linear pathway"))
    found = checks.real(name, value, -STEEPEST, STEEPEST)
    if found.ndim not in (0, 2):
        raise ValueError(f"{name} has shape {found.shape}; allowed: a number, or directions of shape (K, n)")
    return found


def _gates_fit(w0, neurons):
    if not isinstance(neurons, str) and np.ndim(neurons) and neurons.shape != w0.shape[1:]:
        raise ValueError(f"neurons has shape {neurons.shape}; allowed: {w0.shape[1:]}, as of one network")


@placed
@checked(
    data_fit, _gates_fit, w0=ranges.array("R K n", -1e30, 1e30), x=ranges.array("N n", -1e30, 1e30),
    y=ranges.real(-1e30, 1e30), neurons=_neurons, steps=ranges.steps, lr=ranges.rate, batch=ranges.whole(1),
    turn=ranges.flag, seed=ranges.seed,
)  # fmt: skip
def train_gated_on_device(
    w0: ArrayLike, x: ArrayLike, y: ArrayLike, neurons: str | float | ArrayLike, *, steps: int, lr: float,
    batch: int = 1000, turn: bool = False, seed: int | np.random.Generator = 0,
) -> Float[np.ndarray, "R K n"]:  # fmt: skip
    """Train R networks yhat = sum_k slope_k (w_k·x) / K side by side as `train_gated` does, on any device. Needs torch.

    Source: the notes on localization, eq. 2, 3 and 39. Use `train_gated` instead without torch, for slopes of your own,
    another readout, or to see the weights on the way.

    Parameters
    ----------
    w0 : array_like, shape (R, K, n)
        Initial weights.
    x : array_like, shape (N, n)
        Inputs, shuffled, as batches are slices.
    y : array_like, shape (N,) or (N, R)
        Labels, of all networks or of each its own.
    neurons : str, float or array_like
        "relu"; "linear pathway" (ReLUs, of which the last one is linear); the slope of leaky ReLUs below 0; or the
        directions (K, n) of gates that are fixed, open where the product with x is above 0.
    lr : float
        Learning rate; it falls linearly to zero during the second half.
    batch : int
        Vectors a step, from 1 to N.
    turn : bool
        Turn each batch round the ring by a random number of pixels.

    Raises
    ------
    FloatingPointError
        If the weights grow without bound.

    Examples
    --------
    >>> from superposition.receptive import labelled_sample
    >>> x, y = labelled_sample(12, 1.0, 0.5, 3.0, 100, seed=0)
    >>> train_gated_on_device(np.ones((1, 2, 12)), x, y, "relu", steps=5, lr=0.1, batch=50).shape
    (1, 2, 12)
    """
    from superposition.devices import torch

    given = (w0, x, np.reshape(y, (np.shape(x)[0], -1)))
    w, inputs, labels = (torch.tensor(np.asarray(value, np.float32)) for value in given)
    slopes, rng = _slopes(neurons), np.random.default_rng(seed)
    _, K, n = w.shape
    for step in range(steps):
        start = int(rng.integers(len(inputs) - batch + 1))
        part, target = (value[start : start + batch] for value in (inputs, labels))
        if turn:
            part = part.roll(int(rng.integers(n)), dims=1)
        h = (part @ w.flatten(0, 1).T).unflatten(1, w.shape[:2])
        slope = slopes(h, part) / K
        pull = slope * ((slope * h).sum(dim=2) - target)[..., None]
        w -= lr * min(1.0, 2 * (1 - step / steps)) * (pull.flatten(1).T @ part).view(w.shape) / batch
    found = w.numpy().astype(np.float64)
    if not np.all(np.isfinite(found)):
        raise FloatingPointError(f"the weights grew without bound at lr = {lr:g}; a smaller learning rate may help")
    return found


def _slopes(neurons):
    """The slopes of neurons (B, R, K), or (B, 1, K) for fixed gates, of their drives and the inputs (B, n)."""
    from superposition.devices import torch

    if isinstance(neurons, str) and neurons == "linear pathway":
        return lambda h, x: torch.cat(((h[..., :-1] > 0).to(h), torch.ones_like(h[..., -1:])), dim=2)
    if not isinstance(neurons, str) and np.ndim(neurons):
        directions = torch.tensor(neurons, dtype=torch.float32)
        return lambda h, x: (x @ directions.T > 0).to(x)[:, None, :]
    below = 0.0 if isinstance(neurons, str) else float(neurons)
    return lambda h, x: (h > 0).to(h) * (1 - below) + below
