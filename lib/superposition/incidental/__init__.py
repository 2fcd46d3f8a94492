"""Incidental Polysemanticity: how fast encodings sparsify, how often they collide, and what noise does to them.

What stands here is theory, in float64. Behind it: `superposition.incidental.sparsification_rate` (the law of the
rate), `superposition.incidental.kurtosis` (moments of one noisy step), and, with torch,
`superposition.incidental.many_features` and `superposition.incidental.noisy_training`.

Source: Incidental Polysemanticity (Lecomte et al.).
"""

from superposition.incidental.collisions import count_polysemantic, expected
from superposition.incidental.l1_loss import forces, gradient, loss, threshold
from superposition.incidental.noise_laws import Law, bipolar, discrete, four_point, laplace, normal, uniform
from superposition.incidental.noise_loss import expected_loss, expected_loss_grad
from superposition.incidental.one_feature import Trajectory, trajectory

__all__ = [
    "Law",
    "Trajectory",
    "bipolar",
    "count_polysemantic",
    "discrete",
    "expected",
    "expected_loss",
    "expected_loss_grad",
    "forces",
    "four_point",
    "gradient",
    "laplace",
    "loss",
    "normal",
    "threshold",
    "trajectory",
    "uniform",
]
