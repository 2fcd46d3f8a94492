"""What is in a trained matrix, and what of it makes its loss: each thing taken away in turn.

Source: ours, against The Persian Rug, section 4.1, which takes the interference for Gaussian.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, features
from superposition.features import Estimate

STRONG = 0.25  # of the diagonal: a partner is an entry below minus this
SHIFTS = np.linspace(-3.0, 0.5, 22)  # of a bias, in standard deviations of the interference
EXACT = (1, 4, 16, 48)  # most negative entries of each row that stay as they are, beside Gaussian noise


def structure(W: ArrayLike) -> dict[str, float]:
    """How far a matrix is symmetric, a projector and an inhibition, and who silences whom.

    Parameters
    ----------
    W : array_like, shape (n, n)
        Product of decoder and encoder, with a positive trace.

    Returns
    -------
    dict of str to float
        ``asymmetry`` = |W - W^T| / |W|; of the symmetric part ``positive``, the eigenvalues above a tenth of the
        largest, their mean ``level`` and ``level_spread`` (standard deviation over mean); ``inhibition``, -1^T W 1 / n;
        ``partners`` of a feature (entries of its row below -0.25 of its diagonal), the share ``mutual`` of them that
        are so both ways, and ``clustering`` of the graph of mutual partners (closed paths of two steps over all of
        them; in a random graph partners / n); ``cap``, the 99.9 % quantile of the entries off the diagonal over the
        mean diagonal.

    Raises
    ------
    ValueError
        If `W` is not square or its trace not positive.

    Examples
    --------
    >>> found = structure([[1, -1], [-1, 1]])
    >>> found["partners"], found["mutual"], found["level"]
    (1.0, 1.0, 2.0)
    """
    W = checks.of_shape("W", W, ("n", "n"))
    diagonal = np.diag(W)
    checks.number("trace of W", float(diagonal.sum()), 0, open_low=True)
    values = np.linalg.eigvalsh((W + W.T) / 2)
    kept = values[values > values[-1] / 10]
    strong = (-STRONG * np.maximum(diagonal, 0)[:, None] > W) & ~np.eye(len(W), dtype=bool)
    return {
        "asymmetry": float(np.linalg.norm(W - W.T) / np.linalg.norm(W)),
        "positive": len(kept),
        "level": float(kept.mean()),
        "level_spread": float(kept.std() / kept.mean()),
        "inhibition": float(-W.sum() / len(W)),
        "partners": float(strong.sum(axis=1).mean()),
        "mutual": float((strong & strong.T).sum() / max(1, strong.sum())),
        "clustering": _clustering((strong & strong.T).astype(float)),
        "cap": float(np.quantile(W[~np.eye(len(W), dtype=bool)], 0.999) / diagonal.mean()),
    }


def loudness(relative: ArrayLike) -> NDArray[np.float64]:
    """Loudness of features: the scales s_j / s_i that make a matrix with a diagonal of ones as symmetric as it gets.

    Parameters
    ----------
    relative : array_like, shape (n, n)
        W_ij / W_ii.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Geometric mean 1. All are 1 for a symmetric matrix.

    Raises
    ------
    ValueError
        If `relative` is not square or not finite.

    Notes
    -----
    Source: ours. Least squares in log |W_ij / W_ji| = 2 (log s_j - log s_i), each pair with the weight
    sqrt(|W_ij W_ji|), which no choice of scales changes. Where W would not be symmetric at any scales, as in a fan,
    the answer is near the scales it was made with and not equal to them.

    Examples
    --------
    >>> from superposition.codes.fans import priority_fan
    >>> np.log10(loudness(priority_fan(5, 10).W)).round(1) + 0.0
    array([ 2.1,  0.8,  0. , -0.9, -2.1])
    """
    size = np.abs(checks.of_shape("relative", relative, ("n", "n")))
    both = (size > 0) & (size.T > 0) & ~np.eye(len(size), dtype=bool)
    logs = np.log(np.where(both, size, 1))
    weight = np.where(both, np.exp((logs + logs.T) / 2), 0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    pull = (weight * (logs.T - logs)).sum(axis=1) / 2
    return np.exp(np.linalg.lstsq(laplacian, pull, rcond=1e-12)[0])


def ablations(W: ArrayLike, p: float, *, samples: int, seed: int) -> dict[str, Estimate]:
    """Loss per feature of a matrix and of its ablations, each output with the bias and gain that suit it best.

    Parameters
    ----------
    W : array_like, shape (n, n)
        Product of decoder and encoder.
    p : float
        Probability that a feature is on, in (0, 1].
    samples : int
        Feature vectors that measure, at least 2; half as many others choose biases and gains.
    seed : int
        Seed of the feature vectors, the same for all ablations.

    Returns
    -------
    dict of str to Estimate
        "refitted": W itself; "symmetric": its symmetric part; "no_mean": without the direction of the mean on either
        side; "gaussian": every row's interference replaced by Gaussian noise of its mean and variance; "exact_k": the
        k most negative entries of each row as they are, Gaussian noise for the others.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> found = ablations(2 * np.eye(8) - 0.25, 0.1, samples=2000, seed=0)
    >>> found["refitted"].mean < found["gaussian"].mean
    True
    """
    W, p = checks.of_shape("W", W, ("n", "n")), features.one_probability(p)
    samples, rng = checks.whole("samples", samples, 2), checks.generator("seed", seed)
    sets = [features.sample(len(W), p, size, seed=rng) for size in (max(2, samples // 2), samples)]
    noise = [rng.standard_normal(x.shape) for x in sets]
    return {name: _refitted(sets, noise, exact, rest, p) for name, exact, rest in _parts(W)}


def _parts(W: NDArray[np.float64]) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
    """Name of each ablation, the weights that stay, and those that become Gaussian noise."""
    centre = np.eye(len(W)) - 1 / len(W)
    for name, kept in (("refitted", W), ("symmetric", (W + W.T) / 2), ("no_mean", centre @ W @ centre)):
        yield name, kept, np.zeros_like(W)
    own = np.diag(np.diag(W))
    yield "gaussian", own, W - own
    order = np.argsort(np.where(np.eye(len(W), dtype=bool), np.inf, W), axis=1)
    for k in (k for k in EXACT if k < len(W)):
        exact = own.copy()
        np.put_along_axis(exact, order[:, :k], np.take_along_axis(W, order[:, :k], axis=1), axis=1)
        yield f"exact_{k}", exact, W - exact


def _refitted(sets, noise, exact, rest, p):
    """Choose shift and gain of every output on one set of feature vectors, and measure on the other."""
    mean, spread = float(features.mean(p)), np.sqrt(features.variance(p) * np.square(rest).sum(axis=1))
    total = np.sqrt(features.variance(p) * np.square(exact + rest - np.diag(np.diag(exact))).sum(axis=1))
    centre = -mean * (exact - np.diag(np.diag(exact))).sum(axis=1)

    def drive(i):
        return sets[i] @ exact.T + centre + noise[i] * spread

    first, scored = drive(0), []
    for shift in SHIFTS:
        out = np.maximum(first + shift * total, 0)
        overlap, power = np.mean(sets[0] * out, axis=0), np.mean(out**2, axis=0)
        scored.append((np.divide(overlap, power, out=np.zeros_like(power), where=power > 0), overlap))
    gains, overlaps = np.moveaxis(np.array(scored), 1, 0)
    best = np.argmax(gains * overlaps, axis=0)  # the loss is p / 3 - gain overlap
    gain = np.take_along_axis(gains, best[None], axis=0)[0]
    errors = np.square(sets[1] - gain * np.maximum(drive(1) + SHIFTS[best] * total, 0)).mean(axis=1)
    return Estimate(float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(len(errors))))


def _clustering(A):
    paths = (A @ A)[~np.eye(len(A), dtype=bool)].sum()
    return float(np.trace(A @ A @ A) / paths) if paths else 0.0
