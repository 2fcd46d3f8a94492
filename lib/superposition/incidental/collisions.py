"""Collisions of features in neurons: how many to expect, how to count them, and what they do.

A neuron is polysemantic when two features use it. W has shape (n, m): n features, m neurons.
Source: Incidental Polysemanticity, sections 1 and 2.1.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Expected:
    """How many to expect before anything has moved.

    ``collisions`` of largest weights, n (n - 1) / 2m; ``pairs`` of opposite sign, half of that;
    polysemantic neurons if every feature drew a neuron and a sign ``independent`` of the others;
    and if all drew ``distinct`` ones, because of two with the same sign one moves to a free place.
    """

    collisions: float
    pairs: float
    independent: float
    distinct: float


def expected(n: int, m: int) -> Expected:
    """Count what chance alone gives.

    Parameters
    ----------
    n, m : int
        Features and neurons, at least 1. Fewer neurons than features give a warning.

    Returns
    -------
    Expected
        ``distinct`` is nan where n > 2m.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Incidental Polysemanticity, sections 1 and 2.1; the last two are ours.

    Examples
    --------
    >>> from superposition import incidental
    >>> print(incidental.expected(256, 1024).pairs)  # n (n - 1) / 4m
    15.9375
    """
    n, m = checks.whole("n", n, 1), checks.whole("m", m, 1)
    if m < n:
        warnings.warn(
            f"m = {m} neurons for n = {n} features: the text assumes m >= n, so that sharing is not necessary",
            stacklevel=2,
        )
    ordered = n * (n - 1)
    independent = m * (1 - 2 * (1 - 0.5 / m) ** n + (1 - 1 / m) ** n)
    distinct = ordered / (2 * (2 * m - 1)) if n <= 2 * m else np.nan
    return Expected(ordered / (2 * m), ordered / (4 * m), independent, distinct)


def strengths(W: ArrayLike) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Feature benefit and interference along every encoding, before l1.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Encodings, finite.

    Returns
    -------
    benefit, interference : numpy.ndarray, shape (n,)
        (1 - |W_i|^2) |W_i|^2 and the sum over j of ReLU(W_i . W_j)^2.

    Raises
    ------
    ValueError
        If a weight is not finite.

    Notes
    -----
    Source: Incidental Polysemanticity, section 2.1, "How strong is the interference?".
    """
    gram = _matrix(W) @ np.transpose(W)
    square = np.diag(gram)
    return (1 - square) * square, (np.maximum(gram, 0) ** 2).sum(axis=1) - square**2


def strengths_at_start(n: int, m: int, scale: float) -> tuple[float, float]:
    """Means of `strengths` for weights N(0, scale^2 / m).

    Parameters
    ----------
    n, m : int
        Features and neurons, at least 1.
    scale : float
        Standard deviation of a weight times sqrt(m), above 0.

    Returns
    -------
    benefit, interference : float
        s^2 - s^4 (1 + 2 / m) and (n - 1) s^4 / 2m.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> print([round(value, 4) for value in strengths_at_start(256, 256, 0.9)])
    [0.1488, 0.3268]
    """
    n, m = checks.whole("n", n, 1), checks.whole("m", m, 1)
    square = float(checks.real("scale", scale, 0, open_low=True, open_high=True)) ** 2
    return square - square**2 * (1 + 2 / m), (n - 1) * square**2 / (2 * m)


def malign(x0: float, y0: float, t: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Two weights of one sign on one neuron, under their interference alone.

    Parameters
    ----------
    x0, y0 : float
        Sizes at t = 0, above 0.
    t : array_like
        Times, 0 or more.

    Returns
    -------
    x, y : numpy.ndarray
        Solution of x' = -x y^2, y' = -x^2 y. The larger one ends at sqrt(|x0^2 - y0^2|), the
        smaller decays exponentially, equal ones as 1 / sqrt(2 t).

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    x^2 - y^2 is conserved, and y / x decays at the rate x0^2 - y0^2.
    Source: Incidental Polysemanticity, section 2.1, "Benign and malign collisions".

    Examples
    --------
    >>> x, y = malign(0.8, 0.5, 20.0)
    >>> print(f"{x:.4f} {y:.4f}")
    0.6245 0.0002
    """
    x0 = float(checks.real("x0", x0, 0, open_low=True, open_high=True))
    y0 = float(checks.real("y0", y0, 0, open_low=True, open_high=True))
    t = checks.real("t", t, 0, open_high=True)
    if y0 > x0:
        return malign(y0, x0, t)[::-1]
    kept = (x0 - y0) * (x0 + y0)
    # x^2 = kept / (1 - r^2) with r = (y0 / x0) exp(-kept t), written so that kept = 0 is no exception
    shrinking = np.where(kept * t > 0, -np.expm1(-2 * kept * t) / max(2 * kept, 1e-300), t)
    x = x0 / np.sqrt(1 + 2 * y0**2 * shrinking)
    return x, y0 / x0 * np.exp(-kept * t) * x


def settle_pairs(w0: ArrayLike, lambda_: float, t: float, *, step: float = 0.4) -> Float[np.ndarray, "b 2 m"]:
    """Gradient flow of many networks with two features each, all at once.

    Parameters
    ----------
    w0 : array_like, shape (b, 2, m)
        Weights of b networks at t = 0, finite; float32 is kept.
    lambda_ : float
        Strength of the l1 term in the simplified convention, above 0.
    t : float
        Time in the simplified convention, above 0.
    step : float
        Proximal step, in (0, 0.5].

    Returns
    -------
    numpy.ndarray, shape (b, 2, m)

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    The same steps as `superposition.incidental.many_features.flow`, which takes one network at a time.
    """
    checks.real("w0", w0, open_low=True, open_high=True)
    W = np.array(w0, dtype=np.float32 if np.asarray(w0).dtype == np.float32 else np.float64)
    if W.ndim != 3 or W.shape[1] != 2:
        raise ValueError(f"w0 has shape {W.shape}; allowed: (b, 2, m)")
    lambda_ = float(checks.real("lambda_", lambda_, 0, open_low=True, open_high=True))
    step = float(checks.real("step", step, 0, 0.5, open_low=True))
    steps = int(np.ceil(checks.real("t", t, 0, open_low=True, open_high=True) / step))
    h = W.dtype.type(t / steps)
    for _ in range(steps):
        overlap = np.maximum(np.einsum("bm,bm->b", W[:, 0], W[:, 1]), 0)[:, None, None]
        benefit = 1 - np.einsum("bim,bim->bi", W, W)[:, :, None]
        W = (1 + h * benefit) * W - h * overlap * W[:, ::-1]
        W -= np.clip(W, -h * lambda_, h * lambda_)
    return W


def duplicate(
    W: ArrayLike, *, noise: float, seed: int, matched: bool = False, threshold: float = 0.5
) -> Float[np.ndarray, "n _"]:
    """Replace every polysemantic neuron by two copies of weight 1/sqrt(2), and disturb them.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Encodings, finite.
    noise : float
        Standard deviation of the noise on each weight of the copies in use, 0 or more.
    seed : int
        Seed of the noise.
    matched : bool
        If true, all weights of a copy move the same way, and those of the other copy the
        opposite way: what favours a copy for positive weights disfavours it for negative ones.
    threshold : float
        Size from which a weight counts, in (0, 1].

    Returns
    -------
    numpy.ndarray, shape (n, m + number of polysemantic neurons)
        The first copies stand where the neurons were, the second ones at the end.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    With tied weights both copies take 1/sqrt(2); the text halves the outgoing weights only.
    Source: Incidental Polysemanticity, section 5, on removing incidental polysemanticity.
    """
    uses = _uses(W, threshold)
    noise = float(checks.real("noise", noise, 0, open_high=True))
    shared = np.flatnonzero(uses.sum(axis=0) >= 2)
    rng, W = np.random.default_rng(seed), np.array(W, dtype=np.float64)
    half = W[:, shared] / np.sqrt(2)
    if matched:
        push = noise * np.abs(rng.standard_normal(len(shared))) * uses[:, shared]
        first, second = half + push, half - push
    else:
        first, second = (half + noise * rng.standard_normal(half.shape) * uses[:, shared] for _ in range(2))
    W[:, shared] = first
    return np.concatenate([W, second], axis=1)


def count_polysemantic(W: ArrayLike, threshold: float = 0.5) -> int:
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

    Examples
    --------
    >>> from superposition import incidental
    >>> incidental.count_polysemantic([[1.0, 0.0], [-0.9, 0.1], [0.0, 1.0]])
    1
    """
    return int((_uses(W, threshold).sum(axis=0) >= 2).sum())


def same_sign_pairs(W: ArrayLike, threshold: float = 0.5) -> int:
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

    Examples
    --------
    >>> same_sign_pairs([[1.0, 0.0], [0.9, 0.1]])
    1
    """
    uses = _uses(W, threshold)
    counts = [(uses & (np.sign(W) == sign)).sum(axis=0) for sign in (1, -1)]
    return int(sum((c * (c - 1) // 2).sum() for c in counts))


def opposite_tops(W: ArrayLike) -> int:
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

    Examples
    --------
    >>> opposite_tops([[1.0, 0.0], [-0.9, 0.1]])
    1
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
