"""One valid call of each public function of the wing, small enough to be made a few hundred times."""

from functools import wraps

import numpy as np
import torch
from superposition import codes
from superposition.codes.best_map import Best, Share

ROW = np.array([0.3, -0.2, 0.1])
SQUARE = np.array([[1.0, -0.4, 0.1], [0.3, 1.2, -0.2], [0.0, 0.1, 0.9]])
WIDE = np.array([[1.0, -0.4, 0.1], [0.3, 1.2, -0.2]])
RATIOS = np.array([0.1, 0.4])
FIRST = codes.certificates()[0]
AT = {"p": 0.05, "r": 0.2}
POINTS = [("a", 0.0, 1.0), ("b", 0.5, 0.9), ("c", 1.0, 0.0)]
MIXED = codes.hull(0.05, points=10)
# `best_known(**AT, largest_fan=126)`, which takes two seconds in each process that collects tests
SWEPT = Share("swept", 10, 0.2, 0.002595095959271256, 1.0)
KNOWN = Best(**AT, loss=SWEPT.loss, rug=0.007427078688587982, lower=0.00125171475068303, parts=(SWEPT,))
FAN = codes.priority_fan(4, 2.0)
OFFERED = (codes.candidate_code(2.0, FAN, 0.01),)
WALK = {"steps": 3, "seed": 0}
FEW = WALK | {"p": 0.1, "batch": 4, "fresh": 4}
GENERATOR = torch.Generator().manual_seed(0)


@wraps(codes.random_tiles)
def seeded_tiles(**arguments):
    """Tiles from the same state of the generator."""
    GENERATOR.manual_seed(0)
    return codes.random_tiles(**arguments)


CALLS = [
    (codes.annealed_conflicts, {"m": 2, "n": 4} | WALK),
    (codes.annealed_levels, {"m": 2, "n": 4, "start": "random"} | WALK),
    (codes.antipodal_constant, {"r": 0.2}),
    (codes.antipodal_optimum, AT),
    (codes.best_bound, AT),
    (codes.certified_bound, AT),
    (codes.lies_below, {"p": FIRST.p, "cell": FIRST.cells[0][0]}),
    (codes.proves, {"p": FIRST.p, "cell": FIRST.cells[0][0], "A": float(FIRST.A[0]), "phi": float(FIRST.phi[0])}),
    (codes.credit, {"w": 0.5}),
    (codes.random_loudness_bound, {"r": 0.2}),
    (codes.rivals_bound, AT),
    (codes.symmetric_squares, {"W": SQUARE}),
    (codes.two_loudness_share, {"alpha": 0.5, "beta": 2.0}),
    (codes.best_along, {"p": 0.05, "r": RATIOS, "largest_fan": 126, "also": [("tile", 0.3, 0.01)]}),
    (codes.best_codes, {"p": 0.05, "largest_fan": 126, "also": [("tile", 0.3, 0.01)]}),
    (codes.best_decoder, {"W": SQUARE, "p": 0.05, "rtol": 0.5}),
    (codes.best_digon, {"p": 0.05}),
    (codes.best_known, AT | {"largest_fan": 126, "also": [("tile", 0.3, 0.01)]}),
    (codes.best_known_constant, {"r": 0.2}),
    (KNOWN.blocks, {"ns": 64, "dtype": "float32"}),
    (KNOWN.loss_of, {"ns": 64, "dtype": "float64"}),
    (codes.bound_at_any_size, AT),
    (codes.candidate_code, {"ratio": 2.0, "code": FAN, "loss": 0.01}),
    (codes.candidate_codes, {"kind": "antipodal", "p": 0.05}),
    (codes.balanced, {"code": FAN}),
    (codes.chain_code, {"p": 0.05, "ratio": 100.0, "B": 7, "growth": 2.0}),
    (codes.chain_loss, {"p": 0.05, "B": 7}),
    (codes.measured_loss, {"blocks": [FAN], "p": 0.05, "samples": 20, "seed": 0, "dtype": "float16"}),
    (codes.network_loss, {"code": FAN, "p": 0.05, "samples": 20, "seed": 0, "dtype": "bfloat16"}),
    (codes.noisy_code_loss, {"code": FAN, "p": 0.05, "noise": 0.01, "samples": 20, "seed": 0}),
    (codes.tuned_code, {"m": 2, "B": 4, "p": 0.05, "budget": "range", "strength": 3.0, "starts": 1, "seed": 0}),
    (
        codes.train_exclusive_first,
        {"ns": 8, "nd": 3, "p": 0.1, "group": 4, "lesson": 0.5, "lasting": True, "steps": 3, "batch": 4, "lr": 0.01}
        | {"largest": 2.0, "seed": 0, "device": "cpu"},
    ),
    (
        codes.train_growing,
        {"ns": 8, "nd": 3, "p": 0.1, "group": 4, "grown": 0.5, "apart": False, "steps": 3, "batch": 4, "lr": 0.01}
        | {"largest": 2.0, "seed": 0, "device": "cpu"},
    ),
    (
        codes.train_on_vectors,
        {
            "ns": 8,
            "nd": 3,
            "vectors": lambda step, *_: (torch.eye(8) * (step + 1), 0.1 * (step + 1)),
            "steps": 3,
            "lr": 0.01,
        }
        | {"largest": 2.0, "seed": 0, "device": "cpu"},
    ),
    (codes.code_loss, {"W": SQUARE, "b": ROW, "p": 0.05, "rtol": 0.5}),
    (codes.cone, {"B": 5, "ratio": 2.0}),
    (codes.conflict_cost, {"alpha": 0.5}),
    (codes.conflict_score, {"W": SQUARE}),
    (codes.counting_bound, AT),
    (codes.digon, {"p": 0.05, "c": 2.0}),
    (codes.drop_bounds, {"kappa": 0.5}),
    (codes.dropping_ratio, {"p": 0.05}),
    (codes.fan_loss, {"p": 0.05, "B": 5}),
    (codes.fewest_conflicts, {"dots": SQUARE, "order": [0, 2, 1]}),
    (codes.fewest_conflicts_in_space, {"n": 6}),
    (codes.graph_adjacency, {"name": "Clebsch"}),
    (codes.graph_code, {"tile": codes.graph_tile("Clebsch", 0.5, inhibition=0.0), "p": 0.1}),
    (codes.graph_tile, {"name": "Clebsch", "p": 0.001, "inhibition": 0.1}),
    (codes.hierarchical_bound, {"r": 0.2}),
    (codes.hull, {"p": 0.05, "points": 10, "without": ("antipodal", "digon")}),
    (codes.hulls, {"p": RATIOS, "points": 10, "without": ("antipodal", "digon")}),
    (MIXED.at, {"r": 0.2}),
    (MIXED.parts, {"r": 0.2}),
    (codes.layered_rug, {"bits": 3, "least": 2}),
    (codes.layered_tile, {"bits": 3, "least": 2, "p": 0.3}),
    (codes.lemma_score, {"W": SQUARE}),
    (codes.limit_cost, {"W": SQUARE}),
    (codes.lower_hull, {"found": POINTS}),
    (codes.lowest_score, {"score": codes.lemma_score, "n": 3, "m": 1, "tries": 1, "seed": 0, "first": ()}),
    (codes.measured_code_loss, {"W_in": WIDE, "W_out": WIDE.T, "b": ROW, "p": 0.1, "samples": 4, "seed": 0}),
    (codes.output_moments, {"others": ROW, "own": 1.0, "b": -0.1, "p": 0.05, "rtol": 0.5}),
    (codes.partner_loss, {"a": 1.2, "b": -0.4, "sigma": 0.25, "c": 0.5, "p": 0.05}),
    (codes.partner_optimum, {"sigma": 0.25, "c": 0.5, "p": 0.05}),
    (codes.priority_fan, {"B": 5, "ratio": 2.0}),
    (seeded_tiles, {"m": 2, "B": 4, "p": 0.1, "copies": 2, "steps": 2, "batch": 4, "generator": GENERATOR}),
    (codes.rug_at_small_p, {"p": 0.005, "r": 0.2}),
    (codes.rug_code, {"size": 16, "r": 0.25, "p": 0.05, "antipodal": True}),
    (codes.rug_constant, {"r": 0.2}),
    (codes.search_tile, FEW | {"m": 2, "B": 4, "starts": 4, "kept": 1, "screening": 2}),
    (codes.shallow_cells, {"n": 6, "d": 2, "depth": 1}),
    (codes.side_by_side, {"blocks": [FAN, FAN]}),
    (codes.simulated_code_loss, {"W": SQUARE, "b": ROW, "p": 0.05, "samples": 4, "seed": 0}),
    (codes.strongly_regular_parameters, {"A": codes.graph_adjacency("Clebsch")}),
    (codes.swept_fan, {"B": 5, "ratio": 2.0, "inner": 2.0, "growth": 3.0}),
    (codes.swept_loss, {"p": 0.05, "B": 5}),
    (codes.symmetrisable_bound, {"r": 0.2}),
    (codes.train_blocks, {"ns": 8, "nd": 4, "p": 0.1, "blocks": 2, "copies": 1, "fresh": 4} | WALK),
    (codes.train_dense, FEW | {"ns": 8, "nd": 2, "method": "fans", "lr": 1e-3, "ratio": 2.0, "progress": None}),
    (codes.train_plain, FEW | {"ns": 10, "start": "fans", "ratio": 2.0, "noise": 0.1, "lr": 1e-3}),
    (codes.truncated_squares, {"W": SQUARE}),
    (codes.under_budget, {"budget": "range", "strength": 10.0, "offered": OFFERED, "p": 0.05, "samples": 4, "seed": 0}),
]
