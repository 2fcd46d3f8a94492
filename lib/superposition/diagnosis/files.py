"""Weights as people keep them: files of safetensors, numpy and torch, folders of sparse autoencoders, their settings.

Source: ours, after the formats' own documents. The kind of a file follows from its content and not from its ending.
Names and sizes are read first, and only the arrays that are asked for afterwards; nothing that a file names is
executed. Everything that cannot be read ends in one sentence.
"""

from __future__ import annotations

import json
import math
import os
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superposition import checks
from superposition.diagnosis import checkpoints
from superposition.diagnosis.strangers import CONVERT, ITSELF, STATE, cut, untrusted

TORCH = (".pt", ".pth", ".bin", ".ckpt")
ENDINGS = (".safetensors", ".npz", *TORCH)
BESIDE = ("sparsity", "activation_whitening", "activations_store_state", "trainer_state", "optimizer")  # no weights
SHARD = re.compile(r"(.+)-(\d{5})-of-(\d{5})")  # name of one of several files that hold the arrays of one model
SETTINGS = ("cfg.json", "config.json", "hyperparams.json")
MOST_JSON, MOST_HEADER = 2**20, 2**22  # bytes
MOST_NAMES = checkpoints.MOST_NAMES
PACKED = 50  # times that real weights are packed at most; a bomb is packed a thousand times
SMALL = 2**24  # bytes that may be packed however much
FORMATS = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1",
}  # fmt: skip


@dataclass(frozen=True)
class Array:
    """One array of a file before its numbers are read: its ``shape``, and the function that reads them."""

    shape: tuple[int, ...]
    numbers: Callable[[], NDArray] = field(repr=False)


@dataclass(frozen=True)
class Opened:
    """The arrays of a file by name, its settings, and ``where`` they are."""

    arrays: Mapping[str, Any]
    settings: dict[str, Any]
    where: str
    path: Path | None = None


def opened(path: str | os.PathLike) -> Opened:
    """The arrays of a file, of all its shards, or of the only model in a folder, and the settings near it."""
    where = f"path = {cut(str(path))}"
    with untrusted(where):
        path = Path(path)
        if path.is_dir():
            path = _only(path, where)
        if not path.is_file():
            raise ValueError(f"{where} is no file; allowed: a file or folder with weights")
        arrays, inside = _together([contents(one, where) for one in _shards(path)])
        beside, where_from = _settings(path)
        settings = {**beside, **inside}
        if path.name == "params.npz":
            settings["params.npz"] = None  # the mark of Gemma Scope
        return Opened(arrays, settings, where, path if where_from is None else where_from)


def arrays(path: str | os.PathLike) -> dict[str, NDArray]:
    """All arrays of one file, by name."""
    found = opened(path)
    with untrusted(found.where):
        return {name: array.numbers() for name, array in found.arrays.items()}


def firing(path: str | os.PathLike) -> NDArray[np.float64]:
    """How often each latent fires, from a file that holds one vector, of shares or of their base-10 logarithms."""
    found = [array for array in arrays(path).values() if array.ndim == 1]
    if len(found) != 1:
        raise ValueError(
            f"path = {cut(str(path))} holds {len(found)} vectors; allowed: one, how often each latent fires"
        )
    values = checks.real("firing", found[0], open_low=True, open_high=True)
    return 10**values if values.min(initial=0) < 0 else values


def plain(value: Any) -> Any:
    """A torch tensor, on whatever device and with whatever gradient, as numpy's array; anything else as it is."""
    if isinstance(value, Array):
        return value.numbers()
    if hasattr(value, "detach"):
        if str(getattr(value, "layout", "torch.strided")) != "torch.strided" or getattr(value, "is_quantized", False):
            raise ValueError(f"a tensor of the layout {cut(str(value.layout))}, or quantised; allowed: dense ones")
        if getattr(value, "is_meta", False):
            raise ValueError("a tensor on the device meta, which has no numbers; allowed: cpu, cuda, …")
        value = value.detach().cpu().resolve_conj()
        return (value.float() if "float" in str(value.dtype) and value.element_size() < 4 else value).numpy()
    return value


def _only(folder, where):
    """The only file of weights in a folder, or in its subfolder checkpoints."""
    found = [
        file for file in sorted(folder.iterdir())[:MOST_NAMES] if file.suffix in ENDINGS and file.stem not in BESIDE
    ]
    if not found and (folder / "checkpoints" / "final.safetensors").is_file():
        return folder / "checkpoints" / "final.safetensors"
    if len(found) == 1 or found and set(found) <= set(_shards(found[0])):
        return found[0]
    inner = [file.parent.name for file in folder.glob("*/cfg.json")]
    shown = cut(", ".join(file.name for file in found) or ", ".join(sorted(inner)) or "none")
    raise ValueError(f"{where} holds {len(found)} files of weights: {shown}; allowed: one of them by its own path")


def _shards(path):
    """The file itself, or all files among which the arrays of its model are distributed."""
    shard = SHARD.fullmatch(path.stem)
    if shard is None:
        return [path]
    name, _, count = shard.groups()
    found = []
    for number in range(1, int(count) + 1):
        found.append(path.with_name(f"{name}-{number:05d}-of-{count}{path.suffix}"))
        if not found[-1].is_file():
            raise ValueError(f"{cut(found[-1].name)}, one of its {int(count)} shards, is missing; allowed: all of them")
    return found


def _together(parts):
    """Arrays and settings of all shards, in which no name comes twice."""
    arrays = {name: one for found, _ in parts for name, one in found.items()}
    if len(arrays) < sum(len(found) for found, _ in parts):
        raise ValueError("an array in two shards; allowed: each array once")
    return arrays, {name: one for _, settings in parts for name, one in settings.items()}


def _settings(path):
    """The settings in the JSON file beside a file of weights, or in the folder above."""
    for folder in (path.parent, path.parent.parent):
        for name in SETTINGS:
            if (folder / name).is_file():
                return _json(folder / name), folder / name
    return {}, None


def _json(path):
    where = f"path = {cut(str(path))}"
    if path.stat().st_size > MOST_JSON:
        raise ValueError(f"{where} has {path.stat().st_size} bytes; allowed: settings of up to {MOST_JSON}")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where} is no JSON ({cut(str(error))})") from None
    if not isinstance(found, dict):
        raise ValueError(f"{where} holds {cut(checks.shown(found))}; allowed: settings by name")
    return found


def contents(path, where):
    """Arrays and settings of one file, whose format follows from its first bytes."""
    with path.open("rb") as file:
        first = file.read(8)
    if first[:2] == b"PK":
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
        if any(part.filename.split("/")[-1] == "data.pkl" for part in parts):
            return _torch(path, where, {part.filename: part for part in parts})
        return {part.filename.removesuffix(".npy"): _member(path, part) for part in _counted(parts)}, {}
    if first[:6] == b"\x93NUMPY":
        return {"array": _npy(path)}, {}
    if first[:1] == b"\x80" and any(first[3:]):  # a length of safetensors ends in zeros
        return _torch(path, where, {})
    return _safetensors(path, first)


def _counted(parts):
    if len(parts) > MOST_NAMES:
        raise ValueError(f"{len(parts)} arrays; allowed: {MOST_NAMES}")
    return parts


def _member(path, part):
    """One array of a .npz, its shape from its own header."""
    _bounded(part)
    with zipfile.ZipFile(path) as archive, archive.open(part) as file:
        shape, kind = _header(file, part.file_size)

    def numbers():
        with zipfile.ZipFile(path) as archive, archive.open(part) as file:
            return np.lib.format.read_array(file, allow_pickle=False)

    return Array(shape, numbers)


def _bounded(part):
    """Refuse a part that is compressed more than weights can be."""
    if part.file_size > SMALL and part.file_size > PACKED * part.compress_size:
        raise ValueError(f"{cut(part.filename)} is packed {part.file_size // max(1, part.compress_size)} times")


def _header(file, size):
    """Shape and format of a .npy, checked against the size of what holds it."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, kind = read(file)
    if kind.hasobject or kind.kind not in "fiub":
        raise ValueError(f"numbers of the format {cut(str(kind))}; allowed: floats and whole numbers")
    if any(type(n) is not int or n < 0 for n in shape) or math.prod(shape) * kind.itemsize > size:
        raise ValueError(f"shape {cut(str(shape))} in {size} bytes")
    return shape, kind


def _npy(path):
    with path.open("rb") as file:
        shape, _ = _header(file, path.stat().st_size)
    return Array(shape, lambda: np.load(path, allow_pickle=False))


def _safetensors(path, first):
    """The header of a safetensors file, in which every array has its place."""
    size, length = path.stat().st_size, int.from_bytes(first, "little")
    if len(first) < 8 or length > min(size - 8, MOST_HEADER):
        raise ValueError(
            f"is no safetensors file, npz or torch file; allowed: {', '.join(ENDINGS)}, or a folder with one"
        )
    with path.open("rb") as file:
        file.seek(8)
        header = json.loads(file.read(length))
    settings = header.pop("__metadata__", None) or {}
    _counted(header)
    return {name: _placed(path, one, 8 + length, size) for name, one in header.items()}, dict(settings)


def _placed(path, one, start, size):
    shape, (low, high) = tuple(one["shape"]), one["data_offsets"]
    if any(type(n) is not int or n < 0 for n in (*shape, low, high)) or not low <= high <= size - start:
        raise ValueError(f"an array of shape {cut(str(shape))} outside of the file")
    return Array(shape, lambda: _numbers(path, one["dtype"], start + low, high - low, shape))


def _numbers(path, kind, at, size, shape):
    """Numbers in a format that numpy has, from their place in a file."""
    if kind not in FORMATS:
        raise ValueError(f"numbers of the format {cut(str(kind))}; allowed: {', '.join(FORMATS)}")
    dtype = np.dtype(FORMATS[kind])
    if math.prod(shape) * dtype.itemsize != size:
        raise ValueError(f"shape {cut(str(shape))} in {size} bytes")
    found = np.fromfile(path, dtype, math.prod(shape), offset=at).reshape(shape)
    return (found.astype("<u4") << 16).view("<f4") if kind == "BF16" else found


def _torch(path, where, parts):
    """The tensors that a file of torch lists, each read from its own storage."""
    found = checkpoints.listing(path)
    if found["called"]:
        raise ValueError(
            f"{where} wants to call {cut(', '.join(found['called']))}; allowed: weights, which call nothing"
        )
    if found["module"] is not None:
        raise ValueError(f"{where} is a whole model; allowed: its weights. {_advice(found, path)}")
    if not found["tensors"]:
        raise ValueError(f"{where} holds no tensors; allowed: tensors by name. Otherwise {CONVERT}{ITSELF}")
    root = next((name[: -len("data.pkl")] for name in parts if name.split("/")[-1] == "data.pkl"), None)
    return {name: _stored(path, one, parts, root) for name, one in found["tensors"].items()}, found["settings"]


def _advice(found, path):
    """The lines that convert a whole model, if it contains only classes of torch and of the reader's own script."""
    if found["foreign"]:
        return f"Save model.state_dict() where its classes are: {cut(', '.join(found['foreign']))}"
    return STATE.format(name=repr(str(path)), inside=found["inside"]) + ITSELF


def _stored(path, one, parts, root):
    shape, stride, kind = tuple(one["shape"]), one["stride"], checkpoints.KINDS.get(one["kind"], one["kind"])

    def numbers():
        if kind not in FORMATS:
            raise ValueError(f"numbers of the format {cut(str(kind))}; allowed: {', '.join(FORMATS)}")
        dtype = np.dtype(FORMATS[kind])
        last = one["offset"] + sum((n - 1) * step for n, step in zip(shape, stride, strict=True))
        if any(n < 1 for n in shape) or one["offset"] < 0 or any(step < 0 for step in stride):
            raise ValueError(f"a tensor of shape {cut(str(shape))}; allowed: no axis empty")
        if math.prod(shape) > last + 1 - one["offset"]:
            raise ValueError(f"a tensor of shape {cut(str(shape))} whose numbers overlap")
        flat = _storage(path, one, parts, root, dtype, last + 1)
        found = np.lib.stride_tricks.as_strided(flat[one["offset"] :], shape, [n * dtype.itemsize for n in stride])
        found = np.ascontiguousarray(found)
        return (found.astype("<u4") << 16).view("<f4").reshape(shape) if kind == "BF16" else found

    return Array(shape, numbers)


def _storage(path, one, parts, root, dtype, count):
    """The first numbers of a storage, as many as the tensor needs."""
    size = count * dtype.itemsize
    if root is None:
        if one.get("at") is None or one["at"] + size > path.stat().st_size:
            raise ValueError("a tensor outside of the file")
        return np.fromfile(path, dtype, count, offset=one["at"])
    part = parts.get(f"{root}data/{one['key']}")
    if part is None or part.file_size < size:
        raise ValueError("a tensor outside of the file")
    _bounded(part)
    with zipfile.ZipFile(path) as archive, archive.open(part) as file:
        return np.frombuffer(file.read(size), dtype)
