"""Features that occur together, and features that never meet: the loss of each kind.

Features are in groups of G. Each is on with probability p, and with probability s if a given partner is on: s = p is
independence, and s = 0 means that partners never meet.

Source: ours; the open question of The Persian Rug, section 5.3, on correlated data.
"""

from superposition.correlated.company_field import company_losses, state_losses
from superposition.correlated.exclusive import (
    best_noise_gain,
    exclusive_code,
    exclusive_loss,
    least_noise_gain,
    noise_gain,
)
from superposition.correlated.exclusive_training import descend_exclusive
from superposition.correlated.facet_codes import (
    clique_number_at_least,
    exact_failures,
    graph_code_for,
    most_dimensions,
    topic_code,
)
from superposition.correlated.finite_rugs import rug_loss, simulated_rug_loss
from superposition.correlated.graphs import colour_code_for, largest_error
from superposition.correlated.grouped_rugs import grouped_rug, rug_ratios, simulated_grouped_loss
from superposition.correlated.moments import linear_border, linear_loss, partner_correlation
from superposition.correlated.pairs import merged_bound, pairs_in_plane, shared_line_loss
from superposition.correlated.plane_training import descend_pairs, partner_arrangement
from superposition.correlated.presence import presence_losses, presence_reader
from superposition.correlated.training import train_grouped

__all__ = [
    "best_noise_gain", "clique_number_at_least", "colour_code_for", "company_losses", "descend_exclusive",
    "descend_pairs", "exact_failures", "exclusive_code", "exclusive_loss", "graph_code_for", "grouped_rug",
    "largest_error", "least_noise_gain", "linear_border", "linear_loss", "merged_bound", "most_dimensions",
    "noise_gain", "pairs_in_plane", "partner_arrangement", "partner_correlation", "presence_losses", "presence_reader",
    "rug_loss", "rug_ratios", "shared_line_loss", "simulated_grouped_loss", "simulated_rug_loss", "state_losses",
    "topic_code", "train_grouped",
]  # fmt: skip
