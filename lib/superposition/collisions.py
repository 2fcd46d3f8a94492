"""Collisions of features in neurons: how many to expect, how to count them, and what they do.

A neuron is polysemantic when two features use it. W has shape (n, m): n features, m neurons.
Source: Incidental Polysemanticity, sections 1 and 2.1.
"""

import numpy as np

from superposition import checks


def count_polysemantic(W, threshold=0.5):
    """Count neurons that at least two features use.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Encodings, finite.
    threshold : float
        Size from which a weight counts, in (0, 1]. Once every feature has one weight left the
        sizes are 0 or close to 1, and any value in between gives the same count.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    return int((_uses(W, threshold).sum(axis=0) >= 2).sum())


def same_sign_pairs(W, threshold=0.5):
    """Count pairs of features that use one neuron with the same sign.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Encodings, finite.
    threshold : float
        Size from which a weight counts, in (0, 1].

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    uses = _uses(W, threshold)
    counts = [(uses & (np.sign(W) == sign)).sum(axis=0) for sign in (1, -1)]
    return int(sum((c * (c - 1) // 2).sum() for c in counts))


def opposite_tops(W):
    """Count pairs of features whose largest weights share a neuron with opposite signs.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Encodings, finite.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If a weight is not finite.
    """
    W = _matrix(W)
    top = np.abs(W).argmax(axis=1)
    sign = np.sign(W[np.arange(len(W)), top])
    counts = [np.bincount(top[sign == s], minlength=W.shape[1]) for s in (1, -1)]
    return int(np.dot(*counts))


def _matrix(W):
    W = np.asarray(W)
    checks.real("W", W, open_low=True, open_high=True)
    if W.ndim != 2 or not W.size:
        raise ValueError(f"W has shape {W.shape}; allowed: (n, m) with at least one weight")
    return W


def _uses(W, threshold):
    return np.abs(_matrix(W)) >= checks.real("threshold", threshold, 0, 1, open_low=True)
