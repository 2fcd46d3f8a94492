"""One valid call of each name on the face, small enough to be made a few hundred times."""

import numpy as np
from superposition import receptive

N = 6
C1, C0 = receptive.gaussian_covariance(N, 0.9), receptive.gaussian_covariance(N, 0.5)
RING = {"n": N, "xi1": 0.9, "xi2": 0.5}
LARGER = {"n": 20, "xi1": 1.5, "xi2": 0.7}  # where the flat field has averages over many vectors
ONE = {"n": N, "xi": 0.9}
PERIODIC = {"kernel": "periodic"}
WAVE = {"frequency": 1, "samples": 200, "seed": 0}
FIELDS = np.random.default_rng(0).standard_normal((2, N))
DATA = receptive.sample_waves(**RING, gain=1.0, samples=100)

CALLS = [
    (receptive.kernel_row, ONE | PERIODIC),
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
    (receptive.critical_gain, RING | PERIODIC),
    (receptive.flat_growth, LARGER | WAVE | PERIODIC | {"gain": 0.1}),
    (receptive.measured_critical_gain, RING | WAVE | PERIODIC),
    (
        receptive.gdln_solution,
        {"A": np.eye(2 * N) + 0.1, "b": FIELDS, "w0": FIELDS, "t": np.array([0.0, 1.0, np.inf])},
    ),
    (receptive.one_neuron_score, {"w": FIELDS[0], "xi1": 0.9, "xi2": 0.5, "gain": 1.0}),
    (receptive.many_neuron_loss, {"W": FIELDS, "xi1": 0.9, "xi2": 0.5, "gain": 1.0}),
    (receptive.predicted_fields, RING | {"gain": 0.5, "K": 2, "start": "random", "steps": 2, "seed": 0}),
    (receptive.small_bump_covariance, ONE | {"gain": 1.0, "i": 1}),
    (receptive.small_bump_field, RING | {"gain": 1.0, "i": 1}),
    (receptive.gaussian_flow, {"W": FIELDS, "C0": C0, "C1": C1}),
    (receptive.gaussian_loss, {"W": FIELDS, "C0": C0, "C1": C1}),
    (receptive.pulse_support, {"n": N, "lengths": [1, 3], "version": "raw"}),
    (receptive.pulse_moment, {"n": N, "lengths": [1, 3], "pixels": [0, 1]}),
    (receptive.pulse_second_moment, {"n": N, "lengths": [1, 3], "version": "raw"}),
    (receptive.sample_waves, RING | {"gain": 1.0, "samples": 100, "seed": 0}),
    (receptive.best_tile, {"data": DATA, "tiled": True, "widths": (1.0, 3.0)}),
]

NAN = {"critical_gain": ["xi2 = tiny"]}
