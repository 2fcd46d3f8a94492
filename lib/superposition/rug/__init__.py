"""The Persian Rug: how many sparse features one layer holds, by the text's own answer.

Closed forms are computed in float64; trainings need torch, which is imported at the first call. An argument outside of
its range is refused with a ValueError that names it, its value and the allowed range. Better codes than the rug are in
`superposition.codes`.

Source: The Persian Rug (Cowsik, Dolev and Infanger).
"""

from superposition.rug.bayes import bayes_decoder, bayes_loss
from superposition.rug.device_training import StepCost, step_cost, train_on_device
from superposition.rug.gaussian_loss import closed_form_loss
from superposition.rug.gaussian_training import continue_training, train_meanfield, train_meanfield_on_samples
from superposition.rug.interference import (
    absolute_third_moment,
    edgeworth_excess,
    exact_excess,
    feature_cumulants,
    lyapunov_ratio,
    mean_power_sums,
    partner_loss,
    row_cumulants,
    rug_loss,
    skewness_spread,
    zero_sum_triples,
)
from superposition.rug.jumprelu import JumpOptimum, jumprelu_optimum
from superposition.rug.loss_bounds import (
    INSIDE_FLOOR,
    PROOF_CONSTANT,
    cut_off_error,
    inside_probability,
    loss_lower_bound,
    loss_upper_bound,
    mmse,
    mmse_slope,
    on_term_bounds,
    on_terms,
    posterior_mean,
    posterior_variance,
    window_constant,
    window_probability,
)
from superposition.rug.meanfield import (
    THRESHOLDS,
    Gradient,
    Optimum,
    best_gain,
    linear_loss,
    loss,
    loss_grad,
    noise_std,
    optimum,
)
from superposition.rug.model import RowStatistics, autoencoder_output, row_statistics
from superposition.rug.noise_bound import (
    descend_on_noise,
    noise_chain,
    row_noise,
    smallest_noise,
    symmetrised_code,
    welch_bound,
    with_unit_diagonal,
)
from superposition.rug.protocols import RECIPE_SHIFT, rate_at_shift, training_protocol
from superposition.rug.public_protocol import BothRules, train_as_published, train_as_published_on_device
from superposition.rug.rugs import Rug, row_loss, simulated_loss, walsh_hadamard
from superposition.rug.scaling import (
    HALF_DROP,
    drop_loss,
    drop_ratio,
    drop_threshold,
    half_ratio,
    loss_in_the_drop,
    off_moment,
    small_noise_factor,
    small_noise_threshold,
)
from superposition.rug.tight_frames import frame_potential, random_projector, rug_directions, tight_frame, unit_vectors
from superposition.rug.training import (
    MOST_TRAINABLE,
    STOPPING_WINDOW,
    affordable_steps,
    first_pause,
    first_step_below,
    train_autoencoder,
    training_settings,
)
from superposition.rug.walsh_descent import decoded_rug_loss, descend_on_eigenvalues, layered_indices

__all__ = [
    "HALF_DROP", "INSIDE_FLOOR", "MOST_TRAINABLE", "PROOF_CONSTANT", "RECIPE_SHIFT", "STOPPING_WINDOW", "THRESHOLDS",
    "BothRules", "Gradient", "JumpOptimum", "Optimum", "RowStatistics", "Rug", "StepCost", "absolute_third_moment",
    "affordable_steps", "autoencoder_output", "bayes_decoder", "bayes_loss", "best_gain", "closed_form_loss",
    "continue_training", "cut_off_error", "decoded_rug_loss", "descend_on_eigenvalues", "descend_on_noise", "drop_loss",
    "drop_ratio", "drop_threshold", "edgeworth_excess", "exact_excess", "feature_cumulants", "first_pause",
    "first_step_below", "frame_potential", "half_ratio", "inside_probability", "jumprelu_optimum", "layered_indices",
    "linear_loss", "loss", "loss_grad", "loss_in_the_drop", "loss_lower_bound", "loss_upper_bound", "lyapunov_ratio",
    "mean_power_sums", "mmse", "mmse_slope", "noise_chain", "noise_std", "off_moment", "on_term_bounds", "on_terms",
    "optimum", "partner_loss", "posterior_mean", "posterior_variance", "random_projector", "rate_at_shift",
    "row_cumulants", "row_loss", "row_noise", "row_statistics", "rug_directions", "rug_loss", "simulated_loss",
    "skewness_spread", "small_noise_factor", "small_noise_threshold", "smallest_noise", "step_cost", "symmetrised_code",
    "tight_frame", "train_as_published", "train_as_published_on_device", "train_autoencoder", "train_meanfield",
    "train_meanfield_on_samples", "train_on_device", "training_protocol", "training_settings", "unit_vectors",
    "walsh_hadamard", "welch_bound", "window_constant", "window_probability", "with_unit_diagonal", "zero_sum_triples",
]  # fmt: skip
