"""The layouts in which packages keep their models: names of arrays, settings, and the forward pass that they mean.

A row of ``LAYOUTS`` has the arrays and settings by which a layout is recognised, which of them its forward pass uses,
and the public source of this knowledge. An array or a setting that no row explains is refused by name. The roles of
arrays: ``E`` encoder (latents, inputs), ``D`` decoder (inputs, latents), ``c`` bias of the latents, ``d`` bias of the
outputs; ``W_in`` (nd, ns), ``W_out`` (ns, nd), ``W`` and ``b`` (ns,) of toy models; ``'`` is a transpose, ``?`` marks
an array that may be absent, ``-`` one that the forward pass does not use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from superposition.diagnosis import forward_passes
from superposition.diagnosis.forward_passes import Pass

SIZES = {"ns": ("d_sae", "dict_size", "num_latents"), "nd": ("d_in", "activation_dim")}  # settings with the sizes


class Layout(NamedTuple):
    """One row: the ``rule`` makes a `Pass` from settings and arrays; a toy model has no rule."""

    name: str
    source: str
    formula: str
    arrays: str
    marks: frozenset[str] = frozenset()
    settings: frozenset[str] = frozenset()
    rule: Callable[[Mapping[str, Any], Mapping[str, np.ndarray]], Pass] | None = None

    @property
    def roles(self) -> dict[str, str]:
        """Role of each array, by its name in lower case."""
        return dict(one.lower().rsplit(":", 1)[0:1] + one.rsplit(":", 1)[1:] for one in self.arrays.split())

    @property
    def needed(self) -> set[str]:
        """Names of the arrays that must be there."""
        return {name for name, role in self.roles.items() if not role.endswith(("?", "-"))}


def _words(text):
    return frozenset(text.split())


RUN = _words("""model_name model_class_name hook_point hook_point_layer hook_point_head_index hook_name hook_layer
 hook_head_index hook_eval dataset_path dataset_trust_remote_code streaming is_dataset_tokenized context_size
 use_cached_activations cached_activations_path new_cached_activations_path d_in d_sae b_dec_init_method
 expansion_factor normalize_sae_decoder noise_scale from_pretrained_path decoder_orthogonal_init
 decoder_heuristic_init decoder_heuristic_init_norm decoder_init_norm init_encoder_as_decoder_transpose
 n_batches_in_buffer training_tokens finetuning_tokens store_batch_size_prompts store_batch_size
 train_batch_size_tokens train_batch_size seqpos_slice device act_store_device seed dtype prepend_bos
 jumprelu_init_threshold jumprelu_bandwidth jumprelu_sparsity_loss_mode jumprelu_tanh_scale jumprelu_ste_to_input
 pre_act_loss_coefficient target_l0 autocast autocast_lm compile_llm llm_compilation_mode compile_sae
 sae_compilation_mode adam_beta1 adam_beta2 mse_loss_normalization l1_coefficient l0_coefficient l0_warm_up_steps
 l1_loss_wd_norm lp_norm scale_sparsity_penalty_by_decoder_norm l1_warm_up_steps lr lr_scheduler_name
 lr_warm_up_steps lr_end lr_decay_steps n_restart_cycles finetuning_method use_ghost_grads feature_sampling_window
 dead_feature_window dead_feature_threshold n_eval_batches eval_batch_size_prompts log_to_wandb
 log_activations_store_to_wandb log_optimizer_state_to_wandb log_weights_to_wandb wandb_project wandb_id run_name
 wandb_entity wandb_log_frequency eval_every_n_wandb_logs resume n_checkpoints checkpoint_path verbose model_kwargs
 model_from_pretrained_kwargs sae_lens_version sae_lens_training_version exclude_special_tokens tokens_per_buffer
 neuronpedia_id metadata reshape_activations aux_loss_coefficient use_sparse_activations topk_threshold_lr
 matryoshka_widths use_matryoshka_aux_loss lr_warm_up_frac format""")  # fmt: skip
TRAINER = _words("""activation_dim auxk_alpha bandwidth decay_start device dict_class dict_size group_fractions
 group_sizes group_weights k layer lm_name lr seed sparsity_penalty sparsity_warmup_steps steps submodule_name
 target_l0 threshold_beta threshold_start_step top_k_aux trainer_class wandb_name warmup_steps anneal_start
 l1_penalty n_sparsity_updates p_end p_start resample_steps sparsity_function sparsity_queue_length""")  # fmt: skip
SCOPE = _words("""device seed dtype bias_init_method use_decoder_bias expansion_factor d_model d_sae top_k
 decoder_exactly_fixed_norm init_decoder_norm init_encoder_norm init_encoder_with_decoder_transpose lp l1_coefficient
 l1_coefficient_warmup_steps k_warmup_steps use_batch_norm_mse use_ghost_grads tp_size ddp_size
 init_encoder_bias_with_mean_hidden_pre sae_pretrained_name_or_path strict_loading sparsity_threshold_for_tanh_stretch
 tanh_stretch_coefficient use_triton_kernel sae_type""")  # fmt: skip
TOY = _words("""n_features n_feat n_hidden n_instances n_inst n_sparse n_dense data_size batch_size max_epochs
 min_epochs
 loss_window lr convergence_tolerance update_times residual init_layer_bias hidden_layers_bias final_layer_bias
 hidden_layers_act_func tie_dec_enc_weights tied_weights init_bias_to_zero device seed p_feat losses loss
 loss_history importance feature_probability feature_probs sparsity p steps epochs d_hidden d_model
 activation act_fn activation_fn final_layer_act_func init_layer_act_func n_hidden_layers""")  # fmt: skip
CHECKPOINT = _words("""epoch epochs step steps global_step optimizer optimizer_state optimizer_state_dict
 optimizer_states opt_state_dict scheduler scheduler_state_dict lr_scheduler lr_schedulers loss losses val_loss
 best_loss callbacks loops hparams_name datamodule_hparams_name datamodule_hyper_parameters
 pytorch-lightning_version pytorch_version torch_version rng_state format""")  # fmt: skip

SAE = "W_enc:E' W_dec:D' b_enc:c b_dec:d "
OWN = "our reading of names that many notebooks use"
LAYOUTS = (
    Layout("Gemma Scope 2", "sae-lens 6.54.12, gemma_3_sae_huggingface_loader", "JumpReLU(W_enc h + b_enc)",
           SAE + "threshold:threshold", _words("hf_hook_point_in"),
           _words("architecture hf_hook_point_in hf_hook_point_out affine_connection model_name width l0 type"),
           forward_passes.gemma_scope_2),
    Layout("SAELens", "github.com/jbloomAus/SAELens 91ca16c, sae_lens/saes; sae-lens 6.54.12",
           "f(W_enc (h - b_dec) + b_enc), b_dec taken off by apply_b_dec_to_input",
           SAE + "threshold:threshold? log_threshold:threshold? topk_threshold:threshold? scaling_factor:one? "
           "n_forward_passes_since_fired:-",
           _words("architecture activation_fn activation_fn_str apply_b_dec_to_input hook_point hook_name "
                  "sae_lens_version"),
           RUN | _words("architecture d_out activation_fn activation_fn_str activation_fn_kwargs k "
                        "apply_b_dec_to_input normalize_activations finetuning_scaling_factor "
                        "rescale_acts_by_decoder_norm"), forward_passes.saelens),
    Layout("dictionary_learning", "github.com/saprmarks/dictionary_learning 60ec6bf; dictionary-learning 0.1.0",
           "f(W_enc (h - b_dec) + b_enc); AutoEncoderNew and JumpReluAutoEncoder take nothing off",
           SAE + "k:k? threshold:threshold group_sizes:-", _words("trainer"), _words("trainer buffer"),
           forward_passes.dictionary_learning),
    Layout("dictionary_learning", "as above", "f(W_enc (h - b_dec) + b_enc)",
           "encoder.weight:E encoder.bias:c decoder.weight:D b_dec:d k:k threshold:threshold", _words("trainer"),
           _words("trainer buffer"), forward_passes.dictionary_learning),
    Layout("dictionary_learning, AutoEncoder", "as above", "ReLU(W_enc (h - bias) + b_enc)",
           "encoder.weight:E encoder.bias:c decoder.weight:D bias:d", settings=_words("trainer buffer"),
           rule=lambda settings, parts: (
               forward_passes.dictionary_learning(settings, parts) if settings else Pass(True, "relu"))),
    Layout("dictionary_learning, AutoEncoderNew", "as above", "ReLU(W_enc h + b_enc)",
           "encoder.weight:E encoder.bias:c decoder.weight:D decoder.bias:d", _words("trainer"),
           _words("trainer buffer"), forward_passes.dictionary_learning),
    Layout("Llama Scope", "github.com/OpenMOSS/Language-Model-SAEs 95281ac, src/llamascopium/models/sae.py",
           "JumpReLU(W_enc h + b_enc), each latent times the length of its direction at the threshold",
           "encoder.weight:E encoder.bias:c decoder.weight:D decoder.bias:d log_jumprelu_threshold:threshold?",
           _words("jump_relu_threshold act_fn"),
           SCOPE | _words("act_fn jump_relu_threshold norm_activation dataset_average_activation_norm hook_point_in "
                          "hook_point_out apply_decoder_bias_to_pre_encoder sparsity_include_decoder_norm "
                          "use_glu_encoder"), forward_passes.llama_scope),
    Layout("OpenAI's sparse_autoencoder", "github.com/openai/sparse_autoencoder 4965b94, sparse_autoencoder/model.py",
           "f(W_enc (h - pre_bias) + latent_bias)",
           "encoder.weight:E decoder.weight:D latent_bias:c pre_bias:d stats_last_nonzero:- "
           "latents_activation_frequency:- latents_mean_square:-",
           settings=_words("activation activation_state_dict"), rule=forward_passes.openai),
    Layout("sparsify", "eai-sparsify 1.3.3, sparsify/sparse_coder.py", "TopK(ReLU(W_enc (h - b_dec) + b_enc))",
           "encoder.weight:E encoder.bias:c W_dec:D' b_dec:d",
           settings=_words("activation expansion_factor normalize_decoder num_latents k multi_topk skip_connection "
                           "transcode signed d_in"), rule=forward_passes.sparsify),
    Layout("Goodfire's", "huggingface.co/Goodfire/Llama-3.1-8B-Instruct-SAE-l19, its card; loader of SAELens",
           "ReLU(W_enc h + b_enc)",
           "encoder_linear.weight:E encoder_linear.bias:c decoder_linear.weight:D decoder_linear.bias:d",
           rule=lambda settings, parts: Pass(False, "relu")),
    Layout("Gemma Scope", "github.com/jbloomAus/SAELens 91ca16c, gemma_2_sae_huggingface_loader",
           "JumpReLU(W_enc h + b_enc)", SAE + "threshold:threshold", _words("params.npz"),
           rule=forward_passes.gemma_scope),
    Layout("a sparse autoencoder without settings", OWN, "f(W_enc (h - b_dec) + b_enc)",
           "W_enc:E' W_dec:D' b_enc:c b_dec:d? threshold:threshold? k:k?", rule=forward_passes.unsaid),
    Layout("a sparse autoencoder without settings", OWN, "f(W_enc (h - b_dec) + b_enc)",
           "encoder.weight:E encoder.bias:c decoder.weight:D b_dec:d k:k threshold:threshold",
           rule=lambda settings, parts: Pass(True, None, parts["k"], parts["threshold"])),
    Layout("linear layers", OWN, "ReLU(W_out (W_in x + c) + b), or f(W_enc (h - b_dec) + b_enc)",
           "encoder.weight:W_in encoder.bias:hidden? decoder.weight:W_out decoder.bias:b", settings=TOY,
           rule=lambda settings, parts: Pass(None, None)),
    Layout("linear layers", OWN, "ReLU(W_out (W_in x + c) + b), or f(W_enc (h - b_dec) + b_enc)",
           "enc.weight:W_in enc.bias:hidden? dec.weight:W_out dec.bias:b", settings=TOY,
           rule=lambda settings, parts: Pass(None, None)),
    Layout("encoder and decoder", OWN, "ReLU(W_out W_in x + b), or f(W_enc (h - b_dec))",
           "W_enc:W_in' W_dec:W_out' b_dec:b", settings=TOY, rule=lambda settings, parts: Pass(None, None)),
    Layout("a toy model, factors", OWN, "ReLU(W_out W_in x + b)", "W_in:W_in W_out:W_out b:b losses:- loss_history:-",
           settings=TOY),
    Layout("a toy model, factors", OWN, "ReLU(W_out W_in x + b)", "W_in:W_in W_out:W_out bias:b loss_history:-",
           settings=TOY),
    Layout("a toy model, factors", OWN, "ReLU(W_out W_in x + b)", "W_in:W_in W_out:W_out b_out:b", settings=TOY),
    Layout("The Persian Rug", "github.com/KfirD/PersianRug e178d0b, model.py", "ReLU(W_out W_in x + b)",
           "initial_layer.weight:W_in initial_layer.bias:hidden? final_layer.weight:W_out final_layer.bias:b?",
           settings=TOY),
    Layout("spd, TMSModel", "github.com/goodfire-ai/spd 3f0bb61, spd/experiments/tms/models.py",
           "ReLU(W_out W_in x + b)", "linear1.weight:W_in linear2.weight:W_out linear2.bias:b", settings=TOY),
    Layout("a toy model, Sequential(Linear, Linear, ReLU)", OWN, "ReLU(W_out (W_in x + c) + b)",
           "0.weight:W_in 0.bias:hidden? 1.weight:W_out 1.bias:b", settings=TOY),
    Layout("Toy Models of Superposition and ARENA", OWN,
           "ReLU(W^T W x + b)", "W:W b_final:b losses:-", settings=TOY),
    Layout("a toy model, tied or a product", OWN, "ReLU(W^T W x + b) or ReLU(W x + b)",
           "W:W b:b losses:- loss_history:-", settings=TOY),
    Layout("a toy model, tied or a product", OWN, "ReLU(W^T W x + b) or ReLU(W x + b)", "W:W bias:b loss_history:-",
           settings=TOY),
    Layout("a toy model, tied", OWN, "ReLU(W^T W x + b)", "weights:W bias:b", settings=TOY),
)  # fmt: skip

# what else people keep under such names, by an array that only it has
OTHERS = {
    "r_mag": "a gated autoencoder", "b_mag": "a gated autoencoder", "b_gate": "a gated autoencoder",
    "gate_bias": "a gated autoencoder", "w_skip": "a skip transcoder", "b_in": "an MLP of a network",
    "fc_mu.weight": "a variational autoencoder", "mu.weight": "a variational autoencoder",
    "fc_logvar.weight": "a variational autoencoder", "w_enc_glu": "an autoencoder with a gated encoder",
    "running_mean": "a model with a norm", "running_var": "a model with a norm",
}  # fmt: skip
INSIDE = re.compile(r"(^|\.)(h|transformer|mlp|attn\w*)\.|blocks?\.|layers\.")  # of names in a larger network
PATHS = ("transcoder", "crosscoder", "embedding")  # folders of models that share their arrays' names with others
TOY_MUST = {  # settings of a toy model that have to be what its layout means
    "activation": ("relu", "ReLU"), "act_fn": ("relu", "ReLU"), "activation_fn": ("relu", "ReLU"),
    "final_layer_act_func": ("relu",), "init_layer_act_func": ("identity",), "n_hidden_layers": (0,),
}  # fmt: skip
