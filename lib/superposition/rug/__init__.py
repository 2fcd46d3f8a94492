"""The Persian Rug: how many sparse features one layer holds, by the text's own answer.

What stands here is theory, in float64. Behind it: `superposition.rug.rugs` (weights of every size),
`superposition.rug.scaling` and `superposition.rug.loss_bounds` (how the loss vanishes), `superposition.rug.noise_bound`
(the least interference) and, with torch, `superposition.rug.training`. What beats it: `superposition.codes`.

Source: The Persian Rug (Cowsik, Dolev and Infanger).
"""

from superposition.rug.bayes import bayes_decoder, bayes_loss
from superposition.rug.jumprelu import JumpOptimum, jumprelu_optimum
from superposition.rug.meanfield import Gradient, Optimum, linear_loss, loss, loss_grad, noise_std, optimum
from superposition.rug.rugs import Rug, row_loss

__all__ = [
    "Gradient",
    "JumpOptimum",
    "Optimum",
    "Rug",
    "bayes_decoder",
    "bayes_loss",
    "jumprelu_optimum",
    "linear_loss",
    "loss",
    "loss_grad",
    "noise_std",
    "optimum",
    "row_loss",
]
