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
    """W and b from a safetensors file, and its factors where it has them.

    Parameters
    ----------
    path : str or pathlib.Path
        A file that holds W_in (nd, ns), W_out (ns, nd) and b (ns,), or W (ns, ns) and b; in any float format that
        numpy knows. b may be called bias.

    Returns
    -------
    dict of str to numpy.ndarray
        ``W`` (ns, ns) and ``b`` (ns,), and ``W_in`` and ``W_out`` if the file holds them; all in float64.

    Raises
    ------
    ValueError
        If the file is missing, is no safetensors file, or holds other names, shapes or values.

    Examples
    --------
    >>> load("nowhere.safetensors")
    Traceback (most recent call last):
    ...
    ValueError: path = nowhere.safetensors is no file; allowed: a safetensors file with W_in, W_out and b, or W and b
    """
    if not Path(path).is_file():
        raise ValueError(f"path = {path} is no file; {ALLOWED}")
    return _read(Path(path).read_bytes(), f"path = {path}")


def packed(W_in: ArrayLike, W_out: ArrayLike, b: ArrayLike) -> str:
    """Weights as text: a safetensors file of their values in float32, in base64.

    Parameters
    ----------
    W_in : array_like, shape (nd, ns)
        Encoder.
    W_out : array_like, shape (ns, nd)
        Decoder.
    b : array_like, shape (ns,)
        Bias.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the shapes do not fit, or a value is not finite.

    Examples
    --------
    >>> unpacked(packed([[1, -1]], [[1], [-1]], [0, 0]))["W"]
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    from safetensors.numpy import save

    given = {"W_in": W_in, "W_out": W_out, "b": b}
    fitting(given, "weights")
    values = {name: np.ascontiguousarray(value, dtype=np.float32) for name, value in given.items()}
    return base64.b64encode(save(values)).decode()


def unpacked(text: str) -> dict[str, NDArray[np.float64]]:
    """Weights from a text, as `load` has them from a file.

    Parameters
    ----------
    text : str
        What `packed` made of them.

    Returns
    -------
    dict of str to numpy.ndarray
        ``W`` (ns, ns), ``b`` (ns,), ``W_in`` (nd, ns) and ``W_out`` (ns, nd), in float64.

    Raises
    ------
    ValueError
        If the text is no such file, or holds other names, shapes or values.

    Examples
    --------
    >>> sorted(unpacked(packed([[1, -1]], [[1], [-1]], [0, 0])))
    ['W', 'W_in', 'W_out', 'b']
    """
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
        raise ValueError(f"{name} cannot be read ({error}); {ALLOWED}") from None
    if "bias" in found:
        found = {"b": found.pop("bias"), **{key: value for key, value in found.items() if key != "loss_history"}}
    if set(found) not in ({"W_in", "W_out", "b"}, {"W", "b"}):
        raise ValueError(f"{name} holds {', '.join(sorted(found)) or 'nothing'}; {ALLOWED}")
    return fitting(found, name)


def fitting(found: Mapping[str, Any], name: str) -> dict[str, NDArray[np.float64]]:
    """The weights in float64, and their product, or a refusal.

    Parameters
    ----------
    found : mapping of str to array_like
        W_in (nd, ns), W_out (ns, nd) and b (ns,); or W (ns, ns) and b.
    name : str
        What holds them, for refusals.

    Returns
    -------
    dict of str to numpy.ndarray
        As from `load`.

    Raises
    ------
    ValueError
        If the shapes do not fit, or a value is not finite.

    Examples
    --------
    >>> fitting({"W_in": [[1, -1]], "W_out": [[1], [-1]], "b": [0, 0]}, "mine")["W"]
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    found = {key: checks.real(key, value, open_low=True, open_high=True) for key, value in found.items()}
    shapes = f"{name} has shapes {', '.join(f'{key} {value.shape}' for key, value in found.items())}, which do not fit"
    if "W" not in found:
        if found["W_in"].ndim != 2 or found["W_out"].shape != found["W_in"].shape[::-1]:
            raise ValueError(f"{shapes}; allowed: W_in (nd, ns), W_out (ns, nd), b (ns,)")
        found["W"] = found["W_out"] @ found["W_in"]
    W, b = found["W"], found["b"]
    if W.ndim != 2 or W.shape[0] != W.shape[1] or b.shape != W.shape[:1]:
        raise ValueError(f"{shapes}; allowed: W (ns, ns), b (ns,)")
    return found
