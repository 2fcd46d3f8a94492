"""One valid call of every public function of the wing, small and quick (phase_cell is not)."""

import numpy as np
from superposition.experiments import toy
from superposition.toy import border, geometry, linear, loss, optima, thomson, training

W = np.array([[1.0, -0.9, 0.1], [0.2, 0.3, 0.8]])
B = np.array([0.1, -0.1, 0.0])
IMPORTANCE = np.array([1.0, 0.5, 0.2])
MODEL = {"W": W, "b": B, "importance": IMPORTANCE}

CALLS = [
    (border.continuous_border, {"p": 0.7}),
    (border.cubic_term, {"p": 0.7}),
    (border.border, {"p": 0.7}),
    (border.profile, {"p": 0.7, "overlaps": np.array([0.1])}),
    (border.output_error, {"own": 0.9, "other": -0.2, "b": 0.1, "p": 0.3}),
    (geometry.gram, {"W": W}),
    (geometry.feature_dimensionality, {"W": W}),
    (geometry.interference, {"W": W}),
    (geometry.phase, {"W": W, "feature": 1}),
    (linear.two_force_loss, {"W": W, "importance": IMPORTANCE}),
    (linear.linear_loss, MODEL | {"p": 0.3}),
    (linear.best_bias, {"W": W, "p": 0.3}),
    (linear.optimum, {"importance": IMPORTANCE, "m": 2}),
    (linear.flow, {"W": W, "importance": IMPORTANCE, "p": 0.3, "times": np.array([0.5, 1.0]), "rtol": 1e-6}),
    (linear.sigmoid, {"start": 0.1, "importance": 1.0, "p": 0.3, "times": 2.0}),
    (linear.free_start, {"W": W, "importance": IMPORTANCE}),
    (linear.descend, {"W": W, "importance": IMPORTANCE, "p": 0.3, "rate": 0.1, "steps": 2, "batch": 3, "seed": 0}),
    (loss.probability, {"sparsity": 0.5}),
    (loss.model, MODEL),
    (loss.sizes, {"n": 3, "m": 2}),
    (loss.k_sparse_loss, MODEL | {"k": 1}),
    (loss.population_loss, MODEL | {"p": 0.3}),
    (loss.simulated_loss, MODEL | {"p": 0.3, "samples": 10, "seed": 0}),
    (loss.shortcut_loss, MODEL),
    (optima.minimise, {"n": 2, "m": 1, "importance": 1.0, "p": 0.3, "starts": 1, "seed": 0}),
    (optima.best_scale, {"directions": np.array([[1.0, -1.0]]), "importance": 1.0, "p": 0.3}),
    (thomson.thomson_energy, {"W": W, "threshold": 0.1}),
    (thomson.coulomb_energy, {"W": W}),
    (thomson.minimise, {"n": 3, "m": 2, "starts": 1, "seed": 0, "energy": "overlap", "threshold": 0.0}),
    (thomson.polygon, {"n": 3}),
    (thomson.simplex, {"m": 2}),
    (
        training.train,
        {"n": 2, "m": 1, "sparsity": 0.5, "importance": 1.0, "instances": 1, "steps": 1, "batch": 2, "lr": 0.01}
        | {"seed": 0, "device": "cpu"},
    ),
    (
        toy.dimensionalities,
        {"n": 3, "m": 2, "inverse_density": 2.0, "steps": 1, "seed": 0, "device": "cpu"},
    ),
]
