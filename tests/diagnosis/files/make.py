"""Write the files of this folder, as their packages do, in an environment that has those packages.

Versions, and the loss that each model's own forward pass has, go to origin.json. Seeds are fixed; run again it writes
files of other bytes where a package has changed.
"""

import json
import os
import sys
import types
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

HERE = Path(__file__).parent
P = 0.05
SAMPLES = 400_000
ORIGIN = {}


def features(batch, n, p=P):
    return torch.rand(batch, n) * (torch.rand(batch, n) < p)


def own_loss(forward, n, p=P):
    """Mean squared error per feature of a model as its package computes it, and the standard error."""
    errors = []
    with torch.no_grad():
        for _ in range(SAMPLES // 20_000):
            x = features(20_000, n, p)
            errors.append(((forward(x) - x) ** 2).mean(-1).double())
    errors = torch.cat(errors)
    return float(errors.mean()), float(errors.std() / len(errors) ** 0.5)


def noted(name, by, forward, n, p=P, **more):
    loss, se = own_loss(forward, n, p)
    ORIGIN[name] = {"by": by, "p": p, "loss": loss, "se": se, **more}


class Tied(torch.nn.Module):
    """Several toy models at once, as the public notebooks have them: W (instance, feature, hidden), b_final."""

    def __init__(self, instances, n, m):
        super().__init__()
        self.W = torch.nn.Parameter(torch.randn(instances, n, m) / m**0.5)
        self.b_final = torch.nn.Parameter(torch.zeros(instances, n))

    def forward(self, x):
        hidden = torch.einsum("bif,ifh->bih", x, self.W)
        return torch.relu(torch.einsum("bih,ifh->bif", hidden, self.W) + self.b_final)


class Autoencoder(torch.nn.Module):
    """What a person writes."""

    def __init__(self, n, m):
        super().__init__()
        self.encoder = torch.nn.Linear(n, m, bias=False)
        self.decoder = torch.nn.Linear(m, n)

    def forward(self, x):
        return torch.relu(self.decoder(self.encoder(x)))


def trained(model, batch, steps, lr=0.01):
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    for _ in range(steps):
        optimiser.zero_grad()
        x = batch()
        ((model(x) - x) ** 2).mean().backward()
        optimiser.step()
    return model


def toy_models():
    plain = f"torch {version('torch')}"
    tied = trained(Tied(3, 20, 5), lambda: features(256, 20)[:, None].repeat(1, 3, 1), 1500)
    W, b = tied.W.detach(), tied.b_final.detach()
    one = [lambda x, i=i: torch.relu(x @ W[i] @ W[i].T + b[i]) for i in range(3)]
    torch.save(tied.state_dict(), HERE / "instances.pt")
    noted("instances.pt", plain, one[2], 20, instance=2)
    save_file({"W": W.transpose(1, 2).contiguous(), "b_final": b}, HERE / "instances-hidden-first.safetensors")
    noted("instances-hidden-first.safetensors", plain, one[1], 20, instance=1)
    save_file({"W": W[:1].clone(), "b_final": b[:1].clone()}, HERE / "one-instance.safetensors")
    noted("one-instance.safetensors", plain, one[0], 20)
    save_file({"W": W[0].clone(), "b": b[0].clone()}, HERE / "tied-long.safetensors")
    noted("tied-long.safetensors", plain, one[0], 20)
    np.savez(HERE / "tied-wide.npz", W=W[0].T.numpy(), b=b[0].numpy())
    noted("tied-wide.npz", plain, one[0], 20)

    ae = trained(Autoencoder(32, 8), lambda: features(256, 32), 1500)
    state = {name: value.detach().clone() for name, value in ae.state_dict().items()}
    save_file(state, HERE / "linear-layers.safetensors")
    torch.save({"epoch": 3, "model_state_dict": state}, HERE / "checkpoint.pt")
    torch.save(ae, HERE / "whole-model.pt")
    turned = {"W_enc": state["encoder.weight"].T, "W_dec": state["decoder.weight"].T, "b_dec": state["decoder.bias"]}
    save_file({name: value.contiguous() for name, value in turned.items()}, HERE / "enc-dec.safetensors")
    halves = {"W_in": state["encoder.weight"], "W_out": state["decoder.weight"], "b": state["decoder.bias"]}
    np.savez(HERE / "right-names.npz", **{name: value.numpy() for name, value in halves.items()})
    save_file({name: value.bfloat16() for name, value in halves.items()}, HERE / "bfloat16.safetensors")
    for name in ("linear-layers.safetensors", "checkpoint.pt", "enc-dec.safetensors", "right-names.npz"):
        noted(name, plain, ae, 32)
    rounded = {name: value.bfloat16().float() for name, value in halves.items()}
    noted(
        "bfloat16.safetensors",
        plain,
        lambda x: torch.relu(x @ rounded["W_in"].T @ rounded["W_out"].T + rounded["b"]),
        32,
    )


def fitted(encode, W_dec, b_dec, parameters, price=0.03):
    """Train on activations of unit directions, a few seconds: latents sums to be small, directions of length one."""
    truth = torch.nn.functional.normalize(torch.randn(64, 16), dim=1)
    optimiser = torch.optim.Adam(parameters, lr=0.01)
    for _ in range(1500):
        h = features(256, 64) @ truth + 0.1
        optimiser.zero_grad()
        latents = encode(h)
        (((h - latents @ W_dec - b_dec) ** 2).sum(1) / 2 + price * latents.sum(1)).mean().backward()
        optimiser.step()
        with torch.no_grad():
            W_dec /= W_dec.norm(dim=1, keepdim=True)


def sae_lens_models():
    from sae_lens import (
        BatchTopKTrainingSAE,
        BatchTopKTrainingSAEConfig,
        GatedSAE,
        GatedSAEConfig,
        JumpReLUSAE,
        JumpReLUSAEConfig,
        StandardSAE,
        StandardSAEConfig,
        TopKSAE,
        TopKSAEConfig,
    )  # fmt: skip

    by = f"sae-lens {version('sae-lens')}"
    size = {"d_in": 16, "d_sae": 64}
    made = {
        "standard": StandardSAE(StandardSAEConfig(**size)),
        "standard-b_dec-not-taken-off": StandardSAE(StandardSAEConfig(**size, apply_b_dec_to_input=False)),
        "topk": TopKSAE(TopKSAEConfig(**size, k=3)),
        "jumprelu": JumpReLUSAE(JumpReLUSAEConfig(**size)),
    }
    for name, sae in made.items():
        if name == "jumprelu":
            sae.load_state_dict({**made["standard"].state_dict(), "threshold": torch.full((64,), 0.08)})
        else:
            price = 0.0 if name == "topk" else 0.03
            fitted(sae.encode, sae.W_dec, sae.b_dec, [one for one in sae.parameters()], price)
        sae.save_model(HERE / f"sae_lens-{name}")
        noted(
            f"sae_lens-{name}", by,
            lambda x, sae=sae: sae.encode(x @ sae.W_dec + sae.b_dec), 64,
        )  # fmt: skip
    batch = BatchTopKTrainingSAE(BatchTopKTrainingSAEConfig(**size, k=3))
    batch.save_inference_model(HERE / "sae_lens-batchtopk")
    GatedSAE(GatedSAEConfig(**size)).save_model(HERE / "sae_lens-gated")
    ORIGIN["sae_lens-batchtopk"] = ORIGIN["sae_lens-gated"] = {"by": by}


def other_saes():
    _without_language_models()
    from dictionary_learning.dictionary import AutoEncoder

    ae = AutoEncoder(16, 64)
    fitted(ae.encode, ae.decoder.weight.data.T, ae.bias, [ae.encoder.weight, ae.encoder.bias, ae.bias])
    (HERE / "dictionary_learning").mkdir(exist_ok=True)
    torch.save(ae.state_dict(), HERE / "dictionary_learning" / "ae.pt")
    (HERE / "dictionary_learning" / "config.json").write_text(json.dumps({"trainer": {"dict_class": "AutoEncoder"}}))
    noted(
        "dictionary_learning", f"dictionary-learning {version('dictionary-learning')}",
        lambda x: ae.encode(x @ ae.decoder.weight.T + ae.bias), 64,
    )  # fmt: skip

    from sparsify import SparseCoder, SparseCoderConfig

    coder = SparseCoder(16, SparseCoderConfig(num_latents=64, k=3))
    coder.save_to_disk(HERE / "sparsify")

    def dense(x):
        found = coder.encode(x @ coder.W_dec + coder.b_dec)
        return torch.zeros(len(x), 64).scatter_(1, found.top_indices, found.top_acts)

    noted("sparsify", f"eai-sparsify {version('eai-sparsify')}", dense, 64)


def batch(n, p=0.06):
    """Feature vectors that the tests can draw too."""
    rng = np.random.default_rng(0)
    return (rng.random((500, n)) * (rng.random((500, n)) < p)).astype(np.float32)


def of_batch(name, by, forward, n):
    """The loss of a forward pass on that batch."""
    x = torch.from_numpy(batch(n))
    with torch.no_grad():
        ORIGIN[name] = {"by": by, "own": float(((forward(x) - x) ** 2).mean())}


def drawn(model, lengths=True):
    """Parameters as of a trained one: unit directions, an encoder near them, biases of some size."""
    named, generator = dict(model.named_parameters()), torch.Generator().manual_seed(1)

    def noise(like, size):
        return size * torch.randn(like.shape, generator=generator)

    with torch.no_grad():
        for name, one in named.items():
            if name.endswith(("W_dec", "decoder.weight")):
                axis = 1 if name.endswith("W_dec") else 0
                one.copy_(torch.nn.functional.normalize(noise(one, 1), dim=axis) * (1.3 if lengths else 1.0))
        for name, one in named.items():
            if name.endswith("W_enc"):
                one.copy_(named["W_dec"].T + noise(one, 0.05))
            elif name.endswith("encoder.weight"):
                into = named["W_dec"] if "W_dec" in named else named["decoder.weight"].T
                one.copy_(into + noise(one, 0.05))
            elif name.endswith(("b_enc", "encoder.bias")):
                one.copy_(-0.3 + noise(one, 0.05))
            elif one.ndim == 1 and name.endswith(("b_dec", "bias")):
                one.copy_(noise(one, 0.35))
    return model


def sae_lens_layouts():
    import sae_lens as lens

    by, size = f"sae-lens {version('sae-lens')}", {"d_in": 12, "d_sae": 48}
    made = {
        "narrow": lens.StandardSAE(lens.StandardSAEConfig(d_in=24, d_sae=8)),
        "topk-rescaled": lens.TopKSAE(lens.TopKSAEConfig(**size, k=3, rescale_acts_by_decoder_norm=True)),
        "topk-kept": lens.TopKSAE(lens.TopKSAEConfig(**size, k=3, apply_b_dec_to_input=False)),
        "jumprelu-kept": lens.JumpReLUSAE(lens.JumpReLUSAEConfig(**size, apply_b_dec_to_input=False)),
        "jumprelu-training": lens.JumpReLUTrainingSAE(lens.JumpReLUTrainingSAEConfig(**size)),
        "topk-training": lens.TopKTrainingSAE(lens.TopKTrainingSAEConfig(**size, k=3)),
    }
    for name, sae in made.items():
        drawn(sae)
        if hasattr(sae, "threshold"):
            sae.threshold.data = torch.linspace(0.05, 0.3, 48)
        sae.save_model(HERE / f"sae_lens-{name}")
        of_batch(f"sae_lens-{name}", by, lambda x, sae=sae: _dense(sae.encode(sae.decode(x))), sae.cfg.d_sae)
    batched = {
        "batchtopk-inference": lens.BatchTopKTrainingSAE(lens.BatchTopKTrainingSAEConfig(**size, k=3)),
        "matryoshka-inference": lens.MatryoshkaBatchTopKTrainingSAE(
            lens.MatryoshkaBatchTopKTrainingSAEConfig(**size, k=3, matryoshka_widths=[24, 48])),
    }  # fmt: skip
    for name, sae in batched.items():
        drawn(sae)
        sae.topk_threshold.fill_(0.2)
        sae.save_inference_model(HERE / f"sae_lens-{name}")
        loaded = lens.SAE.load_from_disk(HERE / f"sae_lens-{name}")
        of_batch(f"sae_lens-{name}", by, lambda x, sae=loaded: sae.encode(sae.decode(x)), 48)
    batched["batchtopk-inference"].save_model(HERE / "sae_lens-batchtopk-training")
    before = ORIGIN["sae_lens-batchtopk-inference"]["own"]
    ORIGIN["sae_lens-batchtopk-training"] = {"by": by, "own": before}  # its threshold in place of the batch
    lens.Transcoder(lens.TranscoderConfig(**size, d_out=12, apply_b_dec_to_input=False)).save_model(
        HERE / "sae_lens-transcoder"
    )
    ORIGIN["sae_lens-transcoder"] = {"by": by}


def _dense(found):
    return found.to_dense() if found.is_sparse else found


def dictionary_learning_layouts():
    _without_language_models()
    from dictionary_learning import dictionary
    from dictionary_learning.trainers import batch_top_k, matryoshka_batch_top_k, top_k

    made = {
        "AutoEncoderNew": dictionary.AutoEncoderNew(12, 48),
        "JumpReluAutoEncoder": dictionary.JumpReluAutoEncoder(12, 48),
        "AutoEncoderTopK": top_k.AutoEncoderTopK(12, 48, 3),
        "BatchTopKSAE": batch_top_k.BatchTopKSAE(12, 48, 3),
        "MatryoshkaBatchTopKSAE": matryoshka_batch_top_k.MatryoshkaBatchTopKSAE(12, 48, 3, [16, 32]),
        "GatedAutoEncoder": dictionary.GatedAutoEncoder(12, 48),
    }
    by = f"dictionary-learning {version('dictionary-learning')}"
    for name, ae in made.items():
        folder = f"dictionary_learning-{name}"
        drawn(ae)
        if hasattr(ae, "threshold"):
            ae.threshold.data = torch.full_like(ae.threshold.data, 0.2)
        (HERE / folder).mkdir(exist_ok=True)
        torch.save(ae.state_dict(), HERE / folder / "ae.pt")
        trainer = {"dict_class": name, "activation_dim": 12, "dict_size": 48, "lr": 1e-4}
        (HERE / folder / "config.json").write_text(json.dumps({"trainer": trainer, "buffer": {"d_submodule": 12}}))
        of_batch(folder, by, lambda x, ae=ae: ae.encode(ae.decode(x)), 48)
    del ORIGIN["dictionary_learning-GatedAutoEncoder"]["own"]


def sparsify_layouts():
    from sparsify import SparseCoder, SparseCoderConfig

    coder = drawn(SparseCoder(12, SparseCoderConfig(num_latents=48, k=3)))
    coder.save_to_disk(HERE / "sparsify-b_dec")

    def dense(x):
        found = coder.encode(x @ coder.W_dec + coder.b_dec)
        return torch.zeros(len(x), 48).scatter_(1, found.top_indices, found.top_acts)

    by = f"eai-sparsify {version('eai-sparsify')}"
    of_batch("sparsify-b_dec", by, dense, 48)
    SparseCoder(12, SparseCoderConfig(num_latents=48, k=3, skip_connection=True, transcode=True)).save_to_disk(
        HERE / "sparsify-transcoder"
    )
    ORIGIN["sparsify-transcoder"] = {"by": by}


DIAGNOSED = {"p": 0.06, "samples": 2000}
NUMBERS = ("ns", "nd", "rank", "loss", "gaussian", "sigma", "capacity", "mutual", "clustering", "spread", "effective")


def report(found):
    """Numbers of a diagnosis that a file and its object have to share."""
    return {"name": found.name, **{name: float(getattr(found, name)) for name in NUMBERS}}


class OneInstance(torch.nn.Module):
    """One of several toy models."""

    def __init__(self, state, instance):
        super().__init__()
        self.W, self.b = (torch.nn.Parameter(state[name][instance]) for name in ("W", "b_final"))

    def forward(self, x):
        return torch.relu(x @ self.W @ self.W.T + self.b)


def loaded(name):
    """The object of a file here, as its package loads it; an ImportError where the package is not installed."""
    kind = name.partition("-")[2]
    if name.startswith("sae_lens"):
        import sae_lens

        return (sae_lens.TrainingSAE if kind.endswith("training") else sae_lens.SAE).load_from_disk(HERE / name)
    if name.startswith("sparsify"):
        os.environ.setdefault("SPARSIFY_DISABLE_TRITON", "1")  # which needs a GPU
        from sparsify import SparseCoder

        return SparseCoder.load_from_disk(HERE / name)
    if name.startswith("dictionary_learning"):
        _without_language_models()
        from dictionary_learning import dictionary
        from dictionary_learning.trainers import batch_top_k, matryoshka_batch_top_k, top_k

        places = (dictionary, batch_top_k, matryoshka_batch_top_k, top_k)
        kind = next(getattr(place, kind or "AutoEncoder") for place in places if hasattr(place, kind or "AutoEncoder"))
        return kind.from_pretrained(HERE / name / "ae.pt")
    state = torch.load(HERE / name, weights_only=True)
    if "W" in state:
        return OneInstance(state, json.loads((HERE / "origin.json").read_text())[name]["instance"])
    model = Autoencoder(32, 8)
    model.load_state_dict(state["model_state_dict"])
    return model


def _without_language_models():
    """Modules that dictionary_learning imports for language models, where they are absent."""
    for absent in ("nnsight", "wandb"):
        try:
            __import__(absent)
        except ImportError:
            sys.modules[absent] = types.ModuleType(absent)
            sys.modules[absent].LanguageModel = object


def objects(package, *names):
    """The report of each object, as its package loads it from a file here."""
    import superposition

    for name in names:
        found = superposition.diagnose(loaded(name), **DIAGNOSED)
        ORIGIN[name]["object"] = {"by": f"{package} {version(package)}", **report(found)}


def _opened(start):
    return [name for name, origin in ORIGIN.items() if name.startswith(start) and {"loss", "own"} & origin.keys()]


def objects_of_torch():
    objects("torch", "instances.pt", "checkpoint.pt")


def objects_of_sae_lens():
    batch = "sae_lens-batchtopk-training"  # its latents depend on their batch, which is refused
    objects("sae-lens", *(name for name in _opened("sae_lens") if name != batch))


def objects_of_dictionary_learning():
    objects("dictionary-learning", *_opened("dictionary_learning"))


def objects_of_sparsify():
    objects("eai-sparsify", *_opened("sparsify"))


PARTS = (toy_models, sae_lens_models, other_saes, sae_lens_layouts, dictionary_learning_layouts, sparsify_layouts,
         objects_of_torch, objects_of_sae_lens, objects_of_dictionary_learning, objects_of_sparsify)  # fmt: skip

if __name__ == "__main__":  # python make.py sae_lens_layouts, where that package is
    if (HERE / "origin.json").exists():
        ORIGIN.update(json.loads((HERE / "origin.json").read_text()))
    torch.manual_seed(0)
    for part in PARTS:
        if part.__name__ in sys.argv[1:]:
            part()
    (HERE / "origin.json").write_text(json.dumps(ORIGIN, indent=1) + "\n")
