"""One valid call of each public function of the wing, small enough to be made a few hundred times."""

import numpy as np
from superposition import toy

W = np.array([[1.0, -0.9, 0.1], [0.2, 0.3, 0.8]])
B = np.array([0.1, -0.1, 0.0])
IMPORTANCE = np.array([1.0, 0.5, 0.2])
MODEL = {"W": W, "b": B, "importance": IMPORTANCE}
WEIGHTED = {"W": W, "importance": IMPORTANCE}
DESCENT = {"rate": 0.05, "steps": 2, "batch": 4, "seed": 0}
TRAINING = {"sparsity": 0.5, "importance": 1.0, "instances": 2, "steps": 2, "batch": 4, "lr": 0.01, "seed": 0}


def direct_sum(part):
    """Return directions beside one more: it takes any number of parts."""
    return toy.direct_sum(part, [[1.0]])


CALLS = [
    (toy.gram, {"W": W}),
    (toy.feature_dimensionality, {"W": W}),
    (toy.interference, {"W": W}),
    (toy.phase, {"W": W, "feature": 1}),
    (toy.two_force_loss, WEIGHTED),
    (toy.linear_loss, MODEL | {"p": 0.3}),
    (toy.best_linear_bias, {"W": W, "p": 0.3}),
    (toy.two_force_optimum, {"importance": IMPORTANCE, "m": 2}),
    (toy.linear_flow, WEIGHTED | {"p": 0.3, "times": np.array([0.0, 2.0]), "rtol": 1e-6}),
    (toy.strength_curve, {"start": 0.1, "importance": 1.0, "p": 0.3, "times": np.array([0.0, 2.0])}),
    (toy.free_start, WEIGHTED),
    (toy.descend_linear, WEIGHTED | {"p": 0.3} | DESCENT),
    (toy.k_sparse_loss, MODEL | {"k": 1}),
    (toy.population_loss, MODEL | {"p": 0.3}),
    (toy.simulated_loss, MODEL | {"p": 0.3, "samples": 10, "seed": 0}),
    (toy.shortcut_loss, MODEL),
    (toy.minimise, {"n": 2, "m": 1, "importance": 1.0, "p": 0.3, "starts": 1, "seed": 0, "first": [[[1.0, -1.0]]]}),
    (toy.best_scale, {"directions": np.array([[1.0, -1.0]]), "importance": 1.0, "p": 0.3}),
    (toy.continuous_border, {"p": 0.3}),
    (toy.superposition_border, {"p": 0.3}),
    (toy.thomson_energy, {"W": W, "threshold": 0.1}),
    (toy.thomson_minimum, {"n": 3, "m": 2, "starts": 1, "seed": 0, "energy": "overlap", "threshold": 0.0}),
    (toy.polygon, {"n": 5}),
    (toy.simplex, {"m": 2}),
    (direct_sum, {"part": W}),
    (toy.train_models, {"n": 3, "m": 2, **TRAINING, "device": "cpu"}),
]
