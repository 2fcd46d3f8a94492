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

from superposition import checks
from superposition.devices import resolve_device, torch
from superposition.receptive.nlgp import normalization
from superposition.receptive.ring import gaussian_covariance, lengths, spectrum, square_root

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
    """Xavier normal weights: standard deviation scale sqrt(2 / (K + n)).

    Parameters
    ----------
    initials, K, n : int
        Number S of networks, neurons in each, pixels; at least 1.
    scale : float
        Above 0.
    seed : int
        Network s draws from a stream of its own, so more networks leave the first ones as they are.

    Returns
    -------
    numpy.ndarray, shape (S, K, n)

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    initials, K, n = (checks.whole(*pair, 1) for pair in (("initials", initials), ("K", K), ("n", n)))
    scale = checks.number("scale", scale, 0, open_low=True, open_high=True) * np.sqrt(2 / (K + n))
    streams = np.random.SeedSequence(checks.whole("seed", seed, 0)).spawn(initials)
    return scale * np.stack([np.random.default_rng(stream).standard_normal((K, n)) for stream in streams])


def nlgp_batches(
    n: int, xi1: float, xi2: float, gain: float, batch: int, *, seed: int, kernel: str = "periodic", device: str = "cpu"
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Endless batches of NLGP data.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    batch : int
        Vectors in a batch, at least 2; half of them, rounded up, of each label.
    seed : int
        Seed of the stream.
    kernel : {"periodic", "wrapped"}
        See `superposition.receptive.ring.gaussian_covariance`.
    device : str
        See `superposition.devices.resolve_device`.

    Yields
    ------
    (torch.Tensor, torch.Tensor)
        The vectors with label 1 and those with label 0, each (half, n) in float32.

    Raises
    ------
    superposition.receptive.ring.NotACovariance
        If the kernel is no covariance.
    ValueError
        If an argument is out of range.
    """
    gain = checks.number("gain", gain)
    scale = float(normalization(gain))
    covariances = [gaussian_covariance(n, xi, kernel) for xi in lengths(n, xi1, xi2)]
    for pair in gaussian_batches(*covariances, batch, seed=seed, device=device):  # pyrefly: ignore[bad-argument-type, bad-argument-count]: two
        yield tuple(torch.erf(gain * z) / scale for z in pair)  # pyrefly: ignore[invalid-yield]: two


def gaussian_batches(
    C1: ArrayLike, C0: ArrayLike, batch: int, *, seed: int, device: str = "cpu"
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Endless batches of Gaussian data.

    Parameters
    ----------
    C1, C0 : array_like, shape (n, n)
        Circulant covariances of the data with label 1 and 0; those of the NLGP make its clone.
    batch : int
        Vectors in a batch, at least 2; half of them, rounded up, of each label.
    seed : int
        Seed of the stream.
    device : str
        See `superposition.devices.resolve_device`.

    Yields
    ------
    (torch.Tensor, torch.Tensor)
        The vectors with label 1 and those with label 0, each (half, n) in float32.

    Raises
    ------
    superposition.receptive.ring.NotACovariance
        If a matrix is no covariance.
    ValueError
        If an argument is out of range.
    """
    half = (checks.whole("batch", batch, 2) + 1) // 2
    on = resolve_device(device)
    spectrum("C1", C1), spectrum("C0", C0)  # refuse what is no circulant matrix under its name
    roots = [torch.tensor(square_root(C), dtype=torch.float32, device=on) for C in (C1, C0)]
    generator = torch.Generator().manual_seed(checks.whole("seed", seed, 0))
    while True:
        yield tuple(torch.randn(half, len(root), generator=generator).to(on) @ root for root in roots)  # pyrefly: ignore[invalid-yield]: two


def fixed_batches(x1: ArrayLike, x0: ArrayLike, *, device: str = "cpu") -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The same data at every step: gradient descent on the whole of a finite data set.

    Parameters
    ----------
    x1, x0 : array_like, shape (m, n)
        Vectors with label 1 and with label 0; each label has total weight 1/2.
    device : str
        See `superposition.devices.resolve_device`.

    Yields
    ------
    (torch.Tensor, torch.Tensor)
        The same two in float32.
    """
    both = checks.array("x1", x1, "m n"), checks.array("x0", x0, "m n")
    pair = tuple(torch.tensor(x, dtype=torch.float32, device=resolve_device(device)) for x in both)
    while True:
        yield pair  # pyrefly: ignore[invalid-yield]: two


def train(
    W: ArrayLike, batches: Iterator[tuple[torch.Tensor, torch.Tensor]], *, steps: int, lr: float, lr_out: float | None =
    None, activation: str = "relu", bias: float | None = None, keep_every: int | None = None, progress:
    Callable[[int, int], object] | None = None,
) -> Trained:  # fmt: skip
    """Gradient descent on the mean squared error, for several initial weights side by side.

    Parameters
    ----------
    W : array_like, shape (S, K, n)
        Initial weights.
    batches : iterator
        Of pairs of tensors, as `nlgp_batches`, `gaussian_batches` and `fixed_batches` give them.
    steps : int
        At least 1.
    lr : float
        Learning rate, above 0.
    lr_out : float, optional
        That of the output bias, which no mean over neurons slows down: with many neurons it needs a smaller one.
    activation : {"relu", "erf", "sigmoid", "tanh"}
        "erf" is erf(h / sqrt(2)).
    bias : float, optional
        Where the hidden biases start; without it the network has no biases and learns none.
    keep_every : int, optional
        Keep the weights at step 0 and after every so many steps.
    progress : callable, optional
        Called as ``progress(done, total)`` after each step.

    Returns
    -------
    Trained

    Raises
    ------
    ValueError
        If an argument is out of range.
    FloatingPointError
        If the loss is not finite at the end.

    Notes
    -----
    Source: the notes on localization. The network is that of eq. 1 with W_2 = (1, ..., 1) / K;
    "relu" without bias is eq. 2; the loss is eq. 3; and small steps follow eq. 4.
    """
    steps = checks.whole("steps", steps, 1)
    lr = checks.number("lr", lr, 0, open_low=True, open_high=True)
    rates = (lr, lr, lr if lr_out is None else checks.number("lr_out", lr_out, 0, open_low=True, open_high=True))
    act = ACTIVATIONS[checks.one_of("activation", activation, tuple(ACTIVATIONS))]
    pair = next(batches)
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


def flips(kept: ArrayLike, x: ArrayLike) -> tuple[Float[np.ndarray, "intervals ..."], Float[np.ndarray, "m ..."]]:
    """How often gates change between kept weights, on given data.

    Parameters
    ----------
    kept : array_like, shape (m, ..., n)
        Weights at m times.
    x : array_like, shape (B, n)
        Vectors.

    Returns
    -------
    step : numpy.ndarray, shape (m - 1, ...)
        Share of vectors whose gate 1(<w, x> >= 0) differs from that at the time before.
    final : numpy.ndarray, shape (m, ...)
        Share whose gate differs from that at the last time.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Notes
    -----
    Source: the notes on localization, p(t) of eq. 38. It depends on the time between looks; the
    second does not.
    """
    kept, x = checks.array("kept", kept, "... n"), checks.array("x", x, "B n")
    if kept.ndim < 2 or kept.shape[-1] != x.shape[1]:
        raise ValueError(f"kept and x have shapes {kept.shape} and {x.shape}; allowed: (m, ..., n) and (B, n)")
    gates = kept @ x.T >= 0
    return (gates[1:] != gates[:-1]).mean(axis=-1), (gates != gates[-1]).mean(axis=-1)


class _Kept:
    """Weights at the steps that are kept."""

    def __init__(self, steps, every):
        self.every = None if every is None else checks.whole("keep_every", every, 1)
        self.tail = max(1, steps // 10)
        self.steps, self.found = [], []

    def look(self, step, W):
        if self.every is not None and step % self.every == 0:
            self.steps.append(step)
            self.found.append(W.detach().cpu().numpy().astype(np.float64))


def _start(W, bias):
    W = torch.tensor(checks.real("W", W, open_low=True, open_high=True), dtype=torch.float32)
    if W.ndim != 3:
        raise ValueError(f"W has shape {tuple(W.shape)}; allowed: (S, K, n)")
    start = 0.0 if bias is None else checks.number("bias", bias, -1e30, 1e30)
    b1, b2 = torch.full(W.shape[:2], start), torch.zeros(len(W))
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
