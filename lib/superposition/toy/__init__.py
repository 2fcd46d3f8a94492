"""Toy Models of Superposition: exact losses, their optima and the geometry of the weights.

What stands here is theory, in float64. It refuses what is outside its range, with a ValueError that names the argument,
its value and what is allowed; the modules behind it compute: `superposition.toy.linear` (the linear model and its
dynamics), `superposition.toy.border` (where superposition begins), `superposition.toy.thomson` (directions that share
little), and, with torch, `superposition.toy.training`.

Source: Toy Models of Superposition (Elhage et al.).
"""

from superposition.toy.face import (
    best_scale,
    feature_dimensionality,
    gram,
    interference,
    k_sparse_loss,
    linear_loss,
    minimise,
    phase,
    population_loss,
    probability,
    shortcut_loss,
    simulated_loss,
    two_force_loss,
)

__all__ = [
    "best_scale",
    "feature_dimensionality",
    "gram",
    "interference",
    "k_sparse_loss",
    "linear_loss",
    "minimise",
    "phase",
    "population_loss",
    "probability",
    "shortcut_loss",
    "simulated_loss",
    "two_force_loss",
]
