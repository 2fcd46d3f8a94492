"""Incidental polysemanticity with company: some inputs hold two features, and a shared neuron then costs something.

A single feature comes with probability 1 - q, any two together with q. Losses and the flow are those of the text
otherwise, W' = -(dL/dW)/4 - lambda sign(W); a given pair meets at the rate B = 2 q / (n - 1).
Source: Incidental Polysemanticity, section 2, where the inputs are basis vectors; company is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

EARLY = 20.0  # until then the weights move fast, and the step is half as long
STEP = 0.2
AT_REST = 1e-6  # speed of the fastest weight; what is exactly 0 stays so


def rates(q: float, n: int) -> tuple[float, float]:
    """How often a given feature comes alone, and how often a given pair meets, per feature."""
    return 1 - q, 2 * q / (n - 1)


def two_of(q: float, n: int) -> tuple[float, float]:
    """The rates of two features out of n that share no neuron with others: with these, each is as if alone."""
    return 1 - q + 2 * q * (n - 2) / (n - 1), 2 * q / (n - 1)


def flow(W: ArrayLike, alone: float, both: float, lambda_: float, t: float | None = None) -> Float[np.ndarray, "b n m"]:
    """Gradient flow of many networks (b, n, m) for a time t, by default 8 / lambda, in their own precision."""
    W, left = np.array(W), 8 / lambda_ if t is None else t
    start = left
    while left > 1e-9:
        h, before = min(STEP / 2 if start - left < EARLY else STEP, left), W
        W = W - np.asarray(h, W.dtype) * gradient(W, alone, both)
        W = W - np.clip(W, -h * lambda_, h * lambda_).astype(W.dtype)
        left -= h
        if np.abs(W - before).max() < AT_REST * h:
            break
    return W


def loss(W: ArrayLike, alone: float, both: float) -> Float[np.ndarray, " b"]:
    """What the flow goes down, without the l1 term: sum of squared errors over single features and pairs."""
    single, pairs = _errors(np.asarray(W, float), both)
    return alone * (single**2).sum(axis=(1, 2)) + both / 2 * (pairs**2).sum(axis=(1, 2, 3))


def gradient(W: ArrayLike, alone: float, both: float) -> Float[np.ndarray, "b n m"]:
    """A quarter of the gradient of `loss`."""
    # With delta the error of the outputs that are above 0, an input x adds (delta x' + x delta') W / 2.
    W = np.asarray(W)
    single, pairs = _errors(W, both, heard=True)
    on = alone * single
    if both:
        H = pairs.sum(axis=2)
        on = on + W.dtype.type(both / 2) * (H + H.swapaxes(1, 2))
    return on.astype(W.dtype) @ W


def _errors(W, both, heard=False):
    """ReLU(W W' x) - x for every feature (b, n, n) and ordered pair (b, n, n, n); where heard, 0 for shut outputs."""
    gram = W @ W.swapaxes(1, 2)
    own = np.eye(W.shape[1], dtype=W.dtype)
    single = np.maximum(gram, 0) - own
    if heard:
        single = np.where(gram > 0, single, 0)
    if not both:
        return single, np.zeros((len(W), 1, 1, 1), W.dtype)
    sums = gram[:, :, None, :] + gram[:, None, :, :]
    pairs = np.maximum(sums, 0) - (own[:, None, :] + own[None, :, :])
    if heard:
        pairs = np.where(sums > 0, pairs, 0)
    return single, pairs * (1 - own)[:, :, None]


def settled_pair(alone: float, both: float, lambda_: float) -> tuple[float, float]:
    """The two weights, opposite in sign, of a pair that shares a neuron and has settled: sizes, the larger first."""
    from scipy.optimize import root

    def push(z):
        x, y = z
        missed = both / 2 * (1 - x * (x - y))
        return [
            alone * x * (1 - x**2) - lambda_ + missed * (2 * x - y),
            alone * y * (1 - y**2) - lambda_ - missed * x,
        ]

    x, y = root(push, [1.0, 0.97], tol=1e-13).x
    return float(x), float(y)


def curing_weight(both: float, lambda_: float) -> float:
    """How large a weight on a free neuron must be to part a settled pair, 1 / (1 + B / 2 lambda), for one weight."""
    return 1 / (1 + both / (2 * lambda_))
