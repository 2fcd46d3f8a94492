"""What the named runs of the toy models compute at one point: plain functions of numbers.

They take the fields of the point and ``device`` as keywords, and know nothing of sweeps, files
or tables.
"""

from __future__ import annotations

import numpy as np

from superposition import checks
from superposition.toy import geometry, optima, training

TIE = 1e-4  # relative: minima this close both count as predicted


def phase_cell(
    *, p: float, relative: float, instances: int, steps: int, seed: int, device: str = "auto"
) -> dict[str, float | str]:
    """Two features, one dimension: what becomes of the second one, in theory and in training.

    Parameters
    ----------
    p : float
        Probability that a feature is on, 1 - S, in (0, 1].
    relative : float
        Importance of the second feature, in units of that of the first, positive.
    instances : int
        Trained copies.
    steps : int
        Training steps, with batches of 1024.
    seed : int
        Seed of training, and of the random starts of the theory.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float or str
        ``theory``, the lowest exact loss, and ``trained``, that of the best copy, with
        ``ratio`` = trained / theory and the ``ratio_median`` and ``ratio_worst`` of all
        copies; ``theory_phase`` and ``trained_phase`` of the second feature, see
        `superposition.toy.geometry.phase` (theory joins several by "or" if their losses tie), and the
        share of copies in the phase of the theory, ``agree``; and the strength |W_2|^2 of the second
        feature, ``theory_second`` and ``trained_second``, of which the phases are a coarse reading.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Toy Models of Superposition (the full text), the phase diagram.
    """
    p = checks.number("p", p, 0, 1, open_low=True)
    importance = np.array([1.0, checks.number("relative", relative, 0, open_low=True, open_high=True)])
    structured = [np.array([pair]) for pair in ((1.0, 0.0), (0.0, 1.0), (1.0, -1.0), (-1.0, 1.0))]
    minima = [optima.minimise(2, 1, importance, p, starts=0, first=[W]) for W in structured]
    minima.append(optima.minimise(2, 1, importance, p, starts=4, seed=seed))
    best = min(minima, key=lambda minimum: minimum.loss)
    lowest = best.loss
    predicted = sorted({geometry.phase(minimum.W, 1) for minimum in minima if minimum.loss <= lowest * (1 + TIE)})
    done = training.train(
        2, 1, sparsity=1 - p, importance=importance, instances=instances, steps=steps, batch=1024, seed=seed,
        device=device,
    )  # fmt: skip
    phases = [geometry.phase(W, 1) for W in done.W[0]]
    return {
        "theory": lowest,
        "trained": float(done.best_loss[0]),
        "ratio": float(done.best_loss[0] / lowest),
        "ratio_median": float(np.median(done.loss[0]) / lowest),
        "ratio_worst": float(done.loss[0].max() / lowest),
        "theory_phase": " or ".join(predicted),
        "trained_phase": phases[done.best[0]],
        "agree": float(np.mean([phase in predicted for phase in phases])),
        "theory_second": float(best.W[0, 1] ** 2),
        "trained_second": float(done.best_W[0][0, 1] ** 2),
    }


def dimensionalities(
    *, n: int, m: int, inverse_density: float, steps: int, seed: int, device: str = "auto"
) -> dict[str, float | str]:
    """Train one model with features of equal importance and list the dimensionality of each feature.

    Parameters
    ----------
    n : int
        Number of features.
    m : int
        Number of hidden dimensions, from 1 to n.
    inverse_density : float
        1 / (1 - S) = 1 / p, at least 1.
    steps : int
        Training steps, with batches of 512.
    seed : int
        Seed of weights and data.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float or str
        ``loss`` and its standard error ``loss_se``; ``per_feature``, m / |W|^2, the dimensions
        for each represented feature; ``norms`` |W_i|^2 and ``dimensionalities`` D_i as texts of
        n numbers, in the same order, that of rising D_i.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Toy Models of Superposition (the full text), on the geometry of superposition.
    """
    inverse_density = checks.number("inverse_density", inverse_density, 1, open_high=True)
    done = training.train(n, m, sparsity=1 - 1 / inverse_density, instances=1, steps=steps, seed=seed, device=device)
    W = done.best_W[0]
    D, norms = geometry.feature_dimensionality(W), (W**2).sum(axis=0)
    order = D.argsort()
    return {
        "loss": float(done.loss[0, 0]),
        "loss_se": float(done.loss_se[0, 0]),
        "per_feature": float(m / norms.sum()),
        "norms": " ".join(f"{value:.3f}" for value in norms[order]),
        "dimensionalities": " ".join(f"{value:.4f}" for value in D[order]),
    }
