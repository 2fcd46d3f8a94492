"""Toy models: the phase of one extra feature, the dimensionality of features, and few training vectors.

Source: Toy Models of Superposition (the full text), the phase diagram and the geometry of superposition; Henighan and
others (2023), Superposition, Memorization, and Double Descent. There features are normalised to vectors of length one
and weights decay; here they are those of this book, with no decay.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field

from superposition import checks, features
from superposition.experiments.shared import Probability, Seed, Steps
from superposition.inputs import Count, Real, UpTo
from superposition.runs.point import Meaning, Run

TIE = 1e-4  # relative: minima this close both count as predicted
TESTED = 20_000  # fresh feature vectors


ModelFeatures = Annotated[Count, Field(ge=2, le=4096), Meaning("features", "number of features, all of importance 1")]
Hidden = Annotated[
    Count, Field(ge=1), AfterValidator(UpTo("n", "n")), Meaning("dimensions", "number of hidden dimensions")
]
Vectors = Annotated[
    Count, Field(ge=1, le=10**7), Meaning("feature vectors", "size of the training set, used whole in every step")
]
InverseDensity = Annotated[Real, Field(ge=1), Meaning("1 or more", "1 / p = 1 / (1 - S)")]
PhaseProbability = Annotated[Real, Field(gt=0, le=1), Meaning("(0, 1]", "probability that a feature is on, 1 - S")]
Relative = Annotated[
    Real, Field(gt=0), Meaning("above 0", "importance of the second feature, in units of the first one's")
]
Instances = Annotated[Count, Field(ge=1), Meaning("networks", "trained copies")]


def phase_cell(
    *, p: PhaseProbability, relative: Relative, instances: Instances, steps: Steps, seed: Seed, device: str = "auto"
) -> dict[str, float | str]:
    """Two features in one dimension: the phase of the second one, in theory and in training."""
    from superposition import toy

    p = checks.number("p", p, 0, 1, open_low=True)
    importance = np.array([1.0, checks.number("relative", relative, 0, open_low=True, open_high=True)])
    structured = [np.array([pair]) for pair in ((1.0, 0.0), (0.0, 1.0), (1.0, -1.0), (-1.0, 1.0))]
    minima = [toy.minimise(2, 1, importance, p, starts=0, first=[W]) for W in structured]
    minima.append(toy.minimise(2, 1, importance, p, starts=4, seed=seed))
    best = min(minima, key=lambda minimum: minimum.loss)
    lowest = best.loss
    predicted = sorted({toy.phase(minimum.W, 1) for minimum in minima if minimum.loss <= lowest * (1 + TIE)})
    done = toy.train_models(
        2, 1, sparsity=1 - p, importance=importance, instances=instances, steps=steps, batch=1024, seed=seed,
        device=device,
    )  # fmt: skip
    phases = [toy.phase(W, 1) for W in done.W[0]]
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
    *, n: ModelFeatures, m: Hidden, inverse_density: InverseDensity, steps: Steps, seed: Seed, device: str = "auto"
) -> dict[str, float | str]:
    """Train one model with features of equal importance and list the dimensionality of each feature."""
    from superposition import toy

    inverse_density = checks.number("inverse_density", inverse_density, 1, open_high=True)
    done = toy.train_models(n, m, sparsity=1 - 1 / inverse_density, instances=1, steps=steps, seed=seed, device=device)
    W = done.best_W[0]
    D, norms = toy.feature_dimensionality(W), (W**2).sum(axis=0)
    order = D.argsort()
    return {
        "loss": float(done.loss[0, 0]),
        "loss_se": float(done.loss_se[0, 0]),
        "per_feature": float(m / norms.sum()),
        "norms": " ".join(f"{value:.3f}" for value in norms[order]),
        "dimensionalities": " ".join(f"{value:.4f}" for value in D[order]),
    }


def trained_on(
    *, n: ModelFeatures, m: Hidden, p: Probability, vectors: Vectors, steps: Steps, seed: Seed, device: str = "auto"
) -> dict[str, float]:
    """Train ReLU(W^T W x + b) on a fixed set of feature vectors, all of them in every step."""
    from superposition import optimise
    from superposition.devices import resolve_device, torch

    n = checks.whole("n", n, 1)
    m, p = checks.whole("m", m, 1, n), features.one_probability(p)
    vectors, steps = checks.whole("vectors", vectors, 1), checks.whole("steps", steps, 1)
    rng, on = np.random.default_rng(checks.whole("seed", seed, 0)), resolve_device(device)
    known, fresh = (
        torch.from_numpy(features.sample(n, p, size, seed=rng)).float().to(on) for size in (vectors, TESTED)
    )
    W = torch.from_numpy(rng.standard_normal((m, n)) * np.sqrt(2 / (m + n))).float().to(on).requires_grad_()
    b = torch.zeros(n, device=on, requires_grad=True)

    def errors(x):
        return ((x - torch.relu(x @ W.T @ W + b)) ** 2).sum(1)

    for _ in optimise.adam([W, b], optimise.by_autograd([W, b], lambda: errors(known).mean()), steps=steps, lr=0.02):
        pass
    with torch.no_grad():
        train, test = ((errors(x).double() / (n * float(features.variance(p)))).cpu().numpy() for x in (known, fresh))
        norms = W.norm(dim=0) ** 2
    return {
        "train": float(train.mean()),
        "test": float(test.mean()),
        "test_se": float(test.std(ddof=1) / np.sqrt(TESTED)),
        "represented": float((norms > norms.max() / 4).sum()),
    }


_PHASE = {
    "theory": Meaning(
        "squared error, importance-weighted sum",
        "lowest exact population loss of two features in one dimension that was found",
    ),
    "trained": Meaning("squared error, importance-weighted sum", "exact population loss of the best trained copy"),
    "ratio": Meaning("no unit", "trained / theory"),
    "ratio_median": Meaning("no unit", "median of the copies' losses over theory"),
    "ratio_worst": Meaning("no unit", "largest of the copies' losses over theory"),
    "theory_phase": Meaning(
        "text", "phase of the second feature at the minimum; several joined by or where losses tie within 1e-4"
    ),
    "trained_phase": Meaning("text", "phase of the second feature in the best copy"),
    "agree": Meaning("0 to 1", "share of copies in a phase of the theory"),
    "theory_second": Meaning("0 or more", "strength |W_2|^2 of the second feature at the minimum"),
    "trained_second": Meaning("0 or more", "strength |W_2|^2 of the second feature in the best copy"),
}
_GEOMETRY = {
    "loss": Meaning("squared error, sum over features", "population loss, by Monte Carlo"),
    "loss_se": Meaning("squared error, sum over features", "standard error of loss over feature vectors"),
    "per_feature": Meaning("dimensions", "m / sum_i |W_i|^2: hidden dimensions for each represented feature"),
    "norms": Meaning("n numbers in a text", "strengths |W_i|^2, in the order of rising dimensionality"),
    "dimensionalities": Meaning("n numbers in a text, 0 to 1", "feature dimensionalities D_i, rising"),
}
_FINITE = {
    "train": Meaning(
        "no unit", "squared error on the training vectors over that of the best constant answer, n Var[x]"
    ),
    "test": Meaning("no unit", "the same on fresh feature vectors"),
    "test_se": Meaning("no unit", "standard error of test over fresh feature vectors"),
    "represented": Meaning("features", "features with |W_i|^2 above a quarter of the largest"),
}
_PHASE_P = (0.01, 0.02, 0.03, 0.06, 0.1, 0.2, 0.3, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
_PHASE_I = (0.1, 0.16, 0.28, 0.46, 0.77, 0.9, 0.97, 1.0, 1.3, 2.2, 3.6, 6.0, 10.0)
_CROWDING = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.7, 1.9, 2.2, 2.5, 2.8, 3.2, 3.6, 4.0, 4.5, 5.0, 5.5, 6.0, 7.0, 8.0, 10.0)
_VECTORS = (10, 20, 40, 80, 160, 320, 640, 1280, 2560)
_TINY_HOURS = 0.005

RUNS = (
    Run(
        name="toy-phase",
        feeds="Toy Models of Superposition, the phase diagram of one extra feature",
        computes=phase_cell,
        columns=_PHASE,
        small=({"p": (0.1, 1.0), "relative": (0.1, 10.0), "instances": (4,), "steps": (300,), "seed": (0,)},),
        full=({"p": _PHASE_P, "relative": _PHASE_I, "instances": (16,), "steps": (1500,), "seed": (0,)},),
        hours={"small": _TINY_HOURS, "full": 0.12},
    ),
    Run(
        name="toy-geometry",
        feeds="Toy Models of Superposition, the dimensionality of features over sparsity",
        computes=dimensionalities,
        columns=_GEOMETRY,
        small=({"n": (20,), "m": (4,), "inverse_density": (2.0, 8.0), "steps": (300,), "seed": (0,)},),
        full=({"n": (60,), "m": (12,), "inverse_density": _CROWDING, "steps": (2000,), "seed": (0, 1, 2)},),
        hours={"small": _TINY_HOURS, "full": 0.05},
    ),
    Run(
        name="toy-finite",
        feeds="Henighan and others (2023), loss against the number of training vectors",
        computes=trained_on,
        columns=_FINITE,
        small=({"n": (30,), "m": (3,), "p": (0.05,), "vectors": (10, 100), "steps": (200,), "seed": (0,)},),
        full=(
            {"n": (100,), "m": (5,), "p": (0.03,), "vectors": _VECTORS, "steps": (1500,), "seed": (10, 11, 12, 13, 14)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.05},
    ),
)  # fmt: skip
