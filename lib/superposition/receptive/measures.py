"""What a receptive field looks like, in numbers: where it peaks, how wide it is, which frequencies it has.

Source: the notes on localization speak of localized fields and of oscillations and give no
measure. These take weights of any shape (..., n) with the pixels of a ring last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def ipr(w: ArrayLike) -> np.ndarray:
    """Inverse participation ratio, sum w^4 / (sum w^2)^2."""
    # Times n it is 1 for a flat field, 1.5 for a wave, about 3 for a Gaussian random vector, and n for a single pixel.
    square = _fields(w) ** 2
    return (square**2).sum(axis=-1) / square.sum(axis=-1) ** 2


def half_energy_width(w: ArrayLike) -> np.ndarray:
    """Length of the shortest arc of the ring with half of sum w^2: 1 to ceil(n / 2), which a flat field has."""
    energy = _fields(w) ** 2
    n = energy.shape[-1]
    before = np.concatenate([np.zeros((*energy.shape[:-1], 1)), np.cumsum(np.tile(energy, 2), axis=-1)], axis=-1)
    half = before[..., n] / 2
    best = [np.max(before[..., m : m + n] - before[..., :n], axis=-1) for m in range(1, n + 1)]
    return 1 + np.argmax(np.stack(best) >= half * (1 - 1e-12), axis=0)


def peak(w: ArrayLike) -> np.ndarray:
    """Pixel of the largest |w|."""
    return np.argmax(np.abs(w), axis=-1)


def ring_distance(i: ArrayLike, j: ArrayLike, n: int) -> np.ndarray:
    """The shorter way between pixels of a ring, from 0 to n // 2."""
    d = np.abs(np.subtract(i, j)).astype(int) % n
    return np.minimum(d, n - d)


def same_place(w: ArrayLike, v: ArrayLike, within: int = 1) -> np.ndarray:
    """Whether two fields peak at the same place; by chance true with probability (2 within + 1) / n."""
    return ring_distance(peak(w), peak(v), np.shape(w)[-1]) <= within


def power(w: ArrayLike) -> Float[np.ndarray, "... frequencies"]:
    """Share of sum w^2 at each frequency (..., n // 2 + 1), cosine and sine together."""
    w = _fields(w)
    n = w.shape[-1]
    share = np.abs(np.fft.rfft(w, axis=-1)) ** 2
    share[..., 1 : (n + 1) // 2] *= 2
    return share / share.sum(axis=-1, keepdims=True)


def mean_frequency(w: ArrayLike) -> np.ndarray:
    """Mean frequency of a field, each weighted with its share of sum w^2: 0 (flat) to n // 2 (alternating signs)."""
    share = power(w)
    return share @ np.arange(share.shape[-1])


def _fields(w: ArrayLike) -> np.ndarray:
    w = np.asarray(w, float)
    largest = np.abs(w).max(axis=-1, keepdims=True)
    if not np.all(largest > 0):
        raise ValueError("w = 0 is no receptive field; allowed: fields with an entry that is not 0")
    return w / largest
