"""The law of features in groups: its correlation, and what the best linear code makes of it.

Each of n features is on with probability p, and a given partner of a feature that is on is on with probability s, so
that both are on with probability p s. Groups are independent of each other; a strength is uniform on [0, 1].
Source: ours; the open question of The Persian Rug, section 5.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from superposition import features


def correlation(p: ArrayLike, s: ArrayLike) -> np.ndarray:
    """Correlation of two partners, (s - p) / (4/3 - p)."""
    p = np.asarray(p, float)
    return (s - p) / (4 / 3 - p)


def levels(p: ArrayLike, G: int, s: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of a group's covariance: of its mean, and of its G - 1 contrasts."""
    V, rho = features.variance(p), correlation(p, s)
    return V * (1 + (G - 1) * rho), V * (1 - rho)


def linear_loss(p: ArrayLike, r: ArrayLike, G: int, s: ArrayLike) -> np.ndarray:
    """Loss per feature of the best linear code: what is left of the covariance without its largest r n eigenvalues."""
    mean, contrast = levels(p, G, s)
    r = np.asarray(r, float)
    large, small = np.maximum(mean, contrast), np.minimum(mean, contrast)
    share = np.where(mean > contrast, 1 / G, 1 - 1 / G)  # of the larger eigenvalue
    return large * np.maximum(share - r, 0) + small * np.minimum(1 - r, 1 - share)


def border(p: ArrayLike, r: ArrayLike, G: int, loss: ArrayLike) -> np.ndarray:
    """The correlation from which on the best linear code beats a code whose loss no correlation changes."""
    r = np.asarray(r, float)
    gap = 1 - loss / (features.variance(p) * (1 - r))
    return np.where(r * G >= 1, gap, gap * (1 - r) / (r * (G - 1)))
