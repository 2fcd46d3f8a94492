"""A model as its own forward pass: a module or object of a package, or a pair of functions.

Source: ours. Features are the inputs and outputs of a toy model, decode(encode(x)), and the latents of a sparse
autoencoder, encode(decode(z)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superposition import checks
from superposition.diagnosis.strangers import cut

Pass = Callable[[NDArray], NDArray]
READINGS = ("toy", "sae")
BLOCK = 2**22  # numbers of a batch
SIZES = ("d_sae", "dict_size", "num_latents", "n_latents")  # of the packages' objects: how many latents
INNER = ("cfg", "config")  # where else objects keep such numbers
ALLOWED = "a module or object with encode and decode, or with forward, of feature vectors (batch, ns)"


@dataclass(frozen=True, eq=False)
class Model:
    """A ``forward`` pass (batch, ns) to (batch, ns), made of ``steps`` if it has two; ``arrays`` of the object.

    ``nd`` is the width between the steps; ``eps`` the precision in which it computes; ``told`` lists the assumptions.
    """

    forward: Pass
    ns: int
    nd: int | None
    steps: tuple[Pass, Pass] | None
    arrays: tuple[NDArray, ...]
    k: int | None
    encode: Pass | None
    is_sae: bool
    eps: float
    told: tuple[str, ...]

    def scaled(self, unit: float) -> Model:
        """The same model for features in this unit."""
        return replace(self, forward=lambda x: self.forward(x * unit) / unit)


def is_model(W: Any) -> bool:
    """Whether it is an object with a forward pass."""
    named = any(callable(getattr(W, name, None)) for name in ("encode", "forward"))
    return named and not isinstance(W, str)


def of(thing: Any, encode: Any, decode: Any, ns: int | None, reading: str | None, instance: int | None = None) -> Model:
    """The model of an object, or of two functions of batches; ``ns`` features, where the object does not show them."""
    if reading is not None:
        checks.one_of("reading", reading, READINGS)
    if isinstance(thing, type):
        raise ValueError(f"W = {checks.shown(thing)}, a class; allowed: an object of it, with its weights")
    _refuse_others(thing)
    arrays, call = _tools(thing if thing is not None else encode, instance)
    if thing is not None and (encode is not None or decode is not None):
        raise ValueError("encode and decode beside an object; allowed: one of them")
    ends = (encode, decode) if thing is None else (getattr(thing, "encode", None), getattr(thing, "decode", None))
    k, eps = _number(thing, "k"), _precision(arrays)
    plain = tuple(np.asarray(_numpy(one), float) for one in arrays)
    if all(map(callable, ends)):
        return _two_steps(thing, *ends, call, ns, reading, plain, k, eps)
    if reading == "sae" and thing is not None:
        raise ValueError(f"W = an object of {type(thing).__name__} without both encode and decode; allowed: a sparse "
                         "autoencoder with these two methods, or the functions encode= and decode=")  # fmt: skip
    if thing is None or not callable(getattr(thing, "forward", None)):
        raise ValueError(f"encode = {checks.shown(ends[0])}, decode = {checks.shown(ends[1])}; allowed: {ALLOWED}")
    forward = _batched(lambda x: _dense(call(thing, x), ns))
    told, width = ("a model by its forward pass",), _width(plain, forward, ns)
    if reading is None and (inside := max(_sizes(plain), default=0)) > width:
        raise ValueError(f"W takes {width} numbers and has arrays of {inside}, as a sparse autoencoder of activations "
                         "has, but no encode and decode; allowed: an object with these two methods, the functions "
                         f"encode= and decode= with ns={inside}, or reading='toy' of a toy model")  # fmt: skip
    return Model(forward, width, None, None, plain, k, None, False, eps, told)


def _two_steps(thing, encode, decode, call, ns, reading, arrays, k, eps):
    """A toy model or a sparse autoencoder: as the reader says, by the number of latents it keeps, or by shape."""
    into = _batched(lambda x: _dense(call(encode, x), _latents(thing, ns)))
    back = _batched(lambda z: _decoded(thing, decode, call, z))
    told = []
    if reading is None and _number(thing, *SIZES) is not None:
        reading = "sae"
    sizes = [ns] if ns else [n for n in dict.fromkeys((_latents(thing, None), *_sizes(arrays))) if n]
    orders = {"toy": (into, back), "sae": (back, into)}
    found, failed = [], []
    for kind in [reading] if reading else READINGS:
        for size in sizes:
            width = _through(*orders[kind], size, failed)
            if width is not None:
                found.append((kind, size, width))
    if reading is None:  # the wider end are the features
        found = [one for one in found if one[1] >= one[2]] or found
        told += [f"taken for {'a toy model' if one[0] == 'toy' else 'a sparse autoencoder'}" for one in found[:1]]
    if not found:
        raise ValueError(f"ns = {ns} fits neither decode(encode(x)) nor encode(decode(z)) (its own words: "
                         f"{cut('; '.join(dict.fromkeys(failed)), 400)}); allowed: {ALLOWED}, and ns where the "
                         "object's arrays do not give it")  # fmt: skip
    if len({one[0] for one in found}) > 1:
        raise ValueError("reading = None of a model as wide inside as outside; allowed: 'toy', 'sae'")
    kind, size, width = found[0]
    if reading is None and kind == "toy" and width < size and not _is_affine(into, size, eps):
        raise ValueError(f"reading = None of a model of {width} numbers between {size} whose encode is not linear, as "
                         "in a narrow sparse autoencoder; allowed: 'toy', 'sae'")  # fmt: skip
    first, second = orders[kind]
    way = "decode(encode(x))" if kind == "toy" else "encode(decode(z)): its latents are the features"
    told.append(f"{size} features by its own forward pass, {way}")
    return Model(lambda x: second(first(x)), size, width, (first, second), arrays, k,
                 into if kind == "sae" else None, kind == "sae", eps, tuple(told))  # fmt: skip


def _is_affine(step, width, eps):
    """Whether a step maps sums to sums, apart from a constant, within the precision of its numbers."""
    one, other = np.random.default_rng(0).standard_normal((2, 8, width))
    both, zero = step(one + other), step(np.zeros((8, width)))
    off = np.abs(step(one) + step(other) - both - zero).max()
    return off <= min(0.1, 100 * eps) * np.abs(both).max()


def _refuse_others(thing):
    """Refuse an object whose outputs are other vectors than its inputs: their widths may agree."""
    names = " ".join(one.__name__.lower() for one in type(thing).__mro__)
    kind = next((kind for kind in ("transcoder", "crosscoder") if kind in names), None)
    if kind or any(getattr(getattr(thing, name, None), "transcode", False) for name in INNER):
        raise ValueError(f"W = an object of {type(thing).__name__}, a {kind or 'transcoder'}; allowed: autoencoders of "
                         "one place, and toy models")  # fmt: skip


def _sizes(arrays):
    """Lengths of the object's arrays, the longest first: one of them is the number of features."""
    return sorted({n for one in arrays for n in one.shape if n > 1}, reverse=True)


def _through(first, second, size, failed):
    """Width between two steps that take and return vectors of this size; None, and the reason, if they do not."""
    try:
        hidden = first(np.zeros((2, size)))
        last = second(hidden)
        if last.shape == (2, size):
            return hidden.shape[1]
        failed.append(f"of {size} numbers it makes {last.shape[1]}")
    except Exception as error:  # noqa: BLE001 - a stranger's code refuses a wrong size in its own way
        failed.append(f"of {size} numbers {type(error).__name__}: {error}")
    return None


def _width(arrays, forward, ns):
    """Number of features of a forward pass."""
    failed: list[str] = []
    for size in [ns] if ns else _sizes(arrays):
        if _through(lambda x: x, forward, size, failed) is not None:
            return size
    raise ValueError(f"ns = {ns} does not go through the forward pass; allowed: {ALLOWED}, and ns where its arrays do "
                     "not give it")  # fmt: skip


def _latents(thing, ns):
    return _number(thing, *SIZES) or ns


def _number(thing, *names):
    """A whole number that an object or its settings hold under one of these names."""
    for place in (thing, *(getattr(thing, name, None) for name in INNER)):
        for name in names:
            value = getattr(place, name, None)
            value = value.item() if hasattr(value, "item") and np.size(_numpy(value)) == 1 else value
            if isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value) and value > 0:
                return int(value)
    return None


def _numpy(value):
    """A tensor or array as a numpy array, whatever its format and its device."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.to_dense() if value.is_sparse else value
        return (value.float() if value.dtype.itemsize <= 2 else value).numpy()
    return np.asarray(value)


def _precision(arrays):
    """The precision in which a model computes, which is the precision of its coarsest array."""
    kinds = [str(one.dtype).removeprefix("torch.") for one in arrays if hasattr(one, "dtype")]
    coarse = {"bfloat16": 2.0**-7, "float16": 2.0**-10, "float32": 2.0**-23}
    return max((coarse.get(kind, 2.0**-52) for kind in kinds), default=2.0**-23)


def _tools(thing, instance):
    """Arrays of an object, and a way to call its methods with numpy arrays."""
    owner = getattr(thing, "__self__", thing)
    if not callable(getattr(owner, "state_dict", None)):
        arrays = (
            [one for one in vars(owner).values() if isinstance(one, np.ndarray)] if hasattr(owner, "__dict__") else []
        )
        return [one for one in arrays if one.dtype.kind == "f"], _called
    from superposition.devices import torch

    arrays = [one for one in owner.state_dict().values() if torch.is_tensor(one) and one.is_floating_point()]
    deep = {len(one) for one in arrays if one.ndim == 3}
    like = next(iter(arrays), torch.zeros(1))
    if len(deep) == 1:
        return _one_instance(arrays, deep.pop(), 0 if instance is None else instance, like)
    return arrays, lambda f, x: f(_tensor(x, like))


def _called(f, x):
    """A function of numpy arrays; one that refuses their type is given a tensor, if torch is there."""
    import sys

    try:
        return f(x)
    except (TypeError, AttributeError):
        if "torch" not in sys.modules:
            raise
        owner = getattr(f, "__self__", f)
        like = next(iter(owner.parameters()), None) if callable(getattr(owner, "parameters", None)) else None
        return f(_tensor(x, sys.modules["torch"].zeros(1) if like is None else like))


def _one_instance(arrays, count, instance, like):
    """The same for a model of several instances, all of which receive the same vectors."""
    chosen = checks.whole("instance", instance, 0, count - 1)
    mine = [one[chosen] if one.ndim > 1 and len(one) == count else one for one in arrays]

    def call(f, x):
        return f(_tensor(x, like)[:, None].expand(-1, count, -1))[:, chosen]

    return mine, call


def _tensor(x, like):
    """A vector in the model's own format; a list of vectors, such as sparse latents, is left to the caller."""
    from superposition.devices import torch

    return torch.as_tensor(np.array(x), dtype=like.dtype, device=like.device)


def _batched(step):
    """A step that takes any number of numpy vectors, without gradients, and returns numbers in double precision."""

    def whole(x):
        size, parts = max(1, BLOCK // x.shape[1]), []
        for start in range(0, len(x), size):
            out = _numpy(_detached(step, x[start : start + size]))
            out = np.asarray(out, complex if np.iscomplexobj(out) else float)
            if np.iscomplexobj(out) or out.ndim != 2 or not np.all(np.isfinite(out)):
                raise ValueError(
                    f"a forward pass gives shape {out.shape} or numbers not real and finite; allowed: {ALLOWED}"
                )
            parts.append(out)
        return np.concatenate(parts)

    return whole


def _detached(step, x):
    import sys

    if "torch" not in sys.modules:  # then no model is one of its
        return step(x)
    with sys.modules["torch"].no_grad():
        return step(x)


def _dense(found, latents):
    """Latents (batch, ns), also of an encoder that returns only the largest ones with their places, or more besides."""
    if not hasattr(found, "top_acts"):
        shapes = [getattr(one, "shape", None) for one in found] if isinstance(found, tuple) else []
        if shapes and shapes[0] is not None and shapes[0] in shapes[1:]:
            raise ValueError(f"a step gives {len(shapes)} results, more than one of shape {tuple(shapes[0])}: only "
                             "encode=lambda x: model.encode(x)[0] and decode= say which")  # fmt: skip
        return found[0] if shapes else found
    acts, places = _numpy(found.top_acts), _numpy(found.top_indices)
    dense = np.zeros((len(acts), latents))
    np.put_along_axis(dense, places, acts, axis=1)
    return dense


def _decoded(thing, decode, call, z):
    """Output of a decoder for latents; a decoder that takes places as well as values receives all places."""
    if callable(getattr(thing, "select_topk", None)) or _takes_places(decode):
        from superposition.devices import torch

        like = next(iter(thing.state_dict().values()))
        places = torch.arange(z.shape[1], device=like.device).expand(len(z), -1)
        return decode(_tensor(z, like), places)
    return call(decode, z)


def _takes_places(decode):
    """Whether a decoder takes the places of the latents as well as their values."""
    import inspect

    try:
        return "top_indices" in inspect.signature(decode).parameters
    except (TypeError, ValueError):
        return False
