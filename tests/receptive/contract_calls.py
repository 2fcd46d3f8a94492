"""One valid call of each public function, small enough to be made a few hundred times."""

import numpy as np
from superposition import receptive

N = 6
C1, C0 = receptive.gaussian_covariance(N, 0.9), receptive.gaussian_covariance(N, 0.5)
PAIR = {"C0": C0, "C1": C1}
RING = {"n": N, "xi1": 0.9, "xi2": 0.5}
LARGER = {"n": 20, "xi1": 1.5, "xi2": 0.7}  # where the flat field has averages over many vectors
ONE = {"n": N, "xi": 0.9}
PERIODIC = {"kernel": "periodic"}
WAVE = {"frequency": 1, "samples": 200, "seed": 0}
FIELDS = np.random.default_rng(0).standard_normal((2, N))
DATA = receptive.sample_waves(**RING, gain=1.0, samples=100)
TILE = receptive.best_tile(DATA, tiled=True)
CROWD = receptive.crowd(FIELDS[0], DATA.label1, N)
TASK = receptive.nlgp_task(**RING, gain=1.0)
X, Y = receptive.labelled_sample(**RING, gain=1.0, samples=5, seed=0)
A, B = receptive.gated_moments(X[:, :2] > 0, X, Y)
BATCHES = receptive.fixed_batches(X[Y == 1], X[Y == 0])


def silent(*_):
    """Ignore a report of progress."""


STEPS = {"steps": 2, "lr": 0.1}
CPU = {"seed": 0, "device": "cpu"}

CALLS = [
    (receptive.kernel_row, ONE | PERIODIC),
    (receptive.correlation_lengths, RING),
    (receptive.gaussian_covariance, ONE | {"kernel": "wrapped"}),
    (receptive.gaussian_sample, {"covariance": C1, "samples": 2, "seed": 0}),
    (receptive.circulant, {"row": C1[0]}),
    (receptive.eigenvalues, {"covariance": C1}),
    (receptive.square_root, {"covariance": C1}),
    (receptive.fourier_basis, {"n": N}),
    (receptive.normalization, {"gain": 1.0}),
    (receptive.saturation, {"gain": 1.0}),
    (receptive.nlgp_covariance, ONE | PERIODIC | {"gain": 1.0}),
    (receptive.nlgp_sample, ONE | PERIODIC | {"gain": 1.0, "samples": 2, "seed": 0}),
    (receptive.ipr, {"w": FIELDS}),
    (receptive.half_energy_width, {"w": FIELDS}),
    (receptive.peak, {"w": FIELDS}),
    (receptive.power_spectrum, {"w": FIELDS}),
    (receptive.mean_frequency, {"w": FIELDS}),
    (receptive.ring_distance, {"i": np.array([1, 2]), "j": 5, "n": N}),
    (receptive.same_place, {"w": FIELDS, "v": FIELDS[0], "within": 1}),
    (receptive.critical_gain, RING | PERIODIC),
    (receptive.flat_growth, LARGER | WAVE | PERIODIC | {"gain": 0.1}),
    (receptive.measured_critical_gain, RING | WAVE | PERIODIC),
    (receptive.hermite_growth, LARGER | WAVE | {"ratios": {3: -0.01}}),
    (receptive.hermite_rates, LARGER | {"ratios": {3: -0.01, 5: 0.01}}),
    (receptive.gate_directions, {"family": "random", "n": N, "K": 2, "seed": 0}),
    (receptive.gate_centres, {"n": N, "K": 2}),
    (receptive.opened_gates, {"directions": FIELDS, "x": X}),
    (receptive.gaussian_second_moment, {"directions": FIELDS, "C": C1}),
    (receptive.small_bump_second_moment, {"pixels": [0, 2], "latent": C1, "gain": 3.0}),
    (receptive.gated_moments, {"gates": (X[:, :2] > 0) * 1.0, "x": X, "y": Y}),
    (receptive.gdln_solution, {"A": np.eye(2 * N) + 0.1, "b": FIELDS, "w0": FIELDS, "t": np.array([0.0, 1.0, np.inf])}),
    (receptive.limiting_weights, {"A": A, "b": B}),
    (receptive.limiting_loss, {"A": A, "b": B}),
    (receptive.gated_loss, {"A": A, "b": B, "w": FIELDS, "target": 0.5}),
    (receptive.initial_speed, {"b": B}),
    (receptive.labelled_sample, RING | {"gain": 1.0, "samples": 2, "seed": 0}),
    (receptive.mirrored_sample, {"one": FIELDS, "zero": FIELDS + 1, "seed": 0}),
    (receptive.leaky_slope, {"slope": 0.1}),
    (receptive.relu_with_linear_pathway, {"h": FIELDS[None], "x": FIELDS}),
    (receptive.half_space_slopes, {"directions": FIELDS}),
    (
        receptive.train_gated,
        {"w0": FIELDS[None], "x": X, "y": Y, "slopes": receptive.RELU, "batch": 5, "readout": 0.5, "turn": True}
        | STEPS
        | {"seed": 0, "record": silent, "progress": silent},
    ),
    (
        receptive.train_gated_on_device,
        {"w0": FIELDS[None], "x": X, "y": Y, "neurons": "relu", "batch": 5, "turn": True} | STEPS | {"seed": 0},
    ),
    (receptive.gated_outputs, {"w": FIELDS[None], "x": X, "slopes": receptive.RELU, "readout": 0.5}),
    (receptive.half_line_mean, {"gain": 3.0, "r": np.array([0.5, -1.0])}),
    (receptive.small_bump_covariance, ONE | {"gain": 1.0, "i": 1}),
    (receptive.small_bump_field, RING | {"gain": 1.0, "i": 1}),
    (receptive.ols_field, PAIR | {"T": FIELDS}),
    (receptive.ols_loss, PAIR | {"T": FIELDS}),
    (receptive.relu_neuron_loss, PAIR | {"w": FIELDS, "T": FIELDS}),
    (receptive.signed_mean, {"a": FIELDS, "x": X}),
    (receptive.turned_signed_mean, {"a": FIELDS, "x": X}),
    (receptive.gate_race, PAIR | {"starts": FIELDS, "x": X, "rounds": 2, "progress": silent}),
    (receptive.best_shift_cosine, {"w": FIELDS, "template": FIELDS[0]}),
    (receptive.draw_marginal, ONE | {"law": "tanh", "strength": 1.0, "samples": 3, "seed": 0}),
    (receptive.hermite_ratio, {"law": "cubic", "strength": 0.5}),
    (receptive.amplified_field, RING | {"gain": 1.0, "rounds": 2}),
    (receptive.half_space_mean, {"w": FIELDS[0], "C": C1}),
    (receptive.two_neuron_coefficients, {"rho_11": 1.0, "rho_kk": np.array([1.0, 2.0]), "gamma": 0.5}),
    (receptive.printed_coefficients, {"rho_11": 1.0, "rho_kk": 2.0, "gamma": 0.5}),
    (receptive.gaussian_flow, {"W": FIELDS, "C0": C0, "C1": C1}),
    (receptive.gaussian_loss, {"W": FIELDS, "C0": C0, "C1": C1}),
    (receptive.single_neuron_flow, PAIR | {"w0": FIELDS[0], "times": np.array([0.0, 2.0])}),
    (receptive.steady_energy, PAIR),
    (receptive.transverse_rates, PAIR),
    (receptive.flip_rate, PAIR | {"W": FIELDS, "later": FIELDS + 0.1}),
    (receptive.pulse_support, {"n": N, "lengths": [1, 3], "version": "raw"}),
    (receptive.pulse_moment, {"n": N, "lengths": [1, 3], "pixels": [0, 1]}),
    (receptive.sample_waves, RING | {"gain": 1.0, "samples": 100, "seed": 0}),
    (receptive.best_tile, {"data": DATA, "tiled": True, "widths": (1.0, 3.0)}),
    (receptive.best_biased_tile, {"start": TILE.field, "ratio": -0.5, "data": DATA, "hidden": True, "output": True}),
    (receptive.crowd, {"w": FIELDS[0], "label": DATA.label1, "n": N}),
    (receptive.mean_crowd_size, {"w": FIELDS[0], "of": CROWD, "label": DATA.label1, "n": N}),
    (receptive.gaussian_tile, PAIR),
    (receptive.crowd_loss, {"W": FIELDS, "b": np.zeros(len(FIELDS)), "data": DATA}),
    (receptive.crowd_errors, {"W": FIELDS, "b": np.zeros(len(FIELDS)), "data": DATA}),
    (receptive.root_mean_square, {"w": FIELDS[0], "data": DATA}),
    (
        receptive.joining_slope,
        {"v": FIELDS[0], "c": 0.5, "errors": receptive.crowd_errors(FIELDS, np.zeros(len(FIELDS)), DATA), "data": DATA},
    ),
    (receptive.steepest_pair, {"W": FIELDS, "b": np.zeros(len(FIELDS)), "data": DATA, "biased": False, "seed": 0}),
    (receptive.best_crowd, {"data": DATA, "biased": True, "most": 1, "tolerance": 0.1, "iterations": 2, "seed": 0}),
    (receptive.added_slope, {"w": FIELDS[0], "tile": TILE, "data": DATA}),
    (receptive.steepest_field, {"tile": TILE, "data": DATA, "waves": 1, "starts": 0, "seed": 0}),
    (receptive.tiled_network_loss, {"W": FIELDS, "data": DATA}),
    (receptive.best_field_pair, {"tile": TILE, "data": DATA, "starts": 0, "seed": 0}),
    (receptive.behind_copies, {"w": FIELDS[0], "data": DATA}),
    (receptive.nlgp_task, RING | PERIODIC | {"gain": 1.0}),
    (receptive.torus_task, {"side": 3, "xi1": 0.5, "xi2": 0.3, "gain": 1.0} | PERIODIC),
    (receptive.one_neuron_score, {"w": FIELDS[0], "xi1": 0.9, "xi2": 0.5, "gain": 1.0}),
    (receptive.field_score, {"w": FIELDS[0], "task": TASK}),
    (receptive.first_order_loss, {"W": FIELDS, "task": TASK}),
    (receptive.best_field, {"starts": FIELDS, "task": TASK}),
    (receptive.predicted_fields, RING | {"gain": 0.5, "K": 2, "start": "random", "steps": 2, "seed": 0}),
    (receptive.starting_fields, {"n": N, "K": 2, "start": "tiled", "seed": 0}),
    (receptive.initial_weights, {"initials": 1, "K": 2, "n": N, "scale": 0.5, "seed": 0}),
    (receptive.nlgp_batches, RING | PERIODIC | CPU | {"gain": 1.0, "batch": 4}),
    (receptive.gaussian_batches, PAIR | CPU | {"batch": 4}),
    (receptive.fixed_batches, {"x1": FIELDS, "x0": X, "device": "cpu"}),
    (
        receptive.train_fields,
        {"W": FIELDS[None], "batches": BATCHES, "activation": "erf", "bias": 0.1, "lr_out": 0.1, "keep_every": 1}
        | STEPS
        | {"progress": silent},
    ),
    (
        receptive.train_gaussian_fields,
        PAIR | CPU | STEPS | {"w": FIELDS, "batch": 4, "keep_every": 1, "progress": silent},
    ),
    (receptive.gate_flips, {"kept": FIELDS, "x": X}),
]

NAN = {"critical_gain": ["xi2 = tiny"]}
