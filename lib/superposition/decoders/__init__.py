"""Reading a code: more than one element-wise step, and sparse autoencoders on activations whose truth is known.

What stands here is theory, in float64. Behind it: `superposition.decoders.shared_directions` (what no decoder can
undo), `superposition.decoders.planar_decoders` and, with torch, `superposition.decoders.dictionary_training`.

Source: ours, beyond The Persian Rug.
"""

from superposition.decoders.dictionaries import dictionary, nonnegative_lasso, scores
from superposition.decoders.ladder import decode, decode_rug, final_loss, recovery_ratio, state_evolution

__all__ = [
    "decode",
    "decode_rug",
    "dictionary",
    "final_loss",
    "nonnegative_lasso",
    "recovery_ratio",
    "scores",
    "state_evolution",
]
