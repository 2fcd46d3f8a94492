"""One valid call of each public function of the wing, small enough to be made a few hundred times."""

from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from superposition import decoders, rug

W_IN = np.array([[1.0, -0.4, 0.1], [0.3, 1.2, -0.2]])
TRUTH = decoders.dictionary(8, 4)
FAMILIES = decoders.dictionary_of_families(8, 4, children=0.5)
CHAIN = decoders.CoupledRug(8, 3, blocks=2, width=2)
FEATURES, ACTIVATIONS = TRUTH.activations(3, seed=0)
RUG, ANTIPODAL = rug.Rug(8, 3, indices=[3, 5, 6]), rug.Rug(8, 3, antipodal=True)
INPUTS, CHANCE = decoders.all_inputs(3, 0.2)
SAE = decoders.sae_along(TRUTH.directions, 1.0, 0.0, np.zeros(4))
SIGNS = np.array([[1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])
SEEN = {"readout": np.ones((2, 8)), "rug": RUG, "p": 0.05}
PRICED = {"a": 1.0, "b": -0.1, "price": 0.05, "p": 0.05, "r": 0.375}
WEIGHTS = tuple(np.ones((2, *shape)) for shape in ((3, 2), (1, 2), (2, 3), (1, 3)))
CASES = decoders.early_cases(8, 20, 0.05)
FOLDER = TemporaryDirectory()  # until the end of the tests
SAVED = Path(FOLDER.name) / "truth.npz"
TRUTH.save(SAVED)


def last_of(steps):
    """The last value of a generator."""

    @wraps(steps)
    def run(**arguments):
        return list(steps(**arguments))[-1]

    return run


CALLS = [
    (decoders.absorbed_angle, {"price": 0.1}),
    (decoders.all_inputs, {"m": 3, "p": 0.2}),
    (decoders.and_layer, {"s": SIGNS, "x": INPUTS}),
    (decoders.ands_of_pairs, {"x": INPUTS}),
    (decoders.best_and_reader, {"cases": CASES}),
    (decoders.best_pair, {"parent": 0.05, "children": 0.5, "price": 0.1, "latents": 1, "related": True}),
    (decoders.beyond_linear, {"h": INPUTS[:, :2] ** 2, "x": INPUTS, "weight": CHANCE}),
    (decoders.border_price, {"p": 0.05, "r": 0.375}),
    (decoders.code_shape, {"W_in": W_IN}),
    (decoders.ceilings, {"truth": TRUTH, "looks": 2, "samples": 4, "seed": 0}),
    (decoders.CoupledRug, {"size": 8, "dims": 3, "blocks": 3, "width": 2, "seed": 0}),
    (CHAIN.readout, {"x": np.ones((2, 16))}),
    (CHAIN.apply, {"a": 0, "v": np.ones((2, 8))}),
    (decoders.coupled_evolution, {"p": 0.05, "density": 0.3, "blocks": 3, "width": 2, "iterations": 2}),
    (decoders.decode, {"hidden": np.array([0.3, -0.2]), "W_in": W_IN, "p": 0.05, "iterations": 2}),
    (last_of(decoders.decode_antipodal), SEEN | {"rug": ANTIPODAL, "iterations": 2}),
    (
        last_of(decoders.decode_coupled),
        {"readout": CHAIN.readout(np.ones((2, 16))), "code": CHAIN, "p": 0.05, "iterations": 2},
    ),
    (last_of(decoders.decode_in_layers), SEEN | {"layers": 2}),
    (last_of(decoders.decode_rug), SEEN | {"iterations": 2}),
    (decoders.digon_bayes_loss, {"p": 0.05, "c": 2.0}),
    (
        decoders.dictionary,
        {"ns": 8, "nd": 4, "kind": "rug", "p": 0.05, "exponent": 0.5, "p_max": 0.2, "noise": 0.1, "seed": 0},
    ),
    (TRUTH.activations, {"batch": 2, "seed": 0}),
    (
        decoders.dictionary_of_families,
        {"ns": 8, "nd": 4, "kind": "rug", "p": 0.05, "children": 0.5, "noise": 0.1, "seed": 0},
    ),
    (decoders.early_cases, {"m": 8, "N": 20, "p": 0.05}),
    (decoders.early_reading, {"s": SIGNS, "x": INPUTS}),
    (decoders.final_loss, {"p": 0.05, "r": 0.1}),
    (decoders.first_code, {"start": "rug", "ns": 8, "nd": 4, "seed": 0}),
    (decoders.late_cases, {"m": 8, "N": 4, "p": 0.05}),
    (decoders.late_reading, {"rug": rug.Rug(3, 2), "x": INPUTS}),
    (
        decoders.leaning,
        {"truth": FAMILIES, "x": FEATURES, "codes": np.eye(3, 8), "directions": np.cos(np.arange(32.0)).reshape(4, 8)},
    ),
    (decoders.least_priced_loss, {"loss": decoders.truth_loss, "price": 0.05, "p": 0.05, "r": 0.375}),
    (decoders.load_dictionary, {"path": SAVED}),
    (decoders.missed_share, {"h": INPUTS[:, :2] ** 2, "x": INPUTS, "weight": CHANCE}),
    (
        decoders.nonnegative_lasso,
        {"hidden": ACTIVATIONS, "directions": TRUTH.directions, "lambda_": 0.1, "iterations": 3},
    ),
    (decoders.pair_evolution, {"p": 0.05, "r": 0.2, "iterations": 2}),
    (decoders.pairs_loss, PRICED),
    (decoders.planar_bayes_loss, {"W_in": W_IN, "p": 0.05, "samples": 4, "seed": 0}),
    (decoders.random_signs, {"N": 3, "m": 4, "seed": 0}),
    (decoders.recovery_ratio, {"p": 0.05}),
    (decoders.relu_evolution, {"p": 0.05, "r": 0.2, "layers": 2}),
    (decoders.relu_recovery_ratio, {"p": 0.05}),
    (decoders.sae_along, {"directions": TRUTH.directions, "gain": 1.0, "bias": -0.1, "center": np.full(4, 0.1)}),
    (decoders.sae_losses, {"sae": SAE, "price": 0.1, "hidden": ACTIVATIONS}),
    (SAE.encode, {"hidden": ACTIVATIONS}),
    (
        decoders.scores,
        {"truth": TRUTH, "x": FEATURES, "codes": np.eye(3, 5), "directions": np.cos(np.arange(20.0)).reshape(4, 5)}
        | {"threshold": 0.1, "offset": np.full(4, 0.1), "hidden": ACTIVATIONS},
    ),
    (decoders.scores, {"truth": TRUTH, "x": FEATURES, "sae": SAE}),
    (decoders.sign_moments, {"n": 3}),
    (
        decoders.simulated_and_loss,
        {"reading": decoders.ands_of_pairs, "m": 4, "p": 0.1, "a": 1.0, "b": -0.1, "size": 3, "seed": 0},
    ),
    (decoders.state_evolution, {"p": 0.05, "r": 0.2, "iterations": 2}),
    (decoders.truth_loss, PRICED),
    (decoders.unrelated_dictionary, {"truth": FAMILIES}),
]

TRAINING = [
    (decoders.as_relus, {"weights": WEIGHTS, "m": 3}),
    (
        decoders.descend_on_ands,
        {"m": 3, "N": 2, "p": 0.2, "starts": 2, "steps": 2, "seed": 0, "layer": "relu", "reader": "relu"}
        | {"weights": WEIGHTS},
    ),
    (
        decoders.descend_saes,
        {"truth": TRUTH, "starts": [SAE], "prices": np.array([0.1]), "steps": 2, "lr": 0.01, "batch": 4, "seed": 0},
    ),
    (
        decoders.train_layers,
        {"W_in": W_IN, "p": 0.1, "layers": 2, "frozen": False, "steps": 2, "lr": 0.01, "seed": 0}
        | {"batch": 4, "fresh": 2000},
    ),
    (
        decoders.train_saes,
        {"truth": TRUTH, "lambdas": np.array([0.1]), "kind": "relu", "latents": 6, "steps": 2}
        | {"batch": 4, "lr": 0.01, "schedule": (3.0, 0.6), "tangent": False, "seed": 0},
    ),
    (
        decoders.train_batch_topk,
        {"truth": TRUTH, "active": np.array([1.5]), "latents": 6, "steps": 2}
        | {"batch": 4, "lr": 0.01, "schedule": (3.0, 0.6), "seed": 0},
    ),
]
CALLS += TRAINING
