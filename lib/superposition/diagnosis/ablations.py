"""The parts of a trained matrix and their effect on its loss, each part taken away in turn.

Source: ours, against The Persian Rug, section 4.1, which takes the interference for Gaussian.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import features, ranges
from superposition.checked import checked
from superposition.features import Estimate

STRONG = 0.25  # of the diagonal: a partner is an entry below minus this
SHIFTS = np.linspace(-3.0, 0.5, 22)  # of a bias, in standard deviations of the interference
EXACT = (1, 4, 16, 48)  # most negative entries of each row that stay as they are, beside Gaussian noise


def _with_gain(W: NDArray[np.float64]) -> None:
    """Refuse a matrix without features, or whose features have no gain."""
    if len(W) < 2 or np.trace(W) <= 0:
        raise ValueError(f"W has {len(W)} features and trace {np.trace(W):g}; allowed: 2 or more, and a trace above 0")


@checked(_with_gain, W=ranges.array("n n"))
def code_structure(W: ArrayLike) -> dict[str, float]:
    """Measure how far a matrix (n, n) is symmetric, a projector and an inhibition, and which features silence which.

    ``positive`` counts eigenvalues of the symmetric part, ``clustering`` is the share of closed paths of two steps in
    the graph of mutual partners (in a random graph partners / n), ``cap`` a quantile of the entries off the diagonal.

    Source: ours. Use `diagnose` for a report on a whole autoencoder.

    Examples
    --------
    >>> code_structure([[1.0, -1.0], [-1.0, 1.0]])["mutual"]
    1.0
    """
    W = np.asarray(W, float)
    diagonal = np.diag(W)
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
    """Loudness of features: the scales s_j / s_i that make a matrix with a diagonal of ones as symmetric as it gets."""
    # Least squares in log |W_ij / W_ji| = 2 (log s_j - log s_i), each pair with the weight sqrt(|W_ij W_ji|), which
    # no choice of scales changes. Where W would not be symmetric at any scales, as in a fan, the answer is near the
    # scales it was made with and not equal to them.
    size = np.abs(np.asarray(relative, float))
    both = (size > 0) & (size.T > 0) & ~np.eye(len(size), dtype=bool)
    logs = np.log(np.where(both, size, 1))
    weight = np.where(both, np.exp((logs + logs.T) / 2), 0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    pull = (weight * (logs.T - logs)).sum(axis=1) / 2
    return np.exp(np.linalg.lstsq(laplacian, pull, rcond=1e-12)[0])


@checked(
    _with_gain, W=ranges.array("n n"), p=ranges.one_probability, samples=ranges.whole(2, 10**7), seed=ranges.whole(0),
)  # fmt: skip
def ablated_losses(W: ArrayLike, p: float, *, samples: int, seed: int) -> dict[str, Estimate]:
    """Measure the loss per feature of a matrix (n, n), and with one thing after another taken away from it.

    Each output has the bias and gain that suit it best, chosen on half as many other feature vectors.

    Source: ours, against The Persian Rug, section 4.1, which takes the interference for Gaussian.

    Examples
    --------
    >>> sorted(ablated_losses([[1.0, -1.0], [-1.0, 1.0]], 0.1, samples=100, seed=0))
    ['exact_1', 'gaussian', 'no_mean', 'refitted', 'symmetric']
    """
    W, rng = np.asarray(W, float), np.random.default_rng(seed)
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
    return Estimate.of(np.square(sets[1] - gain * np.maximum(drive(1) + SHIFTS[best] * total, 0)).mean(axis=1))


def _clustering(A):
    paths = (A @ A)[~np.eye(len(A), dtype=bool)].sum()
    return float(np.trace(A @ A @ A) / paths) if paths else 0.0
