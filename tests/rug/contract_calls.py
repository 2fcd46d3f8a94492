"""One valid call of each public name, small enough to be made a few hundred times."""

import functools
from importlib.util import find_spec

import numpy as np
from superposition import rug

RUG = rug.Rug(8, 3, indices=[3, 5, 6])
POINT = {"a": 1.2, "b": -0.4, "sigma": 0.25, "p": 0.05}
ONE = {"a": 1.2, "b": -0.4, "p": 0.05}
AT = {"p": 0.05, "r": 0.2}
SIZE = {"ns": 8, "nd": 3}
SEEN = {"y": 0.4, "sigma": 0.25}
ROW = {"off_diagonal": np.array([0.3, -0.2, 0.1])}
W = np.array([[1.0, 0.2, -0.1], [0.3, 0.9, 0.2], [-0.2, 0.1, 1.1]])
HISTORY = np.array([3.0, 2.0, 1.0, 1.0, 1.0])

CALLS = [
    (rug.Rug, {"ns": 6, "nd": 2, "seed": 0, "antipodal": False}),
    (RUG.apply, {"x": np.ones(8)}),
    (rug.loss, POINT),
    (rug.loss_grad, POINT),
    (rug.best_gain, {"z": -1.5, "sigma": 0.25, "p": 0.05}),
    (rug.noise_std, AT),
    (rug.linear_loss, AT),
    (rug.optimum, AT),
    (rug.bayes_loss, {"p": 0.05, "sigma": 0.25}),
    (rug.bayes_decoder, {**SEEN, "p": 0.05}),
    (rug.jumprelu_optimum, AT),
    (rug.row_loss, {**ROW, **ONE}),
    (rug.simulated_loss, {"rug": RUG, **ONE, "samples": 4, "seed": 0, "progress": print}),
    (rug.walsh_hadamard, {"x": np.array([1.0, 2.0, 3.0, 4.0])}),
    (rug.row_statistics, {"W": W, "b": np.array([0.1, 0.0, -0.1]), "p": 0.05}),
    (rug.absolute_third_moment, {"p": 0.05}),
    (rug.feature_cumulants, {"p": 0.05}),
    (rug.lyapunov_ratio, ROW),
    (rug.row_cumulants, {"power_sums": np.array([0.1, 0.5, 0.1, 0.2]), "p": 0.05}),
    (rug.mean_power_sums, {**SIZE, "antipodal": False}),
    (rug.zero_sum_triples, {"rug": RUG}),
    (rug.edgeworth_excess, {"cumulants": np.array([0.05, 0.001, 0.0002]), **ONE}),
    (rug.exact_excess, {**ROW, **ONE}),
    (rug.partner_loss, {"weight": -0.5, **ONE, "r": 0.2}),
    (rug.rug_loss, {"rug": RUG, **ONE}),
    (rug.skewness_spread, SIZE),
    (rug.on_terms, {"t": 2.0, "sigma": 0.05}),
    (rug.on_term_bounds, {"t": 2.0, "sigma": 0.05}),
    (rug.cut_off_error, {"t": 2.0, "sigma": 0.05}),
    (rug.loss_upper_bound, {"p": 0.05, "t": 2.0, "sigma": 0.05}),
    (rug.loss_lower_bound, AT),
    (rug.mmse, {"sigma": 0.25}),
    (rug.posterior_mean, SEEN),
    (rug.posterior_variance, SEEN),
    (rug.inside_probability, SEEN),
    (rug.window_probability, {"sigma": 0.25}),
    (rug.window_constant, {"sigma": 0.25}),
    (rug.off_moment, {"t": 2.0}),
    (rug.small_noise_threshold, {"p": 0.05, "bias_cost": 0.25}),
    (rug.small_noise_factor, {"p": 0.05, "bias_cost": 0.25}),
    (rug.drop_ratio, {"p": 0.05, "kappa": 1.5}),
    (rug.drop_threshold, {"kappa": 1.5}),
    (rug.drop_loss, {"kappa": 1.5}),
    (rug.loss_in_the_drop, {"p": 0.05, "kappa": 1.5}),
    (rug.half_ratio, {"p": 0.05}),
    (rug.smallest_noise, SIZE),
    (rug.welch_bound, SIZE),
    (rug.with_unit_diagonal, {"W": W}),
    (rug.row_noise, {"W": W}),
    (rug.noise_chain, {"W": W, "nd": 3}),
    (rug.symmetrised_code, {"W": W, "nd": 2}),
    (rug.descend_on_noise, {**SIZE, "seed": 0, "steps": 2}),
    (rug.frame_potential, {"vectors": W}),
    (rug.unit_vectors, {**SIZE, "seed": 0}),
    (rug.random_projector, {**SIZE, "seed": 0}),
    (rug.tight_frame, {**SIZE, "seed": 0, "rounds": 2}),
    (rug.rug_directions, {"rug": RUG, "seed": 0}),
    (rug.rate_at_shift, {"shift": 0.3, **SIZE, "p": 0.05}),
    (rug.training_protocol, {"name": "recipe", **SIZE, "p": 0.05}),
    (rug.first_pause, {"history": HISTORY, "window": 2}),
    (rug.first_step_below, {"history": HISTORY, "level": 1.5, "window": 2}),
    (rug.layered_indices, {**SIZE, "bits": 1, "seed": 0}),
    (rug.decoded_rug_loss, {"rug": RUG, "p": 0.2, "samples": 20, "seed": 0}),
]


@functools.wraps(rug.affordable_steps)
def afforded(**call):
    """The steps alone: the seconds are measured."""
    return rug.affordable_steps(**call)[0]


CALLS += [(rug.step_cost, {"ns": 8, "nd": 3, "batch": 4})]


def trainings():
    """Calls that need torch."""
    import torch

    how = {**SIZE, "p": 0.2, "steps": 2, "batch": 8, "lr": 0.01}
    where = {"seed": 0, "device": "cpu"}
    chosen = {"schedule": "constant", "protocol": "recipe", "products": "float32", "start": "tied"}
    settings = rug.training_settings(**how, **where, **chosen)
    model = rug.train_autoencoder(**how, **where, eval_samples=8)
    weights = [torch.eye(2), torch.eye(2), torch.zeros(2)]
    return [
        (rug.training_settings, {**how, **where, **chosen}),
        (rug.train_autoencoder, {**how, **where, **chosen, "eval_samples": 8, "gradients": "exact", "progress": print}),
        (rug.train_as_published, {**SIZE, "p": 0.2, "epochs": 1, **where, "progress": print}),
        (
            rug.train_as_published_on_device,
            {**SIZE, "p": 0.2, "epochs": 1, **where, "products": "float32", "captured": False, "progress": print},
        ),
        (
            rug.train_on_device,
            {
                **how,
                **where,
                "protocol": "recipe",
                "products": "float32",
                "captured": False,
                "eval_samples": 8,
                "progress": print,
            },
        ),
        (rug.train_meanfield, {**SIZE, "p": 0.2, "steps": 2, "lr": 0.01, **where, "progress": print}),
        (rug.train_meanfield_on_samples, {"settings": settings, "progress": print}),
        (
            rug.continue_training,
            {"model": model, "steps": 1, "lr": 0.01, "seed": 0, "eval_samples": 8, "progress": print},
        ),
        (rug.closed_form_loss, {"model": model}),
        (afforded, {"ns": 8, "nds": [3], "seconds": 60.0, "steps": 2, "p": 0.2, "batch": 8, "device": "cpu"}),
        (rug.autoencoder_output, {"weights": weights, "x": torch.ones(1, 2)}),
        (rug.descend_on_eigenvalues, {**how, **where, "progress": print}),
    ]


CALLS += trainings() if find_spec("torch") else []
