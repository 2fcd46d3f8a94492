"""A ReLU network minimized on a whole sample, and least squares behind its own gates.

Source: the notes on localization, section 4.2.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from superposition.experiments.shared import Gain, Neurons, Ring
from superposition.inputs import Count
from superposition.runs.point import Meaning, Run


class FrozenPoint(Ring):
    """What `frozen_gates` takes."""

    gain: Gain
    K: Neurons
    samples: Annotated[Count, Field(ge=1), Meaning("vectors", "vectors of each label, each with its mirror image")]
    iterations: Annotated[Count, Field(ge=1), Meaning("iterations", "iterations of L-BFGS on the whole sample")]


def frozen_gates(
    *, n: int, xi1: float, xi2: float, gain: float, K: int, samples: int, iterations: int, seed: int,
    device: str = "cpu",
) -> dict[str, float]:  # fmt: skip
    """Minimize the loss on a whole sample, and compare the network with least squares behind its own gates."""
    from scipy.optimize import minimize

    from superposition.receptive import gated_networks, gated_training, training

    x, y = gated_training.task(n, xi1, xi2, gain, samples, seed=seed)

    def objective(flat):
        gates = (h := x @ flat.reshape(K, n).T) > 0
        error = np.mean(h * gates, axis=1) - y
        return np.mean(error**2) / 2, ((gates * error[:, None]).T @ x / len(x) / K).ravel()

    start = training.initial_weights(1, K, n, seed=seed)[0].ravel()
    options = {"maxiter": iterations, "maxfun": 2 * iterations, "gtol": 1e-12, "ftol": 0, "maxcor": 30}
    w = minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x
    A, b = gated_networks.moments(x @ w.reshape(K, n).T > 0, x, y)
    eigenvalues, own = np.linalg.eigvalsh(A), K * np.linalg.solve(A, b.ravel())
    loss, slope = objective(w)
    gradient, size = np.linalg.norm(slope), np.linalg.norm(w)
    return {
        "gradient": float(gradient),
        "cos_own": float(own @ w / np.linalg.norm(own) / size),
        "distance": float(np.linalg.norm(w - own) / size),
        "bound": float(K**2 * gradient / eigenvalues[0] / size),
        "condition": float(eigenvalues[-1] / eigenvalues[0]),
        "loss": float(loss),
    }


_COLUMNS = {
    "gradient": Meaning("per unit of W", "norm of the gradient of the loss at the end"),
    "cos_own": Meaning(
        "-1 to 1",
        "cosine of the network's weights and the least-squares weights behind its own gates, all neurons together",
    ),
    "distance": Meaning("no unit", "distance of these two over the norm of the weights"),
    "bound": Meaning(
        "no unit",
        "bound on distance: K^2 times gradient over the least eigenvalue of A and over the norm of the "
        "weights, A the second moments behind the gates",
    ),
    "condition": Meaning("1 or more", "largest over least eigenvalue of A"),
    "loss": Meaning("squared error", "loss E (yhat - Y)^2 / 2 on the sample itself, at the end"),
}
_FROZEN = {"n": (40,), "xi1": (2,), "xi2": (1,), "gain": (3,), "iterations": (300,), "seed": (0, 1)}

RUNS = (
    Run(
        name="field-frozen",
        feeds="a ReLU network minimized on a whole sample, beside least squares behind its own gates",
        function="superposition.experiments.whole_sample:frozen_gates",
        point=FrozenPoint,
        columns=_COLUMNS,
        small=({**_FROZEN, "K": (2,), "samples": (200,), "iterations": (20,), "seed": (0,)},),
        full=({**_FROZEN, "K": (4, 12, 24), "samples": (1000, 4000, 16_000)},),
        hours={"small": 0.001, "full": 0.1},
    ),
)  # fmt: skip
