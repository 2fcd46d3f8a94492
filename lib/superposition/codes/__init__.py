"""Better codes than the rug: loud and quiet features, swept fans, antipodal pairs, tiles and mixtures of them.

Codes in closed form, their exact losses, lower bounds for all codes, and searches; those that train need torch. W is a
product W_out W_in, (B, B), of one block, b its bias, p the probability that a feature is on, in (0, 1], and r the
compression ratio, in (0, 1]. An argument outside of its range is refused with a ValueError.

Source: ours, beyond The Persian Rug.
"""

from superposition.codes.any_size import bound_at_any_size
from superposition.codes.as_networks import measured_loss, network_loss
from superposition.codes.best_map import Best, best_along, best_codes, best_known, rug_code, side_by_side
from superposition.codes.budgets import Candidate, Priced, balanced, candidate_code, candidate_codes, under_budget
from superposition.codes.chains import chain_code, chain_loss
from superposition.codes.conflict_search import (
    annealed_conflicts,
    annealed_levels,
    conflict_score,
    fewest_conflicts,
    lemma_score,
    lowest_score,
)
from superposition.codes.dense_training import random_tiles, train_blocks, train_dense
from superposition.codes.exact_losses import Decoder, best_decoder, code_loss, output_moments, simulated_code_loss
from superposition.codes.exclusive_first import train_exclusive_first
from superposition.codes.fans import Code, cone, fan_loss, priority_fan
from superposition.codes.graphs import (
    GRAPH_PARAMETERS,
    GraphTile,
    graph_adjacency,
    graph_code,
    graph_tile,
    strongly_regular_parameters,
)
from superposition.codes.growing import train_growing
from superposition.codes.layered_tiles import LayeredTile, layered_rug, layered_tile
from superposition.codes.lower_bound import (
    DIGON_CONSTANT,
    best_known_constant,
    conflict_cost,
    fewest_conflicts_in_space,
    hierarchical_bound,
    limit_cost,
    symmetrisable_bound,
    truncated_squares,
)
from superposition.codes.mixtures import Hull, dropping_ratio, hull, hulls, lower_hull
from superposition.codes.on_vectors import train_on_vectors
from superposition.codes.pair_credits import credit, random_loudness_bound, symmetric_squares, two_loudness_share
from superposition.codes.partners import antipodal_optimum, best_digon, digon, partner_loss, partner_optimum
from superposition.codes.plain_training import train_plain
from superposition.codes.planes import LARGEST_FAN
from superposition.codes.ranges import LARGEST_INHIBITION, LARGEST_PARTNER, LARGEST_WEIGHT
from superposition.codes.rare_features import (
    antipodal_constant,
    counting_bound,
    drop_bounds,
    rug_at_small_p,
    rug_constant,
    shallow_cells,
)
from superposition.codes.stored_bounds import best_bound, certificates, certified_bound, rivals_bound
from superposition.codes.swept import LARGEST_SWEPT, swept_fan, swept_loss
from superposition.codes.tempered import noisy_code_loss, tuned_code
from superposition.codes.tile_search import measured_code_loss, search_tile
from superposition.codes.verified_bounds import lies_below, proves

__all__ = [
    "DIGON_CONSTANT", "GRAPH_PARAMETERS", "LARGEST_FAN", "LARGEST_INHIBITION", "LARGEST_PARTNER", "LARGEST_SWEPT",
    "LARGEST_WEIGHT", "Best", "Candidate", "Code", "Decoder", "GraphTile", "Hull", "LayeredTile", "Priced",
    "annealed_conflicts", "annealed_levels", "antipodal_constant", "antipodal_optimum", "balanced", "best_along",
    "best_bound", "best_codes", "best_decoder", "best_digon", "best_known", "best_known_constant", "bound_at_any_size",
    "candidate_code", "candidate_codes", "certificates", "certified_bound", "chain_code", "chain_loss", "code_loss",
    "cone", "conflict_cost", "conflict_score", "counting_bound", "credit", "digon", "drop_bounds", "dropping_ratio",
    "fan_loss", "fewest_conflicts", "fewest_conflicts_in_space", "graph_adjacency", "graph_code", "graph_tile",
    "hierarchical_bound", "hull", "hulls", "layered_rug", "layered_tile", "lemma_score", "lies_below", "limit_cost",
    "lower_hull", "lowest_score", "measured_code_loss", "measured_loss", "network_loss", "noisy_code_loss",
    "output_moments", "partner_loss", "partner_optimum", "priority_fan", "proves", "random_loudness_bound",
    "random_tiles", "rivals_bound", "rug_at_small_p", "rug_code", "rug_constant", "search_tile", "shallow_cells",
    "side_by_side", "simulated_code_loss", "strongly_regular_parameters", "swept_fan", "swept_loss",
    "symmetric_squares", "symmetrisable_bound", "train_blocks", "train_dense", "train_exclusive_first", "train_growing",
    "train_on_vectors", "train_plain", "truncated_squares", "tuned_code", "two_loudness_share", "under_budget",
]  # fmt: skip
