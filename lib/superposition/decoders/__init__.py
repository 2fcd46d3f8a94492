"""Decoders of a code in one or more steps, ANDs of pairs, and autoencoders on known dictionaries.

Throughout, p is the probability that a feature is on, r the compression ratio and sigma the standard deviation of
Gaussian interference. Every function refuses arguments outside of their ranges by a ValueError that gives the range.
`train_saes`, `train_batch_topk`, `train_layers`, `descend_saes` and `descend_on_ands` need torch.

Source: ours, beyond The Persian Rug.
"""

from superposition.decoders.ands import (
    all_inputs,
    and_layer,
    ands_of_pairs,
    best_and_reader,
    beyond_linear,
    early_cases,
    early_reading,
    late_cases,
    late_reading,
    missed_share,
    random_signs,
    sign_moments,
    simulated_and_loss,
)
from superposition.decoders.ands_training import as_relus, descend_on_ands
from superposition.decoders.coupled import CoupledRug, coupled_evolution, decode_coupled
from superposition.decoders.dictionaries import Dictionary, dictionary, load_dictionary
from superposition.decoders.dictionary_scores import RECOVERED, scores
from superposition.decoders.dictionary_training import SparseAutoencoder, train_batch_topk, train_saes
from superposition.decoders.families import (
    Families,
    absorbed_angle,
    best_pair,
    dictionary_of_families,
    leaning,
    unrelated_dictionary,
)
from superposition.decoders.ladder import decode, decode_rug, final_loss, recovery_ratio, state_evolution
from superposition.decoders.layer_training import code_shape, first_code, train_layers
from superposition.decoders.planar_decoders import planar_bayes_loss
from superposition.decoders.priced_dictionaries import border_price, least_priced_loss, pairs_loss, truth_loss
from superposition.decoders.priced_training import descend_saes, sae_along, sae_losses
from superposition.decoders.relu_layers import decode_in_layers, relu_evolution, relu_recovery_ratio
from superposition.decoders.shared_directions import decode_antipodal, digon_bayes_loss, pair_evolution
from superposition.decoders.sparse_coding import nonnegative_lasso
from superposition.decoders.yardsticks import ceilings

__all__ = [
    "RECOVERED", "CoupledRug", "Dictionary", "Families", "SparseAutoencoder", "absorbed_angle", "all_inputs",
    "and_layer", "ands_of_pairs", "as_relus", "best_and_reader", "best_pair", "beyond_linear", "border_price",
    "ceilings", "code_shape", "coupled_evolution", "decode", "decode_antipodal", "decode_coupled", "decode_in_layers",
    "decode_rug", "descend_on_ands", "descend_saes", "dictionary", "dictionary_of_families", "digon_bayes_loss",
    "early_cases", "early_reading", "final_loss", "first_code", "late_cases", "late_reading", "leaning",
    "least_priced_loss", "load_dictionary", "missed_share", "nonnegative_lasso", "pair_evolution", "pairs_loss",
    "planar_bayes_loss", "random_signs", "recovery_ratio", "relu_evolution", "relu_recovery_ratio", "sae_along",
    "sae_losses", "scores", "sign_moments", "simulated_and_loss", "state_evolution", "train_batch_topk", "train_layers",
    "train_saes", "truth_loss", "unrelated_dictionary",
]  # fmt: skip
