"""Train networks to distinguish long from short correlations, many initial weights at a time.

Source: the notes on localization, eq. 1 to 4. The network is yhat = (1/K) sum_k act(<w_k, x> +
b_1) + b_2, the loss E(yhat - Y)^2 / 2, the method plain gradient descent, so that one step of
learning rate lr is a time of lr / tau in the flow. Half of every batch has label 1. All initial
weights of one call have the same data. Random numbers come from the CPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.receptive.nlgp import normalization
from superposition.receptive.ranges import (
    MOST_NUMBERS,
    MOST_PIXELS,
    STEEPEST,
    batch_fits,
    batches,
    circulant_matrix,
    covariance_batch_fits,
    device,
    kernel,
    length0,
    length1,
    one_gain,
    one_ring,
    pixels,
    sample,
    two_lengths,
)
from superposition.receptive.ring import gaussian_covariance, square_root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.devices import torch


@dataclass(frozen=True)
class Trained:
    """Networks after training, for S initial weights of K neurons each.

    ``W`` (S, K, n), ``bias`` (S, K) and ``bias_out`` (S,) at the end; ``kept`` (m, S, K, n), the
    weights after the steps in ``kept_steps``; ``loss`` (S,), the mean loss over the batches of
    the last tenth of the steps.
    """

    W: np.ndarray
    bias: np.ndarray
    bias_out: np.ndarray
    kept: np.ndarray
    kept_steps: tuple
    loss: np.ndarray


def _weights_fit(initials, K, n):
    checks.whole("numbers in all weights", initials * K * n, 1, MOST_NUMBERS)


@checked(
    _weights_fit, initials=ranges.whole(1, 10**6), K=ranges.whole(1, 10**6), n=ranges.whole(1, MOST_PIXELS),
    scale=ranges.number(), seed=ranges.whole(0)
)  # fmt: skip
def initial_weights(initials: int, K: int, n: int, *, scale: float = 1.0, seed: int = 0) -> Float[np.ndarray, "S K n"]:
    """Xavier normal weights (S, K, n), of standard deviation scale sqrt(2 / (K + n)).

    Every network draws from a stream of its own, so more networks leave the first ones as they are.

    Source: the notes on localization, section 1.

    Parameters
    ----------
    initials : int
        S, the number of networks.
    K : int
        Neurons of a network.
    n : int
        Pixels.

    Examples
    --------
    >>> initial_weights(2, 3, 40).shape
    (2, 3, 40)
    """
    scale = scale * np.sqrt(2 / (K + n))
    streams = np.random.SeedSequence(seed).spawn(initials)
    return scale * np.stack([np.random.default_rng(stream).standard_normal((K, n)) for stream in streams])


@checked(
    two_lengths, batch_fits, n=pixels, xi1=length1, xi2=length0, gain=one_gain, batch=ranges.whole(1),
    seed=ranges.whole(0), kernel=kernel, device=device
)  # fmt: skip
def nlgp_batches(
    n: int, xi1: float, xi2: float, gain: float, batch: int, *, seed: int, kernel: str = "periodic", device: str = "cpu"
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Endless batches of NLGP data: the vectors with label 1 and those with label 0, each (batch / 2, n) in float32.

    Source: the notes on localization, section 1. Use `gaussian_batches` instead for the clone, `labelled_sample` for
    `train_gated`.

    Yields
    ------
    tuple of torch.Tensor

    Examples
    --------
    >>> one, zero = next(nlgp_batches(40, 2, 1, 3.0, 100, seed=0))
    >>> one.shape
    torch.Size([50, 40])
    """
    from superposition.devices import torch

    gain, scale = float(gain), float(normalization(gain))
    covariances = [gaussian_covariance(n, xi, kernel) for xi in (xi1, xi2)]
    for pair in gaussian_batches(*covariances, batch, seed=seed, device=device):  # pyrefly: ignore[bad-argument-type, bad-argument-count]: two
        yield tuple(torch.erf(gain * z) / scale for z in pair)  # pyrefly: ignore[invalid-yield]: two


@checked(
    one_ring("C1", "C0"), covariance_batch_fits, C1=circulant_matrix, C0=circulant_matrix, batch=ranges.whole(1),
    seed=ranges.whole(0), device=device
)  # fmt: skip
def gaussian_batches(
    C1: ArrayLike, C0: ArrayLike, batch: int, *, seed: int, device: str = "cpu"
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Endless batches of Gaussian data with circulant covariances; with the covariances of the NLGP they are its clone.

    Source: ours. Use `nlgp_batches` instead for the NLGP.

    Yields
    ------
    tuple of torch.Tensor
        The vectors with label 1 and those with label 0, each (batch / 2, n) in float32.

    Examples
    --------
    >>> one, zero = next(gaussian_batches(np.eye(12), np.eye(12), 100, seed=0))
    >>> one.shape
    torch.Size([50, 12])
    """
    from superposition.devices import resolve_device, torch

    half, on = (batch + 1) // 2, resolve_device(device)
    roots = [torch.tensor(square_root(C), dtype=torch.float32, device=on) for C in (C1, C0)]
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield tuple(torch.randn(half, len(root), generator=generator).to(on) @ root for root in roots)  # pyrefly: ignore[invalid-yield]: two


@checked(one_ring("x1", "x0"), x1=ranges.array("N n", -1e30, 1e30), x0=ranges.array("N n", -1e30, 1e30), device=device)
def fixed_batches(x1: ArrayLike, x0: ArrayLike, *, device: str = "cpu") -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The same data at every step: gradient descent on a whole finite data set, each label with total weight 1/2.

    Source: ours. Use `nlgp_batches` instead for fresh data at every step.

    Parameters
    ----------
    x1, x0 : array_like, shape (N, n) and (M, n)
        Vectors with label 1 and with label 0.

    Yields
    ------
    tuple of torch.Tensor

    Examples
    --------
    >>> one, zero = next(fixed_batches(np.ones((3, 2)), np.zeros((4, 2))))
    >>> one.shape, zero.shape
    (torch.Size([3, 2]), torch.Size([4, 2]))
    """
    from superposition.devices import resolve_device, torch

    on = resolve_device(device)
    pair = tuple(torch.tensor(np.asarray(x, float), dtype=torch.float32, device=on) for x in (x1, x0))
    while True:
        yield pair  # pyrefly: ignore[invalid-yield]: two


@checked(
    W=ranges.array("S K n", -1e30, 1e30), batches=batches, steps=ranges.steps, lr=ranges.rate,
    lr_out=ranges.number(0, 1e30), activation=ranges.one_of("relu", "erf", "sigmoid", "tanh"),
    bias=ranges.number(-1e30, 1e30), keep_every=ranges.whole(1), progress=ranges.function
)  # fmt: skip
def train_fields(
    W: ArrayLike, batches: Iterator[tuple[torch.Tensor, torch.Tensor]], *, steps: int, lr: float, lr_out: float | None =
    None, activation: str = "relu", bias: float | None = None, keep_every: int | None = None, progress:
    Callable[[int, int], object] | None = None,
) -> Trained:  # fmt: skip
    """Train networks yhat = (1/K) sum_k act(<w_k, x> + b_1) + b_2, for initial weights (S, K, n) side by side.

    The method is plain gradient descent on E(yhat - Y)^2 / 2, so that one step of rate lr is a time lr / tau in the
    flow.

    Source: the notes on localization, eq. 1, 2, 3 and 4. Use `train_gated` instead for gates that are fixed or leaky.

    Parameters
    ----------
    batches : iterator
        Over pairs of tensors (N, n): `nlgp_batches`, `gaussian_batches` or `fixed_batches`, on the device of the
        training.
    lr_out : float
        Rate of the output bias, which no mean over neurons slows down: with many neurons it needs a smaller one; lr if
        not given.
    activation : {"relu", "erf", "sigmoid", "tanh"}
        "erf" is erf(h / sqrt(2)).
    bias : float
        Initial hidden bias; if not given, there are no hidden biases and no output bias.
    keep_every : int
        Keep the weights at step 0 and then each time after this number of steps; none if not given.
    progress : callable
        Called with steps done and all steps, after each step.

    Raises
    ------
    FloatingPointError
        If the loss is not finite at the end.

    Examples
    --------
    >>> batches = nlgp_batches(12, 1, 0.5, 3.0, 20, seed=0)
    >>> train_fields(initial_weights(2, 3, 12), batches, steps=5, lr=0.1).W.shape
    (2, 3, 12)
    """
    from superposition.devices import torch
    from superposition.receptive.activations import ACTIVATIONS

    rates = (float(lr), float(lr), float(lr if lr_out is None else lr_out))
    act, pair = ACTIVATIONS[activation], next(batches)
    weights = [w.to(pair[0].device) for w in _start(W, bias)]
    learned = [w.requires_grad_() for w in (weights[:1] if bias is None else weights)]
    kept, last = _Kept(steps, keep_every), 0.0
    kept.look(0, weights[0])
    for step in range(1, steps + 1):
        losses = _losses(weights, pair, act)
        gradients = torch.autograd.grad(losses.sum(), learned)
        with torch.no_grad():
            for w, gradient, rate in zip(learned, gradients, rates, strict=False):
                w -= rate * gradient
        if step > steps - kept.tail:
            last = last + losses.detach() / kept.tail
        kept.look(step, weights[0])
        if progress is not None:
            progress(step, steps)
        if step < steps:
            pair = next(batches)
    if not bool(torch.isfinite(last).all()):  # pyrefly: ignore[bad-argument-type]: a tensor by now
        raise FloatingPointError(f"the loss is not finite after {steps} steps with lr = {lr:g}; try lr = {lr / 4:g}")
    W, b1, b2, last = (w.detach().cpu().numpy().astype(np.float64) for w in (*weights, last))  # pyrefly: ignore[missing-attribute]: a tensor by now
    return Trained(W, b1, b2, np.array(kept.found), tuple(kept.steps), last)


@checked(
    one_ring("w", "C1", "C0"), covariance_batch_fits, w=ranges.array("S n", -1e30, 1e30), C1=circulant_matrix,
    C0=circulant_matrix, batch=ranges.whole(1), steps=ranges.steps, lr=ranges.rate, keep_every=ranges.whole(1),
    seed=ranges.whole(0), device=device, progress=ranges.function
)  # fmt: skip
def train_gaussian_fields(
    w: ArrayLike, C1: ArrayLike, C0: ArrayLike, batch: int, *, steps: int, lr: float, keep_every: int, seed: int = 0,
    device: str = "cpu", progress: Callable[[int, int], object] | None = None,
) -> Float[np.ndarray, "m S n"]:  # fmt: skip
    """Train single ReLU neurons (S, n) on Gaussian batches as `train_fields` does; the fields kept.

    Source: the notes on localization, eq. 3 and 4. Use `single_neuron_flow` instead for the limit of small steps.

    Parameters
    ----------
    keep_every : int
        Keep the fields at step 0 and then each time after this number of steps.

    Raises
    ------
    FloatingPointError
        If the weights grow without bound.

    Examples
    --------
    >>> train_gaussian_fields(np.eye(2, 12), np.eye(12), np.eye(12), 20, steps=4, lr=0.1, keep_every=2).shape
    (3, 2, 12)
    """
    from superposition.devices import resolve_device, torch

    # By the slope of eq. 3 itself, and without the vectors x = A z of a batch, A the root of a covariance: <w, x> is
    # <A w, z>, and a sum of vectors x is A times the sum of their z.
    half, on = (batch + 1) // 2, resolve_device(device)
    roots = torch.tensor(np.stack([square_root(C) for C in (C1, C0)]), dtype=torch.float32, device=on)
    labels = torch.tensor([1.0, 0.0]).to(on).view(2, 1, 1)
    w = torch.tensor(np.asarray(w, float), dtype=torch.float32, device=on)
    z, generator, kept = torch.empty(2, half, w.shape[1]), torch.Generator().manual_seed(seed), _Kept(steps, keep_every)
    kept.look(0, w)
    for step in range(1, steps + 1):
        drawn = z.normal_(generator=generator).to(on)
        hidden = w @ roots @ drawn.mT
        error = (hidden > 0) * (hidden - labels)
        w = w - lr * (error @ drawn @ roots).sum(dim=0) / (2 * half)
        kept.look(step, w)
        if progress is not None:
            progress(step, steps)
    if not bool(torch.isfinite(w).all()):
        raise FloatingPointError(
            f"the weights are not finite after {steps} steps with lr = {lr:g}; try lr = {lr / 4:g}"
        )
    return np.array(kept.found)


@checked(one_ring("kept", "x"), kept=ranges.array("... m n", -STEEPEST, STEEPEST), x=sample)
def gate_flips(kept: ArrayLike, x: ArrayLike) -> tuple[Float[np.ndarray, "intervals ..."], Float[np.ndarray, "m ..."]]:
    """Shares of vectors (B, n) whose gate 1(<w, x> >= 0) changes, for weights (m, ..., n) kept at m times.

    Source: p(t) of eq. 38 of the notes on localization. Use `flip_rate` instead for Gaussian data.

    Returns
    -------
    step : numpy.ndarray, shape (m - 1, ...)
        Share that differs from the time before; it depends on the time between two records.
    final : numpy.ndarray, shape (m, ...)
        Share that differs from the last time.

    Examples
    --------
    >>> gate_flips([[1.0, 0.0], [-1.0, 0.0]], [[1.0, 0.0]])
    (array([1.]), array([1., 0.]))
    """
    gates = np.asarray(kept, float) @ np.asarray(x, float).T >= 0
    return (gates[1:] != gates[:-1]).mean(axis=-1), (gates != gates[-1]).mean(axis=-1)


class _Kept:
    """Weights at the steps that are kept."""

    def __init__(self, steps, every):
        self.every, self.tail = every, max(1, steps // 10)
        self.steps, self.found = [], []

    def look(self, step, W):
        if self.every is not None and step % self.every == 0:
            self.steps.append(step)
            self.found.append(W.detach().cpu().numpy().astype(np.float64))


def _start(W, bias):
    from superposition.devices import torch

    W = torch.tensor(np.asarray(W, float), dtype=torch.float32)
    b1, b2 = torch.full(W.shape[:2], 0.0 if bias is None else float(bias)), torch.zeros(len(W))
    return W, b1, b2


def _losses(weights, pair, act) -> torch.Tensor:
    """Loss of each of the S networks; each label has weight 1/2, however many vectors it has."""
    from superposition.devices import torch

    W, b1, b2 = weights
    S, K, n = W.shape
    total = 0
    for x, y in zip(pair, (1.0, 0.0), strict=True):
        hidden = act(torch.addmm(b1.reshape(1, S * K), x, W.reshape(S * K, n).T))
        error = hidden.view(len(x), S, K).mean(dim=2) + (b2 - y)
        total = total + error.square().mean(dim=0) / 4
    return total  # pyrefly: ignore[bad-return]: of two tensors
