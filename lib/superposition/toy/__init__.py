"""Toy Models of Superposition: exact losses, their optima and the geometry of the weights.

What stands here is theory, in float64. Behind it: `superposition.toy.linear` (the linear model and its dynamics),
`superposition.toy.thomson` (directions that share little), and, with torch, `superposition.toy.training`.

Source: Toy Models of Superposition (Elhage et al.).
"""

from superposition.toy.geometry import feature_dimensionality, gram, interference, phase
from superposition.toy.linear import linear_loss, two_force_loss
from superposition.toy.loss import k_sparse_loss, population_loss, probability, shortcut_loss, simulated_loss
from superposition.toy.optima import best_scale, minimise

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
