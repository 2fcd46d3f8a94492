"""Reading a code: more than one element-wise step, and sparse autoencoders on activations whose truth is known.

What stands here is theory, in float64; every argument is checked, and a ValueError says what is allowed. Behind it,
unchecked: `superposition.decoders.shared_directions` (what no decoder can undo), `superposition.decoders.families`
(what becomes of parents and children), `superposition.decoders.ands` (ANDs of pairs of features) and, with torch,
`superposition.decoders.dictionary_training`. There p is the probability that a feature is on, in (0, 1], r the
compression ratio, in (0, 1], sigma the standard deviation of Gaussian interference, and iterations at least 1.

Source: ours, beyond The Persian Rug.
"""

from superposition.decoders.face import (
    ceilings,
    coupled_evolution,
    coupled_rug,
    decode,
    decode_coupled,
    decode_rug,
    dictionary,
    digon_bayes_loss,
    final_loss,
    nonnegative_lasso,
    planar_bayes_loss,
    recovery_ratio,
    scores,
    state_evolution,
)

__all__ = [
    "ceilings",
    "coupled_evolution",
    "coupled_rug",
    "decode",
    "decode_coupled",
    "decode_rug",
    "dictionary",
    "digon_bayes_loss",
    "final_loss",
    "nonnegative_lasso",
    "planar_bayes_loss",
    "recovery_ratio",
    "scores",
    "state_evolution",
]
