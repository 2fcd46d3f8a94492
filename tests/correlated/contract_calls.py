"""One valid call of each public function of the wing, small enough to be made a few hundred times."""

import numpy as np
from superposition import correlated

LAW = {"p": 0.1, "r": 0.5, "G": 3, "s": 0.25}
PAIR = {"p": 0.3, "s": 0.4}
PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
LAW_OF_RUG = {"rug": correlated.grouped_rug(**LAW), "p": 0.1, "G": 3, "s": 0.25}
CODE = {"W_in": np.array([[1.0, 0.5, -0.5]]), "W_out": np.array([[1.0], [0.5], [-0.5]]), "b": np.full(3, -0.1)}
X = np.array([[0.0, 0.5, 0.0], [1.0, 0.0, 0.2], [0.3, 0.4, 0.0], [0.0, 0.0, 0.9]])
READ = {"vectors": np.array([[1.0], [0.8], [-0.5]]), "p": np.array([0.2, 0.1, 0.3])}
KINDS = {"cells": np.array([[0.2, 0.1, 0.3]]), "weights": np.ones(1), "swell": np.ones(1), "rivals": 1}
TRAINING = {"steps": 2, "lr": 0.01, "seed": 0}

CALLS = [
    (correlated.linear_loss, LAW),
    (correlated.partner_correlation, PAIR),
    (correlated.linear_border, {"p": 0.1, "r": 0.2, "G": 3, "loss": 0.01}),
    (correlated.grouped_rug, LAW | {"phase": "apart"}),
    (correlated.rug_ratios, LAW | {"slope": 0.2}),
    (correlated.simulated_grouped_loss, LAW_OF_RUG | {"groups": 8, "samples": 4, "seed": 0}),
    (correlated.rug_loss, LAW | {"n": 12}),
    (correlated.simulated_rug_loss, LAW | {"n": 12, "gain": 0.9, "bias": -0.05, "samples": 4, "seed": 0}),
    (correlated.exclusive_code, {"G": 7, "m": 3}),
    (correlated.exclusive_loss, {"W": np.eye(3), "p": 0.3}),
    (correlated.noise_gain, {"W_in": np.eye(2), "W_out": np.array([[1.0, 0.5], [0.0, 2.0]])}),
    (correlated.graph_code_for, {"H": PATH}),
    (correlated.colour_code_for, {"H": PATH, "m": 3}),
    (correlated.clique_number_at_least, {"H": PATH}),
    (correlated.exact_failures, {"code": correlated.graph_code_for(PATH), "H": PATH}),
    (correlated.most_dimensions, {"degree": 3}),
    (correlated.least_noise_gain, {"G": 20}),
    (correlated.best_noise_gain, {"W_in": np.array([[1.0, -1.0, 0.2], [0.0, 0.1, 1.0]])}),
    (correlated.descend_exclusive, {"G": 3, "dims": [2], "starts": 2, "tied": False, **TRAINING}),
    (correlated.topic_code, {"topics": 5, "k": 2}),
    (correlated.largest_error, {"W": np.eye(3), "H": PATH}),
    (correlated.pairs_in_plane, PAIR),
    (correlated.shared_line_loss, PAIR | {"sign": -1}),
    (correlated.merged_bound, PAIR),
    (correlated.descend_pairs, PAIR | {"starts": 2, **TRAINING}),
    (correlated.partner_arrangement, {"W": np.array([[1.0, -1.0, 0.1, 0.0], [0.0, 0.1, 1.0, -1.0]])}),
    (correlated.company_losses, CODE | {"x": X}),
    (correlated.state_losses, CODE | {"x": X, "threshold": np.full(3, 0.05)}),
    (correlated.presence_reader, READ),
    (correlated.presence_losses, READ | KINDS | {"best": correlated.presence_reader(**READ)}),
    (correlated.train_grouped, {"groups": 2, "G": 3, "nd": 2, **PAIR, "batch": 512, **TRAINING, "device": "cpu"}),
]
