"""One valid call of each name on the face of the wing, small enough to be made a few hundred times."""

from functools import wraps

import numpy as np
from superposition import decoders, rug

W_IN = np.array([[1.0, -0.4, 0.1], [0.3, 1.2, -0.2]])
TRUTH = decoders.dictionary(8, 4)
CHAIN = decoders.coupled_rug(8, 3, blocks=2, width=2)
FEATURES, ACTIVATIONS = TRUTH.activations(3, seed=0)


def last_of(steps):
    """What a generator gives last."""

    @wraps(steps)
    def run(**arguments):
        return list(steps(**arguments))[-1]

    return run


CALLS = [
    (decoders.decode, {"hidden": np.array([0.3, -0.2]), "W_in": W_IN, "p": 0.05, "iterations": 2}),
    (
        last_of(decoders.decode_rug),
        {"readout": np.ones((2, 8)), "rug": rug.Rug(8, 3, indices=[3, 5, 6]), "p": 0.05, "iterations": 2},
    ),
    (
        last_of(decoders.decode_coupled),
        {"readout": CHAIN.readout(np.ones((2, 16))), "code": CHAIN, "p": 0.05, "iterations": 2},
    ),
    (decoders.coupled_evolution, {"p": 0.05, "density": 0.3, "blocks": 3, "width": 2, "iterations": 2}),
    (decoders.coupled_rug, {"size": 8, "dims": 3, "blocks": 3, "width": 2, "seed": 0}),
    (decoders.ceilings, {"truth": TRUTH, "looks": 2, "samples": 4, "seed": 0}),
    (
        decoders.dictionary,
        {"ns": 8, "nd": 4, "kind": "rug", "p": 0.05, "exponent": 0.5, "p_max": 0.2, "noise": 0.1, "seed": 0},
    ),
    (decoders.dictionary, {"ns": 8, "nd": 4, "children": 0.5}),
    (TRUTH.activations, {"batch": 2, "seed": 0}),
    (decoders.digon_bayes_loss, {"p": 0.05, "c": 2.0}),
    (decoders.final_loss, {"p": 0.05, "r": 0.1}),
    (
        decoders.nonnegative_lasso,
        {"hidden": ACTIVATIONS, "directions": TRUTH.directions, "lambda_": 0.1, "iterations": 3},
    ),
    (decoders.planar_bayes_loss, {"W_in": W_IN, "p": 0.05, "samples": 4, "seed": 0}),
    (decoders.recovery_ratio, {"p": 0.05}),
    (
        decoders.scores,
        {"truth": TRUTH, "x": FEATURES, "codes": np.eye(3, 5), "directions": np.cos(np.arange(20.0)).reshape(4, 5)}
        | {"threshold": 0.1, "offset": np.full(4, 0.1)},
    ),
    (decoders.state_evolution, {"p": 0.05, "r": 0.2, "iterations": 2}),
]
