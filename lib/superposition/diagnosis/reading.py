"""Read arrays of known names as an autoencoder ReLU(W_out W_in x + b), in one form for all layouts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks
from superposition.diagnosis import files, layouts
from superposition.diagnosis.files import CONVERT, ITSELF, cut

READINGS = ("product", "tied", "toy", "sae")
AS_SAE = {"W_in": "E", "hidden": "c", "W_out": "D", "b": "d"}  # roles of a toy model in a sparse autoencoder
B_DEC, ACTIVATIONS = ("taken", "kept"), ("relu", "topk", "jumprelu")
WRAPPERS = ("module.", "_orig_mod.")  # of DataParallel and torch.compile
ALLOWED = (
    "W_in, W_out and b; encoder.weight, decoder.weight and their biases; W_enc, W_dec, b_enc and b_dec; W and b or "
    "b_final; the layouts of SAELens, dictionary_learning, sparsify, Gemma Scope, Llama Scope, OpenAI, Goodfire"
)


@dataclass(frozen=True, eq=False)
class Weights:
    """An autoencoder: ``W_in`` (nd, ns) and ``W_out`` (ns, nd), or their product ``W`` (ns, ns); ``b`` (ns,).

    ``threshold`` (ns,), which an output must exceed to pass, and ``k``, the number of outputs that pass, belong to
    sparse autoencoders, as do ``l0``, the number that their settings aim at, and ``offset`` (nd,), the bias of their
    decoder, which ``b`` already includes; ``single``, whether the numbers were kept in single precision or less;
    ``told``, how arrays were identified; ``layout``, the package; ``otherwise``, the other reading of a file that does
    not determine which is right.
    """

    b: NDArray[np.floating]
    W_in: NDArray[np.floating] | None = None
    W_out: NDArray[np.floating] | None = None
    W: NDArray[np.floating] | None = None
    threshold: NDArray[np.floating] | None = None
    k: int | None = None
    l0: int | None = None
    offset: NDArray[np.floating] | None = None
    single: bool = False
    is_sae: bool = False
    told: tuple[str, ...] = field(default=())
    layout: str = ""
    otherwise: tuple[str, Weights] | None = None

    @property
    def ns(self) -> int:
        """Number of features."""
        return len(self.b)

    @property
    def nd(self) -> int | None:
        """Number of dimensions between the factors; None of a product."""
        return None if self.W_in is None else len(self.W_in)

    def gains(self) -> NDArray[np.floating]:
        """Diagonal of the product, shape (ns,)."""
        if self.W is not None:
            return np.diag(self.W)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.einsum("ij,ji->i", self.W_out, self.W_in)  # pyrefly: ignore[no-matching-overload]: both are there

    def rows(self, start: int, stop: int) -> NDArray[np.floating]:
        """Rows of the product, shape (stop - start, ns)."""
        if self.W is not None:
            return self.W[start:stop]
        with np.errstate(over="ignore", invalid="ignore"):  # it is refused in words
            return self.W_out[start:stop] @ self.W_in  # pyrefly: ignore[unsupported-operation]: both are there

    def drive(self, x: NDArray[np.floating]) -> NDArray[np.floating]:
        """Inputs of the outputs' ReLU for feature vectors (batch, ns)."""
        if self.W is not None:
            return x @ self.W.T + self.b
        return x @ self.W_in.T @ self.W_out.T + self.b  # pyrefly: ignore[missing-attribute]: both are there

    def encode(self, h: NDArray[np.floating]) -> NDArray[np.floating]:
        """Latents (batch, ns) of activations (batch, nd)."""
        assert self.offset is not None and self.W_out is not None  # of every sparse autoencoder
        return self.outputs((h - self.offset) @ self.W_out.T + self.b)

    def outputs(self, drive: NDArray[np.floating]) -> NDArray[np.floating]:
        """The outputs after the gate, in the shape of the drive."""
        return np.where(drive > self.bars(drive), drive, 0)

    def bars(self, drive: NDArray[np.floating], *, middle: bool = False) -> NDArray[np.floating] | float:
        """The value that the drive has to exceed to pass: 0, a threshold, or the (k + 1)-th largest of its vector.

        In place of the latter, with ``middle``, its mean with the k-th largest.
        """
        if self.k is not None and self.k < self.ns:
            places = [self.ns - self.k - 1, self.ns - self.k]
            found = np.partition(drive, places if middle else places[0], axis=1)[:, places]
            return np.maximum(found.mean(axis=1, keepdims=True) if middle else found[:, :1], 0)
        return 0.0 if self.threshold is None else np.maximum(self.threshold, 0)


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
    said = _Said(instance, reading, b_dec, activation, k, tuple(ignore), lacking)
    if isinstance(W, (str, os.PathLike, Mapping)):
        if b is not None or W_out is not None:
            raise ValueError(f"b = {checks.shown(b)} beside a file; allowed: the file alone, W, which has the bias")
        found = _mapping(W) if isinstance(W, Mapping) else files.opened(W)
        with files.untrusted(found.where):
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


class _Said(NamedTuple):
    """The reader's answers to questions that a file leaves open; whether nothing says how often features are on."""

    instance: int | None
    reading: str | None
    b_dec: str | None
    activation: str | None
    k: int | None
    ignore: tuple[str, ...]
    lacking: bool


def _named(found, said):
    """Arrays by their own names, in the layout that explains all of them."""
    left, settings, told = _without(found, said.ignore)
    shapes = ", ".join(f"{cut(name, 60)} {_shape(name, one)}" for name, one in list(left.items())[:20])
    problem = f"{found.where} holds {cut(shapes) or 'nothing'}"
    row, names = _layout(left, settings, problem, found)
    settings = _explained(row, settings, found, told)
    parts, single = _parts(left, names)
    weights = _read_as(row, parts, settings, said, problem, told)
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
            raise ValueError(f"{problem}: {cut(original)} is of {kind}; allowed: {layouts.MODEL}, and toy models")
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


def _read_as(row, parts, settings, said, problem, told):
    """A toy model or a sparse autoencoder, as the row says or, where it does not, the reader."""
    roles = {role.rstrip("?"): parts[name] for name, role in row.roles.items() if name in parts and role != "-"}
    if "one" in roles and not np.allclose(roles["one"], 1):
        raise layouts.refuse("scaling_factor", float(roles["one"].flat[0]), "1")
    if row.rule is not None and roles.keys() & {"W_in", "W_in'"}:
        if said.reading not in ("toy", "sae"):
            rest = _open(row.rule(settings, parts), said, np.any(roles.get("b", 0))).values()
            also = f"; for sae also {'; '.join(rest)}" if rest else ""
            raise ValueError(
                f"{problem}, and does not say whether a ReLU is on the hidden values, as in a sparse autoencoder, or "
                f"on the outputs, as in a toy model; allowed: --reading sae, toy{also}{_lacking(said)}"
            )
        if said.reading == "toy":
            return _toy(roles, settings, said, problem, told)
        roles = {AS_SAE[name.rstrip("'")] + "'" * name.endswith("'"): one for name, one in roles.items()}
    elif row.rule is None:
        return _toy(roles, settings, said, problem, told)
    if said.reading not in (None, "sae"):
        raise ValueError(f"{problem}, a sparse autoencoder and no toy model; allowed: toy models ReLU(W x + b), or "
                         "--reading sae for a diagnosis")  # fmt: skip
    weights = _sae(row, roles, row.rule(settings, parts), said, problem, told)
    _same_sizes(weights, settings)
    return weights


def _same_sizes(weights, settings):
    """Refuse settings that give other sizes than the arrays have: they are another model's. A zero leaves it open."""
    trainer = settings.get("trainer")
    given = settings | (trainer if isinstance(trainer, dict) else {})
    for size, names in layouts.SIZES.items():
        for name in names:
            if isinstance(given.get(name), int) and given[name] not in (0, getattr(weights, size)):
                raise ValueError(f"{name} = {given[name]}; allowed: {getattr(weights, size)}, as the arrays have it")


def _toy(roles, settings, said, problem, told):
    """A toy model ReLU(W_out W_in x + b)."""
    for name, allowed in layouts.TOY_MUST.items():
        if settings.get(name, allowed[0]) not in allowed:
            raise layouts.refuse(name, settings[name], str(allowed[0]))
    for name, value in (("b_dec", said.b_dec), ("activation", said.activation), ("k", said.k)):
        if value is not None:
            raise ValueError(f"{name} = {value} of a toy model, which has none; allowed: none")
    if said.reading == "sae":
        raise ValueError(f"{problem}, a toy model; allowed: --reading product, tied, toy")
    parts = {name.rstrip("'"): np.swapaxes(one, -1, -2) if name.endswith("'") else one for name, one in roles.items()}
    if parts.get("b", np.zeros(1)).shape[-1:] == (1,) and parts["b"].ndim > 1:
        parts["b"] = parts["b"][..., 0]
    parts = _one_instance(parts, said.instance, told)
    told.append("outputs pass a ReLU")
    if "W" in parts:
        return _single(parts, said.reading, problem, told)
    if said.reading in ("product", "tied"):
        raise ValueError(f"{problem}, an encoder and a decoder; allowed: --reading toy")
    return _pair(parts, problem, told)


def _one_instance(parts, instance, told):
    """Arrays without the leading axis of instances, where the weights have one."""
    deep = {len(array) for name, array in parts.items() if array.ndim == (2 if name in ("b", "hidden") else 3)}
    if not deep:
        if instance is not None:
            raise ValueError(f"instance = {instance} of weights without instances; allowed: none")
        return parts
    [count, *more] = deep
    usual = {name: 2 if name in ("b", "hidden") else 3 for name in parts}
    if more or any(array.ndim > usual[name] for name, array in parts.items()):
        raise ValueError(f"weights have {' and '.join(map(str, sorted(deep)))} instances; allowed: one number")
    chosen = checks.whole("instance", 0 if instance is None else instance, 0, count - 1)
    if count > 1:
        told.append(f"instance {chosen} of {count}" + (" (another: --instance 1, …)" if instance is None else ""))
    return {name: array[chosen] if array.ndim == usual[name] else array for name, array in parts.items()}


def _single(parts, reading, problem, told):
    """One matrix: a product, or a tied encoder in either orientation."""
    W, b = parts["W"], parts["b"]
    if W.ndim != 2 or b.ndim != 1 or len(b) not in W.shape:
        raise ValueError(f"{problem}, which do not fit; allowed: W (ns, ns), or tied (nd, ns) or (ns, nd), and b (ns,)")
    square = W.shape[0] == W.shape[1]
    if square and reading != "tied":
        if reading is None:
            told.append("a square W is the product W_out W_in (a tied encoder: --reading tied)")
        return Weights(b, W=W)
    if reading == "product":
        raise ValueError(f"{problem}; a product is square; allowed: no reading, or tied")
    W_in = W if W.shape[1] == len(b) else W.T
    told.append(f"W {W.shape} is a tied encoder of {len(b)} features in {len(W_in)} dimensions")
    return Weights(b, W_in=W_in, W_out=W_in.T)


def _pair(parts, problem, told):
    """Encoder and decoder of a toy model, transposed where they are stored the other way round."""
    E, D, inner = parts["W_in"], parts["W_out"], parts.get("hidden")
    outer = parts.get("b", np.zeros(D.shape[:1]))
    ways = enumerate(((E, D), (E.T, D.T), (E.T, D), (E, D.T)))
    fits = [way for way in ways if way[1][0].ndim == outer.ndim + 1 == 2 and _fit(*way[1], outer)]
    if not fits:
        raise ValueError(
            f"{problem}, which do not fit; allowed: W_in (nd, ns), W_out (ns, nd) and b (ns,). Otherwise {CONVERT}"
        )
    turns, (one, two) = fits[0]
    if turns:
        told.append("matrices are turned to fit the biases")
    if inner is not None:
        if inner.shape != one.shape[:1]:
            raise ValueError(f"{problem}, a hidden bias which does not fit; allowed: ({len(one)},)")
        told.append("the hidden bias is taken into the output's")
    return Weights(outer if inner is None else outer + two @ inner, W_in=one, W_out=two)


def _fit(E, D, outer):
    return D.shape == E.shape[::-1] == (len(outer), len(E))


def _sae(row, roles, found, said, problem, told):
    """A sparse autoencoder: its latents are the features, and each writes a direction of the decoder."""
    if said.instance is not None:
        raise ValueError(f"instance = {said.instance} of weights without instances; allowed: none")
    parts = {name.rstrip("'"): one.T if name.endswith("'") else one for name, one in roles.items()}
    E, D = parts["E"], parts["D"]
    if "c" in parts and parts["c"].shape == E.shape[1:] != E.shape[:1]:  # as Qwen Scope has them
        E, D = E.T, D.T
        told.append("matrices are turned to fit the biases")
    c, d = parts.get("c", np.zeros(len(E))), parts.get("d", np.zeros(len(D)))
    if E.ndim != 2 or D.shape != E.shape[::-1] or c.shape != E.shape[:1] or d.shape != D.shape[:1]:
        raise ValueError(f"{problem}, which do not fit as {row.formula}; a transcoder has other outputs than inputs; "
                         "allowed: arrays that fit")  # fmt: skip
    found = _answered(found, said, np.any(d), problem)
    told += [*found.told, f"a sparse autoencoder: its {len(E)} latents are the features, its {len(D)} inputs the "
             "dimensions", f"latents are {row.formula.rpartition(', or ')[2]}"]  # fmt: skip
    weights = _gated(E, D, c, d, found, told)
    if said.b_dec is None or not np.any(d):
        return weights
    other = _gated(E, D, c, d, found._replace(taken=not found.taken), [])
    return replace(weights, otherwise=(f"b_dec {B_DEC[bool(found.taken)]}", other))


def _open(found, said, matters):
    """What neither the file nor the reader says of the forward pass, and the options that do."""
    asked = {}
    if found.taken is None and matters and not said.b_dec:
        asked["whether b_dec is taken off before the encoder"] = "--b-dec taken, kept"
    gate = found.gate or said.activation
    ways = ACTIVATIONS if found.threshold is not None else ACTIVATIONS[:2]
    if gate == "jumprelu" and gate not in ways and not found.gate:
        raise ValueError(f"activation = jumprelu of a file without thresholds; allowed: --activation {', '.join(ways)}")
    if gate not in ACTIVATIONS:
        number = " (topk with --k NUMBER)" if found.k is None and said.k is None else ""
        asked["which latents pass"] = f"--activation {', '.join(ways)}{number}"
    if gate == "topk" and found.k is None and said.k is None:
        asked["how many latents pass"] = "--k NUMBER"
    return asked


def _lacking(said):
    """Where nothing says how often features are on, what to say of it: only k of a TopK is enough."""
    return "; and, unless k latents pass, one of --p, --l0, --firing, --features, --x" if said.lacking else ""


def _answered(found, said, matters, problem):
    """The forward pass, with the reader's answers where the file has none."""
    if asked := _open(found, said, matters):
        raise ValueError(f"{problem}, and neither they nor settings beside them say {' or '.join(asked)}; allowed: "
                         f"{'; '.join(asked.values())}{_lacking(said)}")  # fmt: skip
    gate = found.gate or said.activation
    for name, value, own in (
        ("b_dec", said.b_dec, found.taken if found.taken is None else B_DEC[not found.taken]),
        ("activation", said.activation, found.gate),
    ):
        if value is not None and own is not None:
            raise ValueError(f"{name} = {value} of a file that says it itself ({own}); allowed: none")
    if said.k is not None and (found.k is not None or gate != "topk"):
        raise ValueError(f"k = {said.k} of a file that says it itself, or of no TopK; allowed: none")
    taken = said.b_dec == "taken" if found.taken is None else found.taken
    return found._replace(taken=taken, gate=gate, k=said.k if found.k is None else found.k)


def _gated(E, D, c, d, found, told):
    """Weights of an autoencoder whose forward pass is known: the bias, the scale, and which latents pass."""
    b = c if found.taken else c + E @ d
    if np.any(d):
        told.append("b_dec is taken off before the encoder, so it drops out" if found.taken
                    else "b_dec stays in the encoder's input, so it is part of the bias")  # fmt: skip
    if found.rescaled:
        length = np.linalg.norm(D, axis=0)
        E, D, b = E * length[:, None], D / np.where(length > 0, length, 1), b * length
        told.append("latents are multiplied by the lengths of their directions")
    threshold, k = None, None
    if found.gate == "jumprelu" and np.any(np.asarray(found.threshold) > 0):
        threshold = np.broadcast_to(np.asarray(found.threshold, float).squeeze(), (len(E),))
        told.append("JumpReLU: only the simulation knows its thresholds, the formulas are those of ReLU")
    if found.gate == "topk":
        k = checks.whole("k", np.squeeze(found.k) if isinstance(found.k, np.ndarray) else found.k, 1, len(E))
        told.append(f"TopK: only the simulation knows that {k} latents pass, the formulas are those of ReLU")
    return Weights(b, W_in=D, W_out=E, threshold=threshold, k=k, l0=_aim(found.k), offset=d, is_sae=True)


def _aim(k):
    """How many latents the settings want on, if they say a number."""
    whole = np.size(k) == 1 and isinstance(np.squeeze(k).item(), (int, float)) and float(np.squeeze(k)) % 1 == 0
    return int(np.squeeze(k)) if whole and np.squeeze(k) > 0 else None
