"""Single-pulse data: one block of ones on a ring, at a random place and of random length.

Source: the notes on localization, section 1, which names this data set and does not define it;
the definition follows the public code of its authors. There are few such vectors, so they are
listed, and expectations over them are exact sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition.receptive.ring import circulant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxtyping import Float


VERSIONS = ("raw", "complemented", "signed")


def pulse_support(n: int, lengths: Sequence[int], version: str = "raw") -> Float[np.ndarray, "m n"]:
    """Every vector (m, n) of the data set; all have the same probability."""
    place = np.arange(n)
    x = np.concatenate([((place - place[:, None]) % n < length).astype(np.float64) for length in lengths])
    versions = {"raw": (x,), "complemented": (x, 1 - x), "signed": (2 * x - 1, 1 - 2 * x)}
    return np.concatenate(versions[version])


def pulse_moment(n: int, lengths: Sequence[int], pixels: Sequence[int]) -> float:
    """Probability that all the given pixels lie in the pulse: any moment of the raw data."""
    # The pulse covers them all if and only if its complement lies in one of the gaps between them, so the probability
    # is the sum over gaps of max(gap + length - n, 0) / n: max(length - d, 0) / n for two pixels and length below n /
    # 2.
    places = np.array(sorted(set(pixels)))
    gaps = np.diff(np.append(places, places[0] + n))
    return float(np.maximum(gaps[:, None] + np.asarray(lengths) - n, 0).sum(axis=0).mean() / n)


def pulse_second_moment(n: int, lengths: Sequence[int], version: str = "raw") -> Float[np.ndarray, "n n"]:
    """Second moments E[x_i x_j] (n, n) in closed form; they are not centred."""
    both = np.array([pulse_moment(n, lengths, (0, d)) for d in range(n)])
    if version == "complemented":
        both = both - both[0] + 0.5
    elif version == "signed":
        both = 4 * (both - both[0]) + 1
    return circulant(both)
