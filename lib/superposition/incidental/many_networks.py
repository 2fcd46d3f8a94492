"""Gradient flow of thousands of small networks at once, to count the neurons that features come to share.

W has shape (b, n, m): b networks, n features, m neurons; the flow is that of
`superposition.incidental.gradient_flow`, by the same proximal steps. Each network has its own step, and its
result does not depend, to the last bit, on the others in the batch.
Source: Incidental Polysemanticity, sections 2 and 2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.incidental import ranges as own

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Float, Int
    from numpy.typing import ArrayLike


LOOK = 20  # steps between two searches for columns of zeros and for networks at rest
SETTLED = 1e-4  # remaining speed of the weights of a network at rest
CHUNK = 2**20  # weights that are moved at once: they stay in the cache


@checked(own.fits, networks=ranges.whole(1), n=own.features, m=own.neurons, seed=ranges.seed)
def random_networks(networks: int, n: int, m: int, *, seed: int) -> Float[np.ndarray, "networks n m"]:
    """Random float32 weights (networks, n, m) of variance 1/m, as in the text's public code.

    Examples
    --------
    >>> random_networks(3, 2, 4, seed=0).shape
    (3, 2, 4)
    """
    rng = np.random.default_rng(seed)
    return rng.standard_normal((networks, n, m), dtype=np.float32) / np.sqrt(np.float32(m))


@checked(
    own.step_settles, w0=own.kept("b n m"), lambda_=own.strength, t=own.time, step=own.time_step,
    progress=ranges.function,
)  # fmt: skip
def gradient_flow_each(
    w0: ArrayLike, lambda_: float, t: float, *, step: float = 0.4, progress: Callable[[int, int], object] | None = None
) -> Float[np.ndarray, "b n m"]:
    """Gradient flow (b, n, m) of many networks for a time t, each as if it were alone; float32 is kept.

    Networks at rest (one weight a row, no overlap) are left as they are. Source: section 2, in the simplified
    convention. Use `gradient_flow` for one large network.

    Examples
    --------
    >>> gradient_flow_each([[[0.6, 0.5], [-0.5, 0.4]]], 0.01, 600.0).round(2)
    array([[[ 0.99,  0.  ],
            [-0.99,  0.  ]]])
    """
    W = np.array(w0, dtype=np.float32 if np.asarray(w0).dtype == np.float32 else np.float64)
    size = max(1, CHUNK // W[0].size)
    for first in range(0, len(W), size):
        _settle(W[first : first + size], lambda_, t, step)
        if progress is not None:
            progress(min(first + size, len(W)), len(W))
    return W


@checked(W=ranges.array("b n m"), threshold=own.share)
def count_polysemantic_each(W: ArrayLike, threshold: float = 0.5) -> Int[np.ndarray, " b"]:
    """Count neurons that at least two features use, in each network (b, n, m). Source: section 1.

    Examples
    --------
    >>> count_polysemantic_each([[[1.0, 0.0], [-0.9, 0.1]], [[1.0, 0.0], [0.0, 1.0]]])
    array([1, 0])
    """
    return ((np.abs(np.asarray(W, float)) >= threshold).sum(axis=1) >= 2).sum(axis=1)


@checked(W=ranges.array("b n m"))
def opposite_tops_each(W: ArrayLike) -> Int[np.ndarray, " b"]:
    """Count pairs of features whose largest weights are at one neuron with opposite signs, in each network (b, n, m).

    Examples
    --------
    >>> opposite_tops_each([[[1.0, 0.0], [-0.9, 0.1]], [[1.0, 0.0], [0.0, 1.0]]])
    array([1, 0])
    """
    W = np.asarray(W, float)
    top = np.abs(W).argmax(axis=2)
    positive = np.take_along_axis(W, top[:, :, None], axis=2)[:, :, 0] > 0
    shared = top[:, :, None] == top[:, None, :]
    return (shared & (positive[:, :, None] > positive[:, None, :])).sum(axis=(1, 2))


def _settle(W, lambda_, t, step):
    """All networks of a chunk, in place, in blocks of steps; columns of zeros are left out in between."""
    left = np.full(len(W), t, dtype=W.dtype)
    live = np.arange(len(W))
    while live.size:
        used = (W[live] != 0).any(axis=1)
        width = np.minimum(np.exp2(np.ceil(np.log2(np.maximum(used.sum(axis=1), 4)))).astype(int), W.shape[2])
        for w in np.unique(width):
            chosen = live[width == w]
            columns = np.argsort(~used[width == w], axis=1, kind="stable")[:, None, :w]
            block, clock = np.take_along_axis(W[chosen], columns, axis=2), left[chosen]
            for _ in range(LOOK):
                block = _advance(block, clock, lambda_, step)
            whole = np.zeros((len(chosen), *W.shape[1:]), W.dtype)
            np.put_along_axis(whole, columns, block, axis=2)
            W[chosen], left[chosen] = whole, clock
        live = live[(left[live] > 0) & ~_at_rest(W[live], lambda_)]


def _advance(W, left, lambda_, step):
    """One proximal step of each network, of at most its time left, which is shortened in place."""
    gram = W @ W.swapaxes(1, 2)
    own = np.arange(W.shape[1])
    benefit = 1 - gram[:, own, own]
    overlaps = np.maximum(gram, 0)
    overlaps[:, own, own] = 0
    h = np.minimum(W.dtype.type(step) / np.maximum(overlaps.sum(axis=2).max(axis=1), 1), left)
    left -= h
    move = overlaps * -h[:, None, None]
    move[:, own, own] = 1 + h[:, None] * benefit
    W = move @ W
    shrink = (h * W.dtype.type(lambda_))[:, None, None]
    return W - np.clip(W, -shrink, shrink)


def _at_rest(W, lambda_):
    """Whether every row has one weight or none, at rest, and no two overlap."""
    size = np.abs(W).max(axis=2)
    slow = np.abs((1 - size**2) * size - lambda_ * (size > 0)) < SETTLED
    alone = (np.count_nonzero(W, axis=2) <= 1) & slow
    gram = W @ W.swapaxes(1, 2)
    gram[:, np.arange(W.shape[1]), np.arange(W.shape[1])] = 0
    return alone.all(axis=1) & (gram <= 0).all(axis=(1, 2))
