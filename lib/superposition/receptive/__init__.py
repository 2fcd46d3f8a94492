"""Receptive fields on a ring of pixels: data, gradient flow, gates, and the gain above which a field localizes.

All theory is in float64; `train_fields` and its like need torch. Every function refuses arguments outside of their
ranges with a ValueError that names the argument, its value and the allowed values.

The wing belongs to chapters 6 and 11. Source: notes on localization in gated linear networks; the tilings are ours.
"""

from superposition.receptive.added_fields import (
    added_slope,
    behind_copies,
    best_field_pair,
    steepest_field,
    tiled_network_loss,
)
from superposition.receptive.crowds import (
    Mixture,
    best_crowd,
    crowd_errors,
    crowd_loss,
    gaussian_tile,
    joining_slope,
    steepest_pair,
)
from superposition.receptive.flat_field import critical_gain, flat_growth, measured_critical_gain
from superposition.receptive.gated_networks import (
    gated_loss,
    gated_moments,
    gdln_solution,
    initial_speed,
    limiting_loss,
    limiting_weights,
)
from superposition.receptive.gated_on_device import train_gated_on_device
from superposition.receptive.gated_training import (
    RELU,
    gated_outputs,
    half_space_slopes,
    labelled_sample,
    leaky_slope,
    mirrored_sample,
    relu_with_linear_pathway,
    train_gated,
)
from superposition.receptive.gates import (
    GATE_FAMILIES,
    gate_centres,
    gate_directions,
    gaussian_second_moment,
    opened_gates,
    small_bump_second_moment,
)
from superposition.receptive.hermite import hermite_growth, hermite_rates
from superposition.receptive.landscape import (
    Task,
    field_score,
    first_order_loss,
    nlgp_task,
    one_neuron_score,
    torus_task,
)
from superposition.receptive.landscape_descent import best_field, predicted_fields, starting_fields
from superposition.receptive.least_squares import (
    best_shift_cosine,
    gate_race,
    half_line_mean,
    ols_field,
    ols_loss,
    relu_neuron_loss,
    signed_mean,
    small_bump_covariance,
    small_bump_field,
    turned_signed_mean,
)
from superposition.receptive.marginals import amplified_field, draw_marginal, hermite_ratio
from superposition.receptive.measures import (
    half_energy_width,
    ipr,
    mean_frequency,
    peak,
    power_spectrum,
    ring_distance,
    same_place,
)
from superposition.receptive.nlgp import nlgp_covariance, nlgp_sample, normalization, saturation
from superposition.receptive.relu_flow import (
    flip_rate,
    gaussian_flow,
    gaussian_loss,
    half_space_mean,
    printed_coefficients,
    single_neuron_flow,
    steady_energy,
    transverse_rates,
    two_neuron_coefficients,
)
from superposition.receptive.ring import (
    NotACovariance,
    circulant,
    correlation_lengths,
    eigenvalues,
    fourier_basis,
    gaussian_covariance,
    gaussian_sample,
    kernel_row,
    square_root,
)
from superposition.receptive.single_pulses import pulse_moment, pulse_support
from superposition.receptive.tilings import (
    BiasedTile,
    Crowd,
    Label,
    Tile,
    Waves,
    best_biased_tile,
    best_tile,
    crowd,
    mean_crowd_size,
    root_mean_square,
    sample_waves,
)
from superposition.receptive.training import (
    Trained,
    fixed_batches,
    gate_flips,
    gaussian_batches,
    initial_weights,
    nlgp_batches,
    train_fields,
    train_gaussian_fields,
)
from superposition.receptive.wave_growth import FewVectors

__all__ = [
    "GATE_FAMILIES", "RELU", "BiasedTile", "Crowd", "FewVectors", "Label", "Mixture", "NotACovariance", "Task", "Tile",
    "Trained", "Waves", "added_slope", "amplified_field", "behind_copies", "best_biased_tile", "best_crowd",
    "best_field", "best_field_pair", "best_shift_cosine", "best_tile", "circulant", "correlation_lengths",
    "critical_gain", "crowd", "crowd_errors", "crowd_loss", "draw_marginal", "eigenvalues", "field_score",
    "first_order_loss", "fixed_batches", "flat_growth", "flip_rate", "fourier_basis", "gate_centres", "gate_directions",
    "gate_flips", "gate_race", "gated_loss", "gated_moments", "gated_outputs", "gaussian_batches",
    "gaussian_covariance", "gaussian_flow", "gaussian_loss", "gaussian_sample", "gaussian_second_moment",
    "gaussian_tile", "gdln_solution", "half_energy_width", "half_line_mean", "half_space_mean", "half_space_slopes",
    "hermite_growth", "hermite_rates", "hermite_ratio", "initial_speed", "initial_weights", "ipr", "joining_slope",
    "kernel_row", "labelled_sample", "leaky_slope", "limiting_loss", "limiting_weights", "mean_crowd_size",
    "mean_frequency", "measured_critical_gain", "mirrored_sample", "nlgp_batches", "nlgp_covariance", "nlgp_sample",
    "nlgp_task", "normalization", "ols_field", "ols_loss", "one_neuron_score", "opened_gates", "peak", "power_spectrum",
    "predicted_fields", "printed_coefficients", "pulse_moment", "pulse_support", "relu_neuron_loss",
    "relu_with_linear_pathway", "ring_distance", "root_mean_square", "same_place", "sample_waves", "saturation",
    "signed_mean", "single_neuron_flow", "small_bump_covariance", "small_bump_field", "small_bump_second_moment",
    "square_root", "starting_fields", "steady_energy", "steepest_field", "steepest_pair", "tiled_network_loss",
    "torus_task", "train_fields", "train_gated", "train_gated_on_device", "train_gaussian_fields", "transverse_rates",
    "turned_signed_mean", "two_neuron_coefficients",
]  # fmt: skip
