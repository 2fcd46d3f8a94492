"""Read arrays of known names as an autoencoder ReLU(W_out W_in x + b), in one form for all layouts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from superposition import checks
from superposition.diagnosis import files, forward_passes, layouts, strangers
from superposition.diagnosis.strangers import CONVERT, ITSELF, cut
from superposition.diagnosis.toy_or_sae import ACTIVATIONS, B_DEC, Answers, read_as
from superposition.diagnosis.weights import Weights

READINGS = ("product", "tied", "toy", "sae")
WRAPPERS = ("module.", "_orig_mod.")  # of DataParallel and torch.compile
ALLOWED = (
    "W_in, W_out and b; encoder.weight, decoder.weight and their biases; W_enc, W_dec, b_enc and b_dec; W and b or "
    "b_final; the layouts of SAELens, dictionary_learning, sparsify, Gemma Scope, Llama Scope, OpenAI, Goodfire"
)


def read(
    W: ArrayLike | str | os.PathLike | Mapping[str, ArrayLike], b: ArrayLike | None = None,
    W_out: ArrayLike | None = None, *, instance: int | None = None, reading: str | None = None,
    b_dec: str | None = None, activation: str | None = None, k: int | None = None, ignore: Sequence[str] = (),
    lacking: bool = False,
) -> Weights:  # fmt: skip
    """Weights from a file or folder, arrays by name, a product, a tied encoder, or an encoder and a decoder."""
    for name, value, allowed in (
        ("reading", reading, READINGS), ("b_dec", b_dec, B_DEC), ("activation", activation, ACTIVATIONS)
    ):  # fmt: skip
        if value is not None:
            checks.one_of(name, value, allowed)
    said = Answers(instance, reading, b_dec, activation, k, tuple(ignore), lacking)
    if isinstance(W, (str, os.PathLike, Mapping)):
        if b is not None or W_out is not None:
            raise ValueError(f"b = {checks.shown(b)} beside a file; allowed: the file alone, W, which has the bias")
        found = _mapping(W) if isinstance(W, Mapping) else files.opened(W)
        with strangers.untrusted(found.where):
            return _named(found, said)
    if b is None:
        raise ValueError("b = None; allowed: a bias, shape (ns,), unless W is a file or holds arrays by name")
    if W_out is None:
        one, two = _shape("W", W), _shape("b", b)
        if len(one) == len(two) > 1:
            raise ValueError(f"b has shape {two} beside W {one}, as a decoder would have; allowed: a bias (ns,), and a "
                             "decoder by its name, diagnose(W_in, b, p, W_out=W_out)")  # fmt: skip
        return _named(files.Opened({"W": W, "b": b}, {}, "W"), said)
    checks.real("W", files.plain(W), open_low=True, open_high=True)  # under the name that the caller knows
    return _named(files.Opened({"W_in": W, "W_out": W_out, "b": b}, {}, "W"), said)


def _mapping(given):
    """Arrays by name, and the other entries of a state dictionary."""
    settings = {str(name): one for name, one in given.items() if isinstance(one, (str, bool, dict, type(None)))}
    return files.Opened(
        {name: one for name, one in given.items() if str(name) not in settings}, settings, "the weights"
    )


def _named(found, said):
    """Arrays by their own names, in the layout that explains all of them."""
    left, settings, told = _without(found, said.ignore)
    shapes = ", ".join(f"{cut(name, 60)} {_shape(name, one)}" for name, one in list(left.items())[:20])
    problem = f"{found.where} holds {cut(shapes) or 'nothing'}"
    row, names = _layout(left, settings, problem, found)
    settings = _explained(row, settings, found, told)
    parts, single = _parts(left, names)
    weights = read_as(row, parts, settings, said, problem, told)
    if found.where != "W" and said.reading is None and not weights.is_sae and (weights.nd or 0) > weights.ns:
        raise ValueError(f"{problem}, a toy model of {weights.ns} features in {weights.nd} dimensions or a sparse "
                         "autoencoder without a bias of its latents; allowed: --reading toy, tied")  # fmt: skip
    return replace(weights, single=single, told=(f"the layout of {row.name}", *told), layout=row.name)


def _without(found, ignore):
    """Arrays and settings without those that the reader excludes, which have to exist."""
    names = {str(name) for name in found.arrays}
    if missing := [one for one in ignore if one not in names and one not in found.settings]:
        raise ValueError(f"ignore = {checks.shown(missing[0])}, which is not in it; allowed: its arrays and settings")
    told = [f"{cut(', '.join(ignore))} ignored, as you said"] if ignore else []
    left = {str(name): one for name, one in found.arrays.items() if str(name) not in ignore}
    return left, {name: one for name, one in found.settings.items() if name not in ignore}, told


def _shape(name, one):
    """The shape of an array; anything else is refused under its name."""
    return (
        tuple(one.shape) if hasattr(one, "shape") else checks.real(cut(name), one, open_low=True, open_high=True).shape
    )


def _layout(arrays, settings, problem, found):
    """The first row that explains every array, and the name in the file of each of its arrays."""
    plain = {_unwrapped(name): name for name in arrays}
    if len(plain) < len(arrays):
        raise ValueError(f"{problem}, some of them twice; allowed: each array once")
    _refuse_others(plain, arrays, problem, found)
    near = []
    for row in layouts.LAYOUTS:
        if row.marks and not row.marks & settings.keys():
            continue
        for prefix in _prefixes(plain, row):
            roles = row.roles
            unknown = [name for name in plain if name.removeprefix(prefix) not in roles or not name.startswith(prefix)]
            if not unknown:
                return row, {name.removeprefix(prefix): plain[name] for name in plain}
            near.append((len(unknown), unknown, row.name))
    if near:
        _, unknown, name = min(near)
        shown = cut(", ".join(plain[one] for one in unknown))
        raise ValueError(f"{problem}, of which {name} does not explain {shown}; allowed: --ignore NAME, if it has "
                         "no part in the forward pass")  # fmt: skip
    raise ValueError(f"{problem}; allowed: {ALLOWED}. Otherwise {CONVERT}{ITSELF}")


def _unwrapped(name):
    name = name.lower()
    for wrapper in WRAPPERS:
        name = name.replace(wrapper, "")
    return name


def _prefixes(plain, row):
    """Prefixes of all names of a row with which its needed arrays exist."""
    one = min(row.needed)
    for prefix in {name[: -len(one)] for name in plain if name == one or name.endswith("." + one)}:
        if all(prefix + name in plain for name in row.needed):
            yield prefix


def _refuse_others(plain, arrays, problem, found):
    """Refuse a model that is known to be of another kind."""
    for name, original in plain.items():
        last, two = name.split(".")[-1], ".".join(name.split(".")[-2:])
        kind = layouts.OTHERS.get(last, layouts.OTHERS.get(two))
        if kind is not None:
            raise ValueError(
                f"{problem}: {cut(original)} is of {kind}; allowed: {forward_passes.MODEL}, and toy models"
            )
        if layouts.INSIDE.search(name):
            raise ValueError(f"{problem}: {cut(original)} is a part of a larger network; allowed: a model by itself")
        if last in ("w_enc", "w_dec") and len(_shape(original, arrays[original])) > 2:
            raise ValueError(f"{problem}: a crosscoder or several autoencoders; allowed: one autoencoder")
    kinds = [kind for kind in layouts.PATHS if found.path is not None and kind in str(found.path).lower()]
    if kinds and found.settings.keys() <= {"params.npz"}:
        raise ValueError(f"{found.where} is by its path of a {kinds[0]}; allowed: autoencoders of one place")


def _explained(row, settings, found, told):
    """The settings, if they are of this layout and all of them are explained."""
    if not settings or row.settings and not (row.settings | layouts.CHECKPOINT) & settings.keys():
        if settings and not set(settings) <= {"params.npz"}:
            raise ValueError(f"{found.where} has settings of another kind beside it: {cut(', '.join(settings))}; "
                             "allowed: those of its package, or --ignore NAME")  # fmt: skip
        return settings
    known = row.settings | row.marks | layouts.CHECKPOINT
    unknown = [name for name, value in settings.items() if name not in known and value is not None]
    trainer = settings.get("trainer")
    if isinstance(trainer, dict):
        unknown += [f"trainer.{name}" for name in trainer if name not in layouts.TRAINER]
    if unknown:
        raise ValueError(f"{found.where} has the settings {cut(', '.join(map(str, unknown)))}, which "
                         f"{row.name} does not explain; allowed: --ignore NAME, if they have no part in the forward "
                         "pass")  # fmt: skip
    return settings


def _parts(arrays, names):
    """Finite numbers under the names of the row, and whether the weights were in single precision."""
    parts, single = {}, True
    for name, original in names.items():
        value = files.plain(arrays[original])
        kept = isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.dtype.itemsize <= 4
        array = checks.real(cut(original), value, open_low=True, open_high=True)
        if not array.size:
            raise ValueError(f"{cut(original)} has shape {array.shape}; allowed: no axis empty")
        parts[name] = array
        if array.ndim > 1:
            single = single and (kept or _was_single(array))
    return parts, single


def _was_single(array):
    """Whether numbers of double precision were kept in single once; whole ones are exact in both."""
    with np.errstate(over="ignore"):
        return bool(np.all(array == array.astype(np.float32)) and np.any(array != np.round(array)))
