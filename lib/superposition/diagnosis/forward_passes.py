"""The forward pass of a sparse autoencoder, as the settings and arrays of each package define it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from superposition import checks

PLAIN = ("standard", "topk", "jumprelu", "batchtopk", "matryoshka_batchtopk")  # architectures of SAELens that fit
MODEL = "a latent that is a ReLU, TopK or JumpReLU of one affine function of the inputs"


class Pass(NamedTuple):
    """The forward pass of a sparse autoencoder: ``taken``, whether b_dec is subtracted from its inputs; its gate."""

    taken: bool | None
    gate: str | None  # relu, topk, jumprelu; None: the file cannot say
    k: Any = None  # of TopK, or what the settings of another gate aim at
    threshold: Any = None
    rescaled: bool = False  # latents are multiplied by the lengths of their directions
    told: tuple[str, ...] = ()


def refuse(name: str, value: Any, allowed: str = MODEL) -> ValueError:
    """The refusal of a setting."""
    return ValueError(f"{name} = {checks.shown(value)}, which is another model; allowed: {allowed}")


def _flag(settings, name, default):
    """A setting that is true or false; any other value, such as the text "False", is refused."""
    value = settings.get(name, default)
    if not isinstance(value, bool):
        raise ValueError(f"{name} = {checks.shown(value)}; allowed: true or false")
    return value


def saelens(settings, parts) -> Pass:
    """SAELens, all its architectures whose latents are gates of one affine function."""
    kind = str(settings.get("architecture") or "standard").lower()
    if kind not in PLAIN:
        raise refuse("architecture", kind, ", ".join(PLAIN))
    if settings.get("d_out") is not None:
        raise refuse("d_out", settings["d_out"], "none: other outputs than inputs are a transcoder's")
    gate = settings.get("activation_fn", settings.get("activation_fn_str")) or "relu"
    extra = settings.get("activation_fn_kwargs") or {}
    if gate not in ("relu", "topk"):
        raise refuse("activation_fn", gate, "relu, topk")
    inner = extra.get("k") if isinstance(extra, dict) else None
    k = settings.get("k", inner)
    if inner not in (None, k):
        raise ValueError(f"k = {checks.shown(k)}; allowed: {checks.shown(inner)}, as in activation_fn_kwargs")
    kind = "topk" if gate == "topk" else kind
    normal = settings.get("normalize_activations")
    if normal not in (None, "none", False, True, "expected_average_only_in"):
        raise refuse("normalize_activations", normal, "none, expected_average_only_in; others are not linear")
    if settings.get("finetuning_scaling_factor"):
        raise refuse("finetuning_scaling_factor", True, "False")
    told = (
        ("inputs are in the units to which it normalises them",) if normal in (True, "expected_average_only_in") else ()
    )
    taken = _flag(settings, "apply_b_dec_to_input", True)
    rescaled = _flag(settings, "rescale_acts_by_decoder_norm", False) and kind != "jumprelu"
    threshold = _threshold(parts)
    if (threshold is None) != (kind in ("standard", "topk")):
        raise refuse("architecture", kind, "one whose arrays these are: a threshold belongs to jumprelu and batchtopk")
    if kind in ("batchtopk", "matryoshka_batchtopk"):
        told += ("its threshold takes the place of the batch, as SAELens saves it for inference",)
    gate = {"standard": "relu", "topk": "topk"}.get(kind, "jumprelu")
    return Pass(taken, gate, k, threshold, rescaled, told)


def _threshold(parts):
    found = [name for name in ("log_threshold", "threshold", "topk_threshold") if name in parts]
    if len(found) > 1:
        raise ValueError(f"it holds {' and '.join(found)}; allowed: one of them, and --ignore the other")
    return np.exp(parts[found[0]]) if found == ["log_threshold"] else parts[found[0]] if found else None


def dictionary_learning(settings, parts) -> Pass:
    """dictionary_learning, by the class of its trainer."""
    trainer = settings.get("trainer")
    if not isinstance(trainer, dict):
        raise refuse("trainer", trainer, "settings, among them dict_class")
    kind, k = trainer.get("dict_class"), parts.get("k")
    known = {"AutoEncoder": "bias", "AutoEncoderNew": "decoder.bias", "AutoEncoderTopK": "k", "BatchTopKSAE": "k",
             "MatryoshkaBatchTopKSAE": "group_sizes", "JumpReluAutoEncoder": "threshold"}  # fmt: skip
    if kind not in known or known[kind] not in parts:
        raise refuse("dict_class", kind, ", ".join(known) + ", with the arrays of that class")
    if k is not None and trainer.get("k") not in (None, float(np.squeeze(k))):
        raise refuse("k", trainer["k"], f"{np.squeeze(k):g}, as the file has it")
    if kind == "AutoEncoderTopK":
        return Pass(True, "topk", k)
    if kind in ("BatchTopKSAE", "MatryoshkaBatchTopKSAE"):
        return Pass(True, "jumprelu", k, parts["threshold"])
    if kind == "JumpReluAutoEncoder":
        return Pass(False, "jumprelu", None, parts["threshold"])
    return Pass(kind == "AutoEncoder", "relu")


def llama_scope(settings, parts) -> Pass:
    """Llama Scope, with thresholds in units of the directions' lengths where its settings say so."""
    gate = str(settings.get("act_fn", "jumprelu")).lower()
    if gate not in ("relu", "jumprelu", "topk"):
        raise refuse("act_fn", gate, "relu, jumprelu, topk")
    if settings.get("hook_point_in") != settings.get("hook_point_out", settings.get("hook_point_in")):
        raise refuse("hook_point_out", settings["hook_point_out"], "hook_point_in: others are transcoders")
    if settings.get("norm_activation") not in (None, "dataset-wise", "inference", "none"):
        raise refuse(
            "norm_activation", settings["norm_activation"], "dataset-wise, inference, none; others are not linear"
        )
    if settings.get("use_glu_encoder"):
        raise refuse("use_glu_encoder", True, "False")
    norms = settings.get("dataset_average_activation_norm")
    if isinstance(norms, dict) and norms.get("in") != norms.get("out", norms.get("in")):
        raise refuse("dataset_average_activation_norm", norms, "one number for in and out: others are transcoders")
    lengths = np.linalg.norm(parts["decoder.weight"], axis=0)
    scaled = settings.get("sparsity_include_decoder_norm")
    if gate != "relu" and not np.allclose(lengths, 1, rtol=1e-3):
        if scaled is None:
            raise refuse(
                "sparsity_include_decoder_norm",
                None,
                "true or false in hyperparams.json, as directions are not of length 1",
            )
        if _flag(settings, "sparsity_include_decoder_norm", None) and gate == "topk":
            raise refuse(
                "sparsity_include_decoder_norm", True, "false, as it selects by another number than it returns"
            )
    threshold, logs = settings.get("jump_relu_threshold"), parts.get("log_jumprelu_threshold")
    if gate != "jumprelu":
        if logs is not None:
            raise refuse("act_fn", gate, "jumprelu, as log_jumprelu_threshold is one of its arrays")
        threshold = None
    elif logs is None and not (type(threshold) in (int, float) and np.isfinite(threshold)):
        raise refuse("jump_relu_threshold", threshold, "a number")
    else:
        threshold = np.asarray(threshold if logs is None else np.exp(logs), float)
        threshold = threshold / np.where(lengths > 0, lengths, 1) if scaled else threshold
    told = (
        ("inputs are in the units to which it normalises them",)
        if settings.get("norm_activation") == "dataset-wise"
        else ()
    )
    taken = _flag(settings, "apply_decoder_bias_to_pre_encoder", False)
    return Pass(taken, gate, settings.get("top_k") if gate == "topk" else None, threshold, told=told)


def openai(settings, parts) -> Pass:
    """OpenAI's sparse_autoencoder."""
    kind, state = settings.get("activation"), settings.get("activation_state_dict") or {}
    if kind in (None, "ReLU"):
        return Pass(True, None if kind is None else "relu")
    if kind != "TopK" or not isinstance(state, dict) or state.get("postact_fn", "ReLU") != "ReLU":
        raise refuse("activation", kind, "ReLU, or TopK with the postact_fn ReLU")
    return Pass(True, "topk", state.get("k"), told=("inputs have passed its layer norm already",))


def sparsify(settings, parts) -> Pass:
    """sparsify: TopK."""
    for name in ("transcode", "skip_connection", "signed"):
        if settings.get(name):
            raise refuse(name, settings[name], "false")
    if settings.get("activation", "topk") != "topk":
        raise refuse("activation", settings["activation"], "topk")
    return Pass(True, "topk", settings.get("k"))


def gemma_scope(settings, parts) -> Pass:
    """Gemma Scope: JumpReLU."""
    return Pass(False, "jumprelu", None, parts["threshold"], told=("a transcoder of Gemma Scope has the same arrays",))


def gemma_scope_2(settings, parts) -> Pass:
    """Gemma Scope 2: JumpReLU."""
    if settings.get("architecture") != "jump_relu":
        raise refuse("architecture", settings.get("architecture"), "jump_relu")
    other = settings.get("hf_hook_point_out") not in (None, settings["hf_hook_point_in"])
    if other or settings.get("affine_connection") or settings.get("type") not in (None, "sae"):
        raise refuse("hf_hook_point_out", settings.get("hf_hook_point_out"), "hf_hook_point_in: others are transcoders")
    return Pass(False, "jumprelu", settings.get("l0"), parts["threshold"])


def unsaid(settings, parts) -> Pass:
    """Arrays without settings, from which the gate follows in part."""
    if "k" in parts:
        return Pass(None, "topk", parts["k"])
    return Pass(None, "jumprelu" if "threshold" in parts else None, None, parts.get("threshold"))
