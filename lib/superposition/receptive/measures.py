"""Measures of a receptive field: its peak, its width and its frequencies.

Source: the notes on localization speak of localized fields and of oscillations and give no
measure. These take weights of any shape (..., n) with the pixels of a ring last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.receptive.ranges import fields, one_ring, whole_numbers

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


@checked(w=fields)
def ipr(w: ArrayLike) -> np.ndarray:
    """Inverse participation ratio, sum w^4 / (sum w^2)^2, of shape (...).

    Source: ours; the notes on localization give no measure. Times n it is 1 for a flat field, 1.5 for a wave, about 3
    for a Gaussian random vector and n for a single pixel. Use `half_energy_width` instead for a width in pixels.

    Examples
    --------
    >>> print(ipr([0.5, 0.5, 0.5, 0.5]))
    0.25
    """
    square = _as_fields(w) ** 2
    return (square**2).sum(axis=-1) / square.sum(axis=-1) ** 2


@checked(w=fields)
def half_energy_width(w: ArrayLike) -> np.ndarray:
    """Length in pixels, of shape (...), of the shortest arc of the ring with half of sum w^2.

    It is from 1 to ceil(n / 2), which a flat field has.

    Source: ours.

    Examples
    --------
    >>> print(half_energy_width([1.0, 1.0, 1.0, 1.0]))
    2
    """
    energy = _as_fields(w) ** 2
    n = energy.shape[-1]
    before = np.concatenate([np.zeros((*energy.shape[:-1], 1)), np.cumsum(np.tile(energy, 2), axis=-1)], axis=-1)
    half = before[..., n] / 2
    best = [np.max(before[..., m : m + n] - before[..., :n], axis=-1) for m in range(1, n + 1)]
    return 1 + np.argmax(np.stack(best) >= half * (1 - 1e-12), axis=0)


@checked(w=fields)
def peak(w: ArrayLike) -> np.ndarray:
    """Pixel of the largest |w|, of shape (...).

    Source: ours.

    Examples
    --------
    >>> print(peak([0.1, -3.0, 2.0]))
    1
    """
    return np.argmax(np.abs(w), axis=-1)


@checked(ranges.together("i", "j"), i=whole_numbers, j=whole_numbers, n=ranges.whole(1))
def ring_distance(i: ArrayLike, j: ArrayLike, n: int) -> np.ndarray:
    """The shorter distance between pixels i and j on a ring of n, from 0 to n // 2.

    Source: ours.

    Examples
    --------
    >>> ring_distance([1, 2], 39, 40)
    array([2, 3])
    """
    d = np.abs(np.subtract(i, j)).astype(int) % n
    return np.minimum(d, n - d)


@checked(one_ring("w", "v"), ranges.together("w", "v"), w=fields, v=fields, within=ranges.whole(0))
def same_place(w: ArrayLike, v: ArrayLike, within: int = 1) -> np.ndarray:
    """Whether two fields peak at the same place to within ``within`` pixels, shape (...).

    Source: ours. By chance it is true with probability (2 within + 1) / n.

    Examples
    --------
    >>> print(same_place([0.0, 1.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]))
    True
    """
    return ring_distance(peak(w), peak(v), np.shape(w)[-1]) <= within


@checked(w=fields)
def power_spectrum(w: ArrayLike) -> Float[np.ndarray, "... frequencies"]:
    """Share of sum w^2 at each frequency, cosine and sine together, of shape (..., n // 2 + 1).

    Source: ours.

    Examples
    --------
    >>> power_spectrum([1.0, 1.0, 1.0, 0.0]).round(2)
    array([0.75, 0.17, 0.08])
    """
    w = _as_fields(w)
    n = w.shape[-1]
    share = np.abs(np.fft.rfft(w, axis=-1)) ** 2
    share[..., 1 : (n + 1) // 2] *= 2
    return share / share.sum(axis=-1, keepdims=True)


@checked(w=fields)
def mean_frequency(w: ArrayLike) -> np.ndarray:
    """Mean frequency, of shape (...), weighted with `power_spectrum`: 0 (flat) to n // 2 (alternating signs).

    Source: ours.

    Examples
    --------
    >>> print(mean_frequency([1.0, -1.0, 1.0, -1.0]))
    2.0
    """
    share = power_spectrum(w)
    return share @ np.arange(share.shape[-1])


def _as_fields(w: ArrayLike) -> np.ndarray:
    w = np.asarray(w, float)
    largest = np.abs(w).max(axis=-1, keepdims=True)
    if not np.all(largest > 0):
        raise ValueError("w = 0 is no receptive field; allowed: fields with an entry that is not 0")
    return w / largest
