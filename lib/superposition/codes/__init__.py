"""Better codes than the rug: loud and quiet features, swept fans, antipodal pairs, tiles and mixtures of them.

What stands here is theory, in float64; every argument is checked, and a ValueError says what is allowed. Behind it,
unchecked: `superposition.codes.lower_bound` and `superposition.codes.rare_features` (how far down anyone can go),
`superposition.codes.budgets` (what loud and quiet codes need), `superposition.codes.layered_tiles` and, with torch,
`superposition.codes.tile_search` and `superposition.codes.dense_training`. There W is a product W_out W_in, (B, B), of
one block, b its bias, p the probability that a feature is on, in (0, 1], and r the compression ratio, in (0, 1].

Source: ours, beyond The Persian Rug.
"""

from superposition.codes.face import (
    antipodal_loss,
    antipodal_optimum,
    best_decoder,
    best_digon,
    best_known,
    bound_at_any_size,
    code_loss,
    cone,
    counting_bound,
    digon,
    fan_loss,
    graph_code,
    graph_tile,
    hull,
    priority_fan,
    swept_fan,
    swept_loss,
)
from superposition.codes.pair_credits import (
    averaged_share,
    credit,
    random_loudness_bound,
    symmetric_squares,
    two_loudness_share,
)
from superposition.codes.stored_bounds import best_bound, certified_bound, rivals_bound

__all__ = [
    "antipodal_loss",
    "antipodal_optimum",
    "averaged_share",
    "best_bound",
    "best_decoder",
    "best_digon",
    "best_known",
    "bound_at_any_size",
    "certified_bound",
    "code_loss",
    "cone",
    "counting_bound",
    "credit",
    "digon",
    "fan_loss",
    "graph_code",
    "graph_tile",
    "hull",
    "priority_fan",
    "random_loudness_bound",
    "rivals_bound",
    "swept_fan",
    "swept_loss",
    "symmetric_squares",
    "two_loudness_share",
]
