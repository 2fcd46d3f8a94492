"""One valid call of each name on the face, small enough to be made a few hundred times."""

import numpy as np
from superposition import rug

RUG = rug.Rug(8, 3, indices=[3, 5, 6])
POINT = {"a": 1.2, "b": -0.4, "sigma": 0.25, "p": 0.05}
AT = {"p": 0.05, "r": 0.2}

CALLS = [
    (rug.Rug, {"ns": 6, "nd": 2, "seed": 0, "antipodal": False}),
    (RUG.apply, {"x": np.ones(8)}),
    (rug.loss, POINT),
    (rug.loss_grad, POINT),
    (rug.noise_std, AT),
    (rug.linear_loss, AT),
    (rug.optimum, AT),
    (rug.bayes_loss, {"p": 0.05, "sigma": 0.25}),
    (rug.bayes_decoder, {"y": 0.4, "sigma": 0.25, "p": 0.05}),
    (rug.jumprelu_optimum, AT),
    (rug.row_loss, {"off_diagonal": np.array([0.3, -0.2, 0.1]), "a": 1.2, "b": -0.4, "p": 0.05}),
]
