"""Receptive fields on a ring of pixels: data, gradient flow, gates, and when a field localizes.

What stands here is theory, in float64. It refuses what is outside its range, with a ValueError that names the argument,
its value and what is allowed; the modules behind it compute: `superposition.receptive.measures` (a field in numbers),
`superposition.receptive.gates` (families of gates), and, with torch, `superposition.receptive.training`.

It serves chapters 6 and 11. Source: notes on localization in gated linear networks; the tilings are ours.
"""

from superposition.receptive.face import (
    best_tile,
    circulant,
    critical_gain,
    eigenvalues,
    flat_growth,
    fourier_basis,
    gaussian_covariance,
    gaussian_flow,
    gaussian_loss,
    gaussian_sample,
    gdln_solution,
    kernel_row,
    many_neuron_loss,
    measured_critical_gain,
    nlgp_covariance,
    nlgp_sample,
    normalization,
    one_neuron_score,
    predicted_fields,
    pulse_moment,
    pulse_second_moment,
    pulse_support,
    sample_waves,
    saturation,
    small_bump_covariance,
    small_bump_field,
    square_root,
)
from superposition.receptive.ring import NotACovariance
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
