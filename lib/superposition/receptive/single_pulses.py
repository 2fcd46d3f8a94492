"""Single-pulse data: one block of ones on a ring, at a random place and of random length.

Source: the notes on localization, section 1, which names this data set and does not define it;
the definition follows the public code of its authors. There are few such vectors, so they are
listed, and expectations over them are exact sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.receptive.ring import circulant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxtyping import Float


VERSIONS = ("raw", "complemented", "signed")


def pulse_support(n: int, lengths: Sequence[int], version: str = "raw") -> Float[np.ndarray, "m n"]:
    """Every vector of the data set; all have the same probability.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    lengths : sequence of int
        Possible lengths of the pulse, each from 1 to n, all equally likely.
    version : {"raw", "complemented", "signed"}
        "raw": 1 in the pulse and 0 outside. "complemented": x, or 1 - x with probability 1/2.
        "signed": 2 x - 1, times a random sign.

    Returns
    -------
    numpy.ndarray, shape (m, n)
        m is n for each length, and twice that where a complement or a sign is drawn.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from superposition import receptive
    >>> receptive.pulse_support(4, [2])
    array([[1., 1., 0., 0.],
           [0., 1., 1., 0.],
           [0., 0., 1., 1.],
           [1., 0., 0., 1.]])
    """
    n = checks.whole("n", n, 2)
    lengths = _lengths(n, lengths)
    place = np.arange(n)
    x = np.concatenate([((place - place[:, None]) % n < length).astype(np.float64) for length in lengths])
    if checks.one_of("version", version, VERSIONS) == "raw":
        return x
    return np.concatenate([x, 1 - x]) if version == "complemented" else np.concatenate([2 * x - 1, 1 - 2 * x])


def pulse_moment(n: int, lengths: Sequence[int], pixels: Sequence[int]) -> float:
    """Probability that all the given pixels lie in the pulse: any moment of the raw data.

    The pulse covers them all if and only if its complement lies in one of the gaps between
    them, so the probability is the sum over gaps of max(gap + length - n, 0) / n. For two
    pixels at distance d and length below n / 2 it is max(length - d, 0) / n.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    lengths : sequence of int
        Possible lengths of the pulse, each from 1 to n, all equally likely.
    pixels : sequence of int
        One pixel or more, from 0 to n - 1; repetitions do not matter.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from superposition import receptive
    >>> receptive.pulse_moment(10, [3], [0, 2])  # (length - distance) / n
    0.1
    """
    n = checks.whole("n", n, 2)
    lengths = np.array(_lengths(n, lengths))  # pyrefly: ignore[bad-assignment]: for indexing
    places = np.array(sorted(set(checks.wholes("pixels", pixels, 0, n - 1))))
    if len(places) == 0:
        raise ValueError("pixels = () is empty; allowed: at least one pixel")
    gaps = np.diff(np.append(places, places[0] + n))
    return float(np.maximum(gaps[:, None] + lengths - n, 0).sum(axis=0).mean() / n)


def pulse_second_moment(n: int, lengths: Sequence[int], version: str = "raw") -> Float[np.ndarray, "n n"]:
    """Second moments E[x_i x_j] in closed form; they are not centred.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    lengths : sequence of int
        Possible lengths of the pulse, each from 1 to n, all equally likely.
    version : {"raw", "complemented", "signed"}
        See `pulse_support`.

    Returns
    -------
    numpy.ndarray, shape (n, n)

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from superposition import receptive
    >>> receptive.pulse_second_moment(5, [2])[0]
    array([0.4, 0.2, 0. , 0. , 0.2])
    """
    checks.one_of("version", version, VERSIONS)
    n = checks.whole("n", n, 2)
    both = np.array([pulse_moment(n, lengths, (0, d)) for d in range(n)])
    if version == "complemented":
        both = both - both[0] + 0.5
    elif version == "signed":
        both = 4 * (both - both[0]) + 1
    return circulant(both)


def _lengths(n, lengths):
    found = checks.wholes("lengths", lengths, 1, n)
    if not found:
        raise ValueError("lengths = () is empty; allowed: at least one length")
    return found
