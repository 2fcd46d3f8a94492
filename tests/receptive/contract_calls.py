"""One valid call of every public function of the wing, small and quick (what is left out is not)."""

from functools import wraps

import numpy as np
from superposition.experiments import single_fields, trained_fields, trained_gates
from superposition.receptive import (
    flat_field,
    gated_networks,
    gated_training,
    gates,
    hermite,
    landscape,
    landscape_descent,
    least_squares,
    marginals,
    measures,
    nlgp,
    relu_flow,
    ring,
    single_pulses,
    tilings,
    training,
)

N = 6
C1, C0 = ring.gaussian_covariance(N, 0.9), ring.gaussian_covariance(N, 0.5)
RING = {"n": N, "xi1": 0.9, "xi2": 0.5}
RNG = np.random.default_rng(0)
FIELDS = RNG.standard_normal((2, N))
X = RNG.standard_normal((8, N))
GATES = X[:, :2] > 0
A, MOMENT = gated_networks.moments(GATES, X, np.arange(8) % 2)
RUN = {"steps": 1, "seed": 0, "device": "cpu"}
RELU = gated_training.leaky(0)


def first(batches):
    """The first batch of a stream."""

    @wraps(batches)
    def drawn(**given):
        return next(batches(**given))

    return drawn


@wraps(training.train)
def train(**given):
    return training.train(batches=training.fixed_batches(X, X), **given)


CALLS = [
    (ring.kernel_row, {"n": N, "xi": 0.9, "kernel": "periodic"}),
    (ring.gaussian_covariance, {"n": N, "xi": 0.9, "kernel": "wrapped"}),
    (ring.gaussian_sample, {"covariance": C1, "samples": 2, "seed": 0}),
    (ring.circulant, {"row": C1[0]}),
    (ring.eigenvalues, {"covariance": C1}),
    (ring.square_root, {"covariance": C1}),
    (ring.fourier_basis, {"n": N}),
    (nlgp.normalization, {"gain": 1.0}),
    (nlgp.saturation, {"gain": 1.0}),
    (nlgp.nlgp_covariance, {"n": N, "xi": 0.9, "gain": 1.0, "kernel": "periodic"}),
    (nlgp.nlgp_sample, {"n": N, "xi": 0.9, "gain": 1.0, "samples": 2, "seed": 0, "kernel": "periodic"}),
    (flat_field.critical_gain, RING | {"kernel": "periodic"}),
    (
        flat_field.flat_growth,
        {"n": 20, "xi1": 1.5, "xi2": 0.7, "gain": 0.1, "frequency": 1, "samples": 200, "seed": 0, "kernel": "periodic"},
    ),
    (gated_networks.moments, {"gates": GATES, "x": X, "y": np.arange(8) % 2}),
    (gated_networks.gdln_solution, {"A": A, "b": MOMENT, "w0": FIELDS, "t": np.array([0.0, 1.0, np.inf])}),
    (gated_networks.limiting_weights, {"A": A, "b": MOMENT}),
    (gated_networks.limiting_loss, {"A": A, "b": MOMENT}),
    (gated_networks.loss, {"A": A, "b": MOMENT, "w": FIELDS, "target": 0.5}),
    (gated_networks.initial_speed, {"b": MOMENT}),
    (gated_training.task, RING | {"gain": 1.0, "samples": 3, "seed": 0}),
    (gated_training.labelled, {"one": X, "zero": X, "seed": 0}),
    (gated_training.leaky, {"slope": 0.1}),
    (gated_training.half_spaces, {"directions": FIELDS}),
    (
        gated_training.train,
        {"w0": FIELDS[None], "x": X, "y": np.arange(8) % 2, "slopes": RELU, "steps": 1, "lr": 0.1, "batch": 4}
        | {"readout": 0.5, "turn": False, "seed": 0},
    ),
    (gated_training.outputs, {"w": FIELDS[None], "x": X, "slopes": RELU, "readout": 0.5}),
    (trained_gates.tiled, RING | {"gain": 1.0, "K": 2}),
    (trained_gates.basin, RING | {"gain": 1.0, "noise": 0.1, "samples": 500, "trials": 2} | RUN),
    (gates.directions, {"family": "random", "n": N, "K": 2, "seed": 0}),
    (gates.centres, {"n": N, "K": 2}),
    (gates.opened, {"directions": FIELDS, "x": X}),
    (gates.gaussian_second_moment, {"directions": FIELDS, "C": C1}),
    (gates.small_bump_second_moment, {"pixels": [0, 2], "latent": C1, "gain": 1.0}),
    (least_squares.half_line_mean, {"gain": 1.0, "r": 0.5}),
    (least_squares.small_bump_covariance, {"n": N, "xi": 0.9, "gain": 1.0, "i": 1}),
    (least_squares.small_bump_field, RING | {"gain": 1.0, "i": 1}),
    (least_squares.ols_field, {"T": FIELDS, "C0": C0, "C1": C1}),
    (least_squares.ols_loss, {"T": FIELDS, "C0": C0, "C1": C1}),
    (least_squares.relu_loss, {"w": FIELDS, "T": FIELDS, "C0": C0, "C1": C1}),
    (least_squares.signed_mean, {"a": FIELDS, "x": X}),
    (least_squares.turned_signed_mean, {"a": FIELDS, "x": X}),
    (least_squares.race, {"starts": FIELDS, "x": X, "C0": C0, "C1": C1, "rounds": 2}),
    (least_squares.best_shift_cosine, {"w": FIELDS, "template": C1[0]}),
    (marginals.draw, {"law": "erf", "strength": 1.0, "n": N, "xi": 0.9, "samples": 2, "seed": 0}),
    (marginals.hermite_ratio, {"law": "erf", "strength": 1.0}),
    (measures.ipr, {"w": FIELDS}),
    (measures.half_energy_width, {"w": FIELDS}),
    (measures.peak, {"w": FIELDS}),
    (measures.ring_distance, {"i": 1, "j": 5, "n": N}),
    (measures.same_place, {"w": FIELDS, "v": FIELDS[::-1].copy(), "within": 1}),
    (measures.power, {"w": FIELDS}),
    (measures.mean_frequency, {"w": FIELDS}),
    (landscape.nlgp_task, RING | {"gain": 0.5, "kernel": "periodic"}),
    (landscape.torus_task, {"side": 3, "xi1": 0.9, "xi2": 0.5, "gain": 0.5, "kernel": "periodic"}),
    (landscape_descent.predicted_fields, RING | {"gain": 0.5, "K": 2, "start": "random", "steps": 2, "seed": 0}),
    (relu_flow.half_space_mean, {"w": FIELDS[0], "C": C1}),
    (relu_flow.two_neuron_coefficients, {"rho_11": 1.0, "rho_kk": 2.0, "gamma": 0.3}),
    (relu_flow.printed_coefficients, {"rho_11": 1.0, "rho_kk": 2.0, "gamma": 0.3}),
    (relu_flow.gaussian_flow, {"W": FIELDS, "C0": C0, "C1": C1}),
    (relu_flow.gaussian_loss, {"W": FIELDS, "C0": C0, "C1": C1}),
    (relu_flow.single_neuron, {"w0": FIELDS[0], "C0": C0, "C1": C1, "times": np.array([0.0, 1.0])}),
    (relu_flow.steady_energy, {"C0": C0, "C1": C1}),
    (relu_flow.transverse_rates, {"C0": C0, "C1": C1}),
    (relu_flow.flip_rate, {"W": FIELDS, "later": FIELDS + 0.1, "C0": C0, "C1": C1}),
    (single_pulses.pulse_support, {"n": N, "lengths": [1, 3], "version": "raw"}),
    (single_pulses.pulse_moment, {"n": N, "lengths": [1, 3], "pixels": [0, 1]}),
    (single_pulses.pulse_second_moment, {"n": N, "lengths": [1, 3], "version": "raw"}),
    (training.initial_weights, {"initials": 1, "K": 2, "n": N, "scale": 1.0, "seed": 0}),
    (
        first(training.nlgp_batches),
        RING | {"gain": 1.0, "batch": 4, "seed": 0, "kernel": "periodic", "device": "cpu"},
    ),
    (
        first(training.gaussian_batches),
        {"C1": C1, "C0": C0, "batch": 4, "seed": 0, "device": "cpu"},
    ),
    (first(training.fixed_batches), {"x1": X, "x0": X, "device": "cpu"}),
    (
        train,
        {"W": FIELDS[None], "steps": 1, "lr": 0.1, "activation": "erf", "bias": 0.1, "keep_every": 1},
    ),
    (training.flips, {"kept": FIELDS, "x": X}),
    (
        trained_fields.localization,
        RING | {"gain": 1.0, "law": "nlgp", "K": 1, "initials": 1, "lr": 0.1, "batch": 4} | RUN,
    ),
    (single_fields.location, RING | {"gain": 1.0, "scale": 1.0, "initials": 1, "lr": 0.1, "batch": 4} | RUN),
    (
        single_fields.onset,
        {"n": 20, "xi1": 1.5, "xi2": 0.7, "fraction": 1.0, "law": "clone", "initials": 1, "lr": 0.1, "batch": 4} | RUN,
    ),
    (
        trained_fields.bias_sign,
        RING | {"gain": 1.0, "activation": "erf", "bias": 0.1, "K": 1, "initials": 1, "lr": 0.1, "batch": 4} | RUN,
    ),
    (
        trained_fields.sign_flips,
        RING | {"gain": 1.0, "K": 1, "initials": 1, "lr": 0.1, "batch": 4, "keep_every": 1} | RUN,
    ),
    (trained_fields.preactivation_kurtosis, {"W": FIELDS, "x1": X, "x0": X + 0.1}),
    (ring.covariance_row, {"n": N, "xi": 0.9, "kernel": "periodic"}),
    (ring.stationary_sample, {"row": C1[0], "samples": 2, "seed": 0}),
    (flat_field.measured_critical_gain, RING | {"frequency": 1, "samples": 200, "seed": 0, "kernel": "periodic"}),
    (hermite.hermite_rates, RING | {"ratios": {3: 0.01}}),
    (hermite.hermite_growth, RING | {"ratios": {3: 0.01}, "frequency": 1, "samples": 200, "seed": 0}),
    (landscape.one_neuron_score, {"w": FIELDS[0], "xi1": 0.9, "xi2": 0.5, "gain": 1.0}),
    (landscape.many_neuron_loss, {"W": FIELDS, "xi1": 0.9, "xi2": 0.5, "gain": 1.0}),
    (tilings.sample_waves, RING | {"gain": 1.0, "samples": 100, "seed": 0}),
]
