"""Refusals of models in their own words: a row is a call, of a function on what a stranger may give."""

import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from superposition.diagnosis import (  # noqa: E402
    ablations,
    autoencoder,
    behaviour,
    checkpoints,
    feature_laws,
    files,
    forward_passes,
    objects,
    reading,
    record_verifier,
    strangers,
    survey,
    toy_or_sae,
    yardsticks,
)

E, D = np.ones((3, 2)), np.ones((2, 3))
TOY = {"W_in": D, "W_out": E, "b": np.zeros(3)}
SAE = {"W_enc": D, "W_dec": E, "b_enc": np.zeros(3), "b_dec": np.array([1.0, 2.0])}
LLAMA = {"decoder.weight": D}
SCALED = {"sparsity_include_decoder_norm": False}
PLACE = {"shape": (2,), "stride": (1,), "kind": "f8", "offset": 0, "key": "0", "at": None}


class Halves:
    """A toy model whose outputs depend on their batch."""

    def encode(self, x):
        return x[:, :2]

    def decode(self, z):
        return np.hstack([z, z[:, :1]]) - z.mean()


def stored(**other):
    """The numbers of a tensor that a file of torch lists."""
    one = {**PLACE, "kind": "Double", **other}
    return files._stored(Path("here"), one, {}, "it/").numbers()


def model(ns, forward):
    return objects.Model(forward, ns, None, None, (), None, None, False, 1e-16, ())


def written(text):
    def settings(folder):
        (folder / "cfg.json").write_text(text)
        return files._json(folder / "cfg.json")

    return settings


def zipped(folder, name="other", size=1):
    with zipfile.ZipFile(folder / "it.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, b"0" * size)
    return checkpoints._read(folder / "it.pt")


def saved(read, *arrays):
    def call(folder):
        np.savez(folder / "it.npz", **{f"a{k}": one for k, one in enumerate(arrays)})
        return read(folder / "it.npz")

    return call


def pickled(thing):
    def call(folder):
        torch.save(thing, folder / "it.pt")
        return reading.read(folder / "it.pt")

    return call


def raised(error):
    with strangers.untrusted("path = it"):
        raise error


def features(**given):
    return autoencoder.diagnose(np.eye(3), np.zeros(3), **given)


CALLS = [
    (lambda _: ablations._with_gain(np.zeros((3, 3))), "W has 3 features and trace 0; allowed: 2 or more"),
    (
        lambda _: autoencoder.diagnose(Halves(), p=0.1, ns=3, k=3),
        "b_dec, activation, k or ignore beside a model, which has its own; allowed: with a file alone",
    ),
    (
        lambda _: features(features=-np.ones((100, 3))),
        "features have mean -1 while they are on; allowed: above 0, or a strength",
    ),
    (
        lambda _: behaviour._refuse_batches(model(3, lambda x: x - x.mean()), np.random.default_rng(0).random((8, 3))),
        "W has outputs that depend on the other vectors of their batch, or on chance, as those of BatchTopK and "
        "dropout do in training; allowed: the model for inference, or its file",
    ),
    (
        lambda _: behaviour._by_responses(model(10**6, None), None, 1.0, 1.0),
        "ns = 1000000 of a forward pass that no ReLU(W_out W_in x + b) reproduces; allowed: up to ",
    ),
    (lambda folder: zipped(folder), "a zip file without data.pkl"),
    (
        lambda folder: zipped(folder, "it/data.pkl", checkpoints.MOST_PICKLE + 2**20),
        "MB of names; allowed: ",
    ),
    (lambda _: checkpoints._weights({str(k): k for k in range(checkpoints.MOST_NAMES + 1)}), " names; allowed: "),
    (
        lambda _: feature_laws.Population.of(0.1, None, 3.0, 9),
        "p = 0.1, law = None, l0 = 3.0; allowed: one of them, or vectors as features or x (on the command line one of "
        "--p, --l0, --firing, --features, --x)",
    ),
    (
        lambda _: feature_laws.FeatureLaw(0.0, 1.0, lambda generator, shape: np.zeros(shape)),
        "variance = 1 is not that of the sampler, 0 in ",
    ),
    (
        saved(files.firing, np.ones(3), np.ones(4)),
        "it.npz holds 2 vectors; allowed: one, how often each latent fires",
    ),
    (written(" " * (files.MOST_JSON + 1)), " bytes; allowed: settings of up to "),
    (written("[1]"), "cfg.json holds [1]; allowed: settings by name"),
    (written("{"), "cfg.json is no JSON ("),
    (
        lambda _: files._safetensors(Path(__file__), b"12"),
        "is no safetensors file, npz or torch file; allowed: ",
    ),
    (lambda _: files._numbers(Path(__file__), "F64", 0, 8, (2,)), "shape (2,) in 8 bytes"),
    (pickled({"epoch": 3}), "it.pt holds no tensors; allowed: tensors by name. Otherwise "),
    (lambda _: stored(), "a tensor outside of the file"),
    (lambda _: files._storage(Path(__file__), PLACE, {}, None, np.dtype("f8"), 2), "a tensor outside of the file"),
    (lambda _: stored(shape=(3, 2), stride=(1, 1)), "a tensor of shape (3, 2) whose numbers overlap"),
    (
        lambda _: files.plain(torch.eye(3).to_sparse()),
        "a tensor of the layout torch.sparse_coo, or quantised; allowed: dense ones",
    ),
    (
        lambda _: files.plain(torch.empty(3, device="meta")),
        "a tensor on the device meta, which has no numbers; allowed: cpu, cuda",
    ),
    (
        lambda _: forward_passes.saelens({"d_out": 5}, {}),
        "d_out = 5, which is another model; allowed: none: other outputs than inputs are a transcoder's",
    ),
    (
        lambda _: forward_passes.saelens({"k": 3, "activation_fn_kwargs": {"k": 4}}, {}),
        "k = 3; allowed: 4, as in activation_fn_kwargs",
    ),
    (
        lambda _: forward_passes._threshold({"threshold": 1, "log_threshold": 0}),
        "it holds log_threshold and threshold; allowed: one of them, and --ignore the other",
    ),
    (
        lambda _: forward_passes.dictionary_learning({"trainer": 3}, {}),
        "trainer = 3, which is another model; allowed: settings, among them dict_class",
    ),
    (
        lambda _: forward_passes.dictionary_learning({"trainer": {"dict_class": "AutoEncoderTopK", "k": 3}}, {"k": 4}),
        "k = 3, which is another model; allowed: 4, as the file has it",
    ),
    (lambda _: forward_passes.llama_scope({"act_fn": "gelu"}, LLAMA), "another model; allowed: relu, jumprelu, topk"),
    (
        lambda _: forward_passes.llama_scope({"act_fn": "relu", **SCALED}, LLAMA | {"log_jumprelu_threshold": 0.0}),
        "act_fn = 'relu', which is another model; allowed: jumprelu, as log_jumprelu_threshold is one of its arrays",
    ),
    (
        lambda _: objects.of(Halves, None, None, 3, None),
        "Halves'>, a class; allowed: an object of it, with its weights",
    ),
    (
        lambda _: objects._batched(lambda x: x[:, 0])(np.ones((4, 3))),
        "a forward pass gives shape (4,) or numbers not real and finite; allowed: ",
    ),
    (
        lambda _: objects.of(None, lambda x: x[:, 99], lambda z: z, 3, None),
        "ns = 3 fits neither decode(encode(x)) nor encode(decode(z)) (its own words: ",
    ),
    (lambda _: reading.read(E), "b = None; allowed: a bias, shape (ns,), unless W is a file or holds arrays by name"),
    (
        lambda _: reading.read(E, np.ones((2, 3))),
        "b has shape (2, 3) beside W (3, 2), as a decoder would have; allowed: a bias (ns,), and a decoder by its name",
    ),
    (
        lambda _: reading.read({"fc_mu.weight": E}),
        "is of a variational autoencoder; allowed: a latent that is a ReLU, TopK or JumpReLU of one affine function of "
        "the inputs, and toy models",
    ),
    (
        lambda _: reading.read({"transformer.h.0.weight": E}),
        "is a part of a larger network; allowed: a model by itself",
    ),
    (
        lambda _: reading.read(SAE | {"W_enc": np.ones((2, 2, 3))}),
        ": a crosscoder or several autoencoders; allowed: one autoencoder",
    ),
    (
        lambda _: reading.read(TOY | {"architecture": "standard"}),
        "has settings of another kind beside it: architecture; allowed: those of its package, or --ignore NAME",
    ),
    (
        lambda folder: record_verifier.of_file(folder / "it.npz", 0.1),
        " has 3 features; allowed: at most 2 for a record",
    ),
    (lambda _: survey.files_in("folders", 3), "folders = 3 is not a list of paths; allowed: folders, files of weights"),
    (
        lambda _: reading.read({"W": E, "b": np.zeros(3)}, reading="product"),
        "; a product is square; allowed: no reading, or tied",
    ),
    (
        lambda _: reading.read(SAE | {"W_dec": np.ones((3, 5))}),
        "; a transcoder has other outputs than inputs; allowed: arrays that fit",
    ),
    (lambda _: reading.read(SAE), ", and neither they nor settings beside them say whether b_dec is taken off before"),
    (
        lambda _: reading.read(SAE, b_dec="kept", activation="relu", k=3),
        "k = 3 of a file that says it itself, or of no TopK; allowed: none",
    ),
    (lambda _: reading.read(TOY, k=3), "k = 3 of a toy model, which has none; allowed: none"),
    (
        lambda _: toy_or_sae._pair(TOY | {"hidden": np.zeros(5)}, "it", []),
        "it, a hidden bias which does not fit; allowed: (2,)",
    ),
    (lambda _: yardsticks.importance(np.zeros(3), 3), "importance has shape (3,); allowed: (3,), not all 0, or "),
    (lambda _: yardsticks.importance(np.ones(2), 3), "importance has shape (2,); allowed: (3,), not all 0, or "),
    (lambda _: raised(KeyError("a")), "path = it cannot be read (KeyError: 'a'); allowed: whole files of weights"),
    (lambda _: raised(ValueError("b; allowed: c")), "path = it: b; allowed: c"),
    (lambda _: raised(ValueError("is odd; allowed: even")), "path = it is odd; allowed: even"),
    (lambda _: raised(ValueError("path = it, b; allowed: c")), "path = it, b; allowed: c"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), CALLS, ids=[words[:40] for _, words in CALLS])
def test_a_model_is_refused_in_these_words(tmp_path, monkeypatch, call, words):
    monkeypatch.setattr(record_verifier, "MOST", 2)
    np.savez(tmp_path / "it.npz", **TOY)
    with pytest.raises(ValueError, match=f"{re.escape(words)}") as refusal:
        call(tmp_path)
    assert not words.startswith("path = it") or str(refusal.value) == words
