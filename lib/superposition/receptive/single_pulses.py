"""Single-pulse data: one block of ones on a ring, at a random place and of random length.

Source: the notes on localization, section 1, which names this data set and does not define it;
the definition follows the public code of its authors. There are few such vectors, so they are
listed, and expectations over them are exact sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.receptive.ranges import MOST_NUMBERS, pixels, some_wholes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxtyping import Float


VERSIONS = ("raw", "complemented", "signed")


def _pulses_fit(n, lengths):
    checks.wholes("lengths", lengths, 1, n)
    checks.whole("numbers in all pulses", n * n * len(lengths), 1, MOST_NUMBERS // 8)


def _pixels_fit(n, pixels):
    checks.wholes("pixels", pixels, 0, n - 1)


@checked(_pulses_fit, n=pixels, lengths=some_wholes(1), version=ranges.one_of(*VERSIONS))
def pulse_support(n: int, lengths: Sequence[int], version: str = "raw") -> Float[np.ndarray, "m n"]:
    """Every vector of the data set; all have the same probability.

    Source: the notes on localization, section 1, which name this data set and do not define it; the definition follows
    the public code of its authors.

    Parameters
    ----------
    lengths : sequence of int
        Possible lengths of the pulse, each from 1 to n, all equally likely.
    version : {"raw", "complemented", "signed"}
        "raw": 1 in the pulse and 0 outside. "complemented": x, or 1 - x with probability 1/2. "signed": 2 x - 1, times
        a random sign.

    Returns
    -------
    numpy.ndarray, shape (m, n)
        m is n for each length, and twice that where a complement or a sign is drawn.

    Examples
    --------
    >>> pulse_support(4, [2])
    array([[1., 1., 0., 0.],
           [0., 1., 1., 0.],
           [0., 0., 1., 1.],
           [1., 0., 0., 1.]])
    """
    place = np.arange(n)
    x = np.concatenate([((place - place[:, None]) % n < length).astype(np.float64) for length in lengths])
    versions = {"raw": (x,), "complemented": (x, 1 - x), "signed": (2 * x - 1, 1 - 2 * x)}
    return np.concatenate(versions[version])


@checked(_pulses_fit, _pixels_fit, n=pixels, lengths=some_wholes(1), pixels=some_wholes(0))
def pulse_moment(n: int, lengths: Sequence[int], pixels: Sequence[int]) -> float:
    """Probability that all the given pixels lie in the pulse: any moment of the raw data.

    The pulse covers them all if and only if its complement lies in one of the gaps between them, so the probability is
    the sum over gaps of max(gap + length - n, 0) / n. For two pixels at distance d and length below n / 2 it is
    max(length - d, 0) / n.

    Source: as `pulse_support`.

    Parameters
    ----------
    lengths : sequence of int
        Possible lengths of the pulse, each from 1 to n, all equally likely.
    pixels : sequence of int
        One pixel or more, from 0 to n - 1; repetitions do not matter.

    Examples
    --------
    >>> pulse_moment(10, [3], [0, 2])  # (length - distance) / n
    0.1
    """
    places = np.array(sorted(set(pixels)))
    gaps = np.diff(np.append(places, places[0] + n))
    return float(np.maximum(gaps[:, None] + np.asarray(lengths) - n, 0).sum(axis=0).mean() / n)
