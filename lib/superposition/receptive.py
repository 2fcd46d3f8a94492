"""Receptive fields on a ring of pixels: the door to the rooms of chapter 6.

The rooms are `superposition.ring` (circulant matrices, kernels, Gaussian processes),
`superposition.nlgp` and `superposition.pulses` (data), `superposition.reluflow` (gradient flow
of a ReLU network), `superposition.critical` (when a flat field gives way), `superposition.fields`
(measures of a field) and `superposition.localizing` (training, needs torch).
"""

from superposition.critical import critical_gain, flat_growth, measured_critical_gain
from superposition.gated import gdln_solution
from superposition.nlgp import nlgp_covariance, nlgp_sample, normalization, saturation
from superposition.olsfield import small_bump_covariance, small_bump_field
from superposition.pulses import pulse_moment, pulse_second_moment, pulse_support
from superposition.reluflow import gaussian_flow, gaussian_loss
from superposition.ring import (
    NotACovariance,
    circulant,
    eigenvalues,
    fourier_basis,
    gaussian_covariance,
    gaussian_sample,
    kernel_row,
    square_root,
)

__all__ = [
    "NotACovariance",
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
    "measured_critical_gain",
    "nlgp_covariance",
    "nlgp_sample",
    "normalization",
    "pulse_moment",
    "pulse_second_moment",
    "pulse_support",
    "saturation",
    "small_bump_covariance",
    "small_bump_field",
    "square_root",
]
