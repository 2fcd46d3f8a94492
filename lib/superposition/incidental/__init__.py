"""Incidental Polysemanticity: how fast encodings sparsify, how often they collide, and the effect of noise on them.

Float64 reference implementations of the theory, and training with torch. Encodings have the shape (n, m): row i belongs
to feature i, column k to neuron k. The text has two conventions for the strength of the l1 term; `conventions`
converts.

Source: Incidental Polysemanticity (Lecomte et al.).
"""

from importlib import import_module

from superposition.incidental.attractors import CRITICAL_LAMBDA, freezing_sigma, last_weight, simplex
from superposition.incidental.collision_constant import (
    isotropic_pairs,
    mean_overlap,
    several_feature_constant,
    two_feature_constant,
    two_feature_constant_drawn,
)
from superposition.incidental.collisions import (
    ExpectedCollisions,
    benefit_and_interference,
    count_polysemantic,
    duplicate_polysemantic,
    expected,
    malign_pair,
    mean_benefit_and_interference,
    opposite_tops,
    same_sign_pairs,
)
from superposition.incidental.company import (
    company_flow,
    company_rates,
    curing_weight,
    pair_company_rates,
    settled_pair,
)
from superposition.incidental.kurtosis import (
    StepMoments,
    bipolar_reach,
    direction_drift,
    enumerated_drift,
    fourth_norm_drift,
    noisy_step,
    stationary_fourth_norm,
    step_moments,
)
from superposition.incidental.l1_loss import DEATH_LINE, conventions, forces, gradient, loss, resting_weight, threshold
from superposition.incidental.late_rate import late_decay_rate, mean_field_overlaps, overlap_flow, positive_overlaps
from superposition.incidental.many_features import descend_encodings, gradient_flow, random_encodings
from superposition.incidental.many_networks import (
    count_polysemantic_each,
    gradient_flow_each,
    opposite_tops_each,
    random_networks,
)
from superposition.incidental.noise_laws import Law, bipolar, discrete, four_point, laplace, normal, uniform
from superposition.incidental.noise_loss import (
    descend_expected_loss,
    expected_loss,
    expected_loss_grad,
    expected_loss_grad_each,
    fourth_norm_slope,
)
from superposition.incidental.noise_push import (
    mean_row_push,
    mixture_row_push,
    open_push,
    push_share,
    row_push,
    row_push_series,
    simplex_length,
    turning_depth,
)
from superposition.incidental.one_feature import Trajectory, trajectory
from superposition.incidental.sparsification_rate import (
    Continuum,
    L1Decay,
    TailLaw,
    VarianceBounds,
    balance_error,
    balanced_norm,
    continuum,
    end_time,
    gaussian_percentiles,
    l1_decay,
    mean_end,
    mean_end_gaussian,
    random_end_times,
    relative_variance,
    relative_variance_bounds,
    tail_law,
)
from superposition.incidental.step_noise import descend_to_level, free_and_common_push, free_share, slope_and_drift
from superposition.incidental.tail_moments import noise_sums, relu_moments
from superposition.incidental.untied_weights import train_untied, untied_alignment

__all__ = [
    "CRITICAL_LAMBDA", "DEATH_LINE", "Continuum", "ExpectedCollisions", "L1Decay", "Law", "NoisyTrajectory",  # noqa: F822
    "StepMoments", "TailLaw", "Trajectory", "VarianceBounds", "balance_error", "balanced_norm",
    "benefit_and_interference", "bipolar", "bipolar_reach", "company_flow", "company_rates", "continuum", "conventions",
    "count_polysemantic", "count_polysemantic_each", "curing_weight", "descend_encodings", "descend_expected_loss",
    "descend_to_level", "direction_drift", "discrete", "duplicate_polysemantic", "end_time", "enumerated_drift",
    "expected", "expected_loss", "expected_loss_grad", "expected_loss_grad_each", "forces", "four_point",
    "fourth_norm_drift", "fourth_norm_slope", "free_and_common_push", "free_share", "freezing_sigma",
    "gaussian_percentiles", "gradient", "gradient_flow", "gradient_flow_each", "initial_instances", "isotropic_pairs",  # noqa: F822
    "l1_decay", "laplace", "last_weight", "late_decay_rate", "loss", "malign_pair", "mean_benefit_and_interference",
    "mean_end", "mean_end_gaussian", "mean_field_overlaps", "mean_overlap", "mean_row_push", "mixture_row_push",
    "noise_sums", "noisy_step", "normal", "open_push", "opposite_tops", "opposite_tops_each", "overlap_flow",
    "pair_company_rates", "positive_overlaps", "push_share", "random_encodings", "random_end_times", "random_networks",
    "relative_variance", "relative_variance_bounds", "relu_moments", "resting_weight", "row_push", "row_push_series",
    "same_sign_pairs", "settled_pair", "several_feature_constant", "simplex", "simplex_length", "slope_and_drift",
    "stationary_fourth_norm", "step_moments", "tail_law", "threshold", "train_untied", "train_with_noise", "trajectory",  # noqa: F822
    "turning_depth", "two_feature_constant", "two_feature_constant_drawn", "uniform", "untied_alignment",
]  # fmt: skip

_NEED_TORCH = {"noisy_training": ("NoisyTrajectory", "initial_instances", "train_with_noise")}


def __getattr__(name):
    """Import what needs torch when it is first asked for."""
    for module, names in _NEED_TORCH.items():
        if name in names:
            return getattr(import_module(f"superposition.incidental.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
