"""Receptive fields on a ring of pixels: data, gradient flow, gates, and when a field localizes.

What stands here is theory, in float64. Behind it: `superposition.receptive.measures` (a field in numbers),
`superposition.receptive.gates` (families of gates), and, with torch, `superposition.receptive.training`.

Source: notes on localization in gated linear networks.
"""

from superposition.receptive.flat_field import critical_gain, flat_growth, measured_critical_gain
from superposition.receptive.gated_networks import gdln_solution
from superposition.receptive.landscape import many_neuron_loss, one_neuron_score
from superposition.receptive.landscape_descent import predicted_fields
from superposition.receptive.least_squares import small_bump_covariance, small_bump_field
from superposition.receptive.nlgp import nlgp_covariance, nlgp_sample, normalization, saturation
from superposition.receptive.relu_flow import gaussian_flow, gaussian_loss
from superposition.receptive.ring import (
    NotACovariance,
    circulant,
    eigenvalues,
    fourier_basis,
    gaussian_covariance,
    gaussian_sample,
    kernel_row,
    square_root,
)
from superposition.receptive.single_pulses import pulse_moment, pulse_second_moment, pulse_support
from superposition.receptive.tilings import best_tile, sample_waves
from superposition.receptive.wave_growth import FewVectors

__all__ = [
    "FewVectors",
    "NotACovariance",
    "best_tile",
    "circulant",
    "critical_gain",
    "eigenvalues",
    "flat_growth",
    "fourier_basis",
    "gaussian_covariance",
    "gaussian_flow",
    "gaussian_loss",
    "gaussian_sample",
    "gdln_solution",
    "kernel_row",
    "many_neuron_loss",
    "measured_critical_gain",
    "nlgp_covariance",
    "nlgp_sample",
    "normalization",
    "one_neuron_score",
    "predicted_fields",
    "pulse_moment",
    "pulse_second_moment",
    "pulse_support",
    "sample_waves",
    "saturation",
    "small_bump_covariance",
    "small_bump_field",
    "square_root",
]
