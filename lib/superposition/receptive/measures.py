"""What a receptive field looks like, in numbers: where it peaks, how wide it is, which frequencies it has.

Source: the notes on localization speak of localized fields and of oscillations and give no
measure. These take weights of any shape (..., n) with the pixels of a ring last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def ipr(w: ArrayLike) -> np.ndarray:
    """Inverse participation ratio, sum w^4 / (sum w^2)^2.

    Parameters
    ----------
    w : array_like, shape (..., n)
        Receptive fields, none of them zero.

    Returns
    -------
    numpy.ndarray, shape (...)
        Times n it is 1 for a flat field, 1.5 for a wave, about 3 for a Gaussian random vector,
        and n for a single pixel.

    Raises
    ------
    ValueError
        If a field is zero or not finite.

    Examples
    --------
    >>> ipr([[1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 0.0, 0.0]])
    array([0.25, 1.  ])
    """
    square = _fields(w) ** 2
    return (square**2).sum(axis=-1) / square.sum(axis=-1) ** 2


def half_energy_width(w: ArrayLike) -> np.ndarray:
    """Length of the shortest arc of the ring that holds half of sum w^2.

    Parameters
    ----------
    w : array_like, shape (..., n)
        Receptive fields, none of them zero.

    Returns
    -------
    numpy.ndarray of int, shape (...)
        From 1 to ceil(n / 2) pixels; n / 2 for a flat field.

    Raises
    ------
    ValueError
        If a field is zero or not finite.

    Examples
    --------
    >>> half_energy_width([[1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 0.0, 0.0]])
    array([2, 1])
    """
    energy = _fields(w) ** 2
    n = energy.shape[-1]
    before = np.concatenate([np.zeros((*energy.shape[:-1], 1)), np.cumsum(np.tile(energy, 2), axis=-1)], axis=-1)
    half = before[..., n] / 2
    best = [np.max(before[..., m : m + n] - before[..., :n], axis=-1) for m in range(1, n + 1)]
    return 1 + np.argmax(np.stack(best) >= half * (1 - 1e-12), axis=0)


def peak(w: ArrayLike) -> np.ndarray:
    """Pixel of the largest |w|.

    Parameters
    ----------
    w : array_like, shape (..., n)
        Receptive fields.

    Returns
    -------
    numpy.ndarray of int, shape (...)

    Raises
    ------
    ValueError
        If a field is not finite.

    Examples
    --------
    >>> int(peak([0.1, -0.9, 0.3]))
    1
    """
    return np.argmax(np.abs(checks.array("w", w, "... n")), axis=-1)


def ring_distance(i: ArrayLike, j: ArrayLike, n: int) -> np.ndarray:
    """The shorter way between pixels of a ring.

    Parameters
    ----------
    i, j : array_like of int
        Pixels.
    n : int
        Pixels of the ring.

    Returns
    -------
    numpy.ndarray of int
        From 0 to n // 2.

    Raises
    ------
    ValueError
        If a pixel is not from 0 to n - 1.

    Examples
    --------
    >>> int(ring_distance(1, 39, 40))
    2
    """
    n = checks.whole("n", n, 1)
    i, j = (checks.real(name, v, 0, n - 1) for name, v in (("i", i), ("j", j)))
    d = np.abs(i - j).astype(int) % n
    return np.minimum(d, n - d)


def same_place(w: ArrayLike, v: ArrayLike, within: int = 1) -> np.ndarray:
    """Whether two fields peak at the same place of the ring.

    Parameters
    ----------
    w, v : array_like, shape (..., n)
        Receptive fields, or a forecast of them.
    within : int
        Pixels that the peaks may be apart, 0 or more.

    Returns
    -------
    numpy.ndarray of bool, shape (...)
        By chance true with probability (2 within + 1) / n.

    Raises
    ------
    ValueError
        If a field is not finite, or the shapes do not fit.

    Examples
    --------
    >>> same_place([[0.1, -0.9, 0.3], [0.8, 0.0, 0.1]], [0.0, 1.0, 0.0], within=0)
    array([ True, False])
    """
    w, v = checks.array("w", w, "... n"), checks.array("v", v, "... n")
    if w.shape[-1] != v.shape[-1]:
        raise ValueError(f"w and v have shapes {w.shape} and {v.shape}; allowed: one n")
    return ring_distance(peak(w), peak(v), w.shape[-1]) <= checks.whole("within", within, 0)


def power(w: ArrayLike) -> Float[np.ndarray, "... frequencies"]:
    """Share of sum w^2 at each frequency.

    Parameters
    ----------
    w : array_like, shape (..., n)
        Receptive fields, none of them zero.

    Returns
    -------
    numpy.ndarray, shape (..., n // 2 + 1)
        Cosine and sine of a frequency together; sums to 1.

    Raises
    ------
    ValueError
        If a field is zero or not finite.
    """
    w = _fields(w)
    n = w.shape[-1]
    share = np.abs(np.fft.rfft(w, axis=-1)) ** 2
    share[..., 1 : (n + 1) // 2] *= 2
    return share / share.sum(axis=-1, keepdims=True)


def mean_frequency(w: ArrayLike) -> np.ndarray:
    """Mean frequency of a field, each weighted with its share of sum w^2.

    Parameters
    ----------
    w : array_like, shape (..., n)
        Receptive fields, none of them zero.

    Returns
    -------
    numpy.ndarray, shape (...)
        From 0 (flat) to n // 2 (alternating signs).

    Raises
    ------
    ValueError
        If a field is zero or not finite.

    Examples
    --------
    >>> print(round(float(mean_frequency([1.0, -1.0, 1.0, -1.0])), 6))
    2.0
    """
    share = power(w)
    return share @ np.arange(share.shape[-1])


def _fields(w: ArrayLike) -> np.ndarray:
    w = checks.array("w", w, "... n")
    largest = np.abs(w).max(axis=-1, keepdims=True)
    if not np.all(largest > 0):
        raise ValueError("w = 0 is no receptive field; allowed: fields with an entry that is not 0")
    return w / largest
