"""Layouts of packages that are not installed, written by hand after their public source; see `layouts.LAYOUTS`.

Each expected value is that source's formula, written out here with numpy alone.
"""

import json
import sys
import types

import numpy as np
import pytest
import superposition
from safetensors.numpy import save_file
from superposition.diagnosis import files, layouts, reading

RNG = np.random.default_rng(5)
WIDTH, LATENTS, FEATURES = 12, 48, 20
D = RNG.standard_normal((WIDTH, LATENTS))
D /= np.linalg.norm(D, axis=0)  # directions, (inputs, latents)
E = D.T + 0.05 * RNG.standard_normal((LATENTS, WIDTH))
C, B_DEC = -0.3 + 0.05 * RNG.standard_normal(LATENTS), 0.35 * RNG.standard_normal(WIDTH)
LOUD = D * np.linspace(0.5, 2, LATENTS)
THRESHOLD = np.linspace(0.05, 0.3, LATENTS)
W_IN, W_OUT = RNG.standard_normal((2, 5, FEATURES)) / np.sqrt(5)
B = 0.1 * RNG.standard_normal(FEATURES)
X = RNG.random((300, LATENTS)) * (RNG.random((300, LATENTS)) < 0.06)


def relu(x):
    return np.maximum(x, 0)


def topk(x, k=3):
    return np.where(x >= np.sort(x, axis=1)[:, [-k]], relu(x), 0)


def jumprelu(x, threshold):
    return np.where(x > threshold, relu(x), 0)


def named(decoder=D, **more):
    return {"W_enc": E.T, "b_enc": C, "W_dec": decoder.T, "b_dec": B_DEC, **more}


def linear(bias="decoder.bias", decoder=D, **more):
    return {"encoder.weight": E, "encoder.bias": C, "decoder.weight": decoder, bias: B_DEC, **more}


def of_openai():
    return {"encoder.weight": E, "decoder.weight": D, "latent_bias": C, "pre_bias": B_DEC,
            "stats_last_nonzero": np.zeros(LATENTS), "latents_activation_frequency": np.ones(LATENTS),
            "latents_mean_square": np.zeros(LATENTS)}  # fmt: skip


def outputs(weights, x=X):
    return weights.outputs(weights.drive(x))


def written(folder, arrays, settings=None, name="sae.safetensors", beside="cfg.json"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({key: np.ascontiguousarray(value) for key, value in arrays.items()}, path)
    if settings is not None:
        (folder / beside).write_text(json.dumps(settings))
    return path


TAKEN = (X @ D.T + B_DEC - B_DEC) @ E.T + C
KEPT = (X @ D.T + B_DEC) @ E.T + C
LOUD_KEPT = (X @ LOUD.T + B_DEC) @ E.T + C


def test_gemma_scope_keeps_b_dec(tmp_path):
    # SAELens' gemma_2_sae_huggingface_loader: apply_b_dec_to_input is False, architecture jumprelu
    np.savez(tmp_path / "params.npz", **named(threshold=THRESHOLD))
    for path in (tmp_path / "params.npz", tmp_path):
        np.testing.assert_allclose(outputs(reading.read(path)), jumprelu(KEPT, THRESHOLD), atol=1e-12)
    (tmp_path / "transcoder").mkdir()
    np.savez(tmp_path / "transcoder" / "params.npz", **named(threshold=THRESHOLD))
    with pytest.raises(ValueError, match="is by its path of a transcoder"):
        reading.read(tmp_path / "transcoder")


SCOPE = {"act_fn": "jumprelu", "jump_relu_threshold": 0.2, "norm_activation": "dataset-wise", "top_k": 50,
         "dataset_average_activation_norm": {"in": 29.1, "out": 29.1}, "hook_point_in": "a", "hook_point_out": "a",
         "apply_decoder_bias_to_pre_encoder": False, "sparsity_include_decoder_norm": True,
         "use_glu_encoder": False, "d_model": WIDTH, "d_sae": LATENTS}  # fmt: skip


def test_llama_scope_multiplies_by_the_length_of_a_direction_at_its_threshold(tmp_path):
    # OpenMOSS' sae.py: activation(hidden_pre * decoder_norm) / decoder_norm; settings one folder up
    path = written(tmp_path, linear(decoder=LOUD), SCOPE, "checkpoints/final.safetensors", "hyperparams.json")
    own = np.where(LOUD_KEPT * np.linalg.norm(LOUD, axis=0) > 0.2, relu(LOUD_KEPT), 0)
    for given in (path, tmp_path):
        np.testing.assert_allclose(outputs(reading.read(given)), own, atol=1e-12)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"hook_point_out": "b"}, "others are transcoders"), ({"use_glu_encoder": True}, "use_glu_encoder"),
        ({"norm_activation": "token-wise"}, "norm_activation = 'token-wise'"),
        ({"apply_decoder_bias_to_pre_encoder": "false"}, "pre_encoder = 'false'; allowed: true or false"),
        ({"jump_relu_threshold": float("nan")}, "jump_relu_threshold = nan"),
        ({"d_sae": 96}, "d_sae = 96; allowed: 48"),
        ({"sparsity_include_decoder_norm": None}, "true or false in hyperparams.json"),
        ({"unheard_of": 3}, "the settings unheard_of, which Llama Scope does not explain; allowed: --ignore NAME"),
    ],
)  # fmt: skip
def test_of_llama_scope_refused(setting, said, tmp_path):
    written(tmp_path, linear(decoder=LOUD), {**SCOPE, **setting}, "checkpoints/final.safetensors", "hyperparams.json")
    with pytest.raises(ValueError, match=said):
        reading.read(tmp_path)


@pytest.mark.parametrize("scaled", [True, False])
def test_llama_scope_with_a_threshold_for_each_latent(scaled, tmp_path):
    # SAELens' llama_scope_r1_distill_sae_huggingface_loader: threshold = exp(log_jumprelu_threshold)
    arrays = linear(decoder=LOUD, log_jumprelu_threshold=np.log(THRESHOLD))
    settings = {"act_fn": "jumprelu", "sparsity_include_decoder_norm": scaled, "hook_point_in": "a"}
    path = written(tmp_path, arrays, settings, beside="config.json")
    size = np.linalg.norm(LOUD, axis=0) if scaled else 1
    own = np.where(LOUD_KEPT * size > THRESHOLD, relu(LOUD_KEPT), 0)
    np.testing.assert_allclose(outputs(reading.read(path)), own, atol=1e-12)
    with pytest.raises(ValueError, match="act_fn = 'relu', which is another model"):
        reading.read(written(tmp_path, arrays, settings | {"act_fn": "relu"}, beside="config.json"))


def test_gemma_scope_2(tmp_path):
    # SAELens' gemma_3_sae_huggingface_loader: w_enc, …, threshold; architecture jump_relu, b_dec is not taken off
    arrays = {name.lower(): value for name, value in named(threshold=THRESHOLD).items()}
    settings = {"architecture": "jump_relu", "model_name": "gemma", "hf_hook_point_in": "model.layers.9.output"}
    path = written(tmp_path, arrays, settings, "params.safetensors", "config.json")
    np.testing.assert_allclose(outputs(reading.read(path)), jumprelu(KEPT, THRESHOLD), atol=1e-12)
    for more in ({"hf_hook_point_out": "model.layers.9.mlp"}, {"affine_connection": True}, {"architecture": "topk"}):
        written(tmp_path, arrays, settings | more, "params.safetensors", "config.json")
        with pytest.raises(ValueError, match="which is another model"):
            reading.read(path)


def test_qwen_scope_s_matrices_are_turned(tmp_path):
    # SAELens' qwen_scope_sae_huggingface_loader: W_enc (d_sae, d_in), W_dec (d_in, d_sae); TopK, b_dec is not taken off
    path = written(tmp_path, {"W_enc": E, "W_dec": D, "b_enc": C, "b_dec": B_DEC})
    found = reading.read(path, b_dec="kept", activation="topk", k=3)
    np.testing.assert_allclose(outputs(found), topk(KEPT), atol=1e-12)
    assert "matrices are turned to fit the biases" in found.told


@pytest.mark.parametrize("k", [None, 3])
def test_openai_s_autoencoders(k, tmp_path):
    # openai/sparse_autoencoder, model.py: activation(encoder(x - pre_bias) + latent_bias)
    torch = pytest.importorskip("torch")
    state = {name: torch.from_numpy(np.array(value)) for name, value in of_openai().items()}
    state["activation"] = "ReLU" if k is None else "TopK"
    state["activation_state_dict"] = {} if k is None else {"k": k, "postact_fn": "ReLU"}
    torch.save(state, tmp_path / "ae.pt")
    own = relu(TAKEN) if k is None else topk(TAKEN)
    for given in (tmp_path / "ae.pt", state):
        np.testing.assert_allclose(outputs(reading.read(given)), own, atol=1e-12)
    with pytest.raises(ValueError, match="--activation relu, topk"):
        reading.read(of_openai())


def test_saelens_before_six_names_its_activation_otherwise(tmp_path):
    # SAELens' handle_pre_6_0_config: activation_fn_str, and activation_fn_kwargs with k
    old = {"activation_fn_str": "topk", "activation_fn_kwargs": {"k": 3}, "d_in": WIDTH, "d_sae": LATENTS,
           "hook_name": "blocks.0.hook_resid_pre", "normalize_activations": "none", "prepend_bos": True,
           "finetuning_scaling_factor": False, "sae_lens_training_version": "3.12.1"}  # fmt: skip
    path = written(tmp_path, named(scaling_factor=np.ones(LATENTS)), old, "sae_weights.safetensors")
    np.testing.assert_allclose(outputs(reading.read(path)), topk(TAKEN), atol=1e-12)
    written(tmp_path, named(), {**old, "activation_fn_str": "relu", "apply_b_dec_to_input": False}, path.name)
    np.testing.assert_allclose(outputs(reading.read(path)), relu(KEPT), atol=1e-12)
    written(tmp_path, named(), {"activation_fn_str": "tanh-relu"}, path.name)
    with pytest.raises(ValueError, match="activation_fn = 'tanh-relu'"):
        reading.read(path)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"architecture": "jumprelu_transcoder"}, "architecture = 'jumprelu_transcoder'"),
        ({"architecture": "jumprelu"}, "a threshold belongs to jumprelu"),
        ({"normalize_activations": "layer_norm"}, "normalize_activations = 'layer_norm'"),
        ({"d_out": 4}, "d_out = 4"),
        ({"d_in": 24}, "d_in = 24; allowed: 12, as the arrays have it"),
        ({"apply_b_dec_to_input": "False"}, "apply_b_dec_to_input = 'False'; allowed: true or false"),
        ({"rescale_acts_by_decoder_norm": "False"}, "decoder_norm = 'False'; allowed: true or false"),
        ({"architecture": "topk", "k": 5, "activation_fn_kwargs": {"k": 3}}, "k = 5; allowed: 3, as in"),
        ({"heads": 4}, "the settings heads, which SAELens does not explain"),
    ],
)
def test_of_saelens_refused(setting, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        reading.read(written(tmp_path, named(), {"architecture": "standard", **setting}))


def test_two_thresholds_are_refused(tmp_path):
    two = named(threshold=THRESHOLD, log_threshold=np.log(THRESHOLD))
    with pytest.raises(ValueError, match="holds log_threshold and threshold; allowed: one of them"):
        reading.read(written(tmp_path, two, {"architecture": "jumprelu"}))


def test_goodfire_s_keeps_b_dec(tmp_path):
    # the test of SAELens for it: a StandardSAE with decoder_linear.bias, taken off nowhere
    names = {"encoder": "encoder_linear", "decoder": "decoder_linear"}
    arrays = {f"{names[key.split('.')[0]]}.{key.split('.')[1]}": value for key, value in linear().items()}
    np.testing.assert_allclose(outputs(reading.read(written(tmp_path, arrays))), relu(KEPT), atol=1e-12)


WITHOUT_C = (("W_enc", "W_dec", "b_dec"), ("encoder.weight", "decoder.weight", "decoder.bias"),
             ("enc.weight", "dec.weight", "dec.bias"))  # fmt: skip


@pytest.mark.parametrize("names", WITHOUT_C)
@pytest.mark.parametrize("taken", [True, False])
def test_a_narrow_autoencoder_without_a_bias_of_its_latents_is_read_as_its_owner_says(names, taken):
    few, turned = 8, names[0] == "W_enc"
    parts = (E[:few].T, D[:, :few].T) if turned else (E[:few], D[:, :few])
    arrays = dict(zip(names, (*parts, B_DEC), strict=True))
    h = X[:, :few] @ D[:, :few].T + B_DEC
    found = reading.read(arrays, reading="sae", activation="relu", b_dec="taken" if taken else "kept")
    np.testing.assert_allclose(outputs(found, X[:, :few]), relu((h - B_DEC * taken) @ E[:few].T), atol=1e-12)
    with pytest.raises(ValueError, match="--b-dec taken, kept; --activation relu, topk"):
        reading.read(arrays, reading="sae")
    own = relu(X[:, :WIDTH] @ E[:few].T @ D[:, :few].T + B_DEC)
    np.testing.assert_allclose(outputs(reading.read(arrays, reading="toy"), X[:, :WIDTH]), own, atol=1e-12)


@pytest.mark.parametrize(("said", "own"), [("taken", relu(TAKEN)), ("kept", relu(KEPT))])
@pytest.mark.parametrize(("arrays", "more"), [(named(), {}), (linear(), {"reading": "sae"})])
def test_a_file_that_cannot_say_is_asked_about(said, own, arrays, more, tmp_path):
    path = written(tmp_path, arrays)
    with pytest.raises(ValueError, match=r"--b-dec taken, kept; --activation relu, topk"):
        reading.read(path, **more)
    with pytest.raises(ValueError, match=r"say whether b_dec is taken off .* encoder; allowed: --b-dec taken, kept$"):
        reading.read(path, activation="relu", **more)
    found = reading.read(path, b_dec=said, activation="relu", **more)
    np.testing.assert_allclose(outputs(found), own, atol=1e-12)
    assert any(one.startswith("latents are f(W_enc (h - b_dec)") for one in found.told)
    words, other = found.otherwise
    assert words == f"b_dec {'kept' if said == 'taken' else 'taken'}"
    np.testing.assert_allclose(outputs(other), relu(KEPT) if said == "taken" else relu(TAKEN), atol=1e-12)


def test_without_b_dec_nothing_is_taken_off(tmp_path):
    path = written(tmp_path, {"W_enc": E.T, "b_enc": C, "W_dec": D.T})
    with pytest.raises(ValueError, match=r"allowed: --activation relu, topk \(topk with --k NUMBER\)$"):
        reading.read(path)
    np.testing.assert_allclose(outputs(reading.read(path, activation="relu")), relu(TAKEN), atol=1e-12)


def test_a_report_has_the_loss_in_the_other_reading(tmp_path):
    found = superposition.diagnose(written(tmp_path, named()), l0=3, b_dec="kept", activation="relu", samples=4000)
    other = superposition.diagnose(written(tmp_path, named()), l0=3, b_dec="taken", activation="relu", samples=4000)
    [line] = [line for line in str(found).splitlines() if line.startswith("otherwise")]
    assert "with b_dec taken, as the file does not say, the loss is about" in line
    assert float(line.split()[-1]) == pytest.approx(other.loss, rel=0.15) != pytest.approx(found.loss, rel=0.15)


@pytest.mark.parametrize("said", ["taken", "kept"])
@pytest.mark.parametrize("k", [None, 3])
def test_activations_of_a_file_are_encoded_as_its_model_encodes_them(said, k, tmp_path):
    h = X @ D.T + B_DEC
    drive = (h - B_DEC * (said == "taken")) @ E.T + C
    kind = {"architecture": "topk", "k": k} if k else {"architecture": "standard"}
    path = written(tmp_path, named(), {**kind, "apply_b_dec_to_input": said == "taken"})
    np.save(tmp_path / "x.npy", h)
    by_latents = superposition.diagnose(path, features=topk(drive) if k else relu(drive))
    for x in (h, tmp_path / "x.npy", iter(np.split(h, 3))):
        assert superposition.diagnose(path, x=x).loss == pytest.approx(by_latents.loss, rel=1e-5)
    with pytest.raises(ValueError, match=r"x has shape \(300, 48\); allowed: activations, \(vectors, 12\)"):
        superposition.diagnose(path, x=X)


def test_a_batch_s_k_is_how_many_are_on(tmp_path):
    arrays = linear("b_dec", k=np.array(3), threshold=np.array(0.2))
    path = written(tmp_path, arrays, {"trainer": {"dict_class": "BatchTopKSAE"}}, beside="config.json")
    found = superposition.diagnose(path, samples=200)
    assert found.p == 3 / LATENTS and found.weights.k is None and found.weights.threshold is not None


def test_what_was_said_for_nothing_is_refused(tmp_path):
    path = written(tmp_path, named(), {"architecture": "topk", "k": 3})
    for said in ({"b_dec": "kept"}, {"k": 4}, {"activation": "relu"}, {"instance": 0}, {"reading": "toy"}):
        with pytest.raises(ValueError, match="allowed: (none|toy models)"):
            reading.read(path, **said)
    with pytest.raises(ValueError, match=r"b_dec = kept of a file that says it itself \(taken\)"):
        reading.read(path, b_dec="kept")


def test_dictionary_learning_without_its_settings_is_asked_about(tmp_path):
    path = written(tmp_path, linear("b_dec", k=np.array(3), threshold=np.array(0.2)))
    with pytest.raises(ValueError, match="--activation"):
        reading.read(path)
    np.testing.assert_allclose(outputs(reading.read(path, activation="topk")), topk(TAKEN), atol=1e-12)
    np.testing.assert_allclose(outputs(reading.read(path, activation="jumprelu")), jumprelu(TAKEN, 0.2), atol=1e-12)
    with pytest.raises(ValueError, match="--activation relu, topk"):
        reading.read(written(tmp_path, named()), b_dec="kept", activation="jumprelu")


def test_sparsify_without_its_settings_is_asked_for_k(tmp_path):
    arrays = {"encoder.weight": E, "encoder.bias": C, "W_dec": D.T, "b_dec": B_DEC}
    path = written(tmp_path, arrays)
    with pytest.raises(ValueError, match="--k NUMBER"):
        reading.read(path)
    np.testing.assert_allclose(outputs(reading.read(path, k=3)), topk(TAKEN), atol=1e-12)


def toy(x, first=W_IN, last=W_OUT.T, b=B):
    return relu(x @ first.T @ last.T + b)


TOYS = {
    "PersianRug": {"initial_layer.weight": W_IN, "final_layer.weight": W_OUT.T, "final_layer.bias": B},
    "spd": {"linear1.weight": W_IN, "linear2.weight": W_OUT.T, "linear2.bias": B},
    "Sequential": {"0.weight": W_IN, "1.weight": W_OUT.T, "1.bias": B},
    "torch.compile": {"_orig_mod.W_in": W_IN, "_orig_mod.W_out": W_OUT.T, "_orig_mod.b": B},
}
LIGHTNING = {"model.encoder.weight": W_IN, "model.decoder.weight": W_OUT.T, "model.decoder.bias": B}


@pytest.mark.parametrize("name", TOYS)
def test_toy_models_of_public_repositories(name, tmp_path):
    x = X[:, :FEATURES]
    np.testing.assert_allclose(outputs(reading.read(TOYS[name]), x), toy(x), atol=1e-12)
    np.testing.assert_allclose(outputs(reading.read(written(tmp_path, TOYS[name])), x), toy(x), atol=1e-12)


@pytest.mark.parametrize(
    ("config", "said"),
    [({}, None), ({"init_layer_act_func": "relu"}, "act_func = 'relu'"), ({"n_hidden_layers": 1}, "layers = 1")],
)
def test_the_persian_rug_s_whole_checkpoint(config, said, tmp_path, monkeypatch):
    # its model.py: torch.save(dict(cfg=Config, state_dict, losses, p_feat)); the class is not here when it is read
    torch = pytest.importorskip("torch")
    module = types.ModuleType("model")
    monkeypatch.setitem(sys.modules, "model", module)
    module.Config = type("Config", (), {"__module__": "model", "__qualname__": "Config"})
    cfg = module.Config()
    vars(cfg).update({"n_sparse": FEATURES, "n_dense": 5, "final_layer_act_func": "relu", **config})
    state = {name: torch.from_numpy(np.array(value)) for name, value in TOYS["PersianRug"].items()}
    torch.save({"cfg": cfg, "state_dict": state, "losses": [0.1] * 999, "p_feat": torch.tensor(0.1)}, tmp_path / "m.pt")
    if said is None:
        x = X[:, :FEATURES]
        np.testing.assert_allclose(outputs(reading.read(tmp_path / "m.pt"), x), toy(x), atol=1e-12)
    else:
        with pytest.raises(ValueError, match=said):
            reading.read(tmp_path / "m.pt")


def test_a_checkpoint_of_lightning(tmp_path):
    torch = pytest.importorskip("torch")
    state = {name: torch.from_numpy(np.array(value)) for name, value in LIGHTNING.items()}
    rest = {"epoch": 3, "global_step": 10, "pytorch-lightning_version": "2.5", "optimizer_states": [{"state": state}],
            "lr_schedulers": [], "loops": {}, "hyper_parameters": {"n_features": FEATURES}}  # fmt: skip
    torch.save({"state_dict": state, **rest}, tmp_path / "last.ckpt")
    x = X[:, :FEATURES]
    np.testing.assert_allclose(outputs(reading.read(tmp_path / "last.ckpt", reading="toy"), x), toy(x), atol=1e-12)


def test_lines_that_convert_name_where_the_model_is(tmp_path):
    torch = pytest.importorskip("torch")
    torch.save({"epoch": 2, "sae": torch.nn.Linear(3, 4)}, tmp_path / "whole.pt")
    with pytest.raises(ValueError, match="is a whole model") as refused:
        reading.read(tmp_path / "whole.pt")
    program = "\n".join(line.strip() for line in str(refused.value).splitlines()[1:])
    exec(program.replace("weights.pt", str(tmp_path / "weights.pt")), {})
    assert set(files.arrays(tmp_path / "weights.pt")) == {"weight", "bias"}


def test_tied_toy_models_of_public_repositories():
    x, own = X[:, :FEATURES], toy(X[:, :FEATURES], W_IN, W_IN.T)
    ours = {"W": W_IN.T[None], "b_final": B[None]}  # Anthropic's notebook: (instance, feature, hidden)
    for arrays in ({"weights": W_IN, "bias": B[:, None]}, ours, {**ours, "losses": np.ones(9)},
                   {"W": W_IN[None], "b_final": B[None]}):  # fmt: skip
        np.testing.assert_allclose(outputs(reading.read(arrays), x), own, atol=1e-12)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"blocks.0.mlp.W_in": W_IN, "blocks.0.mlp.W_out": W_OUT.T, "blocks.0.mlp.b_out": B}, "part of a larger"),
        ({"W_in": W_IN, "W_out": W_OUT.T, "b_out": B, "b_in": np.ones(5)}, "b_in is of an MLP"),
        ({"0.weight": W_IN, "2.weight": W_OUT.T, "2.bias": B}, "allowed: W_in"),
        ({**TOYS["spd"], "hidden_layers.0.weight": np.eye(5)}, "part of a larger network"),
        ({"W_in": W_IN, "W_out": W_OUT.T, "b": B, "gain": B}, "does not explain gain; allowed: --ignore NAME"),
        ({"W_enc": np.ones((2, 5, 9)), "W_dec": np.ones((9, 2, 5)), "b_enc": np.ones(9), "b_dec": np.ones((2, 5))},
         "a crosscoder or several autoencoders"),
        ({"W_enc": E.T, "W_dec": D.T, "b_dec": B_DEC}, "allowed: --reading sae, toy"),
        ({"W_enc": E[:8].T, "W_dec": D[:, :8].T, "b_dec": B_DEC}, "allowed: --reading sae, toy"),
        (LIGHTNING, "allowed: --reading sae, toy"),
        ({"enc.weight": W_IN, "dec.weight": W_OUT.T, "dec.bias": B}, "allowed: --reading sae, toy"),
        ({"W": E, "b": B_DEC}, "a toy model of 12 features in 48 dimensions or"),
        ({"0.weight": E, "0.bias": C, "1.weight": D, "1.bias": B_DEC}, "allowed: --reading toy, tied"),
        ({"W_enc": E.T, "b_enc": C, "W_dec": np.ones((LATENTS, 4)), "b_dec": np.ones(4)}, "a transcoder has other"),
        ({"fc1.weight": W_IN, "fc_mu.weight": W_IN, "fc_logvar.weight": W_IN}, "a variational autoencoder"),
        ({**TOYS["spd"], "norm.running_mean": np.ones(5)}, "a model with a norm"),
    ],
)  # fmt: skip
def test_what_is_another_model_is_refused(arrays, said):
    with pytest.raises(ValueError, match=said):
        reading.read(arrays, b_dec=None)


def test_what_is_ignored_is_named_and_has_to_be_there():
    arrays = {"W_in": W_IN, "W_out": W_OUT.T, "b": B, "gain": B}
    assert "gain ignored, as you said" in reading.read(arrays, ignore=["gain"]).told
    with pytest.raises(ValueError, match="ignore = 'loss', which is not in it"):
        reading.read(arrays, ignore=["loss"])


def test_an_activation_in_the_metadata_of_a_file_is_not_lost(tmp_path):
    save_file({"w": W_IN.copy(), "b_final": B}, tmp_path / "toy.safetensors", metadata={"activation": "identity"})
    with pytest.raises(ValueError, match="activation = 'identity'"):
        reading.read(tmp_path / "toy.safetensors")


def test_rows_of_layouts_are_complete():
    for row in layouts.LAYOUTS:
        assert row.source and row.formula and row.needed and set(row.roles.values()) <= {
            "E", "E'", "D", "D'", "c", "d", "d?", "k", "k?", "threshold", "threshold?", "one?", "-", "W_in", "W_in'",
            "W_out", "W_out'", "W", "b", "b?", "hidden", "hidden?",
        }  # fmt: skip
