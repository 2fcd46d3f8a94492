"""Weights as people keep them: files of safetensors, numpy and torch, folders of sparse autoencoders, dictionaries.

What a file holds is told by names and shapes and brought into one form, `Weights`, a sparse autoencoder too: its
latents are the features, its decoder's directions W_in, its encoder W_out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from superposition import checks

# the one that stands for each name, whatever case it has; W_enc and W_dec are applied from the right: h W_dec
NAMES = {
    "w_in": "W_in", "w_out": "W_out", "w": "W", "b": "b", "bias": "b", "b_final": "b", "b_out": "b",
    "w_enc": "W_enc", "w_dec": "W_dec", "b_enc": "b_enc", "b_dec": "b_dec",
    "encoder.weight": "encoder", "decoder.weight": "decoder", "encoder.bias": "b_enc", "decoder.bias": "decoder_bias",
    "threshold": "threshold", "k": "k",
}  # fmt: skip
INNER = ("state_dict", "model_state_dict", "model", "weights", "params")  # where a checkpoint keeps its weights
TORCH = (".pt", ".pth", ".bin", ".ckpt")
ENDINGS = (".safetensors", ".npz", *TORCH)
BESIDE = ("sparsity", "activation_whitening", "activations_store_state")  # files of SAELens that are no weights
CONVERT = """three lines make one that can be read:
    import numpy as np
    # W_in (nd, ns), W_out (ns, nd), b (ns,) of the model ReLU(W_out W_in x + b); from torch by .numpy(force=True)
    np.savez("model.npz", W_in=..., W_out=..., b=...)"""
STATE = """three lines make one that can be read (they run what the file holds: only if you trust it):
    import torch
    model = torch.load({name}, weights_only=False)
    torch.save(model.state_dict(), "weights.pt")"""
# of what safetensors names and numpy does not: how many bits to add to the right
SHORT = {"BF16": 16}


def opened(path: str | os.PathLike) -> tuple[dict[str, NDArray], dict[str, Any]]:
    """The arrays of a file, or of the one file of weights in a folder, by name; and a folder's settings."""
    path = Path(path)
    if path.is_dir():
        return arrays(_only(path)), _settings(path)
    return arrays(path), {}


def arrays(path: Path) -> dict[str, NDArray]:
    """The arrays of one file, by name."""
    if not path.is_file():
        raise ValueError(f"path = {path} is no file; allowed: a file or folder with weights")
    reader = _numpy if path.suffix in (".npz", ".npy") else _torch if path.suffix in TORCH else _safetensors
    try:
        return reader(path)
    except (OSError, MemoryError) as error:  # of rights, of size
        raise ValueError(f"path = {path} cannot be read ({checks.printable(str(error))})") from None


def firing(path: str | os.PathLike) -> NDArray[np.float64]:
    """How often each latent fires, from a file that holds one vector, of shares or of their logarithms to base 10."""
    found = [array for array in arrays(Path(path)).values() if array.ndim == 1]
    if len(found) != 1:
        raise ValueError(f"path = {path} holds {len(found)} vectors; allowed: one, how often each latent fires")
    values = checks.real("firing", found[0], open_low=True, open_high=True)
    return 10**values if values.min(initial=0) < 0 else values


def plain(value: Any) -> Any:
    """A torch tensor, on whatever device and with whatever gradient, as numpy's array; anything else as it is."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        return (value.float() if "bfloat16" in str(value.dtype) else value).numpy()
    return value


def _only(folder):
    """The one file of weights in a folder."""
    found = [file for file in sorted(folder.iterdir()) if file.suffix in ENDINGS and file.stem not in BESIDE]
    if len(found) == 1:
        return found[0]
    inner = sorted({file.parent.name for file in folder.glob("*/cfg.json")})
    shown = checks.printable(", ".join(file.name for file in found) or ", ".join(inner) or "none")
    raise ValueError(
        f"path = {folder} holds {len(found)} files of weights: {shown}; allowed: one of them by its own path"
    )


def _settings(folder):
    """What the folder's own JSON file says."""
    for name in ("cfg.json", "config.json"):
        if (folder / name).is_file():
            try:
                found = json.loads((folder / name).read_text(encoding="utf-8"))
            except ValueError as error:
                raise ValueError(f"path = {folder / name} is no JSON ({checks.printable(str(error))})") from None
            return found if isinstance(found, dict) else {}
    return {}


def _safetensors(path):
    from safetensors import SafetensorError, deserialize

    try:
        return {name: _typed(part) for name, part in deserialize(path.read_bytes())}
    except SafetensorError as error:
        raise ValueError(
            f"path = {path} is no safetensors file ({checks.printable(str(error))}); allowed: .safetensors, .npz, "
            f"{', '.join(TORCH)}, or a folder with one of them"
        ) from None


def _typed(part):
    """The numbers of one array, in a format that numpy has."""
    kind, shape = part["dtype"], part["shape"]
    if kind in SHORT:
        return (np.frombuffer(part["data"], "<u2").astype("<u4") << SHORT[kind]).view("<f4").reshape(shape)
    known = {"F": "f", "I": "i", "U": "u"}
    if kind[:1] not in known or not kind[1:].isdigit():
        raise ValueError(
            f"numbers of the format {checks.printable(kind)}; allowed: F16, BF16, F32, F64 and whole numbers"
        )
    return np.frombuffer(part["data"], f"<{known[kind[0]]}{int(kind[1:]) // 8}").reshape(shape)


def _numpy(path):
    try:
        found = np.load(path, allow_pickle=False)
        return {"array": found} if isinstance(found, np.ndarray) else {name: found[name] for name in found.files}
    except (ValueError, EOFError, KeyError, BadZipFile) as error:  # a pickle, a torn file
        raise ValueError(f"path = {path} cannot be read ({checks.printable(str(error))}); {CONVERT}") from None


def _torch(path):
    try:
        from superposition.devices import torch
    except ModuleNotFoundError:
        raise ValueError(
            f"path = {path} needs torch: pip install '.[train]' in the book's folder; without it: .safetensors, .npz"
        ) from None
    import pickle

    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, KeyError) as error:
        if "GLOBAL" in str(error):  # of a class: what a state dictionary has none of
            raise ValueError(
                f"path = {path} is a whole model, not its weights; {STATE.format(name=repr(str(path)))}"
            ) from None
        raise ValueError(f"path = {path} cannot be read ({checks.printable(str(error).splitlines()[0])})") from None
    return _tensors(found, path)


def _tensors(found, path):
    """The tensors of a state dictionary, also inside a checkpoint."""
    while isinstance(found, Mapping):
        if any(hasattr(value, "detach") for value in found.values()):
            return {str(name): plain(value) for name, value in found.items() if hasattr(value, "detach")}
        found = next((found[name] for name in INNER if isinstance(found.get(name), Mapping)), None)
    raise ValueError(f"path = {path} holds no tensors by name; {CONVERT}")
