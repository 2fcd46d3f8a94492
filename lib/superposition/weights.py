"""Weights of an autoencoder ReLU(W_out W_in x + b) in a safetensors file, or in a text that a table can hold."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks

ALLOWED = "allowed: a safetensors file with W_in, W_out and b, or W and b"


def load(path: str | Path) -> dict[str, NDArray[np.float64]]:
    """W (ns, ns) and b (ns,) in float64 from a safetensors file, and its factors W_in and W_out where it has them."""
    # Any float format that numpy knows; b may be called bias.
    if not Path(path).is_file():
        raise ValueError(f"path = {path} is no file; {ALLOWED}")
    try:
        content = Path(path).read_bytes()
    except (OSError, MemoryError) as error:
        raise ValueError(f"path = {path} cannot be read ({checks.printable(str(error))}); {ALLOWED}") from None
    return _read(content, f"path = {path}")


def packed(W_in: ArrayLike, W_out: ArrayLike, b: ArrayLike) -> str:
    """Weights W_in (nd, ns), W_out (ns, nd) and b as text: a safetensors file of their float32 values, in base64."""
    from safetensors.numpy import save

    given = {"W_in": W_in, "W_out": W_out, "b": b}
    fitting(given, "weights")
    values = {name: np.ascontiguousarray(value, dtype=np.float32) for name, value in given.items()}
    return base64.b64encode(save(values)).decode()


def unpacked(text: str) -> dict[str, NDArray[np.float64]]:
    """Weights from a text that `packed` made, as `load` reads them from a file."""
    try:
        content = base64.b64decode(text, validate=True)
    except (TypeError, ValueError):
        content = b""
    return _read(content, f"text = {checks.shown(text, 20)}")


def _read(content, name):
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        found = load(content)
    except (SafetensorError, KeyError) as error:  # KeyError: a number format that numpy has not
        raise ValueError(f"{name} cannot be read ({checks.printable(str(error))}); {ALLOWED}") from None
    if "bias" in found:
        found = {"b": found.pop("bias"), **{key: value for key, value in found.items() if key != "loss_history"}}
    if set(found) not in ({"W_in", "W_out", "b"}, {"W", "b"}):
        names = checks.printable(", ".join(sorted(found))) or "nothing"
        raise ValueError(f"{name} holds {names}; {ALLOWED}")
    return fitting(found, name)


def fitting(found: Mapping[str, Any], name: str) -> dict[str, NDArray[np.float64]]:
    """The weights in float64, and their product W, or a refusal; ``name`` is the file or text that holds them."""
    found = {key: checks.real(key, value, open_low=True, open_high=True) for key, value in found.items()}
    shapes = f"{name} has shapes {', '.join(f'{key} {value.shape}' for key, value in found.items())}, which do not fit"
    if "W" not in found:
        if found["W_in"].ndim != 2 or found["W_out"].shape != found["W_in"].shape[::-1]:
            raise ValueError(f"{shapes}; allowed: W_in (nd, ns), W_out (ns, nd), b (ns,)")
        with np.errstate(over="ignore", invalid="ignore"):  # it is refused in words
            product = found["W_out"] @ found["W_in"]
        found["W"] = checks.real("W_out W_in", product, open_low=True, open_high=True)
    W, b = found["W"], found["b"]
    if W.ndim != 2 or W.shape[0] != W.shape[1] or b.shape != W.shape[:1]:
        raise ValueError(f"{shapes}; allowed: W (ns, ns), b (ns,)")
    return found
