"""One valid call of each public function of the wing, small enough to be made a few hundred times."""

from functools import wraps

import numpy as np
from superposition.codes import (
    best_map,
    budgets,
    conflict_search,
    dense_training,
    exact_losses,
    fans,
    graphs,
    layered_tiles,
    lower_bound,
    mixtures,
    partners,
    price,
    rare_features,
    small_p,
    tile_search,
)
from superposition.decoders import dictionaries, dictionary_training, ladder, planar_decoders, shared_directions
from superposition.diagnosis import ablations, autoencoder, feature_laws, record_verifier
from superposition.frequencies import allocations, few_active_features, sharing, unequal_training
from superposition.rug import (
    bayes,
    gaussian_training,
    index_sets,
    interference,
    jumprelu,
    loss_bounds,
    meanfield,
    model,
    noise_bound,
    protocols,
    rugs,
    scaling,
    stopping,
    tight_frames,
    training,
    walsh_descent,
)

RUG = rugs.Rug(8, 3, indices=[3, 5, 6])
PAIRS = rugs.Rug(8, 4, antipodal=True)
ROW = np.array([0.3, -0.2, 0.1])
SQUARE = np.array([[1.0, -0.4, 0.1], [0.3, 1.2, -0.2], [0.0, 0.1, 0.9]])
POINT = {"a": 1.2, "b": -0.4, "sigma": 0.25, "p": 0.05}
AT = {"p": 0.05, "r": 0.2}
SEEN = {"y": 0.4, "sigma": 0.1}
SIZES = {"ns": 6, "nd": 3}
CODE = fans.priority_fan(4, 10.0)
TILE = graphs.graph_tile("Clebsch", 0.1, inhibition=0.0)
UNEQUAL = np.array([0.5, 0.2, 0.1])
DRAWS = {"samples": 4, "seed": 0}
TRUTH = dictionaries.dictionary(8, 4)
SEEN_FEATURES, ACTIVATIONS = TRUTH.activations(3, seed=0)
OUTPUT = {"a": 1.2, "b": -0.4, "p": 0.05}


def seeded(function):
    """A function that draws from a generator of torch, which another draw would move on."""

    @wraps(function)
    def drawn(**arguments):
        import torch

        return function(**arguments, generator=torch.Generator().manual_seed(0))

    return drawn


HISTORY = np.array([0.5, 0.4, 0.3, 0.35, 0.36])


def loss_of(train):
    """The loss of what was trained: the weights themselves are float32."""

    @wraps(train)
    def trained(**arguments):
        return train(**arguments).loss

    return trained


def last_of(steps):
    """What a generator gives last."""

    @wraps(steps)
    def run(**arguments):
        return list(steps(**arguments))[-1]

    return run


def first_of(train):
    """Directions of the first of what was trained."""

    @wraps(train)
    def trained(**arguments):
        return train(**arguments)[0].W_dec

    return trained


CALLS = [
    (ablations.structure, {"W": SQUARE}),
    (ablations.loudness, {"relative": SQUARE}),
    (ablations.ablations, {"W": SQUARE, "p": 0.05} | DRAWS),
    (
        budgets.under_budget,
        {"budget": "digits", "strength": 32.0, "kind": "rug", "p": 0.05} | DRAWS,
    ),
    (budgets.rounded_loss, {"code": CODE, "p": 0.05, "bits": 32} | DRAWS),
    (autoencoder.diagnose, {"W": SQUARE[:2, :2], "b": ROW[:2], "p": 0.05, "nd": 1} | DRAWS),
    (autoencoder.diagnose, {"W": SQUARE[:, :2], "W_out": SQUARE[:2], "b": ROW[:2], "p": 0.05} | DRAWS),
    (autoencoder.diagnose, {"W": SQUARE, "b": ROW, "law": feature_laws.uniform_law(0.1)} | DRAWS),
    (feature_laws.FeatureLaw, {"mean": 0.05, "variance": 0.37 / 12, "sampler": feature_laws.uniform_law(0.1).sampler}),
    (feature_laws.uniform_law, {"p": 0.05}),
    (feature_laws.uniform_nodes, {"p": 0.05}),
    (feature_laws.gaussian_loss, {"a": 1.2, "b": -0.4, "s": 0.3, "nodes": feature_laws.uniform_nodes(0.05)}),
    (feature_laws.rug_optimum, {"law": feature_laws.uniform_law(0.1), "r": 0.2}),
    (dictionaries.dictionary, {"ns": 8, "nd": 4, "kind": "rug", "p": 0.05, "exponent": 0.5, "seed": 0}),
    (
        dictionaries.scores,
        {"truth": TRUTH, "x": SEEN_FEATURES, "codes": np.eye(3, 5), "directions": np.ones((4, 5)), "threshold": 0.1}
        | {"offset": np.full(4, 0.1)},
    ),
    (
        dictionaries.nonnegative_lasso,
        {"hidden": ACTIVATIONS, "directions": TRUTH.directions, "lambda_": 0.1, "iterations": 3},
    ),
    (
        first_of(dictionary_training.train_saes),
        {"truth": TRUTH, "lambdas": np.array([0.1]), "latents": 3, "steps": 2, "batch": 4, "lr": 0.01, "seed": 0},
    ),
    (meanfield.loss, POINT),
    (meanfield.loss_grad, POINT),
    (meanfield.noise_std, AT),
    (meanfield.linear_loss, AT),
    (meanfield.optimum, AT),
    (bayes.bayes_loss, {"p": 0.05, "sigma": 0.25}),
    (bayes.bayes_decoder, {"y": 0.4, "sigma": 0.25, "p": 0.05}),
    (ladder.state_evolution, AT | {"iterations": 2}),
    (ladder.extrinsic, {"v": 0.5, "sigma": 1.0}),
    (ladder.recovery_ratio, {"p": 0.05}),
    (ladder.final_loss, {"p": 0.05, "r": 0.1}),
    (ladder.decode, {"hidden": ROW[:2], "W_in": SQUARE[:2], "p": 0.05, "iterations": 2}),
    (last_of(ladder.decode_rug), {"readout": np.ones((2, 8)), "rug": RUG, "p": 0.05, "iterations": 2}),
    (shared_directions.digon_bayes_loss, {"p": 0.05, "c": 2.0}),
    (shared_directions.pair_posterior, {"y": 0.4, "sigma": 0.25, "p": 0.05}),
    (shared_directions.pair_evolution, AT | {"iterations": 2}),
    (
        last_of(shared_directions.decode_antipodal),
        {"readout": np.ones((2, 8)), "rug": PAIRS, "p": 0.05, "iterations": 2},
    ),
    (planar_decoders.planar_bayes_loss, {"W_in": SQUARE[:2], "p": 0.05} | DRAWS),
    (jumprelu.jumprelu_optimum, AT),
    (partners.loss, {**POINT, "c": 0.7}),
    (partners.optimum, {"sigma": 0.25, "c": 0.7, "p": 0.05}),
    (partners.digon, {"p": 0.05, "c": 2.0}),
    (partners.best_digon, {"p": 0.05}),
    (partners.antipodal_loss, POINT),
    (partners.antipodal_optimum, AT),
    (mixtures.hull, {"p": 0.05, "points": 10, "without": ("antipodal", "digon")}),
    (mixtures.hulls, {"p": np.array([0.05]), "points": 10, "without": ("antipodal", "digon")}),
    (mixtures.tangent, {"p": 0.05}),
    (rugs.Rug, {"ns": 6, "nd": 2, "seed": 0, "antipodal": False}),
    (rugs.walsh_hadamard, {"x": np.array([1.0, 2.0, 0.0, 0.5])}),
    (rugs.simulated_loss, {"rug": RUG, **OUTPUT, "samples": 4, "seed": 0}),
    (tight_frames.rug_directions, {"rug": RUG, "seed": 0}),
    (rugs.row_loss, {"off_diagonal": ROW, **OUTPUT}),
    (interference.feature_cumulants, {"p": 0.05}),
    (interference.absolute_third, {"p": 0.05}),
    (interference.lyapunov, {"off_diagonal": ROW}),
    (interference.row_cumulants, {"power_sums": np.array([-1.0, 2.0, 0.1, 0.5]), "p": 0.05}),
    (interference.mean_power_sums, {"ns": 16, "nd": 5, "antipodal": False}),
    (interference.excess, {"cumulants": np.array([0.06, 0.001, 0.002]), **OUTPUT}),
    (interference.exact_excess, {"off_diagonal": ROW, **OUTPUT}),
    (interference.partner_loss, {"weight": -0.5, **OUTPUT, "r": 0.2}),
    (interference.rug_loss, {"rug": RUG, **OUTPUT}),
    (loss_bounds.on_terms, {"t": 1.5, "sigma": 0.1}),
    (loss_bounds.on_bounds, {"t": 1.5, "sigma": 0.1}),
    (loss_bounds.cut_off_error, {"t": 1.5, "sigma": 0.1}),
    (loss_bounds.upper_bound, {"p": 0.05, "t": 1.5, "sigma": 0.1}),
    (loss_bounds.mmse, {"sigma": 0.1}),
    (loss_bounds.lower_bound, AT),
    (loss_bounds.posterior_mean, SEEN),
    (loss_bounds.posterior_variance, SEEN),
    (loss_bounds.inside_probability, SEEN),
    (loss_bounds.window_probability, {"sigma": 0.1}),
    (loss_bounds.window_constant, {"sigma": 0.1}),
    (noise_bound.smallest_noise, SIZES),
    (noise_bound.normalised, {"W": SQUARE}),
    (noise_bound.row_noise, {"W": SQUARE}),
    (noise_bound.chain, {"W": SQUARE, "nd": 3}),
    (noise_bound.welch, SIZES),
    (noise_bound.symmetrised, {"W": SQUARE, "nd": 2}),
    (noise_bound.descend, {**SIZES, "seed": 0, "steps": 2}),
    (tight_frames.frame_potential, {"vectors": SQUARE}),
    (tight_frames.unit_vectors, {**SIZES, "seed": 0}),
    (tight_frames.projector, {**SIZES, "seed": 0}),
    (tight_frames.tight_frame, {**SIZES, "seed": 0, "rounds": 2}),
    (scaling.off_moment, {"t": 1.5}),
    (scaling.no_room_gain, {"p": 0.05, "t": 1.5, "sigma": 100.0}),
    (scaling.threshold, {"p": 0.05, "bias_cost": 0.25}),
    (scaling.small_noise_factor, {"p": 0.05, "bias_cost": 0.25}),
    (scaling.drop_ratio, {"p": 0.01, "kappa": 1.5}),
    (scaling.drop_threshold, {"kappa": 1.5}),
    (scaling.drop_loss, {"kappa": 1.5}),
    (scaling.drop_bayes, {"kappa": 1.5}),
    (scaling.loss_in_the_drop, {"p": 0.01, "kappa": 1.5}),
    (scaling.half_ratio, {"p": 0.05}),
    (layered_tiles.rug, {"bits": 2, "least": 1}),
    (layered_tiles.all_tiles, {"largest": 2, "low": 0.1, "high": 0.6}),
    (model.row_statistics, {"W": SQUARE, "b": ROW, "p": 0.05}),
    (protocols.rate_at_shift, {"shift": 0.6, "ns": 64, "nd": 13, "p": 0.05}),
    (protocols.protocol, {"name": "recipe", "ns": 64, "nd": 13, "p": 0.05}),
    (
        loss_of(training.train),
        {"ns": 4, "nd": 2, "p": 0.5, "steps": 1, "batch": 64, "lr": 1e-3, "schedule": "cosine", "protocol": "recipe"}
        | {"seed": 0, "device": "cpu", "eval_samples": 2},
    ),
    (gaussian_training.row_losses, {"a": 1.2, "b": -0.4, "variance": 0.06, "p": 0.05}),
    (
        loss_of(gaussian_training.train_meanfield),
        {"ns": 4, "nd": 2, "p": 0.5, "steps": 1, "lr": 1e-3, "seed": 0, "device": "cpu"},
    ),
    (stopping.first_pause, {"history": HISTORY, "window": 1}),
    (stopping.first_below, {"history": HISTORY, "level": 0.38, "window": 1}),
    (walsh_descent.partner_share, {"indices": np.array([1, 3]), "ns": 4}),
    (walsh_descent.layered_indices, {"ns": 8, "nd": 3, "bits": 2, "seed": 0}),
    (
        loss_of(walsh_descent.descend),
        {"ns": 4, "nd": 2, "p": 0.5, "steps": 1, "lr": 0.01, "batch": 4, "seed": 0, "device": "cpu"},
    ),
    (meanfield.checked_ratio, {"r": 0.2}),
    (mixtures.hull(0.05, points=10).at, {"r": 0.2}),
    (mixtures.hull(0.05, points=10).parts, {"r": 0.2}),
    (RUG.apply, {"x": np.ones(8)}),
    (index_sets.skewness_spread, {"ns": 8, "nd": 3}),
    (sharing.power_law, {"ns": 4, "exponent": 1.5, "total": 0.5}),
    (sharing.shares, {"W_in": np.array([[1.0, 0.5, 0.2], [0.1, -0.4, 0.3]]), "p": UNEQUAL}),
    (sharing.tied_shares, {"p": UNEQUAL, "nd": 2}),
    (sharing.even_shares, {"p": UNEQUAL, "nd": 2}),
    (sharing.rug_losses, {"p": 0.1, "share": 0.4}),
    (sharing.unequal_rug, {"p": UNEQUAL, "share": np.array([0.8, 0.7, 0.5]), "seed": 0}),
    (few_active_features.crowd, {"p": UNEQUAL, "share": np.array([0.8, 0.7, 0.5]), **DRAWS}),
    (few_active_features.few_active_losses, {"p": UNEQUAL, "share": np.array([0.8, 0.7, 0.5]), **DRAWS}),
    (few_active_features.tuned_losses, {"W": np.eye(3), "p": UNEQUAL, **DRAWS}),
    (allocations.allocate, {"p": UNEQUAL, "nds": [2], "importance": 2.0, "phases": ["fan"]}),
    (
        loss_of(unequal_training.train_unequal),
        {"p": UNEQUAL, "nd": 2, "importance": 2.0, "steps": 1, "batch": 2, "lr": 0.01, "seed": 0, "eval_samples": 64},
    ),
    (best_map.best_known, {"p": 0.05, "r": 0.2, "largest_fan": best_map.LARGEST_FAN, "also": [("tile", 0.3, 0.01)]}),
    (best_map.best_codes, {"p": 0.05, "largest_fan": best_map.LARGEST_FAN, "also": [("tile", 0.3, 0.01)]}),
    (best_map.along, {"p": 0.05, "r": [0.1, 0.5], "largest_fan": best_map.LARGEST_FAN, "also": [("tile", 0.3, 0.01)]}),
    (best_map.best_known(0.05, 0.2).blocks, {"ns": 64}),
    (best_map.rug_code, {"size": 8, "r": 0.25, "p": 0.05, "antipodal": True}),
    (best_map.dropped, {"size": 3, "p": 0.05}),
    (best_map.side_by_side, {"blocks": [CODE, CODE]}),
    (fans.priority_fan, {"B": 5, "ratio": 2.0}),
    (fans.cone, {"B": 5, "ratio": 2.0}),
    (fans.hiders, {"B": 5}),
    (fans.fan_loss, {"p": 0.05, "B": 5}),
    (
        dense_training.train_dense,
        {"ns": 4, "nd": 2, "p": 0.5, "method": "plain", "steps": 1, "batch": 2, "lr": 0.01, "fresh": 4, "seed": 0},
    ),
    (
        seeded(dense_training.random_tiles),
        {"m": 2, "B": 4, "p": 0.5, "copies": 1, "steps": 1, "batch": 2},
    ),
    (
        dense_training.train_blocks,
        {"ns": 10, "nd": 4, "p": 0.5, "blocks": 2, "copies": 1, "steps": 1, "fresh": 4, "seed": 0},
    ),
    (rare_features.drop_bounds, {"kappa": 1.5}),
    (rare_features.counting_bound, AT),
    (exact_losses.code_loss, {"W": SQUARE, "b": ROW, "p": 0.05, "rtol": 0.5}),
    (exact_losses.output_moments, {"others": ROW, "own": 1.0, "b": -0.1, "p": 0.05, "rtol": 0.5}),
    (exact_losses.best_decoder, {"W": SQUARE, "p": 0.05, "rtol": 0.5}),
    (exact_losses.simulated_code_loss, {"W": SQUARE, "b": ROW, "p": 0.05} | DRAWS),
    (graphs.adjacency, {"name": "Clebsch"}),
    (graphs.strongly_regular, {"A": graphs.adjacency("Clebsch")}),
    (graphs.graph_row, {"name": "Clebsch", "inhibition": 0.1}),
    (graphs.graph_tile, {"name": "Clebsch", "p": 0.001, "inhibition": 0.1}),
    (graphs.graph_code, {"tile": TILE, "p": 0.1}),
    (graphs.best_gain_and_bias, {"off_diagonal": ROW, "p": 0.05}),
    (budgets.takeovers, {"kinds": ["fan", "rug"], "strengths": [1.0, 2.0], "costs": [0.4, 1.0]}),
    (conflict_search.lowest, {"score": np.sum, "n": 3, "m": 2, "tries": 1, "seed": 0}),
    (conflict_search.charged_cost, {"W": SQUARE}),
    (conflict_search.fewest_conflicts, {"dots": SQUARE, "order": [0, 1]}),
    (conflict_search.annealed_conflicts, {"m": 2, "n": 4, "steps": 3, "seed": 0}),
    (lower_bound.conflict_cost, {"alpha": 0.5}),
    (lower_bound.mutual_cost, {"t": 0.5}),
    (lower_bound.limit_cost, {"W": SQUARE}),
    (lower_bound.truncated_squares, {"W": SQUARE}),
    (lower_bound.general_bound, {"r": 0.2}),
    (lower_bound.symmetrisable_bound, {"r": 0.2}),
    (lower_bound.hierarchical_bound, {"r": 0.2}),
    (lower_bound.best_constant, {"r": 0.2}),
    (price.ratio_within, {"B": 4, "largest": 4.0}),
    (price.bounded_fan, {"p": 0.05, "B": 4, "largest": 4.0}),
    (price.norm_cost, {"W": SQUARE}),
    (price.decayed, {"p": 0.05, "B": 4, "kind": "cone", "lambda_": 0.5}),
    (price.noisy_loss, {"code": CODE, "p": 0.05, "noise": 0.5} | DRAWS),
    (record_verifier.check, {"W": SQUARE, "b": ROW, "p": 0.05} | DRAWS),
    (record_verifier.rank_of, {"W": SQUARE}),
    (small_p.rug_constant, {"r": 0.2}),
    (small_p.antipodal_constant, {"r": 0.2}),
    (small_p.rug_at_small_p, {"p": 0.005, "r": 0.2}),
    (tile_search.measured_loss, {"W_in": SQUARE, "W_out": SQUARE, "b": ROW, "p": 0.05} | DRAWS),
    (walsh_descent.decoded_loss, {"rug": RUG, "p": 0.05} | DRAWS),
]
