"""Better codes than the rug: loud and quiet features, antipodal pairs, tiles and mixtures of them.

What stands here is theory, in float64. Behind it: `superposition.codes.lower_bound` and
`superposition.codes.rare_features` (how far down anyone can go), `superposition.codes.price` (what loud and quiet codes
need), `superposition.codes.graphs` (tiles made of graphs) and, with torch, `superposition.codes.tile_search`.

Source: ours, beyond The Persian Rug.
"""

from superposition.codes.best_map import best_known
from superposition.codes.exact_losses import code_loss
from superposition.codes.fans import cone, fan_loss, priority_fan
from superposition.codes.mixtures import hull
from superposition.codes.partners import antipodal_loss, antipodal_optimum, best_digon, digon

__all__ = [
    "antipodal_loss",
    "antipodal_optimum",
    "best_digon",
    "best_known",
    "code_loss",
    "cone",
    "digon",
    "fan_loss",
    "hull",
    "priority_fan",
]
