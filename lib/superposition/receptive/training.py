"""Train networks that tell long from short correlations, many initial weights at a time.

Source: the notes on localization, eq. 1 to 4. The network is yhat = (1/K) sum_k act(<w_k, x> +
b_1) + b_2, the loss E(yhat - Y)^2 / 2, the method plain gradient descent, so that one step of
learning rate lr is a time of lr / tau in the flow. Half of every batch has label 1. All initial
weights of one call see the same data. Random numbers come from the CPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition.devices import resolve_device, torch
from superposition.receptive.nlgp import normalization
from superposition.receptive.ring import gaussian_covariance, square_root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jaxtyping import Float
    from numpy.typing import ArrayLike


ACTIVATIONS = {
    "relu": torch.relu,
    "erf": lambda h: torch.erf(h / 2**0.5),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}


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


def initial_weights(initials: int, K: int, n: int, *, scale: float = 1.0, seed: int = 0) -> Float[np.ndarray, "S K n"]:
    """Xavier normal weights (S, K, n): standard deviation scale sqrt(2 / (K + n))."""
    # Every network draws from a stream of its own, so more networks leave the first ones as they are.
    scale = scale * np.sqrt(2 / (K + n))
    streams = np.random.SeedSequence(seed).spawn(initials)
    return scale * np.stack([np.random.default_rng(stream).standard_normal((K, n)) for stream in streams])


def nlgp_batches(
    n: int, xi1: float, xi2: float, gain: float, batch: int, *, seed: int, kernel: str = "periodic", device: str = "cpu"
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Endless batches of NLGP data: the vectors with label 1 and those with label 0, each (half, n) in float32."""
    gain, scale = float(gain), float(normalization(gain))
    covariances = [gaussian_covariance(n, xi, kernel) for xi in (xi1, xi2)]
    for pair in gaussian_batches(*covariances, batch, seed=seed, device=device):  # pyrefly: ignore[bad-argument-type, bad-argument-count]: two
        yield tuple(torch.erf(gain * z) / scale for z in pair)  # pyrefly: ignore[invalid-yield]: two


def gaussian_batches(
    C1: ArrayLike, C0: ArrayLike, batch: int, *, seed: int, device: str = "cpu"
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Endless batches of Gaussian data with circulant covariances; those of the NLGP make its clone."""
    half, on = (batch + 1) // 2, resolve_device(device)
    roots = [torch.tensor(square_root(C), dtype=torch.float32, device=on) for C in (C1, C0)]
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield tuple(torch.randn(half, len(root), generator=generator).to(on) @ root for root in roots)  # pyrefly: ignore[invalid-yield]: two


def fixed_batches(x1: ArrayLike, x0: ArrayLike, *, device: str = "cpu") -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The same data at every step: gradient descent on a whole finite data set, each label with total weight 1/2."""
    on = resolve_device(device)
    pair = tuple(torch.tensor(np.asarray(x, float), dtype=torch.float32, device=on) for x in (x1, x0))
    while True:
        yield pair  # pyrefly: ignore[invalid-yield]: two


def train(
    W: ArrayLike, batches: Iterator[tuple[torch.Tensor, torch.Tensor]], *, steps: int, lr: float, lr_out: float | None =
    None, activation: str = "relu", bias: float | None = None, keep_every: int | None = None, progress:
    Callable[[int, int], object] | None = None,
) -> Trained:  # fmt: skip
    """Gradient descent on the mean squared error (eq. 1, 2, 3 and 4), for initial weights (S, K, n) side by side."""
    # The network is that of eq. 1 with W_2 = (1, ..., 1) / K; "relu" without bias is eq. 2; the loss is eq. 3; and
    # small steps follow eq. 4. "erf" is erf(h / sqrt(2)). Hidden biases start at ``bias``; without it there are none.
    # ``lr_out`` is the rate of the output bias, which no mean over neurons slows down: with many neurons it needs a
    # smaller one. The weights are kept at step 0 and after every ``keep_every`` steps; ``progress(done, total)`` is
    # called after each step.
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


def train_gaussian(
    w: ArrayLike, C1: ArrayLike, C0: ArrayLike, batch: int, *, steps: int, lr: float, keep_every: int, seed: int = 0,
    device: str = "cpu", progress: Callable[[int, int], object] | None = None,
) -> Float[np.ndarray, "m S n"]:  # fmt: skip
    """Train single ReLU neurons (S, n) on Gaussian batches as `train` does; the fields (m, S, n) kept."""
    # Kept at step 0 and after every ``keep_every`` steps. By the slope of eq. 3 itself, and without the vectors x = A z
    # of a batch, A the root of a covariance: <w, x> is <A w, z>, and a sum of vectors x is A times the sum of their z.
    half, on = (batch + 1) // 2, resolve_device(device)
    roots = torch.tensor(np.stack([square_root(C) for C in (C1, C0)]), dtype=torch.float32, device=on)
    labels = torch.tensor([1.0, 0.0], device=on).view(2, 1, 1)
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
    return np.array(kept.found)


def flips(kept: ArrayLike, x: ArrayLike) -> tuple[Float[np.ndarray, "intervals ..."], Float[np.ndarray, "m ..."]]:
    """Share of vectors (B, n) whose gate 1(<w, x> >= 0) differs from the time before, and from the last one."""
    # p(t) of eq. 38 of the notes on localization depends on the time between looks; the second does not.
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
    W = torch.tensor(np.asarray(W, float), dtype=torch.float32)
    b1, b2 = torch.full(W.shape[:2], 0.0 if bias is None else float(bias)), torch.zeros(len(W))
    return W, b1, b2


def _losses(weights, pair, act) -> torch.Tensor:
    """Loss of each of the S networks; each label has weight 1/2, however many vectors it has."""
    W, b1, b2 = weights
    S, K, n = W.shape
    total = 0
    for x, y in zip(pair, (1.0, 0.0), strict=True):
        hidden = act(torch.addmm(b1.reshape(1, S * K), x, W.reshape(S * K, n).T))
        error = hidden.view(len(x), S, K).mean(dim=2) + (b2 - y)
        total = total + error.square().mean(dim=0) / 4
    return total  # pyrefly: ignore[bad-return]: of two tensors
