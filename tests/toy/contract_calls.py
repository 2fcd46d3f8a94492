"""One valid call of each name on the face, small enough to be made a few hundred times."""

import numpy as np
from superposition import toy

W = np.array([[1.0, -0.9, 0.1], [0.2, 0.3, 0.8]])
B = np.array([0.1, -0.1, 0.0])
IMPORTANCE = np.array([1.0, 0.5, 0.2])
MODEL = {"W": W, "b": B, "importance": IMPORTANCE}

CALLS = [
    (toy.gram, {"W": W}),
    (toy.feature_dimensionality, {"W": W}),
    (toy.interference, {"W": W}),
    (toy.phase, {"W": W, "feature": 1}),
    (toy.two_force_loss, {"W": W, "importance": IMPORTANCE}),
    (toy.linear_loss, MODEL | {"p": 0.3}),
    (toy.probability, {"sparsity": 0.5}),
    (toy.k_sparse_loss, MODEL | {"k": 1}),
    (toy.population_loss, MODEL | {"p": 0.3}),
    (toy.simulated_loss, MODEL | {"p": 0.3, "samples": 10, "seed": 0}),
    (toy.shortcut_loss, MODEL),
    (toy.minimise, {"n": 2, "m": 1, "importance": 1.0, "p": 0.3, "starts": 1, "seed": 0}),
    (toy.best_scale, {"directions": np.array([[1.0, -1.0]]), "importance": 1.0, "p": 0.3}),
]
