"""The Persian Rug: how many sparse features one layer holds, and what beats the text's answer.

What stands here is theory, in float64. Behind it: `superposition.rug.rugs` (weights of every size),
`superposition.rug.scaling` and `superposition.rug.loss_bounds` (how the loss vanishes), `superposition.rug.mixtures`
(phases), `superposition.rug.lower_bound` and `superposition.rug.drop` (how far down anyone can go),
`superposition.rug.price` (what loud and quiet codes need), `superposition.rug.decoders` (more than one step),
`superposition.rug.placing` (a picture of a diagnosis), and, with torch, `superposition.rug.training`.

Source: The Persian Rug (Cowsik, Dolev and Infanger).
"""

from superposition.rug.bayes import bayes_decoder, bayes_loss
from superposition.rug.best_map import best_known
from superposition.rug.codes import cone, fan_loss, priority_fan
from superposition.rug.decoders import decode, decode_rug, final_loss, recovery_ratio, state_evolution
from superposition.rug.diagnosis import Diagnosis, diagnose
from superposition.rug.dictionaries import dictionary, nonnegative_lasso, scores
from superposition.rug.exact_losses import code_loss
from superposition.rug.feature_laws import FeatureLaw
from superposition.rug.jumprelu import JumpOptimum, jumprelu_optimum
from superposition.rug.meanfield import Gradient, Optimum, linear_loss, loss, loss_grad, noise_std, optimum
from superposition.rug.mixtures import hull
from superposition.rug.partners import antipodal_loss, antipodal_optimum, best_digon, digon
from superposition.rug.rugs import Rug, row_loss

__all__ = [
    "Diagnosis",
    "FeatureLaw",
    "Gradient",
    "JumpOptimum",
    "Optimum",
    "Rug",
    "antipodal_loss",
    "antipodal_optimum",
    "bayes_decoder",
    "bayes_loss",
    "best_digon",
    "best_known",
    "code_loss",
    "cone",
    "decode",
    "decode_rug",
    "diagnose",
    "dictionary",
    "digon",
    "fan_loss",
    "final_loss",
    "hull",
    "jumprelu_optimum",
    "linear_loss",
    "loss",
    "loss_grad",
    "noise_std",
    "nonnegative_lasso",
    "optimum",
    "priority_fan",
    "recovery_ratio",
    "row_loss",
    "scores",
    "state_evolution",
]
