"""Training of networks whose neurons are lines with a slope that switches: gated, ReLU, leaky, linear.

Every neuron gives ``slope * (w . x)``. A gate fixed in advance makes it a gated linear network; a
slope that depends on the sign of its own pre-activation makes it a ReLU. One loop trains them all,
many networks at a time on the same data, so that only the gates differ.

Source: the localization notes, eq. 2, 3, 37 and 39, and the headings of sections 5 and 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.receptive.nlgp import nlgp_sample
from superposition.receptive.ranges import (
    STEEPEST,
    as_given,
    data_fit,
    length0,
    length1,
    one_gain,
    one_ring,
    pixels,
    sample,
    sample_fits,
    two_lengths,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Float
    from numpy.typing import ArrayLike


def _classes_fit(one, zero):
    if one.shape != zero.shape:
        raise ValueError(f"one and zero have shapes {one.shape} and {zero.shape}; allowed: one shape")


@checked(
    two_lengths, sample_fits, n=pixels, xi1=length1, xi2=length0, gain=one_gain, samples=ranges.samples,
    seed=ranges.seed
)  # fmt: skip
def labelled_sample(
    n: int, xi1: float, xi2: float, gain: float, samples: int, *, seed: int | np.random.Generator
) -> tuple[Float[np.ndarray, "rows n"], Float[np.ndarray, " rows"]]:
    """Shuffled NLGP inputs, each with its mirror image, and their labels 0 and 1, equally many.

    Source: the notes on localization, section 1. Use `mirrored_sample` instead for inputs of any other law.

    Parameters
    ----------
    samples : int
        Vectors of each label, without their mirror images.

    Returns
    -------
    x : numpy.ndarray, shape (4 samples, n)
    y : numpy.ndarray, shape (4 samples,)

    Examples
    --------
    >>> x, y = labelled_sample(40, 2, 1, 3.0, 100, seed=0)
    >>> x.shape, float(y.mean())
    ((400, 40), 0.5)
    """
    rng = np.random.default_rng(seed)
    one = nlgp_sample(n, xi1, gain, samples, seed=rng)
    return mirrored_sample(one, nlgp_sample(n, xi2, gain, samples, seed=rng), seed=rng)


@checked(_classes_fit, one=sample, zero=sample, seed=ranges.seed)
def mirrored_sample(
    one: ArrayLike, zero: ArrayLike, *, seed: int | np.random.Generator
) -> tuple[Float[np.ndarray, "rows n"], Float[np.ndarray, " rows"]]:
    """Inputs (N, n) of the classes Y = 1 and Y = 0 and their mirror images, shuffled, with their labels.

    Source: ours. Use `labelled_sample` instead for the NLGP.

    Returns
    -------
    x : numpy.ndarray, shape (4 N, n)
    y : numpy.ndarray, shape (4 N,)

    Examples
    --------
    >>> x, y = mirrored_sample([[1.0, 2.0]], [[3.0, 4.0]], seed=0)
    >>> float(x.sum()), y.sum()
    (0.0, np.float64(2.0))
    """
    one, zero = np.asarray(one, float), np.asarray(zero, float)
    x = np.concatenate([one, -one, zero, -zero])
    y = np.repeat([1.0, 0.0], 2 * len(one))
    order = np.random.default_rng(seed).permutation(len(x))
    return x[order], y[order]


@checked(slope=ranges.number())
def leaky_slope(slope: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Slopes of leaky ReLU neurons for `train_gated`: 1 where the pre-activation is above 0, else ``slope``.

    Source: the notes on localization, eq. 37, and the headings of section 6.

    Examples
    --------
    >>> leaky_slope(0.1)(np.array([-2.0, 3.0]), None)
    array([0.1, 1. ], dtype=float32)
    """
    return lambda h, x: np.where(h > 0, np.float32(1), np.float32(slope))


RELU = leaky_slope(0)


@checked(h=as_given("B R K"), x=as_given("B n"))
def relu_with_linear_pathway(h: np.ndarray, x: np.ndarray) -> Float[np.ndarray, "B R K"]:
    """Slopes (B, R, K), for `train_gated`, of ReLU neurons, the last of which is linear in each network.

    Source: the notes on localization, the headings of section 6.

    Parameters
    ----------
    h : array_like, shape (B, R, K)
        Pre-activations.
    x : array_like, shape (B, n)
        Inputs, which do not matter here.

    Examples
    --------
    >>> relu_with_linear_pathway(np.array([[[-1.0, -2.0]]]), np.ones((1, 2)))
    array([[[0., 1.]]])
    """
    slopes = (h > 0).astype(h.dtype)
    slopes[..., -1] = 1
    return slopes


@checked(directions=ranges.array("K n", -1e30, 1e30))
def half_space_slopes(directions: ArrayLike) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Slopes, for `train_gated`, of neurons with fixed gates, open where directions[k] . x > 0, as in all networks.

    Source: the notes on localization, eq. 39.

    Examples
    --------
    >>> half_space_slopes([[1.0, 0.0]])(None, np.array([[2.0, 1.0], [-2.0, 1.0]])).shape
    (2, 1, 1)
    """
    directions = np.asarray(directions, np.float32)
    return lambda h, x: (x @ directions.T > 0).astype(np.float32)[:, None, :]


@checked(
    data_fit, w0=ranges.array("R K n", -1e30, 1e30), x=ranges.array("N n", -1e30, 1e30), y=ranges.real(-1e30,
    1e30), slopes=ranges.function, steps=ranges.steps, lr=ranges.rate, batch=ranges.whole(1),
    readout=ranges.number(), turn=ranges.flag, seed=ranges.seed, record=ranges.function, progress=ranges.function
)  # fmt: skip
def train_gated(
    w0: ArrayLike, x: ArrayLike, y: ArrayLike, slopes: Callable[[np.ndarray, np.ndarray], np.ndarray], *, steps: int,
    lr: float, batch: int = 1000, readout: float | None = None, turn: bool = False, seed: int = 0, record:
    Callable[[int, np.ndarray], object] | None = None, progress: Callable[[int, int], object] | None = None,
) -> Float[np.ndarray, "R K n"]:  # fmt: skip
    """Train R networks yhat = readout sum_k slope_k (w_k·x) side by side by gradient descent on E(yhat - Y)^2 / 2.

    Source: the notes on localization, eq. 2, 3 and 39. Use `train_fields` instead for biases, other activations and
    endless data; use `gdln_solution` instead for fixed gates, where the flow is known.

    Parameters
    ----------
    w0 : array_like, shape (R, K, n)
        Initial weights.
    x : array_like, shape (N, n)
        Inputs, shuffled, as batches are slices.
    y : array_like, shape (N,) or (N, R)
        Labels, of all networks or of each its own.
    slopes : callable
        Of pre-activations (B, R, K) and inputs (B, n): `leaky_slope`, `half_space_slopes`, `relu_with_linear_pathway`.
    lr : float
        Learning rate; it falls linearly to zero during the second half, so that the noise of the batches vanishes.
    batch : int
        Vectors a step, from 1 to N.
    readout : float
        1/K if not given.
    turn : bool
        Turn each batch round the ring by a random number of pixels; if no label depends on the place, the sample is
        then as translation-invariant as the law.
    record : callable
        Called with step and weights before each step and after the last.
    progress : callable
        Called with steps done and all steps, every 100 steps.

    Raises
    ------
    FloatingPointError
        If the weights grow without bound.

    Examples
    --------
    >>> x, y = labelled_sample(12, 1.0, 0.5, 3.0, 100, seed=0)
    >>> train_gated(np.ones((1, 2, 12)), x, y, leaky_slope(0.0), steps=5, lr=0.1, batch=50).shape
    (1, 2, 12)
    """
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


@checked(
    one_ring("w", "x"), w=ranges.array("R K n", -STEEPEST, STEEPEST), x=sample, slopes=ranges.function,
    readout=ranges.number()
)  # fmt: skip
def gated_outputs(
    w: ArrayLike, x: ArrayLike, slopes: Callable[[np.ndarray, np.ndarray], np.ndarray], *, readout: float | None = None
) -> Float[np.ndarray, "N R"]:
    """Predictions (N, R) of networks (R, K, n) for inputs (N, n); slopes and readout as in `train_gated`.

    Source: the notes on localization, eq. 2 and 39.

    Examples
    --------
    >>> gated_outputs([[[1.0, 0.0]]], [[2.0, 1.0], [-2.0, 1.0]], leaky_slope(0.5))
    array([[ 2.],
           [-1.]])
    """
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
