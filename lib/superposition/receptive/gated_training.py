"""Training of networks whose neurons are lines with a slope that switches: gated, ReLU, leaky, linear.

Every neuron gives ``slope * (w . x)``. A gate fixed in advance makes it a gated linear network; a
slope that looks at the sign of its own pre-activation makes it a ReLU. One loop trains them all,
many networks at a time on the same data, so that what differs is the gate alone.

Source: the localization notes, eq. 2, 3, 37 and 39, and the headings of sections 5 and 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition.receptive.nlgp import nlgp_sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Float
    from numpy.typing import ArrayLike


def task(
    n: int, xi1: float, xi2: float, gain: float, samples: int, *, seed: int | np.random.Generator
) -> tuple[Float[np.ndarray, "rows n"], Float[np.ndarray, " rows"]]:
    """Shuffled NLGP inputs (4 samples, n), each with its mirror image, and their labels 0 and 1, equally many."""
    rng = np.random.default_rng(seed)
    one = nlgp_sample(n, xi1, gain, samples, seed=rng)
    return labelled(one, nlgp_sample(n, xi2, gain, samples, seed=rng), seed=rng)


def labelled(
    one: ArrayLike, zero: ArrayLike, *, seed: int | np.random.Generator
) -> tuple[Float[np.ndarray, "rows n"], Float[np.ndarray, " rows"]]:
    """Join the inputs (N, n) of the classes Y = 1 and Y = 0 and their mirror images, shuffled."""
    one, zero = np.asarray(one, float), np.asarray(zero, float)
    x = np.concatenate([one, -one, zero, -zero])
    y = np.repeat([1.0, 0.0], 2 * len(one))
    order = np.random.default_rng(seed).permutation(len(x))
    return x[order], y[order]


def leaky(slope: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Slope of a ReLU neuron (eq. 37: its gate times a linear neuron) that lets a part of the negative side through."""
    return lambda h, x: np.where(h > 0, np.float32(1), np.float32(slope))


RELU = leaky(0)


def relu_with_linear_pathway(h: np.ndarray, x: np.ndarray) -> Float[np.ndarray, "B R K"]:
    """Slopes (B, R, K) of ReLU neurons of which the last of each network is linear, for inputs (B, n)."""
    slopes = (h > 0).astype(h.dtype)
    slopes[..., -1] = 1
    return slopes


def half_spaces(directions: ArrayLike) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Slopes of neurons with fixed half-space gates, open where directions[k] . x > 0; the same for all networks."""
    directions = np.asarray(directions, np.float32)
    return lambda h, x: (x @ directions.T > 0).astype(np.float32)[:, None, :]


def train(
    w0: ArrayLike, x: ArrayLike, y: ArrayLike, slopes: Callable[[np.ndarray, np.ndarray], np.ndarray], *, steps: int,
    lr: float, batch: int = 1000, readout: float | None = None, turn: bool = False, seed: int = 0, record:
    Callable[[int, np.ndarray], object] | None = None, progress: Callable[[int, int], object] | None = None,
) -> Float[np.ndarray, "R K n"]:  # fmt: skip
    """Train R networks yhat = readout sum_k slope_k (w_k·x) side by side by gradient descent on E(yhat - Y)^2 / 2."""
    # The loss is that of eq. 3, with gates of the network's own eq. 2, with fixed ones eq. 39. The learning rate falls
    # linearly to zero from half-way on, so that the noise of the batches dies out. Batches are slices of x (N, n),
    # which must be shuffled; y is (N,), or (N, R) for labels of each network's own. ``slopes(h, x)`` takes
    # pre-activations (B, R, K). ``readout`` is 1/K if not given. ``turn`` turns each batch round the ring by a random
    # number of pixels: where no label depends on the place, that makes the sample as translation-invariant as the law.
    # ``record(step, w)`` is called before each step and after the last, ``progress(done, total)`` every 100 steps.
    w, x, y = (np.array(value, np.float32) for value in (w0, x, y))
    _, K, n = w.shape
    readout = 1 / K if readout is None else readout
    y, rng = y.reshape(len(x), -1), np.random.default_rng(seed)
    for step in range(steps):
        if record is not None:
            record(step, w)
        start = rng.integers(len(x) - batch + 1)
        part = x[start : start + batch]
        if turn:
            part = np.roll(part, rng.integers(n), axis=1)
        rate = lr * min(1.0, 2 * (1 - step / steps))
        w -= np.float32(rate) * _gradient(w, part, y[start : start + batch], slopes, np.float32(readout))
        if progress is not None and (step + 1) % 100 == 0:
            progress(step + 1, steps)
    if record is not None:
        record(steps, w)
    if not np.all(np.isfinite(w)):
        raise FloatingPointError(f"the weights grew without bound at lr = {lr:g}; a smaller learning rate may help")
    return w.astype(np.float64)


def outputs(
    w: ArrayLike, x: ArrayLike, slopes: Callable[[np.ndarray, np.ndarray], np.ndarray], *, readout: float | None = None
) -> Float[np.ndarray, "N R"]:
    """What networks (R, K, n) predict for inputs (N, n), shape (N, R); slopes and readout as in `train`."""
    w, x = np.asarray(w, float), np.asarray(x, float)
    readout = 1 / w.shape[1] if readout is None else readout
    h = np.einsum("bn,rkn->brk", x, w, optimize=True)
    return (slopes(h, x) * h).sum(axis=-1) * readout


def _gradient(w, x, y, slopes, readout):
    """Gradient of ``E(yhat - Y)^2 / 2`` over a batch."""
    R, K, n = w.shape
    h = (x @ w.reshape(R * K, n).T).reshape(len(x), R, K)
    slope = slopes(h, x)
    error = readout * (slope * h).sum(axis=-1) - y
    pull = (readout * slope) * error[..., None]
    return (pull.reshape(len(x), R * K).T @ x).reshape(R, K, n) / np.float32(len(x))
