"""Calls of public functions in which arguments count: those of the contract give 0, or the same for many arguments."""

import numpy as np
from superposition import codes, correlated, incidental, receptive, rug, toy
from superposition.codes import conflict_search
from superposition.incidental import collisions, late_rate, many_networks, step_noise

LOUD = np.array([[0.9, 0.8, -0.2, 0.1], [0.7, -0.9, 0.6, 0.55], [-0.5, 0.52, 0.7, -0.6]])
PAIR = np.array([[0.9, 0.1, -0.2], [-0.95, 0.3, 0.1], [0.2, -0.7, 0.8]])
DECODER = np.array([[1.0, 0.5], [0.2, -0.9], [-0.4, 0.3]])
FIELD = np.array([0.1, 0.9, 0.3, -0.2, 0.0, 0.1])
CALLS = [
    (toy.phase, {"W": np.array([[1.0, 0.0, 0.1], [0.0, 0.9, 0.0]]), "feature": 1}),
    (toy.phase, {"W": np.array([[1.0, 0.02, 0.9], [0.0, 0.01, 0.3]]), "feature": 1}),
    (rug.training_protocol, {"name": "text", "ns": 64, "nd": 12, "p": 0.05}),
    (rug.first_pause, {"history": np.array([9.0, 7.0, 5.0, 4.0, 3.5, 3.4, 3.39, 3.45, 3.5, 3.5]), "window": 2}),
    (collisions.count_polysemantic, {"W": LOUD, "threshold": 0.54}),
    (many_networks.count_polysemantic_each, {"W": np.stack([LOUD, -LOUD[::-1]]), "threshold": 0.54}),
    (collisions.same_sign_pairs, {"W": LOUD, "threshold": 0.54}),
    (collisions.opposite_tops, {"W": PAIR}),
    (many_networks.opposite_tops_each, {"W": np.stack([PAIR, PAIR[[0, 1, 0]], PAIR.T])}),
    (late_rate.positive_overlaps, {"gram": np.array([[0.86, 0.21, -0.1], [0.21, 0.74, 0.3], [-0.1, 0.3, 0.9]])}),
    (step_noise.free_and_common_push, {"W": LOUD, "law": incidental.bipolar(0.3)}),
    (codes.counting_bound, {"p": 0.01, "r": 0.006}),
    (
        conflict_search.lowest_score,
        {"score": conflict_search.lemma_score, "n": 6, "m": 2, "tries": 3, "seed": 3, "first": ()},
    ),
    (codes.best_known, {"p": 0.05, "r": 0.2, "largest_fan": 4, "also": [("tile", 0.3, 0.01)]}),
    (correlated.exclusive_loss, {"W": np.array([[0.9, 0.2, -0.1], [0.1, 1.1, 0.3], [-0.2, 0.1, 0.8]]), "p": 0.3}),
    (correlated.noise_gain, {"W_in": np.array([[1.0, 0.3, -0.2], [0.1, -0.8, 0.5]]), "W_out": DECODER}),
    (correlated.best_noise_gain, {"W_in": np.array([[1.0, -0.4, 0.2, 0.3], [0.3, 0.1, 1.0, -0.8]])}),
    (correlated.partner_arrangement, {"W": np.array([[1.0, 0.1, 0.1, -0.9], [0.1, 1.0, -0.8, 0.2]])}),
    (receptive.same_place, {"w": FIELD, "v": np.array([0.1, 0.3, 0.9, 0.2, 0.0, 0.1]), "within": 1}),
]  # fmt: skip
