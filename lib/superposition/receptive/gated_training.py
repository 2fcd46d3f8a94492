"""Training of networks whose neurons are lines with a slope that switches: gated, ReLU, leaky, linear.

Every neuron gives ``slope * (w . x)``. A gate fixed in advance makes it a gated linear network; a
slope that looks at the sign of its own pre-activation makes it a ReLU. One loop trains them all,
many networks at a time on the same data, so that what differs is the gate alone.

Source: the localization notes, eq. 2, 3, 37 and 39, and the headings of sections 5 and 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.receptive import gates
from superposition.receptive.nlgp import nlgp_sample
from superposition.receptive.ring import lengths

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Float
    from numpy.typing import ArrayLike


LARGEST = 1e30  # of numbers that go into float32


def task(
    n: int, xi1: float, xi2: float, gain: float, samples: int, *, seed: int | np.random.Generator
) -> tuple[Float[np.ndarray, "rows n"], Float[np.ndarray, " rows"]]:
    """Labelled inputs of the nonlinear Gaussian process, each with its mirror image.

    Parameters
    ----------
    n : int
        Number of pixels, at least 3.
    xi1, xi2 : float
        Correlation lengths of the classes Y = 1 and Y = 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    samples : int
        Independent inputs of each class, at least 1.
    seed : int or numpy.random.Generator
        Where the numbers come from.

    Returns
    -------
    x : numpy.ndarray, shape (4 samples, n)
        Shuffled; x and -x both occur, with the same label, so the sample is exactly symmetric.
    y : numpy.ndarray, shape (4 samples,)
        Labels 0 and 1, equally many.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    rng, (xi1, xi2) = checks.generator("seed", seed), lengths(n, xi1, xi2)
    one = nlgp_sample(n, xi1, gain, samples, seed=rng)
    return labelled(one, nlgp_sample(n, xi2, gain, samples, seed=rng), seed=rng)


def labelled(
    one: ArrayLike, zero: ArrayLike, *, seed: int | np.random.Generator
) -> tuple[Float[np.ndarray, "rows n"], Float[np.ndarray, " rows"]]:
    """Join the inputs of two classes and their mirror images, shuffled.

    Parameters
    ----------
    one, zero : array_like, shape (N, n)
        Inputs of the classes Y = 1 and Y = 0, equally many.
    seed : int or numpy.random.Generator
        Seed of the order.

    Returns
    -------
    x : numpy.ndarray, shape (4 N, n)
    y : numpy.ndarray, shape (4 N,)

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    one, zero = checks.real("one", one), checks.real("zero", zero)
    if one.shape != zero.shape or one.ndim != 2:
        raise ValueError(f"one and zero have shapes {one.shape} and {zero.shape}; allowed: the same (N, n)")
    x = np.concatenate([one, -one, zero, -zero])
    y = np.repeat([1.0, 0.0], 2 * len(one))
    order = checks.generator("seed", seed).permutation(len(x))
    return x[order], y[order]


def leaky(slope: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Slope of a ReLU neuron that lets a part of the negative side through.

    Parameters
    ----------
    slope : float
        Slope on the negative side: 0 is a ReLU, 1 a linear neuron, -1 the absolute value.

    Returns
    -------
    callable
        ``slopes(h, x)``, for `train`.

    Raises
    ------
    ValueError
        If the slope is not a finite number.

    Notes
    -----
    Source: the localization notes, eq. 37: with slope 0 a ReLU is its own gate times a linear neuron.
    """
    slope = checks.number("slope", slope, open_low=True, open_high=True)
    return lambda h, x: np.where(h > 0, np.float32(1), np.float32(slope))


RELU = leaky(0)


def relu_with_linear_pathway(h: np.ndarray, x: np.ndarray) -> Float[np.ndarray, "B R K"]:
    """Slopes of ReLU neurons of which the last of each network is linear.

    Parameters
    ----------
    h : numpy.ndarray, shape (B, R, K)
        Pre-activations.
    x : numpy.ndarray, shape (B, n)
        Inputs.

    Returns
    -------
    numpy.ndarray, shape (B, R, K)
    """
    slopes = (h > 0).astype(h.dtype)
    slopes[..., -1] = 1
    return slopes


def half_spaces(directions: ArrayLike) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Slopes of neurons with fixed half-space gates.

    Parameters
    ----------
    directions : array_like, shape (K, n)
        Gate k is open where directions[k] . x > 0; the same for all networks.

    Returns
    -------
    callable
        ``slopes(h, x)``, for `train`.

    Raises
    ------
    ValueError
        If a direction is zero.
    """
    gates.opened(directions, directions)  # refuses zero vectors
    directions = checks.array("directions", directions, "K n").astype(np.float32)
    return lambda h, x: (x @ directions.T > 0).astype(np.float32)[:, None, :]


def train(
    w0: ArrayLike, x: ArrayLike, y: ArrayLike, slopes: Callable[[np.ndarray, np.ndarray], np.ndarray], *, steps: int,
    lr: float, batch: int = 1000, readout: float | None = None, turn: bool = False, seed: int = 0, record:
    Callable[[int, np.ndarray], object] | None = None, progress: Callable[[int, int], object] | None = None,
) -> Float[np.ndarray, "R K n"]:  # fmt: skip
    """Train networks ``yhat = readout sum_k slope_k (w_k·x)`` by gradient descent on E(yhat - Y)^2 / 2.

    The learning rate is constant for the first half and then falls linearly to zero, so that the
    noise of the batches dies out.

    Parameters
    ----------
    w0 : array_like, shape (R, K, n)
        Initial weights of R networks with K neurons.
    x : array_like, shape (N, n)
        Inputs; batches are slices of them, so they must be shuffled.
    y : array_like, shape (N,) or (N, R)
        Labels, for each network its own if there is a second axis.
    slopes : callable
        ``slopes(h, x)`` gives the slopes for pre-activations h of shape (B, R, K), in a shape that
        broadcasts to it.
    steps : int
        Number of steps, at least 1.
    lr : float
        Learning rate, above 0: the time of one step in units of tau.
    batch : int
        Size of a batch, 1 to N; N makes it full-batch descent.
    readout : float, optional
        Weight of each neuron in the output; 1/K (the mean) if not given.
    turn : bool
        Whether each batch is turned round the ring by a random number of pixels. Where no label
        depends on the place this makes the sample as translation-invariant as the law.
    seed : int
        Seed of the batches.
    record : callable, optional
        Called as ``record(step, w)`` before each step and after the last one.
    progress : callable, optional
        Called as ``progress(done, total)`` every 100 steps.

    Returns
    -------
    numpy.ndarray, shape (R, K, n)
        Final weights.

    Raises
    ------
    ValueError
        If an argument is out of range.
    FloatingPointError
        If the weights grow without bound.

    Notes
    -----
    Source: the localization notes: the loss of eq. 3, with gates of the network's own eq. 2, with
    fixed ones eq. 39.
    """
    w, x, y = (
        checks.real(name, value, -LARGEST, LARGEST).astype(np.float32)
        for name, value in (("w0", w0), ("x", x), ("y", y))
    )
    R, K, n = _shape_of(w, x, y)
    steps, batch = checks.whole("steps", steps, 1), checks.whole("batch", batch, 1, len(x))
    lr = checks.number("lr", lr, 0, LARGEST, open_low=True)
    readout = 1 / K if readout is None else checks.number("readout", readout, -LARGEST, LARGEST)
    y, rng = y.reshape(len(x), -1), checks.generator("seed", seed)
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
    """What networks predict.

    Parameters
    ----------
    w : array_like, shape (R, K, n)
        Weights.
    x : array_like, shape (N, n)
        Inputs.
    slopes : callable
        See `train`.
    readout : float, optional
        See `train`.

    Returns
    -------
    numpy.ndarray, shape (N, R)

    Raises
    ------
    ValueError
        If the shapes do not fit or a number is not finite.
    """
    w, x = checks.array("w", w, "R K n"), checks.array("x", x, "N n")
    if w.shape[-1] != x.shape[1]:
        raise ValueError(f"w and x have shapes {w.shape} and {x.shape}; allowed: (R, K, n) and (N, n)")
    readout = 1 / w.shape[1] if readout is None else checks.number("readout", readout, -LARGEST, LARGEST)
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


def _shape_of(w, x, y):
    if w.ndim != 3 or x.ndim != 2 or y.ndim == 0 or w.shape[-1] != x.shape[1] or len(y) != len(x) or w.size == 0:
        raise ValueError(
            f"w0, x and y have shapes {w.shape}, {x.shape}, {y.shape}; allowed: (R, K, n), (N, n) and (N,) or (N, R)"
        )
    if y.ndim > 2 or (y.ndim == 2 and y.shape[1] not in (1, w.shape[0])):
        raise ValueError(f"y has shape {y.shape}; allowed: (N,) or (N, {w.shape[0]})")
    return w.shape
