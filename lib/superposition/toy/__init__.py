"""Toy Models of Superposition: exact losses, their optima, the geometry of the weights, and training.

Conventions, the same in every function. ``W`` has shape (m, n): column i is the direction of feature i among m hidden
dimensions, m <= n. ``importance`` multiplies the *squared* error of a feature (the text's ||I (x - x')||^2 would square
it). Features are those of `superposition.features`: on with probability p, then uniform on [0, 1]; the sparsity is
S = 1 - p. Losses are sums over features, as in the text, not means. A shape (...) stands for any number of models,
which are evaluated at once.

Source: Toy Models of Superposition (Elhage et al.).
"""

from superposition.toy.border import continuous_border, superposition_border, tricritical_points
from superposition.toy.geometry import feature_dimensionality, gram, interference, phase
from superposition.toy.linear import (
    best_linear_bias,
    descend_linear,
    free_start,
    linear_flow,
    linear_loss,
    strength_curve,
    two_force_loss,
    two_force_optimum,
)
from superposition.toy.loss import k_sparse_loss, population_loss, shortcut_loss, simulated_loss
from superposition.toy.optima import best_scale, minimise
from superposition.toy.thomson import direct_sum, polygon, simplex, thomson_energy, thomson_minimum
from superposition.toy.training import train_models

__all__ = [
    "best_linear_bias", "best_scale", "continuous_border", "descend_linear", "direct_sum", "feature_dimensionality",
    "free_start", "gram", "interference", "k_sparse_loss", "linear_flow", "linear_loss", "minimise", "phase", "polygon",
    "population_loss", "shortcut_loss", "simplex", "simulated_loss", "strength_curve", "superposition_border",
    "thomson_energy", "thomson_minimum", "train_models", "tricritical_points", "two_force_loss", "two_force_optimum",
]  # fmt: skip
