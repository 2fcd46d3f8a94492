"""One valid call of each name on the face of the wing, small enough to be made a few hundred times."""

import numpy as np
from superposition import codes

ROW = np.array([0.3, -0.2, 0.1])
SQUARE = np.array([[1.0, -0.4, 0.1], [0.3, 1.2, -0.2], [0.0, 0.1, 0.9]])
AT = {"p": 0.05, "r": 0.2}
MIXED = codes.hull(0.05, points=10)
KNOWN = codes.best_known(**AT, largest_fan=126)

CALLS = [
    (codes.antipodal_loss, {"a": 1.2, "b": -0.4, "sigma": 0.25, "p": 0.05}),
    (codes.antipodal_optimum, AT),
    (codes.averaged_share, {"alpha": 0.5, "beta": 2.0}),
    (codes.best_bound, AT),
    (codes.certified_bound, AT),
    (codes.credit, {"w": 0.5}),
    (codes.random_loudness_bound, {"r": 0.2}),
    (codes.rivals_bound, AT),
    (codes.symmetric_squares, {"W": SQUARE}),
    (codes.two_loudness_share, {"alpha": 0.5, "beta": 2.0}),
    (codes.best_decoder, {"W": SQUARE, "p": 0.05, "rtol": 0.5}),
    (codes.best_digon, {"p": 0.05}),
    (codes.best_known, AT | {"largest_fan": 126, "also": [("tile", 0.3, 0.01)]}),
    (KNOWN.blocks, {"ns": 64}),
    (KNOWN.loss_of, {"ns": 64}),
    (codes.bound_at_any_size, AT),
    (codes.code_loss, {"W": SQUARE, "b": ROW, "p": 0.05, "rtol": 0.5}),
    (codes.cone, {"B": 5, "ratio": 2.0}),
    (codes.counting_bound, AT),
    (codes.digon, {"p": 0.05, "c": 2.0}),
    (codes.fan_loss, {"p": 0.05, "B": 5}),
    (codes.graph_code, {"tile": codes.graph_tile("Clebsch", 0.5, inhibition=0.0), "p": 0.1}),
    (codes.graph_tile, {"name": "Clebsch", "p": 0.001, "inhibition": 0.1}),
    (codes.hull, {"p": 0.05, "points": 10, "without": ("antipodal", "digon")}),
    (MIXED.at, {"r": 0.2}),
    (MIXED.parts, {"r": 0.2}),
    (codes.priority_fan, {"B": 5, "ratio": 2.0}),
    (codes.swept_fan, {"B": 5, "ratio": 2.0, "inner": 2.0, "growth": 3.0}),
    (codes.swept_loss, {"p": 0.05, "B": 5}),
]
