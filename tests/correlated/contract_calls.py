"""One valid call of each name on the face, small enough to be made a few hundred times."""

import numpy as np
from superposition import correlated

LAW = {"p": 0.1, "r": 0.5, "G": 3, "s": 0.25}
PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])

CALLS = [
    (correlated.linear_loss, LAW),
    (correlated.grouped_rug, LAW | {"phase": "apart"}),
    (correlated.rug_loss, LAW | {"n": 12}),
    (correlated.exclusive_code, {"G": 7, "m": 3}),
    (correlated.noise_gain, {"W_in": np.eye(2), "W_out": np.array([[1.0, 0.5], [0.0, 2.0]])}),
    (correlated.graph_code_for, {"H": PATH}),
    (correlated.colour_code_for, {"H": PATH, "m": 3}),
    (correlated.curve_code_for, {"H": PATH}),
    (correlated.topic_code, {"topics": 5, "k": 2}),
    (correlated.pairs_in_plane, {"p": 0.3, "s": 0.4}),
]
